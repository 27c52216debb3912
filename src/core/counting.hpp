// Counting Bloom filters: they have counters in place of bits, so that values can be removed again.
//
// A value has the same unit and positions as in a bloomfilter (core/geometry.hpp). Each position
// has a counter of 4 bits. Adding a value increments its counters, and removing the value
// decrements them. (L. Fan, P. Cao, J. Almeida, A. Z. Broder, "Summary Cache: A Scalable Wide-Area
// Web Cache Sharing Protocol", IEEE/ACM Transactions on Networking 8, 2000.) If two positions of
// one value are the same, their counter changes only by one. So a removal undoes exactly what an
// addition did.
//
// A bloomfilter's line of 512 bits becomes a counter line of four adjacent lines. Bit j of the
// counter of position p is bit p of line j. So OR-ing the four lines gives the bloomfilter's line.
// Many counters are added at a time, with carries from line to line.
//
// A counter that has reached 15 never changes again, because the true count is no longer known. So
// a value that uses it may still be found after its removal. No value is ever lost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr unsigned kMaxCounter = (1U << kCounterBits) - 1;

// The geometry of the bloomfilter with the same positions. counting_geometry() is the inverse.
Geometry plain_geometry(const Geometry &counting);
Geometry counting_geometry(const Geometry &plain);

// Sizes counters as size_for_capacity() sizes a bloomfilter, so that both have the same rate. False
// if the counters would exceed kMaxBits.
bool size_counting(std::uint64_t expected, double rate, Geometry *geometry);

// The least of a hash's counters, 0 ... kMaxCounter. If the result is below kMaxCounter, the hash
// was added at most that many times.
unsigned counting_multiplicity(const Geometry &geometry, const std::uint8_t *counters,
                               std::uint64_t hash);

// Adds `count` hashes.
void counting_add_many(const Geometry &geometry, std::uint8_t *counters,
                       const std::uint64_t *hashes, std::size_t count);

// Removes a hash once. The hash must be in the set.
void counting_remove(const Geometry &geometry, std::uint8_t *counters, std::uint64_t hash);

// Adds each counter of `other` to the counter in the same place in `counters`. A sum above
// kMaxCounter becomes kMaxCounter. Both have `bytes` bytes, which are whole counter lines.
void counting_unite(std::uint8_t *counters, const std::uint8_t *other, std::size_t bytes);

// Writes a bitmap of a quarter of `bytes`: a bit is set if its counter is not 0. Returns the number
// of counters that are kMaxCounter.
std::uint64_t counting_bits(const std::uint8_t *counters, std::size_t bytes, std::uint8_t *bitmap);

} // namespace bloomfilter
