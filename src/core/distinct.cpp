// See distinct.hpp.

#include "core/distinct.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bloomfilter {
namespace {

constexpr int kMaxRank = 64 - kRegisterBits + 1;
constexpr double kStandardError = 1.04 / 256; // 1.04 / sqrt(kRegisters)
// The largest capacity per hash that is believed. It is 22 standard errors above the true number.
constexpr double kMostEstimated = 1.1;

constexpr int kMostDigitBits = 8;
constexpr std::size_t kMostDigits = 1 << kMostDigitBits;
constexpr std::size_t kFew = 24; // up to this number of hashes, sorting is by insertion
constexpr std::size_t kHashesBetweenChecks = kBytesBetweenChecks / sizeof(std::uint64_t);

// The digit by which hashes are sorted next: `bits` bits of a hash, from bit `shift` on.
struct Digit {
  int bits, shift;

  std::size_t count() const { return std::size_t{1} << bits; }
  std::size_t operator()(std::uint64_t hash) const { return hash >> shift & (count() - 1); }
};

// The next digit for hashes whose lowest `bits` bits are not sorted yet. It is the highest of these
// bits, wide enough for each part to get few hashes.
Digit next_digit(std::size_t count, int bits) {
  const int enough = 61 - __builtin_clzll(count);
  const int digit = std::min({enough, kMostDigitBits, bits});
  return {digit, bits - digit};
}

void sort_few(std::uint64_t *hashes, std::size_t count) {
  for (std::size_t i = 1; i < count; i++) {
    const std::uint64_t hash = hashes[i];
    std::size_t place = i;
    for (; place > 0 && hashes[place - 1] > hash; place--)
      hashes[place] = hashes[place - 1];
    hashes[place] = hash;
  }
}

// Moves each hash to the part of its digit. Sets `ends` to the ends of the parts.
void split_hashes(std::uint64_t *hashes, std::size_t count, Digit digit,
                  CheckInterrupts check_interrupts, std::size_t *ends) {
  std::size_t nexts[kMostDigits];
  std::fill_n(ends, digit.count(), 0);
  for (std::size_t i = 0; i < count; i++) {
    if (i % kHashesBetweenChecks == 0)
      check_interrupts();
    ends[digit(hashes[i])]++;
  }
  std::size_t begin = 0;
  for (std::size_t part = 0; part < digit.count(); part++) {
    nexts[part] = begin;
    begin = ends[part] += begin;
  }

  std::size_t moved = 0;
  for (std::size_t part = 0; part < digit.count(); part++)
    while (nexts[part] < ends[part]) {
      std::uint64_t hash = hashes[nexts[part]];
      for (std::size_t home; (home = digit(hash)) != part;) {
        if (++moved % kHashesBetweenChecks == 0) {
          hashes[nexts[part]] = hash; // the array has all hashes again if the check ends the sort
          check_interrupts();
        }
        std::swap(hash, hashes[nexts[home]++]);
      }
      hashes[nexts[part]++] = hash;
    }
}

// Sorts hashes by their lowest `bits` bits. The higher bits are the same in all hashes.
void sort_by_bits(std::uint64_t *hashes, std::size_t count, int bits,
                  CheckInterrupts check_interrupts) {
  if (count <= kFew || bits == 0) {
    sort_few(hashes, count);
    return;
  }
  const Digit digit = next_digit(count, bits);
  std::size_t ends[kMostDigits];
  split_hashes(hashes, count, digit, check_interrupts, ends);
  std::size_t begin = 0;
  for (std::size_t part = 0; part < digit.count(); part++) {
    sort_by_bits(hashes + begin, ends[part] - begin, digit.shift, check_interrupts);
    begin = ends[part];
  }
}

// x + x^2 + 2 x^4 + 4 x^8 + ...: the contribution of the registers that are still zero.
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

// (1 - x - sum of (1 - x^(2^-k))^2 2^-k) / 3: the contribution of the registers that are full.
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

std::uint64_t padded_capacity(double distinct, std::uint64_t hashes) {
  const double padded = std::ceil(distinct * (1.0 + 2.0 * kStandardError));
  return padded <= kMostEstimated * static_cast<double>(hashes) ? static_cast<std::uint64_t>(padded)
                                                                : hashes;
}

void sort_hashes(std::uint64_t *hashes, std::size_t count, CheckInterrupts check_interrupts) {
  std::size_t sorted = 1;
  while (sorted < count && hashes[sorted - 1] <= hashes[sorted])
    sorted++;
  if (sorted < count)
    sort_by_bits(hashes, count, 64, check_interrupts);
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

std::size_t insert_distinct(HashSet *set, std::uint64_t seed, std::uint64_t *hashes,
                            std::size_t count) {
  constexpr std::size_t kPrefetchAhead = 16;
  const std::size_t mask = set->slot_count - 1;
  const std::uint64_t multiplier = set->multiplier(seed);
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < count; i++) {
    if (i + kPrefetchAhead < count)
      __builtin_prefetch(&set->slots[set->slot_of(hashes[i + kPrefetchAhead], multiplier)]);
    const std::uint64_t hash = hashes[i];
    std::size_t slot = set->slot_of(hash, multiplier);
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
  constexpr std::size_t kSample = 256, kBatch = 64;
  std::uint64_t slots[4 * kSample] = {}, batch[kBatch];
  HashSet sample = {slots, 4 * kSample, 0, 0, false};
  std::size_t parts = 1;
  while (count / parts > kSample)
    parts *= 2;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < count && sample.has_room(kBatch); i++) {
    batch[taken] = hashes[i];
    taken += (hashes[i] >> 32 & (parts - 1)) == 0;
    if (taken == kBatch || i + 1 == count) {
      insert_distinct(&sample, 0, batch, taken);
      taken = 0;
    }
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
