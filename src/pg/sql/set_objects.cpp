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

// In all of them, `s` is a row. The variables `generation` and `oldest` are the session's
// generation and the oldest one that is not over by its clock.

// Variables of the functions of a set that forgets.
constexpr const char *kClock = R"(
  generation bigint := {bf}.bf_generation({microseconds});
  oldest bigint := generation {-} 4;)";

// The place of the session's generation in a row whose newest one is not older. Generations that
// are no longer in the row have the place of the oldest one. It is 1 in an older row, too.
constexpr const char *kPlace = "GREATEST(LEAST(s.{newest} {-} generation {+} 1, 5), 1)::int";

// The filters of the generations that are not over by the session's clock.
constexpr const char *kLive =
    "s.filters[1 : GREATEST(LEAST(s.{newest} {-} oldest {+} 1, 5), 0)::int]";

// True if a filter of the row has the value.
constexpr const char *kHasLately = "{value} {bf <@} ANY ({live})";

// True if a generation that is not over by the session's clock was given up in the row, because
// another session's clock is ahead. The row may then have had any value. An addition is stored all
// the same, but it is not certainly new.
constexpr const char *kGaveUp = "s.{newest} {-} 5 {>=} GREATEST(oldest, s.first_generation)";

// The filters with new ones for the generations from the row's newest one to the session's.
constexpr const char *kShifted = "(pg_catalog.array_fill({bf}.bf_clear(s.filters[1]),\n"
                                 "        ARRAY[LEAST(generation {-} s.{newest}, 5)::int]) "
                                 "OPERATOR(pg_catalog.||) s.filters)[1 : 5]";

// What an addition does besides with a row that is full, and what it does with a row that has no
// filter for the session's generation.
constexpr const char *kBeginGeneration = R"(      is_doubtful := is_doubtful OR gave_up;
    ELSIF is_outdated THEN
      UPDATE {set} AS s SET {newest} = generation,
        filters = {shifted}
      WHERE s.{shard} {=} keys[level] AND NOT s.is_full AND s.{newest} {<} generation;
)";

// The values of an array that are not in the row. Most arrays have none that is.
constexpr const char *kNewMembers =
    "ARRAY(SELECT m.value FROM (SELECT pg_catalog.unnest({members}) AS value) m{once}\n"
    "          WHERE ({has m.value}) IS NOT TRUE)";
// The live filters of a row, which must not be cut out again for each value.
constexpr const char *kLiveOnce = ",\n            (SELECT {live} AS live OFFSET 0) l";
constexpr const char *kNewMembersOrAll =
    "CASE WHEN {bf}.bf_contains_any(s.filter, {members}) THEN\n"
    "          {some members} ELSE {members} END";

constexpr const char *kRowsWithMembers[] = {"b", "s"};

constexpr const char *kTable[] = {
    R"(CREATE TABLE {set} (
  {shard} int PRIMARY KEY,
  most real NOT NULL,
  is_full boolean NOT NULL DEFAULT false,
{columns}) WITH (fillfactor = {fillfactor}{storage}))",
    R"(INSERT INTO {set} ({shard}, most, {names})
SELECT n.key, {most}, {initial values} FROM pg_catalog.generate_series(0, {last}) n (key))",
    "ALTER TABLE {set} SET (fillfactor = 100)",
    R"(COMMENT ON TABLE {set} IS
  'a set of values, divided into small filters; bf_create_set made it, bf_drop_set drops it')"};

// Ends an addition that does not come to an end: a row is seen, but cannot be changed.
constexpr const char *kRaiseHidden =
    R"(  RAISE EXCEPTION 'cannot write to a row of set %', {set literal}
    USING ERRCODE = 'insufficient_privilege', HINT = 'A policy of the table may hide the row.';
)";

// The second line of each body tells which functions are those of a set.
constexpr char kMark[] =
    "-- bf_create_set() made this function for a table with the column shard_of_";

} // namespace

