// The SQL functions that make and drop a set: bf_create_set() and bf_drop_set().
//
// A set is a table of shards (doc/streaming.md) and four functions in PL/pgSQL that add to it,
// probe it and describe it. These are ordinary objects of the caller: a dump has them, and the
// extension keeps no record of them. The functions know the number of shards as a constant.
//
// The functions may run with any search_path, so their bodies name the schema of everything that is
// not in the server's grammar. The name of the column `shard_of_N` contains the number of shards.
// So a function never writes to the shards of a set of another size, where the value would not be
// found. It can meet such a table: while a function waits for the table's lock, another session may
// drop the set and make it again.
//
// What a template says in braces is replaced in one pass, so a name cannot be mistaken for a part
// of the template. Each body becomes a quoted literal.

#include "pg/server.hpp"

#include "pg/element/value_type.hpp"
#include "pg/names.hpp"
#include "pg/sql/given.hpp"
#include "pg/sql/shard.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "nodes/value.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

using namespace bloomfilter;

namespace {

constexpr const char *kTable[] = {
    R"(CREATE TABLE {set} ({shard} int PRIMARY KEY, filter {bf}.bloomfilter NOT NULL)
  WITH (fillfactor = 50))",
    R"(INSERT INTO {set} ({shard}, filter)
SELECT i, {bf}.bf_create({capacity}, {rate}, type => {type literal})
FROM pg_catalog.generate_series(0, {last}) i)",
    "ALTER TABLE {set} SET (fillfactor = 100)",
    R"(COMMENT ON TABLE {set} IS
  'a set of values, divided into small filters; bf_create_set made it, bf_drop_set drops it')"};

// A function of a set. Its name is the name of the set and the suffix.
struct SetFunction {
  const char *suffix, *arguments, *properties, *body, *comment;
};

constexpr SetFunction kFunctions[] = {
    {"_add", "value {type}", "RETURNS boolean STRICT", R"(
BEGIN
  UPDATE {set} AS s SET filter = {bf}.bf_add(filter, value)
  WHERE {shard} OPERATOR(pg_catalog.=) {bf}.bf_shard(value, {shards})
    AND NOT {bf}.bf_contains(filter, value);
  IF FOUND THEN
    RETURN true;
  ELSIF {has}(value) THEN
    RETURN false;
  END IF;
  -- The shard of the value is missing, as after TRUNCATE. Make it, if no other session does so.
  INSERT INTO {set} AS s ({shard}, filter)
  VALUES ({bf}.bf_shard(value, {shards}), {bf}.bf_add({bf}.bf_create({capacity}, {rate}), value))
  ON CONFLICT ({shard}) DO UPDATE SET filter = {bf}.bf_add(s.filter, value)
  WHERE NOT {bf}.bf_contains(s.filter, value);
  RETURN FOUND;
END
)",
     "adds a value to the set; true if the value was certainly new"},
    {"_has", "value {type}", "RETURNS boolean STABLE STRICT PARALLEL {parallel}", R"(
BEGIN
  PERFORM FROM {set} s
  WHERE {shard} OPERATOR(pg_catalog.=) {bf}.bf_shard(value, {shards})
    AND {bf}.bf_contains(filter, value);
  RETURN FOUND;
END
)",
     "true if the value is possibly in the set"},
    {"_add_all", "\"values\" {type}[]", "RETURNS bigint STRICT", R"(
DECLARE
  were_new bigint;
BEGIN
  -- Lock the shards that get new values. All batches do so in one order, so that they do not
  -- deadlock. Make the shards that are missing, as after TRUNCATE.
  INSERT INTO {set} AS s ({shard}, filter)
  SELECT shard, {bf}.bf_create({capacity}, {rate})
  FROM (SELECT {bf}.bf_shard(value, {shards}) AS shard, pg_catalog.array_agg(value) AS members
        FROM (SELECT pg_catalog.unnest("values") AS value) v
        GROUP BY 1) b
  WHERE shard IS NOT NULL AND NOT EXISTS (
    SELECT FROM {set} s
    WHERE s.{shard} OPERATOR(pg_catalog.=) b.shard AND {bf}.bf_contains_all(s.filter, b.members))
  ORDER BY shard
  ON CONFLICT ({shard}) DO UPDATE SET filter = s.filter WHERE false;

  -- Count the new values, and write the shards.
  WITH batch AS (
    SELECT b.shard, b.members, {bf}.bf_contains_each(s.filter, b.members) AS known
    FROM (SELECT {bf}.bf_shard(value, {shards}) AS shard,
            pg_catalog.array_agg(DISTINCT value) AS members
          FROM (SELECT pg_catalog.unnest("values") AS value) v
          GROUP BY 1) b
      JOIN {set} s ON s.{shard} OPERATOR(pg_catalog.=) b.shard
    WHERE NOT {bf}.bf_contains_all(s.filter, b.members)
  ), written AS (
    INSERT INTO {set} AS s ({shard}, filter)
    SELECT shard, {bf}.bf_add_all({bf}.bf_create({capacity}, {rate}), members) FROM batch
    ON CONFLICT ({shard}) DO UPDATE SET filter = {bf}.bf_union(s.filter, excluded.filter)
  )
  SELECT pg_catalog.count(*) INTO were_new
  FROM batch, pg_catalog.unnest(known) was_known WHERE NOT was_known;
  RETURN were_new;
END
)",
     "adds all values of an array to the set; returns how many were certainly new"},
    {"_info",
     "OUT expected bigint, OUT target_fpr double precision, OUT shards int, OUT bytes bigint, "
     "OUT fill double precision, OUT estimated_count double precision, "
     "OUT estimated_fpr double precision",
     "STABLE PARALLEL {parallel}", R"(
BEGIN
  expected := {expected};
  target_fpr := {rate};
  shards := {shards};
  bytes := pg_catalog.pg_total_relation_size({set literal});
  -- Shards that are missing, as after TRUNCATE, are empty.
  SELECT coalesce(pg_catalog.sum(i.fill) OPERATOR(pg_catalog./) {shards}, 0),
    coalesce(pg_catalog.sum(i.estimated_count), 0),
    coalesce(pg_catalog.sum(i.estimated_fpr) OPERATOR(pg_catalog./) {shards}, 0)
  INTO fill, estimated_count, estimated_fpr
  FROM {set} s, {bf}.bf_info(s.filter) i;
END
)",
     "what the set was made for, its bytes on disk, how full it is, and about how many values it "
     "has"},
};

