// See set_objects.hpp.
//
// What a template says in braces is replaced in one pass, so a name cannot be mistaken for a part
// of the template. Each body becomes a quoted literal.

#include "pg/sql/set_objects.hpp"

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
// over by its clock; `place` is the number of the filter that gets new values.
constexpr const char *kColumn = "  filter_{i} {bf}.bloomfilter NOT NULL";
constexpr const char *kNumber = "(s.{newest} {-} pg_catalog.mod(s.{newest} {+} {5 - i}, 5))";
constexpr const char *kLive = "\n      CASE WHEN {number} {>=} oldest THEN s.filter_{i} END";
constexpr const char *kBefore =
    "CASE WHEN {number} {<} oldest THEN {bf}.bf_clear(s.filter_{i}) ELSE s.filter_{i} END";
constexpr const char *kTarget = "\n            WHEN place {=} {i} THEN {before}";
constexpr const char *kLost = ",\n      CASE WHEN {number} {<} oldest"
                              " AND {bf}.bf_count(s.filter_{i}) {>} 0 THEN {number} END";
constexpr const char *kBegin = "    filter_{i} = {before}";
constexpr const char *kAddAll = "        CASE WHEN place {=} {i}\n"
                                "          THEN {bf}.bf_add_all({before}, s.members[1 : s.room])\n"
                                "          ELSE {before} END";

// Begins the session's generation in a row whose newest one is older.
constexpr const char *kBeginGeneration = R"({newest} = GREATEST(s.{newest}, generation),
    {forgotten} = GREATEST(s.{forgotten}{lost}),
{filters})";

// Adds a value to a row whose newest generation is at least the session's. All of the row's filters
// are then of generations that are not over by the session's clock.
constexpr const char *kAdd = R"({indent}UPDATE {set} AS s SET
{indent}  is_full = {bf}.bf_count(s.{filter}) {>=} s.most,
{indent}  {filter} = {bf}.bf_add(s.{filter}, value)
{indent}WHERE {row is} AND NOT s.is_full{is new};
)";
// Variables of the functions of a set that forgets.
constexpr const char *kClock = R"(
  generation bigint := {bf}.bf_generation({microseconds});
  oldest bigint := generation {-} 4;
  place int := pg_catalog.mod(generation, 5);)";

// The only row that may get the value. None if a full row possibly has it.
constexpr const char *kActiveRow = R"(s.{shard} {=} ANY ({path}) AND NOT EXISTS (
        SELECT FROM {set} s WHERE s.{shard} {=} ANY ({path}) AND s.is_full AND ({knows})))";

// The values of an array that are not in the row.
constexpr const char *kNewMembers =
    "ARRAY(SELECT m.value FROM (SELECT pg_catalog.unnest(s.members) AS value) m\n"
    "          WHERE NOT ({knows m.value}))";

constexpr const char *kHas = R"(  PERFORM FROM {set} s WHERE s.{shard} {=} ANY ({path}) AND {knows};
)";

// A set that forgets. Filters that are over need not be told apart if none has the value.
constexpr const char *kHasLately =
    R"(  PERFORM FROM {set} s WHERE s.{shard} {=} ANY ({path})
    AND (s.forgotten {>=} oldest OR {contains});
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM FROM {set} s WHERE s.{shard} {=} ANY ({path}) AND ({knows});
)";

constexpr const char *kGenerationsOfInfo = R"(,
    (SELECT pg_catalog.array_agg(pg_catalog.to_timestamp(g.number {*} {seconds}::double precision)
       ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.count ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.fpr ORDER BY g.number) FROM generations g))";
constexpr const char *kNumbered = "({number}, s.filter_{i})";

constexpr const char *kTable[] = {
    R"(CREATE TABLE {set} (
  {shard} int PRIMARY KEY,
  most real NOT NULL,
  is_full boolean NOT NULL DEFAULT false,
{columns}) WITH (fillfactor = {fillfactor}{storage}))",
    R"(INSERT INTO {set} ({shard}, most, {names})
SELECT i, {most of level 0}, {values} FROM pg_catalog.generate_series(0, {last}) i)",
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
  keys int[];{variables}
