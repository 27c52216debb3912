// bf_partial (core/partial.hpp), and bf_dist_agg, bf_partial_agg and bf_merge_agg, whose state it
// is: partial states as a type of SQL, because a state of type internal can neither leave its
// server nor be stored.
//
// While an aggregate runs, its state is an expanded object around the same State that bf_agg has,
// and each step returns the pointer that it was given, so that nothing is copied. Until the state
// is sent or stored, one that sizes itself keeps in temporary files what exceeds the memory limit.
// Then it becomes flat: at most 1 GB, all of it in memory.

#include "pg/server.hpp"

#include "core/hashed_value.hpp"
#include "core/partial.hpp"
#include "core/text.hpp"
#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/element.hpp"
#include "pg/aggregate/partial.hpp"
#include "pg/aggregate/state.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/value/memory.hpp"
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
  NullableDatum parameters[2]; // of the first row, as it gave them
};

// Gives a state the content that is written when it becomes flat: a bitmap, or distinct hashes in
// ascending order. Returns the number of these.
uint64 settle(State *state) {
  if (state->self_sized)
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
  const uint64 hashes = settle(state);
  const Size size = VARHDRSZ + kPartialHead +
                    (state->bitmap ? state->header.geometry.bytes() : hashes * sizeof(uint64));
  if (!AllocSizeIsValid(size))
    raise_too_many_hashes(hashes);
  return size;
}

// Is called right after flat_size().
void flatten(ExpandedObjectHeader *header, void *result, Size size) {
  const State *state = reinterpret_cast<ExpandedPartial *>(header)->state;
  SET_VARSIZE(result, size);
  auto *payload = reinterpret_cast<uint8 *>(VARDATA(result));
  const Header filter = state->self_sized ? self_sized(state->header, 1) : state->header;
  const Content content = state->bitmap                          ? Content::bitmap
                          : state->no_rows && !state->self_sized ? Content::no_rows
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

struct varlena *flat_partial(State *state) {
  ExpandedPartial partial = {};
  partial.state = state;
  const Size size = flat_size(&partial.header);
  auto *result = static_cast<struct varlena *>(palloc(size));
  flatten(&partial.header, result, size);
  return result;
}

} // namespace bloomfilter

namespace {

// The expanded object behind a pointer to one: DatumGetEOHP() without a call.
inline ExpandedPartial *object_behind(const void *pointer) {
  varatt_expanded external;
  memcpy(&external, VARDATA_EXTERNAL(pointer), sizeof external);
  Assert(external.eohptr->eoh_methods == &kMethods);
  return reinterpret_cast<ExpandedPartial *>(external.eohptr);
}

// The expanded object of a value, or NULL if it is flat.
const ExpandedPartial *expanded(Datum value) {
  const void *pointer = DatumGetPointer(value);
  return VARATT_IS_EXTERNAL_EXPANDED(pointer) ? object_behind(pointer) : nullptr;
}

// A flat state, to be read as long as the value is there.
State *open_flat(const struct varlena *value) {
  const auto *payload = reinterpret_cast<const uint8 *>(VARDATA_ANY(value));
  const Size length = VARSIZE_ANY_EXHDR(value);
  Partial partial;
  const Finding finding = parse_partial(payload, length, &partial);
  if (!finding.ok())
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("partial state is damaged: %s", finding_text(finding))));
  const auto [values, rate] = partial.header.capacity;
  State *state =
      make_state({CurrentMemoryContext},
                 {partial.self_sized(), partial.self_sized() ? 0 : static_cast<double>(values),
                  rate, Layout::lines, Family::none});
  state->header.element = partial.header.element;
  state->no_rows = partial.content == Content::no_rows;
  read_content(state, partial.content == Content::bitmap, BagForm::hashes, payload + kPartialHead,
               length - kPartialHead);
  return state;
}

const State *state_to_read(Datum value) {
  if (const ExpandedPartial *partial = expanded(value))
    return partial->state;
  return open_flat(PG_DETOAST_DATUM_PACKED(value));
}

