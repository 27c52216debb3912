// See bloompages_pages.hpp.

#include "core/bloompages_pages.hpp"

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Rates are within 2^-20 ... 2^-10: a lower rate would cost more bits than it saves reads.
constexpr double kLowestRate = 1.0 / (1 << 20), kHighestRate = 1.0 / (1 << 10);
// A value sets this many bits fewer than the best number, so the rate is two to three times as
// high. But each bit that an INSERT sets takes five bytes of WAL.
constexpr int kBitsLess = 4;
// An index makes a group's filters in memory, 127 at a time. 2^22 values are 12 MB a filter.
constexpr std::uint64_t kMostRangeValues = 1 << 22;

// Groups that follow each other and whose ranges have the same number of pages.
struct Stretch {
  std::uint64_t first_block;
  std::uint64_t first_group;
  std::uint32_t range_pages;

  std::uint64_t group_pages() const { return std::uint64_t{kGroupRanges} * range_pages; }
  // The number of its groups: up to the first group in which a range has twice as many pages.
  std::uint64_t groups() const {
    const std::uint64_t next_pages = 2 * std::uint64_t{range_pages};
    const std::uint64_t end = range_pages == kMostChosenPages
                                  ? std::uint64_t{1} << 63
                                  : 2 * kGroupRanges * next_pages * next_pages;
    return (end - first_block + group_pages() - 1) / group_pages();
  }
  Stretch next() const {
    return {first_block + groups() * group_pages(), first_group + groups(), 2 * range_pages};
  }
};

// The stretch for which is_in(stretch) is true. If the number of pages is fixed, there is only one.
template <typename IsIn> Stretch find_stretch(std::uint32_t range_pages, IsIn is_in) {
  if (range_pages != 0)
    return {0, 0, range_pages};
  Stretch stretch = {0, 0, kLeastRangePages};
  while (!is_in(stretch))
    stretch = stretch.next();
  return stretch;
}

bool is_possible(const HashCopies &copies) {
  const auto is_in_range = [](int count) { return count >= 1 && count <= kMostCopies; };
  return is_in_range(copies.value) && is_in_range(copies.key) && is_in_range(copies.keyed_value);
}

} // namespace

std::uint64_t check_of(const RangeMeta &meta) {
  return hash_bytes(&meta, offsetof(RangeMeta, check), 0);
}

std::uint32_t check_of(const RangeSlot &slot) {
  RangeSlot hashed = slot;
  hashed.check = 0;
  return static_cast<std::uint32_t>(hash_bytes(&hashed, sizeof hashed, 0));
}

RangePlace range_place(std::uint32_t range_pages, std::uint32_t block) {
  const Stretch stretch = find_stretch(range_pages, [block](const Stretch &candidate) {
    return block < candidate.next().first_block;
  });
  const std::uint64_t range = (block - stretch.first_block) / stretch.range_pages;
  return {static_cast<std::uint32_t>(stretch.first_group + range / kGroupRanges),
          static_cast<int>(range % kGroupRanges)};
}

std::uint64_t range_count(std::uint32_t range_pages, std::uint32_t blocks) {
  if (blocks == 0)
    return 0;
  const RangePlace last = range_place(range_pages, blocks - 1);
  return std::uint64_t{last.group} * kGroupRanges + static_cast<std::uint64_t>(last.range) + 1;
}

GroupBlocks group_blocks(std::uint32_t range_pages, std::uint32_t group) {
  const Stretch stretch = find_stretch(range_pages, [group](const Stretch &candidate) {
    return group < candidate.next().first_group;
  });
  return {stretch.first_block + (group - stretch.first_group) * stretch.group_pages(),
          stretch.range_pages};
}

double default_range_rate(std::uint32_t group, std::uint64_t ranges) {
  const double all = static_cast<double>(
      std::max(ranges, std::uint64_t{kGroupRanges} * (std::uint64_t{group} + 1)));
  return std::clamp(1.0 / (4 * all), kLowestRate, kHighestRate);
}

// A filter has few units, and their number is rounded up. So a filter that is sized for twice the
// rate has the rate on average.
Geometry range_geometry(std::uint64_t values, double rate) {
  Geometry geometry = {};
  (void)size_for_capacity(std::clamp<std::uint64_t>(values, 1, kMostRangeValues),
                          std::min(2 * rate, kMaxRate), &geometry);
  if (geometry.k > 2 * kBitsLess)
    geometry.k = static_cast<std::uint8_t>(geometry.k - kBitsLess);
  return geometry;
}

Geometry key_geometry(std::uint64_t keys, double rate) {
  Geometry geometry = {};
  (void)size_for_capacity(std::clamp<std::uint64_t>(keys, 1, kMostRangeValues), rate, &geometry);
  const int k = geometry.k - (geometry.k + 1) / 4;
  geometry.k = static_cast<std::uint8_t>(geometry.layout == Layout::pages ? k + k % 2 : k);
  return geometry;
}

std::uint8_t copies_for(double rate, double wanted) {
  return copies_for(rate, wanted, 1);
}

std::uint8_t copies_for(double rate, double wanted, double share) {
  constexpr double kRounding = 0.01; // not another hash for a rate that is missed by so little
  const double copies = std::ceil(std::log(2 * wanted / share) / std::log(rate) - kRounding);
  return static_cast<std::uint8_t>(std::clamp(copies, 1.0, double{kMostCopies}));
}

bool is_range_page(const std::uint8_t *page, PageKind kind) {
  const RangeMeta &meta = *content_of<RangeMeta>(page);
  return has_head(page, kind) && (kind != PageKind::range_meta || meta.check == check_of(meta));
}

bool is_sound_slot(const RangeSlot &slot, std::uint32_t blocks) {
  if (slot.check != check_of(slot) || slot.filling > kGroupRanges || slot.ready > slot.filling ||
      slot.filling - slot.ready > kMostFilled || !is_possible(slot.copies))
    return false;
  return (slot.layout == Layout::lines || slot.layout == Layout::pages) &&
         is_possible_k(slot.layout, slot.k) && slot.units > 0 &&
         slot.geometry().bits() <= kMaxBits && slot.start > 0 && slot.start < blocks &&
         slot.lines() <= blocks - slot.start;
}

bool is_line_page(const std::uint8_t *page, std::uint32_t group, std::uint32_t line) {
  return has_head(page, PageKind::range_lines) && head_of(page)->group == group &&
         head_of(page)->place == line;
}

} // namespace bloomfilter
