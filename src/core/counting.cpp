#include "core/counting.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

constexpr int kLineWords = kLineBytes / 8;
constexpr std::size_t kPrefetchAhead = 16;

// The parts of one hash: its lines in a page, or the only line, and where their blocks are.
struct Part {
  std::size_t line;  // offset within a bloomfilter's unit
  std::size_t block; // offset within the counters
  std::uint32_t word;
  int hashes;
};
struct Parts {
  Part part[2];
  int count;
};

Parts parts_of(const Geometry &geometry, std::uint64_t hash) {
  const std::size_t unit = unit_offset(geometry, hash);
  const std::uint32_t x = first_word(hash);
  if (geometry.layout == Layout::counting_lines)
    return {{{0, unit, x, geometry.hashes}, {}}, 1};
  const std::uint32_t y = second_word(hash);
  const std::size_t first = first_line_offset(x), second = second_line_offset(y);
  const int half = geometry.hashes / 2;
  return {{{first, unit + kCounterBits * first, x, half},
           {second, unit + kCounterBits * second, y, half}},
          2};
}

std::uint8_t *line_of(std::uint8_t *block, int bit) {
  return block + bit * kLineBytes;
}
const std::uint8_t *line_of(const std::uint8_t *block, int bit) {
  return block + bit * kLineBytes;
}

// A block's counters that are not 0.
void occupied(const std::uint8_t *block, std::uint8_t *line) {
  for (int i = 0; i < kLineBytes; i += 8) {
    std::uint64_t bits = 0;
    for (int bit = 0; bit < kCounterBits; bit++)
      bits |= load<std::uint64_t>(line_of(block, bit) + i);
    store(line + i, bits);
  }
}

// The 64 counters of which each line of a block has a word.
struct Column {
  std::uint64_t bit[kCounterBits];

  Column(const std::uint8_t *block, int i) {
    for (int j = 0; j < kCounterBits; j++)
      bit[j] = load<std::uint64_t>(line_of(block, j) + i);
  }
  void write(std::uint8_t *block, int i) const {
    for (int j = 0; j < kCounterBits; j++)
      store(line_of(block, j) + i, bit[j]);
  }
  std::uint64_t full() const { return bit[0] & bit[1] & bit[2] & bit[3]; }
};
static_assert(kCounterBits == 4, "full() names all lines");

// The positions of a part as the bits of a line.
void mask_of(const Part &part, std::uint64_t *words) {
  std::memset(words, 0, kLineBytes);
  for (int i = 0; i < part.hashes; i++) {
    const std::uint32_t position = bit_position(part.word, i);
    words[position / 64] |= 1ULL << position % 64;
  }
}

// Calls use(column, chosen counters) for the words of a hash's blocks that have any of them, and
// writes back what it made of the column.
template <typename Use>
[[gnu::always_inline]] inline void change(const Geometry &geometry, std::uint8_t *counters,
                                          std::uint64_t hash, Use use) {
  const Parts parts = parts_of(geometry, hash);
  for (int p = 0; p < parts.count; p++) {
    std::uint8_t *block = counters + parts.part[p].block;
    std::uint64_t mask[kLineWords];
    mask_of(parts.part[p], mask);
    for (int w = 0; w < kLineWords; w++) {
      if (mask[w] == 0)
        continue;
      Column column(block, 8 * w);
      use(column, mask[w]);
      column.write(block, 8 * w);
    }
  }
}

} // namespace

Geometry plain_geometry(const Geometry &counting) {
  const Layout layout = counting.layout == Layout::counting_lines ? Layout::lines : Layout::pages;
  return {layout, counting.hashes, counting.units};
}

Geometry counting_geometry(const Geometry &plain) {
  const Layout layout =
      plain.layout == Layout::lines ? Layout::counting_lines : Layout::counting_pages;
  return {layout, plain.hashes, plain.units};
}

bool size_counting(std::uint64_t expected, double rate, Geometry *geometry) {
  Geometry plain;
  if (!size_for_capacity(expected, rate, &plain) || plain.bits() > kMaxBits / kCounterBits)
    return false;
  *geometry = counting_geometry(plain);
  return true;
}

bool counting_contains(const Kernel &kernel, const Geometry &geometry, const std::uint8_t *counters,
                       std::uint64_t hash) {
  // The bloomfilter of the hash's unit alone, as far as it matters.
  std::uint8_t unit[kPageLines * kLineBytes];
  const Parts parts = parts_of(geometry, hash);
  for (int p = 0; p < parts.count; p++)
    occupied(counters + parts.part[p].block, unit + parts.part[p].line);
  const Layout layout = parts.count == 1 ? Layout::lines : Layout::pages;
  return kernel.contains({layout, geometry.hashes, 1}, unit, hash);
}

