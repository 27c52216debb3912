// Making filters, adding to them and asking them.
//
// Every function has the same order: take the filter, resolve the element type, hash, check that
// filter and element fit, touch the bits, return. No argument is ever changed.

#include "pg/server.hpp"

#include "core/sizing.hpp"
#include "pg/call_site.hpp"
#include "pg/element.hpp"
#include "pg/filter.hpp"
#include "pg/overfill.hpp"
#include "pg/row.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

using namespace bloomfilter;

namespace {

bool contains_any(ProbedFilter *filter, const Hashes &hashes) {
  bool found = hashes.any;
  for (int i = 0; i < hashes.count; i++)
    found |= filter->contains(hashes.digest[i]);
  return found;
}

bool contains_value(FunctionCallInfo fcinfo, int filter_argument, int value_argument) {
  ProbedFilter *filter = probed_filter(fcinfo, filter_argument);
  Element *element = argument_element(fcinfo, value_argument);
  const Datum value = PG_GETARG_DATUM(value_argument);
  if (unlikely(is_foreign(filter->header.geometry.layout)))
    return contains_any(filter, probe_of(fcinfo, filter->header, value_argument, Use::ask).hashes);
  const uint64 hash = hash_element(element, value, filter->header.seed);
  check_element(filter->header, element, Use::ask);
  bool found = filter->contains(hash);
  if (unlikely(element->varying)) {
    const SecondHash second = second_hash(element, value, filter->header.seed);
    found |= second.exists && filter->contains(second.hash);
  }
  return found;
}

bool contains_literal(FunctionCallInfo fcinfo, int filter_argument, int literal_argument) {
  ProbedFilter *filter = probed_filter(fcinfo, filter_argument);
  return contains_any(filter, literal_hashes(fcinfo, filter->header, literal_argument, Use::ask));
}

// An argument plus hashes.
//
// Hashes go into the largest link, and only if all links deny them. A link that grows gets no more
// once as many of its bits are set as its capacity sets on average: then comes the next one.
class Addition : public Draft {
public:
  explicit Addition(FunctionCallInfo fcinfo)
      : Draft(fcinfo, Kind::bloom), room_(0), pending_count_(0), pending_limit_(0) {}

  void add(const Header &member, const Hashes &hashes) {
    if (unlikely(hashes.no_value))
      raise_no_value(header());
    for (int i = 0; i < hashes.count; i++)
      if (!is_known(hashes.digest[i]))
        push(member, hashes.digest[i]);
  }

  Datum datum() {
    finish();
    return Draft::datum();
  }

  // Of a filter that was changed: is it overfilled now?
  void check() {
    finish();
    if (changed())
      check_overfill(filter());
  }

private:
  // In one bitmap, setting bits again is cheaper than asking.
  bool is_known(const Digest &digest) const {
    return (!changed() || header().is_chain()) && filter().contains(digest);
  }
  void push(const Header &member, const Digest &digest) {
    if (!changed())
      change(member);
    if (pending_count_ == pending_limit_) {
      flush();
      if (is_known(digest)) // by what was pending: it must not begin a link
        return;
      make_room();
    }
    pending_[pending_count_++] = digest.first;
    if (digest_words(header().geometry.layout) > 1)
      pending_[pending_count_++] = digest.second;
  }
  void change(const Header &member) {
    OwnFilter &filter = own();
    adopt_family(&filter.header, member);
    filter.write_back();
    room_ = filter.header.grows() ? 0 : PG_UINT64_MAX;
  }
  // How many additions certainly leave the largest link less than full.
  uint64 room_in_link() const {
    const Link link = filter().link();
    const uint64 full = full_bits(link);
    const uint64 set = bits_set(filter().bitmap(), link.geometry);
    return set >= full ? 0 : (full - set + link.geometry.hashes - 1) / link.geometry.hashes;
  }
  void make_room() {
    if (room_ == 0)
      room_ = room_in_link();
    if (room_ == 0) {
      own() = grown(filter());
      room_ = room_in_link();
    }
    pending_limit_ = Min(room_, lengthof(pending_));
  }
  // Many hashes at a time, so that their lines are prefetched.
  void flush() {
    if (pending_count_ > 0)
      own().add_many(pending_, pending_count_);
    room_ -= pending_count_;
    pending_count_ = pending_limit_ = 0;
  }
  void finish() {
    flush();
    if (changed())
      own() = normalized(own());
  }

