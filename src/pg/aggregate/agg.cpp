// bf_agg, cbf_agg and cf_agg: the aggregates that build a filter from rows.
//
// This file has their transition, combine, serialization and final functions. The transition
// function runs for every row, so it has a short path. If the parameters are the same for all rows,
// they and the element type are checked once for each call site and state. Later rows are only
// hashed and pushed. The state itself is in pg/aggregate/state.hpp.

#include "pg/server.hpp"

#include "pg/aggregate/arguments.hpp"
#include "pg/aggregate/parcel.hpp"
#include "pg/element/canonical.hpp"
#include "pg/value/call_site.hpp"
#include "pg/value/overfill.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

using namespace bloomfilter;

namespace {

// True if the arguments after the value are constants or parameters of the query. They are
// then the same in all rows of a state, and need no check in each row. Comparing them takes as long
// as hashing a number; comparing a layout takes longer.
bool arguments_are_fixed(FunctionCallInfo fcinfo) {
  CallSite *site = call_site(fcinfo);
  if (!site->arguments_known) {
    const Aggref *aggref = AggGetAggref(fcinfo); // NULL in a window
    site->arguments_known = true;
    site->arguments_fixed = aggref != nullptr;
    for (int i = 2; i < PG_NARGS() && site->arguments_fixed; i++) {
      const Expr *argument = static_cast<TargetEntry *>(list_nth(aggref->args, i - 1))->expr;
      site->arguments_fixed = IsA(argument, Const) || IsA(argument, Param);
    }
  }
  return site->arguments_fixed;
}

State *state_arg(FunctionCallInfo fcinfo, int argument) {
  return PG_ARGISNULL(argument) ? nullptr : reinterpret_cast<State *>(PG_GETARG_POINTER(argument));
}

pg_noinline State *make_call_state(FunctionCallInfo fcinfo, const Parameters &parameters) {
  GroupMemory memory = group_memory(fcinfo);
  memory.transfer = file_transfer(fcinfo);
  return make_state(memory, parameters);
}

// The complete transition function. Makes the state if this is the first row, checks the row's
// parameters, and adds its value.
pg_noinline Datum checked_transition(FunctionCallInfo fcinfo, Layout layout) {
  State *state = state_arg(fcinfo, 0);
  const bool fixed = arguments_are_fixed(fcinfo);
  if (!state)
    state = make_call_state(fcinfo, parameters_of_row_with_layout(fcinfo, layout));
  else if (PG_NARGS() > 2 && state->checked.site != fcinfo->flinfo) {
    if (unlikely(!agrees(state, parameters_of_row(fcinfo, layout))) || PG_NARGS() > 4)
      check_parameters(state, parameters_of_row_with_layout(fcinfo, layout));
  }
  if (fixed && state->checked.site != fcinfo->flinfo)
    state->checked = {fcinfo->flinfo, nullptr, state->checked.admitted};

  if (!PG_ARGISNULL(1)) {
    ValueType *value_type = argument_value_type(fcinfo, 1);
    add_value(state, value_type, PG_GETARG_DATUM(1));
    if (fixed && has_one_hash(value_type) && !is_foreign(state->header.geometry.layout))
      state->checked.value_type = value_type;
  }
  PG_RETURN_POINTER(state);
}

inline Datum transition(FunctionCallInfo fcinfo, Layout layout) {
  State *state = state_arg(fcinfo, 0);
  if (unlikely(!state || state->checked.site != fcinfo->flinfo || !state->checked.value_type ||
               PG_ARGISNULL(1)))
    return checked_transition(fcinfo, layout);
  push(state, inline_hash(state->checked.value_type, PG_GETARG_DATUM(1), state->header.seed));
  PG_RETURN_POINTER(state);
}

Datum finish(FunctionCallInfo fcinfo, Layout layout, bool within_limits = false) {
  State *state = state_arg(fcinfo, 0);
  if (!state)
    return filter_without_values(header_for(parameters_in_query(fcinfo, layout))).datum();
  const Filter filter = finish_state(state, within_limits);
  check_overfill(filter, Origin::built);
  return filter.datum();
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(bloomfilter_agg_trans, transition(fcinfo, Layout::lines));
SQL_RESULT(countingbloomfilter_agg_trans, transition(fcinfo, Layout::counting_lines));
SQL_RESULT(cuckoofilter_agg_trans, transition(fcinfo, Layout::cuckoo));

SQL_FUNCTION(filter_agg_combine) {
  State *state = state_arg(fcinfo, 0);
  expect_shared_files();
  if (PG_ARGISNULL(1)) {
    if (!state)
      PG_RETURN_NULL();
    PG_RETURN_POINTER(state);
  }

  const auto *parcel = reinterpret_cast<const Parcel *>(PG_GETARG_POINTER(1));
  const bool handed_over = parcel->place == Place::memory;
  if (!state && handed_over) // the leader's own state becomes the combined state
    PG_RETURN_POINTER(parcel->state);
  if (!state)
    state = make_call_state(fcinfo, parameters_of(parcel->header));
  combine_states(state, *parcel);
  if (handed_over) // each partition hands over a state; together they can be large
    MemoryContextDelete(parcel->state->bag.memory.context);
  PG_RETURN_POINTER(state);
}

SQL_RESULT(filter_agg_serial, PointerGetDatum(serialize_state(state_arg(fcinfo, 0))));
SQL_RESULT(filter_agg_deserial, PointerGetDatum(deserialize_state(fcinfo, PG_GETARG_BYTEA_PP(0))));
SQL_RESULT(bloomfilter_agg_final, finish(fcinfo, Layout::lines));
SQL_RESULT(countingbloomfilter_agg_final, finish(fcinfo, Layout::counting_lines));
SQL_RESULT(cuckoofilter_agg_final, finish(fcinfo, Layout::cuckoo));

// The final function of bf_join_agg, which makes the filters that the planner adds to a query. Such
// a filter must not make the query fail. If it would be too large, the result has every value.
SQL_RESULT(bloomfilter_join_final, finish(fcinfo, Layout::lines, true));

SQL_FUNCTIONS_END
