// What another system does with a value. Each system has a row of functions, in its own file of
// this directory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/family.hpp"
#include "core/geometry.hpp"
#include "core/layout.hpp"

namespace bloomfilter {

// The digests of one value of SQL. In the other system, one value of SQL can be several values
// (zero is +0 and -0), or none (a number too large for its type). It can also equal too many values
// to list them (NaN). If the system leaves a value out of its filters, the outcome is
// `any` without digests: a probe always finds the value.
struct Encoded {
  enum Outcome : std::uint8_t { values, none, any } outcome;
  int count;
  Digest digests[2];
};
inline Encoded encoded_as(const Digest &digest) {
  return {Encoded::values, 1, {digest, {}}};
}
constexpr Encoded kNotEncoded = {Encoded::none, 0, {}};

// A value to encode: its canonical bytes (pg/element/value_type.hpp), its family, and the family
// under which it is kept. A float's bytes are not normalized, because -0 and +0 are two values for
// other systems. `scratch` has room for scratch_bytes(length).
struct ForeignValue {
  Family family, stored;
  const std::uint8_t *bytes;
  std::size_t length;
  std::uint8_t *scratch;
};
constexpr std::size_t scratch_bytes(std::size_t length) {
  return 2 * length + 24;
}

struct ForeignSystem {
  // The families of plain values, and the minimum length of their canonical bytes. The system
  // hashes the canonical bytes of a plain value as they are. A filter must keep the value under its
  // own family or as a byte string.
  Families plain;
  std::size_t least_plain;
  // The digest of the bytes that the system hashes. `seed` is 0 in layouts without a seed.
  Digest (*digest)(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length);
  // The digests of a value that is not plain. NULL if all values are plain.
  Encoded (*encode)(std::uint64_t seed, const ForeignValue &value);
  // Writes the positions of a digest's bits in the bitmap, one for each hash function.
  void (*positions)(const Geometry &geometry, const Digest &digest, std::uint64_t *positions);
  bool (*contains)(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest);
  // Sets the bits of `count` digests. Each digest is digest_size() numbers in a row.
  void (*add_many)(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                   std::size_t count);
  // The system's geometry for a capacity and a rate. False if it would be too large.
  bool (*size)(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);
};

extern const ForeignSystem kGuava, kParquet, kRedis, kSpark, kDataSketches, kHive;

} // namespace bloomfilter
