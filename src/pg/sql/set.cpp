// The SQL functions that make and drop a set: bf_create_set() and bf_drop_set(). set_objects.hpp
// says what a set is.

#include "pg/server.hpp"

#include "pg/element/value_type.hpp"
#include "pg/names.hpp"
#include "pg/sql/given.hpp"
#include "pg/sql/set_objects.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "common/keywords.h"
#include "executor/spi.h"
#include "nodes/value.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"
}

using namespace bloomfilter;

namespace {

// The greatest length of a set's name, in bytes: the longest name of a function must fit, too.
constexpr size_t kLongestName = NAMEDATALEN - sizeof "_add_all";

// The longest time for which a set can remember its values.
constexpr double kLongestKeep = 100.0 * 365.25 * SECS_PER_DAY;

[[noreturn]] void raise_invalid_name(const char *given) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("invalid name of a set: \"%s\"", given),
                  errhint("Write it as the name of a table: seen, myschema.seen or "
                          "\"My schema\".seen.")));
}

bool is_letter(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_' || IS_HIGHBIT_SET(c);
}

// Raises an error if a name has a part that CREATE TABLE would take only in quotes. The parts have
// been found by SplitIdentifierString(), which takes every character but a blank and a dot.
void check_unquoted_parts(const char *given) {
  bool is_first = true;
  for (const char *at = given; *at != '\0'; is_first = false) {
    at += strspn(at, " \t\n\r\f\v.");
    if (*at == '"') {
      do
        at = strchr(at + 1, '"') + 1;
      while (*at == '"');
      continue;
    }
    const size_t length = strcspn(at, " \t\n\r\f\v.");
    const char *part = pnstrdup(at, length);
    for (size_t i = 0; i < length; i++)
      if (!is_letter(part[i]) &&
          (i == 0 || !(isdigit(static_cast<unsigned char>(part[i])) || part[i] == '$')))
        raise_invalid_name(given);
    const int keyword = ScanKeywordLookup(part, &ScanKeywords);
    // A name after a dot can be any word.
    if (is_first && keyword >= 0 &&
        (ScanKeywordCategories[keyword] == RESERVED_KEYWORD ||
         ScanKeywordCategories[keyword] == TYPE_FUNC_NAME_KEYWORD))
      raise_invalid_name(given);
    at += length;
  }
}

// The parts of a set's name, as CREATE TABLE reads a name.
List *parts_of_name(const char *given) {
  List *parts;
  if (!SplitIdentifierString(pstrdup(given), '.', &parts) || parts == NIL)
    raise_invalid_name(given);
  check_unquoted_parts(given);
  ListCell *part;
  foreach (part, parts)
    lfirst(part) = makeString(static_cast<char *>(lfirst(part)));
  return parts;
}

// Calls `visit` with the row in pg_proc of each function of this name in a schema.
template <typename Visit> void visit_functions(Oid schema, const char *name, Visit visit) {
  CatCList *functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
  for (int i = 0; i < functions->n_members; i++) {
    HeapTuple row = &functions->members[i]->tuple;
    if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->pronamespace == schema)
      visit(row);
  }
  ReleaseCatCacheList(functions);
}

// The schema and name of a new set. Its schema is the one in which CREATE TABLE would make a table.
// Raises an error if the name is too long or already taken.
SetName new_name(const text *argument) {
  char *set;
  const Oid schema =
      QualifiedNameGetCreationNamespace(parts_of_name(text_to_cstring(argument)), &set);
  const SetName name = {get_namespace_name_or_temp(schema), set};

  if (strlen(set) > kLongestName)
    ereport(ERROR,
            (errcode(ERRCODE_NAME_TOO_LONG), errmsg("name of a set is too long: \"%s\"", set),
             errdetail("It has %zu bytes. At most %zu are possible, because the names of the "
                       "set's functions are longer.",
                       strlen(set), kLongestName)));
  if (OidIsValid(get_relname_relid(set, schema)))
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation \"%s\" already exists", set),
                    errhint("Choose another name. bf_drop_set() drops a set.")));
  for (const SetFunction &function : kSetFunctions) {
    const char *its_name = psprintf("%s%s", set, function.suffix);
    bool is_taken = false;
    visit_functions(schema, its_name, [&](HeapTuple) { is_taken = true; });
    if (is_taken)
      ereport(ERROR,
              (errcode(ERRCODE_DUPLICATE_FUNCTION),
               errmsg("function \"%s\" already exists", its_name),
               errhint("Choose another name. If the function is left from a set whose table was "
                       "dropped, bf_drop_set() drops it.")));
  }
  return name;
}

