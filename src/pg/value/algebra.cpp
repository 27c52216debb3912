// See algebra.hpp. This file decides how two filters are combined, writes the header of the result,
// and raises the errors if they cannot be combined. The work on bits is in bitmaps.hpp and core/.

#include "pg/value/algebra.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/value/chain.hpp"
#include "pg/value/new_filter.hpp"

namespace bloomfilter {
namespace {

char *describe(const Geometry &geometry, Family family) {
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
    return psprintf(UINT64_FORMAT " counters with %d hash functions",
                    geometry.bits() / kCounterBits, geometry.k);
  case Structure::buckets:
    return psprintf("%u buckets of fingerprints of %d bits", geometry.units,
                    geometry.fingerprint_bits());
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    break;
  }
  return psprintf("%zu bytes of %s with %d hash functions", geometry.bytes(),
                  layout_name(geometry.layout, family), geometry.k);
}

bool have_one_scheme(const Header &a, const Header &b) {
  return &scheme_of(a.geometry.layout, a.element_type.family) ==
         &scheme_of(b.geometry.layout, b.element_type.family);
}

// ERROR 42804 or 22023 if one value can have different hashes in the two filters.
void check_one_hash(const Header &a, const Header &b, const char *verb) {
  if (!have_one_scheme(a, b))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filters of different layouts cannot be %s: \"%s\" and \"%s\"",
                           verb, layout_name(profile_of(a.geometry.layout), a.element_type.family),
                           layout_name(profile_of(b.geometry.layout), b.element_type.family)),
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

// Called within ereport(), if two filters differ in geometry, or if one of them has several links
// or grows.
int hint_at_one_geometry(const Header &a, const Header &b) {
  if (a.is_chain() || b.is_chain())
    return errhint("Build both filters with one expected number of values and false positive rate, "
                   "and do not let them grow.");
  return errhint("Build both filters with the same expected number of values and false positive "
                 "rate.");
}

bool have_one_geometry(const Header &a, const Header &b) {
  return !a.is_chain() && !b.is_chain() && a.geometry == b.geometry;
}

// The header of an intersection, or of a union whose links are not kept.
Header combined(const Header &a, const Header &b) {
  Header header = a;
  adopt_family(&header, b.element_type);
  header.flags = (a.flags | b.flags) & ~kOtherFlags;
  header.capacity = larger(a.capacity, b.capacity);
  return header;
}

// Returns the filter that becomes the result, with the result's header: the state itself, or a copy
// of the first filter.
NewFilter begin_result(const FirstOperand &first, const Header &header) {
  NewFilter result = first.is_state ? NewFilter{first.filter} : copy_filter(first.filter);
  result.header = header;
  result.write_back();
  return result;
}

// True if a filter adds nothing to a union, not even its size or seed. This is a filter of our own
// layouts that an aggregate made and that never had a value. A filter of another system's layout
// has an encoding, and the union must have the same encoding. So such a filter counts here; if it
// is empty, the union leaves out its link later.
bool adds_nothing(const Filter &filter) {
  const Header &header = filter.header;
  return !is_foreign(header.geometry.layout) && header.is_self_sized() &&
         header.element_type.family == Family::none;
}

// The union of two filters that add nothing is the one that was made for more values. If both were
// made for the same number, it is the one whose bytes come first.
const Filter &union_of_nothing(const Filter &a, const Filter &b) {
  const uint64 of_a = a.header.capacity.values, of_b = b.header.capacity.values;
  if (of_a != of_b)
    return of_a > of_b ? a : b;
  return compare_payloads(a.value, b.value) <= 0 ? a : b;
}

// The header of a union whose links are kept.
Header linked(const Header &a, const Header &b) {
  Header header = a;
  adopt_family(&header, b.element_type);
  header.flags = (a.flags | b.flags) & kFlagGrow;
  header.capacity =
      larger(a.grows() ? a.capacity : Capacity{}, b.grows() ? b.capacity : Capacity{});
  return header;
}

void unite_tables(const Filter &b, NewFilter *result) {
  const Geometry &geometry = result->header.geometry;
  // A bucket may take 4 times 4000 kicks if the table is nearly full, so interrupts are checked for
  // every few buckets.
  constexpr uint32 kBucketsStep = 64;
  for (uint32 first = 0; first < geometry.units; first += kBucketsStep) {
    CHECK_FOR_INTERRUPTS();
    if (!cuckoo_unite(geometry, result->bitmap(), b.bitmap(), first,
                      Min(geometry.units - first, kBucketsStep)))
      raise_union_full(cuckoo_stored(geometry, result->bitmap()),
                       uint64{geometry.units} * kBucketSlots);
  }
}

// The union of two counting filters or of two cuckoo filters.
Filter add_up(const FirstOperand &first, const Filter &second) {
  const Header &a = first.filter.header, &b = second.header;
  check_compatible(a, b, "united");
  Header header = combined(a, b);
  header.flags = a.flags & b.flags;
  NewFilter result = begin_result(first, header);
  if (structure_of(header.geometry.layout) == Structure::buckets)
    unite_tables(second, &result);
  else
    unite_counters(result.bitmap(), second.bitmap(), header.geometry.bytes());
  return result;
}

uint64 bits_of(const Filter &filter) {
  LinkView links[kMaxLinks];
  return bits_of(links, view_links(filter.payload(), filter.header, links));
}

// Writes the links of the union of two bloomfilters, in their normal form, as for compared_links().
// Returns their number.
int united_links(const Filter &a, const Filter &b, LinkView *links) {
  int count = view_links(a.payload(), a.header, links);
  count += view_links(b.payload(), b.header, links + count);
  return normalize_links(links, count, check_for_interrupts);
}

// ORs the bitmaps of a link into a bitmap of the same geometry.
void unite_link(uint8 *bitmap, const LinkView &view) {
  const Size bytes = view.link.geometry.bytes();
  unite_bitmaps(bitmap, view.bitmap, bytes);
  if (view.other)
    unite_bitmaps(bitmap, view.other, bytes);
}

// ORs the links of each geometry into one link. This is done only for filters of other systems that
// have too many links together, and is how those systems unite filters themselves. Afterwards it is
// no longer known what the united filters were made for. Returns the number of links that are left.
int unite_alike(LinkView *links, int count) {
  int united = 0;
  for_each_geometry(links, count, [&](int first, int number) {
    LinkView alike = links[first];
    if (number > 1) {
      const Geometry geometry = alike.link.geometry;
      auto *bitmap = make_zeroed_array<uint8>(geometry.bytes());
      for (int i = first; i < first + number; i++) {
        unite_link(bitmap, links[i]);
        alike.link.flags |= links[i].link.flags;
      }
      alike = {{geometry, alike.link.flags, {}}, bitmap, nullptr};
    }
    links[united++] = alike;
  });
  return united;
}

// The union of two bloomfilters in which each value has the same hash. The result keeps their
// links.
Filter unite_as_links(const FirstOperand &first, const Filter &second) {
  const Filter &a = first.filter, &b = second;
  LinkView links[2 * kMaxLinks];
  int count = united_links(a, b, links);
  if (count > kMaxLinks && is_foreign(a.header.geometry.layout))
    count = unite_alike(links, count);
  if (bits_of(links, count) > Max(bits_of(a), bits_of(b)))
    check_size(links, count);
  const Header header = linked(a.header, b.header);
  NewFilter state = {a};
  if (first.is_state && unite_links_into(&state, header, links, count))
    return state;
  return make_of_links(header, links, count);
}

} // namespace

