#include "pg/overfill.hpp"

#include <cmath>

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

} // namespace

void define_overfill() {
  DefineCustomEnumVariable(
      "bloomfilter.overfill",
      "What happens when a bloom filter ends above twice the false positive rate asked for.",
      "It applies to bf_agg with an expected number of values, bf_add_all and bf_union_agg, and to "
      "those of counting filters.",
      &overfill, kWarn, kOverfills, PGC_USERSET, 0, nullptr, nullptr, nullptr);
}

void check_overfill(const Filter &any, bool could_grow) {
  const TimestampTz statement = GetCurrentStatementStartTimestamp();
  if (overfill == kIgnore || (overfill == kWarn && warned_statement == statement))
    return;
  const Filter filter = any.kind() == Kind::counting ? as_bloom(any) : any;
  const Capacity asked = capacity_of(filter);
  if (!asked.is_known())
    return;
  // Counting bits is much cheaper than the rate, and nearly always enough.
  const Header &header = filter.header;
  if (!header.is_chain() && bits_set(filter.bitmap(), header.geometry) <= full_bits(filter.link()))
    return;
  const Fill fill = measure(filter);
  if (!is_saturated(fill, asked))
    return;
  if (overfill == kWarn)
    warned_statement = statement;
  ereport(
      overfill == kError ? ERROR : WARNING,
      (errcode(overfill == kError ? ERRCODE_PROGRAM_LIMIT_EXCEEDED : ERRCODE_WARNING),
       errmsg("%s is overfilled: its false positive rate is %.2g, %.1f times the %g asked for",
              noun_of(any.kind()), fill.rate, fill.rate / asked.rate, asked.rate),
       header.grows() ? errdetail("It grows, and holds about %.0f values.", fill.count)
       : std::isinf(fill.count)
           ? errdetail("It was made for " UINT64_FORMAT " values; all its bits are set.",
                       asked.values)
           : errdetail("It was made for " UINT64_FORMAT " values and holds about %.0f.",
                       asked.values, fill.count),
       header.grows()                       ? errhint("Build it again from the values.")
       : is_foreign(header.geometry.layout) ? errhint("Make the filter for more values.")
       : could_grow
           ? errhint("Add to a filter that grows: bf_create(expected, fpr, grow => true).")
           : errhint(
                 "Make the filter for more values; %s_agg(value) without a number sizes itself.",
                 prefix_of(any.kind()))));
}

} // namespace bloomfilter