// Raises an error if the type cannot be the type of a set's values.
void check_set_type(Oid type) {
  (void)named_value_type(type, CurrentMemoryContext);
  // There is no array of arrays that the function for batches could take.
  if (OidIsValid(get_base_element_type(type)))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("sets of type %s are not supported", format_type_be(type)),
                    errhint("Use a composite type that has the array as a field.")));
}

// The length of a generation in microseconds: a quarter of the time for which values are
// remembered. A month has 30 days.
int64 checked_generation(Interval *keep) {
  const double seconds =
      static_cast<double>(keep->time) / USECS_PER_SEC +
      (keep->day + static_cast<double>(keep->month) * DAYS_PER_MONTH) * SECS_PER_DAY;
  if (!(seconds * USECS_PER_SEC >= 1 && seconds <= kLongestKeep))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("time for which a set keeps values is out of range: %s",
                    DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(keep)))),
             errdetail("It must be positive and at most 100 years.")));
  const int64 days = keep->day + static_cast<int64>(keep->month) * DAYS_PER_MONTH;
  const int64 all = days * USECS_PER_DAY + keep->time;
  return (all + kGenerations - 2) / (kGenerations - 1);
}

// Returns the digits of the number of shards, with which the name of a set's first column ends.
// NULL if a table has no such column.
const char *number_of_shards(Oid table) {
  constexpr size_t kPrefix = sizeof kShardOf - 1;
  const char *key = get_attname(table, 1, true); // NULL if there is no such column
  if (!key || strncmp(key, kShardOf, kPrefix) != 0)
    return nullptr;
  const char *number = key + kPrefix;
  return *number != '\0' && number[strspn(number, "0123456789")] == '\0' ? number : nullptr;
}

bool is_of_set(HeapTuple function, TupleDesc columns, const char *shards) {
  bool is_null;
  const Datum body = heap_getattr(function, Anum_pg_proc_prosrc, columns, &is_null);
  return !is_null && is_body_of_set(TextDatumGetCString(body), shards);
}

// The functions of a set as DROP FUNCTION takes them; empty if none is left. `shards` is the number
// of shards of its table, or NULL if the table is gone.
const char *functions_of_set(Oid schema, const char *set, const char *shards) {
  Relation functions = table_open(ProcedureRelationId, AccessShareLock);
  StringInfoData list;
  initStringInfo(&list);
  for (const SetFunction &function : kSetFunctions)
    visit_functions(schema, psprintf("%s%s", set, function.suffix), [&](HeapTuple row) {
      if (is_of_set(row, RelationGetDescr(functions), shards))
        appendStringInfo(
            &list, "%s%s", list.len > 0 ? ", " : "",
            format_procedure_qualified(reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->oid));
    });
  table_close(functions, AccessShareLock);
  return list.data;
}

// The name that a set had before its table was renamed: functions of a set with this number of
// shards have it, and no table. NULL if there is none, or if there are several.
const char *name_before(Oid schema, const char *shards) {
  Relation functions = table_open(ProcedureRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(functions, InvalidOid, false, nullptr, 0, nullptr);
  const char *found = nullptr;
  bool several = false;
  while (HeapTuple row = systable_getnext(scan)) {
    const auto *function = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
    const char *name = NameStr(function->proname);
    const char *suffix = strrchr(name, '_');
    if (function->pronamespace != schema || !suffix || strcmp(suffix, "_has") != 0)
      continue;
    const char *set = pnstrdup(name, suffix - name);
    if (!is_of_set(row, RelationGetDescr(functions), shards) ||
        OidIsValid(get_relname_relid(set, schema)))
      continue;
    several = found != nullptr;
    found = set;
  }
  systable_endscan(scan);
  table_close(functions, AccessShareLock);
  return several ? nullptr : found;
}

void drop(const char *functions, const char *table) {
  SPI_connect();
  if (*functions != '\0')
    run(psprintf("DROP FUNCTION %s", functions));
  if (table)
    run(psprintf("DROP TABLE %s", table));
  SPI_finish();
}

// The functions of the set that a table is; empty if it is none.
const char *functions_of_table(Oid table) {
  const Oid schema = get_rel_namespace(table);
  const char *name = get_rel_name(table), *shards = number_of_shards(table);
  if (!name || !shards || get_rel_relkind(table) != RELKIND_RELATION)
    return "";
  const char *functions = functions_of_set(schema, name, shards);
  const char *before = *functions == '\0' ? name_before(schema, shards) : nullptr;
  return before ? functions_of_set(schema, before, shards) : functions;
}

void drop_table_of_set(Oid table) {
  const Oid schema = get_rel_namespace(table);
  const SetName name = {get_namespace_name_or_temp(schema), get_rel_name(table)};
  if (!name.schema || !name.set)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist", table)));
  const char *functions = functions_of_table(table);
  if (*functions == '\0')
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a set", name.set),
                    errdetail("It has no functions that were made by bf_create_set()."),
                    errhint("Use DROP TABLE to drop a table.")));
  drop(functions, quoted(name));
}

