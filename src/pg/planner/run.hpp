// Keeps notes while the server plans a query or a subquery.
//
// Several runs of the planner can be unfinished at the same time. A function that the planner calls
// for an estimate may itself run a query, which is then planned first.
#pragma once

#include "pg/server.hpp"

#include "pg/list.hpp"

namespace bloomfilter {

// One run of the planner, identified by `key`, and the `Notes` kept during it. `memory` is the
// memory context of the run. `notes` is zero at first, never moves, and is valid until `memory` is
// reset.
template <typename Notes> class Run {
public:
  static Notes *notes_of(const void *key, MemoryContext memory) {
    for (Run *run = last; run; run = run->before)
      if (run->key == key)
        return &run->notes;
    auto *run = make_zeroed<Run>(memory);
    run->key = key;
    run->before = last;
    run->end.func = forget;
    run->end.arg = run;
    MemoryContextRegisterResetCallback(memory, &run->end);
    last = run;
    return &run->notes;
  }

private:
  static void forget(void *ended) {
    for (Run **run = &last; *run; run = &(*run)->before)
      if (*run == ended) {
        *run = (*run)->before;
        return;
      }
  }

  static inline Run *last = nullptr; // the newest of the runs that have not ended
  const void *key;
  Run *before;
  MemoryContextCallback end;
  Notes notes;
};

} // namespace bloomfilter
