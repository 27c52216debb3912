// See set_objects.hpp.
//
// What a template says in braces is replaced in one pass, so a name cannot be mistaken for a part
// of the template. Each body becomes a quoted literal.

#include "pg/sql/set_objects.hpp"

#include <cmath>

extern "C" {
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
}

namespace bloomfilter {
namespace {

// --- templates -----------------------------------------------------------------------------------

// The pieces of a set that forgets, for each filter {i}. In all of them, `s` is a row. The
// variables `generation` and `oldest` are the session's generation and the oldest one that is not
// over by its clock. A new value goes to the filter with the number `place`.
constexpr const char *kColumns = "  number_{i} bigint NOT NULL DEFAULT -9,\n"
                                 "  filter_{i} {bf}.bloomfilter NOT NULL";
constexpr const char *kKnows =
    "\n      OR s.number_{i} {>=} oldest AND {bf}.bf_contains(s.filter_{i}, {value})";
constexpr const char *kBefore =
    "CASE WHEN s.number_{i} {>=} generation THEN s.filter_{i} ELSE {empty} END";
constexpr const char *kTarget = "\n        WHEN place {=} {i} THEN {before}";
constexpr const char *kDropped =
    "\n        WHEN place {=} {i} AND s.number_{i} {<} generation THEN s.number_{i}";
constexpr const char *kAdd =
    "      number_{i} = CASE WHEN place {=} {i} THEN GREATEST(s.number_{i}, generation)\n"
    "        ELSE s.number_{i} END,\n"
    "      filter_{i} = CASE WHEN place {=} {i}\n"
    "        THEN {bf}.{adds}({before}, {value})\n"
    "        ELSE s.filter_{i} END";
constexpr const char *kAddition =
    "      {forgotten} = GREATEST(s.{forgotten}, CASE{dropped} END),\n{added}";
constexpr const char *kClock = R"(
  generation bigint := pg_catalog.floor(pg_catalog.date_part('epoch',
    pg_catalog.transaction_timestamp()) {/} {seconds}::double precision);
  oldest bigint := generation {-} 4;
  place int := pg_catalog.mod(generation, 5);)";
constexpr const char *kGenerationsOfInfo = R"(,
    (SELECT pg_catalog.array_agg(pg_catalog.to_timestamp(g.number {*} {seconds}::double precision)
       ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.count ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.fpr ORDER BY g.number) FROM generations g))";
constexpr const char *kNumbered = "(s.number_{i}, s.filter_{i})";

constexpr const char *kTable[] = {
    R"(CREATE TABLE {set} (
  {shard} int PRIMARY KEY,
  is_full boolean NOT NULL DEFAULT false,
{columns}) WITH (fillfactor = {fillfactor}{storage}))",
    R"(INSERT INTO {set} ({shard}, {names})
SELECT i, {values} FROM pg_catalog.generate_series(0, {last}) i)",
    "ALTER TABLE {set} SET (fillfactor = 100)",
    R"(COMMENT ON TABLE {set} IS
  'a set of values, divided into small filters; bf_create_set made it, bf_drop_set drops it')"};

// The second line of each body tells which functions are those of a set.
constexpr char kMark[] =
    "-- bf_create_set() made this function for a table with the column shard_of_";

// A function of a set.
struct SetFunction {
  const char *suffix, *arguments, *properties, *body, *comment;
};

