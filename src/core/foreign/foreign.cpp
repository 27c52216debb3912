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
  default:
    return kRedis;
  }
}

} // namespace

Digest digest_of(Layout layout, std::uint64_t seed, const std::uint8_t *bytes, std::size_t length) {
  return foreign_system(layout).digest(seed, bytes, bytes ? length : 0);
}

Encoded encode(Layout layout, std::uint64_t seed, const ForeignValue &value) {
  if (is_plain(value.family, value.stored))
    return encoded_as(digest_of(layout, seed, value.bytes, value.length));
  return foreign_system(layout).encode(seed, value);
}

void foreign_positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions) {
  foreign_system(geometry.layout).positions(geometry, digest, positions);
}

bool foreign_contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest) {
  return foreign_system(geometry.layout).contains(geometry, bitmap, digest);
}

void foreign_add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *words,
                      std::size_t count) {
  foreign_system(geometry.layout).add_many(geometry, bitmap, words, count);
}

bool size_foreign(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  return foreign_system(layout).size(layout, expected, rate, geometry);
}

} // namespace bloomfilter