  uint64 room_; // additions that may come before the largest link is looked at
  Size pending_count_, pending_limit_; // in words
  uint64 pending_[256];
};

Addition add_value(FunctionCallInfo fcinfo) {
  Addition addition(fcinfo);
  const Probe probe = probe_of(fcinfo, addition.header(), 1, Use::add);
  addition.add(member_header(probe.element), probe.hashes);
  return addition;
}

Addition add_literal(FunctionCallInfo fcinfo) {
  Addition addition(fcinfo);
  addition.add(member_header(Family::text), literal_hashes(fcinfo, addition.header(), 1, Use::add));
  return addition;
}

// What bf_hash() gives means nothing to filters of other systems.
void check_hashed_alike(const Header &header) {
  if (is_foreign(header.geometry.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bloom filters of layout \"%s\" do not take hashes",
                           layout_name(header.geometry.layout)),
                    errhint("Add or ask the value itself.")));
}

Addition add_hash(FunctionCallInfo fcinfo) {
  Addition addition(fcinfo);
  check_hashed_alike(addition.header());
  addition.add(member_header(Family::hash),
               {{{static_cast<uint64>(PG_GETARG_INT64(1)), 0}}, 1, false, false});
  return addition;
}

// Many values at once, which may be too many.
Addition add_items(FunctionCallInfo fcinfo) {
  Addition addition(fcinfo);
  const Items items = items_of(fcinfo, 1);
  for (int i = 0; i < items.count; i++) {
    CHECK_FOR_INTERRUPTS();
    if (items.nulls[i])
      continue;
    const Hashes hashes = hash_item(addition.header(), items, i, Use::add);
    addition.add(member_header(items.element), hashes);
  }
  addition.check();
  return addition;
}

// NULL never destroys a filter: a NULL filter gives NULL, a NULL addition the filter as it is.
Datum add_or_keep(FunctionCallInfo fcinfo, Addition (*add)(FunctionCallInfo)) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  if (PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  return add(fcinfo).datum();
}

// The same with the result of bf_put, the row (filter, changed).
Datum put_or_keep(FunctionCallInfo fcinfo, Addition (*add)(FunctionCallInfo)) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  Row row(fcinfo);
  if (PG_ARGISNULL(1)) {
    row.add(PG_GETARG_DATUM(0));
    row.add(BoolGetDatum(false));
  } else {
    Addition addition = add(fcinfo);
    row.add(addition.datum());
    row.add(BoolGetDatum(addition.changed()));
  }
  return row.datum();
}

// Asks for elements from `first` on, as many as make a batch, whose lines are then prefetched.
// Returns the element behind the last. NULL gets the answer false.
int ask_items(ProbedFilter *filter, const Items &items, int first, bool *answers) {
  uint64 hashes[kAskedAtOnce];
  int owners[kAskedAtOnce], count = 0, item = first;
  const bool foreign = is_foreign(filter->header.geometry.layout);
  CHECK_FOR_INTERRUPTS();
  for (; item < items.count && item < first + kAskedAtOnce && count + kMaxDigests <= kAskedAtOnce;
       item++) {
    answers[item] = false;
    if (items.nulls[item])
      continue;
    const Hashes of_item = hash_item(filter->header, items, item, Use::ask);
    if (foreign) {
      answers[item] = contains_any(filter, of_item);
      continue;
    }
    for (int i = 0; i < of_item.count; i++) {
      owners[count] = item;
      hashes[count++] = of_item.digest[i].first;
    }
  }
  bool found[kAskedAtOnce];
  filter->contains_many(hashes, count, found);
  for (int i = 0; i < count; i++)
    answers[owners[i]] |= found[i];
  return item;
}

