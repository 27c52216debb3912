// See errors.hpp.

#include "pg/errors.hpp"

#include "core/cuckoo.hpp"
#include "core/shard.hpp"
#include "core/sizing.hpp"
#include "pg/compat.hpp"
#include "pg/names.hpp"

extern "C" {
#include "utils/float.h"
}

namespace bloomfilter {

char *counted(uint64 count, const char *noun) {
  return count == 1 ? psprintf("one %s", noun) : psprintf(UINT64_FORMAT " %ss", count, noun);
}

char *finding_text(const Finding &finding) {
  const char *text = finding.text;
  const auto found = static_cast<unsigned long long>(finding.found),
             wanted = static_cast<unsigned long long>(finding.wanted);
  if (text == Fault::other_kind)
    return psprintf(text, type_of(static_cast<Kind>(found)), type_of(static_cast<Kind>(wanted)));
  if (text == Fault::truncated || text == Fault::wrong_length)
    return psprintf(text, counted(found, "byte"), wanted);
  return psprintf(text, found, wanted);
}

void report_malformed(Node *context, const char *type, int sqlstate, const char *detail,
                      const char *hint) {
  errsave(context,
          (errcode(sqlstate), errmsg("invalid input syntax for type %s", type),
           errdetail("%c%s.", pg_toupper(static_cast<unsigned char>(detail[0])), detail + 1),
           hint ? errhint("%s", hint) : 0));
}

void raise_damaged(const Finding &finding, Kind kind) {
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                  errmsg("%s is damaged: %s", noun_of(kind), finding_text(finding)),
                  errhint("%s_check() tells which stored values are damaged.", prefix_of(kind))));
}

void raise_unable(const Header &header, const char *verb) {
  const Layout layout = header.geometry.layout;
  const char *name = layout_name(layout, header.element_type.family);
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("%ss%s cannot %s", noun_of(kind_of(layout)),
                         name ? psprintf(" of layout \"%s\"", name) : "", verb)));
}

void raise_bad_rate(double rate) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("false positive rate %g is out of range", rate),
                  errdetail("It must be between %g and %g.", kMinRate, kMaxRate),
                  rate > kMaxRate
                      ? errhint("A rate is a share: 1 %% is 0.01.")
                      : errhint("A rate is the share of false positives among values that were "
                                "never added: 0.01 is one in a hundred.")));
}

void raise_bad_expected(double expected) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("expected number of values %s is out of range", float8out_internal(expected)),
           errdetail("It must be at least 1."),
           expected > 0 && expected < 1
               ? errhint("A false positive rate comes after the number of values; aggregates take "
                         "NULL for the number.")
               : 0));
}

void raise_too_large(Layout layout, double expected, double rate, int sqlstate) {
  const Kind kind = kind_of(layout);
  ereport(
      ERROR,
      (errcode(sqlstate),
       errmsg("%s for %s values at a false positive rate of %g would exceed %d MB", noun_of(kind),
              float8out_internal(expected), rate, system_of(layout) == System::parquet ? 128 : 512),
       detail_of_most_values(layout, rate),
       errhint("%s the values over several filters. %s tells how many, bf_shard(value, "
               "shards) which one a value belongs to.",
               rate < kMaxRate ? "Use a higher rate, or distribute" : "Distribute",
               kind == Kind::bloom
                   ? "bf_shard_count(expected, fpr)"
                   : psprintf("Column \"filters\" of %s_sizing(expected, fpr)", prefix_of(kind)))));
}

int detail_of_most_values(Layout layout, double rate) {
  // A cuckoo filter has the number of kicks before its buckets, and kMaxBits limits only the
  // buckets.
  constexpr uint64 kMaxBytes = kMaxBits / 8 + kKicksBytes;
  return errdetail("One %s can be made for at most " UINT64_FORMAT " values at this rate.",
                   noun_of(kind_of(layout)), most_values(layout, rate, kMaxBytes));
}

void raise_full(uint64 expected, uint64 stored) {
  ereport(
      ERROR,
      (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
       errmsg("cuckoo filter is full: no free slot was found within %d kicks", kMaxKicks),
       errdetail("It was made for %s, and would now hold " UINT64_FORMAT ". It is unchanged.",
                 counted(expected, "value"), stored),
       errhint(
           "Build it again from the values, with a larger capacity; cf_agg(value) sizes itself.")));
}

void raise_union_full(uint64 stored, uint64 slots) {
  ereport(
      ERROR,
      (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
       errmsg("cuckoo filters cannot be united: no free slot was found within %d kicks", kMaxKicks),
       errdetail("The union held " UINT64_FORMAT
                 " values by then. A filter of this size has " UINT64_FORMAT
                 " slots, and at most eight of them for copies of one value.",
                 stored, slots),
       errhint("Build one filter from all values; cf_agg(value) sizes itself and stores each of "
               "them once.")));
}

void raise_too_many_copies(int copies) {
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("cuckoo filter has no room for another copy of a value: it has %d", copies),
           errhint("Use cf_put() to store each value once, or a countingbloomfilter for "
                   "many duplicates.")));
}

void raise_alike(uint64 distinct) {
  ereport(
      ERROR,
      (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
       errmsg("cuckoo filter of twice the size has no slots for all of " UINT64_FORMAT " values",
              distinct),
       errdetail("More of them share a fingerprint and its buckets than chance explains."),
       errhint("Use cbf_agg() for values that somebody may have chosen on purpose.")));
}

void raise_absent(Kind kind) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("value is not in the %s, so it cannot be removed", noun_of(kind)),
                  errhint("Remove a value as often as it was added, and as the type that it was "
                          "added as, or use %s_remove(filter, value, missing_ok => true).",
                          prefix_of(kind))));
}

void raise_too_many_links(int links) {
  ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                  errmsg("bloom filter would have %d links", links),
                  errdetail("There can be at most %d.", kMaxLinks),
                  errhint("Build all filters with one expected number of values, that of the "
                          "union: bf_agg(value, expected).")));
}

void raise_links_too_large(int links) {
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("bloom filter of %d links would exceed 512 MB", links),
           errhint("Distribute the values over several filters; bf_shard() tells which one a "
                   "value belongs to.")));
}

} // namespace bloomfilter
