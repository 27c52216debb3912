// The bitmaps of other systems' filters: where bits fall, and how large a filter is.
//
// Guava and RedisBloom know one large bitmap, and index i of a value is a number modulo its bits:
//
//   guava…           c = first; k times: index (c mod 2^63) mod bits; c += second
//   guava…_mitz32    a, b = low and high half of first; for i = 1 ... k, in 32 bits:
//                    index (c, or ~c if it is negative) mod bits, with c = a + i b
//   redis            for i = 0 ... k - 1: (first + i second) mod 2^64 mod bits
//
// Bits are a multiple of 64, so their number divided by d gives the filter of bits/d bits by OR-ing
// d parts. Bitmaps are kept as little-endian words, so bit p is bit p & 7 of byte p >> 3, as in our
// own layouts. (A. Kirsch, M. Mitzenmacher, "Less Hashing, Same Performance", ESA 2006.)
//
// Parquet's are arrays of blocks of 8 words of 32 bits, and a value sets a bit in each word of one
// block: block (first >> 32) · blocks >> 32, bit (low half of first · salt of the word) >> 27.
// OR-ing d adjacent blocks folds them, as in our own layouts.
#ifndef BLOOMFILTER_CORE_FOREIGN_HPP
#define BLOOMFILTER_CORE_FOREIGN_HPP

#include <cstddef>
#include <cstdint>

#include "core/digest.hpp"
#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::size_t kMaxParquetBytes = 128 * 1024 * 1024; // that its readers take

// The positions of a digest's bits in the bitmap, as many as there are hash functions.
void foreign_positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions);

bool foreign_contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest);

// Sets the bits of `count` digests, each digest_words() in a row.
void foreign_add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *words,
                      std::size_t count);

// The geometry for `expected` distinct values at a rate: Guava's own (optimalNumOfBits and
// optimalNumOfHashFunctions of 31.1); for Parquet the smallest power of two of blocks, as its
// readers want it, whose rate is not above the one asked for. False if it would be too large for
// the system or for kMaxBits.
bool size_foreign(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);

} // namespace bloomfilter

#endif