constexpr SetFunction kFunctions[] = {
    {"_add", "value {type}", "RETURNS boolean STRICT", R"(
#variable_conflict use_variable
{mark}
DECLARE
  known boolean;
  rows bigint;
  level int;
  shard int;
  most double precision;
  empty {bf}.bloomfilter;{variables}
BEGIN
  UPDATE {set} AS s SET
      is_full = {bf}.bf_count({target of level 0}) {>=} {most of level 0},
{add to level 0}
  WHERE s.{shard} {=} {bf}.bf_shard(value, {shards})
    AND NOT s.is_full AND NOT ({knows});
  IF FOUND THEN
    RETURN true;
  END IF;
  -- The set has the value, or the row is full or missing, or another session changed it. Each
  -- attempt can fail only because other sessions filled the row meanwhile, or added the value.
  FOR attempt IN 0 .. {levels} LOOP
    SELECT pg_catalog.bool_or({knows}), pg_catalog.count(*),
      pg_catalog.count(*) FILTER (WHERE s.is_full)
    INTO known, rows, level
    FROM {set} s WHERE s.{shard} {=} ANY ({path});
    IF known THEN
      RETURN false;
    END IF;
    shard := ({path})[level {+} 1];
    most := {most};
    empty := {empty of its level};
    IF rows {=} level OR attempt {>} 0 THEN
      -- Make the row if it is missing.
      INSERT INTO {set} AS s ({shard}, {names}) VALUES (shard, {values})
      ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
    END IF;
    UPDATE {set} AS s SET
      is_full = {bf}.bf_count({target}) {>=} most,
{add}
    WHERE s.{shard} {=} shard AND NOT s.is_full AND NOT ({knows});
    IF FOUND THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END
)",
     "adds a value to the set; true if the value was certainly new"},
    {"_has", "value {type}", "RETURNS boolean STABLE STRICT PARALLEL {parallel}", R"(
#variable_conflict use_variable
{mark}
{declare}BEGIN
  PERFORM FROM {set} s WHERE s.{shard} {=} ANY ({path}) AND ({knows});
  RETURN FOUND;
END
)",
     "true if the value is possibly in the set"},
    {"_add_all", "\"values\" {type}[]", "RETURNS bigint STRICT", R"(
#variable_conflict use_variable
{mark}
DECLARE
  pending {type}[] := "values";
  were_new bigint := 0;
  added bigint;
  missing boolean;
  level int := 0;
  shards int := {shards};
  first int := 0;
  most double precision := {most of level 0};
  empty {bf}.bloomfilter := {empty of level 0};{variables}
BEGIN
  -- Add to the rows of level 0, then what does not fit there to those of level 1, and so on. All
  -- batches lock rows in the order of their keys, so that they do not deadlock.
  LOOP
    WITH batch AS MATERIALIZED (
      SELECT first {+} b.shard AS shard, b.members, s.{shard} IS NULL AS is_missing,
        {has new} AS has_new
      FROM (SELECT v.shard, pg_catalog.array_agg(v.value) AS members
            FROM (SELECT {bf}.bf_shard(u.value, shards) AS shard, u.value
                  FROM (SELECT DISTINCT p.value FROM pg_catalog.unnest(pending) p (value)) u) v
            WHERE v.shard IS NOT NULL GROUP BY v.shard) b
        LEFT JOIN {set} s ON s.{shard} {=} (first {+} b.shard)
    ), locked AS MATERIALIZED (
      SELECT s.{shard} AS shard, s.is_full, {row}, b.members
      FROM batch b JOIN {set} s ON s.{shard} {=} b.shard
      WHERE b.has_new ORDER BY s.{shard} FOR NO KEY UPDATE OF s
    ), fresh AS MATERIALIZED (
      SELECT s.shard, ARRAY(SELECT m.value FROM pg_catalog.unnest(s.members) m (value)
                            WHERE NOT ({knows m.value})) AS members,
        CASE WHEN s.is_full THEN 0 ELSE LEAST(GREATEST(
          pg_catalog.ceil(most {-} {bf}.bf_count({target})), 0), 1000000000)::int END AS room
      FROM locked s
    ), written AS (
      UPDATE {set} AS s SET
      is_full = pg_catalog.cardinality(f.members) {>} f.room,
{add f.members}
      FROM fresh f
      WHERE s.{shard} {=} f.shard AND NOT s.is_full AND pg_catalog.cardinality(f.members) {>} 0
    )
    SELECT (SELECT pg_catalog.sum(LEAST(pg_catalog.cardinality(f.members), f.room)) FROM fresh f),
      (SELECT pg_catalog.bool_or(b.is_missing) FROM batch b),
      ARRAY(SELECT pg_catalog.unnest(b.members) FROM batch b WHERE b.is_missing
            UNION ALL
            SELECT pg_catalog.unnest(f.members[f.room {+} 1 :]) FROM fresh f
            WHERE pg_catalog.cardinality(f.members) {>} f.room)
    INTO added, missing, pending;
    were_new := were_new {+} coalesce(added, 0);
    IF pg_catalog.cardinality(pending) {=} 0 THEN
      RETURN were_new;
    ELSIF missing THEN
      INSERT INTO {set} AS s ({shard}, {names})
      SELECT p.shard, {values}
      FROM (SELECT DISTINCT first {+} {bf}.bf_shard(p.value, shards) AS shard
            FROM pg_catalog.unnest(pending) p (value) ORDER BY 1) p
      ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
    ELSE
      level := level {+} 1;
      first := first {+} shards;
      shards := shards {*} {fan out};
      most := {most};
      empty := {empty of its level};
    END IF;
  END LOOP;
END
)",
     "adds all values of an array to the set; returns how many were certainly new"},
    {"_info",
     "OUT expected bigint, OUT target_fpr double precision, OUT keep interval, OUT shards int, "
     "OUT bytes bigint, OUT fill double precision, OUT estimated_count double precision, "
     "OUT estimated_fpr double precision, OUT rows bigint, OUT rows_per_probe double precision, "
     "OUT generation_begin timestamptz[], OUT generation_count double precision[], "
     "OUT generation_fpr double precision[]",
     "STABLE PARALLEL {parallel}", R"(
#variable_conflict use_variable
{mark}
{declare}BEGIN
  expected := {expected};
  target_fpr := {rate};
  keep := {keep};
  shards := {shards};
  bytes := pg_catalog.pg_total_relation_size({set literal});
  -- A row has a share of all values, by its level. Rows that are missing are empty.
  WITH filters AS MATERIALIZED (
    SELECT g.number, i.estimated_count, i.estimated_fpr {/} {shards of a row} AS fpr, i.bits,
      i.fill {*} i.bits AS bits_set
    FROM {set} s, LATERAL (VALUES {filters}) g (number, filter), {bf}.bf_info(g.filter) i{of live}
  ), generations AS (
    SELECT f.number, pg_catalog.sum(f.estimated_count) AS count, pg_catalog.sum(f.fpr) AS fpr
    FROM filters f GROUP BY f.number HAVING pg_catalog.sum(f.estimated_count) {>} 0
  ), probed AS (
    SELECT pg_catalog.count(*) AS count, pg_catalog.sum(1.0::double precision {/} {shards of a row}) AS share
    FROM {set} s
  )
  SELECT coalesce(pg_catalog.sum(f.bits_set) {/} pg_catalog.sum(f.bits), 0),
    coalesce(pg_catalog.sum(f.estimated_count), 0), coalesce(pg_catalog.sum(f.fpr), 0),
    (SELECT p.count FROM probed p), (SELECT coalesce(p.share, 0) FROM probed p){generations}
  INTO fill, estimated_count, estimated_fpr, rows, rows_per_probe{generation columns}
  FROM filters f;
END
)",
     "what the set was made for, its bytes on disk, how full it is, and about how many values it "
     "has"},
};

