// See overfill.hpp. A check has up to three stages, each more expensive than the one before:
// - a sample of a few parts of the largest link;
// - the number of set bits of each link;
// - the false positive rate of the whole filter.
//
// An addition of a single value starts with the sample, all other checks with the second stage. The
// sample may miss an overfilled filter, but further additions are likely to find it.

#include "pg/value/overfill.hpp"

#include <cmath>

#include "core/bitmap.hpp"
#include "core/counting.hpp"
#include "core/estimate.hpp"
#include "core/sizing.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/new_filter.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

enum Overfill : int { kIgnore, kWarn, kError };
constexpr struct config_enum_entry kOverfills[] = {{"ignore", kIgnore, false},
                                                   {"warn", kWarn, false},
                                                   {"error", kError, false},
                                                   {nullptr, 0, false}};

int overfill = kWarn;

// How a filter was made. Two filters are alike if all of this is the same.
struct Specification {
  Geometry geometry;
  Capacity capacity;
  uint64 seed;
  Family family;

  bool operator==(const Specification &other) const {
    return geometry == other.geometry && capacity == other.capacity && seed == other.seed &&
           family == other.family;
  }
};

// The warnings of the current statement. needs_no_check() clears them when the client sends another
// statement. Several statements in one message count as one statement.
struct Warned {
  TimestampTz statement; // when it began
  uint64 additions;      // of single values
  int count;
  Specification specifications[8]; // no more warnings than these in a statement
} warned;

Specification specification_of(const Header &header) {
  return {header.geometry, header.capacity, header.seed, header.element_type.family};
}

// True if a filter needs no check. The setting may say so, this statement may have warned about a
// filter like it, or the statement may have given all the warnings that it may give.
bool needs_no_check(const Header &header) {
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (warned.statement != statement) {
    warned.statement = statement;
    warned.additions = 0;
    warned.count = 0;
  }
  if (overfill != kWarn)
    return overfill == kIgnore;
  bool no_check = warned.count == lengthof(warned.specifications);
  for (int i = 0; i < warned.count; i++)
    no_check = no_check || warned.specifications[i] == specification_of(header);
  return no_check;
}

// True if the filter is checked after this addition. The first 1024 additions of a statement are
// checked, and of the later ones one in eight, which `random` chooses. That is enough, because
// nearly every filter that gets too full gets further values.
bool is_due(uint64 random) {
  constexpr uint64 kFirst = 1024;
  return ++warned.additions <= kFirst || random % 8 == 0;
}

constexpr Size kSampledLines = 8, kSampledPages = 2;
constexpr Size kPageBytes = kPageLines * kLineBytes;

bool has_counters(const Geometry &geometry) {
  return structure_of(geometry.layout) == Structure::counters;
}

bool has_overfull_link(const Filter &filter) {
  return any_link(filter.payload(), filter.header, [&filter](const Link &link, Size offset) {
    return bits_set(filter.payload() + offset, link.geometry) > full_bits(link);
  });
}

// The following two are called within ereport(). `by_links` is true if the links would have such a
// rate even if each held no more values than it was made for.
int detail_of(const Filter &filter, const ValueCount &count, const Capacity &requested,
              bool by_links) {
  if (by_links)
    return errdetail("It has %d links, whose rates add up.", filter.header.links());
  if (!is_countable(filter))
    return errdetail("It was made for %s.", counted(requested.values, "value"));
  if (filter.header.grows())
    return errdetail("It grows, and holds %s values.", count_text(count));
  if (std::isinf(count.values))
    return errdetail("It was made for %s; all its %s are set.", counted(requested.values, "value"),
                     has_counters(filter.header.geometry) ? "counters" : "bits");
  return errdetail("It was made for %s and holds %s.", counted(requested.values, "value"),
                   count_text(count));
}

int hint_of(const Filter &filter, const Capacity &requested, Origin origin, bool by_links) {
  const Layout layout = filter.header.geometry.layout;
  const bool sizes_itself = has<Ability::sizes_itself>(layout);
  if (filter.header.grows())
    return by_links
               ? errhint("Divide the false positive rate by the number of filters, or build one "
                         "filter from all values.")
               : errhint("Build it again from the values.");
  if (by_links && sizes_itself)
    return errhint("Build every filter for the number of values of the union, or divide the false "
                   "positive rate by the number of filters: bf_agg(value, NULL, %g / %d).",
                   Min(requested.rate, kDefaultRate), filter.header.links());
  if (origin == Origin::united)
    return errhint("Build every filter for the number of values of the union.");
  if (!sizes_itself)
    return errhint("Make the filter for more values.");
  if (origin == Origin::added && has<Ability::grows>(layout))
    return errhint("Add to a filter that grows: bf_create(expected, fpr, grow => true).");
  return errhint("Make the filter for more values; %s_agg(value) without a number sizes itself.",
                 prefix_of(filter.kind()));
}

} // namespace

