// Which hashes are distinct, and how many there were.
//
// Which: a set with open addressing and linear probing, or sorting. How many: HyperLogLog,
// P. Flajolet et al., "HyperLogLog: the analysis of a near-optimal cardinality estimation
// algorithm", AofA 2007, with 2^16 one-byte registers and the estimator of O. Ertl, "New
// cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284, which needs no
// bias table and no logarithm: sums, products and square roots round alike everywhere, so the
// size of a filter does not depend on the machine that sized it. Standard error 0.41 %.
//
// The registers depend on the set of hashes alone, not on their order or number.
#ifndef BLOOMFILTER_CORE_DISTINCT_HPP
#define BLOOMFILTER_CORE_DISTINCT_HPP

#include <cstddef>
#include <cstdint>

#include "core/pause.hpp"

namespace bloomfilter {

constexpr int kRegisterBits = 16;
constexpr std::size_t kRegisters = std::size_t{1} << kRegisterBits;

// Below this many distinct hashes their exact number sizes a filter, above it the registers.
constexpr std::size_t kExactDistinct = 65536;

inline void count_hash(std::uint8_t *registers, std::uint64_t hash) {
  std::uint8_t *entry = registers + (hash >> (64 - kRegisterBits));
  // Position of the first 1 in the other 48 bits; the guard bit ends a run of zeros.
  const std::uint64_t rest = hash << kRegisterBits | 1ULL << (kRegisterBits - 1);
  const auto rank = static_cast<std::uint8_t>(__builtin_clzll(rest) + 1);
  *entry = *entry < rank ? rank : *entry; // without a branch, which would be mispredicted
}

// The estimated number of distinct hashes.
double estimate_distinct(const std::uint8_t *registers);

// The capacity for that many: two standard errors above, so that the rate is kept.
std::uint64_t padded_capacity(double distinct);

// Sorts hashes where they are, by their digits: P. M. McIlroy et al., "Engineering radix sort",
// Computing Systems 6(1), 1993 ("American flag sort").
void sort_hashes(std::uint64_t *hashes, std::size_t count, Pause pause);

// Leaves at most so many copies of each hash among sorted ones; returns how many hashes are left.
std::size_t keep_copies(std::uint64_t *hashes, std::size_t count, int copies);

// The number of distinct hashes among sorted ones.
std::size_t count_distinct(const std::uint64_t *hashes, std::size_t count);

// The number of distinct hashes, estimated in passing from those in one part of the space of
// hashes; exact for few. Good enough to tell few repetitions from many.
double sample_distinct(const std::uint64_t *hashes, std::size_t count);

// A set of hashes in the caller's memory. An empty slot is 0, so that the hash 0 has a place apart.
struct HashSet {
  std::uint64_t *slots; // a power of two, all 0 at first
  std::size_t slot_count;
  std::size_t count; // hashes in the set
  bool has_zero;

  std::size_t bytes() const { return slot_count * sizeof(std::uint64_t); }
  // Are at most half of the slots taken, also with as many hashes more?
  bool has_room(std::size_t more) const { return 2 * (count + more) <= slot_count; }
};

// Adds hashes to a set that has room for them. Those that were new move to the front of `hashes`;
// returns their number.
std::size_t insert_distinct(HashSet *set, std::uint64_t *hashes, std::size_t count);

// Writes the set's hashes from slot `*next` on, at most `limit` >= 2, and moves `*next` on; returns
// how many they were, 0 at the end. Begin with 0.
std::size_t read_distinct(const HashSet &set, std::size_t *next, std::uint64_t *hashes,
                          std::size_t limit);

} // namespace bloomfilter

#endif
