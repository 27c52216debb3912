// See columns.hpp.

#include "pg/bloompages/columns.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/gin.h"
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace bloomfilter {
namespace {

// The type of what an index's column indexes. With STORAGE, the index's own attribute has the type
// of the keys.
Oid indexed_type_of(Relation index, int column) {
  const AttrNumber number = index->rd_index->indkey.values[column];
  if (number != 0)
    return get_atttype(index->rd_index->indrelid, number);
  int expression = 0; // expressions are in the order of their columns
  for (int i = 0; i < column; i++)
    expression += index->rd_index->indkey.values[i] == 0 ? 1 : 0;
  return exprType(static_cast<Node *>(list_nth(RelationGetIndexExpressions(index), expression)));
}

Oid storage_type_of(Relation index, int column) {
  HeapTuple tuple = SearchSysCache1(
      CLAOID, ObjectIdGetDatum(get_index_column_opclass(RelationGetRelid(index), column + 1)));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for an operator class of index \"%s\"",
         RelationGetRelationName(index));
  const Oid type = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple))->opckeytype;
  ReleaseSysCache(tuple);
  return type;
}

// InvalidOid if the class of a column has no function of this number.
Oid function_of(Relation index, int column, uint16 number) {
  return index_getprocid(index, static_cast<AttrNumber>(column + 1), number);
}

bool find_function(Relation index, int column, uint16 number, FmgrInfo *function) {
  const Oid found = function_of(index, column, number);
  if (!OidIsValid(found))
    return false;
  fmgr_info(found, function);
  return true;
}

[[noreturn]] void raise_lacking(Relation index, int column) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("operator class of column %d of index \"%s\" lacks support functions",
                         column + 1, RelationGetRelationName(index)),
                  errhint("It needs function %d, or functions %d, %d and %d.", kHashFunction,
                          kExtractValue, kExtractQuery, kTriConsistent)));
}

// True if a function is the one with which text_ngram_ops finds keys. The address that the server
// calls does not tell it: if the function has settings of its own, it is that of another function.
bool is_ngram_function(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for function %u", function);
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang;
  bool is_null;
  const Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
  const bool is_it = language == ClanguageId && !is_null &&
                     strcmp(TextDatumGetCString(source), "bloompages_ngram_values") == 0;
  ReleaseSysCache(tuple);
  return is_it;
}

void find_key_hash(Relation index, IndexedColumn *column) {
  if (find_function(index, column->number, kKeyHashFunction, &column->key_hash))
    return;
  const Oid type = key_type_of(index, column->number);
  if (!OidIsValid(type))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("operator class of column %d of index \"%s\" does not say what type its "
                           "keys have",
                           column->number + 1, RelationGetRelationName(index)),
                    errhint("Name the type with STORAGE, or the hash function of the keys as "
                            "function %d.",
                            kKeyHashFunction)));
  const Oid found = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc;
  if (!OidIsValid(found))
    ereport(
        ERROR,
        (errcode(ERRCODE_UNDEFINED_FUNCTION),
         errmsg("could not identify an extended hash function for type %s", format_type_be(type)),
         errhint("An index of access method \"%s\" hashes the keys of its values.", "bloompages")));
  fmgr_info(found, &column->key_hash);
}

// True if what the hash function of whole values hashes, extractValue() finds. Values that the
// class takes for equal have the same hash of the one, so they have the same keys of the other.
bool has_equal_keys(Relation index, const IndexedColumn &column) {
  const Oid extract = column.extract_value.fn_oid;
  switch (column.has_values ? column.hash.fn_oid : InvalidOid) {
  case F_HASH_ARRAY_EXTENDED: // a function 5 of the class could tell equal elements apart
    return extract == F_GINARRAYEXTRACT_ANYARRAY_INTERNAL_INTERNAL &&
           !OidIsValid(function_of(index, column.number, kKeyHashFunction));
  case F_JSONB_HASH_EXTENDED:
    return extract == F_GIN_EXTRACT_JSONB || extract == F_GIN_EXTRACT_JSONB_PATH;
  case F_HASHTEXTEXTENDED:
    return column.has_ngrams;
  default:
    return false;
  }
}

