// See format.hpp.

#include "core/format.hpp"

#include <algorithm>
#include <cstring>

#include "core/bitmap.hpp"
#include "core/bytes.hpp"
#include "core/cuckoo.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Offsets in the payload. PostgreSQL's length word, which precedes it, takes another 4 bytes.
enum : std::size_t {
  kAtVersion = 0,
  kAtLayout = 1,
  kAtFamily = 2,
  kAtK = 3,
  kAtSeed = 4,
  kAtExpected = 12,
  kAtRate = 20,
  kAtUnits = 28,
  kAtFlags = 32,
  kAtShape = 33,
};
static_assert(kAtShape + 3 == kHeaderBytes, "the header ends with the shape");

// Offsets in a link's entry.
enum : std::size_t {
  kAtLinkExpected = 0,
  kAtLinkRate = 8,
  kAtLinkUnits = 16,
  kAtLinkK = 20,
  kAtLinkFlags = 21, // flags in the lower half of the byte, the layout in the upper half
  kAtLinkReserved = 22,
};
static_assert(kAtLinkReserved + 2 == kLinkBytes, "an entry ends with reserved bytes");

std::size_t entry_offset(int number) {
  return kHeaderBytes + static_cast<std::size_t>(number) * kLinkBytes;
}

Finding check_layout(std::uint8_t layout) {
  return is_layout(layout) ? kSound : Finding{Fault::unknown_layout, layout};
}

// Capacity and rate must be both known or both unknown. The only zero allowed is +0.
Finding check_capacity(const Capacity &capacity) {
  const bool known_rate = double_bits(capacity.rate) != 0;
  if (capacity.values > kMaxBits || known_rate != capacity.is_known() ||
      (known_rate && !rate_in_range(capacity.rate)))
    return {Fault::bad_capacity, capacity.values};
  return kSound;
}

Finding check_link(const Link &link) {
  const Geometry &geometry = link.geometry;
  if (!is_possible_k(geometry.layout, geometry.k))
    return {Fault::bad_k, geometry.k};
  const bool united = has<Ability::unites_by_or>(geometry.layout);
  const Finding capacity = check_capacity(link.capacity);
  // The capacity is unknown after some unions, and only bloomfilters are united by OR.
  if (!capacity.ok() || (!united && !link.capacity.is_known()))
    return {Fault::bad_capacity, link.capacity.values};
  if (link.flags & ~(united ? kLinkFlags : kFlagSelfSized))
    return {Fault::unknown_flags, link.flags};
  const std::uint32_t least = geometry.layout == Layout::cuckoo ? kMinBuckets : 1;
  if (geometry.units < least || geometry.bits() > kMaxBits)
    return {Fault::bad_units, geometry.units};
  return kSound;
}

// Checks the header of a chain, which has been read, and its entries. Sets links_bytes.
Finding check_links(const std::uint8_t *payload, std::size_t length, Header *header) {
  const Geometry &geometry = header->geometry;
  // A chain has kFlagSelfSized only if it grows and has no values: an aggregate over no rows made
  // it.
  std::uint8_t flags = kFlagChain;
  if (has<Ability::grows>(geometry.layout))
    flags |= kFlagGrow;
  if (header->grows() && header->element_type.family == Family::none && header->link_count == 1)
    flags |= kFlagSelfSized;
  if (!has<Ability::unites_by_or>(geometry.layout) || header->flags & ~flags)
    return {Fault::unknown_flags, header->flags};
  if (geometry.layout != profile_of(geometry.layout))
    return {Fault::unknown_layout, static_cast<std::uint64_t>(geometry.layout)};
  if (geometry.k != 0)
    return {Fault::bad_k, geometry.k};
  const Finding capacity = check_capacity(header->capacity);
  if (!capacity.ok() || header->grows() != header->capacity.is_known())
    return {Fault::bad_capacity, header->capacity.values};
  if (header->link_count < (header->grows() ? 1 : 2) || header->link_count > kMaxLinks)
    return {Fault::bad_links, header->link_count, kMaxLinks};
  if (length < header->head_bytes())
    return {Fault::truncated, length, header->head_bytes()};

  std::uint64_t bits = 0;
  Link before = {};
  for (int number = 0; number < header->links(); number++) {
    const std::uint8_t *entry = payload + entry_offset(number);
    const Finding layout = check_layout(entry[kAtLinkFlags] >> 4);
    if (!layout.ok())
      return layout;
    const std::uint16_t reserved = load<std::uint16_t>(entry + kAtLinkReserved);
    if (reserved != 0)
      return {Fault::reserved_bits, reserved};
    const Link link = read_link(payload, *header, number);
    if (profile_of(link.geometry.layout) != geometry.layout)
      return {Fault::unknown_layout, static_cast<std::uint64_t>(link.geometry.layout)};
    const Finding finding = check_link(link);
    if (!finding.ok())
      return finding;
    // Among links of the same geometry, only self-sized ones stay separate.
    const int order = number == 0 ? -1 : compare_geometry(before.geometry, link.geometry);
    if (order > 0 || (order == 0 && !(before.flags & kFlagSelfSized)))
      return {Fault::bad_order, header->link_count};
    bits += link.geometry.bits();
    before = link;
  }
  if (bits > kMaxBits)
    return {Fault::bad_units, bits / kLineBits};
  header->links_bytes = header->link_count * kLinkBytes + static_cast<std::size_t>(bits / 8);
  return kSound;
}

