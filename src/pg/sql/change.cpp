// The SQL functions that add values to a filter or remove them: add, add_all, put, remove.
//
// Each function hashes the value, checks that it fits the filter, changes a copy of the filter and
// returns the copy. It never changes an argument. If there is nothing to change, it returns the
// argument itself. So an UPDATE that adds a known value does not store the filter's TOAST data
// again.
//
// A value with two hashes is added under both. It is removed only if both are there. When the last
// value is removed, the filter loses its element type, as before its first value.
//
// A call copies the whole filter to add one value. For many values, use add_all or an aggregate.

#include "pg/server.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/chain.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/overfill.hpp"
#include "pg/value/result_row.hpp"

using namespace bloomfilter;

namespace {

bool all_zero(const uint8 *bytes, Size length) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

bool has_no_values(const Filter &filter) {
  const bool has_kicks = structure_of(filter.header.geometry.layout) == Structure::buckets;
  const Size before = has_kicks ? kKicksBytes : 0;
  bool empty = true;
  for_each_step(filter.bitmap() + before, filter.header.geometry.bytes() - before,
                [&empty](const uint8 *bytes, Size, Size length) {
                  empty = empty && all_zero(bytes, length);
                });
  return empty;
}

// A value to add, remove or look up: its element type and its digests.
struct Member {
  ElementType type;
  Digests digests;
};
using MemberOf = Member(FunctionCallInfo, const Header &filter);

Member value_member_of(FunctionCallInfo fcinfo, const Header &filter) {
  const HashedArgument argument = hashed_argument(fcinfo, filter, 1, Purpose::change);
  return {*argument.value_type, argument.digests};
}

Member literal_member_of(FunctionCallInfo fcinfo, const Header &filter) {
  return {ElementType{Family::text, 0}, cached_literal_digests(fcinfo, filter, 1, Purpose::change)};
}

Member hash_member_of(FunctionCallInfo fcinfo, const Header &filter) {
  check_hashed_alike(filter);
  Digests digests = no_digests();
  digests.digest[digests.count++] = {static_cast<uint64>(PG_GETARG_INT64(1)), 0};
  return {ElementType{Family::hash, 0}, digests};
}

// A change to the filter that is the first argument. The filter is copied before the first change.
//
// A Bloom filter adds digests to its largest link. It adds only digests that no link has yet. It
// collects digests and adds many at a time, so that their lines are prefetched.
//
// In a filter that grows, a link is full when it has as many set bits as its capacity sets on
// average. Then another link is added.
class Change {
public:
  Change(FunctionCallInfo fcinfo, Kind kind)
      : argument_(filter_arg(fcinfo, 0, kind)), layout_(argument_.header.geometry.layout), copy_(),
        changed_(false), normal_(true), datum_(PG_GETARG_DATUM(0)), room_(0), pending_count_(0),
        pending_limit_(0) {}

  const Header &header() const { return filter().header; }

  bool contains_all_digests(const Digests &digests) const {
    bool all = !digests.no_value;
    for (int i = 0; i < digests.count; i++)
      all = all && filter().contains(digests.digest[i]);
    return all;
  }

  void add(const Member &member) {
    check_able<Ability::adds>(header(), "get more values");
    if (unlikely(member.digests.no_value))
      raise_no_value(header());
    if (member.digests.count == 0)
      adopt(member.type);
    for (int i = 0; i < member.digests.count; i++) {
      const Digest &digest = member.digests.digest[i];
      switch (structure_of(layout_)) {
      case Structure::bitmap:
      case Structure::foreign_bitmap:
        if (!is_known(digest))
          push(member.type, digest);
        break;
      case Structure::counters:
        adopt(member.type);
        copy_.add_many(&digest.first, 1);
        break;
      case Structure::buckets:
        adopt(member.type);
        store(digest.first);
        break;
      }
    }
  }

  // Removes a value from a counting or cuckoo filter. If the value is not there, the filter stays
  // unchanged and the result is false.
  bool remove(const Digests &digests) {
    check_able<Ability::removes>(header(), "lose values");
    if (!contains_all_digests(digests))
      return false;
    begin();
    for (int i = 0; i < digests.count; i++) {
      if (!copy_.contains(digests.digest[i])) { // removing the digest before removed it, too
        changed_ = false;
        return false;
      }
      if (structure_of(layout_) == Structure::counters)
        counting_remove(header().geometry, copy_.bitmap(), digests.digest[i].first);
      else
        cuckoo_remove(header().geometry, copy_.bitmap(), digests.digest[i].first);
    }
    if (has_no_values(copy_)) {
      copy_.header.element_type = {};
      copy_.write_back();
    }
    return true;
  }

