// See scan_key.hpp. A stored bf_probe is valid only within the command that made it.

#include "pg/filter_index/scan_key.hpp"

#include "pg/compat.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"
#include "pg/element/literal.hpp"
#include "pg/list.hpp"
#include "pg/query/collation.hpp"
#include "pg/value/probed_filter.hpp"

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

// Identifies the command that made a bf_probe. Parallel workers count as their leader.
struct MakingCommand {
  TimestampTz transaction_start;
  int32 process; // the leader's process id
  LocalTransactionId transaction;
  CommandId command;
  uint32 zero; // fills the padding, so that every byte has a value
};

// The bytes of a bf_probe. The value follows: as a Datum if its type is passed by value, else as
// its bytes.
//
// A bf_probe is valid only in the command that made it, because later its type may have been
// altered or dropped. A table can still store one, so a bf_probe records its command. A scan in
// progress is as exposed to such changes as any cursor.
struct StoredScanKey {
  int32 vl_len_; // do not touch directly
  Oid type;      // of the value; an array type for ProbeTarget::any
  Oid collation;
  MakingCommand made_by;
  ProbeTarget target;
  uint8 unused[7];
};
static_assert(sizeof(StoredScanKey) % MAXIMUM_ALIGNOF == 0, "the value is aligned");

MakingCommand current_command() {
  const PGPROC *leader = MyProc->lockGroupLeader ? MyProc->lockGroupLeader : MyProc;
  return {GetCurrentTransactionStartTimestamp(), leader->pid, local_transaction_of(leader),
          GetCurrentCommandId(false), 0};
}

bool operator==(const MakingCommand &a, const MakingCommand &b) {
  return a.transaction_start == b.transaction_start && a.process == b.process &&
         a.transaction == b.transaction && a.command == b.command;
}

Datum make_scan_key(ProbeTarget target, Oid type, Oid collation, const void *bytes, Size length) {
  auto *key = static_cast<StoredScanKey *>(palloc0(sizeof(StoredScanKey) + length));
  SET_VARSIZE(key, sizeof(StoredScanKey) + length);
  key->type = type;
  key->collation = collation;
  key->made_by = current_command();
  key->target = target;
  memcpy(key + 1, bytes, length);
  return PointerGetDatum(key);
}

// The value that was given to the function that made a bf_probe.
Datum original_value(const StoredScanKey *stored) {
  Datum value = PointerGetDatum(stored + 1);
  if (OidIsValid(stored->type) && get_typbyval(stored->type))
    memcpy(&value, stored + 1, sizeof value);
  return value;
}

// What a call site of @>> keeps between rows. All bytes are zero at first.
struct ScanKeySite {
  Oid type, collation; // of `value_type`
  ValueType *value_type;
  MemoryContext memory; // of `value_type`
  LastFilter probed;
};

ScanKeySite *scan_key_site(FunctionCallInfo fcinfo) {
  if (!fcinfo->flinfo->fn_extra)
    fcinfo->flinfo->fn_extra = make_zeroed<ScanKeySite>(fcinfo->flinfo->fn_mcxt);
  return static_cast<ScanKeySite *>(fcinfo->flinfo->fn_extra);
}

// The element type of a scan key. The call site keeps it until a scan key has another type or
// collation.
ValueType *value_type_at(ScanKeySite *site, const ScanKeyValue &key, MemoryContext parent) {
  if (site->value_type && site->type == key.type && site->collation == key.collation)
    return site->value_type;
  site->value_type = nullptr; // in case of an error
  site->type = key.type;
  site->collation = key.collation;
  return site->value_type = replace_value_type(key.type, key.collation, parent, &site->memory);
}

const StoredScanKey *stored_scan_key(Datum datum) {
  return reinterpret_cast<const StoredScanKey *>(PG_DETOAST_DATUM(datum));
}

bool is_current(const StoredScanKey *key) {
  return key->made_by == current_command();
}

void set_one_value(ScanKeyValue *key, const StoredScanKey *stored) {
  key->type = stored->type;
  key->values = make_array<Datum>(1);
  key->values[0] = original_value(stored);
  key->count = 1;
}

// Takes the values from an array, without its NULLs.
void set_items(ScanKeyValue *key, const StoredScanKey *stored) {
  auto *array = const_cast<ArrayType *>(reinterpret_cast<const ArrayType *>(stored + 1));
  key->type = ARR_ELEMTYPE(array);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(key->type, &length, &by_value, &alignment);
  bool *nulls;
  int count;
  deconstruct_array(array, key->type, length, by_value, alignment, &key->values, &nulls, &count);
  key->count = 0;
  for (int i = 0; i < count; i++)
    if (!nulls[i])
      key->values[key->count++] = key->values[i];
}

// Reads a bf_probe, but does not look up its element type.
ScanKeyValue open_scan_key(const StoredScanKey *stored) {
  ScanKeyValue key = {};
  key.target = stored->target;
  key.collation = stored->collation;
  if (key.target == ProbeTarget::any)
    set_items(&key, stored);
  else
    set_one_value(&key, stored);
  return key;
}

bool has_value_type(const ScanKeyValue &key) {
  return OidIsValid(key.type) && key.target != ProbeTarget::hash;
}

text *key_literal_of(const ScanKeyValue &key) {
  return reinterpret_cast<text *>(DatumGetPointer(key.values[0]));
}

