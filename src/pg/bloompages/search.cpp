// See search.hpp.

#include "pg/bloompages/search.hpp"

#include <algorithm>

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

// For at most this number of keys, the class is asked whether a condition needs the key. Each time
// it looks at all keys.
constexpr int kMostTried = 64;
// The most keys that the class looks at in all these calls together.
constexpr int kMostAsked = 8 << 20;
// A condition with more keys that are not needed is ignored: probing them would cost more than
// reading the table.
constexpr int kMostOptional = 1000;
// If the class only says yes or no, and the condition has at most this number of keys, the class is
// asked for each set of them.
constexpr int kMostListed = 10;

// --- whole values --------------------------------------------------------------------------------

FmgrInfo *hash_function_of(Search *search, const IndexedColumn &column, Oid type) {
  for (Search::OtherType &other : search->others)
    if (other.column == column.number && other.type == type)
      return &other.hash;
  const Oid found = get_opfamily_proc(column.family, type, type, kHashFunction);
  if (!OidIsValid(found))
    elog(ERROR, "missing support function %d for type %u in index \"%s\"", kHashFunction, type,
         RelationGetRelationName(search->index));
  Search::OtherType other = {column.number, type, {}};
  fmgr_info_cxt(found, &other.hash, search->memory);
  search->others.add(other, search->memory);
  return &search->others.items[search->others.count - 1].hash;
}

// True if a condition's argument has the type of the class.
bool is_type_of(const IndexedColumn &column, Oid type) {
  return !OidIsValid(type) || type == column.class_type || IsPolymorphicType(type);
}

uint64 hash_to_find(Search *search, IndexedColumn *column, Oid type, Datum value) {
  if (is_type_of(*column, type))
    return value_hash(*column, &column->hash, value);
  // The server's hash function for `name` does not know nondeterministic collations. The one for
  // text does, and their hashes are the same otherwise.
  if (type == NAMEOID)
    return value_hash(*column, &column->hash, CStringGetTextDatum(NameStr(*DatumGetName(value))));
  return value_hash(*column, hash_function_of(search, *column, type), value);
}

// Adds a needed hash with the copies that it may have.
void need(Search *search, uint64 hash, int copies, CopiesOf which) {
  for (int copy = 0; copy < copies; copy++)
    search->needed.add({copy_of_hash(hash, copy), copy, which, 0}, search->keys);
}

int most_copies_of_key(const IndexedColumn &column) {
  return column.has_ngrams ? 1 : kMostCopies;
}

// Adds what the filter of a range with an equal value has: the hashes of the whole value, and those
// of its keys.
void need_value_with_keys(Search *search, IndexedColumn *column, Datum value) {
  for_each_hash(column, value, {1, 0, 1}, [=](uint64 hash, CopiesOf which) {
    if (which == &HashCopies::value || which == &HashCopies::keyed_value)
      need(search, hash, kMostCopies, which);
  });
  for (const uint64 hash : own_keys(column, value))
    need(search, hash, most_copies_of_key(*column), &HashCopies::key);
}

// --- keys ----------------------------------------------------------------------------------------

// A copy of a condition's argument that lives as long as the keys, which may point into it.
Datum kept_argument(const IndexedColumn &column, Oid type, Datum argument) {
  int16 length;
  bool by_value;
  get_typlenbyval(OidIsValid(type) ? type : column.type, &length, &by_value);
  if (length == -1)
    return PointerGetDatum(PG_DETOAST_DATUM_COPY(argument));
  return datumCopy(argument, by_value, length);
}

// Asks the class whether the condition can be true, with a GinTernaryValue for each key. For
// a class that only says yes or no, `check` has a bool for each key.
bool ask_class(Search *search, const KeyCondition &condition, void *check) {
  CHECK_FOR_INTERRUPTS();
  IndexedColumn *column = condition.column;
  const MemoryContext before = MemoryContextSwitchTo(search->scratch);
  bool may_be;
  if (column->is_ternary) {
    may_be = DatumGetGinTernaryValue(FunctionCall7Coll(
                 &column->consistent, column->collation, PointerGetDatum(check),
                 UInt16GetDatum(condition.strategy), condition.argument,
                 Int32GetDatum(condition.count), PointerGetDatum(condition.extra),
                 PointerGetDatum(condition.keys), PointerGetDatum(condition.nulls))) != GIN_FALSE;
  } else {
    bool recheck = true;
    may_be = DatumGetBool(FunctionCall8Coll(
        &column->consistent, column->collation, PointerGetDatum(check),
        UInt16GetDatum(condition.strategy), condition.argument, Int32GetDatum(condition.count),
        PointerGetDatum(condition.extra), PointerGetDatum(&recheck),
        PointerGetDatum(condition.keys), PointerGetDatum(condition.nulls)));
  }
  MemoryContextSwitchTo(before);
  MemoryContextReset(search->scratch);
  return may_be;
}