// The greatest length of a set's name, in bytes: the longest name of a function must fit, too.
constexpr size_t kLongestName = NAMEDATALEN - sizeof "_add_all";

// The prefix of the column that contains the number of shards.
constexpr char kShardOf[] = "shard_of_";

// What a template calls by a name in braces.
struct Word {
  const char *name, *text;
};

// Returns a template with the words in place of their names.
template <int kCount> char *filled(const char *text, const Word (&words)[kCount]) {
  StringInfoData result;
  initStringInfo(&result);
  while (const char *open = strchr(text, '{')) {
    const char *name = open + 1;
    const char *close = strchr(name, '}');
    const auto length = static_cast<size_t>(close - name);
    appendBinaryStringInfo(&result, text, static_cast<int>(open - text));
    int i = 0;
    while (strncmp(words[i].name, name, length) != 0 || words[i].name[length] != '\0')
      i++; // every name in a template is one of them
    appendStringInfoString(&result, words[i].text);
    text = close + 1;
  }
  appendStringInfoString(&result, text);
  return result.data;
}

void run(const char *statement) {
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

struct SetName {
  const char *schema, *set;
};

char *quoted(const SetName &name, const char *suffix = "") {
  return quote_qualified_identifier(name.schema, psprintf("%s%s", name.set, suffix));
}

// The names of a set's functions, as DROP FUNCTION takes them.
char *function_list(const SetName &name) {
  StringInfoData list;
  initStringInfo(&list);
  for (const SetFunction &function : kFunctions)
    appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", quoted(name, function.suffix));
  return list.data;
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
  const char *given = text_to_cstring(argument);
  List *parts = NIL;
  if (!SplitIdentifierString(pstrdup(given), '.', &parts) || parts == NIL)
    ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("invalid name of a set: \"%s\"", given),
                    errhint("Write it as the name of a table: seen, myschema.seen or "
                            "\"My schema\".seen.")));
  ListCell *part;
  foreach (part, parts)
    lfirst(part) = makeString(static_cast<char *>(lfirst(part)));
  char *set;
  const Oid schema = QualifiedNameGetCreationNamespace(parts, &set);
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
  for (const SetFunction &function : kFunctions) {
    const char *its_name = psprintf("%s%s", set, function.suffix);
    bool is_taken = false;
    visit_functions(schema, its_name, [&](HeapTuple) { is_taken = true; });
    if (is_taken)
      ereport(ERROR,
              (errcode(ERRCODE_DUPLICATE_FUNCTION),
               errmsg("function \"%s\" already exists", its_name),
               errhint("Choose another name. If the function is left from a set whose table was "
                       "dropped, use DROP FUNCTION IF EXISTS %s.",
                       function_list(name))));
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

// True if a function with this body knows the number of shards in one of the ways in which all of
// kFunctions do. So it is not a function of the user's own that has the same name.
bool is_body_of_set(const char *body, const char *number) {
  return strstr(body, psprintf("bf_shard(value, %s)", number)) ||
         strstr(body, psprintf("shards := %s;", number));
}

// The functions of a set as DROP FUNCTION takes them; empty if none is left.
const char *functions_of_set(Oid schema, const char *set, const char *number) {
  StringInfoData list;
  initStringInfo(&list);
  for (const SetFunction &function : kFunctions)
    visit_functions(schema, psprintf("%s%s", set, function.suffix), [&](HeapTuple row) {
      bool is_null;
      const Datum body = SysCacheGetAttr(PROCNAMEARGSNSP, row, Anum_pg_proc_prosrc, &is_null);
      if (is_body_of_set(TextDatumGetCString(body), number))
        appendStringInfo(
            &list, "%s%s", list.len > 0 ? ", " : "",
            format_procedure_qualified(reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->oid));
    });
  return list.data;
}

} // namespace

