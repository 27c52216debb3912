#include "pg/overfill.hpp"

#include <cmath>

#include "pg/target.hpp"

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
TimestampTz warned_statement = 0; // by its start

bool has_overfull_link(const Filter &filter) {
  return any_link(filter.payload(), filter.header, [&filter](const Link &link, Size offset) {
    return bits_set(filter.payload() + offset, link.geometry) > full_bits(link);
  });
}

// Within ereport(). `by_links`: the links would have such a rate with no more values than they were
// made for.
int detail_of(const Filter &filter, const Fill &fill, const Capacity &asked, bool by_links) {
  if (by_links)
    return errdetail("It has %d links, whose rates add up.", filter.header.links());
  if (!is_countable(filter))
    return errdetail("It was made for " UINT64_FORMAT " values.", asked.values);
  if (filter.header.grows())
    return errdetail("It grows, and holds about %.0f values.", fill.count);
  if (std::isinf(fill.count))
    return errdetail("It was made for " UINT64_FORMAT " values; all its bits are set.",
                     asked.values);
  return errdetail("It was made for " UINT64_FORMAT " values and holds about %.0f.", asked.values,
                   fill.count);
}

int hint_of(const Filter &filter, const Capacity &asked, Origin origin, bool by_links) {
  const bool foreign = is_foreign(filter.header.geometry.layout);
  if (filter.header.grows())
    return by_links ? errhint("Give each filter the rate divided by their number, or build one "
                              "from all values.")
                    : errhint("Build it again from the values.");
  if (by_links && !foreign)
    return errhint("Give all filters one expected number of values, that of the union, or each the "
                   "rate divided by their number: bf_agg(value, NULL, %g / %d).",
                   Min(asked.rate, kDefaultRate), filter.header.links());
  if (origin == Origin::united)
    return errhint("Make all filters for as many values as their union has.");
  if (foreign)
    return errhint("Make the filter for more values.");
  if (origin == Origin::added && filter.kind() == Kind::bloom)
    return errhint("Add to a filter that grows: bf_create(expected, fpr, grow => true).");
  return errhint("Make the filter for more values; %s_agg(value) without a number sizes itself.",
                 prefix_of(filter.kind()));
}

} // namespace

void define_overfill() {
  DefineCustomEnumVariable(
      "bloomfilter.overfill",
      "What happens when a bloom filter ends above twice the false positive rate asked for.",
      "It applies to bf_agg with an expected number of values, bf_add_all, bf_union and "
      "bf_union_agg, and to those of counting filters.",
      &overfill, kWarn, kOverfills, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

void check_overfill(const Filter &any, Origin origin) {
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (overfill == kIgnore || (overfill == kWarn && warned_statement == statement))
    return;
  const Filter filter = any.kind() == Kind::counting ? as_bloom(any) : any;
  const Capacity asked = capacity_of(filter);
  if (!asked.is_known())
    return;
  const double full = full_rate(filter);
  const double bearable = kSaturation * (origin == Origin::united ? asked.rate : full);
  // Counting bits is much cheaper than the rate, and nearly always enough.
  if (full <= bearable && !has_overfull_link(filter))
    return;
  const Fill fill = measure(filter);
  if (fill.rate <= bearable)
    return;
  const bool by_links = filter.header.links() > 1 && fill.rate <= kSaturation * full;
  if (overfill == kWarn)
    warned_statement = statement;
  ereport(overfill == kError ? ERROR : WARNING,
          (errcode(overfill == kError ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_WARNING),
           errmsg("%s is overfilled: its false positive rate is %.2g, %.1f times the %g asked for",
                  noun_of(any.kind()), fill.rate, fill.rate / asked.rate, asked.rate),
           detail_of(any, fill, asked, by_links), hint_of(any, asked, origin, by_links)));
}

} // namespace bloomfilter
