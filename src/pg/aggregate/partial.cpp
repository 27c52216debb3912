// The type bf_partial (core/partial.hpp), and the aggregates that have it as their state type:
// bf_dist_agg, bf_partial_agg and bf_merge_agg. The type exists because a state of type internal
// can neither leave its server nor be stored.
//
// While an aggregate runs, its state is an expanded object around the same State that bf_agg has.
// Each step but the first returns the pointer that it was given, so nothing is copied. While the
// state is expanded, a self-sized one spills the hashes that exceed the memory limit. When it is
// sent or stored, it becomes flat. A flat state takes at most 1 GB, all of it in memory.

#include "pg/server.hpp"

#include "core/partial.hpp"
#include "core/text.hpp"
#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/parcel.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/overfill.hpp"
#include "pg/value/payload.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "nodes/execnodes.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
}

using namespace bloomfilter;

namespace {

Finding validate_state(const uint8 *payload, Size length) {
  Partial partial;
  return validate_partial(payload, length, &partial);
}
const PayloadType kPartialType = {"bf_partial", "partial state", validate_state, nullptr};

void check_undamaged(const Finding &finding, const char *noun) {
  if (!finding.ok())
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("%s is damaged: %s", noun, finding_text(finding))));
}

[[noreturn]] void raise_too_many_hashes(uint64 hashes) {
  ereport(ERROR,
          (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
           errmsg("partial state of " UINT64_FORMAT " hashes would exceed 1 GB", hashes),
           errhint("Give the expected number of values: bf_partial_agg(element, expected).")));
}

// --- flat and expanded ---------------------------------------------------------------------------

struct ExpandedPartial {
  ExpandedObjectHeader header;
  State *state;
  bool no_rows;                // true until a row is added
  NullableDatum parameters[2]; // the parameters as the first row gave them
};

// Prepares the content that is written when a state becomes flat: a bitmap, or distinct hashes in
// ascending order. Returns the number of hashes, or 0 if the content is a bitmap.
uint64 prepare_content(State *state) {
  if (state->header.is_self_sized())
    return sort_bag(&state->bag);
  if (!state->bitmap) {
    sort_array(&state->bag.array, state->bag.copies);
    const Size count = state->bag.array.count;
    if (content_for(false, state->header.geometry, count) == Content::hashes)
      return count;
  }
  flush(state);
  return 0;
}

Size flat_size(ExpandedObjectHeader *header) {
  State *state = reinterpret_cast<ExpandedPartial *>(header)->state;
  const uint64 hashes = prepare_content(state);
  const Size size = VARHDRSZ + kPartialHead +
                    (state->bitmap ? state->header.geometry.bytes() : hashes * sizeof(uint64));
  if (!AllocSizeIsValid(size))
    raise_too_many_hashes(hashes);
  return size;
}

// Writes the flat value. It runs right after flat_size(), which has prepared the content.
void flatten(ExpandedObjectHeader *header, void *result, Size size) {
  const auto *partial = reinterpret_cast<const ExpandedPartial *>(header);
  const State *state = partial->state;
  SET_VARSIZE(result, size);
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(result));
  const Header filter = state->header.is_self_sized() ? sized_for(state->header, 1) : state->header;
  const Content content = state->bitmap                                        ? Content::bitmap
                          : partial->no_rows && !state->header.is_self_sized() ? Content::no_rows
                                                                               : Content::hashes;
  write_partial_head(payload, {filter, content});
  payload += kPartialHead;
  if (state->bitmap) {
    move_memory(payload, state->bitmap, filter.geometry.bytes());
    return;
  }
  for_each_sorted(state->bag, [&payload](const uint64 *hashes, Size count) {
    payload = store_hashes(payload, hashes, count);
  });
}

const ExpandedObjectMethods kMethods = {flat_size, flatten};

} // namespace

namespace bloomfilter {

struct varlena *flat_partial(State *state, bool no_rows) {
  ExpandedPartial partial = {};
  partial.state = state;
  partial.no_rows = no_rows;
  const Size size = flat_size(&partial.header);
  struct varlena *result = new_value(size - VARHDRSZ);
  flatten(&partial.header, result, size);
  return result;
}

} // namespace bloomfilter

