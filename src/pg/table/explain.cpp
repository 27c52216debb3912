#include "pg/table/explain.hpp"

#include <cmath>

extern "C" {
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"
}

namespace bloomfilter {
namespace {

// How many digits behind the point a percentage is shown with: as many as the first two that are
// not zero need, but at least two, and two of a percentage that is next to nothing.
int digits_of(double percent) {
  return percent < 1e-8 ? 2 : Max(2, 1 - static_cast<int>(std::floor(std::log10(percent))));
}

} // namespace

void explain_conditions(const char *label, List *conditions, CustomScanState *node, List *ancestors,
                        ExplainState *explained) {
  if (conditions == NIL)
    return;
  List *context = set_deparse_context_plan(explained->deparse_cxt, node->ss.ps.plan, ancestors);
  Node *condition = reinterpret_cast<Node *>(make_ands_explicit(conditions));
  ExplainPropertyText(label, deparse_expression(condition, context, explained->verbose, false),
                      explained);
}

void explain_rows(const char *label, double rows, const Instrumentation *instrument,
                  ExplainState *explained) {
  if (instrument->nloops > 0 || explained->format != EXPLAIN_FORMAT_TEXT)
    ExplainPropertyFloat(label, nullptr, rows / Max(instrument->nloops, 1.0), 0, explained);
}

void explain_rate(const char *label, double rate, ExplainState *explained) {
  ExplainPropertyFloat(label, "%", 100 * rate, digits_of(100 * rate), explained);
}

} // namespace bloomfilter