// The other systems know no links.
void check_may_grow(const Header &header) {
  if (is_foreign(header.geometry.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bloom filters of layout \"%s\" cannot grow",
                           layout_name(header.geometry.layout))));
}

// The filter that is asked for an array's elements, many at a time as only a bloomfilter can be.
ProbedFilter *filter_for_items(FunctionCallInfo fcinfo) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_kind_of(filter->header, Kind::bloom);
  return filter;
}

// Is the answer `wanted` for any element that is not NULL?
bool any_item_is(FunctionCallInfo fcinfo, bool wanted) {
  ProbedFilter *filter = filter_for_items(fcinfo);
  const Items items = items_of(fcinfo, 1);
  auto *answers = static_cast<bool *>(palloc(items.count + 1));
  for (int item = 0; item < items.count;)
    for (const int end = ask_items(filter, items, item, answers); item < end; item++)
      if (!items.nulls[item] && answers[item] == wanted)
        return true;
  return false;
}

} // namespace

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_create);
Datum bf_create(PG_FUNCTION_ARGS) {
  const int64 expected = PG_GETARG_INT64(0);
  const double rate = PG_GETARG_FLOAT8(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));
  const bool grow = PG_GETARG_BOOL(3);
  const Layout layout = layout_for(PG_GETARG_TEXT_PP(4));

  if (is_foreign(layout) && seed != 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filters of layout \"%s\" have no seed, but " INT64_FORMAT " was given",
                    layout_name(layout), static_cast<int64>(seed))));
  Header header =
      empty_header(geometry_for(layout, expected, rate), static_cast<uint64>(expected), rate, seed);
  if (!grow)
    return make_filter(header).datum();
  check_may_grow(header);
  header.flags = kFlagGrow;
  const double first = first_rate(rate);
  const LinkView link = {
      {geometry_for(layout, expected, first), kFlagOwn, header.expected, first}, nullptr, nullptr};
  check_size(&link, 1);
  return make_filter(header, &link, 1).datum();
}

PG_FUNCTION_INFO_V1(bf_create_by_size);
Datum bf_create_by_size(PG_FUNCTION_ARGS) {
  const int64 bits = PG_GETARG_INT64(0);
  const int32 hashes = PG_GETARG_INT32(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));

  if (bits < 1 || static_cast<uint64>(bits) > kMaxBits)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of bits " INT64_FORMAT " is out of range", bits),
                    errdetail("It must be between 1 and " UINT64_FORMAT ".", kMaxBits)));
  if (hashes < 1 || hashes > kMaxHashes)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of hash functions %d is out of range", hashes),
                    errdetail("It must be between 1 and %d.", kMaxHashes)));
  const Geometry geometry = size_for_bits(static_cast<uint64>(bits), hashes);
  return make_filter(empty_header(geometry, 0, 0, seed)).datum();
}

// From an asked rate on, growth adds three times the rate of the link that it starts from.
PG_FUNCTION_INFO_V1(bf_growable);
Datum bf_growable(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  if (filter.header.grows())
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));

  check_may_grow(filter.header);
  const Asked asked = asked_of(filter);
  if (asked.expected == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter without a capacity cannot grow"),
                    errhint("Use bf_create(expected, fpr, grow => true).")));
  const double reached = asked.rate + 3 * filter.link().rate;
  if (reached > kMaxRate)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filter with a false positive rate of %g cannot grow", asked.rate),
             errdetail("It could reach a rate of %g, and %g is the highest.", reached, kMaxRate),
             errhint("Use bf_create(expected, fpr, grow => true).")));

  Header header = filter.header;
  header.flags = kFlagGrow;
  header.expected = Min(asked.expected, kMaxBits);
  header.rate = reached;
  LinkView links[kMaxLinks];
  return make_filter(header, links, view_links(filter.payload(), filter.header, links)).datum();
}