namespace {

// Returns the expanded object that a pointer refers to, like DatumGetEOHP(), but inline.
inline ExpandedPartial *object_of(const void *pointer) {
  varatt_expanded external;
  memcpy(&external, VARDATA_EXTERNAL(pointer), sizeof external);
  Assert(external.eohptr->eoh_methods == &kMethods);
  return reinterpret_cast<ExpandedPartial *>(external.eohptr);
}

// The expanded object of a value, or NULL if it is flat.
const ExpandedPartial *expanded(Datum value) {
  const void *pointer = DatumGetPointer(value);
  return VARATT_IS_EXTERNAL_EXPANDED(pointer) ? object_of(pointer) : nullptr;
}

// The parcel of a value. It points into the value.
Parcel parcel_of_partial(Datum value) {
  if (const ExpandedPartial *partial = expanded(value)) {
    Parcel parcel = parcel_of(partial->state);
    if (partial->no_rows)
      parcel.content = Content::no_rows;
    return parcel;
  }
  const struct varlena *flat = PG_DETOAST_DATUM_PACKED(value);
  const auto *payload = reinterpret_cast<const uint8 *>(VARDATA_ANY(flat));
  const Size length = VARSIZE_ANY_EXHDR(flat);
  Parcel parcel = {};
  check_undamaged(parse_partial(payload, length, &parcel), "partial state");
  parcel.count = (length - kPartialHead) / sizeof(uint64);
  parcel.bytes = payload + kPartialHead;
  return parcel;
}

// Raises an error if the running function is a step of a moving aggregate. Only a user can have
// made such an aggregate. Its other step would get our expanded object, too. A step in PL/pgSQL
// takes over the object and frees it, but the server still uses it afterwards. A moving aggregate
// with array_append as a step has the same fault.
void refuse_moving(FunctionCallInfo fcinfo) {
  const auto *window = castNode(WindowAggState, fcinfo->context);
  for (const WindowFuncExprState *call : each<WindowFuncExprState>(window->funcs)) {
    HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(call->wfunc->winfnoid));
    if (!HeapTupleIsValid(tuple))
      continue; // a window function that is not an aggregate
    const auto *form = reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
    const Oid step = fcinfo->flinfo->fn_oid;
    const bool moves = form->aggmtransfn == step || form->aggminvtransfn == step;
    ReleaseSysCache(tuple);
    if (moves)
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("aggregate \"%s\" cannot have a state of type %s in moving mode",
                             get_func_name(call->wfunc->winfnoid), kPartialType.name),
                      errhint("Create the aggregate without MSFUNC.")));
  }
}

// Where an aggregate keeps the expanded objects of its groups: in a child of its memory context.
// The parent tells the server that it need not copy the objects. All groups share one child, if it
// is still the parent's first, because at each new group the server adds up the memory of all
// contexts of a hash table. In a window each object has its own context, because another function
// may take over the object.
GroupMemory memory_of_object(FunctionCallInfo fcinfo) {
  static constexpr char kName[] = "bloomfilter partial states";
  GroupMemory memory = group_memory(fcinfo);
  if (!memory.expr_context)
    refuse_moving(fcinfo);
  const MemoryContext first = memory.context->firstchild;
  memory.context =
      memory.expr_context && first && first->name == kName
          ? first
          : AllocSetContextCreateInternal(memory.context, kName, ALLOCSET_START_SMALL_SIZES);
  return memory;
}

pg_noinline ExpandedPartial *make_expanded(FunctionCallInfo fcinfo, const Parameters &parameters) {
  const GroupMemory memory = memory_of_object(fcinfo);
  auto *partial = make_zeroed<ExpandedPartial>(memory.context);
  EOH_init_header(&partial->header, &kMethods, memory.context);
  partial->state = make_state(memory, parameters, true);
  partial->no_rows = true;
  return partial;
}

void add_parcel(ExpandedPartial *partial, const Parcel &parcel) {
  combine_states(partial->state, parcel);
  partial->no_rows = partial->no_rows && parcel.content == Content::no_rows;
}

// Returns the object of the first argument if it may be changed, because an earlier step made it
// for this aggregate alone. Otherwise returns NULL, and make_partial_to_change() makes a new object
// with the content of the first argument.
inline ExpandedPartial *partial_to_change(FunctionCallInfo fcinfo) {
  const void *pointer = PG_GETARG_POINTER(0);
  return PG_ARGISNULL(0) || !VARATT_IS_EXTERNAL_EXPANDED_RW(pointer) ? nullptr : object_of(pointer);
}

pg_noinline ExpandedPartial *make_partial_to_change(FunctionCallInfo fcinfo,
                                                    const Parameters &parameters) {
  if (PG_ARGISNULL(0))
    return make_expanded(fcinfo, parameters);
  const Parcel given = parcel_of_partial(PG_GETARG_DATUM(0));
  ExpandedPartial *partial = make_expanded(fcinfo, parameters_of(given.header));
  add_parcel(partial, given);
  return partial;
}

