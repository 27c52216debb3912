// Tests the pages of a filter index. A group gives the same answers as its filters. Damage
// that can be seen is refused.

#include "core/filter_index_pages.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/kernel.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

GroupKey key_for(Layout layout, int k, std::uint32_t units, std::uint64_t seed = 0) {
  GroupKey key = {};
  key.seed = seed;
  key.units = units;
  key.layout = layout;
  key.k = static_cast<std::uint8_t>(k);
  key.family = Family::integer;
  return key;
}

// The pages of lines for filters with one key, as the server writes them.
std::vector<Bytes> pages_of(const GroupKey &key, const std::vector<Bytes> &bitmaps) {
  const int columns = static_cast<int>(bitmaps.size());
  std::vector<Bytes> pages(group_pages(key, columns), Bytes(kIndexPageBytes));
  for (std::uint32_t line = 0; line < key.lines(); line++) {
    const LinePlace place = line_place(columns, line);
    const std::uint8_t *lines[kPageColumns];
    for (int column = 0; column < columns; column++)
      lines[column] = bitmaps[column].data() + line * kLineBytes;
    write_slices(lines, columns, pages.at(place.page).data() + place.offset);
  }
  return pages;
}

FilterSet ask(const GroupKey &key, const std::vector<Bytes> &pages, int columns,
              std::uint64_t hash) {
  ProbedLine lines[kMaxProbedLines];
  FilterSet found = {{~std::uint64_t{0}, ~std::uint64_t{0}}};
  const int count = probed_lines(key.geometry(), hash, lines);
  for (int i = 0; i < count; i++) {
    const LinePlace place = line_place(columns, lines[i].line);
    found = found & filters_with(pages[place.page].data() + place.offset, columns, lines[i]);
  }
  return found;
}

GroupSlot sound_slot() {
  GroupSlot slot = {};
  slot.key = key_for(Layout::lines, 6, 20);
  slot.state = SlotState::group;
  slot.columns = 100;
  slot.live = 2;
  slot.rows[0] = {0, 1, 2};
  slot.rows[99] = {0, 1, 3};
  slot.start = 3;
  slot.pages = group_pages(slot.key, slot.columns);
  return slot;
}

constexpr std::uint32_t kBlocks = 100;

} // namespace

TEST(IndexPages, AGroupAnswersAsItsFiltersDo) {
  Random random(1);
  for (const GroupKey &key : {key_for(Layout::lines, 6, 1), key_for(Layout::lines, 16, 7),
                              key_for(Layout::pages, 12, 3), key_for(Layout::pages, 2, 40)})
    for (const int columns : {1, 2, 31, 42, 63, 64, 65, 126, 127}) {
      const Geometry geometry = key.geometry();
      std::vector<Bytes> bitmaps(columns, Bytes(geometry.bytes()));
      std::vector<std::uint64_t> hashes;
      for (Bytes &bitmap : bitmaps)
        for (int i = 0; i < 30; i++) {
          hashes.push_back(random.next());
          add(kScalarKernel, geometry, bitmap.data(), hashes.back());
        }
      const std::vector<Bytes> pages = pages_of(key, bitmaps);
      for (int i = 0; i < 100; i++)
        hashes.push_back(random.next());
      for (std::size_t i = 0; i < hashes.size(); i += 7) {
        const FilterSet found = ask(key, pages, columns, hashes[i]);
        for (int column = 0; column < columns; column++)
          ASSERT_EQ(found.has(column),
                    kScalarKernel.contains(geometry, bitmaps[column].data(), hashes[i]));
      }
    }
}

TEST(IndexPages, LiveColumnsHaveARow) {
  GroupSlot slot = sound_slot(); // its first and its last column have a row
  const FilterSet live = live_filters(slot);
  for (int column = 0; column < kPageColumns; column++)
    EXPECT_EQ(live.has(column), column == 0 || column == 99) << column;
  slot.live = slot.columns;
  const FilterSet all = live_filters(slot);
  for (int column = 0; column < kPageColumns; column++)
    EXPECT_EQ(all.has(column), column < 100) << column;
}

