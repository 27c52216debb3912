// An aggregate's parameters, read from the query instead of from its rows.
//
// An aggregate usually takes its parameters from the arguments of its first row. If there is no
// row, its transition function never runs, and its final function gets only a NULL state. The
// result should still be the filter that the query describes: bf_agg(x, 1000) over no rows is an
// empty filter for 1000 values. Values can be added to this filter later, and it has the size of
// the other filters in its column. So the final function looks for the arguments of its call in the
// finished plan. It evaluates the arguments that do not depend on a row. This happens once for each
// group or window frame without rows, and never if there are rows.
//
// In a finished plan, the arguments of a call are mostly columns of the node below. The walk
// replaces a column by the expression that computes it, down to constants and to parameters of the
// query. In a parallel plan it first has to find the partial aggregate that made the states.
//
// A node of Bloom Filter Build keeps the arguments of its calls in its own plan. It needs only the
// evaluation, and uses it for calls with rows, too.
//
// The walk does not find everything. It does not look into a CTE or a function in FROM. Another
// extension may hide an expression in a node of its own, or call the final function within an
// aggregate of its own, as Citus does. A window does not tell which of its calls a final function
// ends. An argument that is not found counts as NULL, as if the query had not given it. The result
// is an empty filter in this case, too, but it has a default size.
#pragma once

#include "pg/server.hpp"

#include "pg/aggregate/parameters.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// True if an expression has the same value for all rows, wherever and however often it is
// evaluated.
bool is_same_for_all_rows(Node *node);

// The parameters of a call that saw rows. The first argument is the value. All other arguments must
// be constants or parameters of the query, so every row has the same parameters. Raises the errors
// of parameters_of_row_with_layout().
Parameters parameters_with_rows(const List *arguments, ExprContext *context, Layout layout);

// The parameters of a call that saw no row. A parameter that depends on a row counts as NULL. So
// does an expected number below 1, such as a count over no rows. If the expected number counts as
// NULL for one of these reasons, a filter of another system's layout is made for kDefaultExpected.
// parameters_in_query() finds the arguments of the call that a final function ends. Arguments that
// it does not find count as NULL, too.
Parameters parameters_without_rows(const List *arguments, ExprContext *context, Layout layout);
Parameters parameters_in_query(FunctionCallInfo fcinfo, Layout layout);

} // namespace bloomfilter
