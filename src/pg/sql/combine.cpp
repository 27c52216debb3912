// Union, intersection, folding, and what two filters say about their sets.
//
// Filters of one geometry, seed and element type that were made for an asked capacity are united
// bit by bit, and the result is the filter that would have been built from all values. Any others
// are kept side by side in one value (core/links.hpp).
//
// The bits that two filters have in common hold all common values, but also some of others, so the
// result of an intersection has no count; how many values are common is counted by inclusion and
// exclusion, |A| + |B| - |A or B|. Both need one geometry, and folding a filter of one link.
//
// Counting filters add their counters up, cuckoo filters take in each other's fingerprints. Both
// need one geometry.

#include "pg/server.hpp"

#include <cmath>

#include "core/bitmap.hpp"
#include "core/cuckoo.hpp"
#include "core/estimate.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

using namespace bloomfilter;

namespace {

char *describe(const Header &header) {
  const Geometry &geometry = header.geometry;
  switch (kind_of(geometry.layout)) {
  case Kind::counting:
    return psprintf(UINT64_FORMAT " counters with %d hash functions",
                    geometry.bits() / kCounterBits, geometry.k);
  case Kind::cuckoo:
    return psprintf("%u buckets of fingerprints of %d bits", geometry.units,
                    geometry.fingerprint_bits());
  default:
    return psprintf("%zu bytes of %s with %d hash functions", geometry.bytes(),
                    layout_name(geometry.layout, header.element.family), geometry.k);
  }
}

bool have_one_scheme(const Header &a, const Header &b) {
  return &scheme_of(a.geometry.layout, a.element.family) ==
         &scheme_of(b.geometry.layout, b.element.family);
}

// Raises 42804 or 22023 if two filters give one value different hashes. `verb` is what is to be
// done with them.
void check_one_hash(const Header &a, const Header &b, const char *verb) {
  if (!have_one_scheme(a, b))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filters of different layouts cannot be %s: \"%s\" and \"%s\"",
                           verb, layout_name(profile_of(a.geometry.layout), a.element.family),
                           layout_name(profile_of(b.geometry.layout), b.element.family)),
                    errhint("Build both filters with one layout.")));
  check_family(a, b);
  if (a.seed != b.seed)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("%ss with different seeds cannot be %s: " INT64_FORMAT " and " INT64_FORMAT,
                    noun_of(kind_of(a.geometry.layout)), verb, static_cast<int64>(a.seed),
                    static_cast<int64>(b.seed)),
             errhint("Build both filters with one seed.")));
}

bool have_one_geometry(const Header &a, const Header &b) {
  return !a.is_chain() && !b.is_chain() && a.geometry == b.geometry;
}

// The same, and 22023 if two filters do not set the same bits for one value.
void check_one_geometry(const Header &a, const Header &b, const char *verb) {
  check_one_hash(a, b, verb);
  if (a.is_chain() || b.is_chain())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filters of several links, or that grow, cannot be %s", verb),
                    errdetail("The numbers of links are %d and %d.", a.links(), b.links()),
                    errhint("Build both filters with one expected number of values and false "
                            "positive rate, and do not let them grow.")));
  if (!have_one_geometry(a, b))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%ss of different geometry cannot be %s",
                           noun_of(kind_of(a.geometry.layout)), verb),
                    errdetail("One has %s, the other %s.", describe(a), describe(b)),
                    errhint("Build both filters with the same expected number of values and false "
                            "positive rate.")));
}

// The header of two filters' union or intersection.
Header merged(const Header &a, const Header &b) {
  Header header = a;
  adopt_family(&header, b.element);
  header.flags |= b.flags;
  header.capacity = larger(a.capacity, b.capacity);
  return header;
}

// `a` with a changed header, and as a copy unless it may be changed in place.
OwnFilter changed(const Filter &a, const Header &header, bool in_place) {
  OwnFilter result = in_place ? state_to_change(a) : copy_filter(a);
  result.header = header;
  result.write_back();
  return result;
}

// A filter of ours that an aggregate made and that never had a value adds nothing to a union, not
// even its size or seed. One of another system's has an encoding, and is left out as an empty link.
bool adds_nothing(const Filter &filter) {
  const Header &header = filter.header;
  return !is_foreign(header.geometry.layout) && (header.flags & kFlagOwn) &&
         header.element.family == Family::none;
}

// Of two that add nothing: the one for more values, else the one whose bytes come first.
const Filter &union_of_nothing(const Filter &a, const Filter &b) {
  const uint64 of_a = a.header.capacity.values, of_b = b.header.capacity.values;
  if (of_a != of_b)
    return of_a > of_b ? a : b;
  return compare_payloads(a.value, b.value) <= 0 ? a : b;
}