PG_FUNCTION_INFO_V1(bf_clear);
Datum bf_clear(PG_FUNCTION_ARGS) {
  const Filter filter = filter_arg(fcinfo, 0);
  LinkView largest = {filter.link(), nullptr, nullptr};
  largest.link.flags &= kFlagOwn;
  return make_filter(filter.header, &largest, 1).datum();
}

PG_FUNCTION_INFO_V1(bf_add);
Datum bf_add(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_value);
}

PG_FUNCTION_INFO_V1(bf_add_literal);
Datum bf_add_literal(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_literal);
}

PG_FUNCTION_INFO_V1(bf_add_all);
Datum bf_add_all(PG_FUNCTION_ARGS) {
  return add_or_keep(fcinfo, add_items);
}

PG_FUNCTION_INFO_V1(bf_put);
Datum bf_put(PG_FUNCTION_ARGS) {
  return put_or_keep(fcinfo, add_value);
}

PG_FUNCTION_INFO_V1(bf_put_literal);
Datum bf_put_literal(PG_FUNCTION_ARGS) {
  return put_or_keep(fcinfo, add_literal);
}

PG_FUNCTION_INFO_V1(bf_contains);
Datum bf_contains(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_value(fcinfo, 0, 1));
}

PG_FUNCTION_INFO_V1(bf_contains_literal);
Datum bf_contains_literal(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_literal(fcinfo, 0, 1));
}

PG_FUNCTION_INFO_V1(bf_contained);
Datum bf_contained(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_value(fcinfo, 1, 0));
}

PG_FUNCTION_INFO_V1(bf_contained_literal);
Datum bf_contained_literal(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(contains_literal(fcinfo, 1, 0));
}

PG_FUNCTION_INFO_V1(bf_contains_any);
Datum bf_contains_any(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(any_item_is(fcinfo, true));
}

PG_FUNCTION_INFO_V1(bf_contains_all);
Datum bf_contains_all(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(!any_item_is(fcinfo, false));
}

PG_FUNCTION_INFO_V1(bf_contains_each);
Datum bf_contains_each(PG_FUNCTION_ARGS) {
  ProbedFilter *filter = filter_for_items(fcinfo);
  const Items items = items_of(fcinfo, 1);
  if (items.count == 0)
    PG_RETURN_ARRAYTYPE_P(construct_empty_array(BOOLOID));

  auto *answers = static_cast<bool *>(palloc(items.count));
  for (int item = 0; item < items.count;)
    item = ask_items(filter, items, item, answers);
  auto *datums = static_cast<Datum *>(palloc(items.count * sizeof(Datum)));
  for (int i = 0; i < items.count; i++)
    datums[i] = BoolGetDatum(answers[i]);
  int dimension = items.count, lower_bound = 1;
  PG_RETURN_ARRAYTYPE_P(construct_md_array(datums, items.nulls, 1, &dimension, &lower_bound,
                                           BOOLOID, sizeof(bool), true, TYPALIGN_CHAR));
}

PG_FUNCTION_INFO_V1(bf_hash);
Datum bf_hash(PG_FUNCTION_ARGS) {
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(1));
  const uint64 hash = hash_element(argument_element(fcinfo, 0), PG_GETARG_DATUM(0), seed);
  PG_RETURN_INT64(static_cast<int64>(hash));
}

PG_FUNCTION_INFO_V1(bf_add_hash);
Datum bf_add_hash(PG_FUNCTION_ARGS) {
  return add_hash(fcinfo).datum();
}

PG_FUNCTION_INFO_V1(bf_contains_hash);
Datum bf_contains_hash(PG_FUNCTION_ARGS) {
  ProbedFilter *filter = probed_filter(fcinfo, 0);
  check_hashed_alike(filter->header);
  PG_RETURN_BOOL(filter->contains(static_cast<uint64>(PG_GETARG_INT64(1))));
}

SQL_FUNCTIONS_END