void read_column(Relation index, int number, IndexedColumn *column) {
  column->number = number;
  column->type = getBaseType(indexed_type_of(index, number));
  column->length = get_typlen(column->type);
  column->family = index->rd_opfamily[number];
  column->class_type = index->rd_opcintype[number];
  column->collation = index->rd_indcollation[number];
  // Lexemes and the keys of jsonb are compared as bytes.
  column->key_collation = OidIsValid(column->collation) ? column->collation : C_COLLATION_OID;
  column->has_values = find_function(index, number, kHashFunction, &column->hash);
  column->has_keys = find_function(index, number, kExtractValue, &column->extract_value);
  if (!column->has_keys) {
    if (!column->has_values)
      raise_lacking(index, number);
    return;
  }
  column->is_ternary = find_function(index, number, kTriConsistent, &column->consistent);
  if (!column->is_ternary && find_function(index, number, kConsistent, &column->consistent))
    column->is_ternary = get_func_rettype(column->consistent.fn_oid) == CHAROID;
  if (!find_function(index, number, kExtractQuery, &column->extract_query) ||
      !OidIsValid(column->consistent.fn_oid))
    raise_lacking(index, number);
  column->has_ngrams = is_ngram_function(column->extract_value.fn_oid);
  if (!column->has_ngrams)
    find_key_hash(index, column);
  column->has_equal_keys = has_equal_keys(index, *column);
}

} // namespace

Oid key_type_of(Relation index, int column) {
  const Oid storage = storage_type_of(index, column);
  if (OidIsValid(storage) && storage != ANYELEMENTOID)
    return storage;
  const Oid class_type = index->rd_opcintype[column];
  const Oid element = get_base_element_type(getBaseType(indexed_type_of(index, column)));
  if (OidIsValid(storage) || IsPolymorphicType(class_type) ||
      function_of(index, column, kExtractValue) == F_GINARRAYEXTRACT_ANYARRAY_INTERNAL_INTERNAL)
    return element;
  // The server stores no type if STORAGE names the type that the class is for. A class for arrays
  // of one type may mean whole arrays, or say nothing and mean their elements. A class with a hash
  // function for keys may mean anything.
  const bool has_hash = OidIsValid(function_of(index, column, kKeyHashFunction));
  return has_hash || OidIsValid(element) ? InvalidOid : class_type;
}

IndexedColumns read_columns(Relation index) {
  const int count = IndexRelationGetNumberOfKeyAttributes(index);
  IndexedColumns columns = {make_zeroed_array<IndexedColumn>(count), count, false, false};
  for (int i = 0; i < count; i++) {
    read_column(index, i, &columns.items[i]);
    columns.have_keys |= columns.items[i].has_keys;
    columns.have_ngrams |= columns.items[i].has_ngrams;
  }
  return columns;
}

uint64 value_hash(const IndexedColumn &column, FmgrInfo *function, Datum value) {
  return in_column(column.number, static_cast<uint64>(DatumGetInt64(FunctionCall2Coll(
                                      function, column.collation, value, Int64GetDatum(0)))));
}

uint64 key_hash(IndexedColumn *column, Datum key) {
  CHECK_FOR_INTERRUPTS();
  if (column->has_ngrams)
    return ngram_hash(*column, static_cast<uint32>(DatumGetInt32(key)));
  return in_column(column->number,
                   static_cast<uint64>(DatumGetInt64(FunctionCall2Coll(
                       &column->key_hash, column->key_collation, key, Int64GetDatum(0)))));
}

ExtractedKeys extract_keys(IndexedColumn *column, Datum value) {
  ExtractedKeys extracted = {};
  extracted.keys = reinterpret_cast<Datum *>(DatumGetPointer(
      FunctionCall3Coll(&column->extract_value, column->collation, value,
                        PointerGetDatum(&extracted.count), PointerGetDatum(&extracted.nulls))));
  if (!extracted.keys || extracted.count < 0)
    extracted.count = 0;
  return extracted;
}

GrowingArray<uint64> own_keys(IndexedColumn *column, Datum value) {
  constexpr int64 kMost = 16;
  GrowingArray<uint64> keys = {};
  int64 number = 0, step = 1; // every step-th of them is kept
  for_each_hash(column, value, {0, 1, 0}, [&](uint64 hash, CopiesOf which) {
    if (!which || number++ % step != 0)
      return;
    keys.add(hash);
    if (keys.count < 2 * kMost)
      return;
    for (keys.count = 0; keys.count < kMost; keys.count++)
      keys.items[keys.count] = keys.items[2 * keys.count];
    step *= 2;
  });
  const int64 count = Min(keys.count, kMost);
  for (int64 i = 0; i < count; i++)
    keys.items[i] = keys.items[i * keys.count / count];
  keys.count = count;
  return keys;
}

bool are_parallel_safe(const IndexedColumns &columns) {
  bool safe = true;
  for (int i = 0; i < columns.count; i++) {
    const IndexedColumn &column = columns.items[i];
    for (const FmgrInfo *function : {&column.hash, &column.extract_value, &column.key_hash})
      safe &= !OidIsValid(function->fn_oid) || func_parallel(function->fn_oid) == PROPARALLEL_SAFE;
  }
  return safe;
}

} // namespace bloomfilter
