// What a scan looks for, and which ranges of a group may have it.
//
// A condition on a whole value is true for no row of a range whose filter lacks the value's hash.
// If equal values have equal keys (pg/bloompages/columns.hpp), the filter must have these, too.
//
// A condition on keys has the keys that extractQuery() finds in it, and the operator class says
// whether it can be true if some of them are there and some are not. A filter knows only that a key
// is *not* there. So the class is asked with "maybe" and "no", and never with "yes"; the keys of
// a range may also belong to different rows. A class that only says yes or no is asked for every
// set of keys.
//
// Most conditions are false as soon as one key is missing. Such keys are *needed*. They are found
// once: a key is needed if the class says "no" when this key alone is missing. Needed hashes of all
// conditions are probed one after the other, each for the ranges that are left. In the first group
// all are probed for all ranges. From then on, the one that fewest ranges have comes first.
//
// The other keys, as those of `&&`, are probed together, and the class is asked for each range.
//
// The trade-off: a scan reads a page of the index for each needed hash and group until no range is
// left. So it takes 1 to 3 pages a group for a needle of a LIKE that few rows have. A frequent one
// gains nothing, because every range has its n-grams.
//
// Tests: sql/inside.sql, sql/inside_changes.sql, sql/ngrams.sql, test/search/bloompages.py.
#pragma once

#include "pg/server.hpp"

#include "pg/bloompages/columns.hpp"
#include "pg/bloompages/pages.hpp"

extern "C" {
#include "access/gin.h"
#include "access/skey.h"
}

namespace bloomfilter {

// A hash that a range must have.
struct NeededHash {
  uint64 hash;
  int copy; // its number; probed in groups whose hashes have more copies than this
  CopiesOf which;
  int found; // how many ranges of the first group have it

  bool is_in(const RangeSlot &slot) const { return copy < slot.copies.*which; }
};

// A condition some of whose keys are not needed.
struct KeyCondition {
  IndexedColumn *column;
  StrategyNumber strategy;
  Datum argument;
  int32 count; // of the keys, needed ones among them
  Datum *keys;
  bool *nulls;
  Pointer *extra;
  uint64 *hashes;
  bool *is_probed;  // false: the key is NULL, or stands for several keys, so it may be anywhere
  bool takes_empty; // values without keys may fulfil the condition
  // If the class can only say yes or no: whether the condition can be true if at most these keys
  // are there, for all sets of keys. NULL if the class is asked each time, or if there are too many
  // keys.
  bool *answers;
  bool is_asked; // false if the class only says yes or no, and there are too many keys to list
};

struct Search {
  Relation index;
  IndexedColumns columns;
  MemoryContext memory;  // for as long as the search
  MemoryContext keys;    // of the conditions; reset when they change
  MemoryContext scratch; // reset after each call of the class's functions
  bool finds_nothing;
  int64 lines;    // that were probed
  bool is_sorted; // the needed hashes are in the order that the first group gave
  GrowingArray<NeededHash> needed;
  GrowingArray<KeyCondition> conditions;
  // The hash functions of other types that the conditions compare with.
  struct OtherType {
    int column;
    Oid type;
    FmgrInfo hash;
  };
  GrowingArray<OtherType> others;

  // True if every range is found.
  bool finds_all() const { return !finds_nothing && needed.count == 0 && conditions.count == 0; }
};

// Starts a search without conditions, in memory of the current context.
Search *begin_search(Relation index);
void end_search(Search *search);

// Forgets all conditions.
void clear_conditions(Search *search);
// Adds a condition on a column; the first one is 0. InvalidOid stands for the class's own type of
// an argument.
void add_condition(Search *search, int column, StrategyNumber strategy, Oid type, Datum argument);

// The ranges of `among` that may have rows for which all conditions are true.
FilterSet search_group(Search *search, const RangeSlot &slot, uint32 group, FilterSet among);

} // namespace bloomfilter
