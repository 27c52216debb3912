// What another system does with a value, in one row: a file of this directory each.
#ifndef BLOOMFILTER_CORE_FOREIGN_SYSTEM_HPP
#define BLOOMFILTER_CORE_FOREIGN_SYSTEM_HPP

#include <cstddef>
#include <cstdint>

#include "core/digest.hpp"
#include "core/family.hpp"
#include "core/geometry.hpp"

namespace bloomfilter {

// One value of SQL may be several of the system's (both zeros), none (a number too large for its
// type), or may be equal to any (NaN, of which there are many).
struct Encoded {
  enum Kind : std::uint8_t { values, none, any } kind;
  int count;
  Digest digests[2];
};
inline Encoded encoded_as(const Digest &digest) {
  return {Encoded::values, 1, {digest, {}}};
}
constexpr Encoded kNotEncoded = {Encoded::none, 0, {}};

// A value's canonical bytes (pg/element/element.hpp; of a float its own, for to other systems -0
// and +0 are two values), and the families that it is of and is kept under. `scratch` has room for
// scratch_bytes().
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
  // Of layouts without a seed it is 0.
  Digest (*digest)(std::uint64_t seed, const std::uint8_t *bytes, std::size_t length);
  // Of values whose canonical bytes are not what the system hashes; NULL: there are none.
  Encoded (*encode)(std::uint64_t seed, const ForeignValue &value);
  // The positions of a digest's bits in the bitmap, as many as there are hash functions.
  void (*positions)(const Geometry &geometry, const Digest &digest, std::uint64_t *positions);
  bool (*contains)(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest);
  // Sets the bits of `count` digests, each digest_words() in a row.
  void (*add_many)(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *words,
                   std::size_t count);
  // The geometry that the system has for a capacity and a rate; false if it would be too large.
  bool (*size)(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);
};

extern const ForeignSystem kGuava, kParquet, kRedis, kSpark;

} // namespace bloomfilter

#endif
