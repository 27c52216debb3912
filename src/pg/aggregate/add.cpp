// See add.hpp.

#include "pg/aggregate/add.hpp"

#include "pg/element/canonical.hpp"
#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"

namespace bloomfilter {
namespace {

// Checks that the state holds values of this element type; raises ERROR 42804 if it does not. If
// the state has no family yet, it gets the family of this value.
pg_noinline void admit_value(State *state, const Element *element) {
  check_holds(state->header, element, Use::add);
  adopt_family(&state->header, *element);
}

// A cuckoo filter cannot hold a value with two hashes. It keeps each hash once. Removing the value
// would remove its second hash, although another value may have the same second hash.
[[noreturn]] void raise_two_hashes() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cf_agg does not support character varying values that end with a blank"),
                  errhint("Cast the values to text.")));
}

pg_noinline void push_second(State *state, Element *element, Datum value) {
  const SecondHash second = second_hash(element, value, state->header.seed);
  if (!second.exists)
    return;
  if (structure_of(state->header.geometry.layout) == Structure::buckets)
    raise_two_hashes();
  push(state, second.hash);
}

inline void push_digest(State *state, const Digest &digest) {
  push(state, digest.first);
  if (digest_size(state->header.geometry.layout) > 1)
    push(state, digest.second);
}

// Adds a value's digests to a state for another system's layout.
pg_noinline void push_foreign(State *state, Element *element, Datum value) {
  Digest digest;
  if (likely(state->admitted == element->family && !element->varying &&
             try_foreign_digest(element, value, state->header, &digest))) {
    push_digest(state, digest);
    return;
  }
  const Digests digests = foreign_digests(element, value, state->header, Use::add);
  admit_value(state, element);
  if (unlikely(digests.no_value))
    raise_no_value(state->header);
  state->admitted = element->family;
  for (int i = 0; i < digests.count; i++)
    push_digest(state, digests.digest[i]);
}

} // namespace

void add_value(State *state, Element *element, Datum value) {
  if (unlikely(is_foreign(state->header.geometry.layout))) {
    push_foreign(state, element, value);
    return;
  }
  const uint64 hash = first_hash(element, value, state->header.seed);
  if (unlikely(!fits(state->header, element)))
    admit_value(state, element);
  push(state, hash);
  if (unlikely(element->varying))
    push_second(state, element, value);
}

void add_items(State *state, const Items &items) {
  const MemoryContext before = MemoryContextSwitchTo(items.scratch);
  // If every value of the element type has one hash, checking the first value checks all of them.
  const bool alike = has_one_hash(items.element) && !is_foreign(state->header.geometry.layout);
  for (int i = 0; i < items.count; i++) {
    if (alike && i > 0)
      push(state, inline_hash(items.element, items.values[i], state->header.seed));
    else
      add_value(state, items.element, items.values[i]);
    reset_scratch(items);
  }
  MemoryContextSwitchTo(before);
}

} // namespace bloomfilter
