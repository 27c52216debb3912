// The columns of a bloompages index: what their operator classes say, and the hashes that a value
// has in the filter of its range.
//
// An operator class has one or both of these:
//
// - a hash function. The value as a whole has a hash, and `=` looks for it.
// - GIN's support functions. The value has *keys*: the elements of an array, the words of a text,
//   the paths of a document. Each key has a hash. A condition looks for some keys, and the class
//   says what it means if one of them is not there (pg/bloompages/search.hpp).
//
// The support functions have the numbers that they have in GIN:
//
//   1  hash of a value: (type, bigint) → bigint
//   2  keys of a value (extractValue)
//   3  keys of a condition (extractQuery)
//   4  what a condition means for some keys (consistent); here, it may be triConsistent, too
//   5  hash of a key: (type of the key, bigint) → bigint. If there is none, it is the extended hash
//      function of the class's STORAGE type, or of the elements of an array. N-grams are hashed
//      without a function.
//   6  the same with "maybe" (triConsistent)
//
// Strategies from 100 on are ours: 100 is equality of whole values, if the class has keys. All
// others are GIN's, and its functions get them as they are.
//
// A column's number is mixed into its hashes, because one filter has those of all columns. NULL is
// in no filter: no condition of these operator classes finds it. Keys that are NULL have no hash
// either. A value without keys has a hash that says so, because `'{}' <@ …` is true.
//
// Keys are many and may be looked for together, so their filters have a higher rate than those of
// values, and n-grams a still higher one. A filter has one rate. So in an index that has keys, a
// whole value has several hashes, and in one that has n-grams, other keys, too (RangeSlot::copies).
//
// If equal values are known to have equal keys, `=` looks for the keys of its value, too, and the
// whole value needs fewer hashes: one, unless many values have no key but frequent ones
// (pg/bloompages/summarize.hpp). This is known of the classes for arrays, jsonb and n-grams, by
// their functions. It is not known of other classes: GIN's contract says nothing about `=`. That of
// citext ignores case, for instance, but extractValue may take the letters as they are.
//
// Where this is known, the whole value's hash is made of the hashes of its keys in their order,
// because hashing the value once more takes a quarter of the time of a build. Documents that differ
// only in empty objects and arrays, or in how their values are nested, may share this hash.
#pragma once

#include "pg/server.hpp"

#include "core/bloompages_pages.hpp"
#include "core/murmur3.hpp"
#include "pg/bloompages/ngram_class.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/stratnum.h"
#include "utils/rel.h"
}