const SetFunction kSetFunctions[] = {
    {"_add", "value {type}", "RETURNS boolean STRICT", R"(
#variable_conflict use_variable
{mark}
DECLARE
  keys int[] := {keys};
  level int := 1;
  found_full boolean;
  known boolean;{variables}{variables of addition}
BEGIN
  -- The first row of the value that is not full may get it. An attempt fails if the row is full or
  -- missing{or outdated}, or if another session changes it
  -- meanwhile. Each can happen once to a row.
  FOR attempt IN 1 .. {attempts} LOOP
    UPDATE {set} AS s SET
      is_full = {bf}.bf_count(s.{filter}) {>=} s.most,{first}
      {filter} = {bf}.bf_add(s.{filter}, value)
    WHERE s.{shard} {=} keys[level] AND NOT s.is_full{is current}
      AND NOT ({has}){returning};
    IF FOUND THEN
      RETURN {is new};
    END IF;
    SELECT s.is_full, {has}{columns of addition}
    INTO found_full, known{into columns}
    FROM {set} s WHERE s.{shard} {=} keys[level];
    IF known THEN
      RETURN false;
    ELSIF found_full THEN
      level := level {+} 1;
{begin generation}    ELSE
      INSERT INTO {set} AS s ({shard}, most, {names})
      SELECT n.key, {most}, {values} FROM (SELECT keys[level] AS key) n
      ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
    END IF;
  END LOOP;
{raise hidden}END
)",
     "adds a value to the set; true if the value was certainly new"},
    {"_has", "value {type}", "RETURNS boolean STABLE STRICT PARALLEL {parallel}", R"(
#variable_conflict use_variable
{mark}
DECLARE
  keys int[] := {keys};{variables}
BEGIN
  PERFORM FROM {set} s WHERE s.{shard} {=} ANY ({path}) AND ({knows});
  RETURN FOUND;
END
)",
     "true if the value is possibly in the set"},
    {"_add_all", "\"values\" {type}[]", "RETURNS bigint STRICT", R"(
#variable_conflict use_variable
{mark}
DECLARE
  pending {type}[] := ARRAY(SELECT DISTINCT p.value
    FROM (SELECT pg_catalog.unnest("values") AS value) p);
  were_new bigint := 0;
  added bigint;
  missing boolean;
  shards int := {shards};
  first int := 0;{variables}{variables of batch}
BEGIN
  -- Add to the rows of level 0, then what does not fit there to those of level 1, and so on. All
  -- batches lock rows in the order of their keys, so that they do not deadlock.
  FOR attempt IN 1 .. {attempts} LOOP
    WITH batch AS MATERIALIZED (
      SELECT first {+} b.shard AS shard, s.is_full, {new members of b} AS members{gave up}
      FROM (SELECT v.shard, pg_catalog.array_agg(v.value) AS members
            FROM (SELECT {bf}.bf_shard(p.value, shards) AS shard, p.value
                  FROM (SELECT pg_catalog.unnest(pending) AS value) p) v
            WHERE v.shard IS NOT NULL GROUP BY v.shard) b
        LEFT JOIN {set} s ON s.{shard} {=} (first {+} b.shard)
    ), locked AS MATERIALIZED (
      -- If rows are missing, none is locked yet. A row that is full stays as it is.
      SELECT s.{shard} AS shard, s.is_full, s.most, {row}, b.members
      FROM batch b JOIN {set} s ON s.{shard} {=} b.shard
      WHERE NOT b.is_full AND pg_catalog.cardinality(b.members) {>} 0
        AND NOT EXISTS (SELECT FROM batch b WHERE b.is_full IS NULL)
      ORDER BY s.{shard} FOR NO KEY UPDATE OF s
    ), fresh AS MATERIALIZED (
      -- Another session may have changed a row before it was locked.
      SELECT s.shard, s.most, s.is_full, {new members of s} AS members,
        CASE WHEN s.is_full THEN 0 ELSE LEAST(GREATEST(
          pg_catalog.ceil(s.most {-} {count}), 0), 1000000000)::int END AS room,
        {begun}{gave up}
      FROM locked s
    ), written AS (
      -- An UPDATE would not free space of a page between two rows of it.
      INSERT INTO {set} AS s ({shard}, most, is_full, {names})
      SELECT f.shard, f.most, pg_catalog.cardinality(f.members) {>} f.room,
        {added}
      FROM fresh f WHERE NOT f.is_full AND pg_catalog.cardinality(f.members) {>} 0
      ON CONFLICT ({shard}) DO UPDATE SET is_full = excluded.is_full,
        {replaced}
    ), missed AS (
      SELECT b.members FROM batch b
      WHERE b.is_full IS NULL OR NOT b.is_full AND pg_catalog.cardinality(b.members) {>} 0
        AND NOT EXISTS (SELECT FROM fresh f WHERE f.shard {=} b.shard)
    )
    SELECT (SELECT pg_catalog.sum(LEAST(pg_catalog.cardinality(f.members), f.room))
            FROM fresh f{certain}),
      EXISTS (SELECT FROM missed),
      ARRAY(SELECT pg_catalog.unnest(m.members) FROM missed m
            UNION ALL
            SELECT pg_catalog.unnest(b.members) FROM batch b WHERE b.is_full
            UNION ALL
            SELECT pg_catalog.unnest(f.members[f.room {+} 1 :]) FROM fresh f){any gave up}
    INTO added, missing, pending{into gave up};
    were_new := were_new {+} coalesce(added, 0);
    IF pg_catalog.cardinality(pending) {=} 0 THEN
      RETURN were_new;
    ELSIF missing THEN
      INSERT INTO {set} AS s ({shard}, most, {names})
      SELECT n.key, {most}, {values}
      FROM (SELECT DISTINCT first {+} {bf}.bf_shard(p.value, shards) AS key
            FROM (SELECT pg_catalog.unnest(pending) AS value) p ORDER BY 1) n
      ON CONFLICT ({shard}) DO UPDATE SET is_full = s.is_full WHERE false;
    ELSE
      first := first {+} shards;
      shards := shards {*} {fan out};
    END IF;
  END LOOP;
{raise hidden}END
)",
     "adds all values of an array to the set; returns how many were certainly new"},
    {"_info",
     "OUT expected bigint, OUT target_fpr double precision, OUT keep interval, OUT shards int, "
     "OUT bytes bigint, OUT fill double precision, OUT estimated_count double precision, "
     "OUT estimated_fpr double precision, OUT rows bigint, OUT rows_per_probe double precision, "
     "OUT generation_begin timestamp with time zone[], OUT generation_count double precision[], "
     "OUT generation_fpr double precision[]",
     "STABLE PARALLEL {parallel}", R"(
#variable_conflict use_variable
{mark}
DECLARE{variables}
BEGIN
  expected := {expected};
  target_fpr := {rate};
  keep := {keep};
  shards := {shards};
  bytes := pg_catalog.pg_total_relation_size({set literal});
  -- A row has a share of all values, by its level. Rows that are missing are empty.
  WITH filters AS MATERIALIZED (
    SELECT g.number, i.estimated_count, i.estimated_fpr {/} {shards of a row} AS fpr, i.bits,
      i.fill {*} i.bits AS bits_set
    FROM {set} s, {filters}, {bf}.bf_info(g.filter) i{of live}
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

namespace {

constexpr const char *kGenerationsOfInfo = R"(,
    (SELECT pg_catalog.array_agg(pg_catalog.to_timestamp(g.number {*} {seconds}::double precision)
       ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.count ORDER BY g.number) FROM generations g),
    (SELECT pg_catalog.array_agg(g.fpr ORDER BY g.number) FROM generations g))";

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
    if (i == kMost)
      elog(ERROR, "a template has more than %d words", kMost);
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

  static constexpr int kMost = 80;
  struct {
    const char *name, *text;
  } words_[kMost];
  int count_ = 0;
};

// An expression that makes an empty filter of a level.
char *empty_filter(const Words &words, const Level &level) {
  if (!level.grows) {
    Geometry geometry = {};
    (void)size_in_lines(level.capacity.values, level.capacity.rate, &geometry);
    return words.filled(psprintf("{bf}.bf_create_by_size(" UINT64_FORMAT
                                 ", %d, type => {type literal})",
                                 geometry.bits(), geometry.k));
  }
  return words.filled(
      psprintf("{bf}.bf_create(" UINT64_FORMAT ", %s, grow => true, type => {type literal})",
               level.capacity.values, double_to_shortest_decimal(level.capacity.rate)));
}

// An expression that depends on the level of the row `key`. `of_level` is called with each level.
template <typename OfLevel>
char *by_level(const Words &words, const SetShape &shape, const char *key, OfLevel of_level) {
  StringInfoData cases;
  initStringInfo(&cases);
  const char *row = words.filled(key), *less = words.filled("{<}");
  for (int i = 0; i < shape.levels - 1; i++)
    appendStringInfo(&cases, "WHEN %s %s %d THEN %s ", row, less, shape.level[i + 1].first,
                     of_level(shape.level[i]));
  char *last = of_level(shape.level[shape.levels - 1]);
  return shape.levels == 1 ? last : psprintf("CASE %sELSE %s END", cases.data, last);
}

char *interval_literal(Interval *interval) {
  const Datum text = DirectFunctionCall1(interval_out, IntervalPGetDatum(interval));
  return psprintf("%s::interval", quote_literal_cstr(DatumGetCString(text)));
}

// The words that stand for nothing in a set that remembers all its values.
constexpr const char *kOfForgetting[] = {"variables",
                                         "once",
                                         "variables of addition",
                                         "or outdated",
                                         "returning",
                                         "is current",
                                         "columns of addition",
                                         "into columns",
                                         "first",
                                         "of live",
                                         "variables of batch",
                                         "begin generation",
                                         "gave up",
                                         "certain",
                                         "any gave up",
                                         "into gave up",
                                         "generations",
                                         "generation columns"};

// Sets the words of a set that remembers all its values.
void set_remembering(Words *words) {
  words->set("columns", words->filled("  filter {bf}.bloomfilter NOT NULL"));
  words->set("names", "filter");
  words->set("initial values", words->filled("{empty of its level}"));
  words->set("values", words->filled("{empty of its level}"));
  words->set("row", "s.filter");
  words->set("filter", "filter");
  words->set("has", words->filled("{bf}.bf_contains(s.filter, value)"));
  words->set("knows", words->filled("{has}"));
  words->set("has m.value", words->filled("{bf}.bf_contains(s.filter, m.value)"));
  words->set("is new", "true");
  words->set("count", words->filled("{bf}.bf_count(s.filter)"));
  words->set("begun", "s.filter");
  words->set("added", words->filled("{bf}.bf_add_all(f.filter, f.members[1 : f.room])"));
  words->set("replaced", "filter = excluded.filter");
  words->set("filters", "LATERAL (VALUES (0, s.filter)) g (number, filter)");
  for (const char *word : kOfForgetting)
    words->set(word, "");
}

// Sets the words of a set that forgets.
void set_forgetting(Words *words, int64 generation) {
  words->set("newest", psprintf("newest_of_" INT64_FORMAT, generation));
  words->set("microseconds", psprintf(INT64_FORMAT, generation));
  words->set("seconds",
             double_to_shortest_decimal(static_cast<double>(generation) / USECS_PER_SEC));
  words->set("columns", words->filled("  {newest} bigint NOT NULL,\n"
                                      "  first_generation bigint NOT NULL,\n"
                                      "  filters {bf}.bloomfilter[] NOT NULL"));
  words->set("names", words->filled("{newest}, first_generation, filters"));
  words->set("empty generations",
             words->filled("pg_catalog.array_fill({empty of its level}, ARRAY[5])"));
  words->set("now", words->filled("{bf}.bf_generation({microseconds})"));
  words->set("initial values", words->filled("{now}, {now}, {empty generations}"));
  words->set("values", words->filled("generation, generation, {empty generations}"));
  words->set("row", words->filled("s.{newest}, s.first_generation, s.filters"));
  words->set("variables", words->filled(kClock));
  words->set("gave up of s", words->filled(kGaveUp));
  words->set("variables of addition", "\n  is_outdated boolean;\n  gave_up boolean;\n"
                                      "  is_doubtful boolean := false;");
  words->set("variables of batch", "\n  is_doubtful boolean := false;");
  words->set("place", words->filled(kPlace));
  words->set("filter", words->filled("filters[{place}]"));
  words->set("live", words->filled(kLive));
  words->set("once", words->filled(kLiveOnce));
  const char *live = words->filled("{live}");
  words->set("value", "m.value");
  words->set("live", "l.live");
  words->set("has m.value", words->filled(kHasLately));
  words->set("value", "value");
  words->set("live", live);
  words->set("has", words->filled(kHasLately));
  words->set("knows", words->filled("{gave up of s}\n        OR {has}"));
  words->set("returning", words->filled("\n    RETURNING {gave up of s} INTO gave_up"));
  words->set("is new", "NOT (gave_up OR is_doubtful)");
  words->set("or outdated", ", if it has no filter for the session's generation");
  words->set("columns of addition", words->filled(", s.{newest} {<} generation, {gave up of s}"));
  words->set("into columns", ", is_outdated, gave_up");
  words->set("gave up", words->filled(",\n        {gave up of s} AS gave_up"));
  words->set("certain", words->filled(" WHERE NOT f.gave_up AND NOT is_doubtful"));
  words->set("any gave up",
             words->filled(",\n      EXISTS (SELECT FROM batch b WHERE b.gave_up)"
                           " OR EXISTS (SELECT FROM fresh f WHERE f.gave_up) OR is_doubtful"));
  words->set("into gave up", ", is_doubtful");
  words->set("shifted", words->filled(kShifted));
  words->set("begin generation", words->filled(kBeginGeneration));
  words->set(
      "first",
      words->filled(
          "\n      first_generation = LEAST(s.first_generation, s.{newest} {-} {place} {+} 1),"));
  words->set("is current", words->filled(" AND s.{newest} {>=} generation"));
  words->set("count", words->filled("CASE WHEN s.{newest} {<} generation THEN 0\n"
                                    "            ELSE {bf}.bf_count(s.filters[{place}]) END"));
  words->set("begun",
             words->filled("GREATEST(s.{newest}, generation) AS newest, s.first_generation,\n"
                           "        CASE WHEN s.{newest} {<} generation THEN\n"
                           "          {shifted} ELSE s.filters END AS filters,\n"
                           "        {place} AS place"));
  words->set("added",
             words->filled("f.newest, LEAST(f.first_generation, f.newest {-} f.place {+} 1),\n"
                           "        f.filters[1 : f.place {-} 1]\n"
                           "          OPERATOR(pg_catalog.||) {bf}.bf_add_all(f.filters[f.place],"
                           " f.members[1 : f.room])\n"
                           "          OPERATOR(pg_catalog.||) f.filters[f.place {+} 1 : 5]"));
  words->set("replaced", words->filled("{newest} = excluded.{newest}, "
                                       "first_generation = excluded.first_generation,\n"
                                       "        filters = excluded.filters"));
  words->set("filters", words->filled("LATERAL (SELECT s.{newest} {-} f.place {+} 1, f.filter\n"
                                      "      FROM pg_catalog.unnest(s.filters) WITH ORDINALITY f "
                                      "(filter, place)) g (number, filter)"));
  words->set("of live", words->filled("\n    WHERE g.number {>=} oldest"));
  words->set("generations", words->filled(kGenerationsOfInfo));
  words->set("generation columns", ",\n    generation_begin, generation_count, generation_fpr");
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
  // With the number -1 given, char of any length is bpchar, and not character, which is char(1).
  const char *type_name =
      format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
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
  words.set("raise hidden", words.filled(kRaiseHidden));
  words.set("attempts", psprintf("%d", 4 * shape.levels));
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
  words.set("shards of a row", by_level(words, shape, "s.{shard}", [](const Level &level) {
              return psprintf("%d", level.shards);
            }));
  words.set("most", by_level(words, shape, "n.key", [](const Level &level) {
              return psprintf("'%s'::real", double_to_shortest_decimal(level.most));
            }));
  words.set("empty of its level", by_level(words, shape, "n.key", [&words](const Level &level) {
              return empty_filter(words, level);
            }));
  if (forgets)
    set_forgetting(&words, generation);
  else
    set_remembering(&words);
  for (const char *row : kRowsWithMembers) {
    words.set("members", psprintf("%s.members", row));
    words.set("some members", words.filled(kNewMembers));
    words.set(psprintf("new members of %s", row),
              words.filled(forgets ? kNewMembers : kNewMembersOrAll));
  }

  for (const char *statement : kTable)
    run(words.filled(statement));
  for (const SetFunction &function : kSetFunctions) {
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
