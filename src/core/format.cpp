#include "core/format.hpp"

#include "core/bytes.hpp"
#include "core/estimate.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Offsets in the payload; the length word before it takes another 4 bytes.
enum : std::size_t {
  kAtVersion = 0,
  kAtLayout = 1,
  kAtFamily = 2,
  kAtHashes = 3,
  kAtSeed = 4,
  kAtExpected = 12,
  kAtRate = 20,
  kAtUnits = 28,
  kAtFlags = 32,
  kAtShape = 33,
};
static_assert(kAtShape + 3 == kHeaderBytes, "the header ends with the shape");

Finding fault(Status status, std::uint64_t found, std::uint64_t wanted = 0) {
  return {status, found, wanted};
}

} // namespace

Finding parse(const std::uint8_t *payload, std::size_t length, Header *header) {
  if (length < kHeaderBytes)
    return fault(Status::truncated, length, kHeaderBytes);
  if (payload[kAtVersion] != kFormatVersion)
    return fault(Status::unknown_version, payload[kAtVersion], kFormatVersion);

  const std::uint8_t layout = payload[kAtLayout];
  if (layout != static_cast<std::uint8_t>(Layout::lines) &&
      layout != static_cast<std::uint8_t>(Layout::pages))
    return fault(Status::unknown_layout, layout);

  const std::uint8_t family = payload[kAtFamily];
  if (family > static_cast<std::uint8_t>(kLastFamily))
    return fault(Status::unknown_family, family);

  Geometry &geometry = header->geometry;
  geometry.layout = static_cast<Layout>(layout);
  geometry.hashes = payload[kAtHashes];
  geometry.units = load<std::uint32_t>(payload + kAtUnits);
  header->family = static_cast<Family>(family);
  header->flags = payload[kAtFlags];
  header->shape = load<std::uint32_t>(payload + kAtFlags) >> 8;
  header->seed = load<std::uint64_t>(payload + kAtSeed);
  header->expected = load<std::uint64_t>(payload + kAtExpected);
  header->rate = bits_double(load<std::uint64_t>(payload + kAtRate));

  if (geometry.hashes < 1 || geometry.hashes > kMaxHashes ||
      (geometry.layout == Layout::pages && geometry.hashes % 2 != 0))
    return fault(Status::bad_hashes, geometry.hashes);
  // Capacity and rate are both known or both unknown; +0 is the only zero.
  const bool unknown_rate = double_bits(header->rate) == 0;
  if (header->expected > kMaxBits || unknown_rate != (header->expected == 0) ||
      (!unknown_rate && !rate_in_range(header->rate)))
    return fault(Status::bad_target, header->expected);
  if (header->flags & ~kKnownFlags)
    return fault(Status::unknown_flags, header->flags);
  if (is_composed(header->family) != (header->shape != 0))
    return fault(Status::bad_shape, header->shape);
  if (geometry.units == 0 || geometry.bits() > kMaxBits)
    return fault(Status::bad_units, geometry.units);
  if (length != header->payload_bytes())
    return fault(Status::wrong_length, length, header->payload_bytes());
  return fault(Status::ok, 0);
}

Finding validate(const std::uint8_t *payload, std::size_t length, Header *header) {
  const Finding finding = parse(payload, length, header);
  if (!finding.ok())
    return finding;
  if (header->family == Family::none) {
    const std::uint64_t bits =
        count_set(best_kernel(), payload + kHeaderBytes, header->geometry.bytes());
    if (bits != 0)
      return fault(Status::stray_bits, bits);
  }
  return finding;
}

void write_header(std::uint8_t *payload, const Header &header) {
  payload[kAtVersion] = kFormatVersion;
  payload[kAtLayout] = static_cast<std::uint8_t>(header.geometry.layout);
  payload[kAtFamily] = static_cast<std::uint8_t>(header.family);
  payload[kAtHashes] = header.geometry.hashes;
  store(payload + kAtSeed, header.seed);
  store(payload + kAtExpected, header.expected);
  store(payload + kAtRate, double_bits(header.rate));
  store(payload + kAtUnits, header.geometry.units);
  store(payload + kAtFlags, static_cast<std::uint32_t>(header.shape << 8 | header.flags));
}

} // namespace bloomfilter