BEGIN
  -- Most values get into the row of level 0.
{add to level 0}  IF FOUND THEN
    RETURN true;
  END IF;
  -- The set has the value, or the row is full or missing, or another session changed it. Each
  -- attempt can fail only because other sessions filled a row meanwhile, or added the value.
  keys := {keys};
  FOR attempt IN 0 .. {levels} LOOP
{begin generation}{add to its level}    IF FOUND THEN
      RETURN true;
    END IF;
    SELECT pg_catalog.bool_or({knows}), pg_catalog.count(*),
      pg_catalog.count(*) FILTER (WHERE s.is_full)
    INTO known, rows, level
    FROM {set} s WHERE s.{shard} {=} ANY ({path});
    IF known THEN
      RETURN false;
    END IF;
    -- Make the row if it is missing.
    INSERT INTO {set} AS s ({shard}, most, {names})
    SELECT keys[level {+} 1], e.most, {e.values}
    FROM (SELECT {most} AS most, {empty of its level} AS empty) e
    ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
  END LOOP;
  RETURN false;
END
)",
     "adds a value to the set; true if the value was certainly new"},
    {"_has", "value {type}", "RETURNS boolean STABLE STRICT PARALLEL {parallel}", R"(
#variable_conflict use_variable
{mark}
{declare of has}BEGIN
{has}  RETURN FOUND;
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
  first int := 0;{variables}
BEGIN
  -- Add to the rows of level 0, then what does not fit there to those of level 1, and so on. All
  -- batches lock rows in the order of their keys, so that they do not deadlock.
  LOOP
    WITH batch AS MATERIALIZED (
      SELECT first {+} b.shard AS shard, b.members, s.{shard} IS NULL AS is_missing,
        {has new} AS has_new
      FROM (SELECT v.shard, pg_catalog.array_agg(v.value) AS members
            FROM (SELECT {bf}.bf_shard(u.value, shards) AS shard, u.value
                  FROM (SELECT DISTINCT p.value
                        FROM (SELECT pg_catalog.unnest(pending) AS value) p) u) v
            WHERE v.shard IS NOT NULL GROUP BY v.shard) b
        LEFT JOIN {set} s ON s.{shard} {=} (first {+} b.shard)
    ), locked AS MATERIALIZED (
      SELECT s.{shard} AS shard, s.is_full, s.most, {row}, b.members
      FROM batch b JOIN {set} s ON s.{shard} {=} b.shard
      WHERE b.has_new AND NOT EXISTS (SELECT FROM batch b WHERE b.is_missing)
      ORDER BY s.{shard} FOR NO KEY UPDATE OF s
    ), missed AS MATERIALIZED (
      -- If rows are missing, no row is locked yet. A row that cannot be locked is missing, too.
      SELECT b.members FROM batch b WHERE (b.is_missing OR b.has_new)
        AND NOT EXISTS (SELECT FROM locked l WHERE l.shard {=} b.shard)
    ), fresh AS MATERIALIZED (
      SELECT s.shard, s.most, s.is_full, {row}, {new members} AS members,
        CASE WHEN s.is_full THEN 0 ELSE LEAST(GREATEST(
          pg_catalog.ceil(s.most {-} {bf}.bf_count({target})), 0), 1000000000)::int END AS room
      FROM locked s
    ), written AS (
      -- The rows are locked, so all that is known of them is still so.
      INSERT INTO {set} AS s ({shard}, most, is_full, {data})
      SELECT s.shard, s.most, pg_catalog.cardinality(s.members) {>} s.room,
{new data}
      FROM fresh s WHERE NOT s.is_full
      ON CONFLICT ({shard}) DO UPDATE SET is_full = excluded.is_full, {replaced}
    )
    SELECT (SELECT pg_catalog.sum(LEAST(pg_catalog.cardinality(f.members), f.room)) FROM fresh f),
      EXISTS (SELECT FROM missed),
      ARRAY(SELECT pg_catalog.unnest(m.members) FROM missed m
            UNION ALL
            SELECT pg_catalog.unnest(f.members[f.room {+} 1 :]) FROM fresh f
            WHERE pg_catalog.cardinality(f.members) {>} f.room)
    INTO added, missing, pending;
    were_new := were_new {+} coalesce(added, 0);
    IF pg_catalog.cardinality(pending) {=} 0 THEN
      RETURN were_new;
    ELSIF missing THEN
      INSERT INTO {set} AS s ({shard}, most, {names})
      SELECT p.shard, e.most, {e.values}
      FROM (SELECT DISTINCT first {+} {bf}.bf_shard(p.value, shards) AS shard
            FROM (SELECT pg_catalog.unnest(pending) AS value) p ORDER BY 1) p,
        (SELECT {most} AS most, {empty of its level} AS empty) e
      ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
    ELSE
      level := level {+} 1;
      first := first {+} shards;
      shards := shards {*} {fan out};
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
    SELECT pg_catalog.count(*) AS count,
      coalesce(pg_catalog.round(pg_catalog.sum(1.0 {/} {shards of a row}), 6), 0)
        ::double precision AS share
    FROM {set} s
  )
  SELECT coalesce(pg_catalog.sum(f.bits_set) {/} pg_catalog.sum(f.bits), 0),
    coalesce(pg_catalog.sum(f.estimated_count), 0), coalesce(pg_catalog.sum(f.fpr), 0),
    (SELECT p.count FROM probed p), (SELECT p.share FROM probed p){generations}
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
    words.set("5 - i", psprintf("%d", kGenerations - i));
    words.set("number", words.filled(kNumber));
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
  return psprintf("'%s'::real", double_to_shortest_decimal(level.most));
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