// Checks that buckets are in order, that unused bits of the last byte are zero, and that a table
// without an element type has no fingerprints.
Finding validate_buckets(const std::uint8_t *payload, const Header &header,
                         CheckInterrupts check_interrupts) {
  const std::uint8_t *table = payload + kHeaderBytes;
  std::uint64_t stored;
  if (!check_buckets(header.geometry, table, &stored, check_interrupts))
    return {Fault::bad_buckets, header.geometry.units};
  if (is_open(header.element_type.family) && stored != 0)
    return {Fault::stray_bits, stored};
  return kSound;
}

} // namespace

Finding parse_head(const std::uint8_t *payload, std::size_t length, Header *header) {
  if (length < kHeaderBytes)
    return {Fault::truncated, length, kHeaderBytes};
  if (payload[kAtVersion] != kFormatVersion)
    return {Fault::unknown_version, payload[kAtVersion], kFormatVersion};
  const Finding layout = check_layout(payload[kAtLayout]);
  if (!layout.ok())
    return layout;
  const std::uint8_t family = payload[kAtFamily];
  if (family > static_cast<std::uint8_t>(kLastFamily))
    return {Fault::unknown_family, family};

  header->geometry.layout = static_cast<Layout>(payload[kAtLayout]);
  header->geometry.k = payload[kAtK];
  header->element_type.family = static_cast<Family>(family);
  header->flags = payload[kAtFlags];
  const auto units = load<std::uint32_t>(payload + kAtUnits);
  header->geometry.units = header->is_chain() ? 0 : units;
  header->link_count = header->is_chain() ? units : 1;
  header->element_type.shape = load<std::uint32_t>(payload + kAtFlags) >> 8;
  header->seed = load<std::uint64_t>(payload + kAtSeed);
  header->capacity.values = load<std::uint64_t>(payload + kAtExpected);
  header->capacity.rate = bits_double(load<std::uint64_t>(payload + kAtRate));
  header->links_bytes = 0;

  if (!is_shape_of(header->element_type.family, header->element_type.shape))
    return {Fault::bad_shape, header->element_type.shape};
  if (!is_family_of(header->geometry.layout, header->element_type.family))
    return {Fault::bad_family, family};
  if (!is_possible_seed(header->geometry.layout, header->seed))
    return {Fault::bad_seed, header->seed};
  return header->is_chain() ? check_links(payload, length, header)
                            : check_link(read_link(payload, *header, 0));
}

Finding parse(const std::uint8_t *payload, std::size_t length, Header *header) {
  const Finding finding = parse_head(payload, length, header);
  if (finding.ok() && length != header->payload_bytes())
    return {Fault::wrong_length, length, header->payload_bytes()};
  return finding;
}

