// The SQL functions that make empty filters, and that make a filter from another one: bf_clear(),
// bf_growable(), and the cast of a countingbloomfilter to bloomfilter.
//
// The functions that make empty filters are not STRICT. They raise an error for a NULL argument,
// because returning NULL would leave a column without the filter that it was to have.

#include "pg/server.hpp"

#include "core/sizing.hpp"
#include "pg/element/conversion.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/sql/given.hpp"
#include "pg/value/chain.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/measure.hpp"
#include "pg/value/new_filter.hpp"

using namespace bloomfilter;

namespace {

constexpr const char *kBySize =
    "Give the size in bits and the number of hash functions; bf_create(expected) chooses both.";

[[noreturn]] void raise_seed(const Scheme &scheme, uint64 seed) {
  const int bits = row_of(scheme.layout).seed_bits;
  if (bits == 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filters of layout \"%s\" have no seed, but " INT64_FORMAT " was given",
                    scheme.name, static_cast<int64>(seed))));
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("seed " INT64_FORMAT " is out of range for bloom filters of layout \"%s\"",
                         static_cast<int64>(seed), scheme.name),
                  errdetail("It is a signed number of %d bits.", bits)));
}

// Sets the element type if the function's last argument, which may be NULL, names one.
void set_element_type(FunctionCallInfo fcinfo, Header *header) {
  const int last = PG_NARGS() - 1;
  if (!PG_ARGISNULL(last))
    declare_values(header, PG_GETARG_OID(last));
}

// Makes an empty filter of a kind that has one layout and no links.
Datum create(FunctionCallInfo fcinfo, Layout layout, const char *function, const char *hint) {
  check_given(fcinfo, function, {{"expected", hint}, {"fpr", kHasDefault}, {"seed", kHasDefault}});
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));
  Header header = empty_header(layout, PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), seed);
  set_element_type(fcinfo, &header);
  return make_filter(header).datum();
}

// Clears a filter of a kind without links.
Datum clear(FunctionCallInfo fcinfo, Kind kind) {
  Header header = filter_arg(fcinfo, 0, kind).header;
  header.element_type = {};
  return make_filter(header).datum();
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_create) {
  check_given(fcinfo, "bf_create",
              {{"expected", "Give the number of distinct values that there will be, or let the "
                            "filter grow: bf_create(1000, grow => true)."},
               {"fpr", kHasDefault},
               {"layout", kHasDefault},
               {"seed", kHasDefault},
               {"grow", kHasDefault}});
  const Scheme &scheme = scheme_for(PG_GETARG_TEXT_PP(2), true);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(3));
  const bool grow = PG_GETARG_BOOL(4);
  const Layout layout = scheme.layout;

  if (!is_possible_seed(layout, seed))
    raise_seed(scheme, seed);
  Header header = empty_header(layout, PG_GETARG_FLOAT8(0), PG_GETARG_FLOAT8(1), seed);
  header.element_type.family = scheme.empty;
  set_element_type(fcinfo, &header);
  if (!grow)
    return make_filter(header).datum();
  check_able<Ability::grows>(header, "grow");
  return make_growing(header).datum();
}

SQL_FUNCTION(bf_create_by_size) {
  check_given(fcinfo, "bf_create_by_size",
              {{"bits", kBySize}, {"hashes", kBySize}, {"seed", kHasDefault}});
  const int64 bits = PG_GETARG_INT64(0);
  const int32 k = PG_GETARG_INT32(1);
  const auto seed = static_cast<uint64>(PG_GETARG_INT64(2));

  if (bits < 1 || static_cast<uint64>(bits) > kMaxBits)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of bits " INT64_FORMAT " is out of range", bits),
                    errdetail("It must be between 1 and " UINT64_FORMAT ".", kMaxBits)));
  if (k < 1 || k > kMaxK)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("number of hash functions %d is out of range", k),
                    errdetail("It must be between 1 and %d.", kMaxK)));
  Header header = empty_header(size_for_bits(static_cast<uint64>(bits), k), {}, seed);
  set_element_type(fcinfo, &header);
  return make_filter(header).datum();
}

// Makes a filter growable. The new links add at most three times the false positive rate of the
// link that growth starts from.
SQL_FUNCTION(bf_growable) {
  const Filter filter = filter_arg(fcinfo, 0);
  if (filter.header.grows())
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));

  check_able<Ability::grows>(filter.header, "grow");
  const Capacity requested = capacity_of(filter);
  if (!requested.is_known())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter without a capacity cannot grow"),
                    errhint("Use bf_create(expected, fpr, grow => true).")));
  const double rate = full_rate(filter);
  const double reached = rate + 3 * filter.link().capacity.rate;
  if (reached > kMaxRate)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filter with a false positive rate of %g cannot grow", rate),
             errdetail("It could reach a rate of %g, and %g is the highest.", reached, kMaxRate),
             errhint("Use bf_create(expected, fpr, grow => true).")));

  Header header = filter.header;
  header.flags = kFlagGrow;
  header.capacity = {Min(requested.values, kMaxBits), reached};
  LinkView links[kMaxLinks];
  return make_of_links(header, links, view_links(filter.payload(), filter.header, links)).datum();
}

SQL_FUNCTION(bf_clear) {
  const Filter filter = filter_arg(fcinfo, 0);
  if (filter.header.grows() && filter.header.is_self_sized())
    PG_RETURN_DATUM(PG_GETARG_DATUM(0)); // it has no values, so it is clear already
  LinkView largest = {filter.link(), nullptr, nullptr};
  largest.link.flags &= kFlagSelfSized;
  NewFilter cleared = make_of_links(filter.header, &largest, 1);
  cleared.header.flags |= filter.header.flags & kOtherFlags;
  cleared.write_back();
  return cleared.datum();
}

SQL_FUNCTION(cbf_create) {
  return create(
      fcinfo, Layout::counting_lines, "cbf_create",
      "Give the number of distinct values that there will be; cbf_agg(value) counts them.");
}

SQL_RESULT(cbf_clear, clear(fcinfo, Kind::counting));

SQL_FUNCTION(cf_create) {
  return create(fcinfo, Layout::cuckoo, "cf_create",
                "Give the number of values that there will be; cf_agg(value) counts them.");
}

SQL_RESULT(cf_clear, clear(fcinfo, Kind::cuckoo));

SQL_FUNCTION(cbf_to_bloom) {
  const Filter filter = filter_arg(fcinfo, 0, Kind::counting);
  check_size(Kind::bloom, plain_geometry(filter.header.geometry).bits());
  return as_bloom(filter).datum();
}

SQL_FUNCTIONS_END
