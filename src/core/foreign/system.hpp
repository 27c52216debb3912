// What another system does with a value: a row of functions for each system, in a file of this
// directory.
#ifndef BLOOMFILTER_CORE_FOREIGN_SYSTEM_HPP
#define BLOOMFILTER_CORE_FOREIGN_SYSTEM_HPP

#include <cstddef>
#include <cstdint>

#include "core/digest.hpp"
#include "core/family.hpp"
#include "core/geometry.hpp"
#include "core/layout.hpp"

namespace bloomfilter {

// The digests of one value of SQL. It may be several values of the system (zero is +0 and -0), none
// (a number too large for its type), or equal to any of more than can be listed (NaN). If the
// system leaves a value out of its filters, the outcome is `any` without digests: the value is
// always found.
struct Encoded {
  enum Outcome : std::uint8_t { values, none, any } outcome;
  int count;
  Digest digests[2];
};
inline Encoded encoded_as(const Digest &digest) {
  return {Encoded::values, 1, {digest, {}}};
}
constexpr Encoded kNotEncoded = {Encoded::none, 0, {}};

// A value to encode: its canonical bytes (pg/element/element.hpp; a float's bytes are its own,
// because for other systems -0 and +0 are two values), the family of the value, and the family
// under which it is kept. `scratch` has room for scratch_bytes(length).
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
  // The families whose canonical bytes the system hashes as they are, if a filter keeps them under
  // their own family or as byte strings; and the length that such bytes have at least.
  Families plain;
  std::size_t least_plain;
  // The digest of the bytes that the system hashes. `seed` is 0 in layouts without one.
  Digest (*digest)(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length);
  // The digests of a value that is not plain; NULL if all are.
  Encoded (*encode)(std::uint64_t seed, const ForeignValue &value);
  // Writes the positions of a digest's bits in the bitmap, as many as there are hash functions.
  void (*positions)(const Geometry &geometry, const Digest &digest, std::uint64_t *positions);
  bool (*contains)(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest);
  // Sets the bits of `count` digests, each of which is digest_size() numbers in a row.
  void (*add_many)(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                   std::size_t count);
  // The geometry that the system has for a capacity and a rate; false if it would be too large.
  bool (*size)(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);
};

extern const ForeignSystem kGuava, kParquet, kRedis, kSpark, kDataSketches, kHive;

} // namespace bloomfilter

#endif