Kind stated_kind(const std::uint8_t *payload, std::size_t length) {
  const bool known = length > kAtLayout && check_layout(payload[kAtLayout]).ok();
  return known ? kind_of(static_cast<Layout>(payload[kAtLayout])) : Kind::bloom;
}

Finding check_kind(const Header &header, Kind kind) {
  const Kind found = kind_of(header.geometry.layout);
  if (found == kind)
    return kSound;
  return {Fault::other_kind, static_cast<std::uint64_t>(found), static_cast<std::uint64_t>(kind)};
}

Finding validate(const std::uint8_t *payload, std::size_t length, Header *header,
                 CheckInterrupts check_interrupts) {
  const Finding finding = parse(payload, length, header);
  if (!finding.ok())
    return finding;
  if (header->geometry.layout == Layout::cuckoo)
    return validate_buckets(payload, *header, check_interrupts);
  if (is_open(header->element_type.family)) {
    std::uint64_t bits = 0;
    for (std::size_t at = header->head_bytes(); at < length; at += kBytesBetweenChecks) {
      check_interrupts();
      bits += count_set(best_kernel(), payload + at, std::min(length - at, kBytesBetweenChecks));
    }
    if (bits != 0)
      return {Fault::stray_bits, bits};
  }
  // Self-sized links of the same geometry are in the order of their bytes.
  Link next = {};
  const std::uint8_t *next_bitmap = nullptr;
  if (any_link(payload, *header, [&](const Link &link, std::size_t offset) {
        check_interrupts();
        const std::uint8_t *bitmap = payload + offset;
        const bool wrong = link.geometry == next.geometry && (next.flags & kFlagSelfSized) &&
                           std::memcmp(bitmap, next_bitmap, link.geometry.bytes()) >= 0;
        next = link;
        next_bitmap = bitmap;
        return wrong;
      }))
    return {Fault::bad_order, header->link_count};
  return kSound;
}

Link read_link(const std::uint8_t *payload, const Header &header, int number) {
  if (!header.is_chain()) {
    const unsigned others = row_of(header.geometry.layout).flags;
    return {header.geometry, static_cast<std::uint8_t>(header.flags & ~others), header.capacity};
  }
  const std::uint8_t *entry = payload + entry_offset(number);
  Link link;
  link.capacity.values = load<std::uint64_t>(entry + kAtLinkExpected);
  link.capacity.rate = bits_double(load<std::uint64_t>(entry + kAtLinkRate));
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): check_links() refuses others.
  link.geometry.layout = static_cast<Layout>(entry[kAtLinkFlags] >> 4);
  link.geometry.k = entry[kAtLinkK];
  link.geometry.units = load<std::uint32_t>(entry + kAtLinkUnits);
  link.flags = entry[kAtLinkFlags] & 0x0F;
  return link;
}

void write_link(std::uint8_t *payload, int number, const Link &link) {
  std::uint8_t *entry = payload + entry_offset(number);
  store(entry + kAtLinkExpected, link.capacity.values);
  store(entry + kAtLinkRate, double_bits(link.capacity.rate));
  store(entry + kAtLinkUnits, link.geometry.units);
  entry[kAtLinkK] = link.geometry.k;
  entry[kAtLinkFlags] =
      static_cast<std::uint8_t>(static_cast<unsigned>(link.geometry.layout) << 4 | link.flags);
  store<std::uint16_t>(entry + kAtLinkReserved, 0);
}

void write_header(std::uint8_t *payload, const Header &header) {
  payload[kAtVersion] = kFormatVersion;
  payload[kAtLayout] = static_cast<std::uint8_t>(header.geometry.layout);
  payload[kAtFamily] = static_cast<std::uint8_t>(header.element_type.family);
  payload[kAtK] = header.geometry.k;
  store(payload + kAtSeed, header.seed);
  store(payload + kAtExpected, header.capacity.values);
  store(payload + kAtRate, double_bits(header.capacity.rate));
  store(payload + kAtUnits, header.is_chain() ? header.link_count : header.geometry.units);
  store(payload + kAtFlags,
        static_cast<std::uint32_t>(header.element_type.shape << 8 | header.flags));
}

} // namespace bloomfilter