// A moving aggregate, which only a user can have made of these functions, would give the object to
// its other function as well. One in PL/pgSQL takes it over and frees it, and the server uses it
// nevertheless (array_append as a step comes to the same end).
void refuse_moving(FunctionCallInfo fcinfo) {
  const auto *window = castNode(WindowAggState, fcinfo->context);
  for (const WindowFuncExprState *call : each<WindowFuncExprState>(window->funcs)) {
    HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(call->wfunc->winfnoid));
    if (!HeapTupleIsValid(tuple))
      continue; // a window function that is no aggregate
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

// Where an aggregate has the expanded objects of its groups: in a child of its context, from which
// the server knows that it need not copy them. All groups share the child, because the server adds
// up the memory of a hash table at each new group, context by context. In a window each object has
// its own, because another function may take it over.
GroupMemory memory_of_object(FunctionCallInfo fcinfo) {
  static constexpr char kName[] = "bloomfilter partial states";
  GroupMemory memory = group_memory(fcinfo);
  if (!memory.group)
    refuse_moving(fcinfo);
  const MemoryContext first = memory.context->firstchild;
  memory.context =
      memory.group && first && first->name == kName
          ? first
          : AllocSetContextCreateInternal(memory.context, kName, ALLOCSET_START_SMALL_SIZES);
  return memory;
}

pg_noinline ExpandedPartial *make_expanded(FunctionCallInfo fcinfo, const Parameters &parameters) {
  const GroupMemory memory = memory_of_object(fcinfo);
  auto *partial = make_zeroed<ExpandedPartial>(memory.context);
  EOH_init_header(&partial->header, &kMethods, memory.context);
  partial->state = make_state(memory, parameters);
  partial->state->partial = true;
  partial->state->no_rows = true;
  return partial;
}

// The first argument, if it may be changed because an earlier step made it for this aggregate
// alone; else NULL, and make_partial_to_change() makes one with its content.
inline ExpandedPartial *partial_to_change(FunctionCallInfo fcinfo) {
  const void *pointer = PG_GETARG_POINTER(0);
  return PG_ARGISNULL(0) || !VARATT_IS_EXTERNAL_EXPANDED_RW(pointer) ? nullptr
                                                                     : object_behind(pointer);
}

pg_noinline ExpandedPartial *make_partial_to_change(FunctionCallInfo fcinfo,
                                                    const Parameters &parameters) {
  if (PG_ARGISNULL(0))
    return make_expanded(fcinfo, parameters);
  const State *given = state_to_read(PG_GETARG_DATUM(0));
  ExpandedPartial *partial = make_expanded(fcinfo, parameters_of(given));
  combine_states(partial->state, given);
  return partial;
}

// Has a row the same parameters as the first one, as far as their bits tell?
inline bool has_same_parameters(FunctionCallInfo fcinfo, const ExpandedPartial *partial) {
  for (int i = 2; i < PG_NARGS(); i++) {
    const NullableDatum &given = fcinfo->args[i], &first = partial->parameters[i - 2];
    if (given.isnull != first.isnull || (!given.isnull && given.value != first.value))
      return false;
  }
  return true;
}

// The object for a row whose parameters must be checked.
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

PG_FUNCTION_INFO_V1(bloomfilter_partial_in);
Datum bloomfilter_partial_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, kPartialType);
}

PG_FUNCTION_INFO_V1(bloomfilter_partial_recv);
Datum bloomfilter_partial_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, kPartialType);
}

PG_FUNCTION_INFO_V1(bloomfilter_partial_out);
Datum bloomfilter_partial_out(PG_FUNCTION_ARGS) {
  const struct varlena *value = PG_GETARG_VARLENA_PP(0);
  const Size length = VARSIZE_ANY_EXHDR(value);
  if (!AllocSizeIsValid(encoded_length(length) + 1))
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
             errmsg("text of a partial state of %zu bytes would exceed 1 GB", length),
             errhint("Give the expected number of values: bf_partial_agg(element, expected).")));
  PG_RETURN_CSTRING(payload_text(reinterpret_cast<const uint8 *>(VARDATA_ANY(value)), length));
}

PG_FUNCTION_INFO_V1(bloomfilter_partial_send);
Datum bloomfilter_partial_send(PG_FUNCTION_ARGS) {
  const struct varlena *value = PG_GETARG_VARLENA_PP(0);
  PG_RETURN_BYTEA_P(make_value(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)));
}

// A step of bf_dist_agg and bf_partial_agg, which have an element where bf_agg has a value.
PG_FUNCTION_INFO_V1(bloomfilter_partial_add);
Datum bloomfilter_partial_add(PG_FUNCTION_ARGS) {
  ExpandedPartial *partial = partial_to_change(fcinfo);
  if (unlikely(!partial || !has_same_parameters(fcinfo, partial)))
    partial = checked_partial(fcinfo, partial);
  State *state = partial->state;
  state->no_rows = false;
  if (!PG_ARGISNULL(1)) {
    const auto *value = reinterpret_cast<const HashedValue *>(PG_GETARG_POINTER(1));
    if (unlikely(!(state->header.element == value->type) ||
                 state->header.element.family == Family::none)) {
      check_stored_element(*value);
      admit_type(state, value->type);
    }
    push(state, value->hash);
    if (unlikely(value->second != value->hash))
      push(state, value->second);
  }
  PG_RETURN_DATUM(EOHPGetRWDatum(&partial->header));
}

// A step of bf_merge_agg, and what combines two states of any of the three.
PG_FUNCTION_INFO_V1(bloomfilter_partial_combine);
Datum bloomfilter_partial_combine(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0))
      PG_RETURN_NULL();
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  }
  const State *other = state_to_read(PG_GETARG_DATUM(1));
  ExpandedPartial *partial = partial_to_change(fcinfo);
  if (!partial)
    partial = make_partial_to_change(fcinfo, parameters_of(other));
  combine_states(partial->state, other);
  PG_RETURN_DATUM(EOHPGetRWDatum(&partial->header));
}

// The end of bf_partial_agg: its state, or that of no rows.
PG_FUNCTION_INFO_V1(bloomfilter_partial_agg_final);
Datum bloomfilter_partial_agg_final(PG_FUNCTION_ARGS) {
  if (!PG_ARGISNULL(0))
    PG_RETURN_DATUM(PG_GETARG_DATUM(0));
  const Parameters parameters = parameters_in_query(fcinfo, Layout::lines);
  PG_RETURN_DATUM(EOHPGetRODatum(&make_expanded(fcinfo, parameters)->header));
}

PG_FUNCTION_INFO_V1(bloomfilter_partial_final);
Datum bloomfilter_partial_final(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0))
    return filter_without_values(parameters_in_query(fcinfo, Layout::lines)).datum();
  if (const ExpandedPartial *partial = expanded(PG_GETARG_DATUM(0)))
    return finish_state(partial->state).datum();
  const State *flat = state_to_read(PG_GETARG_DATUM(0));
  State *state = make_state({CurrentMemoryContext}, parameters_of(flat));
  state->no_rows = true;
  combine_states(state, flat);
  return finish_state(state).datum();
}

SQL_FUNCTIONS_END