// Statements that add a value to the row of which `row_is` is true.
char *addition(Words words, bool forgets, const char *row_is, const char *indent) {
  words.set("row is", row_is);
  if (!forgets) {
    words.set("indent", indent);
    words.set("filter", "filter");
    words.set("is new",
              words.filled(psprintf("\n%s  AND NOT {bf}.bf_contains(s.filter, value)", indent)));
    return words.filled(kAdd);
  }
  words.set("indent", psprintf("%s  ", indent));
  words.set("is new", words.filled(psprintf(
                          "\n%s    AND s.{newest} {>=} generation AND s.{forgotten} {<} oldest\n"
                          "%s    AND NOT {contains}",
                          indent, indent)));
  StringInfoData all;
  initStringInfo(&all);
  for (int i = 0; i < kGenerations; i++) {
    words.set("filter", psprintf("filter_%d", i));
    words.set("i", psprintf("%d", i));
    const char *branch = i == 0 ? "IF" : "ELSIF";
    if (i < kGenerations - 1)
      appendStringInfo(&all, "%s%s place %s %d THEN\n", indent, branch, words.filled("{=}"), i);
    else
      appendStringInfo(&all, "%sELSE\n", indent);
    appendStringInfoString(&all, words.filled(kAdd));
  }
  appendStringInfo(&all, "%sEND IF;\n", indent);
  return all.data;
}

// Sets the words of a set that remembers all its values.
void set_remembering(Words *words) {
  words->set("columns", words->filled("  filter {bf}.bloomfilter NOT NULL"));
  words->set("names", "filter");
  words->set("row", "s.filter");
  words->set("declare", "");
  words->set("declare of has", words->filled("DECLARE\n  keys int[] := {keys};\n"));
  words->set("variables", "");
  words->set("knows", words->filled("{bf}.bf_contains(s.filter, value)"));
  words->set("knows m.value", words->filled("{bf}.bf_contains(s.filter, m.value)"));
  words->set("has new", words->filled("NOT {bf}.bf_contains_all(s.filter, b.members)"));
  words->set("has", words->filled(kHas));
  words->set("new members",
             words->filled(psprintf("CASE WHEN {bf}.bf_contains_any(s.filter, s.members) THEN %s\n"
                                    "          ELSE s.members END",
                                    kNewMembers)));
  words->set("target", "s.filter");
  words->set("data", "filter");
  words->set("new data", words->filled("        {bf}.bf_add_all(s.filter, s.members[1 : s.room])"));
  words->set("replaced", "filter = excluded.filter");
  words->set("begin generation", "");
  words->set("filters", "(0, s.filter)");
  words->set("of live", "");
  words->set("generations", "");
  words->set("generation columns", "");
  words->set("e.values", "e.empty");
}

// True if the row possibly has the value {value}.
char *knows_lately(const Words &words) {
  return words.filled(
      psprintf("s.forgotten {>=} oldest OR coalesce({value} {bf <@} ANY (ARRAY[%s]), false)",
               for_each_generation(words, kLive, ",")));
}

