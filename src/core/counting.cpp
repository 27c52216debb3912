// See counting.hpp.

#include "core/counting.hpp"

#include <algorithm>
#include <cstring>

#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

constexpr std::size_t kPrefetchAhead = 16;

// A counter line that a hash uses. `word` and `k` give the hash's positions in it (bit_position()).
// A hash uses one counter line, or two counter lines of a page.
struct UsedLine {
  std::size_t counter_line; // its offset in the counters
  std::uint32_t word;
  int k;
};
struct UsedLines {
  UsedLine used[2];
  int count;

  const UsedLine *begin() const { return used; }
  const UsedLine *end() const { return used + count; }
};

[[gnu::always_inline]] inline UsedLines used_lines(const Geometry &geometry, std::uint64_t hash) {
  const std::size_t unit = unit_offset(geometry, hash);
  const std::uint32_t x = first_word(hash);
  if (geometry.layout == Layout::counting_lines)
    return {{{unit, x, geometry.k}, {}}, 1};
  const std::uint32_t y = second_word(hash);
  const int half = geometry.k / 2;
  return {{{unit + kCounterBits * first_line_offset(x), x, half},
           {unit + kCounterBits * second_line_offset(y), y, half}},
          2};
}

// Calls use(j) for each line of a counter line. gcc keeps the lines in registers only if the loop
// is unrolled.
template <typename Use> [[gnu::always_inline]] inline void for_each_line(Use use) {
#pragma GCC unroll 4
  for (int j = 0; j < kCounterBits; j++)
    use(j);
}

constexpr int kBitsBytes = 16;
using Bits = std::uint64_t __attribute__((vector_size(kBitsBytes)));

inline Bits load_bits(const std::uint8_t *from) {
  Bits bits;
  std::memcpy(&bits, from, sizeof bits);
  return bits;
}

// 128 counters: kBitsBytes bytes from each line of a counter line. All operations on counters are
// bitwise, so the order of the bytes does not matter.
struct CounterColumn {
  Bits bit[kCounterBits];

  explicit CounterColumn(const std::uint8_t *counter_line) {
    for_each_line([&](int j) { bit[j] = load_bits(counter_line + j * kLineBytes); });
  }
  void write(std::uint8_t *counter_line) const {
    for_each_line(
        [&](int j) { std::memcpy(counter_line + j * kLineBytes, &bit[j], sizeof bit[j]); });
  }
  Bits used() const { return bit[0] | bit[1] | bit[2] | bit[3]; }
  Bits full() const { return bit[0] & bit[1] & bit[2] & bit[3]; }
};
static_assert(kCounterBits == 4, "used() and full() name all lines");

// Calls use(column, chosen) for each column of a hash's counter lines, and writes the column back.
// `chosen` marks the hash's counters in the column, except the full ones.
template <typename Use>
[[gnu::always_inline]] inline void change(const Geometry &geometry, std::uint8_t *counters,
                                          std::uint64_t hash, Use use) {
  for (const UsedLine &used : used_lines(geometry, hash)) {
    std::uint8_t line[kLineBytes] = {};
    for (int i = 0; i < used.k; i++) {
      const std::uint32_t position = bit_position(used.word, i);
      line[position >> 3] = static_cast<std::uint8_t>(line[position >> 3] | 1U << (position & 7));
    }
    std::uint8_t *counter_line = counters + used.counter_line;
    for (int i = 0; i < kLineBytes; i += kBitsBytes) {
      CounterColumn column(counter_line + i);
      use(column, load_bits(line + i) & ~column.full());
      column.write(counter_line + i);
    }
  }
}

} // namespace

Geometry plain_geometry(const Geometry &counting) {
  const Layout layout = counting.layout == Layout::counting_lines ? Layout::lines : Layout::pages;
  return {layout, counting.k, counting.units};
}

Geometry counting_geometry(const Geometry &plain) {
  const Layout layout =
      plain.layout == Layout::lines ? Layout::counting_lines : Layout::counting_pages;
  return {layout, plain.k, plain.units};
}

bool size_counting(std::uint64_t expected, double rate, Geometry *geometry) {
  Geometry plain;
  if (!size_for_capacity(expected, rate, &plain) || plain.bits() > kMaxBits / kCounterBits)
    return false;
  *geometry = counting_geometry(plain);
  return true;
}

unsigned counting_multiplicity(const Geometry &geometry, const std::uint8_t *counters,
                               std::uint64_t hash) {
  unsigned least = kMaxCounter;
  for (const UsedLine &used : used_lines(geometry, hash))
    for (int i = 0; i < used.k; i++) {
      const std::uint32_t position = bit_position(used.word, i);
      const std::uint8_t *line = counters + used.counter_line + (position >> 3);
      unsigned counter = 0;
      for_each_line([&](int j) { counter |= (line[j * kLineBytes] >> (position & 7) & 1U) << j; });
      least = std::min(least, counter);
    }
  return least;
}

void counting_add_many(const Geometry &geometry, std::uint8_t *counters,
                       const std::uint64_t *hashes, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    if (i + kPrefetchAhead < count)
      for (const UsedLine &used : used_lines(geometry, hashes[i + kPrefetchAhead]))
        for (int bit = 0; bit < kCounterBits; bit++)
          __builtin_prefetch(counters + used.counter_line + bit * kLineBytes, 1);
    change(geometry, counters, hashes[i], [](CounterColumn &column, Bits carry) {
      for_each_line([&](int j) {
        const Bits before = column.bit[j];
        column.bit[j] ^= carry;
        carry &= before;
      });
    });
  }
}

void counting_remove(const Geometry &geometry, std::uint8_t *counters, std::uint64_t hash) {
  change(geometry, counters, hash, [](CounterColumn &column, Bits borrow) {
    for_each_line([&](int j) {
      column.bit[j] ^= borrow;
      borrow &= column.bit[j];
    });
  });
}

void counting_unite(std::uint8_t *counters, const std::uint8_t *other, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kCounterLineBytes)
    for (int i = 0; i < kLineBytes; i += kBitsBytes) {
      CounterColumn sum(counters + at + i);
      const CounterColumn more(other + at + i);
      Bits carry = {};
      for_each_line([&](int j) {
        const Bits a = sum.bit[j], b = more.bit[j];
        sum.bit[j] = a ^ b ^ carry;
        carry = (a & b) | (carry & (a ^ b));
      });
      for_each_line([&](int j) { sum.bit[j] |= carry; }); // a sum above 15 becomes 15
      sum.write(counters + at + i);
    }
}

std::uint64_t counting_bits(const std::uint8_t *counters, std::size_t bytes, std::uint8_t *bitmap) {
  std::uint64_t full = 0;
  for (std::size_t at = 0; at < bytes; at += kCounterLineBytes)
    for (int i = 0; i < kLineBytes; i += kBitsBytes) {
      const CounterColumn column(counters + at + i);
      const Bits used = column.used(), last = column.full();
      std::memcpy(bitmap + at / kCounterBits + i, &used, sizeof used);
      full += static_cast<unsigned>(__builtin_popcountll(last[0]) + __builtin_popcountll(last[1]));
    }
  return full;
}

} // namespace bloomfilter
