// See foreign.hpp.

#include "core/foreign/foreign.hpp"

namespace bloomfilter {
namespace {

const ForeignSystem &foreign_system(Layout layout) {
  switch (system_of(layout)) {
  case System::guava:
    return kGuava;
  case System::parquet:
    return kParquet;
  case System::spark:
    return kSpark;
  case System::datasketches:
    return kDataSketches;
  case System::hive:
    return kHive;
  case System::redis:
  case System::ours: // is never asked for
    break;
  }
  return kRedis;
}

} // namespace

bool try_plain_digest(Layout layout, std::uint64_t seed, const ForeignValue &value,
                      Digest *digest) {
  const ForeignSystem &system = foreign_system(layout);
  const bool kept_as_is = value.stored == value.family || value.stored == Family::string;
  if (!kept_as_is || !is_in(system.plain, value.family) || value.length < system.least_plain)
    return false;
  *digest = system.digest(seed, value.bytes, value.bytes ? value.length : 0);
  return true;
}

Digest digest_bytes(Layout layout, std::uint64_t seed, const std::uint8_t *bytes,
                    std::size_t length) {
  return foreign_system(layout).digest(seed, bytes, bytes ? length : 0);
}

Encoded encode(Layout layout, std::uint64_t seed, const ForeignValue &value) {
  Digest digest;
  if (try_plain_digest(layout, seed, value, &digest))
    return encoded_as(digest);
  return foreign_system(layout).encode(seed, value);
}

void foreign_positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions) {
  foreign_system(geometry.layout).positions(geometry, digest, positions);
}

bool foreign_contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest) {
  return foreign_system(geometry.layout).contains(geometry, bitmap, digest);
}

void foreign_add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                      std::size_t count) {
  foreign_system(geometry.layout).add_many(geometry, bitmap, digests, count);
}

bool size_foreign(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  return foreign_system(layout).size(layout, expected, rate, geometry);
}

} // namespace bloomfilter
