// Distinct hashes: finding them and counting them.
//
// Distinct hashes are found by sorting, or with a set that has open addressing and linear probing.
// They are counted with HyperLogLog (P. Flajolet et al., "HyperLogLog: the analysis of a
// near-optimal cardinality estimation algorithm", AofA 2007). It has 2^16 one-byte registers and
// the estimator of O. Ertl ("New cardinality estimation algorithms for HyperLogLog sketches",
// arXiv:1702.01284). This estimator needs no bias table and no logarithm. Every machine rounds
// sums, products and square roots alike, so the size of a filter does not depend on the machine
// that sized it. The standard error is 0.41 %.
//
// The registers depend only on the set of hashes. The order of the hashes and the number of times
// that each was seen make no difference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interrupts.hpp"
#include "core/murmur3.hpp"

namespace bloomfilter {

constexpr int kRegisterBits = 16;
constexpr std::size_t kRegisters = std::size_t{1} << kRegisterBits;

// Up to this number of distinct hashes, their exact number sizes a filter. Above it, the registers
// do.
constexpr std::size_t kExactDistinct = 65536;

// Counts a hash in kRegisters registers, which must be 0 at first.
inline void count_hash(std::uint8_t *registers, std::uint64_t hash) {
  std::uint8_t *entry = registers + (hash >> (64 - kRegisterBits));
  // The position of the first 1 in the other 48 bits. The guard bit ends a run of zeros.
  const std::uint64_t rest = hash << kRegisterBits | 1ULL << (kRegisterBits - 1);
  const auto rank = static_cast<std::uint8_t>(__builtin_clzll(rest) + 1);
  *entry = *entry < rank ? rank : *entry; // no branch, because it would be mispredicted
}

// The estimated number of distinct hashes.
double estimate_distinct(const std::uint8_t *registers);

// The capacity of a filter for an estimated number of distinct hashes. It is two standard errors
// above the estimate, so that the filter keeps its rate. `hashes` is the number of hashes that were
// kept: the distinct ones, and perhaps some repetitions. An estimate above 1.1 times this number,
// or an infinite one, can come only from hashes that somebody chose for this purpose. The capacity
// is then `hashes`.
std::uint64_t padded_capacity(double distinct, std::uint64_t hashes);

// Sorts hashes in place by their digits, with "American flag sort" (P. M. McIlroy et al.,
// "Engineering radix sort", Computing Systems 6(1), 1993).
void sort_hashes(std::uint64_t *hashes, std::size_t count, CheckInterrupts check_interrupts);

// Keeps at most `copies` copies of each of the sorted hashes and moves them to the front. Returns
// the number of hashes that are left.
std::size_t keep_copies(std::uint64_t *hashes, std::size_t count, int copies);

// The number of distinct hashes in a sorted array.
std::size_t count_distinct(const std::uint64_t *hashes, std::size_t count);

// A quick estimate of the number of distinct hashes. It counts only the hashes in one part of the
// hash space, and is exact for at most 256 hashes. It is good enough to tell few repetitions from
// many.
double sample_distinct(const std::uint64_t *hashes, std::size_t count);

// A set of hashes in the caller's memory. A slot of 0 is empty, so `has_zero` says whether the set
// has the hash 0.
//
// A hash is multiplied by an odd number, and the high bits of the product choose its slot (M.
// Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair problem", Journal of
// Algorithms 25(1), 1997). Each set has a multiplier of its own, which follows from its number and
// a seed. Two cases would otherwise take time that grows with the square of the number of hashes.
// First, hashes that are read from a large set would fill a small set from its first slot on, as
// one long run. Second, somebody who chooses the values could choose hashes that compete for the
// same slots. Without the seed, nobody can.
struct HashSet {
  std::uint64_t *slots;   // all 0 at first
  std::size_t slot_count; // a power of two, at least 2
  std::size_t count;      // hashes in the set
  std::uint32_t number;   // different for each set
  bool has_zero;

  std::size_t bytes() const { return slot_count * sizeof(std::uint64_t); }
  // True if at most half of the slots will be taken after `more` hashes are added.
  bool has_room(std::size_t more) const { return 2 * (count + more) <= slot_count; }
  std::uint64_t multiplier(std::uint64_t seed) const { return mix64(seed ^ number) | 1; }
  std::size_t slot_of(std::uint64_t hash, std::uint64_t multiplier) const {
    return hash * multiplier >> (1 + __builtin_clzll(slot_count));
  }
};

// Adds hashes to a set that has room for them. Moves the new ones to the front of `hashes` and
// returns their number. The seed must be the same for all hashes of a set.
std::size_t insert_distinct(HashSet *set, std::uint64_t seed, std::uint64_t *hashes,
                            std::size_t count);

// Writes the set's hashes from slot `*next` on, at most `limit` (2 or more) of them, and advances
// `*next`. The caller sets `*next` to 0 first. Returns the number of hashes written; 0 at the end.
std::size_t read_distinct(const HashSet &set, std::size_t *next, std::uint64_t *hashes,
                          std::size_t limit);

} // namespace bloomfilter