SQL_FUNCTIONS_BEGIN

// Not STRICT: a NULL argument is an error, because otherwise there would be no set and no message.
SQL_FUNCTION(bf_create_set) {
  check_given(fcinfo, "bf_create_set",
              {{"name", "Give the name of the table that will be made."},
               {"type", "Give the type of the values, such as 'text'."},
               {"expected", "Give the number of distinct values that there will be."},
               {"fpr", kHasDefault}});
  const Oid type = PG_GETARG_OID(1);
  check_set_type(type);
  const Shards shards = checked_shards(PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3));
  const SetName name = new_name(PG_GETARG_TEXT_PP(0));

  const char *set = quoted(name);
  const char *type_name = format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);
  const bool is_temporary = strcmp(name.schema, "pg_temp") == 0;
  const Word words[] = {
      {"set", set},
      {"set literal", quote_literal_cstr(set)},
      {"has", quoted(name, "_has")},
      {"bf", quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)))},
      {"type", type_name},
      {"type literal", quote_literal_cstr(type_name)},
      {"shard", psprintf("%s%d", kShardOf, shards.number)},
      {"shards", psprintf("%d", shards.number)},
      {"last", psprintf("%d", shards.number - 1)},
      {"capacity", psprintf(UINT64_FORMAT, shards.each)},
      {"expected", psprintf(UINT64_FORMAT, shards.set.values)},
      {"rate", double_to_shortest_decimal(shards.set.rate)},
      {"parallel", is_temporary ? "RESTRICTED" : "SAFE"}, // workers cannot read temporary tables
  };
  SPI_connect();
  for (const char *statement : kTable)
    run(filled(statement, words));
  for (const SetFunction &function : kFunctions) {
    const char *its_name = quoted(name, function.suffix);
    run(psprintf("CREATE FUNCTION %s(%s) %s LANGUAGE plpgsql AS %s", its_name,
                 filled(function.arguments, words), filled(function.properties, words),
                 quote_literal_cstr(filled(function.body, words))));
    run(psprintf("COMMENT ON FUNCTION %s IS %s", its_name, quote_literal_cstr(function.comment)));
  }
  SPI_finish();
  PG_RETURN_VOID();
}

// A function that is missing is no error, so that what is left of a set can be dropped.
SQL_FUNCTION(bf_drop_set) {
  const Oid table = PG_GETARG_OID(0), schema = get_rel_namespace(table);
  const SetName name = {get_namespace_name_or_temp(schema), get_rel_name(table)};
  if (!name.schema || !name.set)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                    errmsg("relation with OID %u does not exist", table)));
  const char *number = number_of_shards(table);
  const char *functions = number ? functions_of_set(schema, name.set, number) : "";
  if (get_rel_relkind(table) != RELKIND_RELATION || *functions == '\0')
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a set", name.set),
                    errdetail("It was not made by bf_create_set() under this name."),
                    errhint("Use DROP TABLE to drop a table.")));
  SPI_connect();
  run(psprintf("DROP FUNCTION %s", functions));
  run(psprintf("DROP TABLE %s", quoted(name)));
  SPI_finish();
  PG_RETURN_VOID();
}

SQL_FUNCTIONS_END