// A slice has one bit of each column, the first column's bit lowest. It begins where the slice
// before it ends.
TEST(IndexPages, SlicesAreTheBitsOfAllColumns) {
  Random random(2);
  for (int columns = 1; columns <= kPageColumns; columns++) {
    Bytes lines(columns * kLineBytes), slices(lines.size()), back(lines.size());
    for (std::uint8_t &byte : lines)
      byte = static_cast<std::uint8_t>(random.next());
    const std::uint8_t *line_of[kPageColumns];
    for (int column = 0; column < columns; column++)
      line_of[column] = &lines[column * kLineBytes];
    write_slices(line_of, columns, slices.data());
    const auto bit = [](const std::uint8_t *bytes, int at) { return bytes[at / 8] >> at % 8 & 1; };
    for (int column = 0; column < columns; column++)
      for (int i = 0; i < 512; i++)
        ASSERT_EQ(bit(slices.data(), i * columns + column), bit(line_of[column], i));
    read_slices(slices.data(), columns, back.data());
    ASSERT_EQ(back, lines);
  }
}

TEST(IndexPages, EachLineHasAPlaceOfItsOwn) {
  for (int columns = 1; columns <= kPageColumns; columns++) {
    const GroupKey key = key_for(Layout::lines, 6, 300);
    const std::uint32_t pages = group_pages(key, columns);
    std::size_t end = kIndexPageBytes;
    std::uint32_t page = 0;
    for (std::uint32_t line = 0; line < key.lines(); line++) {
      const LinePlace place = line_place(columns, line);
      ASSERT_EQ(place.offset, line == 0 || place.page != page ? kContentAt : end);
      page = place.page;
      end = place.offset + static_cast<std::size_t>(columns) * kLineBytes;
      ASSERT_LE(end, kIndexPageBytes);
      ASSERT_LT(page, pages);
    }
    ASSERT_EQ(page, pages - 1);
  }
}

// The pages of groups in proportion to the bytes of their filters: less than 1.3 for large numbers
// of filters, and never more than 2.
TEST(IndexPages, GroupsAreWorthTheirPages) {
  for (const std::uint32_t units : {1U, 2U, 5U, 20U, 126U, 127U, 128U, 2000U, 100000U}) {
    const GroupKey key = key_for(Layout::lines, 6, units);
    const int least = least_columns(key);
    for (int waiting = 1; waiting <= 300; waiting++) {
      const int columns = columns_for(key, waiting, kPageColumns);
      ASSERT_EQ(columns > 0, waiting >= least) << units << " units, " << waiting << " filters";
      ASSERT_LE(columns, waiting);
      if (columns > 0) {
        ASSERT_LE(group_pages(key, columns) * kIndexPageBytes,
                  2.02 * static_cast<double>(columns) * static_cast<double>(key.bytes()));
      }
    }
    ASSERT_EQ(columns_for(key, 1000, kPageColumns), kPageColumns);
    ASSERT_LE(group_pages(key, kPageColumns) * kIndexPageBytes,
              1.01 * kPageColumns * static_cast<double>(key.bytes()));
    ASSERT_LE(columns_for(key, 1000, 50), 50);
  }
}

TEST(IndexPages, WhichFiltersHaveAKey) {
  Header header = {};
  header.geometry = {Layout::pages, 12, 10};
  header.element_type = {Family::row, 77};
  header.seed = 5;
  GroupKey key;
  ASSERT_TRUE(key_of(header, &key));
  EXPECT_EQ(key.layout, Layout::pages);
  EXPECT_EQ(key.lines(), 80U);
  const Header back = key.header();
  EXPECT_TRUE(back.geometry == header.geometry && back.element_type == header.element_type);
  EXPECT_EQ(back.seed, header.seed);
  EXPECT_EQ(back.links(), 1);

  GroupKey other;
  header.geometry.layout = Layout::counting_pages; // the bloomfilter with the same positions
  ASSERT_TRUE(key_of(header, &other));
  EXPECT_TRUE(other == key);
  EXPECT_EQ(key_hash(other), key_hash(key));

  const auto differs = [&](auto change) {
    Header changed = header;
    change(&changed);
    return key_of(changed, &other) && !(other == key) && key_hash(other) != key_hash(key);
  };
  EXPECT_TRUE(differs([](Header *h) { h->seed++; }));
  EXPECT_TRUE(differs([](Header *h) { h->geometry.units++; }));
  EXPECT_TRUE(differs([](Header *h) { h->geometry.k += 2; }));
  EXPECT_TRUE(differs([](Header *h) { h->element_type.shape++; }));
  EXPECT_TRUE(differs([](Header *h) { h->element_type.family = Family::array; }));
  EXPECT_TRUE(differs([](Header *h) { h->geometry.layout = Layout::lines; }));

  const auto has_none = [&](auto change) {
    Header changed = header;
    change(&changed);
    return !key_of(changed, &other);
  };
  EXPECT_TRUE(has_none([](Header *h) { h->geometry.layout = Layout::cuckoo; }));
  EXPECT_TRUE(has_none([](Header *h) { h->geometry.layout = Layout::guava; }));
  EXPECT_TRUE(has_none([](Header *h) { h->flags = kFlagChain; }));
  EXPECT_TRUE(has_none([](Header *h) { h->geometry = {Layout::lines, 6, 1U << 20}; }));
}

