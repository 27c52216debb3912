// Counting Bloom filters: counters in place of bits, so that values can be removed again.
//
// A value has the same unit and positions as in a bloomfilter (core/geometry.hpp). At each position
// there is a counter of 4 bits, which goes up when the value is added and down when it is removed.
// (L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache: A Scalable Wide-Area Web Cache Sharing
// Protocol", IEEE/ACM Transactions on Networking 8, 2000.) If positions of one value coincide,
// their counter changes by one only, so that a removal undoes exactly what an addition did.
//
// In place of a bloomfilter's line of 512 bits there is a counter line of four adjacent lines: bit
// j of the counter of position p is bit p of line j. So OR-ing the four lines gives the
// bloomfilter's line, and many counters are added at a time, with carries from line to line.
//
// A counter that has reached 15 stays there for ever, because it is not known how often it would
// have gone further. So a value that uses it may still seem to be there after its removal, but no
// value vanishes.
#ifndef BLOOMFILTER_CORE_COUNTING_HPP
#define BLOOMFILTER_CORE_COUNTING_HPP

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr unsigned kMaxCounter = (1U << kCounterBits) - 1;

// The geometry of the bloomfilter with the same positions; counting_geometry() is the inverse.
Geometry plain_geometry(const Geometry &counting);
Geometry counting_geometry(const Geometry &plain);

// Sizes counters as size_for_capacity() sizes a bloomfilter, so that both have the same rate. False
// if the counters would exceed kMaxBits.
bool size_counting(std::uint64_t expected, double rate, Geometry *geometry);

// The least of a hash's counters, 0 ... kMaxCounter. The hash was added at most that often, unless
// the result is kMaxCounter.
unsigned counting_multiplicity(const Geometry &geometry, const std::uint8_t *counters,
                               std::uint64_t hash);

// Adds `count` hashes.
void counting_add_many(const Geometry &geometry, std::uint8_t *counters,
                       const std::uint64_t *hashes, std::size_t count);

// Removes a hash once. The hash must be in the set.
void counting_remove(const Geometry &geometry, std::uint8_t *counters, std::uint64_t hash);

// Adds each counter of `other` to its counterpart in `counters`; a sum above kMaxCounter becomes
// kMaxCounter. Both have `bytes` bytes, which are whole counter lines.
void counting_unite(std::uint8_t *counters, const std::uint8_t *other, std::size_t bytes);

// Writes the bitmap of the counters that are not 0, which has a quarter of `bytes`. Returns how
// many counters are kMaxCounter.
std::uint64_t counting_bits(const std::uint8_t *counters, std::size_t bytes, std::uint8_t *bitmap);

} // namespace bloomfilter

#endif