// Operators of the server, which templates name in braces.
constexpr const char *kOperators[] = {"=", "<", ">", ">=", "+", "-", "*", "/"};

// --- words ---------------------------------------------------------------------------------------

// What templates call by names in braces.
class Words {
public:
  void set(const char *name, const char *text) {
    int i = 0;
    while (i < count_ && strcmp(words_[i].name, name) != 0)
      i++;
    Assert(i < kMost);
    words_[i] = {name, text};
    count_ = Max(count_, i + 1);
  }

  // Returns a template with the words in place of their names.
  char *filled(const char *text) const {
    StringInfoData result;
    initStringInfo(&result);
    while (const char *open = strchr(text, '{')) {
      const char *name = open + 1;
      const char *close = strchr(name, '}');
      appendBinaryStringInfo(&result, text, static_cast<int>(open - text));
      appendStringInfoString(&result, find(name, static_cast<size_t>(close - name)));
      text = close + 1;
    }
    appendStringInfoString(&result, text);
    return result.data;
  }

private:
  const char *find(const char *name, size_t length) const {
    for (int i = 0; i < count_; i++)
      if (strncmp(words_[i].name, name, length) == 0 && words_[i].name[length] == '\0')
        return words_[i].text;
    elog(ERROR, "a set's template has an unknown word: %s", name);
  }

  static constexpr int kMost = 64;
  struct {
    const char *name, *text;
  } words_[kMost];
  int count_ = 0;
};

// Returns a piece of a set that forgets for all generations, with `between` between them.
char *for_each_generation(Words words, const char *piece, const char *between) {
  StringInfoData all;
  initStringInfo(&all);
  for (int i = 0; i < kGenerations; i++) {
    words.set("i", psprintf("%d", i));
    words.set("before", words.filled(kBefore));
    appendStringInfo(&all, "%s%s", i > 0 ? between : "", words.filled(piece));
  }
  return all.data;
}

// An expression that makes an empty filter of a level.
char *empty_filter(const Words &words, const Level &level) {
  if (!level.grows)
    return words.filled(psprintf("{bf}.bf_create_by_size(" UINT64_FORMAT
                                 ", %d, type => {type literal})",
                                 level.plain.bits(), level.plain.k));
  return words.filled(
      psprintf("{bf}.bf_create(" UINT64_FORMAT ", %s, grow => true, type => {type literal})",
               level.initial.values, double_to_shortest_decimal(level.initial.rate)));
}