TEST(IndexPages, ASlotThatDoesNotFitTogetherIsRefused) {
  EXPECT_TRUE(is_sound_slot(GroupSlot{}, kBlocks));
  ASSERT_TRUE(is_sound_slot(sound_slot(), kBlocks));
  const auto refused = [](auto change) {
    GroupSlot slot = sound_slot();
    change(&slot);
    return !is_sound_slot(slot, kBlocks);
  };
  EXPECT_TRUE(refused([](GroupSlot *s) { s->start = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->start = kBlocks; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->start = 0xFFFFFFF0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->pages++; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->pages = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.units = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.units = 1U << 31; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.k = 17; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.k = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.layout = Layout::cuckoo; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.layout = static_cast<Layout>(0xFF); }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.family = static_cast<Family>(0xFF); }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.family = Family::utf16; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.shape = 1; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->key.zero[4] = 1; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->columns = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->columns = 99; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->columns = 128; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->live = 3; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->rows[5].offset = 1; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->rows[0] = s->rows[99] = {}, s->live = 0; }));
  EXPECT_TRUE(refused([](GroupSlot *s) { s->state = static_cast<SlotState>(3); }));

  GroupSlot space = {};
  space.state = SlotState::space;
  EXPECT_FALSE(is_sound_slot(space, kBlocks));
  space.start = kBlocks + 7; // it may lie beyond the end
  space.pages = 5;
  EXPECT_TRUE(is_sound_slot(space, kBlocks));
  space.pages = 0xFFFFFFFF;
  EXPECT_FALSE(is_sound_slot(space, kBlocks));
}

TEST(IndexPages, APageOfAnotherKindOrGroupIsRefused) {
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  EXPECT_FALSE(is_index_page(page, PageKind::lines));
  const GroupSlot slot = sound_slot();
  IndexPageHead head = {kIndexMagic, kIndexVersion, PageKind::lines, 0, kNoBlock, slot.number, 4,
                        {}};
  const auto with = [&](auto change) -> const std::uint8_t * {
    IndexPageHead changed = head;
    change(&changed);
    std::memcpy(page + kServerHeadBytes, &changed, sizeof changed);
    return page;
  };
  EXPECT_TRUE(is_page_of(with([](IndexPageHead *) {}), slot, 4));
  EXPECT_FALSE(is_page_of(page, slot, 5));
  EXPECT_FALSE(is_index_page(page, PageKind::directory));
  EXPECT_FALSE(is_page_of(with([](IndexPageHead *h) { h->group++; }), slot, 4));
  EXPECT_FALSE(is_page_of(with([](IndexPageHead *h) { h->magic++; }), slot, 4));
  EXPECT_FALSE(is_page_of(with([](IndexPageHead *h) { h->version++; }), slot, 4));
  EXPECT_FALSE(is_page_of(with([](IndexPageHead *h) { h->count++; }), slot, 4));
  head.kind = PageKind::list;
  head.count = kListEntries;
  EXPECT_TRUE(is_index_page(with([](IndexPageHead *) {}), PageKind::list));
  EXPECT_FALSE(is_index_page(with([](IndexPageHead *h) { h->count++; }), PageKind::list));
}

TEST(IndexPages, AMetaPageWithAChangedBitIsRefused) {
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  const IndexPageHead head = {kIndexMagic, kIndexVersion, PageKind::meta, 0, kNoBlock, 0, 0, {}};
  std::memcpy(page + kServerHeadBytes, &head, sizeof head);
  EXPECT_FALSE(is_index_page(page, PageKind::meta));
  auto *meta = reinterpret_cast<IndexMeta *>(page + kContentAt);
  meta->blocks = 1000;
  meta->check = check_of(*meta);
  EXPECT_TRUE(is_index_page(page, PageKind::meta));
  for (std::size_t bit = 0; bit < sizeof *meta * 8; bit++) {
    SCOPED_TRACE(bit);
    const auto mask = static_cast<std::uint8_t>(1 << bit % 8);
    page[kContentAt + bit / 8] ^= mask;
    EXPECT_FALSE(is_index_page(page, PageKind::meta));
    page[kContentAt + bit / 8] ^= mask;
  }
}

} // namespace bloomfilter