  // Called after many additions: checks whether the filter has too many values now.
  void check() {
    finish();
    if (changed_)
      check_overfill(copy_, Origin::added);
  }
  // The same check after one addition.
  void check_one(const Digests &digests) {
    finish();
    if (changed_ && digests.count > 0)
      check_overfill_after_one(copy_, digests.digest[0].first);
  }

  Datum datum() {
    finish();
    return changed_ ? copy_.datum() : datum_;
  }

private:
  const Filter &filter() const { return changed_ ? copy_ : argument_; }

  void begin() {
    if (changed_)
      return;
    copy_ = copy_filter(argument_);
    changed_ = true;
    if (header().is_self_sized() &&
        is_empty()) { // from now on, it is like a filter that was made empty
      copy_.header.flags &= ~kFlagSelfSized;
      copy_.write_back();
    }
    room_ = header().grows() ? 0 : PG_UINT64_MAX;
  }
  // A filter of another system may have a family before its first value, so its bits decide.
  bool is_empty() const {
    return is_open(header().element_type.family) ||
           (is_foreign(layout_) && has_no_values(argument_));
  }
  void adopt(const ElementType &type) {
    begin();
    if (is_open(header().element_type.family)) {
      adopt_family(&copy_.header, type);
      copy_.write_back();
    }
  }

  // True if adding a digest would change nothing. Returns false for a changed filter that is no
  // chain, without a probe: setting the bits again is cheaper.
  bool is_known(const Digest &digest) const {
    return (!changed_ || header().is_chain()) && filter().contains(digest);
  }
  void push(const ElementType &type, const Digest &digest) {
    adopt(type);
    normal_ = false;
    if (pending_count_ == pending_limit_) {
      flush();
      if (is_known(digest)) // the flush added it, so it must not cause another link
        return;
      make_room();
    }
    pending_[pending_count_++] = digest.first;
    if (digest_size(layout_) > 1)
      pending_[pending_count_++] = digest.second;
  }
  // The number of additions that cannot overfill the largest link; 0 if the link is full.
  uint64 room_in_link() const {
    const Link link = copy_.link();
    const uint64 full = full_bits(link);
    const uint64 set = bits_set(copy_.bitmap(), link.geometry);
    return set >= full ? 0 : (full - set + link.geometry.k - 1) / link.geometry.k;
  }
  void make_room() {
    if (room_ == 0)
      room_ = room_in_link();
    if (room_ == 0) {
      copy_ = grown(copy_);
      room_ = room_in_link();
    }
    pending_limit_ = Min(room_, lengthof(pending_));
  }
  void flush() {
    if (pending_count_ > 0)
      copy_.add_many(pending_, pending_count_);
    room_ -= pending_count_;
    pending_count_ = pending_limit_ = 0;
  }
  void finish() {
    if (normal_)
      return;
    flush();
    copy_ = normalized(copy_);
    normal_ = true;
  }

  void store(uint64 hash) {
    const Geometry &geometry = header().geometry;
    const CuckooPlace place = cuckoo_place(geometry, hash);
    if (cuckoo_add(geometry, copy_.bitmap(), place))
      return;
    const int copies = cuckoo_copies(geometry, copy_.bitmap(), hash);
    if (copies == cuckoo_max_copies(place))
      raise_too_many_copies(copies);
    raise_full(header().capacity.values, cuckoo_stored(geometry, copy_.bitmap()) + 1);
  }

  Filter argument_;
  Layout layout_; // the argument's; the largest link may have another one of the same profile
  NewFilter copy_;
  bool changed_; // `copy_` is set, and is the result
  bool normal_;  // `copy_` is in normal form, and nothing is pending
  Datum datum_;  // the argument

  uint64 room_; // digests that may be added before the set bits are counted again
  Size pending_count_, pending_limit_; // in numbers; a digest can be two numbers
  uint64 pending_[256];
};

// Calls use(change) and returns the changed filter. For a NULL value, returns the filter unchanged.
template <typename Use> Datum change_or_keep(FunctionCallInfo fcinfo, Kind kind, Use use) {
  if (PG_ARGISNULL(1))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  Change change(fcinfo, kind);
  use(&change);
  return change.datum();
}

// Raises 22004 for a NULL filter. Most functions return NULL for NULL. Here, an UPDATE that adds to
// a NULL filter would then succeed and lose the value.
void check_is_there(FunctionCallInfo fcinfo, Kind kind) {
  if (PG_ARGISNULL(0))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("cannot add to a %s that is null", noun_of(kind)),
                    errhint("Begin with an empty one: %s_create(expected), or "
                            "coalesce(filter, %s_create(expected)).",
                            prefix_of(kind), prefix_of(kind))));
}