char *most_values(const Level &level) {
  if (std::isinf(level.most))
    return pstrdup("'Infinity'::double precision");
  return psprintf("%.0f", level.most);
}

// An expression that depends on the variable `level`. `of_level` is called with each level.
template <typename OfLevel>
char *by_level(const Words &words, const SetShape &shape, OfLevel of_level) {
  StringInfoData cases;
  initStringInfo(&cases);
  for (int i = 0; i < shape.levels - 1; i++)
    appendStringInfo(&cases, "WHEN level {=} %d THEN %s ", i, of_level(shape.level[i]));
  const char *last = of_level(shape.level[shape.levels - 1]);
  return words.filled(shape.levels == 1 ? last : psprintf("CASE %sELSE %s END", cases.data, last));
}

// The keys of the rows that may have a value, one on each level.
char *path_of(const Words &words, const SetShape &shape) {
  StringInfoData path;
  initStringInfo(&path);
  for (int i = 0; i < shape.levels; i++) {
    const Level &level = shape.level[i];
    if (i == 0)
      appendStringInfo(&path, "ARRAY[{bf}.bf_shard(value, %d)", level.shards);
    else
      appendStringInfo(&path, ", %d {+} {bf}.bf_shard(value, %d)", level.first, level.shards);
  }
  appendStringInfoChar(&path, ']');
  return words.filled(path.data);
}

// The number of shards on the level of a row.
char *shards_of_row(const Words &words, const SetShape &shape) {
  StringInfoData cases;
  initStringInfo(&cases);
  appendStringInfoString(&cases, "CASE");
  for (int i = 0; i + 1 < shape.levels; i++)
    appendStringInfo(&cases, " WHEN s.{shard} {<} %d THEN %d", shape.level[i + 1].first,
                     shape.level[i].shards);
  const int last = shape.level[shape.levels - 1].shards;
  appendStringInfo(&cases, " ELSE %d END", last);
  return shape.levels == 1 ? psprintf("%d", last) : words.filled(cases.data);
}

char *interval_literal(Interval *interval) {
  const Datum text = DirectFunctionCall1(interval_out, IntervalPGetDatum(interval));
  return psprintf("%s::interval", quote_literal_cstr(DatumGetCString(text)));
}

// Sets the words that differ between the two forms of sets.
void set_form(Words *words, int64 generation) {
  if (generation == 0) {
    words->set("columns", words->filled("  filter {bf}.bloomfilter NOT NULL"));
    words->set("names", "filter");
    words->set("row", "s.filter");
    words->set("declare", "");
    words->set("variables", "");
    words->set("has new", words->filled("NOT {bf}.bf_contains_all(s.filter, b.members)"));
    words->set("filters", "(0, s.filter)");
    words->set("of live", "");
    words->set("generations", "");
    words->set("generation columns", "");
    return;
  }
  const double seconds = static_cast<double>(generation) / USECS_PER_SEC;
  words->set("forgotten", psprintf("forgotten_of_" INT64_FORMAT, generation));
  words->set("seconds", double_to_shortest_decimal(seconds));
  words->set("columns", words->filled(psprintf("  {forgotten} bigint NOT NULL DEFAULT -9,\n%s",
                                               for_each_generation(*words, kColumns, ",\n"))));
  words->set("names", for_each_generation(*words, "filter_{i}", ", "));
  words->set("row", words->filled(
                        psprintf("s.{forgotten}, %s",
                                 for_each_generation(*words, "s.number_{i}, s.filter_{i}", ", "))));
  words->set("variables", words->filled(kClock));
  words->set("declare", words->filled("DECLARE{variables}\n"));
  words->set("filters", for_each_generation(*words, kNumbered, ", "));
  words->set("of live", words->filled("\n    WHERE g.number {>=} oldest"));
  words->set("generations", words->filled(kGenerationsOfInfo));
  words->set("generation columns", ",\n    generation_begin, generation_count, generation_fpr");
}

// True if the row possibly has the value. (The value is not in a row on another level.)
const char *knows(Words words, bool forgets, const char *value) {
  words.set("value", value);
  if (!forgets)
    return words.filled("{bf}.bf_contains(s.filter, {value})");
  return words.filled(
      psprintf("s.{forgotten} {>=} oldest%s", for_each_generation(words, kKnows, "")));
}

// The filter of a row that gets a new value, as it is before.
const char *target(Words words, bool forgets, const char *empty) {
  words.set("empty", empty);
  return forgets ? psprintf("CASE%s END", for_each_generation(words, kTarget, "")) : "s.filter";
}

