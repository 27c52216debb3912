// Counting Bloom filters: sets of values that can leave again, as counters in place of bits.
//
// A value has the unit and the positions that it has in a bloomfilter (core/geometry.hpp), and at
// each of them a counter of 4 bits goes up when it is added and down when it is removed. (L. Fan,
// P. Cao, J. Almeida, A. Z. Broder, "Summary Cache: A Scalable Wide-Area Web Cache Sharing
// Protocol", IEEE/ACM Transactions on Networking 8, 2000.) Positions of one value that coincide
// count once, so that what an addition did a removal undoes.
//
// Where a bloomfilter has a line of 512 bits, there is a counter line of four adjacent lines: bit j
// of the counter of position p is bit p of line j. So a counter line's lines OR-ed are the
// bloomfilter's line, and counters are added many at a time, by carries from line to line.
//
// A counter that reached 15 stays there for ever: how often it was passed is not known. So values
// that use it may seem to be there after they were removed, and none vanishes.
#ifndef BLOOMFILTER_CORE_COUNTING_HPP
#define BLOOMFILTER_CORE_COUNTING_HPP

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"

namespace bloomfilter {

constexpr unsigned kMaxCounter = (1U << kCounterBits) - 1;

// The geometry of a bloomfilter with the same positions, and back.
Geometry plain_geometry(const Geometry &counting);
Geometry counting_geometry(const Geometry &plain);

// The same as size_for_capacity(), so that rates are those of a bloomfilter.
bool size_counting(std::uint64_t expected, double rate, Geometry *geometry);

// The least of a hash's counters: the hash was added at most so often, unless it is kMaxCounter.
unsigned counting_multiplicity(const Geometry &geometry, const std::uint8_t *counters,
                               std::uint64_t hash);

void counting_add_many(const Geometry &geometry, std::uint8_t *counters,
                       const std::uint64_t *hashes, std::size_t count);

// The hash must be in the set.
void counting_remove(const Geometry &geometry, std::uint8_t *counters, std::uint64_t hash);

// Adds the counters of `bytes` bytes, whole counter lines, to others.
void counting_unite(std::uint8_t *counters, const std::uint8_t *other, std::size_t bytes);

// Writes the bits, a quarter of `bytes`, of the counters that are not 0, and returns how many
// counters of these are kMaxCounter.
std::uint64_t counting_bits(const std::uint8_t *counters, std::size_t bytes, std::uint8_t *bitmap);

// Writes the numbers of a hash's counters, each once, and returns how many they are, at most kMaxK.
// Counters are numbered in their order, 512 to a counter line. A caller that keeps wider ones, by
// these numbers, packs them into a filter's at the end.
int counter_numbers(const Geometry &geometry, std::uint64_t hash, std::uint32_t *numbers);
void pack_counters(const std::uint16_t *wide, std::size_t count, std::uint8_t *counters);

} // namespace bloomfilter

#endif