// The header of two filters' union that keeps them as links.
Header linked(const Header &a, const Header &b) {
  Header header = a;
  adopt_family(&header, b.element);
  header.flags = (a.flags | b.flags) & kFlagGrow;
  header.capacity =
      larger(a.grows() ? a.capacity : Capacity{}, b.grows() ? b.capacity : Capacity{});
  return header;
}

void merge_tables(const Filter &a, const Filter &b, OwnFilter *result) {
  const Geometry &geometry = result->header.geometry;
  constexpr uint32 kBucketsStep = 64; // near full each may take 4 times 4000 kicks
  for (uint32 first = 0; first < geometry.units; first += kBucketsStep) {
    CHECK_FOR_INTERRUPTS();
    if (!cuckoo_merge(geometry, result->bitmap(), b.bitmap(), first,
                      Min(geometry.units - first, kBucketsStep)))
      raise_merge_full(cuckoo_stored(geometry, a.bitmap()), cuckoo_stored(geometry, b.bitmap()),
                       uint64{geometry.units} * kBucketSlots);
  }
}

// Of counting and cuckoo filters.
Filter add_up(const Filter &a, const Filter &b, bool in_place) {
  check_one_geometry(a.header, b.header, a.kind() == Kind::cuckoo ? "merged" : "united");
  Header header = merged(a.header, b.header);
  header.flags = a.header.flags & b.header.flags;
  OwnFilter result = changed(a, header, in_place);
  if (result.kind() == Kind::cuckoo)
    merge_tables(a, b, &result);
  else
    unite_counters(result.bitmap(), b.bitmap(), header.geometry.bytes());
  return result;
}

uint64 bits_of(const Filter &filter) {
  LinkView links[kMaxLinks];
  return bits_of(links, view_links(filter.payload(), filter.header, links));
}

// Takes a link into a bitmap of its geometry.
void unite_link(uint8 *bitmap, const LinkView &view) {
  const Size bytes = view.link.geometry.bytes();
  unite_bitmaps(bitmap, view.bitmap, bytes);
  if (view.other)
    unite_bitmaps(bitmap, view.other, bytes);
}

// Too many links of another system's filters: those of one geometry are OR-ed, as that system
// itself unites filters. What they were made for is then no longer known. Returns how many are
// left.
int unite_alike(LinkView *links, int count) {
  int united = 0;
  for (int first = 0, next; first < count; first = next) {
    const Geometry &geometry = links[first].link.geometry;
    for (next = first + 1; next < count && links[next].link.geometry == geometry;)
      next++;
    LinkView alike = links[first];
    if (next > first + 1) {
      auto *bitmap = static_cast<uint8 *>(palloc0(geometry.bytes()));
      for (int i = first; i < next; i++) {
        unite_link(bitmap, links[i]);
        alike.link.flags |= links[i].link.flags;
      }
      alike = {{geometry, alike.link.flags, {}}, bitmap, nullptr};
    }
    links[united++] = alike;
  }
  return united;
}

Filter unite_filters(const Filter &a, const Filter &b, bool in_place) {
  const bool without_a = adds_nothing(a), without_b = adds_nothing(b);
  if (without_a && without_b)
    return union_of_nothing(a, b);
  if (without_a || without_b)
    return without_a ? b : a;
  if (a.kind() != Kind::bloom)
    return add_up(a, b, in_place);
  check_one_hash(a.header, b.header, "united");

  if (have_one_geometry(a.header, b.header) && !((a.header.flags | b.header.flags) & kFlagOwn)) {
    OwnFilter result = changed(a, merged(a.header, b.header), in_place);
    unite_bitmaps(result.bitmap(), b.bitmap(), result.header.geometry.bytes());
    return result;
  }
  LinkView links[2 * kMaxLinks];
  int count = view_links(a.payload(), a.header, links);
  count += view_links(b.payload(), b.header, links + count);
  count = normalize_links(links, count, check_for_interrupts);
  if (count > kMaxLinks && is_foreign(a.header.geometry.layout))
    count = unite_alike(links, count);
  if (bits_of(links, count) > Max(bits_of(a), bits_of(b)))
    check_size(links, count);
  const Header header = linked(a.header, b.header);
  if (!in_place)
    return make_filter(header, links, count);
  OwnFilter state = state_to_change(a);
  return make_filter(header, links, count, &state);
}

