// Writes sizing_table/table.inc: the number of bits that a value needs for a false positive rate.
//
// A value sets k bits of one 64-byte line, or k/2 bits in each of two lines of an 8-line page.
// Hashing spreads values over lines like balls over bins, so the number of values in a line is
// Poisson. The textbook formula ignores this spread, which makes a blocked filter cost more bits
// (F. Putze, P. Sanders, J. Singler, "Cache-, hash- and space-efficient Bloom filters", JEA 14,
// 2009). This model gives the rate exactly:
//
//   line:  sum over N of Poisson(N; 512/bits) * M(k N, k)
//   page:  sum over N of Poisson(N; 4096/bits) * G(N)^2,
//          G(N) = sum over j of Binomial(j; N, 1/4) * M(c j, c),  c = k/2
//
// Here M(b, k) = E[(X/512)^k], and X is the number of occupied bits after b throws into 512.
//
// The rates form a grid from 0.5 down to below 1e-9, with 16 rates for each halving: rate i is
// 2^(-1 - i/16). Between two rates of the grid, sizing.cpp interpolates with the k of the higher
// rate. So an entry's bits must suffice for the k of both intervals that the entry bounds. The
// chord of a convex curve lies above the curve, so the interpolation never gives too few bits.
//
// Build and run it by hand. test/unit/sizing_test.cpp checks the committed table against it:
//   c++ -std=c++17 -O2 -ffp-contract=off generate.cpp -o generate && ./generate > table.inc

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kLineBits = 512;
constexpr int kMaxK = 16;
constexpr int kMaxThrows = 9000;
constexpr int kRates = 464;      // the last is below 1e-9
constexpr int kLastCoarse = 144; // the first rate below 0.1 %; see sizing.cpp
constexpr int kFirstFine = 143;  // the last rate above 0.1 %

using Moments = std::vector<std::vector<double>>; // [throws][k] -> E[(X/512)^k]

Moments occupancy_moments() {
  Moments moments(kMaxThrows + 1, std::vector<double>(kMaxK + 1));
  std::vector<double> occupied(kLineBits + 1, 0.0), next(kLineBits + 1);
  occupied[0] = 1.0;
  for (int throws = 0; throws <= kMaxThrows; throws++) {
    for (int x = 0; x <= kLineBits; x++) {
      double fill = static_cast<double>(x) / kLineBits, power = occupied[x];
      for (int k = 1; k <= kMaxK; k++)
        moments[throws][k] += power *= fill;
    }
    for (int x = 0; x <= kLineBits; x++)
      next[x] = occupied[x] * x / kLineBits +
                (x > 0 ? occupied[x - 1] * (kLineBits - x + 1) / kLineBits : 0.0);
    occupied.swap(next);
  }
  return moments;
}

// The expectation of rate_at_load(N) for a Poisson load with the given mean.
template <typename F> double poisson_mean(double mean, F rate_at_load) {
  double spread = 12.0 * std::sqrt(mean) + 20.0;
  int from = std::max(0, static_cast<int>(mean - spread)), to = static_cast<int>(mean + spread);
  double total = 0.0;
  for (int n = from; n <= to; n++)
    total += std::exp(n * std::log(mean) - mean - std::lgamma(n + 1.0)) * rate_at_load(n);
  return total;
}

double line_rate(const Moments &moments, double bits, int k) {
  return poisson_mean(kLineBits / bits,
                      [&](int n) { return n * k > kMaxThrows ? 1.0 : moments[n * k][k]; });
}

// G(N) of the page model for N = 0, 1, ...
std::vector<double> half_page_rates(const Moments &moments, int c) {
  std::vector<double> rates(1000, 0.0);
  for (int n = 0; n < static_cast<int>(rates.size()); n++)
    for (int j = 0; j <= n; j++) {
      double p = std::exp(std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0) +
                          j * std::log(0.25) + (n - j) * std::log(0.75));
      rates[n] += p * (j * c > kMaxThrows ? 1.0 : moments[j * c][c]);
    }
  return rates;
}