unsigned counting_multiplicity(const Geometry &geometry, const std::uint8_t *counters,
                               std::uint64_t hash) {
  std::uint32_t numbers[kMaxHashes];
  const int count = counter_numbers(geometry, hash, numbers);
  unsigned least = kMaxCounter;
  for (int i = 0; i < count; i++) {
    const std::uint8_t *block = counters + std::size_t{numbers[i] / kLineBits} * kBlockOfCounters;
    const std::uint32_t position = numbers[i] % kLineBits;
    unsigned counter = 0;
    for (int bit = 0; bit < kCounterBits; bit++)
      counter |= (line_of(block, bit)[position >> 3] >> (position & 7) & 1U) << bit;
    least = std::min(least, counter);
  }
  return least;
}

void counting_add_many(const Geometry &geometry, std::uint8_t *counters,
                       const std::uint64_t *hashes, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    if (i + kPrefetchAhead < count) {
      const Parts ahead = parts_of(geometry, hashes[i + kPrefetchAhead]);
      for (int p = 0; p < ahead.count; p++)
        for (int bit = 0; bit < kCounterBits; bit++)
          __builtin_prefetch(line_of(counters + ahead.part[p].block, bit), 1);
    }
    change(geometry, counters, hashes[i], [](Column &column, std::uint64_t chosen) {
      std::uint64_t carry = chosen & ~column.full();
      for (std::uint64_t &bits : column.bit) {
        const std::uint64_t next = bits & carry;
        bits ^= carry;
        carry = next;
      }
    });
  }
}

void counting_remove(const Geometry &geometry, std::uint8_t *counters, std::uint64_t hash) {
  change(geometry, counters, hash, [](Column &column, std::uint64_t chosen) {
    std::uint64_t borrow = chosen & ~column.full();
    for (std::uint64_t &bits : column.bit) {
      const std::uint64_t next = ~bits & borrow;
      bits ^= borrow;
      borrow = next;
    }
  });
}

void counting_unite(std::uint8_t *counters, const std::uint8_t *other, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kBlockOfCounters)
    for (int i = 0; i < kLineBytes; i += 8) {
      Column sum(counters + at, i);
      const Column more(other + at, i);
      std::uint64_t carry = 0;
      for (int bit = 0; bit < kCounterBits; bit++) {
        const std::uint64_t a = sum.bit[bit], b = more.bit[bit];
        sum.bit[bit] = a ^ b ^ carry;
        carry = (a & b) | (carry & (a ^ b));
      }
      for (std::uint64_t &bits : sum.bit)
        bits |= carry; // more than 15 is 15
      sum.write(counters + at, i);
    }
}

std::uint64_t counting_bits(const std::uint8_t *counters, std::size_t bytes, std::uint8_t *bitmap) {
  std::uint64_t full = 0;
  for (std::size_t at = 0; at < bytes; at += kBlockOfCounters) {
    occupied(counters + at, bitmap + at / kCounterBits);
    for (int i = 0; i < kLineBytes; i += 8)
      full += static_cast<unsigned>(__builtin_popcountll(Column(counters + at, i).full()));
  }
  return full;
}

int counter_numbers(const Geometry &geometry, std::uint64_t hash, std::uint32_t *numbers) {
  const Parts parts = parts_of(geometry, hash);
  int count = 0;
  for (int p = 0; p < parts.count; p++) {
    const auto block = static_cast<std::uint32_t>(parts.part[p].block / kBlockOfCounters);
    for (int i = 0; i < parts.part[p].hashes; i++) {
      const std::uint32_t number = block * kLineBits + bit_position(parts.part[p].word, i);
      if (std::find(numbers, numbers + count, number) == numbers + count)
        numbers[count++] = number;
    }
  }
  return count;
}

void pack_counters(const std::uint16_t *wide, std::size_t count, std::uint8_t *counters) {
  for (std::size_t at = 0; at < count; at += kLineBits, counters += kBlockOfCounters)
    for (int w = 0; w < kLineWords; w++) {
      std::uint64_t bits[kCounterBits] = {};
      for (int i = 0; i < 64; i++) {
        const unsigned counter = std::min<unsigned>(wide[at + 64 * w + i], kMaxCounter);
        for (int bit = 0; bit < kCounterBits; bit++)
          bits[bit] |= std::uint64_t{counter >> bit & 1} << i;
      }
      for (int bit = 0; bit < kCounterBits; bit++)
        store(line_of(counters, bit) + 8 * w, bits[bit]);
    }
}

} // namespace bloomfilter
