// Tests the tables of layouts and schemes. Each table is compared with a list here and with the
// other table.

#include "core/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/format.hpp"

namespace bloomfilter {
namespace {

std::vector<Family> all_families() {
  std::vector<Family> families;
  for (int number = 0; number <= static_cast<int>(kLastFamily); number++)
    families.push_back(static_cast<Family>(number));
  return families;
}

// The families of SQL, and the family of hashes.
std::vector<Family> sql_families() {
  std::vector<Family> families = all_families();
  families.resize(static_cast<std::size_t>(Family::string));
  return families;
}

// --- Layouts ---

TEST(Layout, NumbersAreForEver) {
  const std::set<int> known = {1, 2, 3, 4, 6, 9, 12, 13, 14, 15, 0x11, 0x12, 0x21};
  for (int number = 0; number < 256; number++)
    EXPECT_EQ(is_layout(static_cast<std::uint8_t>(number)), known.count(number) == 1) << number;
  EXPECT_EQ(std::size(kLayoutRows), known.size());
  EXPECT_EQ(static_cast<int>(Layout::lines), 1);
  EXPECT_EQ(static_cast<int>(Layout::pages), 2);
  EXPECT_EQ(static_cast<int>(Layout::guava), 3);
  EXPECT_EQ(static_cast<int>(Layout::hive), 4);
  EXPECT_EQ(static_cast<int>(Layout::guava_mitz32), 6);
  EXPECT_EQ(static_cast<int>(Layout::parquet), 9);
  EXPECT_EQ(static_cast<int>(Layout::redis), 12);
  EXPECT_EQ(static_cast<int>(Layout::spark), 13);
  EXPECT_EQ(static_cast<int>(Layout::spark_v2), 14);
  EXPECT_EQ(static_cast<int>(Layout::datasketches), 15);
  EXPECT_EQ(static_cast<int>(Layout::counting_lines), 0x11);
  EXPECT_EQ(static_cast<int>(Layout::counting_pages), 0x12);
  EXPECT_EQ(static_cast<int>(Layout::cuckoo), 0x21);
}

TEST(Layout, RowsAgree) {
  for (const LayoutRow &row : kLayoutRows) {
    SCOPED_TRACE(static_cast<int>(row.layout));
    EXPECT_EQ(&row_of(row.layout), &row);
    EXPECT_EQ(row_of(row.profile).profile, row.profile);
    EXPECT_EQ(row_of(row.profile).system, row.system);
    EXPECT_EQ(row_of(row.profile).digest_size, row.digest_size);
    EXPECT_EQ(row_of(row.profile).seed_bits, row.seed_bits);
    EXPECT_EQ(kind_of(row.profile), kind_of(row.layout));
    EXPECT_EQ(is_foreign(row.layout), row.system != System::ours);
    EXPECT_LE(row.min_k, row.max_k);
    EXPECT_TRUE(is_possible_k(row.layout, row.min_k));
    EXPECT_TRUE(is_possible_k(row.layout, row.max_k));
    EXPECT_FALSE(is_possible_k(row.layout, row.min_k - 1));
    EXPECT_FALSE(is_possible_k(row.layout, row.max_k + 1));
    // Layouts with one bitmap without parts have two numbers in a digest.
    EXPECT_EQ(spread_of(row.layout) == Spread::anywhere, digest_size(row.layout) == 2);
  }
}

// What users can do with filters of each layout.
TEST(Layout, AbilitiesAreTheseOnes) {
  for (const LayoutRow &row : kLayoutRows) {
    SCOPED_TRACE(static_cast<int>(row.layout));
    EXPECT_EQ(row.abilities, row_of(row.profile).abilities);
    EXPECT_EQ(row.structure, row_of(row.profile).structure);
    EXPECT_EQ(row.structure, structure_of(row.layout));
    switch (row.layout) {
    case Layout::lines:
    case Layout::pages:
      EXPECT_EQ(row.abilities, abilities(Ability::adds, Ability::counts_by_bits,
                                         Ability::unites_by_or, Ability::folds, Ability::grows,
                                         Ability::sizes_itself, Ability::grouped_in_index));
      break;
    case Layout::counting_lines:
    case Layout::counting_pages:
      EXPECT_EQ(row.abilities, abilities(Ability::adds, Ability::removes, Ability::counts_by_bits,
                                         Ability::sizes_itself, Ability::grouped_in_index));
      break;
    case Layout::cuckoo:
      EXPECT_EQ(row.abilities, abilities(Ability::adds, Ability::removes, Ability::sizes_itself,
                                         Ability::needs_all_values));
      break;
    default:
      EXPECT_TRUE(is_foreign(row.layout));
      EXPECT_EQ(row.abilities, abilities(Ability::adds, Ability::counts_by_bits,
                                         Ability::unites_by_or, Ability::folds));
    }
  }
  EXPECT_TRUE(has<Ability::removes>(Layout::counting_pages));
  EXPECT_FALSE(has<Ability::grows>(Layout::redis));
}

TEST(Layout, PagesAreOfTheProfileOfLines) {
  for (const LayoutRow &row : kLayoutRows) {
    const Layout wanted = row.layout == Layout::pages            ? Layout::lines
                          : row.layout == Layout::counting_pages ? Layout::counting_lines
                                                                 : row.layout;
    EXPECT_EQ(profile_of(row.layout), wanted);
  }
}

// --- Schemes ---

// What a layout's name in SQL stands for, or a kind that has no choice of layouts. It tells the
// layout of a filter, the family of an empty filter, and the family under which values of a family
// are kept. Values of all other families are refused.
struct Kept {
  Family family, stored;
};
struct Named {
  const char *name; // NULL in kSchemes for a kind without a choice
  Layout layout;
  Family empty;
  std::vector<Kept> kept;
};

std::vector<Kept> as_they_are(const std::vector<Family> &families) {
  std::vector<Kept> kept;
  for (const Family family : families)
    kept.push_back({family, family});
  return kept;
}

std::vector<Named> all_names() {
  using F = Family;
  const std::vector<Kept> own = as_they_are(sql_families()),
                          plain = as_they_are({F::integer, F::text, F::bytea}),
                          numbers_and_strings =
                              as_they_are({F::integer, F::floating, F::text, F::bytea}),
                          integers = {{F::integer, F::int32}, {F::int32, F::int32}},
                          chars = {{F::text, F::utf16}, {F::utf16, F::utf16}};
  return {
      {"lines", Layout::lines, F::none, own},
      {"lines", Layout::pages, F::none, own},
      {"guava", Layout::guava, F::none, plain},
      {"guava_integer", Layout::guava, F::int32, integers},
      {"guava_chars", Layout::guava, F::utf16, chars},
      {"guava_mitz32", Layout::guava_mitz32, F::none, plain},
      {"guava_integer_mitz32", Layout::guava_mitz32, F::int32, integers},
      {"guava_chars_mitz32", Layout::guava_mitz32, F::utf16, chars},
      {"parquet",
       Layout::parquet,
       F::none,
       {{F::integer, F::integer},
        {F::floating, F::floating},
        {F::text, F::string},
        {F::bytea, F::string},
        {F::uuid, F::string},
        {F::timestamp, F::timestamp},
        {F::timestamptz, F::timestamptz},
        {F::time, F::time},
        {F::string, F::string}}},
      {"parquet_int32",
       Layout::parquet,
       F::open_int32,
       {{F::integer, F::int32},
        {F::date, F::date},
        {F::int32, F::int32},
        {F::open_int32, F::open_int32}}},
      {"parquet_float",
       Layout::parquet,
       F::float32,
       {{F::floating, F::float32}, {F::float32, F::float32}}},
      {"redis",
       Layout::redis,
       F::string,
       {{F::integer, F::string},
        {F::text, F::string},
        {F::bytea, F::string},
        {F::string, F::string}}},
      {"spark", Layout::spark, F::none, plain},
      {"spark_v2", Layout::spark_v2, F::none, plain},
      {"datasketches", Layout::datasketches, F::none, numbers_and_strings},
      {"hive", Layout::hive, F::none, numbers_and_strings},
      {nullptr, Layout::counting_lines, F::none, own},
      {nullptr, Layout::counting_pages, F::none, own},
      {nullptr, Layout::cuckoo, F::none, own},
  };
}

TEST(Scheme, KeepsFamilies) {
  const std::vector<Named> names = all_names();
  EXPECT_EQ(names.size(), 19U);
  for (const Named &named : names) {
    SCOPED_TRACE(named.name ? named.name : "without a name");
    SCOPED_TRACE(static_cast<int>(named.layout));
    ASSERT_TRUE(is_family_of(named.layout, named.empty));
    const Scheme &scheme = scheme_of(named.layout, named.empty);
    EXPECT_STREQ(scheme.name, named.name);
    EXPECT_EQ(scheme.layout, profile_of(named.layout));
    EXPECT_EQ(scheme.empty, named.empty);
    for (const Family family : all_families()) {
      Family wanted = Family::none;
      for (const Kept &kept : named.kept)
        if (kept.family == family)
          wanted = kept.stored;
      EXPECT_EQ(stored_family(scheme, family), wanted) << static_cast<int>(family);
    }
    // From what a scheme keeps, scheme_of() leads back to the scheme.
    for (const Kept &kept : named.kept) {
      ASSERT_TRUE(is_family_of(named.layout, kept.stored)) << static_cast<int>(kept.stored);
      EXPECT_EQ(&scheme_of(named.layout, kept.stored), &scheme) << static_cast<int>(kept.stored);
      EXPECT_EQ(stored_family(scheme, kept.stored), kept.stored) << static_cast<int>(kept.stored);
    }
  }
}

// A layout has only the families in the list.
TEST(Scheme, LayoutsHaveNoOtherFamilies) {
  for (const LayoutRow &row : kLayoutRows) {
    std::set<Family> possible;
    for (const Named &named : all_names())
      if (named.layout == row.layout) {
        possible.insert(named.empty);
        for (const Kept &kept : named.kept)
          possible.insert(kept.stored);
      }
    for (const Family family : all_families())
      EXPECT_EQ(is_family_of(row.layout, family), possible.count(family) == 1)
          << "layout " << static_cast<int>(row.layout) << ", family " << static_cast<int>(family);
  }
}

TEST(Scheme, RowsAgree) {
  std::set<std::string> names;
  for (const Scheme &scheme : kSchemes) {
    SCOPED_TRACE(&scheme - kSchemes);
    EXPECT_EQ(profile_of(scheme.layout), scheme.layout);
    EXPECT_EQ(scheme.name != nullptr, kind_of(scheme.layout) == Kind::bloom);
    if (scheme.name) {
      EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    }
    EXPECT_TRUE(is_in(scheme.kept, scheme.empty));
    EXPECT_TRUE(is_open(scheme.empty) || scheme.kept == families(scheme.empty));
    EXPECT_EQ(scheme.from == Family::none, scheme.to == Family::none);
    EXPECT_TRUE(scheme.to == Family::none || is_in(scheme.kept, scheme.to));
    EXPECT_EQ(value_family(scheme.to), scheme.from);
    EXPECT_TRUE(scheme.strings == 0 || is_in(scheme.kept, Family::string));
    // The family tells to which scheme a filter of the layout belongs.
    for (const Scheme &other : kSchemes) {
      const bool alike = &other == &scheme || other.layout != scheme.layout;
      EXPECT_TRUE(alike || (scheme.kept & other.kept) == 0) << other.name;
    }
  }
  for (const LayoutRow &row : kLayoutRows)
    EXPECT_TRUE(std::any_of(std::begin(kSchemes), std::end(kSchemes), [&row](const Scheme &scheme) {
      return scheme.layout == row.profile;
    })) << static_cast<int>(row.layout);
}

TEST(Scheme, EncodingsAreOfFamiliesOfSql) {
  for (const Family family : all_families()) {
    SCOPED_TRACE(static_cast<int>(family));
    EXPECT_EQ(is_open(family), family == Family::none || family == Family::open_int32);
    const Family wanted = family == Family::int32     ? Family::integer
                          : family == Family::utf16   ? Family::text
                          : family == Family::float32 ? Family::floating
                                                      : family;
    EXPECT_EQ(value_family(family), wanted);
  }
}

// --- Stored bytes ---

Finding parse_with(int layout, int family) {
  Header header = {{static_cast<Layout>(layout), 8, 3}, {static_cast<Family>(family), 0}, 0, {}},
         read;
  std::uint8_t head[kHeaderBytes];
  write_header(head, header);
  return parse(head, kHeaderBytes, &read);
}

// The numbers 5, 7, 8, 10 and 11 had a meaning before 1.0. Now they are an error, and never another
// filter.
TEST(LayoutNumber, UnknownOnesAreRefused) {
  for (const int layout : {0, 5, 7, 8, 10, 11, 16, 19, 32, 34, 255})
    for (const Family family : all_families()) {
      const Finding finding = parse_with(layout, static_cast<int>(family));
      EXPECT_EQ(finding.text, Fault::unknown_layout) << layout;
      EXPECT_EQ(finding.found, static_cast<unsigned>(layout));
    }
}

TEST(LayoutNumber, UnknownOnesOfLinksAreRefused) {
  for (int layout = 0; layout < 16; layout++) {
    Header header = {{Layout::guava, 0, 0}, {Family::int32, 0}, 0, {}, kFlagChain, 2}, read;
    std::uint8_t head[kHeaderBytes + 2 * kLinkBytes];
    write_header(head, header);
    for (const int number : {0, 1})
      write_link(head, number,
                 {{static_cast<Layout>(layout), 8, 3U + static_cast<unsigned>(number)}, 0, {}});
    const Finding finding = parse(head, sizeof head + 8 * (3 + 4), &read);
    EXPECT_EQ(finding.text, layout == 3 ? nullptr : Fault::unknown_layout) << layout;
    EXPECT_EQ(finding.found, layout == 3 ? 0U : static_cast<unsigned>(layout));
  }
}

} // namespace
} // namespace bloomfilter
