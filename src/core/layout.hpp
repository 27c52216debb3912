// What the bytes of a filter mean: its kind, its layout, and how values become the bytes that are
// hashed.
//
// A *layout* is a system's way from a digest to bits. A row of kLayoutRows has everything that
// depends on the layout alone. Its abilities say which operations there are for its filters, and
// its structure says which code reads and writes their bytes. Code asks for an ability or switches
// over the structure. It asks for the kind only if SQL's types differ, in names and messages. A
// *scheme* is what SQL calls a layout: a layout together with an encoding. The encoding is how a
// value becomes bytes before it is hashed. (Guava has funnels for this, and Parquet has physical
// types.) The family of a filter tells its encoding.
//
// The numbers of the layouts are stored in every filter and never change. The upper half of a
// number is the kind. A link's entry has 4 bits for the layout, so a bloomfilter can have 15
// layouts. The numbers 5, 7, 8, 10 and 11 are free.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/family.hpp"

namespace bloomfilter {

// The kind of a filter. Each kind is a type of SQL.
enum class Kind : std::uint8_t {
  bloom = 0,
  counting = 1, // core/counting.hpp
  cuckoo = 2,   // core/cuckoo.hpp
};
constexpr int kLastKind = static_cast<int>(Kind::cuckoo);

enum class Layout : std::uint8_t {
  lines = 1,
  pages = 2,
  guava = 3,
  hive = 4,
  guava_mitz32 = 6,
  parquet = 9,
  redis = 12,
  spark = 13,
  spark_v2 = 14,
  datasketches = 15,
  counting_lines = 0x11,
  counting_pages = 0x12,
  cuckoo = 0x21,
};

// The system from which a layout takes its hashes, positions and sizes.
enum class System : std::uint8_t { ours, guava, parquet, redis, spark, datasketches, hive };

// What a filter's bytes are.
enum class Structure : std::uint8_t {
  bitmap,         // core/bitmap.hpp
  counters,       // core/counting.hpp
  buckets,        // core/cuckoo.hpp
  foreign_bitmap, // core/foreign/foreign.hpp
};
constexpr int kLastStructure = static_cast<int>(Structure::foreign_bitmap);

// What can be done with a layout's filters, a bit for each.
enum class Ability : std::uint16_t {
  adds = 1,               // a value can be added to an existing filter
  removes = 2,            // a value can be removed
  counts_by_bits = 4,     // the set bits tell the number of values and the false positive rate
  unites_by_or = 8,       // the OR of two filters is their union; a filter can have several links
  folds = 16,             // the OR of equal parts of a filter is a smaller filter (fold_geometry())
  grows = 32,             // a full filter can get another link
  sizes_itself = 64,      // an aggregate can choose the size
  grouped_in_index = 128, // an index groups filters of one geometry (core/filter_index_pages.hpp)
  needs_all_values = 256, // a filter is made of all values at once, each once, in their order
};

using Abilities = std::uint16_t; // a set of them

constexpr Abilities abilities() {
  return 0;
}
template <typename... More> constexpr Abilities abilities(Ability first, More... more) {
  return static_cast<Abilities>(static_cast<unsigned>(first) | abilities(more...));
}

// Where the bits of one value are.
enum class Spread : std::uint8_t {
  line,     // anywhere in a unit; the unit is a line
  halves,   // in one line of each half of a unit; the unit is a page
  words,    // in a unit, one bit in each of its words of 32 bits
  anywhere, // anywhere in the bitmap
  slots,    // a cuckoo filter has slots instead of bits
};

// How a hash chooses a value's unit. It decides which parts of a bitmap are OR-ed when the bitmap
// is folded.
enum class Choice : std::uint8_t {
  scaled,    // by multiplication with its high bits; neighbours are OR-ed
  remainder, // by division; equal parts are OR-ed
};

// Flags of headers (core/format.hpp) for what another system's file says in addition to its filter.
// They make it possible to write the same file again. They change no answer of a probe, and unions
// do not keep them.
constexpr std::uint8_t kFlagUncounted = 0x10; // the file does not say how many bits are set
constexpr std::uint8_t kOtherFlags = kFlagUncounted;

struct LayoutRow {
  Layout layout;
  System system;
  Structure structure;
  Spread spread;
  Abilities abilities;
  std::uint16_t unit_bits; // 0: a bucket's size depends on its fingerprints
  Choice choice;
  std::uint8_t min_k, max_k, step; // of k; in a cuckoo filter, of the length of a fingerprint
  std::uint8_t digest_size;        // how many numbers of 64 bits a digest has
  std::uint8_t seed_bits;          // the seed is a signed number of this length; 0: there is none
  std::uint8_t flags;              // those of kOtherFlags that its headers can have
  Layout profile; // the layout; of pages, that of lines: the size decides between the two
};

constexpr Abilities kOfBitmaps =
    abilities(Ability::adds, Ability::counts_by_bits, Ability::unites_by_or, Ability::folds,
              Ability::grows, Ability::sizes_itself, Ability::grouped_in_index);
constexpr Abilities kOfForeignBitmaps =
    abilities(Ability::adds, Ability::counts_by_bits, Ability::unites_by_or, Ability::folds);
constexpr Abilities kOfCounters =
    abilities(Ability::adds, Ability::removes, Ability::counts_by_bits, Ability::sizes_itself,
              Ability::grouped_in_index);
constexpr Abilities kOfBuckets =
    abilities(Ability::adds, Ability::removes, Ability::sizes_itself, Ability::needs_all_values);

inline constexpr LayoutRow kLayoutRows[] = {
    {Layout::lines, System::ours, Structure::bitmap, Spread::line, kOfBitmaps, 512, Choice::scaled,
     1, 16, 1, 1, 64, 0, Layout::lines},
    {Layout::pages, System::ours, Structure::bitmap, Spread::halves, kOfBitmaps, 4096,
     Choice::scaled, 2, 16, 2, 1, 64, 0, Layout::lines},
    {Layout::guava, System::guava, Structure::foreign_bitmap, Spread::anywhere, kOfForeignBitmaps,
     64, Choice::remainder, 1, 255, 1, 2, 0, 0, Layout::guava},
    {Layout::hive, System::hive, Structure::foreign_bitmap, Spread::line, kOfForeignBitmaps, 512,
     Choice::remainder, 1, 127, 1, 1, 0, 0, Layout::hive},
    {Layout::guava_mitz32, System::guava, Structure::foreign_bitmap, Spread::anywhere,
     kOfForeignBitmaps, 64, Choice::remainder, 1, 255, 1, 2, 0, 0, Layout::guava_mitz32},
    {Layout::parquet, System::parquet, Structure::foreign_bitmap, Spread::words, kOfForeignBitmaps,
     256, Choice::scaled, 8, 8, 1, 1, 0, 0, Layout::parquet},
    {Layout::redis, System::redis, Structure::foreign_bitmap, Spread::anywhere, kOfForeignBitmaps,
     64, Choice::remainder, 1, 255, 1, 2, 0, 0, Layout::redis},
    {Layout::spark, System::spark, Structure::foreign_bitmap, Spread::anywhere, kOfForeignBitmaps,
     64, Choice::remainder, 1, 255, 1, 2, 0, 0, Layout::spark},
    {Layout::spark_v2, System::spark, Structure::foreign_bitmap, Spread::anywhere,
     kOfForeignBitmaps, 64, Choice::remainder, 1, 255, 1, 2, 32, 0, Layout::spark_v2},
    {Layout::datasketches, System::datasketches, Structure::foreign_bitmap, Spread::anywhere,
     kOfForeignBitmaps, 64, Choice::remainder, 1, 255, 1, 2, 64, kFlagUncounted,
     Layout::datasketches},
    {Layout::counting_lines, System::ours, Structure::counters, Spread::line, kOfCounters, 2048,
     Choice::scaled, 1, 16, 1, 1, 64, 0, Layout::counting_lines},
    {Layout::counting_pages, System::ours, Structure::counters, Spread::halves, kOfCounters, 16384,
     Choice::scaled, 2, 16, 2, 1, 64, 0, Layout::counting_lines},
    {Layout::cuckoo, System::ours, Structure::buckets, Spread::slots, kOfBuckets, 0, Choice::scaled,
     6, 32, 1, 1, 64, 0, Layout::cuckoo},
};
constexpr int kLastLayout = static_cast<int>(Layout::cuckoo);

// The number of a layout's row, so that finding the row takes only one more load.
struct RowNumbers {
  std::uint8_t of[kLastLayout + 1]; // row numbers from 1 on; 0: there is no such layout

