// See slices.hpp.

#include "core/slices.hpp"

#include "core/bytes.hpp"

namespace bloomfilter {

LinePlace line_place(int columns, std::uint32_t line) {
  const auto lines = static_cast<std::uint32_t>(lines_per_page(columns));
  return {line / lines,
          kContentAt + std::size_t{line % lines} * static_cast<unsigned>(columns) * kLineBytes};
}

namespace {

ProbedLine probed_line(std::size_t offset, std::uint32_t word, int count) {
  ProbedLine probed;
  probed.line = static_cast<std::uint32_t>(offset / kLineBytes);
  probed.count = count;
  for (int i = 0; i < count; i++)
    probed.bits[i] = static_cast<std::uint16_t>(bit_position(word, i));
  return probed;
}

} // namespace

int probed_lines(const Geometry &geometry, std::uint64_t hash, ProbedLine *probed) {
  const std::size_t unit = unit_offset(geometry, hash);
  const std::uint32_t x = first_word(hash), y = second_word(hash);
  if (geometry.layout == Layout::lines) {
    probed[0] = probed_line(unit, x, geometry.k);
    return 1;
  }
  probed[0] = probed_line(unit + first_line_offset(x), x, geometry.k / 2);
  probed[1] = probed_line(unit + second_line_offset(y), y, geometry.k / 2);
  return 2;
}

namespace {

constexpr int kWordBits = 64;

// The number of columns of a slice that are written or read together, from column `first` on: 64,
// or the number that is left.
int columns_from(int first, int columns) {
  return columns - first < kWordBits ? columns - first : kWordBits;
}

// The bits of a slice for at most 64 columns, from column `first` on.
std::uint64_t slice_bits(const std::uint8_t *slices, int columns, int slice, int first) {
  const int count = columns_from(first, columns);
  const std::size_t at = static_cast<std::size_t>(slice) * static_cast<std::size_t>(columns) +
                         static_cast<std::size_t>(first);
  const std::size_t byte = at / 8;
  const int shift = static_cast<int>(at % 8);
  std::uint64_t bits =
      load_first(slices + byte, static_cast<std::size_t>(columns) * kLineBytes - byte) >> shift;
  if (shift + count > kWordBits)
    bits |= std::uint64_t{slices[byte + 8]} << (kWordBits - shift);
  return bits & ~std::uint64_t{0} >> (kWordBits - count);
}

// Writes numbers of 1 to 64 bits one after the other. The bytes written end with a whole word.
class BitWriter {
public:
  explicit BitWriter(std::uint8_t *to) : to_(to), pending_(0), count_(0) {}

  void add(std::uint64_t bits, int count) {
    pending_ |= bits << count_;
    if (count_ + count < kWordBits) {
      count_ += count;
      return;
    }
    store(to_, pending_);
    to_ += sizeof pending_;
    const int written = kWordBits - count_;
    pending_ = written < kWordBits ? bits >> written : 0;
    count_ = count - written;
  }

private:
  std::uint8_t *to_;
  std::uint64_t pending_;
  int count_;
};

// Transposes 64 words: bit r of word c becomes bit c of word r. (Henry S. Warren, "Hacker's
// Delight", 7-3.)
void transpose(std::uint64_t *words) {
  std::uint64_t mask = 0x00000000FFFFFFFF;
  for (int distance = kWordBits / 2; distance != 0; distance /= 2, mask ^= mask << distance)
    for (int i = 0; i < kWordBits; i = ((i | distance) + 1) & ~distance) {
      const std::uint64_t differing = (words[i] >> distance ^ words[i | distance]) & mask;
      words[i] ^= differing << distance;
      words[i | distance] ^= differing;
    }
}

} // namespace

void write_slices(const std::uint8_t *const *lines, int columns, std::uint8_t *slices) {
  BitWriter writer(slices);
  for (std::size_t byte = 0; byte < kLineBytes; byte += sizeof(std::uint64_t)) {
    std::uint64_t words[2][kWordBits] = {};
    for (int column = 0; column < columns; column++)
      words[column / kWordBits][column % kWordBits] = load<std::uint64_t>(lines[column] + byte);
    transpose(words[0]);
    transpose(words[1]);
    for (int bit = 0; bit < kWordBits; bit++)
      for (int first = 0; first < columns; first += kWordBits)
        writer.add(words[first / kWordBits][bit], columns_from(first, columns));
  }
}

void read_slices(const std::uint8_t *slices, int columns, std::uint8_t *lines) {
  for (int slice = 0; slice < kLineBits; slice += kWordBits)
    for (int first = 0; first < columns; first += kWordBits) {
      std::uint64_t words[kWordBits];
      for (int bit = 0; bit < kWordBits; bit++)
        words[bit] = slice_bits(slices, columns, slice + bit, first);
      transpose(words);
      for (int i = 0; i < columns_from(first, columns); i++)
        store(lines + (first + i) * kLineBytes + slice / 8, words[i]);
    }
}

FilterSet filters_with(const std::uint8_t *slices, int columns, const ProbedLine &probed) {
  FilterSet found = {};
  for (int first = 0; first < columns; first += kWordBits) {
    std::uint64_t all = ~std::uint64_t{0};
    for (int i = 0; i < probed.count; i++)
      all &= slice_bits(slices, columns, probed.bits[i], first);
    found.words[first / kWordBits] = all;
  }
  return found;
}

} // namespace bloomfilter
