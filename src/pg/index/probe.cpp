// Makes, reads and prints values of type bf_probe, and evaluates @>>. See probe.hpp.
//
// A stored bf_probe is valid only within the command that made it.

#include "pg/index/probe.hpp"

#include "pg/compat.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"
#include "pg/element/literal.hpp"
#include "pg/list.hpp"
#include "pg/query/collation.hpp"
#include "pg/value/probe.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// Identifies the command that made a probe. Parallel workers count as their leader.
struct Maker {
  TimestampTz transaction_start;
  int32 process; // the leader's process id
  LocalTransactionId transaction;
  CommandId command;
  uint32 zero; // fills the padding, so that every byte has a value
};

// The bytes of a bf_probe. The value follows: as a Datum if its type is passed by value, else as
// its bytes.
//
// A probe is valid only in the command that made it, because later its type may have been altered
// or dropped. A table can still store one, so a probe records its command. A scan in progress is as
// exposed to such changes as any cursor.
struct StoredProbe {
  int32 vl_len_; // do not touch directly
  Oid type;      // of the value; an array type for Asked::any
  Oid collation;
  Maker maker;
  Asked asked;
  uint8 unused[7];
};
static_assert(sizeof(StoredProbe) % MAXIMUM_ALIGNOF == 0, "the value is aligned");

Maker current_command() {
  const PGPROC *leader = MyProc->lockGroupLeader ? MyProc->lockGroupLeader : MyProc;
  return {GetCurrentTransactionStartTimestamp(), leader->pid, local_transaction_of(leader),
          GetCurrentCommandId(false), 0};
}

bool operator==(const Maker &a, const Maker &b) {
  return a.transaction_start == b.transaction_start && a.process == b.process &&
         a.transaction == b.transaction && a.command == b.command;
}

Datum make_probe(Asked asked, Oid type, Oid collation, const void *bytes, Size length) {
  auto *probe = static_cast<StoredProbe *>(palloc0(sizeof(StoredProbe) + length));
  SET_VARSIZE(probe, sizeof(StoredProbe) + length);
  probe->type = type;
  probe->collation = collation;
  probe->maker = current_command();
  probe->asked = asked;
  memcpy(probe + 1, bytes, length);
  return PointerGetDatum(probe);
}

// The value that was given to the function that made a probe.
Datum given_value(const StoredProbe *stored) {
  Datum value = PointerGetDatum(stored + 1);
  if (OidIsValid(stored->type) && get_typbyval(stored->type))
    memcpy(&value, stored + 1, sizeof value);
  return value;
}

// What a call site of @>> keeps between rows. All bytes are zero at first.
struct ProbeSite {
  Oid type, collation; // of `element`
  Element *element;
  MemoryContext memory; // of `element`
  FilterMemory asked;
};

ProbeSite *probe_site(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo->fn_extra)
    fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ProbeSite));
  return static_cast<ProbeSite *>(fcinfo->flinfo->fn_extra);
}

// The element type of a probe. The call site keeps it until a probe has another type or collation.
Element *element_at(ProbeSite *site, const IndexProbe &probe, MemoryContext parent) {
  if (site->element && site->type == probe.type && site->collation == probe.collation)
    return site->element;
  site->element = nullptr; // in case of an error
  site->type = probe.type;
  site->collation = probe.collation;
  return site->element = replace_element(probe.type, probe.collation, parent, &site->memory);
}

const StoredProbe *stored_probe(Datum datum) {
  return reinterpret_cast<const StoredProbe *>(PG_DETOAST_DATUM(datum));
}

bool is_current(const StoredProbe *probe) {
  return probe->maker == current_command();
}

void set_one_value(IndexProbe *probe, const StoredProbe *stored) {
  probe->type = stored->type;
  probe->values = make_array<Datum>(1);
  probe->values[0] = given_value(stored);
  probe->count = 1;
}

// Takes the values from an array, without its NULLs.
void set_items(IndexProbe *probe, const StoredProbe *stored) {
  auto *array = const_cast<ArrayType *>(reinterpret_cast<const ArrayType *>(stored + 1));
  probe->type = ARR_ELEMTYPE(array);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(probe->type, &length, &by_value, &alignment);
  bool *nulls;
  int count;
  deconstruct_array(array, probe->type, length, by_value, alignment, &probe->values, &nulls,
                    &count);
  probe->count = 0;
  for (int i = 0; i < count; i++)
    if (!nulls[i])
      probe->values[probe->count++] = probe->values[i];
}

// Reads a probe, but does not look up its element type.
IndexProbe open_probe(const StoredProbe *stored) {
  IndexProbe probe = {};
  probe.asked = stored->asked;
  probe.collation = stored->collation;
  if (probe.asked == Asked::any)
    set_items(&probe, stored);
  else
    set_one_value(&probe, stored);
  return probe;
}

bool has_element(const IndexProbe &probe) {
  return OidIsValid(probe.type) && probe.asked != Asked::hash;
}

text *literal_of(const IndexProbe &probe) {
  return reinterpret_cast<text *>(DatumGetPointer(probe.values[0]));
}

// The shape of a composed value, such as a row, is known only after the value was hashed. So this
// hashes each value before it compares shapes.
bool can_ask_composed(const Header &header, const IndexProbe &probe) {
  for (int i = 0; i < probe.count; i++) {
    CHECK_FOR_INTERRUPTS();
    (void)first_hash(probe.element, probe.values[i], header.seed);
    if (!is_comparable(header, probe.element))
      return false;
  }
  return true;
}

} // namespace

