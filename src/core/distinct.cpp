#include "core/distinct.hpp"

#include <algorithm>
#include <cmath>

namespace bloomfilter {
namespace {

constexpr int kMaxRank = 64 - kRegisterBits + 1;
constexpr double kStandardError = 1.04 / 256; // 1.04 / sqrt(kRegisters)

// Types of this namespace as arguments keep the templates' instances from being exported.
struct Less {
  bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
};
struct BitIsClear {
  int bit;
  bool operator()(std::uint64_t hash) const { return (hash >> bit & 1) == 0; }
};

// x + x^2 + 2 x^4 + 4 x^8 + ...: the part of registers that are still zero.
double sigma(double x) {
  if (x == 1.0)
    return INFINITY;
  double power = x, weight = 1.0, sum = x, before;
  do {
    power *= power;
    before = sum;
    sum += power * weight;
    weight += weight;
  } while (sum != before);
  return sum;
}

// (1 - x - sum of (1 - x^(2^-k))^2 2^-k) / 3: the part of registers that are full.
double tau(double x) {
  if (x == 0.0 || x == 1.0)
    return 0.0;
  double root = x, weight = 1.0, sum = 1.0 - x, before;
  do {
    root = std::sqrt(root);
    before = sum;
    weight *= 0.5;
    sum -= (1.0 - root) * (1.0 - root) * weight;
  } while (sum != before);
  return sum / 3.0;
}

} // namespace

double estimate_distinct(const std::uint8_t *registers) {
  std::uint32_t registers_at[kMaxRank + 1] = {};
  for (std::size_t i = 0; i < kRegisters; i++)
    registers_at[registers[i]]++;

  constexpr double kHalfInverseLog2 = 0.72134752044448170; // 1 / (2 ln 2)
  const double m = kRegisters;
  double sum = m * tau(1.0 - registers_at[kMaxRank] / m);
  for (int rank = kMaxRank - 1; rank >= 1; rank--)
    sum = 0.5 * (sum + registers_at[rank]);
  sum += m * sigma(registers_at[0] / m);
  return kHalfInverseLog2 * m * m / sum;
}

std::uint64_t padded_capacity(double distinct) {
  return static_cast<std::uint64_t>(std::ceil(distinct * (1.0 + 2.0 * kStandardError)));
}

void sort_hashes(std::uint64_t *hashes, std::size_t count) {
  std::sort(hashes, hashes + count, Less());
}

std::size_t split_hashes(std::uint64_t *hashes, std::size_t count, int bit) {
  return static_cast<std::size_t>(std::partition(hashes, hashes + count, BitIsClear{bit}) - hashes);
}

std::size_t keep_copies(std::uint64_t *hashes, std::size_t count, int copies) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i++) {
    const auto before = static_cast<std::size_t>(copies);
    if (kept < before || hashes[kept - before] != hashes[i])
      hashes[kept++] = hashes[i];
  }
  return kept;
}

std::size_t count_distinct(const std::uint64_t *hashes, std::size_t count) {
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < count; i++)
    distinct += i == 0 || hashes[i] != hashes[i - 1];
  return distinct;
}

std::size_t insert_distinct(HashSet *set, std::uint64_t *hashes, std::size_t count) {
  constexpr std::size_t kPrefetchAhead = 16;
  const std::size_t mask = set->slot_count - 1;
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < count; i++) {
    if (i + kPrefetchAhead < count)
      __builtin_prefetch(&set->slots[hashes[i + kPrefetchAhead] & mask]);
    const std::uint64_t hash = hashes[i];
    std::size_t slot = hash & mask;
    while (set->slots[slot] != hash && set->slots[slot] != 0)
      slot = (slot + 1) & mask;
    const bool known = hash != 0 ? set->slots[slot] == hash : set->has_zero;
    if (known)
      continue;
    set->slots[slot] = hash;
    set->has_zero |= hash == 0;
    hashes[fresh++] = hash;
  }
  set->count += fresh;
  return fresh;
}

double sample_distinct(const std::uint64_t *hashes, std::size_t count) {
  constexpr std::size_t kSample = 256;
  std::uint64_t slots[4 * kSample] = {};
  HashSet sample = {slots, 4 * kSample, 0, false};
  std::size_t parts = 1;
  while (count / parts > kSample)
    parts *= 2;
  for (std::size_t i = 0; i < count && sample.has_room(1); i++) {
    std::uint64_t hash = hashes[i];
    if ((hash >> 32 & (parts - 1)) == 0) // the set's slots use the lowest bits
      insert_distinct(&sample, &hash, 1);
  }
  return static_cast<double>(sample.count) * static_cast<double>(parts);
}

std::size_t read_distinct(const HashSet &set, std::size_t *next, std::uint64_t *hashes,
                          std::size_t limit) {
  std::size_t count = 0;
  if (*next == 0 && set.has_zero)
    hashes[count++] = 0;
  for (; *next < set.slot_count && count < limit; ++*next)
    if (set.slots[*next] != 0)
      hashes[count++] = set.slots[*next];
  return count;
}

} // namespace bloomfilter
