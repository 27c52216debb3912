// What is remembered while the server plans a query, or one of its subqueries. Planning one can
// plan others before it goes on: a function that is called for an estimate may run a query.
#ifndef BLOOMFILTER_PG_PLANNER_RUN_HPP
#define BLOOMFILTER_PG_PLANNER_RUN_HPP

#include "pg/server.hpp"

#include "pg/list.hpp"

namespace bloomfilter {

// A run of the planner, which `key` stands for, and what `Notes` are kept of it. `notes` starts at
// zero, is valid as long as `memory`, which is that of the run, and stays where it is.
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

  static inline Run *last = nullptr; // of those that have begun and not ended
  const void *key;
  Run *before;
  MemoryContextCallback end;
  Notes notes;
};

} // namespace bloomfilter

#endif