Datum add(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  check_is_there(fcinfo, kind);
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    const Member member = member_of(fcinfo, change->header());
    change->add(member);
    change->check_one(member.digests);
  });
}

Datum add_all(FunctionCallInfo fcinfo, Kind kind) {
  check_is_there(fcinfo, kind);
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    const Items items = items_of(fcinfo, 1);
    for (int i = 0; i < items.count; i++) {
      CHECK_FOR_INTERRUPTS();
      if (items.nulls[i])
        continue;
      const Digests digests = item_digests(change->header(), items, i, Purpose::change);
      change->add({*items.value_type, digests});
    }
    change->check();
  });
}

// Returns the row (filter, whether the value was certainly new). A counting filter counts the value
// in any case. The other kinds stay unchanged if the value seems to be there.
Datum put(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  check_is_there(fcinfo, kind);
  bool fresh = false;
  const Datum filter = change_or_keep(fcinfo, kind, [&](Change *change) {
    const Member member = member_of(fcinfo, change->header());
    fresh = !change->contains_all_digests(member.digests);
    if (fresh || kind == Kind::counting) {
      change->add(member);
      change->check_one(member.digests);
    }
  });
  ResultRow row(fcinfo);
  row.add(filter);
  row.add(BoolGetDatum(fresh));
  return row.datum();
}

Datum remove(FunctionCallInfo fcinfo, Kind kind, MemberOf member_of) {
  if (PG_ARGISNULL(0))
    PG_RETURN_NULL();
  const bool missing_ok = PG_NARGS() > 2 && !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
  return change_or_keep(fcinfo, kind, [=](Change *change) {
    if (!change->remove(member_of(fcinfo, change->header()).digests) && !missing_ok)
      raise_absent(kind);
  });
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(bf_add, add(fcinfo, Kind::bloom, value_member_of));
SQL_RESULT(bf_add_literal, add(fcinfo, Kind::bloom, literal_member_of));
SQL_RESULT(bf_add_hash, add(fcinfo, Kind::bloom, hash_member_of));
SQL_RESULT(bf_add_all, add_all(fcinfo, Kind::bloom));
SQL_RESULT(bf_put, put(fcinfo, Kind::bloom, value_member_of));
SQL_RESULT(bf_put_literal, put(fcinfo, Kind::bloom, literal_member_of));
SQL_RESULT(cbf_add, add(fcinfo, Kind::counting, value_member_of));
SQL_RESULT(cbf_add_literal, add(fcinfo, Kind::counting, literal_member_of));
SQL_RESULT(cbf_add_all, add_all(fcinfo, Kind::counting));
SQL_RESULT(cbf_put, put(fcinfo, Kind::counting, value_member_of));
SQL_RESULT(cbf_put_literal, put(fcinfo, Kind::counting, literal_member_of));
SQL_RESULT(cbf_remove, remove(fcinfo, Kind::counting, value_member_of));
SQL_RESULT(cbf_remove_literal, remove(fcinfo, Kind::counting, literal_member_of));
SQL_RESULT(cf_add, add(fcinfo, Kind::cuckoo, value_member_of));
SQL_RESULT(cf_add_literal, add(fcinfo, Kind::cuckoo, literal_member_of));
SQL_RESULT(cf_add_all, add_all(fcinfo, Kind::cuckoo));
SQL_RESULT(cf_put, put(fcinfo, Kind::cuckoo, value_member_of));
SQL_RESULT(cf_put_literal, put(fcinfo, Kind::cuckoo, literal_member_of));
SQL_RESULT(cf_remove, remove(fcinfo, Kind::cuckoo, value_member_of));
SQL_RESULT(cf_remove_literal, remove(fcinfo, Kind::cuckoo, literal_member_of));

// The operator - of bloomfilter. It only raises an error, whose hint names the types that support
// removal.
SQL_FUNCTION(bloomfilter_minus) {
  (void)fcinfo;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("values cannot be removed from a bloom filter"),
                  errdetail("Its bits are shared by many values."),
                  errhint("Use a countingbloomfilter or a cuckoofilter, which cbf_agg() and "
                          "cf_agg() build.")));
}

SQL_FUNCTIONS_END