Filter intersect_filters(const Filter &a, const Filter &b, bool in_place) {
  check_one_geometry(a.header, b.header, "intersected");
  Header header = merged(a.header, b.header);
  header.flags |= kFlagIntersection;
  if (is_open(a.header.element.family) || is_open(b.header.element.family)) {
    header.element = {scheme_of(header.geometry.layout, header.element.family).empty, 0};
    return make_filter(header);
  }
  OwnFilter result = changed(a, header, in_place);
  intersect_bitmaps(result.bitmap(), b.bitmap(), header.geometry.bytes());
  return result;
}

// An aggregate's step: its state is its own, and changed in place once it is in memory as a whole.
Datum step(FunctionCallInfo fcinfo, Kind kind,
           Filter (*combine)(const Filter &, const Filter &, bool)) {
  const Filter state = filter_arg(fcinfo, 0, kind);
  const bool in_place = AggCheckCallContext(fcinfo, nullptr) == AGG_CONTEXT_AGGREGATE &&
                        PointerGetDatum(state.value) == PG_GETARG_DATUM(0);
  return combine(state, filter_arg(fcinfo, 1, kind), in_place).datum();
}

// A NULL operand adds nothing.
Datum unite_arguments(FunctionCallInfo fcinfo, Kind kind) {
  if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
    PG_RETURN_NULL();
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(PG_ARGISNULL(0) ? 1 : 0));
  const Filter result =
      unite_filters(filter_arg(fcinfo, 0, kind), filter_arg(fcinfo, 1, kind), false);
  if (kind != Kind::cuckoo)
    check_overfill(result, Origin::united);
  return result.datum();
}

uint64 bits_united(const Filter &a, const Filter &b) {
  uint64 set = 0;
  for_each_part(a.bitmap(), a.header.geometry.bytes(),
                [&](const uint8 *bytes, Size at, Size length) {
                  set += count_union(*kernel, bytes, b.bitmap() + at, length);
                });
  return set;
}

// Of two filters, the numbers of distinct values. Not known of intersections.
struct Counts {
  bool known;
  double a, b, united;

  double common() const { return Max(a + b - united, 0.0); }
};

Counts counts_of(FunctionCallInfo fcinfo) {
  const Filter a = filter_arg(fcinfo, 0), b = filter_arg(fcinfo, 1);
  check_one_geometry(a.header, b.header, "compared");
  if ((a.header.flags | b.header.flags) & kFlagIntersection)
    return {false, 0, 0, 0};
  const Geometry &geometry = a.header.geometry;
  return {true, estimate_count(geometry, bits_set(a.bitmap(), geometry)),
          estimate_count(geometry, bits_set(b.bitmap(), geometry)),
          estimate_count(geometry, bits_united(a, b))};
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_compatible);
Datum bf_compatible(PG_FUNCTION_ARGS) {
  const Header a = filter_arg(fcinfo, 0).header, b = filter_arg(fcinfo, 1).header;
  PG_RETURN_BOOL(have_one_geometry(a, b) && have_one_scheme(a, b) &&
                 same_family(a.element, b.element) && a.seed == b.seed);
}

PG_FUNCTION_INFO_V1(bf_union);
Datum bf_union(PG_FUNCTION_ARGS) {
  return unite_arguments(fcinfo, Kind::bloom);
}

PG_FUNCTION_INFO_V1(cbf_union);
Datum cbf_union(PG_FUNCTION_ARGS) {
  return unite_arguments(fcinfo, Kind::counting);
}

PG_FUNCTION_INFO_V1(cf_merge);
Datum cf_merge(PG_FUNCTION_ARGS) {
  return unite_arguments(fcinfo, Kind::cuckoo);
}

PG_FUNCTION_INFO_V1(bf_intersect);
Datum bf_intersect(PG_FUNCTION_ARGS) {
  return intersect_filters(filter_arg(fcinfo, 0), filter_arg(fcinfo, 1), false).datum();
}

PG_FUNCTION_INFO_V1(bloomfilter_union_step);
Datum bloomfilter_union_step(PG_FUNCTION_ARGS) {
  return step(fcinfo, Kind::bloom, unite_filters);
}

PG_FUNCTION_INFO_V1(countingbloomfilter_union_step);
Datum countingbloomfilter_union_step(PG_FUNCTION_ARGS) {
  return step(fcinfo, Kind::counting, unite_filters);
}

PG_FUNCTION_INFO_V1(cuckoofilter_merge_step);
Datum cuckoofilter_merge_step(PG_FUNCTION_ARGS) {
  return step(fcinfo, Kind::cuckoo, unite_filters);
}

