// Fuzzes a slot and a page of a bloompages index. A slot is either refused, or a
// probe of its group and the setting of bits touch nothing outside the group's pages. After a value
// has been added to a range, a probe finds the range, and no other range is lost. Whatever the
// settings are, every heap page belongs to one range. Slices hold the lines that were written.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/bytes.hpp"
#include "core/layout.hpp"
#include "core/bloompages_pages.hpp"

using namespace bloomfilter;

namespace {

constexpr std::uint32_t kBlocks = 1000; // of the index
constexpr std::uint32_t kMostRangePages = 4096;

void require(bool condition) {
  if (!condition)
    std::abort();
}

struct Input {
  std::uint64_t hash;
  std::uint64_t values; // the number of values in a new filter
  std::uint32_t block;  // of the heap
  std::uint32_t range_pages;
  std::uint32_t group;
  std::uint16_t rate;
  std::uint8_t columns;
  std::uint8_t range;
  RangeSlot slot;
};
static_assert(sizeof(Input) == 64, "no padding");

bool are_same(const FilterSet &a, const FilterSet &b) {
  return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

int lines_of(const RangeSlot &slot, std::uint64_t hash, ProbedLine *lines) {
  const int count = probed_lines(slot.geometry(), hash, lines);
  require(count >= 1 && count <= kMaxProbedLines);
  for (int i = 0; i < count; i++)
    require(lines[i].line < slot.lines() && lines[i].count > 0 && lines[i].count <= kMaxK);
  return count;
}

// Probes a group for a hash, as if all of its lines had this page.
FilterSet probe(const RangeSlot &slot, const std::uint8_t *page, std::uint64_t hash) {
  ProbedLine lines[kMaxProbedLines];
  FilterSet found = first_filters(kGroupRanges);
  const int count = lines_of(slot, hash, lines);
  for (int i = 0; i < count; i++)
    found = found & filters_with(page + kContentAt, kGroupRanges, lines[i]);
  return found;
}

void add(const RangeSlot &slot, std::uint8_t *page, std::uint64_t hash, int range) {
  ProbedLine lines[kMaxProbedLines];
  const int count = lines_of(slot, hash, lines);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < lines[i].count; k++) {
      require(lines[i].bits[k] < kLineBits);
      const SliceBit bit = slice_bit(kGroupRanges, lines[i].bits[k], range);
      require(bit.byte < kContentBytes);
      page[kContentAt + bit.byte] |= bit.mask;
    }
}

void use_slot(const RangeSlot &slot, std::uint8_t *page, std::uint64_t hash, int range) {
  require(slot.start > 0 && slot.lines() > 0 && slot.start + slot.lines() <= kBlocks);
  require(slot.ready <= slot.filling && slot.filling <= kGroupRanges);
  FilterSet added = {};
  added.add(range);
  const FilterSet before = probe(slot, page, hash);
  add(slot, page, hash, range);
  require(are_same(probe(slot, page, hash), before | added));
}

// True if the heap page belongs to the range that range_place() says.
void use_settings(std::uint32_t range_pages, std::uint32_t block) {
  const RangePlace place = range_place(range_pages, block);
  require(place.range >= 0 && place.range < kGroupRanges);
  const GroupBlocks blocks = group_blocks(range_pages, place.group);
  require(blocks.begin(place.range) <= block && block < blocks.begin(place.range + 1));
}

void use_sizes(std::uint64_t values, double rate, std::uint32_t group) {
  const Geometry geometries[] = {range_geometry(values, rate),
                                 range_geometry(values, default_range_rate(group, values)),
                                 key_geometry(values, rate)};
  for (const Geometry &geometry : geometries) {
    RangeSlot slot = {};
    slot.layout = geometry.layout;
    slot.k = geometry.k;
    slot.units = geometry.units;
    slot.start = 1;
    slot.copies = {copies_for(rate, 1e-6), copies_for(rate, kKeyRate),
                   copies_for(rate, 1e-6, 0.01)};
    slot.check = check_of(slot);
    require(is_sound_slot(slot, kNoBlock));
  }
}

void use_slices(const std::uint8_t *content, int columns) {
  alignas(8) std::uint8_t slices[kContentBytes], lines[kContentBytes];
  const std::uint8_t *starts[kPageColumns];
  for (int column = 0; column < columns; column++)
    starts[column] = content + column * kLineBytes;
  write_slices(starts, columns, slices);
  read_slices(slices, columns, lines);
  require(std::memcmp(content, lines, static_cast<std::size_t>(columns) * kLineBytes) == 0);
}

// A meta page whose check is right is accepted, and no other.
void use_meta(std::uint8_t *page, std::uint64_t hash) {
  RangeMeta meta;
  std::memcpy(&meta, page + kContentAt, sizeof meta);
  meta.check = check_of(meta);
  std::memcpy(page + kContentAt, &meta, sizeof meta);
  require(is_range_page(page, PageKind::range_meta));
  page[kContentAt + hash % offsetof(RangeMeta, check)] ^= static_cast<std::uint8_t>(hash >> 56 | 1);
  require(!is_range_page(page, PageKind::range_meta));
}

} // namespace

// The input has the fields of `Input`, and then as much of a page as there is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  if (length < sizeof(Input))
    return 0;
  Input input;
  std::memcpy(&input, bytes, sizeof input);
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  std::memcpy(page, bytes + sizeof input, std::min(length - sizeof input, sizeof page));
  use_settings(input.range_pages % (kMostRangePages + 1), input.block);
  use_sizes(input.values, (1 + input.rate) / 131072.0, input.group);
  use_slices(page + kContentAt, 1 + input.columns % kPageColumns);
  int kinds = 0;
  for (int kind = 0; kind < 256; kind++)
    kinds += is_range_page(page, static_cast<PageKind>(kind)) ? 1 : 0;
  require(kinds <= 1);
  require(!is_line_page(page, input.group, input.block) ||
          is_range_page(page, PageKind::range_lines));
  require(!is_sound_slot(input.slot, kBlocks) || input.slot.check == check_of(input.slot));
  input.slot.check = check_of(input.slot);
  if (is_sound_slot(input.slot, kBlocks))
    use_slot(input.slot, page, input.hash, input.range % kGroupRanges);
  if (has_head(page, PageKind::range_meta))
    use_meta(page, input.hash);
  return 0;
}