namespace bloomfilter {

constexpr uint16 kHashFunction = 1, kExtractValue = 2, kExtractQuery = 3, kConsistent = 4,
                 kKeyHashFunction = 5, kTriConsistent = 6;
constexpr uint16 kSupportFunctions = 6;
constexpr StrategyNumber kWholeValueStrategy = 100;

struct IndexedColumn {
  int number;     // from 0 on
  Oid type;       // of the column or the expression, without domains
  int16 length;   // of the type: -1 if values can be stored out of line
  Oid family;     // of the operator class, like the next one
  Oid class_type; // the type that the class is for
  Oid collation;  // of the index's column
  Oid key_collation;
  bool has_values;     // `hash` exists
  bool has_keys;       // the next ones exist
  bool has_ngrams;     // the keys are those of text_ngram_ops
  bool is_ternary;     // `consistent` is triConsistent
  bool has_equal_keys; // equal values have equal keys in the same order
  FmgrInfo hash, extract_value, extract_query, consistent, key_hash;
};

struct IndexedColumns {
  IndexedColumn *items;
  int count;
  bool have_keys, have_ngrams; // at least one of them
};

// The columns of an index, with functions of their own. The index keeps such functions, too. But a
// function in SQL, once called, keeps what its names meant to that caller, who may have had another
// search_path. Raises 42883 if a class lacks a function that it needs.
IndexedColumns read_columns(Relation index);

// The type of the keys of a column whose class has keys: InvalidOid if only the class knows it.
Oid key_type_of(Relation index, int column);

inline uint64 in_column(int column, uint64 hash) {
  return mix64(hash + static_cast<uint64>(column + 1) * 0x9E3779B97F4A7C15);
}
// The hash of a whole value. `function` hashes values of the value's type, which may be another one
// than the column's.
uint64 value_hash(const IndexedColumn &column, FmgrInfo *function, Datum value);
inline uint64 ngram_hash(const IndexedColumn &column, uint32 ngram) {
  return in_column(column.number, ngram);
}
// The hash of a key.
uint64 key_hash(IndexedColumn *column, Datum key);
// The hash of a value without keys.
inline uint64 no_keys_hash(const IndexedColumn &column) {
  return in_column(column.number, 0x1D872B41D6C2A9F5);
}
// The further hashes of a whole value or a key: copy 0 is the hash itself.
inline uint64 copy_of_hash(uint64 hash, int copy) {
  return copy == 0 ? hash : mix64(hash + static_cast<uint64>(copy));
}

// The keys of a value. The array is empty if there are none. Its memory is the current context's.
struct ExtractedKeys {
  Datum *keys;
  bool *nulls; // NULL if no key is NULL
  int32 count;
};
ExtractedKeys extract_keys(IndexedColumn *column, Datum value);

// Which of the numbers of copies a hash has.
using CopiesOf = uint8 HashCopies::*;

// Calls add(hash, which) for all hashes of a value. A hash may come several times. `which` is NULL
// for the hash of a value without keys, which has no copies. Nor have n-grams. Leaves garbage in
// the current memory context.
template <typename Add>
void for_each_hash(IndexedColumn *column, Datum value, HashCopies copies, Add add) {
  const auto add_copies = [&](uint64 hash, CopiesOf which) {
    for (int copy = 0; copy < copies.*which; copy++)
      add(copy_of_hash(hash, copy), which);
  };
  if (column->has_keys && column->length == -1) // detoast it once for all functions
    value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
  bool is_keyed = false, is_empty = column->has_keys;
  uint64 hash_of_keys = 0;
  if (column->has_ngrams) {
    uint32 number = 0;
    for_each_ngram_of(reinterpret_cast<struct varlena *>(DatumGetPointer(value)),
                      [&](uint32 ngram) {
                        is_keyed = true;
                        if (++number % 65536 == 0)
                          CHECK_FOR_INTERRUPTS();
                        add(ngram_hash(*column, ngram), &HashCopies::key);
                      });
    is_empty = !is_keyed;
  } else if (column->has_keys) {
    const ExtractedKeys keys = extract_keys(column, value);
    for (int32 i = 0; i < keys.count; i++) {
      const bool is_null = keys.nulls && keys.nulls[i];
      const uint64 hash = is_null ? no_keys_hash(*column) : key_hash(column, keys.keys[i]);
      hash_of_keys = mix64(hash_of_keys + hash);
      if (!is_null)
        add_copies(hash, &HashCopies::key);
      is_keyed |= !is_null;
    }
    is_empty = keys.count == 0;
  }
  if (is_empty)
    add(no_keys_hash(*column), nullptr);
  if (!column->has_values)
    return;
  is_keyed &= column->has_equal_keys;
  add_copies(is_keyed && !column->has_ngrams ? hash_of_keys
                                             : value_hash(*column, &column->hash, value),
             is_keyed ? &HashCopies::keyed_value : &HashCopies::value);
}

// The hashes of a value's keys that `=` looks for, too. Those of a value with many keys are spread
// over it, because the beginnings of long values are often the same.
GrowingArray<uint64> own_keys(IndexedColumn *column, Datum value);

// True if the functions that hash a row's values may be called while there are workers. Those of
// conditions do not count.
bool are_parallel_safe(const IndexedColumns &columns);

} // namespace bloomfilter