// True if a row's parameters have the same bits as those of the first row. If it returns
// false, checked_partial() compares their values.
inline bool has_same_parameters(FunctionCallInfo fcinfo, const ExpandedPartial *partial) {
  for (int i = 2; i < PG_NARGS(); i++) {
    const NullableDatum &given = fcinfo->args[i], &first = partial->parameters[i - 2];
    if (given.isnull != first.isnull || (!given.isnull && given.value != first.value))
      return false;
  }
  return true;
}

// Checks a row's parameters, and returns the object for the row. Makes the object if there is none
// yet.
pg_noinline ExpandedPartial *checked_partial(FunctionCallInfo fcinfo, ExpandedPartial *partial) {
  const Parameters parameters = parameters_of_row(fcinfo, Layout::lines);
  if (!partial) {
    partial = make_partial_to_change(fcinfo, parameters);
    for (int i = 2; i < PG_NARGS(); i++)
      partial->parameters[i - 2] = fcinfo->args[i];
  }
  check_parameters(partial->state, parameters);
  return partial;
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(bloomfilter_partial_in, payload_in(fcinfo, kPartialType));
SQL_RESULT(bloomfilter_partial_recv, payload_recv(fcinfo, kPartialType));

SQL_FUNCTION(bloomfilter_partial_out) {
  const struct varlena *value = PG_GETARG_VARLENA_PP(0);
  const Size length = VARSIZE_ANY_EXHDR(value);
  if (!AllocSizeIsValid(encoded_length(length) + 1))
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("text of a partial state of %zu bytes would exceed 1 GB", length),
             errhint("Give the expected number of values: bf_partial_agg(element, expected).")));
  PG_RETURN_CSTRING(payload_text(reinterpret_cast<const uint8 *>(VARDATA_ANY(value)), length));
}

SQL_FUNCTION(bloomfilter_partial_send) {
  const struct varlena *value = PG_GETARG_VARLENA_PP(0);
  PG_RETURN_BYTEA_P(make_value(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)));
}

// The step of bf_dist_agg and bf_partial_agg. They take a bf_element where bf_agg takes a value.
SQL_FUNCTION(bloomfilter_partial_add) {
  ExpandedPartial *partial = partial_to_change(fcinfo);
  if (unlikely(!partial || !has_same_parameters(fcinfo, partial)))
    partial = checked_partial(fcinfo, partial);
  State *state = partial->state;
  partial->no_rows = false;
  if (!PG_ARGISNULL(1)) {
    const auto *value = reinterpret_cast<const HashedValue *>(PG_GETARG_POINTER(1));
    if (unlikely(!(state->header.element_type == value->type) ||
                 state->header.element_type.family == Family::none)) {
      check_undamaged(check_hashed_value(*value), "element"); // it may have been stored
      admit_type(state, value->type);
    }
    push(state, value->hash);
    if (unlikely(value->second != value->hash))
      push(state, value->second);
  }
  PG_RETURN_DATUM(EOHPGetRWDatum(&partial->header));
}

// The step of bf_merge_agg, and the combine function of all three aggregates.
SQL_FUNCTION(bloomfilter_partial_combine) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0))
      PG_RETURN_NULL();
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  }
  const Parcel other = parcel_of_partial(PG_GETARG_DATUM(1));
  ExpandedPartial *partial = partial_to_change(fcinfo);
  if (!partial)
    partial = make_partial_to_change(fcinfo, parameters_of(other.header));
  add_parcel(partial, other);
  PG_RETURN_DATUM(EOHPGetRWDatum(&partial->header));
}

// The final function of bf_partial_agg. Returns its state, or the state of no rows.
SQL_FUNCTION(bloomfilter_partial_agg_final) {
  if (!PG_ARGISNULL(0))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  const Parameters parameters = parameters_in_query(fcinfo, Layout::lines);
  PG_RETURN_POINTER(flat_partial(make_state({CurrentMemoryContext}, parameters, true), true));
}

// The final function of bf_dist_agg and bf_merge_agg. Returns the filter.
SQL_FUNCTION(bloomfilter_partial_final) {
  if (PG_ARGISNULL(0))
    return filter_without_values(header_for(parameters_in_query(fcinfo, Layout::lines))).datum();
  const Parcel parcel = parcel_of_partial(PG_GETARG_DATUM(0));
  if (parcel.content == Content::no_rows)
    return filter_without_values(parcel.header).datum();
  State *state = parcel.state;
  if (!state) {
    state = make_state({CurrentMemoryContext}, parameters_of(parcel.header));
    combine_states(state, parcel);
  }
  const Filter filter = finish_state(state);
  check_overfill(filter, Origin::built);
  return filter.datum();
}

SQL_FUNCTIONS_END
