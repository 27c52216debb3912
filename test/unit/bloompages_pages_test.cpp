#include "core/bloompages_pages.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

constexpr std::uint32_t kLastBlock = 0xFFFFFFFE;

TEST(RangePlace, EveryBlockIsInTheGroupThatBeginsBeforeIt) {
  for (const std::uint32_t range_pages : {0U, 1U, 7U, 16U, 4096U}) {
    std::uint64_t begin = 0;
    for (std::uint32_t group = 0; group < 30000 && begin <= kLastBlock; group++) {
      SCOPED_TRACE(group);
      const GroupBlocks blocks = group_blocks(range_pages, group);
      ASSERT_EQ(blocks.first, begin);
      for (const int range : {0, 1, 63, 126})
        for (const std::uint32_t page : {0U, blocks.range_pages - 1}) {
          const std::uint64_t block = blocks.begin(range) + page;
          if (block > kLastBlock)
            continue;
          const RangePlace place = range_place(range_pages, static_cast<std::uint32_t>(block));
          ASSERT_EQ(place.group, group) << block;
          ASSERT_EQ(place.range, range) << block;
        }
      begin = blocks.begin(kGroupRanges);
    }
  }
}

TEST(RangePlace, RangesGrowAsTheRootOfTheTable) {
  EXPECT_EQ(group_blocks(0, 0).range_pages, kLeastRangePages);
  // p * p = block / 254, and 254 * 16 * 16 = 65024 = 64 groups of 8 pages a range
  EXPECT_EQ(group_blocks(0, 63).range_pages, 8U);
  EXPECT_EQ(group_blocks(0, 64).range_pages, 16U);
  EXPECT_EQ(group_blocks(0, 64).first, 65024U);
  EXPECT_EQ(group_blocks(32, 64).range_pages, 32U);
  // The largest table has slots for all of its groups.
  EXPECT_LT(range_place(0, kLastBlock).group, kMaxGroups);
  EXPECT_EQ(group_blocks(0, range_place(0, kLastBlock).group).range_pages, kMostChosenPages);
}

TEST(RangeCount, CountsTheRangesOfATable) {
  EXPECT_EQ(range_count(4, 0), 0U);
  EXPECT_EQ(range_count(4, 1), 1U);
  EXPECT_EQ(range_count(4, 4), 1U);
  EXPECT_EQ(range_count(4, 5), 2U);
  EXPECT_EQ(range_count(4, 4 * 127), 127U);
  EXPECT_EQ(range_count(4, 4 * 127 + 1), 128U);
  EXPECT_EQ(range_count(0, 65024 + 16), 64U * 127 + 1);
}

TEST(RangeRate, IsAQuarterOfARange) {
  EXPECT_DOUBLE_EQ(default_range_rate(0, 20000), 1.0 / 80000);
  EXPECT_DOUBLE_EQ(default_range_rate(9, 0), 1.0 / (4 * 1270));
  EXPECT_DOUBLE_EQ(default_range_rate(0, 1), 1.0 / 1024);
  EXPECT_DOUBLE_EQ(default_range_rate(4000000, 1), 1.0 / (1 << 20));
}

TEST(RangeGeometry, HasAtLeastOneLineAndALimit) {
  EXPECT_GE(range_geometry(0, 0.001).units, 1U);
  EXPECT_EQ(range_geometry(std::uint64_t{1} << 40, 0.001), range_geometry(1 << 22, 0.001));
  EXPECT_LT(range_geometry((1 << 22) - 100000, 0.001).units, range_geometry(1 << 22, 0.001).units);
}

TEST(RangeGeometry, IsThatOfTwiceTheRateWithFewerBitsOfAValue) {
  Geometry geometry = {};
  ASSERT_TRUE(size_for_capacity(100000, 0.00002, &geometry));
  EXPECT_EQ(range_geometry(100000, 0.00001).units, geometry.units);
  EXPECT_EQ(range_geometry(100000, 0.00001).layout, geometry.layout);
  EXPECT_EQ(range_geometry(100000, 0.00001).k, geometry.k - 4);
}

// Keys set a quarter fewer bits than would be best, and the rate is at most 1.2 times as high.
TEST(KeyGeometry, HasFewerBits) {
  const Geometry ngrams = key_geometry(13500, kNgramRate);
  EXPECT_EQ(ngrams.layout, Layout::lines);
  EXPECT_EQ(ngrams.k, 2);
  EXPECT_NEAR(static_cast<double>(ngrams.bits()) / 13500, 4.9, 0.2);
  const Geometry elements = key_geometry(1000, kKeyRate);
  EXPECT_EQ(elements.k, 8);
  EXPECT_NEAR(static_cast<double>(elements.bits()) / 1000, 17.5, 2);
  EXPECT_TRUE(is_possible_k(Layout::pages, key_geometry(1 << 20, 1e-6).k));
}

TEST(CopiesFor, ReachTheRate) {
  EXPECT_EQ(copies_for(kNgramRate, 1e-4), 4);
  EXPECT_EQ(copies_for(kKeyRate, 1e-6), 2);
  EXPECT_EQ(copies_for(1e-6, 1e-3), 1);
  EXPECT_EQ(copies_for(0.5, 1e-6), kMostCopies);
  EXPECT_EQ(copies_for(kNgramRate, kKeyRate), 3); // twice the rate is reached
}