PG_FUNCTION_INFO_V1(bloomfilter_union_final);
Datum bloomfilter_union_final(PG_FUNCTION_ARGS) {
  check_overfill(filter_arg(fcinfo, 0), Origin::united);
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

PG_FUNCTION_INFO_V1(countingbloomfilter_union_final);
Datum countingbloomfilter_union_final(PG_FUNCTION_ARGS) {
  check_overfill(filter_arg(fcinfo, 0, Kind::counting), Origin::united);
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

PG_FUNCTION_INFO_V1(bloomfilter_intersect_step);
Datum bloomfilter_intersect_step(PG_FUNCTION_ARGS) {
  return step(fcinfo, Kind::bloom, intersect_filters);
}

PG_FUNCTION_INFO_V1(bf_fold);
Datum bf_fold(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  const int64 target = PG_GETARG_INT64(1);
  constexpr int64 kHead = VARHDRSZ + kHeaderBytes;
  if (filter.header.is_chain())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter of several links, or that grows, cannot be folded"),
                    errdetail("The number of links is %d.", filter.header.links()),
                    errhint("Fold filters before they are united or grow.")));
  Header header = filter.header;
  if (!fold_geometry(filter.header.geometry, target > kHead ? target - kHead : 0, &header.geometry))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter cannot be folded into " INT64_FORMAT " bytes", target),
                    errdetail("The smallest size that it can be folded to is %zu bytes.",
                              VARHDRSZ + header.payload_bytes())));
  const uint32 units = filter.header.geometry.units, adjacent = units / header.geometry.units;
  if (adjacent == 1)
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));

  OwnFilter folded = make_filter(header);
  const Size unit_bytes = header.geometry.unit_bytes();
  uint8 *to = folded.bitmap();
  const uint8 *from = filter.bitmap();
  if (is_flat(header.geometry.layout)) {
    for (uint32 part = 0; part < adjacent; part++)
      unite_bitmaps(to, from + part * header.geometry.bytes(), header.geometry.bytes());
    return folded.datum();
  }
  for (uint32 unit = 0; unit < units; unit++) {
    if (unit % (kStep / kLineBytes) == 0)
      CHECK_FOR_INTERRUPTS();
    unite(*kernel, to + unit / adjacent * unit_bytes, from + unit * unit_bytes, unit_bytes);
  }
  return folded.datum();
}

PG_FUNCTION_INFO_V1(bf_union_count);
Datum bf_union_count(PG_FUNCTION_ARGS) {
  const Counts counts = counts_of(fcinfo);
  if (!counts.known)
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(counts.united);
}

PG_FUNCTION_INFO_V1(bf_intersect_count);
Datum bf_intersect_count(PG_FUNCTION_ARGS) {
  const Counts counts = counts_of(fcinfo);
  if (!counts.known || std::isinf(counts.united))
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(counts.common());
}

PG_FUNCTION_INFO_V1(bf_jaccard);
Datum bf_jaccard(PG_FUNCTION_ARGS) {
  const Counts counts = counts_of(fcinfo);
  if (!counts.known || std::isinf(counts.united) || counts.united == 0)
    PG_RETURN_NULL();
  PG_RETURN_FLOAT8(counts.common() / counts.united);
}

// The operators | and & of filters that have none: with another type, or of which values can be
// removed.
PG_FUNCTION_INFO_V1(filter_unlike);
Datum filter_unlike(PG_FUNCTION_ARGS) {
  Kind kinds[2] = {};
  for (int i = 0; i < 2; i++)
    is_filter_type(getBaseType(get_fn_expr_argtype(fcinfo->flinfo, i)), &kinds[i]);
  if (kinds[0] == kinds[1])
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("%ss have no operators | and &", noun_of(kinds[0])),
                    hint_at_filters(kinds[0])));
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("filters of different types cannot be united or intersected: %s and %s",
                  type_of(kinds[0]), type_of(kinds[1])),
           kinds[0] == Kind::cuckoo || kinds[1] == Kind::cuckoo
               ? errhint("A cuckoofilter can be merged with another one, by cf_merge(), and with "
                         "nothing else.")
               : errhint("Cast the countingbloomfilter to bloomfilter.")));
}

// The operator && of all kinds, there to say what else is.
PG_FUNCTION_INFO_V1(filter_overlaps);
Datum filter_overlaps(PG_FUNCTION_ARGS) {
  const Kind kind = any_filter_arg(fcinfo, 0).kind();
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("%ss do not tell whether they overlap", noun_of(kind)), hint_at_filters(kind)));
}

SQL_FUNCTIONS_END