// Sets the words of a set that forgets.
void set_forgetting(Words *words, int64 generation) {
  words->set("newest", psprintf("newest_of_" INT64_FORMAT, generation));
  words->set("forgotten", "forgotten");
  words->set("microseconds", psprintf(INT64_FORMAT, generation));
  words->set("seconds",
             double_to_shortest_decimal(static_cast<double>(generation) / USECS_PER_SEC));
  words->set("columns", words->filled(psprintf("  {newest} bigint NOT NULL DEFAULT 0,\n"
                                               "  forgotten bigint NOT NULL DEFAULT -9,\n%s",
                                               for_each_generation(*words, kColumn, ",\n"))));
  words->set("names", for_each_generation(*words, "filter_{i}", ", "));
  words->set("row", words->filled(psprintf("s.{newest}, s.forgotten, %s",
                                           for_each_generation(*words, "s.filter_{i}", ", "))));
  words->set("variables", words->filled(kClock));
  words->set("declare", words->filled("DECLARE{variables}\n"));
  words->set("declare of has", words->filled("DECLARE\n  keys int[] := {keys};{variables}\n"));
  words->set("contains",
             words->filled(psprintf("value {bf <@} ANY (ARRAY[%s])",
                                    for_each_generation(*words, "s.filter_{i}", ", "))));
  words->set("value", "m.value");
  words->set("knows m.value", knows_lately(*words));
  words->set("value", "value");
  words->set("knows", knows_lately(*words));
  words->set("has new",
             words->filled("EXISTS (SELECT FROM (SELECT pg_catalog.unnest(b.members) AS value) m\n"
                           "          WHERE NOT ({knows m.value}))"));
  words->set("has", words->filled(kHasLately));
  words->set("new members", words->filled(kNewMembers));
  words->set("target", psprintf("CASE%s END", for_each_generation(*words, kTarget, "")));
  words->set("lost", for_each_generation(*words, kLost, ""));
  words->set("data", words->filled(psprintf("{newest}, forgotten, %s",
                                            for_each_generation(*words, "filter_{i}", ", "))));
  words->set("new data", words->filled(psprintf("        GREATEST(s.{newest}, generation),\n"
                                                "        GREATEST(s.forgotten{lost}),\n%s",
                                                for_each_generation(*words, kAddAll, ",\n"))));
  words->set("replaced",
             words->filled(
                 psprintf("{newest} = excluded.{newest}, forgotten = excluded.forgotten, %s",
                          for_each_generation(*words, "filter_{i} = excluded.filter_{i}", ", "))));
  words->set("filters", for_each_generation(*words, kBegin, ",\n"));
  words->set("begin", words->filled(kBeginGeneration));
  words->set("begin generation", words->filled(R"(    UPDATE {set} AS s SET {begin}
    WHERE s.{shard} {=} ANY ({path}) AND NOT s.is_full AND s.{newest} {<} generation;
)"));
  words->set("filters", for_each_generation(*words, kNumbered, ", "));
  words->set("of live", words->filled("\n    WHERE g.number {>=} oldest"));
  words->set("generations", words->filled(kGenerationsOfInfo));
  words->set("generation columns", ",\n    generation_begin, generation_count, generation_fpr");
  words->set("e.values", for_each_generation(*words, "e.empty", ", "));
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
  words.set("bf <@", words.filled("OPERATOR({bf}.<@)"));
  words.set("type", type_name);
  words.set("type literal", quote_literal_cstr(type_name));
  words.set("shard", psprintf("%s%d", kShardOf, top.shards));
  words.set("shards", psprintf("%d", top.shards));
  words.set("last", psprintf("%d", top.shards - 1));
  words.set("levels", psprintf("%d", shape.levels));
  words.set("fan out", psprintf("%d", shape.fan_out));
  words.set("expected", psprintf(UINT64_FORMAT, shape.capacity.values));
  words.set("rate", double_to_shortest_decimal(shape.capacity.rate));
  // Workers cannot read temporary tables.
  words.set("parallel", is_temporary ? "RESTRICTED" : "SAFE");
  words.set("fillfactor", forgets ? "67" : "50");
  words.set("storage", forgets ? ", toast_tuple_target = 8160" : "");
  words.set("keep", forgets ? interval_literal(keep) : "NULL");
  words.set("value", "value");
  words.set("mark", psprintf("%s%d.", kMark, top.shards));
  StringInfoData path;
  initStringInfo(&path);
  for (int i = 1; i <= shape.levels; i++)
    appendStringInfo(&path, "%skeys[%d]", i > 1 ? ", " : "", i);
  // The planner sees how many keys there are, and so need not plan each call.
  words.set("path", psprintf("ARRAY[%s]", path.data));
  words.set("keys", words.filled(psprintf("{bf}.bf_shard_keys(value, {shards}, {fan out}, %d)",
                                          shape.levels)));
  words.set("shards of a row", shards_of_row(words, shape));
  words.set("most of level 0", most_values(top));
  words.set("most", by_level(words, shape, [](const Level &level) { return most_values(level); }));
  words.set("empty of its level", by_level(words, shape, [&words](const Level &level) {
              return empty_filter(words, level);
            }));
  if (forgets)
    set_forgetting(&words, generation);
  else
    set_remembering(&words);
  words.set(
      "add to level 0",
      addition(words, forgets, words.filled("s.{shard} {=} {bf}.bf_shard(value, {shards})"), "  "));
  words.set("add to its level", addition(words, forgets, words.filled(kActiveRow), "    "));
  const char *empty = empty_filter(words, top);
  words.set("values", forgets ? for_each_generation(words, empty, ", ") : empty);

  for (const char *statement : kTable)
    run(words.filled(statement));
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