void define_overfill() {
  DefineCustomEnumVariable(
      "bloomfilter.overfill", "Sets what happens when a bloom filter is overfilled.",
      "A filter is overfilled if its false positive rate is more than twice the requested rate. "
      "This setting applies to additions, to aggregates with an expected number of values, and to "
      "unions, of bloom filters and of counting bloom filters.",
      &overfill, kWarn, kOverfills, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

void check_overfill(const Filter &any, Origin origin) {
  if (!has<Ability::counts_by_bits>(any.header.geometry.layout))
    return;
  if (needs_no_check(any.header))
    return;
  const Filter filter = has_counters(any.header.geometry) ? as_bloom(any) : any;
  const Capacity requested = capacity_of(filter);
  if (!requested.is_known())
    return;
  const double full = full_rate(filter);
  const double bearable = bearable_rate(origin == Origin::united ? requested.rate : full);
  // Counting bits is much cheaper than measuring the rate, and nearly always enough to see that the
  // filter is not too full.
  if (full <= bearable && !has_overfull_link(filter))
    return;
  const Fill fill = measure(filter);
  if (fill.rate <= bearable)
    return;
  const bool by_links = filter.header.links() > 1 && fill.rate <= bearable_rate(full);
  if (overfill == kWarn)
    warned.specifications[warned.count++] = specification_of(any.header);
  ereport(overfill == kError ? ERROR : WARNING,
          (errcode(overfill == kError ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_WARNING),
           errmsg("%s is overfilled: its false positive rate is %.2g, %.1f times the %g asked for",
                  noun_of(any.kind()), fill.rate, fill.rate / requested.rate, requested.rate),
           detail_of(any, fill.count, requested, by_links),
           hint_of(any, requested, origin, by_links)));
}

namespace {

// How a link is sampled, and the number of set bits at which a part of it is full. It is kept from
// one addition to the next, because computing it takes longer than all other work of an addition.
struct Sampling {
  Link link;
  Geometry plain; // the link's geometry; of a counting link, that of the plain bits
  Size part;      // bytes of `plain`: a line, which may be several units, or a page
  Size units_of_part, parts_in_all, parts;
  uint64 full; // set bits of a full part
};

const Sampling &sampling_of(const Link &link) {
  static Sampling kept;
  if (kept.link.geometry == link.geometry && kept.link.capacity == link.capacity)
    return kept;
  kept.link = link;
  kept.plain = has_counters(link.geometry) ? plain_geometry(link.geometry) : link.geometry;
  const Size unit = kept.plain.unit_bytes(), units = kept.plain.units;
  kept.units_of_part = Min(Max(kLineBytes / unit, Size{1}), units);
  kept.part = kept.units_of_part * unit;
  kept.parts_in_all = units / kept.units_of_part;
  kept.parts = Min(kept.parts_in_all, kept.part > kLineBytes ? kSampledPages : kSampledLines);
  kept.full = full_bits({kept.plain, link.flags, link.capacity}) * kept.units_of_part / units;
  return kept;
}

} // namespace

void check_overfill_by_sample(const Filter &any, uint64 random) {
  const Link link = any.link();
  if (!has<Ability::counts_by_bits>(link.geometry.layout))
    return;
  if (!link.capacity.is_known() || needs_no_check(any.header) || !is_due(random))
    return;
  const Sampling &sampling = sampling_of(link);
  uint8 sample[Max(kSampledLines * kLineBytes, kSampledPages * kPageBytes)];
  uint64 set = 0;
  for (Size i = 0; i < sampling.parts; i++) {
    const Size number = ((random >> 32) * sampling.parts_in_all) >> 32;
    random = random * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03;
    uint8 *part = sample + i * sampling.part;
    const Size bytes = sampling.units_of_part * link.geometry.unit_bytes();
    if (has_counters(link.geometry))
      counting_bits(any.bitmap() + number * bytes, bytes, part);
    else
      memcpy(part, any.bitmap() + number * bytes, bytes);
    set += count_set(*kernel, part, sampling.part);
    if (set <= (i + 1) * sampling.full) // nearly always true for the first part
      return;
  }
  Survey survey(*kernel, sampling.plain);
  survey.read(sample, sampling.parts * sampling.units_of_part);
  if (survey.rate() > bearable_rate(link.capacity.rate))
    check_overfill(any, Origin::added);
}

} // namespace bloomfilter