bool are_compatible(const Header &a, const Header &b) {
  return have_one_geometry(a, b) && have_one_scheme(a, b) &&
         same_family(a.element_type, b.element_type) && a.seed == b.seed;
}

void check_compatible(const Header &a, const Header &b, const char *verb) {
  check_one_hash(a, b, verb);
  if (a.is_chain() || b.is_chain())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filters of several links, or that grow, cannot be %s", verb),
                    errdetail("The numbers of links are %d and %d.", a.links(), b.links()),
                    hint_at_one_geometry(a, b)));
  if (!have_one_geometry(a, b))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("%ss of different geometry cannot be %s", noun_of(kind_of(a.geometry.layout)),
                    verb),
             errdetail("One has %s, the other %s.", describe(a.geometry, a.element_type.family),
                       describe(b.geometry, b.element_type.family)),
             hint_at_one_geometry(a, b)));
}

int compared_links(const Filter &a, const Filter &b, LinkView *links) {
  const bool without_a = adds_nothing(a);
  if (!without_a && !adds_nothing(b))
    check_one_hash(a.header, b.header, "compared");
  const int count = united_links(a, b, links);
  const Geometry &least = links[0].link.geometry, &largest = links[count - 1].link.geometry;
  if (least == largest)
    return count;
  const Family family = (without_a ? b : a).header.element_type.family;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("bloom filters of different geometry cannot be compared"),
                  errdetail(a.header.is_chain() || b.header.is_chain()
                                ? "One of their links has %s, another %s."
                                : "One has %s, the other %s.",
                            describe(least, family), describe(largest, family)),
                  hint_at_one_geometry(a.header, b.header)));
}

Filter unite_filters(const FirstOperand &first, const Filter &second) {
  const Filter &a = first.filter, &b = second;
  const bool without_a = adds_nothing(a), without_b = adds_nothing(b);
  if (without_a && without_b)
    return union_of_nothing(a, b);
  if (without_a || without_b)
    return without_a ? b : a;
  switch (structure_of(a.header.geometry.layout)) {
  case Structure::counters:
  case Structure::buckets:
    return add_up(first, second);
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    break;
  }
  check_able<Ability::unites_by_or>(a.header, "be united");
  check_one_hash(a.header, b.header, "united");
  if (!have_one_geometry(a.header, b.header) ||
      ((a.header.flags | b.header.flags) & kFlagSelfSized))
    return unite_as_links(first, second);
  NewFilter result = begin_result(first, combined(a.header, b.header));
  unite_bitmaps(result.bitmap(), b.bitmap(), result.header.geometry.bytes());
  return result;
}

Filter intersect_filters(const FirstOperand &first, const Filter &second) {
  const Header &a = first.filter.header, &b = second.header;
  check_able<Ability::unites_by_or>(a, "be intersected");
  check_compatible(a, b, "intersected");
  Header header = combined(a, b);
  header.flags |= kFlagIntersection;
  if (is_open(a.element_type.family) || is_open(b.element_type.family)) {
    header.element_type = {scheme_of(header.geometry.layout, header.element_type.family).empty, 0};
    return make_filter(header);
  }
  NewFilter result = begin_result(first, header);
  intersect_bitmaps(result.bitmap(), second.bitmap(), header.geometry.bytes());
  return result;
}

} // namespace bloomfilter