// What follows SET in an UPDATE that adds to a row.
const char *addition(Words words, bool forgets, const char *empty, const char *adds,
                     const char *value) {
  words.set("empty", empty);
  words.set("adds", adds);
  words.set("value", value);
  if (!forgets)
    return words.filled("      filter = {bf}.{adds}(s.filter, {value})");
  words.set("dropped", for_each_generation(words, kDropped, ""));
  words.set("added", for_each_generation(words, kAdd, ",\n"));
  return words.filled(kAddition);
}

} // namespace

void run(const char *statement) {
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

char *quoted(const SetName &name, const char *suffix) {
  return quote_qualified_identifier(name.schema, psprintf("%s%s", name.set, suffix));
}

void make_set(const SetName &name, Oid type, const SetShape &shape, Interval *keep,
              int64 generation, Oid extension) {
  const bool forgets = keep != nullptr;
  const char *set = quoted(name);
  const char *type_name = format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);
  const bool is_temporary = strcmp(name.schema, "pg_temp") == 0;
  const Level &top = shape.level[0];
  Words words;
  for (const char *symbol : kOperators)
    words.set(symbol, psprintf("OPERATOR(pg_catalog.%s)", symbol));
  words.set("set", set);
  words.set("set literal", quote_literal_cstr(set));
  words.set("bf", quote_identifier(get_namespace_name(extension)));
  words.set("type", type_name);
  words.set("type literal", quote_literal_cstr(type_name));
  words.set("shard", psprintf("%s%d", kShardOf, top.shards));
  words.set("shards", psprintf("%d", top.shards));
  words.set("last", psprintf("%d", top.shards - 1));
  words.set("levels", psprintf("%d", shape.levels));
  words.set("fan out", psprintf("%d", kFanOut));
  words.set("expected", psprintf(UINT64_FORMAT, shape.capacity.values));
  words.set("rate", double_to_shortest_decimal(shape.capacity.rate));
  // Workers cannot read temporary tables.
  words.set("parallel", is_temporary ? "RESTRICTED" : "SAFE");
  words.set("fillfactor", forgets ? "67" : "50");
  words.set("storage", forgets ? ", toast_tuple_target = 8160" : "");
  words.set("keep", forgets ? interval_literal(keep) : "NULL");
  words.set("empty", "empty"); // a variable of the functions
  words.set("mark", psprintf("%s%d.", kMark, top.shards));
  set_form(&words, forgets ? generation : 0);
  words.set("path", path_of(words, shape));
  words.set("shards of a row", shards_of_row(words, shape));
  words.set("most", by_level(words, shape, [](const Level &level) { return most_values(level); }));
  words.set("most of level 0", most_values(top));
  const char *empty = empty_filter(words, top);
  words.set("empty of level 0", empty);
  words.set("empty of its level", by_level(words, shape, [&words](const Level &level) {
              return empty_filter(words, level);
            }));
  words.set("target of level 0", target(words, forgets, empty));
  words.set("add to level 0", addition(words, forgets, empty, "bf_add", "value"));
  words.set("target", target(words, forgets, "empty"));
  words.set("add", addition(words, forgets, "empty", "bf_add", "value"));
  words.set("add f.members",
            addition(words, forgets, "empty", "bf_add_all", "f.members[1 : f.room]"));
  words.set("knows m.value", knows(words, forgets, "m.value"));
  words.set("knows", knows(words, forgets, "value"));
  if (forgets)
    words.set("has new", words.filled("EXISTS (SELECT FROM pg_catalog.unnest(b.members) m (value)\n"
                                      "                WHERE NOT ({knows m.value}))"));

  words.set("empty", empty);
  words.set("values", forgets ? for_each_generation(words, "{empty}", ", ") : empty);
  for (const char *statement : kTable)
    run(words.filled(statement));
  words.set("values", forgets ? "empty, empty, empty, empty, empty" : "empty");
  for (const SetFunction &function : kFunctions) {
    const char *its_name = quoted(name, function.suffix);
    run(psprintf("CREATE FUNCTION %s(%s) %s LANGUAGE plpgsql AS %s", its_name,
                 words.filled(function.arguments), words.filled(function.properties),
                 quote_literal_cstr(words.filled(function.body))));
    run(psprintf("COMMENT ON FUNCTION %s IS %s", its_name, quote_literal_cstr(function.comment)));
  }
}

bool is_body_of_set(const char *body, const char *shards) {
  return strstr(body, shards ? psprintf("%s%s.\n", kMark, shards) : kMark);
}

} // namespace bloomfilter
