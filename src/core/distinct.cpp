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
struct Equal {
  bool operator()(std::uint64_t a, std::uint64_t b) const { return a == b; }
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

std::size_t sort_distinct(std::uint64_t *hashes, std::size_t count) {
  std::sort(hashes, hashes + count, Less());
  return static_cast<std::size_t>(std::unique(hashes, hashes + count, Equal()) - hashes);
}

} // namespace bloomfilter