bool read_probe(Datum datum, MemoryContext context, IndexProbe *probe) {
  const StoredProbe *stored = stored_probe(datum);
  if (!is_current(stored))
    return false;
  *probe = open_probe(stored);
  if (has_element(*probe))
    probe->element = resolve_element(probe->type, probe->collation, context);
  return true;
}

bool can_ask(const Header &header, const IndexProbe &probe) {
  if (probe.asked == Asked::hash)
    return true;
  if (!probe.element)
    return is_readable(header, literal_of(probe));
  return is_composed(probe.element->family) ? can_ask_composed(header, probe)
                                            : is_comparable(header, probe.element);
}

Digests digests_of_probe(const Header &header, const IndexProbe &probe, int value) {
  if (probe.asked == Asked::hash) {
    check_hashed_alike(header);
    Digests digests = no_digests();
    digests.digest[digests.count++] = {static_cast<uint64>(DatumGetInt64(probe.values[0])), 0};
    return digests;
  }
  return probe.element ? digests_for(probe.element, probe.values[value], header, Use::ask)
                       : literal_digests(header, literal_of(probe), probe.collation, Use::ask);
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bf_probe);
Datum bf_probe(PG_FUNCTION_ARGS) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  const Oid collation = collation_of(fcinfo, 0);
  (void)resolve_element(type, collation, CurrentMemoryContext); // error if no filter can hold it
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  const Datum value = PG_GETARG_DATUM(0);
  if (by_value)
    return make_probe(Asked::value, type, collation, &value, sizeof value);
  if (length > 0)
    return make_probe(Asked::value, type, collation, DatumGetPointer(value), length);
  if (length == -2)
    return make_probe(Asked::value, type, collation, DatumGetCString(value),
                      strlen(DatumGetCString(value)) + 1);
  const struct varlena *whole = PG_DETOAST_DATUM(value);
  return make_probe(Asked::value, type, collation, whole, VARSIZE(whole));
}

PG_FUNCTION_INFO_V1(bf_probe_literal);
Datum bf_probe_literal(PG_FUNCTION_ARGS) {
  const text *literal = DatumGetTextP(PG_GETARG_DATUM(0));
  return make_probe(Asked::value, InvalidOid, collation_of(fcinfo, 0), literal, VARSIZE(literal));
}

PG_FUNCTION_INFO_V1(bf_probe_any);
Datum bf_probe_any(PG_FUNCTION_ARGS) {
  const ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
  const Oid collation = collation_of(fcinfo, 0);
  (void)resolve_element(ARR_ELEMTYPE(array), collation, CurrentMemoryContext);
  return make_probe(Asked::any, get_array_type(ARR_ELEMTYPE(array)), collation, array,
                    VARSIZE(array));
}

PG_FUNCTION_INFO_V1(bf_probe_hash);
Datum bf_probe_hash(PG_FUNCTION_ARGS) {
  const Datum hash = PG_GETARG_DATUM(0);
  return make_probe(Asked::hash, INT8OID, InvalidOid, &hash, sizeof hash);
}

PG_FUNCTION_INFO_V1(filter_contains_probe);
Datum filter_contains_probe(PG_FUNCTION_ARGS) {
  ProbeSite *site = probe_site(fcinfo);
  AskedFilter *filter = find_filter(PG_GETARG_DATUM(0), &site->asked);
  const StoredProbe *stored = stored_probe(PG_GETARG_DATUM(1));
  if (!is_current(stored))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("value of type %s is of another command", "bf_probe"),
                    errhint("Store the value that was asked for instead.")));
  IndexProbe probe = open_probe(stored);
  if (has_element(probe))
    probe.element = element_at(site, probe, fcinfo->flinfo->fn_mcxt);
  for (int i = 0; i < probe.count; i++) {
    CHECK_FOR_INTERRUPTS();
    if (contains_any_digest(filter, digests_of_probe(filter->header, probe, i)))
      PG_RETURN_BOOL(true);
  }
  PG_RETURN_BOOL(false);
}

// Only the functions above make probes, so the bytes of a probe can be trusted. Input accepts only
// this text, which is the output for a probe of another command. So a table that has probes can be
// dumped and restored.
constexpr char kExpired[] = "expired";

PG_FUNCTION_INFO_V1(bf_probe_in);
Datum bf_probe_in(PG_FUNCTION_ARGS) {
  if (strcmp(PG_GETARG_CSTRING(0), kExpired) != 0)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot accept a value of type %s", "bf_probe")));
  auto *probe = make_zeroed<StoredProbe>();
  SET_VARSIZE(probe, sizeof(StoredProbe)); // belongs to no command, so it is never read
  PG_RETURN_POINTER(probe);
}

PG_FUNCTION_INFO_V1(bf_probe_out);
Datum bf_probe_out(PG_FUNCTION_ARGS) {
  const StoredProbe *stored = stored_probe(PG_GETARG_DATUM(0));
  if (!is_current(stored))
    PG_RETURN_CSTRING(pstrdup(kExpired));
  Oid output;
  bool varying;
  getTypeOutputInfo(OidIsValid(stored->type) ? stored->type : TEXTOID, &output, &varying);
  PG_RETURN_CSTRING(OidOutputFunctionCall(output, given_value(stored)));
}

SQL_FUNCTIONS_END
