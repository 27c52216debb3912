// See overfill.hpp. A check counts the set bits of each link. Only if a link has too many, or
// if the links of a union promise too high a rate together, it measures the false positive rate of
// the whole filter. If it always measured, a union would take 1.8 of the time for filters of 1000
// values, and 1.2 for 100 000.
//
// Of single additions, most are not checked (check_overfill_after_one). If all were, an addition to
// a filter that is only in memory would take 1.2 of the time for 1000 values, and 1.7 for 100 000.
// In an UPDATE, no difference was measured.

#include "pg/value/overfill.hpp"

#include <cmath>

#include "core/counting.hpp"
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

// The warnings of the current statement. Several statements in one message of the client count as
// one statement.
struct Warned {
  TimestampTz statement; // when it began
  uint64 additions;      // of single values
  int count;
  Header headers[8]; // of the filters; no more warnings than these in a statement
};

Warned *warned_in_statement() {
  static Warned warned = {};
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (warned.statement != statement) {
    warned.statement = statement;
    warned.additions = 0;
    warned.count = 0;
  }
  return &warned;
}

bool are_made_alike(const Header &a, const Header &b) {
  return a.geometry == b.geometry && a.capacity == b.capacity && a.seed == b.seed &&
         a.element_type.family == b.element_type.family;
}

// True if a filter needs no check. The setting may say so, this statement may have warned about a
// filter like it, or the statement may have given all the warnings that it may give.
bool needs_no_check(const Warned *warned, const Header &header) {
  if (overfill != kWarn)
    return overfill == kIgnore;
  bool no_check = warned->count == lengthof(warned->headers);
  for (int i = 0; i < warned->count; i++)
    no_check = no_check || are_made_alike(warned->headers[i], header);
  return no_check;
}

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
    return std::isinf(count.values)
               ? errdetail("It grows, and all its bits are set.")
               : errdetail("It grows, and holds %s values.", count_text(count));
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
  Warned *warned = warned_in_statement();
  if (!has<Ability::counts_by_bits>(any.header.geometry.layout) ||
      (origin == Origin::built && any.header.is_self_sized()) || needs_no_check(warned, any.header))
    return;
  const Filter filter = has_counters(any.header.geometry) ? as_bloom(any) : any;
  const Capacity requested = capacity_of(filter);
  if (!requested.is_known())
    return;
  const double full = full_rate(filter);
  const double bearable = bearable_rate(origin == Origin::united ? requested.rate : full);
  if (full <= bearable && !has_overfull_link(filter))
    return;
  const Fill fill = measure(filter);
  if (fill.rate <= bearable)
    return;
  const bool by_links = filter.header.links() > 1 && fill.rate <= bearable_rate(full);
  if (overfill == kWarn)
    warned->headers[warned->count++] = any.header;
  ereport(overfill == kError ? ERROR : WARNING,
          (errcode(overfill == kError ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_WARNING),
           errmsg("%s is overfilled: its false positive rate is %.2g, %.1f times the %g asked for",
                  noun_of(any.kind()), fill.rate, fill.rate / requested.rate, requested.rate),
           detail_of(any, fill.count, requested, by_links),
           hint_of(any, requested, origin, by_links)));
}

void check_overfill_after_one(const Filter &any, uint64 random) {
  constexpr uint64 kFirstBytes = 1 << 20, kLeastInterval = 16, kBytesPerInterval = 1024;
  const uint64 bytes = any.header.payload_bytes();
  const uint64 before = warned_in_statement()->additions++;
  if (before * bytes < kFirstBytes ||
      (random + before) % Max(kLeastInterval, bytes / kBytesPerInterval) == 0)
    check_overfill(any, Origin::added);
}

} // namespace bloomfilter
