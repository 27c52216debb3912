// See partial.hpp.

#include "core/partial.hpp"

#include <cstring>

#include "core/bytes.hpp"
#include "core/structure.hpp"

namespace bloomfilter {
namespace {

// Offsets in the payload, and in the bytes of a value.
enum : std::size_t { kAtVersion = 0, kAtContent = 1, kAtReserved = 2, kAtHeader = 4 };
enum : std::size_t { kAtFamily = 0, kAtShape = 4, kAtHash = 8, kAtSecond = 16 };

// Accepts a header only if bf_agg would make it for a filter without values, with seed 0.
Finding check_header(const Header &header) {
  if (header.is_chain() || (header.flags & ~kFlagSelfSized) != 0)
    return {Fault::unknown_flags, header.flags};
  const Layout profile = profile_of(header.geometry.layout);
  if (profile != Layout::lines)
    return {Fault::unknown_layout, static_cast<std::uint64_t>(header.geometry.layout)};
  if (header.seed != 0)
    return {Fault::bad_seed, header.seed};
  const Capacity &capacity = header.capacity;
  if (!capacity.is_known() || (header.is_self_sized() && capacity.values != 1))
    return {Fault::bad_capacity, capacity.values};
  Geometry geometry = {profile, 0, 0};
  if (!size_for(profile, capacity.values, capacity.rate, &geometry) ||
      !(geometry == header.geometry))
    return {Fault::bad_units, header.geometry.units};
  return kSound;
}

Finding check_length(const Partial &partial, std::size_t length) {
  const Geometry &geometry = partial.header.geometry;
  if (partial.content != Content::hashes) {
    const std::size_t wanted =
        kPartialHead + (partial.content == Content::bitmap ? geometry.bytes() : 0);
    return length == wanted ? kSound : Finding{Fault::wrong_length, length, wanted};
  }
  const std::size_t bytes = length - kPartialHead;
  const std::size_t count = bytes / sizeof(std::uint64_t);
  if (bytes % sizeof(std::uint64_t) != 0)
    return {Fault::wrong_length, length, length - bytes % sizeof(std::uint64_t)};
  if (content_for(partial.header.is_self_sized(), geometry, count) != Content::hashes)
    return {Fault::too_many_hashes, count, geometry.bytes()};
  return kSound;
}

} // namespace

Finding parse_partial(const std::uint8_t *payload, std::size_t length, Partial *partial) {
  if (length < kPartialHead)
    return {Fault::truncated, length, kPartialHead};
  if (payload[kAtVersion] != kPartialVersion)
    return {Fault::unknown_version, payload[kAtVersion], kPartialVersion};
  const std::uint8_t content = payload[kAtContent];
  if (content > static_cast<std::uint8_t>(Content::no_rows))
    return {Fault::unknown_content, content};
  const auto reserved = load<std::uint16_t>(payload + kAtReserved);
  if (reserved != 0)
    return {Fault::reserved_bits, reserved};
  partial->content = static_cast<Content>(content);
  Finding finding = parse_head(payload + kAtHeader, length - kAtHeader, &partial->header);
  if (finding.ok())
    finding = check_header(partial->header);
  const bool has_family = !is_open(partial->header.element_type.family);
  if (finding.ok() && ((partial->header.is_self_sized() && partial->content != Content::hashes) ||
                       (has_family && partial->content == Content::no_rows)))
    finding = {Fault::unknown_content, content};
  if (finding.ok())
    finding = check_length(*partial, length);
  if (finding.ok() && !has_family && length > kPartialHead)
    finding = {Fault::stray_hashes, length - kPartialHead};
  return finding;
}

Finding validate_partial(const std::uint8_t *payload, std::size_t length, Partial *partial) {
  const Finding finding = parse_partial(payload, length, partial);
  if (!finding.ok() || partial->content != Content::hashes)
    return finding;
  constexpr std::size_t kStep = sizeof(std::uint64_t);
  for (std::size_t at = kPartialHead + kStep; at < length; at += kStep)
    if (load<std::uint64_t>(payload + at - kStep) >= load<std::uint64_t>(payload + at))
      return {Fault::bad_hashes, (at - kPartialHead) / kStep};
  return finding;
}

void write_partial_head(std::uint8_t *payload, const Partial &partial) {
  payload[kAtVersion] = kPartialVersion;
  payload[kAtContent] = static_cast<std::uint8_t>(partial.content);
  store<std::uint16_t>(payload + kAtReserved, 0);
  write_header(payload + kAtHeader, partial.header);
}

Finding check_hashed_value(const HashedValue &value) {
  const auto family = static_cast<std::uint8_t>(value.type.family);
  if (family > static_cast<std::uint8_t>(kLastFamily))
    return {Fault::unknown_family, family};
  if (is_open(value.type.family) || !is_family_of(Layout::lines, value.type.family))
    return {Fault::bad_family, family};
  if (!is_shape_of(value.type.family, value.type.shape))
    return {Fault::bad_shape, value.type.shape};
  if (value.second != value.hash && value.type.family != Family::text)
    return {Fault::bad_second, family};
  return kSound;
}

Finding read_hashed_value(const std::uint8_t *bytes, std::size_t length, HashedValue *value) {
  if (length != kHashedValueBytes)
    return {Fault::wrong_length, length, kHashedValueBytes};
  const std::uint32_t reserved = load<std::uint32_t>(bytes) >> 8;
  if (reserved != 0)
    return {Fault::reserved_bits, reserved};
  value->type = {static_cast<Family>(bytes[kAtFamily]), load<std::uint32_t>(bytes + kAtShape)};
  value->hash = load<std::uint64_t>(bytes + kAtHash);
  value->second = load<std::uint64_t>(bytes + kAtSecond);
  return check_hashed_value(*value);
}

void write_hashed_value(std::uint8_t *bytes, const HashedValue &value) {
  std::memset(bytes, 0, kHashedValueBytes);
  bytes[kAtFamily] = static_cast<std::uint8_t>(value.type.family);
  store(bytes + kAtShape, value.type.shape);
  store(bytes + kAtHash, value.hash);
  store(bytes + kAtSecond, value.second);
}

} // namespace bloomfilter