  constexpr RowNumbers() : of() {
    std::uint8_t number = 0;
    for (const LayoutRow &row : kLayoutRows)
      of[static_cast<int>(row.layout)] = ++number;
  }
};
constexpr RowNumbers kRowNumbers;

inline bool is_layout(std::uint8_t number) {
  return number <= kLastLayout && kRowNumbers.of[number] != 0;
}
constexpr const LayoutRow &row_of(Layout layout) {
  return kLayoutRows[kRowNumbers.of[static_cast<int>(layout)] - 1];
}

constexpr Kind kind_of(Layout layout) {
  return static_cast<Kind>(static_cast<unsigned>(layout) >> 4);
}

// A set of layouts, a bit for each. A probe asks for one with each value, and a constant takes no
// load.
struct LayoutSet {
  static_assert(kLastLayout < 64, "a bit for each");
  std::uint64_t bits = 0;

  constexpr void add(Layout layout) { bits |= std::uint64_t{1} << static_cast<int>(layout); }
  constexpr bool has(Layout layout) const { return bits >> static_cast<int>(layout) & 1; }
};

constexpr LayoutSet layouts_with(Ability ability) {
  LayoutSet set;
  for (const LayoutRow &row : kLayoutRows)
    if (row.abilities & abilities(ability))
      set.add(row.layout);
  return set;
}
template <Ability kAbility> constexpr bool has(Layout layout) {
  constexpr LayoutSet kSet = layouts_with(kAbility);
  return kSet.has(layout);
}

constexpr LayoutSet foreign_layout_set() {
  LayoutSet set;
  for (const LayoutRow &row : kLayoutRows)
    if (row.system != System::ours)
      set.add(row.layout);
  return set;
}
// True for the layouts of other systems. Their values are encoded and hashed as those systems do
// it: a value's digest differs from its 64-bit hash in our own layouts.
constexpr bool is_foreign(Layout layout) {
  constexpr LayoutSet kSet = foreign_layout_set();
  return kSet.has(layout);
}
// One bit of the numbers of all layouts' structures.
constexpr LayoutSet structure_bit(int bit) {
  LayoutSet set;
  for (const LayoutRow &row : kLayoutRows)
    if (static_cast<unsigned>(row.structure) >> bit & 1)
      set.add(row.layout);
  return set;
}
constexpr Structure structure_of(Layout layout) {
  constexpr LayoutSet kLow = structure_bit(0), kHigh = structure_bit(1);
  static_assert(kLastStructure < 4, "two bits are enough");
  return static_cast<Structure>((kLow.has(layout) ? 1 : 0) + (kHigh.has(layout) ? 2 : 0));
}
inline System system_of(Layout layout) {
  return row_of(layout).system;
}
inline Spread spread_of(Layout layout) {
  return row_of(layout).spread;
}
inline Choice choice_of(Layout layout) {
  return row_of(layout).choice;
}
inline Layout profile_of(Layout layout) {
  return row_of(layout).profile;
}
// The number of numbers in a digest: 1, which is `first` alone, or 2.
inline int digest_size(Layout layout) {
  return row_of(layout).digest_size;
}
inline bool is_possible_k(Layout layout, int k) {
  const LayoutRow &row = row_of(layout);
  return k >= row.min_k && k <= row.max_k && k % row.step == 0;
}

inline bool is_possible_seed(Layout layout, std::uint64_t seed) {
  const int bits = row_of(layout).seed_bits;
  const std::uint64_t half = bits == 0 ? 0 : std::uint64_t{1} << (bits - 1);
  return bits == 0 ? seed == 0 : seed + half <= 2 * half - 1;
}

// Families that only filters of other systems have. All other families, and those added later, are
// families of SQL.
constexpr Families kFamiliesOfOthers =
    families(Family::string, Family::int32, Family::utf16, Family::float32, Family::open_int32);
constexpr Families kFamiliesOfSql = 2 * families(kLastFamily) - 1 - kFamiliesOfOthers;

// A scheme: how a layout keeps values, and what SQL calls this.
struct Scheme {
  const char *name; // NULL if its kind has only one scheme
  Layout layout;    // a profile
  Family empty;     // the family of a filter without values
  Family from, to;  // values of `from` are kept as `to`, another encoding of the same values
  Families kept;    // families whose values are kept under their own family
  Families strings; // families whose values are kept as byte strings, without a finer type
};

constexpr Scheme our_scheme(const char *name, Layout layout) {
  return {name, layout, Family::none, {}, {}, kFamiliesOfSql, 0};
}
constexpr Scheme plain_scheme(const char *name, Layout layout, Families kept, Families strings) {
  return {name, layout, Family::none, {}, {}, kept | families(Family::none), strings};
}
constexpr Scheme coded_scheme(const char *name, Layout layout, Family from, Family to) {
  return {name, layout, to, from, to, families(to), 0};
}
constexpr Families kPlainFamilies = families(Family::integer, Family::text, Family::bytea);
constexpr Families kFamiliesOfNumbersAndStrings = kPlainFamilies | families(Family::floating);

constexpr Scheme kSchemes[] = {
    our_scheme("lines", Layout::lines),
    plain_scheme("guava", Layout::guava, kPlainFamilies, 0),
    coded_scheme("guava_integer", Layout::guava, Family::integer, Family::int32),
    coded_scheme("guava_chars", Layout::guava, Family::text, Family::utf16),
    plain_scheme("guava_mitz32", Layout::guava_mitz32, kPlainFamilies, 0),
    coded_scheme("guava_integer_mitz32", Layout::guava_mitz32, Family::integer, Family::int32),
    coded_scheme("guava_chars_mitz32", Layout::guava_mitz32, Family::text, Family::utf16),
    plain_scheme("parquet", Layout::parquet,
                 families(Family::integer, Family::floating, Family::timestamp, Family::timestamptz,
                          Family::time, Family::string),
                 families(Family::text, Family::bytea, Family::uuid, Family::string)),
    // Dates are integers of 32 bits, too, so the first value decides the family of a filter.
    {"parquet_int32", Layout::parquet, Family::open_int32, Family::integer, Family::int32,
     families(Family::open_int32, Family::int32, Family::date), 0},
    coded_scheme("parquet_float", Layout::parquet, Family::floating, Family::float32),
    // All values are byte strings, so even a filter without values has this family.
    {"redis", Layout::redis, Family::string, Family::none, Family::none, families(Family::string),
     families(Family::integer, Family::text, Family::bytea, Family::string)},
    plain_scheme("spark", Layout::spark, kPlainFamilies, 0),
    plain_scheme("spark_v2", Layout::spark_v2, kPlainFamilies, 0),
    plain_scheme("datasketches", Layout::datasketches, kFamiliesOfNumbersAndStrings, 0),
    plain_scheme("hive", Layout::hive, kFamiliesOfNumbersAndStrings, 0),
    our_scheme(nullptr, Layout::counting_lines),
    our_scheme(nullptr, Layout::cuckoo),
};

// The number of a filter's scheme in kSchemes, found by layout and family.
struct SchemeNumbers {
  // A number from 1 on; 0: there is no scheme.
  std::uint8_t of[kLastLayout + 1][static_cast<int>(kLastFamily) + 1];