// A value that is looked for only where its keys are found needs fewer hashes.
TEST(CopiesFor, DependOnTheShareWithItsKeys) {
  EXPECT_EQ(copies_for(kKeyRate, 3e-5, 1), 2);
  EXPECT_EQ(copies_for(kKeyRate, 3e-5, 0.2), 2);
  EXPECT_EQ(copies_for(kKeyRate, 3e-5, 0.1), 1);
  EXPECT_EQ(copies_for(kKeyRate, 3e-5, 1e-9), 1);
}

TEST(RangeSlot, IsSoundOrNot) {
  RangeSlot good = {};
  good.start = 2;
  good.units = 30;
  good.layout = Layout::lines;
  good.k = 12;
  good.copies = {1, 1, 1};
  good.filling = 12;
  good.ready = 11;
  EXPECT_FALSE(is_sound_slot(good, 32)); // the check is wrong
  good.check = check_of(good);
  EXPECT_TRUE(is_sound_slot(good, 32));
  const auto changed = [good](auto change) {
    RangeSlot slot = good;
    change(&slot);
    slot.check = check_of(slot);
    return is_sound_slot(slot, 32);
  };
  EXPECT_FALSE(is_sound_slot(good, 31));
  EXPECT_TRUE(changed([](RangeSlot *slot) { slot->ready = 12; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->ready = 13; }));
  EXPECT_TRUE(changed([](RangeSlot *slot) { slot->ready = 12 - kMostFilled; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->ready = 11 - kMostFilled; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.value = 0; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.key = 0; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.keyed_value = 0; }));
  EXPECT_TRUE(changed([](RangeSlot *slot) { slot->copies = {kMostCopies, 1, kMostCopies}; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.value = kMostCopies + 1; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.key = kMostCopies + 1; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->copies.keyed_value = kMostCopies + 1; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->filling = slot->ready = 128; }));
  EXPECT_TRUE(changed([](RangeSlot *slot) { slot->filling = slot->ready = 127; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->k = 17; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->layout = Layout::cuckoo; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->units = 0; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->start = 0; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->start = 0xFFFFFFFF; }));
  EXPECT_FALSE(changed([](RangeSlot *slot) { slot->units = 0xFFFFFFFF; }));
  // 4 units of pages are 32 lines.
  EXPECT_FALSE(changed([](RangeSlot *slot) {
    slot->layout = Layout::pages;
    slot->units = 4;
  }));
}

TEST(RangePage, IsKnownByItsHead) {
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  EXPECT_FALSE(is_range_page(page, PageKind::range_meta));
  auto *head = reinterpret_cast<IndexPageHead *>(page + kServerHeadBytes);
  head->magic = kIndexMagic;
  head->version = kIndexVersion;
  head->kind = PageKind::range_lines;
  head->group = 3;
  head->place = 4;
  EXPECT_TRUE(is_range_page(page, PageKind::range_lines));
  EXPECT_FALSE(is_range_page(page, PageKind::range_directory));
  EXPECT_TRUE(is_line_page(page, 3, 4));
  EXPECT_FALSE(is_line_page(page, 3, 5));
  EXPECT_FALSE(is_line_page(page, 4, 4));
  head->kind = PageKind::range_meta;
  EXPECT_FALSE(is_range_page(page, PageKind::range_meta));
  auto *meta = reinterpret_cast<RangeMeta *>(page + kContentAt);
  meta->check = check_of(*meta);
  EXPECT_TRUE(is_range_page(page, PageKind::range_meta));
  meta->groups++;
  EXPECT_FALSE(is_range_page(page, PageKind::range_meta));
}

// Indexes that a release has made have these numbers in their pages.
TEST(RangePage, HasTheStoredNumbers) {
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  const std::uint32_t magic = 0xB10F1D8E;
  std::memcpy(page + 24, &magic, sizeof magic);
  page[28] = 1; // the version
  const auto is_kind = [&page](std::uint8_t number, PageKind kind) {
    page[29] = number;
    return has_head(page, kind);
  };
  EXPECT_TRUE(is_kind(1, PageKind::meta));
  EXPECT_TRUE(is_kind(2, PageKind::list));
  EXPECT_TRUE(is_kind(3, PageKind::directory));
  EXPECT_TRUE(is_kind(4, PageKind::lines));
  EXPECT_TRUE(is_kind(5, PageKind::range_meta));
  EXPECT_TRUE(is_kind(6, PageKind::range_directory));
  EXPECT_TRUE(is_kind(7, PageKind::range_lines));
  EXPECT_TRUE(is_range_page(page, PageKind::range_lines));
}

// Like all indexes of the server, pages have the machine's byte order.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(RangePage, HasTheStoredChecks) {
  EXPECT_EQ(kMaxDirectories, 998U);
  EXPECT_EQ(kMaxGroups, 998U * 254U);
  RangeMeta meta = {};
  meta.blocks = 2;
  meta.directories = 1;
  meta.directory[0] = 1;
  EXPECT_EQ(check_of(meta), 5208515357464112444U);
  RangeSlot slot = {};
  slot.start = 2;
  slot.units = 30;
  slot.layout = Layout::lines;
  slot.k = 12;
  slot.copies = {1, 1, 0};
  EXPECT_EQ(check_of(slot), 4257410013U);
}
#endif

} // namespace
} // namespace bloomfilter
