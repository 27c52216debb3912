// Keeps notes for as long as the server plans one query or subquery.
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
template <typename Notes> class PerPlanning {
public:
  static Notes *notes_of(const void *key, MemoryContext memory) {
    for (PerPlanning *planning = last; planning; planning = planning->before)
      if (planning->key == key)
        return &planning->notes;
    auto *planning = make_zeroed<PerPlanning>(memory);
    planning->key = key;
    planning->before = last;
    planning->end.func = forget;
    planning->end.arg = planning;
    MemoryContextRegisterResetCallback(memory, &planning->end);
    last = planning;
    return &planning->notes;
  }

private:
  static void forget(void *ended) {
    for (PerPlanning **planning = &last; *planning; planning = &(*planning)->before)
      if (*planning == ended) {
        *planning = (*planning)->before;
        return;
      }
  }

  static inline PerPlanning *last = nullptr; // the newest of the runs that have not ended
  const void *key;
  PerPlanning *before;
  MemoryContextCallback end;
  Notes notes;
};

} // namespace bloomfilter