  constexpr SchemeNumbers() : of() {
    for (const LayoutRow &row : kLayoutRows) {
      std::uint8_t number = 0;
      for (const Scheme &scheme : kSchemes) {
        number++;
        for (int family = 0; family <= static_cast<int>(kLastFamily); family++)
          if (scheme.layout == row.profile && is_in(scheme.kept, static_cast<Family>(family)))
            of[static_cast<int>(row.layout)][family] = number;
      }
    }
  }
};
constexpr SchemeNumbers kSchemeNumbers;

// True if a filter of the layout can have the family.
inline bool is_family_of(Layout layout, Family family) {
  return kSchemeNumbers.of[static_cast<int>(layout)][static_cast<int>(family)] != 0;
}
// The scheme of a filter with this layout and family. The layout must be able to have the family.
inline const Scheme &scheme_of(Layout layout, Family family) {
  return kSchemes[kSchemeNumbers.of[static_cast<int>(layout)][static_cast<int>(family)] - 1];
}
// The family under which a scheme keeps values of one of SQL's families. `none` if the scheme does
// not keep such values.
inline Family stored_family(const Scheme &scheme, Family family) {
  return is_in(scheme.strings, family) ? Family::string
         : family == scheme.from       ? scheme.to
         : is_in(scheme.kept, family)  ? family
                                       : Family::none;
}

} // namespace bloomfilter