double page_rate(const std::vector<double> &half, double bits) {
  return poisson_mean(8 * kLineBits / bits, [&](int n) {
    double one = n < static_cast<int>(half.size()) ? half[n] : 1.0;
    return one * one;
  });
}

// The smallest number of bits, in thousandths, with a rate of at most the given one. rate_of() must
// fall as the bits grow.
template <typename F> int bits_for(double rate, double floor_bits, F rate_of) {
  double low = floor_bits, high = 400.0;
  for (int i = 0; i < 50; i++) {
    double middle = (low + high) / 2;
    (rate_of(middle) <= rate ? high : low) = middle;
  }
  return static_cast<int>(std::ceil(high * 1000 - 1e-6));
}

double grid_rate(int i) {
  return std::exp2(-1.0 - i / 16.0);
}

// The bits of entry i. They suffice for the k of the interval below it and of the one above it.
template <typename F> int entry_bits(const std::vector<int> &k, int i, int first, F bits_at) {
  return std::max(bits_at(i, k[i]), i > first ? bits_at(i, k[i - 1]) : 0);
}

} // namespace

int main() {
  const Moments moments = occupancy_moments();
  std::vector<std::vector<double>> half(kMaxK / 2 + 1);
  for (int c = 1; c <= kMaxK / 2; c++)
    half[c] = half_page_rates(moments, c);

  // The model's sums are not meant for fewer bits than these functions start from. No optimum lies
  // there.
  auto line_bits = [&](int i, int k) {
    return bits_for(grid_rate(i), std::max(1.0, 0.6 * k),
                    [&](double bits) { return line_rate(moments, bits, k); });
  };
  auto page_bits = [&](int i, int k) {
    return bits_for(grid_rate(i), 6.0, [&](double bits) { return page_rate(half[k / 2], bits); });
  };
  auto best = [&](int i, int first, int step, auto bits_at) {
    int k = first;
    for (int candidate = first + step; candidate <= kMaxK; candidate += step)
      if (bits_at(i, candidate) < bits_at(i, k))
        k = candidate;
    return k;
  };

  std::vector<int> coarse_k(kRates), fine_k(kRates);
  for (int i = 0; i <= kLastCoarse; i++)
    coarse_k[i] = best(i, 1, 1, line_bits);
  for (int i = kFirstFine; i < kRates; i++)
    fine_k[i] = best(i, 2, 2, page_bits);

  std::printf("// Written by generate.cpp; a change of this table is a change of the format.\n\n");
  std::printf("// 2^53 * 2^(-r/16): the significands of the 16 rates of an octave.\n");
  std::printf("constexpr std::uint64_t kSignificands[17] = {\n");
  for (int r = 0; r <= 16; r++)
    std::printf("    %lluULL,\n", static_cast<unsigned long long>(
                                      std::llround(std::ldexp(std::exp2(-r / 16.0), 53))));
  std::printf("};\n\n// Rates 0 to %d: {k, thousandths of bits per value in lines}.\n",
              kLastCoarse);
  std::printf("constexpr CoarseEntry kCoarse[] = {\n");
  for (int i = 0; i <= kLastCoarse; i++)
    std::printf("    {%d, %d},\n", coarse_k[i], entry_bits(coarse_k, i, 0, line_bits));
  std::printf("};\n\n// Rates %d to %d: {k, thousandths in pages, in lines}.\n", kFirstFine,
              kRates - 1);
  std::printf("constexpr int kFirstFine = %d;\nconstexpr FineEntry kFine[] = {\n", kFirstFine);
  for (int i = kFirstFine; i < kRates; i++)
    std::printf("    {%d, %d, %d},\n", fine_k[i], entry_bits(fine_k, i, kFirstFine, page_bits),
                entry_bits(fine_k, i, kFirstFine, line_bits));
  std::printf("};\n");
}