// The shape of a composed value, such as a row, is known only after the value was hashed. So this
// hashes each value before it compares shapes.
bool can_probe_for_rows(const Header &header, const ScanKeyValue &key) {
  for (int i = 0; i < key.count; i++) {
    CHECK_FOR_INTERRUPTS();
    (void)first_hash(key.value_type, key.values[i], header.seed);
    if (!is_comparable(header, key.value_type))
      return false;
  }
  return true;
}

} // namespace

bool read_scan_key(Datum datum, MemoryContext context, ScanKeyValue *key) {
  const StoredScanKey *stored = stored_scan_key(datum);
  if (!is_current(stored))
    return false;
  *key = open_scan_key(stored);
  if (has_value_type(*key))
    key->value_type = resolve_value_type(key->type, key->collation, context);
  return true;
}

bool can_probe_for(const Header &header, const ScanKeyValue &key) {
  if (key.target == ProbeTarget::hash)
    return true;
  if (!key.value_type)
    return is_readable(header, key_literal_of(key));
  return is_composed(key.value_type->family) ? can_probe_for_rows(header, key)
                                             : is_comparable(header, key.value_type);
}

Digests digests_of_scan_key(const Header &header, const ScanKeyValue &key, int value) {
  if (key.target == ProbeTarget::hash) {
    check_hashed_alike(header);
    Digests digests = no_digests();
    digests.digest[digests.count++] = {static_cast<uint64>(DatumGetInt64(key.values[0])), 0};
    return digests;
  }
  return key.value_type
             ? digests_for(key.value_type, key.values[value], header, Purpose::probe)
             : literal_digests(header, key_literal_of(key), key.collation, Purpose::probe);
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_probe) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
  const Oid collation = collation_of(fcinfo, 0);
  (void)resolve_value_type(type, collation, CurrentMemoryContext); // error if no filter can hold it
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  const Datum value = PG_GETARG_DATUM(0);
  if (by_value)
    return make_scan_key(ProbeTarget::value, type, collation, &value, sizeof value);
  if (length > 0)
    return make_scan_key(ProbeTarget::value, type, collation, DatumGetPointer(value), length);
  if (length == -2)
    return make_scan_key(ProbeTarget::value, type, collation, DatumGetCString(value),
                         strlen(DatumGetCString(value)) + 1);
  const struct varlena *whole = PG_DETOAST_DATUM(value);
  return make_scan_key(ProbeTarget::value, type, collation, whole, VARSIZE(whole));
}

SQL_FUNCTION(bf_probe_literal) {
  const text *literal = DatumGetTextP(PG_GETARG_DATUM(0));
  return make_scan_key(ProbeTarget::literal, InvalidOid, collation_of(fcinfo, 0), literal,
                       VARSIZE(literal));
}

SQL_FUNCTION(bf_probe_any) {
  const ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
  const Oid collation = collation_of(fcinfo, 0);
  (void)resolve_value_type(ARR_ELEMTYPE(array), collation, CurrentMemoryContext);
  return make_scan_key(ProbeTarget::any, get_array_type(ARR_ELEMTYPE(array)), collation, array,
                       VARSIZE(array));
}

SQL_FUNCTION(bf_probe_hash) {
  const Datum hash = PG_GETARG_DATUM(0);
  return make_scan_key(ProbeTarget::hash, INT8OID, InvalidOid, &hash, sizeof hash);
}

SQL_FUNCTION(filter_contains_probe) {
  ScanKeySite *site = scan_key_site(fcinfo);
  ProbedFilter *filter = find_filter(PG_GETARG_DATUM(0), &site->probed);
  const StoredScanKey *stored = stored_scan_key(PG_GETARG_DATUM(1));
  if (!is_current(stored))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("value of type %s has expired", "bf_probe"),
                    errhint("Store the value that was probed for instead.")));
  ScanKeyValue key = open_scan_key(stored);
  if (has_value_type(key))
    key.value_type = value_type_at(site, key, fcinfo->flinfo->fn_mcxt);
  for (int i = 0; i < key.count; i++) {
    CHECK_FOR_INTERRUPTS();
    if (contains_any_digest(filter, digests_of_scan_key(filter->header, key, i)))
      PG_RETURN_BOOL(true);
  }
  PG_RETURN_BOOL(false);
}

// Only the functions above make values of type bf_probe, so their bytes can be trusted. Input
// accepts only this text, which is the output for a bf_probe of another command. So a table that
// has such values can be dumped and restored.
constexpr char kExpired[] = "expired";

SQL_FUNCTION(bf_probe_in) {
  if (strcmp(PG_GETARG_CSTRING(0), kExpired) != 0)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot accept a value of type %s", "bf_probe")));
  auto *key = make_zeroed<StoredScanKey>();
  SET_VARSIZE(key, sizeof(StoredScanKey)); // belongs to no command, so it is never read
  PG_RETURN_POINTER(key);
}

SQL_FUNCTION(bf_probe_out) {
  const StoredScanKey *stored = stored_scan_key(PG_GETARG_DATUM(0));
  if (!is_current(stored))
    PG_RETURN_CSTRING(pstrdup(kExpired));
  Oid output;
  bool varying;
  getTypeOutputInfo(OidIsValid(stored->type) ? stored->type : TEXTOID, &output, &varying);
  PG_RETURN_CSTRING(OidOutputFunctionCall(output, original_value(stored)));
}

SQL_FUNCTIONS_END
