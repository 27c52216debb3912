#include "pg/index/probe.hpp"

#include "pg/element/conversion.hpp"
#include "pg/element/literal.hpp"
#include "pg/value/collation.hpp"
#include "pg/value/probe.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// A bf_probe as it is stored. The value follows: a Datum if its type is passed by value, else its
// bytes.
struct StoredProbe {
  int32 vl_len_; // do not touch directly
  Oid type;
  Oid collation;
  int32 unused;
};
static_assert(sizeof(StoredProbe) % MAXIMUM_ALIGNOF == 0, "the value is aligned");

Datum make_probe(Oid type, Oid collation, const void *bytes, Size length) {
  auto *probe = static_cast<StoredProbe *>(palloc0(sizeof(StoredProbe) + length));
  SET_VARSIZE(probe, sizeof(StoredProbe) + length);
  probe->type = type;
  probe->collation = collation;
  memcpy(probe + 1, bytes, length);
  return PointerGetDatum(probe);
}

// What a call site keeps between rows. All bytes are zero at first.
struct ProbeSite {
  Oid type, collation; // of `element`
  Element *element;
  FilterMemory asked;
};

ProbeSite *probe_site(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo->fn_extra)
    fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ProbeSite));
  return static_cast<ProbeSite *>(fcinfo->flinfo->fn_extra);
}

// The probe without its element type.
Probe open_probe(Datum datum) {
  const auto *stored = reinterpret_cast<const StoredProbe *>(PG_DETOAST_DATUM(datum));
  Probe probe = {stored->type, stored->collation, PointerGetDatum(stored + 1), nullptr};
  if (OidIsValid(probe.type) && get_typbyval(probe.type))
    memcpy(&probe.value, stored + 1, sizeof probe.value);
  return probe;
}

} // namespace

Probe read_probe(Datum datum, MemoryContext context) {
  Probe probe = open_probe(datum);
  if (OidIsValid(probe.type))
    probe.element = resolve_element(probe.type, probe.collation, context);
  return probe;
}

bool can_ask(const Header &header, const Probe &probe) {
  return probe.element
             ? is_comparable(header, probe.element)
             : is_readable(header, reinterpret_cast<text *>(DatumGetPointer(probe.value)));
}

Digests digests_of_probe(const Header &header, const Probe &probe) {
  return probe.element
             ? digests_for(probe.element, probe.value, header, Use::ask)
             : literal_digests(header, reinterpret_cast<text *>(DatumGetPointer(probe.value)),
                               probe.collation, Use::ask);
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_probe);
Datum bf_probe(PG_FUNCTION_ARGS) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  const Oid collation = collation_of(fcinfo, 0);
  (void)resolve_element(type, collation, CurrentMemoryContext); // an error if it has none
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  const Datum value = PG_GETARG_DATUM(0);
  if (by_value)
    return make_probe(type, collation, &value, sizeof value);
  if (length > 0)
    return make_probe(type, collation, DatumGetPointer(value), length);
  if (length == -2)
    return make_probe(type, collation, DatumGetCString(value), strlen(DatumGetCString(value)) + 1);
  const struct varlena *whole = PG_DETOAST_DATUM(value);
  return make_probe(type, collation, whole, VARSIZE(whole));
}

PG_FUNCTION_INFO_V1(bf_probe_literal);
Datum bf_probe_literal(PG_FUNCTION_ARGS) {
  const text *literal = DatumGetTextP(PG_GETARG_DATUM(0));
  return make_probe(InvalidOid, collation_of(fcinfo, 0), literal, VARSIZE(literal));
}

PG_FUNCTION_INFO_V1(filter_contains_probe);
Datum filter_contains_probe(PG_FUNCTION_ARGS) {
  ProbeSite *site = probe_site(fcinfo);
  AskedFilter *filter = find_filter(PG_GETARG_DATUM(0), &site->asked);
  Probe probe = open_probe(PG_GETARG_DATUM(1));
  if (OidIsValid(probe.type)) {
    if (!site->element || site->type != probe.type || site->collation != probe.collation) {
      site->element = resolve_element(probe.type, probe.collation, fcinfo->flinfo->fn_mcxt);
      site->type = probe.type;
      site->collation = probe.collation;
    }
    probe.element = site->element;
  }
  PG_RETURN_BOOL(contains_any_digest(filter, digests_of_probe(filter->header, probe)));
}

// Probes are made by bloomfilter_probe() alone, so that each can be trusted.
PG_FUNCTION_INFO_V1(bf_probe_in);
Datum bf_probe_in(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cannot accept a value of type %s", "bf_probe")));
}

PG_FUNCTION_INFO_V1(bf_probe_out);
Datum bf_probe_out(PG_FUNCTION_ARGS) {
  const Probe probe = open_probe(PG_GETARG_DATUM(0));
  Oid output;
  bool varying;
  getTypeOutputInfo(OidIsValid(probe.type) ? probe.type : TEXTOID, &output, &varying);
  PG_RETURN_CSTRING(OidOutputFunctionCall(output, probe.value));
}

SQL_FUNCTIONS_END
