// Values as other systems hash them: the encoding and the hash of each foreign layout.
//
//   guava…     MurmurHash3 x64 128, seed 0, over a funnel's bytes: of integers 8 or, in
//              guava_integer…, 4 bytes; of text UTF-8 or, in guava_chars…, UTF-16; bytea as it is
//   parquet…   XXH64, seed 0, over Parquet's plain encoding: numbers little-endian, of 4 bytes in
//              parquet_int32, be they signed or not, and parquet_float; byte strings without a
//              length
//   redis      MurmurHash64A, and again with that as its seed, over byte strings; of integers over
//              their decimal text
//
// A value's digest is all that its bits depend on: two words of 64 bits, or one in Parquet's
// layouts. The systems' own descriptions: Guava's Funnels, BloomFilterStrategies; parquet-format's
// BloomFilter.md; doc/interop.md says more.
#ifndef BLOOMFILTER_CORE_DIGEST_HPP
#define BLOOMFILTER_CORE_DIGEST_HPP

#include <cstddef>
#include <cstdint>

#include "core/family.hpp"
#include "core/geometry.hpp"

namespace bloomfilter {

struct Digest {
  std::uint64_t first, second;
};

// The words of a digest that count.
inline int digest_words(Layout layout) {
  return is_flat(layout) ? 2 : 1;
}

// The family under which a layout keeps values of another; `none` if it has no encoding for them.
// Our own layouts have one for each of SQL's; byte strings of Parquet and RedisBloom know no finer
// type.
Family family_in(Layout layout, Family family);

// Are a value's canonical bytes (pg/element.hpp) what the layout hashes? For values of a family
// that it has an encoding for.
bool is_plain(Layout layout, Family family);
Digest digest_of(Layout layout, const std::uint8_t *bytes, std::size_t length);

// One value of SQL may be several of the system's (both zeros), none (a number too large for its
// type), or may be equal to any (NaN, of which there are many).
struct Encoded {
  enum Kind : std::uint8_t { values, none, any } kind;
  int count;
  Digest digests[2];
};

// Of canonical bytes (but of a float's own, for -0 and +0 are two values elsewhere), of a family
// that the layout has an encoding for; `scratch` has room for scratch_bytes().
Encoded encode(Layout layout, Family family, const std::uint8_t *canonical, std::size_t length,
               std::uint8_t *scratch);
constexpr std::size_t scratch_bytes(std::size_t length) {
  return 2 * length + 24;
}

} // namespace bloomfilter

#endif
