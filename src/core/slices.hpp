// Bit slices: how a page of an index holds the same lines of many filters, so that a probe reads
// one or two pages for all of them.
//
// A page has room for 127 lines. If the group has 64 to 127 columns, a page holds one line of each
// column. If it has 43 to 63 columns, a page holds two lines of each column, and so on. The lines
// with one number are stored in *bit slices*, as in a bit-sliced signature file. The first bits of
// all columns come first, then their second bits, up to bit 512. There is nothing between the
// slices. So a probe reads one slice for each bit that it needs, and nothing else of the page. See
// C. Faloutsos and R. Chan, "Fast text access methods for optical and large magnetic disks", VLDB
// 1988.
//
// Two kinds of indexes are made of such pages: filter indexes (core/filter_index_pages.hpp) and
// bloompages indexes (core/bloompages_pages.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"
#include "core/page_head.hpp"

namespace bloomfilter {

constexpr int kPageColumns = kContentBytes / kLineBytes;
static_assert(kPageColumns == 127, "as the text above says");

constexpr int lines_per_page(int columns) {
  return kPageColumns / columns;
}

// The place of a line in a group.
struct LinePlace {
  std::uint32_t page;
  // In the page, where the line's slices begin. They have as many bytes as the columns' lines.
  std::size_t offset;
};
LinePlace line_place(int columns, std::uint32_t line);

// A subset of a group's columns, with a bit for each.
struct FilterSet {
  std::uint64_t words[2];

  bool has(int column) const { return (words[column / 64] >> column % 64 & 1) != 0; }
  void add(int column) { words[column / 64] |= std::uint64_t{1} << column % 64; }
  int count() const { return __builtin_popcountll(words[0]) + __builtin_popcountll(words[1]); }
  bool is_empty() const { return (words[0] | words[1]) == 0; }
  FilterSet operator&(const FilterSet &other) const {
    return {{words[0] & other.words[0], words[1] & other.words[1]}};
  }
  FilterSet operator|(const FilterSet &other) const {
    return {{words[0] | other.words[0], words[1] | other.words[1]}};
  }
};

// The columns before `count`, 0 ... 127.
inline FilterSet first_filters(int count) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const auto low = [](int bits) { return (std::uint64_t{1} << bits) - 1; };
  return {{count >= 64 ? kAll : low(count), count <= 64 ? 0 : low(count - 64)}};
}

// A line that a hash needs, and the bits of the hash in it.
struct ProbedLine {
  std::uint32_t line;
  int count;
  std::uint16_t bits[kMaxK];
};
constexpr int kMaxProbedLines = 2;
// Writes the lines that a hash needs and returns their number. If a column has all bits of these
// lines, its filter may contain the value.
int probed_lines(const Geometry &geometry, std::uint64_t hash, ProbedLine *probed);

// The place of one bit of a column's line: a byte after the beginning of the line's slices, and the
// bit in it.
struct SliceBit {
  std::size_t byte;
  std::uint8_t mask;
};
inline SliceBit slice_bit(int columns, int bit, int column) {
  const std::size_t at = static_cast<std::size_t>(bit) * static_cast<std::size_t>(columns) +
                         static_cast<std::size_t>(column);
  return {at / 8, static_cast<std::uint8_t>(1 << at % 8)};
}

// Writes the slices of `columns` lines of kLineBytes bytes each. The slices have the same number of
// bytes as the lines.
void write_slices(const std::uint8_t *const *lines, int columns, std::uint8_t *slices);
// Reads the lines of all columns from their slices, one line after the other.
void read_slices(const std::uint8_t *slices, int columns, std::uint8_t *lines);
// The columns whose line has all bits. `slices` are the slices of the line, from line_place().
FilterSet filters_with(const std::uint8_t *slices, int columns, const ProbedLine &probed);

} // namespace bloomfilter