// Asks a class that only says yes or no for every set of keys. Then finds for each set whether the
// condition can be true if at most these keys are there: if the class says yes for the set or for a
// part of it, because keys that may be there may also be missing.
void list_sets(Search *search, KeyCondition *condition) {
  const int sets = 1 << condition->count;
  condition->answers = make_zeroed_array<bool>(sets, search->keys);
  for (int set = 0; set < sets; set++) {
    bool check[kMostListed];
    for (int i = 0; i < condition->count; i++)
      check[i] = (set >> i & 1) != 0;
    condition->answers[set] = ask_class(search, *condition, check);
  }
  for (int i = 0; i < condition->count; i++)
    for (int set = 0; set < sets; set++)
      if (set >> i & 1)
        condition->answers[set] |= condition->answers[set ^ 1 << i];
}

// True if the condition can be true for a range that may have the keys for which has(key) is true.
template <typename Has>
bool can_be_true(Search *search, const KeyCondition &condition, GinTernaryValue *check, Has has) {
  if (!condition.is_asked)
    return true;
  if (condition.answers) {
    int set = 0;
    for (int i = 0; i < condition.count; i++)
      set |= has(i) ? 1 << i : 0;
    return condition.answers[set];
  }
  for (int i = 0; i < condition.count; i++)
    check[i] = has(i) ? GIN_MAYBE : GIN_FALSE;
  return ask_class(search, condition, check);
}

// Adds the needed keys to the search. If the condition cannot be true even with all keys, nothing
// is found. Returns the number of keys that are not needed.
int add_needed(Search *search, const KeyCondition &condition) {
  auto *check = make_array<GinTernaryValue>(condition.count, search->keys);
  const int tried = Min(Min(condition.count, kMostTried), 1 + kMostAsked / (condition.count + 1));
  int needed = 0;
  for (int i = 0; i < tried; i++)
    if (condition.is_probed[i] &&
        !can_be_true(search, condition, check, [=](int other) { return other != i; })) {
      need(search, condition.hashes[i], most_copies_of_key(*condition.column), &HashCopies::key);
      needed++;
    }
  if (!can_be_true(search, condition, check, [](int) { return true; }))
    search->finds_nothing = true;
  pfree(check);
  return condition.count - needed;
}

// Hashes the keys that can be probed.
void hash_condition_keys(Search *search, KeyCondition *condition, const bool *is_partial) {
  condition->hashes = make_zeroed_array<uint64>(condition->count, search->keys);
  condition->is_probed = make_zeroed_array<bool>(condition->count, search->keys);
  for (int32 i = 0; i < condition->count; i++) {
    condition->is_probed[i] = !condition->nulls[i] && !(is_partial && is_partial[i]);
    if (condition->is_probed[i])
      condition->hashes[i] = key_hash(condition->column, condition->keys[i]);
  }
}

void add_key_condition(Search *search, IndexedColumn *column, StrategyNumber strategy, Oid type,
                       Datum argument) {
  KeyCondition condition = {};
  condition.column = column;
  condition.strategy = strategy;
  condition.argument = kept_argument(*column, type, argument);
  bool *is_partial = nullptr;
  int32 mode = GIN_SEARCH_MODE_DEFAULT;
  condition.keys = reinterpret_cast<Datum *>(DatumGetPointer(
      FunctionCall7Coll(&column->extract_query, column->collation, condition.argument,
                        PointerGetDatum(&condition.count), UInt16GetDatum(strategy),
                        PointerGetDatum(&is_partial), PointerGetDatum(&condition.extra),
                        PointerGetDatum(&condition.nulls), PointerGetDatum(&mode))));
  if (!condition.keys || condition.count < 0)
    condition.count = 0;
  if (mode != GIN_SEARCH_MODE_DEFAULT && mode != GIN_SEARCH_MODE_INCLUDE_EMPTY)
    return;
  condition.takes_empty = mode == GIN_SEARCH_MODE_INCLUDE_EMPTY;
  if (condition.count == 0) {
    if (condition.takes_empty)
      need(search, no_keys_hash(*column), 1, &HashCopies::key);
    else
      search->finds_nothing = true;
    return;
  }
  if (!condition.nulls)
    condition.nulls = make_zeroed_array<bool>(condition.count);
  hash_condition_keys(search, &condition, is_partial);
  condition.is_asked = column->is_ternary || condition.count <= kMostListed;
  if (!column->is_ternary && condition.is_asked)
    list_sets(search, &condition);
  const int optional = add_needed(search, condition);
  if (optional > 0 && optional <= kMostOptional)
    search->conditions.add(condition, search->keys);
}

// --- probes --------------------------------------------------------------------------------------

FilterSet probe(Search *search, const RangeSlot &slot, uint32 group, uint64 hash, FilterSet among) {
  search->lines += slot.layout == Layout::lines ? 1 : 2;
  return probe_ranges(search->index, slot, group, hash, among);
}