// Drops the functions of a set whose table is gone. Returns false if there are none.
bool drop_functions_of_set(List *parts) {
  char *schema_name, *set;
  DeconstructQualifiedName(parts, &schema_name, &set);
  List *schemas =
      schema_name ? list_make1_oid(get_namespace_oid(schema_name, false)) : fetch_search_path(true);
  const char *functions = "";
  ListCell *schema;
  foreach (schema, schemas) {
    functions = functions_of_set(lfirst_oid(schema), set, nullptr);
    if (*functions != '\0')
      break;
  }
  if (*functions == '\0')
    return false;
  drop(functions, nullptr);
  return true;
}

} // namespace

SQL_FUNCTIONS_BEGIN

// Not STRICT: a NULL argument is an error, because otherwise there would be no set and no message.
// But a set without `keep` never forgets.
SQL_FUNCTION(bf_create_set) {
  check_given(fcinfo, "bf_create_set",
              {{"name", "Give the name of the table that will be made."},
               {"type", "Give the type of the values, such as 'text'."},
               {"expected", kHasDefault},
               {"fpr", kHasDefault}});
  const Oid type = PG_GETARG_OID(1);
  check_set_type(type);
  Interval *keep = PG_ARGISNULL(4) ? nullptr : PG_GETARG_INTERVAL_P(4);
  const int64 generation = keep ? checked_generation(keep) : 0;
  const SetShape shape = set_shape(PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3), keep != nullptr);
  const SetName name = new_name(PG_GETARG_TEXT_PP(0));
  SPI_connect();
  make_set(name, type, shape, keep, generation, get_func_namespace(fcinfo->flinfo->fn_oid));
  SPI_finish();
  PG_RETURN_VOID();
}

// Functions that are missing are no error, nor is a missing table, so that what is left of a set
// can be dropped.
SQL_FUNCTION(bf_drop_set) {
  List *parts = parts_of_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
  const Oid table = RangeVarGetRelid(makeRangeVarFromNameList(parts), NoLock, true);
  // A table of another schema may have the name of a set whose table is gone.
  const bool is_set = OidIsValid(table) && *functions_of_table(table) != '\0';
  if (is_set || !drop_functions_of_set(parts)) {
    if (!OidIsValid(table))
      ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                      errmsg("set \"%s\" does not exist", NameListToString(parts))));
    drop_table_of_set(table);
  }
  PG_RETURN_VOID();
}

SQL_FUNCTION(bf_drop_set_by_oid) {
  drop_table_of_set(PG_GETARG_OID(0));
  PG_RETURN_VOID();
}

// The number of the period in which the transaction began. Periods of this many microseconds are
// counted from 1970.
SQL_FUNCTION(bf_generation) {
  const int64 length = PG_GETARG_INT64(0);
  if (length < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("length of a generation is out of range: " INT64_FORMAT, length),
                    errdetail("It must be at least one microsecond.")));
  constexpr int64 kFrom1970To2000 = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
  const int64 now = GetCurrentTransactionStartTimestamp() + kFrom1970To2000;
  PG_RETURN_INT64(now / length - (now % length < 0));
}

SQL_FUNCTIONS_END