// Probes all needed hashes for all ranges of the first group, and puts them into the order of how
// many ranges have them.
FilterSet probe_and_sort(Search *search, const RangeSlot &slot, uint32 group, FilterSet among) {
  FilterSet left = among;
  for (NeededHash &needed : search->needed) {
    CHECK_FOR_INTERRUPTS();
    if (!needed.is_in(slot))
      continue;
    const FilterSet found = probe(search, slot, group, needed.hash, among);
    needed.found = found.count();
    left = left & found;
  }
  std::sort(search->needed.begin(), search->needed.end(),
            [](const NeededHash &a, const NeededHash &b) { return a.found < b.found; });
  search->is_sorted = true;
  return left;
}

FilterSet probe_needed(Search *search, const RangeSlot &slot, uint32 group, FilterSet among) {
  if (!search->is_sorted && slot.ready > 0)
    return probe_and_sort(search, slot, group, among);
  for (const NeededHash &needed : search->needed) {
    CHECK_FOR_INTERRUPTS();
    if (among.is_empty())
      break;
    if (needed.is_in(slot))
      among = probe(search, slot, group, needed.hash, among);
  }
  return among;
}

// Asks the class for each range. Ranges beside each other often have the same keys.
FilterSet ask_for_ranges(Search *search, const KeyCondition &condition, const FilterSet *found,
                         FilterSet among) {
  auto *check = make_array<GinTernaryValue>(condition.count);
  FilterSet result = {};
  int last = -1;
  bool answer = false;
  for (int range = 0; range < kGroupRanges; range++) {
    if (!among.has(range))
      continue;
    bool same = last >= 0;
    for (int i = 0; same && i < condition.count; i++)
      same = found[i].has(range) == found[i].has(last);
    if (!same)
      answer = can_be_true(search, condition, check, [=](int i) { return found[i].has(range); });
    if (answer)
      result.add(range);
    last = range;
  }
  pfree(check);
  return result;
}

FilterSet probe_keys(Search *search, const KeyCondition &condition, const RangeSlot &slot,
                     uint32 group, FilterSet among) {
  FilterSet any = {};
  auto *found = make_array<FilterSet>(condition.count);
  for (int i = 0; i < condition.count; i++) {
    CHECK_FOR_INTERRUPTS();
    found[i] = among;
    const int copies = Min(int{slot.copies.key}, most_copies_of_key(*condition.column));
    for (int copy = 0; condition.is_probed[i] && copy < copies; copy++)
      found[i] = probe(search, slot, group, copy_of_hash(condition.hashes[i], copy), found[i]);
    any = any | found[i];
  }
  if (condition.takes_empty)
    any = any | probe(search, slot, group, no_keys_hash(*condition.column), among);
  const FilterSet result = ask_for_ranges(search, condition, found, among & any);
  pfree(found);
  return result;
}

} // namespace

Search *begin_search(Relation index) {
  auto *search = make_zeroed<Search>();
  search->index = index;
  search->memory =
      AllocSetContextCreate(CurrentMemoryContext, "bloomfilter search", ALLOCSET_SMALL_SIZES);
  search->keys = AllocSetContextCreate(search->memory, "bloomfilter keys", ALLOCSET_DEFAULT_SIZES);
  search->scratch =
      AllocSetContextCreate(search->memory, "bloomfilter scratch", ALLOCSET_DEFAULT_SIZES);
  const MemoryContext before = MemoryContextSwitchTo(search->memory);
  search->columns = read_columns(index);
  MemoryContextSwitchTo(before);
  return search;
}

void end_search(Search *search) {
  MemoryContextDelete(search->memory);
  pfree(search);
}

void clear_conditions(Search *search) {
  MemoryContextReset(search->keys);
  search->needed = {};
  search->conditions = {};
  search->finds_nothing = search->is_sorted = false;
}

void add_condition(Search *search, int column, StrategyNumber strategy, Oid type, Datum argument) {
  IndexedColumn *asked = &search->columns.items[column];
  const MemoryContext before = MemoryContextSwitchTo(search->keys);
  if (asked->has_keys && (strategy != kWholeValueStrategy || !asked->has_values))
    add_key_condition(search, asked, strategy, type, argument);
  else if (!asked->has_equal_keys)
    need(search, hash_to_find(search, asked, type, argument), kMostCopies, &HashCopies::value);
  else if (is_type_of(*asked, type)) // the keys of a value of another type are not known
    need_value_with_keys(search, asked, argument);
  MemoryContextSwitchTo(before);
}

FilterSet search_group(Search *search, const RangeSlot &slot, uint32 group, FilterSet among) {
  if (search->finds_nothing)
    return {};
  among = probe_needed(search, slot, group, among);
  for (const KeyCondition &condition : search->conditions) {
    if (among.is_empty())
      break;
    const MemoryContext before = MemoryContextSwitchTo(search->keys);
    among = probe_keys(search, condition, slot, group, among);
    MemoryContextSwitchTo(before);
  }
  return among;
}

} // namespace bloomfilter
