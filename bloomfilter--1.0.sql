-- The SQL objects of bloomfilter 1.0.
--
-- CREATE EXTENSION runs this script, with the rights of a superuser even if an ordinary user calls
-- it. So the script must not run or replace anything that another user has made: it creates objects
-- and never replaces one, and it has no function body in SQL and no dynamic SQL. Every name that it
-- refers to is in pg_catalog or in this script, with exact argument types.

\echo Use "CREATE EXTENSION bloomfilter" to load this file. \quit

-- --- Bloom filters -------------------------------------------------------------------------------

-- Type

CREATE TYPE bloomfilter;

CREATE FUNCTION bloomfilter_in(cstring) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_in(cstring) IS 'text input: base64';

CREATE FUNCTION bloomfilter_out(bloomfilter) RETURNS cstring
  AS 'MODULE_PATHNAME', 'filter_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_out(bloomfilter) IS 'text output: base64';

CREATE FUNCTION bloomfilter_recv(internal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_recv(internal) IS 'binary input';

CREATE FUNCTION bloomfilter_send(bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_send(bloomfilter) IS 'binary output';

CREATE FUNCTION bloomfilter_typanalyze(internal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_typanalyze' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_typanalyze(internal) IS
  'tells ANALYZE which statistics to collect for a column of filters';

-- The three filter types are a type category of their own. Its preferred type is bloomfilter, so an
-- untyped argument of a function that takes all three types is read as a bloomfilter.
CREATE TYPE bloomfilter (
  INPUT = bloomfilter_in,
  OUTPUT = bloomfilter_out,
  RECEIVE = bloomfilter_recv,
  SEND = bloomfilter_send,
  ANALYZE = bloomfilter_typanalyze,
  CATEGORY = 'f', PREFERRED = true,
  ALIGNMENT = double,
  STORAGE = external
);
COMMENT ON TYPE bloomfilter IS
  'a set summary that answers "definitely not in the set" or "possibly in the set"';

-- Planning

CREATE FUNCTION bloomfilter_restrict(internal, oid, internal, int) RETURNS float8
  AS 'MODULE_PATHNAME', 'filter_restrict' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_restrict(internal, oid, internal, int) IS
  'selectivity of a condition that probes a filter';

CREATE FUNCTION bloomfilter_join(internal, oid, internal, smallint, internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'filter_join' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_join(internal, oid, internal, smallint, internal) IS
  'join selectivity of a condition that probes a filter';

CREATE FUNCTION bloomfilter_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_support(internal) IS
  'planner support for functions that probe a filter';

CREATE FUNCTION bloomfilter_support_all(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_support_all' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_support_all(internal) IS
  'planner support for functions that probe a filter for all elements of an array';

CREATE FUNCTION bloomfilter_support_agg(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_support_agg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_support_agg(internal) IS
  'planner support for the transition functions of aggregates that build filters';

CREATE FUNCTION bloomfilter_support_value(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_support_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_support_value(internal) IS
  'planner support for functions that take a value but no filter';

-- Literals

CREATE TYPE bf_literal;

CREATE FUNCTION bloomfilter_literal_in(cstring) RETURNS bf_literal
  AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_literal_in(cstring) IS 'text input';

CREATE FUNCTION bloomfilter_literal_out(bf_literal) RETURNS cstring
  AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_literal_out(bf_literal) IS 'text output';

CREATE FUNCTION bloomfilter_literal_recv(internal) RETURNS bf_literal
  AS 'textrecv' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_literal_recv(internal) IS 'binary input';

CREATE FUNCTION bloomfilter_literal_send(bf_literal) RETURNS bytea
  AS 'textsend' LANGUAGE internal STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_literal_send(bf_literal) IS 'binary output';

CREATE TYPE bf_literal (
  INPUT = bloomfilter_literal_in,
  OUTPUT = bloomfilter_literal_out,
  RECEIVE = bloomfilter_literal_recv,
  SEND = bloomfilter_literal_send,
  STORAGE = extended,
  CATEGORY = 'S',
  COLLATABLE = true
);
COMMENT ON TYPE bf_literal IS
  'a bare literal or untyped parameter, to be read as the element type of a filter';

-- Casts

CREATE FUNCTION bytea(bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bytea(bloomfilter) IS 'the bytes of a filter, as doc/format.md describes them';

CREATE FUNCTION bloomfilter(bytea) RETURNS bloomfilter
  AS 'MODULE_PATHNAME', 'bloomfilter_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter(bytea) IS 'a filter from its bytes, checked';

CREATE CAST (bloomfilter AS bytea) WITH FUNCTION bytea(bloomfilter);
COMMENT ON CAST (bloomfilter AS bytea) IS 'the bytes of a filter';

CREATE CAST (bytea AS bloomfilter) WITH FUNCTION bloomfilter(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS bloomfilter) IS 'a filter from its bytes, checked';

-- Creation. The functions that make empty filters are not STRICT. They raise an error for a NULL
-- argument: returning NULL would leave a column without the filter that it was to have. Only `type`
-- may be NULL; the first value then sets the filter's element type.

CREATE FUNCTION bf_create(expected float8, fpr float8 DEFAULT 0.01, layout text DEFAULT 'lines',
                          seed bigint DEFAULT 0, grow boolean DEFAULT false,
                          type regtype DEFAULT NULL)
  RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_create(float8, float8, text, bigint, boolean, regtype) IS
  'empty filter for a number of distinct values at a false positive rate; it can have an element '
  'type, and it can grow';

CREATE FUNCTION bf_create_by_size(bits bigint, hashes int, seed bigint DEFAULT 0,
                                  type regtype DEFAULT NULL)
  RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_create_by_size(bigint, int, bigint, regtype) IS
  'empty filter of a number of bits, rounded up to a multiple of 512, with 1 to 16 hash functions';

CREATE FUNCTION bf_clear(filter bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_clear(bloomfilter) IS
  'empty filter of the same geometry, element type and seed; if the filter has several links, only '
  'the largest is kept';

CREATE FUNCTION bf_growable(filter bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_growable(bloomfilter) IS
  'the same filter, but one that gets another link when it is full; its rate can grow up to '
  'fourfold';

-- Adding

CREATE FUNCTION bf_add(filter bloomfilter, value "any") RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bf_add(bloomfilter, "any") IS 'filter plus one value';

CREATE FUNCTION bf_add(filter bloomfilter, value bf_literal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME', 'bf_add_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bf_add(bloomfilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

CREATE FUNCTION bf_add_all(filter bloomfilter, "values" anyarray) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bf_add_all(bloomfilter, anyarray) IS
  'filter plus every non-null element of an array';

CREATE FUNCTION bf_add_all(filter bloomfilter, "values" bf_literal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_add_all(bloomfilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

CREATE FUNCTION bf_put(filter bloomfilter, value "any", OUT filter bloomfilter,
                       OUT was_new boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_put(bloomfilter, "any") IS
  'filter plus one value, and whether the value was certainly new';

CREATE FUNCTION bf_put(filter bloomfilter, value bf_literal, OUT filter bloomfilter,
                       OUT was_new boolean)
  AS 'MODULE_PATHNAME', 'bf_put_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_put(bloomfilter, bf_literal) IS
  'filter plus a literal, and whether the literal was certainly new';

CREATE OPERATOR + (FUNCTION = bf_add, LEFTARG = bloomfilter, RIGHTARG = "any");
COMMENT ON OPERATOR + (bloomfilter, "any") IS 'filter plus one value';

CREATE OPERATOR + (FUNCTION = bf_add, LEFTARG = bloomfilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR + (bloomfilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

-- There is no operator ||, not even one that raises an error with a hint. Without one, the result
-- of filter || 'x' is text, as it is for a left operand of any type. If there was any operator ||
-- whose left operand is a filter, it would be called instead.

-- Removing a value raises an error; its hint names the types that support removal. The operator of
-- countingbloomfilter below explains why the right operand is not "any".

CREATE FUNCTION bloomfilter_minus(bloomfilter, anynonarray) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_minus(bloomfilter, anynonarray) IS
  'raises an error: values cannot be removed from a bloomfilter';

CREATE FUNCTION bloomfilter_minus(bloomfilter, bf_literal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_minus(bloomfilter, bf_literal) IS
  'raises an error: values cannot be removed from a bloomfilter';

CREATE OPERATOR - (FUNCTION = bloomfilter_minus, LEFTARG = bloomfilter, RIGHTARG = anynonarray);
COMMENT ON OPERATOR - (bloomfilter, anynonarray) IS
  'raises an error: values cannot be removed from a bloomfilter';

CREATE OPERATOR - (FUNCTION = bloomfilter_minus, LEFTARG = bloomfilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR - (bloomfilter, bf_literal) IS
  'raises an error: values cannot be removed from a bloomfilter';

-- Probing. The support function tells the planner the cost of a call. The planner uses COST for
-- calls that the support function cannot analyze. Its unit is the cost of a simple call, such as
-- x > 5.

CREATE FUNCTION bf_contains(filter bloomfilter, value "any") RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(bloomfilter, "any") IS 'true if the value is possibly in the set';

CREATE FUNCTION bf_contains(filter bloomfilter, value bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(bloomfilter, bf_literal) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE FUNCTION bf_contained(value "any", filter bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contained("any", bloomfilter) IS 'true if the value is possibly in the set';

CREATE FUNCTION bf_contained(value bf_literal, filter bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contained(bf_literal, bloomfilter) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE OPERATOR @> (FUNCTION = bf_contains, LEFTARG = bloomfilter, RIGHTARG = "any",
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (bloomfilter, "any") IS 'true if the value is possibly in the set';

CREATE OPERATOR @> (FUNCTION = bf_contains, LEFTARG = bloomfilter, RIGHTARG = bf_literal,
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (bloomfilter, bf_literal) IS 'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = bf_contained, LEFTARG = "any", RIGHTARG = bloomfilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ ("any", bloomfilter) IS 'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = bf_contained, LEFTARG = bf_literal, RIGHTARG = bloomfilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ (bf_literal, bloomfilter) IS 'true if the value is possibly in the set';

CREATE FUNCTION bf_contains_any(filter bloomfilter, "values" anyarray) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains_any(bloomfilter, anyarray) IS
  'true if any non-null element is possibly in the set';

CREATE FUNCTION bf_contains_any(filter bloomfilter, "values" bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_contains_any(bloomfilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

CREATE FUNCTION bf_contains_all(filter bloomfilter, "values" anyarray) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40
  SUPPORT bloomfilter_support_all;
COMMENT ON FUNCTION bf_contains_all(bloomfilter, anyarray) IS
  'true if every non-null element is possibly in the set';

CREATE FUNCTION bf_contains_all(filter bloomfilter, "values" bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_contains_all(bloomfilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

CREATE FUNCTION bf_contains_each(filter bloomfilter, "values" anyarray) RETURNS boolean[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 40
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains_each(bloomfilter, anyarray) IS
  'for each element, whether it is possibly in the set; null for a null element';

CREATE FUNCTION bf_contains_each(filter bloomfilter, "values" bf_literal) RETURNS boolean[]
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_contains_each(bloomfilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

-- Hashes

CREATE FUNCTION bf_hash(value "any", seed bigint DEFAULT 0) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bf_hash("any", bigint) IS
  'the 64-bit hash of a value in filters with this seed';

CREATE FUNCTION bf_add_hash(filter bloomfilter, hash bigint) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_add_hash(bloomfilter, bigint) IS 'filter plus the value that has this hash';

CREATE FUNCTION bf_contains_hash(filter bloomfilter, hash bigint) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains_hash(bloomfilter, bigint) IS
  'true if the value that has this hash is possibly in the set';

-- Sharding

CREATE FUNCTION bf_shard(value "any", shards int) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bf_shard("any", int) IS
  'the shard of a value, 0 to shards - 1, in a table of small filters';

CREATE FUNCTION bf_shard_count(expected float8, fpr float8 DEFAULT 0.01) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_shard_count(float8, float8) IS
  'how many shards a set needs, each a filter of at most 1.9 KB for expected / shards + 1 values';

-- Sets. bf_create_set is not STRICT: a NULL argument is an error, as for bf_create.

CREATE FUNCTION bf_create_set(name text, type regtype, expected float8 DEFAULT 100000,
                              fpr float8 DEFAULT 0.01, keep interval DEFAULT NULL)
  RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bf_create_set(text, regtype, float8, float8, interval) IS
  'makes a set to which many sessions can add, which grows and can forget: a table of small '
  'filters, and the functions name_add, name_add_all, name_has and name_info';

CREATE FUNCTION bf_shard_keys(value "any", shards int, fan_out int, levels int) RETURNS int[]
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_shard_keys("any", int, int, int) IS
  'the keys of the rows of a set that can have the value; for the functions of sets';

CREATE FUNCTION bf_generation(microseconds bigint) RETURNS bigint
  AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_generation(bigint) IS
  'the number of the period of this length in which the transaction began, counted from 1970; '
  'for the functions of sets that forget';

CREATE FUNCTION bf_drop_set(name text) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bf_drop_set(text) IS
  'drops what is left of the table and the functions that bf_create_set made';

CREATE FUNCTION bf_drop_set(name regclass) RETURNS void
  AS 'MODULE_PATHNAME', 'bf_drop_set_by_oid' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bf_drop_set(regclass) IS
  'drops the table and the functions that bf_create_set made';

-- Inspection

CREATE FUNCTION bf_count(filter bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_count(bloomfilter) IS 'estimated number of distinct values';

CREATE FUNCTION bf_fpr(filter bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_fpr(bloomfilter) IS 'the false positive rate now, from the actual fill';

CREATE FUNCTION bf_info(filter bloomfilter, OUT version int, OUT layout text,
                        OUT element_type text, OUT seed bigint, OUT expected bigint,
                        OUT target_fpr float8, OUT hashes int, OUT bits bigint, OUT bytes bigint,
                        OUT bits_set bigint, OUT fill float8, OUT estimated_count float8,
                        OUT estimated_fpr float8, OUT saturated boolean, OUT links int)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_info(bloomfilter) IS 'parameters, size, fill and estimates of a filter';

CREATE FUNCTION bf_describe(filter bloomfilter) RETURNS text
  AS 'MODULE_PATHNAME', 'filter_describe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_describe(bloomfilter) IS
  'one line for people: values, capacity, size, rate and fill';

CREATE FUNCTION bf_sizing(expected float8, fpr float8 DEFAULT 0.01, OUT hashes int,
                          OUT bits bigint, OUT bytes bigint, OUT bits_per_value float8,
                          OUT filters bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_sizing(float8, float8) IS
  'the size of a filter for a number of distinct values at a rate; if one would be too large, of '
  'several';

CREATE FUNCTION bf_check(filter bloomfilter) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_check(bloomfilter) IS
  'null if the value is sound, else what is wrong with it';

-- Set algebra

CREATE FUNCTION bf_compatible(a bloomfilter, b bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_compatible(bloomfilter, bloomfilter) IS
  'true if two filters have the same geometry, seed and element type, so that union and '
  'intersection can combine their bits';

CREATE FUNCTION bf_union(a bloomfilter, b bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bf_union(bloomfilter, bloomfilter) IS
  'filter of the values of both; a null filter adds nothing';

CREATE OPERATOR | (FUNCTION = bf_union, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
                   COMMUTATOR = |);
COMMENT ON OPERATOR | (bloomfilter, bloomfilter) IS 'filter of the values of both';

CREATE FUNCTION bf_intersect(a bloomfilter, b bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_intersect(bloomfilter, bloomfilter) IS
  'filter of the bits that both have: it holds the values in both, with more false positives';

CREATE OPERATOR & (FUNCTION = bf_intersect, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
                   COMMUTATOR = &);
COMMENT ON OPERATOR & (bloomfilter, bloomfilter) IS
  'filter of the bits that both have: it holds the values in both, with more false positives';

CREATE FUNCTION bloomfilter_overlaps(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_overlaps' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_overlaps(bloomfilter, bloomfilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE OPERATOR && (
  FUNCTION = bloomfilter_overlaps, COMMUTATOR = &&,
  LEFTARG = bloomfilter, RIGHTARG = bloomfilter
);
COMMENT ON OPERATOR && (bloomfilter, bloomfilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE FUNCTION bloomfilter_union_step(state bloomfilter, filter bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_union_step(bloomfilter, bloomfilter) IS
  'transition function of bf_union_agg';

CREATE FUNCTION bloomfilter_intersect_step(state bloomfilter, filter bloomfilter)
  RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_intersect_step(bloomfilter, bloomfilter) IS
  'transition function of bf_intersect_agg';

CREATE FUNCTION bloomfilter_union_final(state bloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_union_final(bloomfilter) IS 'final function of bf_union_agg';

CREATE AGGREGATE bf_union_agg(filter bloomfilter) (
  SFUNC = bloomfilter_union_step, STYPE = bloomfilter, FINALFUNC = bloomfilter_union_final,
  FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = bloomfilter_union_step, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_union_agg(bloomfilter) IS
  'union of all non-null filters; null if there are none';

CREATE AGGREGATE bf_intersect_agg(filter bloomfilter) (
  SFUNC = bloomfilter_intersect_step, STYPE = bloomfilter,
  COMBINEFUNC = bloomfilter_intersect_step, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_intersect_agg(bloomfilter) IS
  'intersection of all non-null filters; null if there are none';

CREATE FUNCTION bf_fold(filter bloomfilter, target_bytes bigint) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_fold(bloomfilter, bigint) IS
  'the same set in a smaller filter, the largest that fits into a number of bytes, with a higher '
  'false positive rate';

CREATE FUNCTION bf_union_count(a bloomfilter, b bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_union_count(bloomfilter, bloomfilter) IS
  'estimated number of distinct values in the union of two filters';

CREATE FUNCTION bf_intersect_count(a bloomfilter, b bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_intersect_count(bloomfilter, bloomfilter) IS
  'estimated number of distinct values in both filters';

CREATE FUNCTION bf_jaccard(a bloomfilter, b bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_jaccard(bloomfilter, bloomfilter) IS
  'estimated Jaccard similarity: the share of the values in the union of two filters that are in '
  'both';

-- Aggregates

CREATE FUNCTION bloomfilter_agg_trans(internal, "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_agg_trans(internal, "any") IS 'transition function of bf_agg';

CREATE FUNCTION bloomfilter_agg_trans(internal, "any", float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_agg_trans(internal, "any", float8) IS
  'transition function of bf_agg';

CREATE FUNCTION bloomfilter_agg_trans(internal, "any", float8, float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_agg_trans(internal, "any", float8, float8) IS
  'transition function of bf_agg';

CREATE FUNCTION bloomfilter_agg_trans(internal, "any", float8, float8, text) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_agg_trans(internal, "any", float8, float8, text) IS
  'transition function of bf_agg';

CREATE FUNCTION bloomfilter_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_combine(internal, internal) IS 'combine function of bf_agg';

CREATE FUNCTION bloomfilter_agg_serial(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_agg_serial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_serial(internal) IS 'serialization function of bf_agg';

CREATE FUNCTION bloomfilter_agg_deserial(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_deserial(bytea, internal) IS
  'deserialization function of bf_agg';

CREATE FUNCTION bloomfilter_agg_final(internal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_agg_final(internal) IS 'final function of bf_agg';

-- SSPACE is the state size that the planner assumes. It decides how many groups a hash table
-- accepts while their states are still small. A state grows with the values of its group: it has
-- 350 bytes with one value, 8 KB with 350 values, and 24 KB with a thousand. If the number of
-- values is given, a state grows up to the filter's size. 8192 is what the server assumes for a
-- state of type internal without SSPACE.
--
-- Since PostgreSQL 19, a negative SSPACE means that a state may grow without bound. The server then
-- does not aggregate below joins. These aggregates gain from aggregation below joins: where a join
-- multiplies rows, each row of the table is hashed once. So SSPACE is positive.
CREATE AGGREGATE bf_agg(value "any") (
  SFUNC = bloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = bloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_agg_combine, SERIALFUNC = bloomfilter_agg_serial,
  DESERIALFUNC = bloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any") IS
  'filter of all non-null values, sized for them at a false positive rate of 1 %';

CREATE AGGREGATE bf_agg(value "any", expected float8) (
  SFUNC = bloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = bloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_agg_combine, SERIALFUNC = bloomfilter_agg_serial,
  DESERIALFUNC = bloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any", float8) IS
  'filter of all non-null values, for a number of distinct values at a false positive rate of 1 %';

CREATE AGGREGATE bf_agg(value "any", expected float8, fpr float8) (
  SFUNC = bloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = bloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_agg_combine, SERIALFUNC = bloomfilter_agg_serial,
  DESERIALFUNC = bloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any", float8, float8) IS
  'filter of all non-null values, for a number of distinct values at a rate; self-sized if the '
  'number is null';

CREATE AGGREGATE bf_agg(value "any", expected float8, fpr float8, layout text) (
  SFUNC = bloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = bloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_agg_combine, SERIALFUNC = bloomfilter_agg_serial,
  DESERIALFUNC = bloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_agg("any", float8, float8, text) IS
  'filter of all non-null values, for a number of distinct values at a rate, in a layout that '
  'another system can read';

-- Builds the filters that the planner adds to joins. It raises no error for too many values: if a
-- filter would exceed bloomfilter.max_size, it contains every value.
CREATE FUNCTION bloomfilter_join_final(internal) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_join_final(internal) IS 'final function of bf_join_agg';

CREATE AGGREGATE bf_join_agg(value "any") (
  SFUNC = bloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = bloomfilter_join_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_agg_combine, SERIALFUNC = bloomfilter_agg_serial,
  DESERIALFUNC = bloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_join_agg("any") IS
  'filter of all non-null values, for filters that the planner adds to joins; contains every '
  'value if it would exceed bloomfilter.max_size';

-- Partial states: the states of aggregates over some of the rows, to be merged into one filter

CREATE TYPE bf_element;

CREATE FUNCTION bloomfilter_element_in(cstring) RETURNS bf_element
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_in(cstring) IS 'text input: base64';

CREATE FUNCTION bloomfilter_element_out(bf_element) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_out(bf_element) IS 'text output: base64';

CREATE FUNCTION bloomfilter_element_recv(internal) RETURNS bf_element
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_recv(internal) IS 'binary input';

CREATE FUNCTION bloomfilter_element_send(bf_element) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_send(bf_element) IS 'binary output';

CREATE TYPE bf_element (
  INPUT = bloomfilter_element_in,
  OUTPUT = bloomfilter_element_out,
  RECEIVE = bloomfilter_element_recv,
  SEND = bloomfilter_element_send,
  INTERNALLENGTH = 24,
  ALIGNMENT = double
);
COMMENT ON TYPE bf_element IS 'a value as a filter sees it: its element type and its hash';

CREATE FUNCTION bf_element_of(value "any") RETURNS bf_element
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_element_of("any") IS
  'a value as a filter sees it, for aggregates that several servers compute together';

CREATE FUNCTION bloomfilter_element_eq(bf_element, bf_element) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_eq(bf_element, bf_element) IS
  'true if both have the same bytes';

CREATE FUNCTION bloomfilter_element_ne(bf_element, bf_element) RETURNS boolean
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_ne(bf_element, bf_element) IS 'true if the bytes differ';

CREATE FUNCTION bloomfilter_element_hash(bf_element) RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_element_hash(bf_element) IS 'hash of an element';

CREATE OPERATOR = (
  FUNCTION = bloomfilter_element_eq, LEFTARG = bf_element, RIGHTARG = bf_element,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (bf_element, bf_element) IS 'true if both have the same bytes';

CREATE OPERATOR <> (
  FUNCTION = bloomfilter_element_ne, LEFTARG = bf_element, RIGHTARG = bf_element,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bf_element, bf_element) IS 'true if the bytes differ';

CREATE OPERATOR CLASS bf_element_ops DEFAULT FOR TYPE bf_element USING hash AS
  OPERATOR 1 = (bf_element, bf_element),
  FUNCTION 1 bloomfilter_element_hash(bf_element);
COMMENT ON OPERATOR CLASS bf_element_ops USING hash IS 'hashing of elements';
COMMENT ON OPERATOR FAMILY bf_element_ops USING hash IS 'hashing of elements';

CREATE TYPE bf_partial;

CREATE FUNCTION bloomfilter_partial_in(cstring) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_in(cstring) IS 'text input: base64';

CREATE FUNCTION bloomfilter_partial_out(bf_partial) RETURNS cstring
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_out(bf_partial) IS 'text output: base64';

CREATE FUNCTION bloomfilter_partial_recv(internal) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_recv(internal) IS 'binary input';

CREATE FUNCTION bloomfilter_partial_send(bf_partial) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_send(bf_partial) IS 'binary output';

CREATE TYPE bf_partial (
  INPUT = bloomfilter_partial_in,
  OUTPUT = bloomfilter_partial_out,
  RECEIVE = bloomfilter_partial_recv,
  SEND = bloomfilter_partial_send,
  ALIGNMENT = double,
  STORAGE = external
);
COMMENT ON TYPE bf_partial IS
  'partial state of an aggregate: the distinct hashes of some rows, or the bits that they set';

CREATE FUNCTION bloomfilter_partial_add(bf_partial, bf_element) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_partial_add(bf_partial, bf_element) IS
  'transition function of bf_dist_agg and bf_partial_agg';

CREATE FUNCTION bloomfilter_partial_add(bf_partial, bf_element, float8) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_partial_add(bf_partial, bf_element, float8) IS
  'transition function of bf_dist_agg and bf_partial_agg';

CREATE FUNCTION bloomfilter_partial_add(bf_partial, bf_element, float8, float8) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION bloomfilter_partial_add(bf_partial, bf_element, float8, float8) IS
  'transition function of bf_dist_agg and bf_partial_agg';

CREATE FUNCTION bloomfilter_partial_combine(bf_partial, bf_partial) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_combine(bf_partial, bf_partial) IS
  'transition function of bf_merge_agg, combine function of bf_dist_agg and bf_partial_agg';

CREATE FUNCTION bloomfilter_partial_final(bf_partial) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_final(bf_partial) IS
  'final function of bf_dist_agg and bf_merge_agg';

CREATE FUNCTION bloomfilter_partial_agg_final(bf_partial) RETURNS bf_partial
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_partial_agg_final(bf_partial) IS 'final function of bf_partial_agg';

CREATE AGGREGATE bf_dist_agg(element bf_element) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_dist_agg(bf_element) IS
  'what bf_agg returns, computed by several servers together: filter of all non-null values, '
  'sized for them at a false positive rate of 1 %';

CREATE AGGREGATE bf_dist_agg(element bf_element, expected float8) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_dist_agg(bf_element, float8) IS
  'what bf_agg returns, computed by several servers together: filter for a number of distinct '
  'values at a false positive rate of 1 %';

CREATE AGGREGATE bf_dist_agg(element bf_element, expected float8, fpr float8) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_dist_agg(bf_element, float8, float8) IS
  'what bf_agg returns, computed by several servers together: filter for a number of distinct '
  'values at a rate; self-sized if the number is null';

CREATE AGGREGATE bf_partial_agg(element bf_element) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_partial_agg(bf_element) IS
  'partial state for bf_merge_agg, which sizes the filter of all states at a false positive rate '
  'of 1 %';

CREATE AGGREGATE bf_partial_agg(element bf_element, expected float8) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_partial_agg(bf_element, float8) IS
  'partial state for bf_merge_agg, for a filter of a number of distinct values in all states '
  'together, at a false positive rate of 1 %';

CREATE AGGREGATE bf_partial_agg(element bf_element, expected float8, fpr float8) (
  SFUNC = bloomfilter_partial_add, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_partial_agg(bf_element, float8, float8) IS
  'partial state for bf_merge_agg, for a filter of a number of distinct values in all states '
  'together, at a rate; the filter is self-sized if the number is null';

CREATE AGGREGATE bf_merge_agg(partial bf_partial) (
  SFUNC = bloomfilter_partial_combine, STYPE = bf_partial, SSPACE = 8192,
  FINALFUNC = bloomfilter_partial_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = bloomfilter_partial_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE bf_merge_agg(bf_partial) IS
  'the filter that bf_agg would make of all values in the partial states; not a union of filters';

-- Other systems

CREATE FUNCTION bf_to_guava(filter bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_guava(bloomfilter) IS
  'the bytes that the writeTo method of a Guava BloomFilter gives for the same values';

CREATE FUNCTION bf_from_guava(bytes bytea, encoding text) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_guava(bytea, text) IS
  'filter from the bytes of the writeTo method of a Guava BloomFilter; '
  'the encoding is the funnel: long, integer, string_utf8, unencoded_chars, bytes';

CREATE FUNCTION bf_to_spark(filter bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_spark(bloomfilter) IS
  'bytes of a filter of a Spark layout, as the writeTo method of Spark''s BloomFilter gives them';

CREATE FUNCTION bf_from_spark(bytes bytea, encoding text) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_spark(bytea, text) IS
  'filter from the bytes of the writeTo method of Spark''s BloomFilter; '
  'the encoding is the type: long, string, binary';

CREATE FUNCTION bf_to_datasketches(filter bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_datasketches(bloomfilter) IS
  'bytes of a filter of layout datasketches, as the serialize method of DataSketches'' BloomFilter '
  'gives them';

CREATE FUNCTION bf_from_datasketches(bytes bytea, encoding text) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_datasketches(bytea, text) IS
  'filter from the bytes of the serialize method of DataSketches'' BloomFilter; '
  'the encoding is the type of the values: long, double, string, bytes';

CREATE FUNCTION bf_to_hive(filter bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_hive(bloomfilter) IS
  'bytes of a filter of layout hive, as the serialize method of Hive''s BloomKFilter gives them; '
  'Druid takes them in base64';

CREATE FUNCTION bf_from_hive(bytes bytea, encoding text) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_hive(bytea, text) IS
  'filter from the bytes of the serialize method of Hive''s or Druid''s BloomKFilter; '
  'the encoding is the type of the values: long, double, string, bytes';

CREATE FUNCTION bf_to_parquet(filter bloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_parquet(bloomfilter) IS
  'the Bloom filter of a Parquet column chunk: its header and bitset';

CREATE FUNCTION bf_from_parquet(bytes bytea, encoding text) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_parquet(bytea, text) IS
  'filter from the Bloom filter of a Parquet column chunk, its header and bitset, '
  'with the type of the column as encoding';

CREATE FUNCTION bf_to_redis(filter bloomfilter, OUT header bytea, OUT chunks bytea[])
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_to_redis(bloomfilter) IS
  'what BF.SCANDUMP of RedisBloom returns for the same values, for BF.LOADCHUNK: the first chunk, '
  'and all others in order';

CREATE FUNCTION bf_from_redis(header bytea, chunks bytea[]) RETURNS bloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_from_redis(bytea, bytea[]) IS
  'filter from what BF.SCANDUMP of RedisBloom returns: the first chunk, and all others in order';

-- Comparison

CREATE FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_eq(bloomfilter, bloomfilter) IS 'true if both have the same bytes';

CREATE FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_ne(bloomfilter, bloomfilter) IS 'true if the bytes differ';

CREATE FUNCTION bloomfilter_lt(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_lt(bloomfilter, bloomfilter) IS 'less than, in bytewise order';

CREATE FUNCTION bloomfilter_le(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_le(bloomfilter, bloomfilter) IS
  'less than or equal, in bytewise order';

CREATE FUNCTION bloomfilter_gt(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_gt(bloomfilter, bloomfilter) IS 'greater than, in bytewise order';

CREATE FUNCTION bloomfilter_ge(bloomfilter, bloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_ge(bloomfilter, bloomfilter) IS
  'greater than or equal, in bytewise order';

CREATE FUNCTION bloomfilter_cmp(bloomfilter, bloomfilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_cmp(bloomfilter, bloomfilter) IS
  'less, equal or greater in bytewise order';

CREATE FUNCTION bloomfilter_hash(bloomfilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_hash(bloomfilter) IS 'hash of the bytes of a filter';

CREATE FUNCTION bloomfilter_hash_extended(bloomfilter, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'filter_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_hash_extended(bloomfilter, bigint) IS
  'hash of the bytes of a filter, with a seed';

CREATE OPERATOR = (
  FUNCTION = bloomfilter_eq, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (bloomfilter, bloomfilter) IS 'true if both have the same bytes';

CREATE OPERATOR <> (
  FUNCTION = bloomfilter_ne, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (bloomfilter, bloomfilter) IS 'true if the bytes differ';

CREATE OPERATOR < (
  FUNCTION = bloomfilter_lt, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (bloomfilter, bloomfilter) IS 'less than, in bytewise order';

CREATE OPERATOR <= (
  FUNCTION = bloomfilter_le, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (bloomfilter, bloomfilter) IS 'less than or equal, in bytewise order';

CREATE OPERATOR > (
  FUNCTION = bloomfilter_gt, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (bloomfilter, bloomfilter) IS 'greater than, in bytewise order';

CREATE OPERATOR >= (
  FUNCTION = bloomfilter_ge, LEFTARG = bloomfilter, RIGHTARG = bloomfilter,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (bloomfilter, bloomfilter) IS 'greater than or equal, in bytewise order';

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING btree AS
  OPERATOR 1 < (bloomfilter, bloomfilter),
  OPERATOR 2 <= (bloomfilter, bloomfilter),
  OPERATOR 3 = (bloomfilter, bloomfilter),
  OPERATOR 4 >= (bloomfilter, bloomfilter),
  OPERATOR 5 > (bloomfilter, bloomfilter),
  FUNCTION 1 bloomfilter_cmp(bloomfilter, bloomfilter);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING btree IS 'bytewise order of bloom filters';
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING btree IS 'bytewise order of bloom filters';

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING hash AS
  OPERATOR 1 = (bloomfilter, bloomfilter),
  FUNCTION 1 bloomfilter_hash(bloomfilter),
  FUNCTION 2 bloomfilter_hash_extended(bloomfilter, bigint);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING hash IS 'hashing of bloom filters';
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING hash IS 'hashing of bloom filters';

-- --- Counting filters: sets from which values can be removed -------------------------------------

-- Type

CREATE TYPE countingbloomfilter;

CREATE FUNCTION countingbloomfilter_in(cstring) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_in(cstring) IS 'text input: base64';

CREATE FUNCTION countingbloomfilter_out(countingbloomfilter) RETURNS cstring
  AS 'MODULE_PATHNAME', 'filter_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_out(countingbloomfilter) IS 'text output: base64';

CREATE FUNCTION countingbloomfilter_recv(internal) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_recv(internal) IS 'binary input';

CREATE FUNCTION countingbloomfilter_send(countingbloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_send(countingbloomfilter) IS 'binary output';

CREATE TYPE countingbloomfilter (
  INPUT = countingbloomfilter_in,
  OUTPUT = countingbloomfilter_out,
  RECEIVE = countingbloomfilter_recv,
  SEND = countingbloomfilter_send,
  ANALYZE = bloomfilter_typanalyze,
  CATEGORY = 'f',
  ALIGNMENT = double,
  STORAGE = external
);
COMMENT ON TYPE countingbloomfilter IS
  'a set summary like bloomfilter, with counters instead of bits, so that values can be removed';

-- Casts

CREATE FUNCTION bytea(countingbloomfilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bytea(countingbloomfilter) IS
  'the bytes of a filter, as doc/format.md describes them';

CREATE FUNCTION countingbloomfilter(bytea) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'countingbloomfilter_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter(bytea) IS 'a filter from its bytes, checked';

CREATE CAST (countingbloomfilter AS bytea) WITH FUNCTION bytea(countingbloomfilter);
COMMENT ON CAST (countingbloomfilter AS bytea) IS 'the bytes of a filter';

CREATE CAST (bytea AS countingbloomfilter) WITH FUNCTION countingbloomfilter(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS countingbloomfilter) IS 'a filter from its bytes, checked';

CREATE FUNCTION bloomfilter(countingbloomfilter) RETURNS bloomfilter
  AS 'MODULE_PATHNAME', 'cbf_to_bloom' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter(countingbloomfilter) IS
  'the filter that bf_agg makes of the same values';

CREATE CAST (countingbloomfilter AS bloomfilter) WITH FUNCTION bloomfilter(countingbloomfilter);
COMMENT ON CAST (countingbloomfilter AS bloomfilter) IS
  'the filter that bf_agg makes of the same values';

-- Creation

CREATE FUNCTION cbf_create(expected float8, fpr float8 DEFAULT 0.01, seed bigint DEFAULT 0,
                           type regtype DEFAULT NULL)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cbf_create(float8, float8, bigint, regtype) IS
  'empty filter for a number of distinct values at a false positive rate; it can have an element '
  'type';

CREATE FUNCTION cbf_clear(filter countingbloomfilter) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_clear(countingbloomfilter) IS 'empty filter of the same geometry and seed';

-- Adding

CREATE FUNCTION cbf_add(filter countingbloomfilter, value "any") RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_add(countingbloomfilter, "any") IS 'filter plus one value';

CREATE FUNCTION cbf_add(filter countingbloomfilter, value bf_literal) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'cbf_add_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_add(countingbloomfilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

CREATE FUNCTION cbf_add_all(filter countingbloomfilter, "values" anyarray)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_add_all(countingbloomfilter, anyarray) IS
  'filter plus every non-null element of an array';

CREATE FUNCTION cbf_add_all(filter countingbloomfilter, "values" bf_literal)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cbf_add_all(countingbloomfilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

CREATE FUNCTION cbf_put(filter countingbloomfilter, value "any", OUT filter countingbloomfilter,
                        OUT was_new boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cbf_put(countingbloomfilter, "any") IS
  'filter plus one value, and whether the value was certainly new';

CREATE FUNCTION cbf_put(filter countingbloomfilter, value bf_literal,
                        OUT filter countingbloomfilter, OUT was_new boolean)
  AS 'MODULE_PATHNAME', 'cbf_put_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cbf_put(countingbloomfilter, bf_literal) IS
  'filter plus a literal, and whether the literal was certainly new';

CREATE OPERATOR + (FUNCTION = cbf_add, LEFTARG = countingbloomfilter, RIGHTARG = "any");
COMMENT ON OPERATOR + (countingbloomfilter, "any") IS 'filter plus one value';

CREATE OPERATOR + (FUNCTION = cbf_add, LEFTARG = countingbloomfilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR + (countingbloomfilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

-- Removing

CREATE FUNCTION cbf_remove(filter countingbloomfilter, value "any") RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_remove(countingbloomfilter, "any") IS
  'filter minus one value; an error if the value is not there';

CREATE FUNCTION cbf_remove(filter countingbloomfilter, value bf_literal) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'cbf_remove_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_remove(countingbloomfilter, bf_literal) IS
  'filter minus a literal, read as the element type of the filter; an error if the value is not '
  'there';

CREATE FUNCTION cbf_remove(filter countingbloomfilter, value "any", missing_ok boolean)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_remove(countingbloomfilter, "any", boolean) IS
  'filter minus one value; the filter unchanged if the value is not there and missing_ok is true';

CREATE FUNCTION cbf_remove(filter countingbloomfilter, value bf_literal, missing_ok boolean)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'cbf_remove_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cbf_remove(countingbloomfilter, bf_literal, boolean) IS
  'filter minus a literal; the filter unchanged if the value is not there and missing_ok is true';

-- The right operand is not "any". With "any", jsonb - text[] would be ambiguous if its left operand
-- is a literal and its right operand an array of another string type.
CREATE FUNCTION countingbloomfilter_minus(countingbloomfilter, anynonarray)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME', 'cbf_remove' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION countingbloomfilter_minus(countingbloomfilter, anynonarray) IS
  'filter minus one value that is not an array';

CREATE OPERATOR - (FUNCTION = countingbloomfilter_minus, LEFTARG = countingbloomfilter,
                   RIGHTARG = anynonarray);
COMMENT ON OPERATOR - (countingbloomfilter, anynonarray) IS 'filter minus one value';

CREATE OPERATOR - (FUNCTION = cbf_remove, LEFTARG = countingbloomfilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR - (countingbloomfilter, bf_literal) IS
  'filter minus a literal, read as the element type of the filter';

-- Probing

CREATE FUNCTION cbf_contains(filter countingbloomfilter, value "any") RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_contains(countingbloomfilter, "any") IS
  'true if the value is possibly in the set';

CREATE FUNCTION cbf_contains(filter countingbloomfilter, value bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_contains(countingbloomfilter, bf_literal) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE FUNCTION cbf_contained(value "any", filter countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_contained("any", countingbloomfilter) IS
  'true if the value is possibly in the set';

CREATE FUNCTION cbf_contained(value bf_literal, filter countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_contained(bf_literal, countingbloomfilter) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE OPERATOR @> (FUNCTION = cbf_contains, LEFTARG = countingbloomfilter, RIGHTARG = "any",
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (countingbloomfilter, "any") IS 'true if the value is possibly in the set';

CREATE OPERATOR @> (FUNCTION = cbf_contains, LEFTARG = countingbloomfilter, RIGHTARG = bf_literal,
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (countingbloomfilter, bf_literal) IS
  'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = cbf_contained, LEFTARG = "any", RIGHTARG = countingbloomfilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ ("any", countingbloomfilter) IS 'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = cbf_contained, LEFTARG = bf_literal, RIGHTARG = countingbloomfilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ (bf_literal, countingbloomfilter) IS
  'true if the value is possibly in the set';

CREATE FUNCTION cbf_multiplicity(filter countingbloomfilter, value "any") RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_multiplicity(countingbloomfilter, "any") IS
  'upper bound for how often a value was added; 15 means 15 or more';

CREATE FUNCTION cbf_multiplicity(filter countingbloomfilter, value bf_literal) RETURNS int
  AS 'MODULE_PATHNAME', 'cbf_multiplicity_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cbf_multiplicity(countingbloomfilter, bf_literal) IS
  'upper bound for how often a literal was added; 15 means 15 or more';

-- Inspection

CREATE FUNCTION cbf_count(filter countingbloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_count(countingbloomfilter) IS 'estimated number of distinct values';

CREATE FUNCTION cbf_fpr(filter countingbloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_fpr(countingbloomfilter) IS
  'the false positive rate now, from the actual fill';

CREATE FUNCTION cbf_info(filter countingbloomfilter, OUT version int, OUT element_type text,
                         OUT seed bigint, OUT expected bigint, OUT target_fpr float8,
                         OUT hashes int, OUT counters bigint, OUT bits bigint, OUT bytes bigint,
                         OUT counters_set bigint, OUT counters_saturated bigint, OUT fill float8,
                         OUT estimated_count float8, OUT estimated_fpr float8,
                         OUT saturated boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_info(countingbloomfilter) IS
  'parameters, size, fill and estimates of a counting filter';

CREATE FUNCTION cbf_describe(filter countingbloomfilter) RETURNS text
  AS 'MODULE_PATHNAME', 'filter_describe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_describe(countingbloomfilter) IS
  'one line for people: values, capacity, size, rate and fill';

CREATE FUNCTION cbf_sizing(expected float8, fpr float8 DEFAULT 0.01, OUT hashes int,
                           OUT counters bigint, OUT bits bigint, OUT bytes bigint,
                           OUT bits_per_value float8, OUT filters bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_sizing(float8, float8) IS
  'the size of a counting filter for a number of distinct values at a rate; if one would be too '
  'large, of several';

CREATE FUNCTION cbf_check(filter countingbloomfilter) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cbf_check(countingbloomfilter) IS
  'null if the value is sound, else what is wrong with it';

-- Set algebra

CREATE FUNCTION cbf_union(a countingbloomfilter, b countingbloomfilter) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cbf_union(countingbloomfilter, countingbloomfilter) IS
  'filter of the values of both, each as often as in both together; a null filter adds nothing';

CREATE FUNCTION countingbloomfilter_overlaps(countingbloomfilter, countingbloomfilter)
  RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_overlaps' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_overlaps(countingbloomfilter, countingbloomfilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE OPERATOR && (
  FUNCTION = countingbloomfilter_overlaps, COMMUTATOR = &&,
  LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter
);
COMMENT ON OPERATOR && (countingbloomfilter, countingbloomfilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE FUNCTION countingbloomfilter_union_step(state countingbloomfilter,
                                               filter countingbloomfilter)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_union_step(countingbloomfilter, countingbloomfilter) IS
  'transition function of cbf_union_agg';

CREATE FUNCTION countingbloomfilter_union_final(state countingbloomfilter)
  RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_union_final(countingbloomfilter) IS
  'final function of cbf_union_agg';

CREATE AGGREGATE cbf_union_agg(filter countingbloomfilter) (
  SFUNC = countingbloomfilter_union_step, STYPE = countingbloomfilter,
  FINALFUNC = countingbloomfilter_union_final,
  FINALFUNC_MODIFY = READ_ONLY, COMBINEFUNC = countingbloomfilter_union_step, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cbf_union_agg(countingbloomfilter) IS
  'union of all non-null filters; null if there are none';

-- Aggregates

CREATE FUNCTION countingbloomfilter_agg_trans(internal, "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION countingbloomfilter_agg_trans(internal, "any") IS
  'transition function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_trans(internal, "any", float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION countingbloomfilter_agg_trans(internal, "any", float8) IS
  'transition function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_trans(internal, "any", float8, float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION countingbloomfilter_agg_trans(internal, "any", float8, float8) IS
  'transition function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_agg_combine(internal, internal) IS
  'combine function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_serial(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_agg_serial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_agg_serial(internal) IS 'serialization function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_deserial(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_agg_deserial(bytea, internal) IS
  'deserialization function of cbf_agg';

CREATE FUNCTION countingbloomfilter_agg_final(internal) RETURNS countingbloomfilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_agg_final(internal) IS 'final function of cbf_agg';

CREATE AGGREGATE cbf_agg(value "any") (
  SFUNC = countingbloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = countingbloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = countingbloomfilter_agg_combine, SERIALFUNC = countingbloomfilter_agg_serial,
  DESERIALFUNC = countingbloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cbf_agg("any") IS
  'counting filter of all non-null values, sized for them at a false positive rate of 1 %';

CREATE AGGREGATE cbf_agg(value "any", expected float8) (
  SFUNC = countingbloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = countingbloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = countingbloomfilter_agg_combine, SERIALFUNC = countingbloomfilter_agg_serial,
  DESERIALFUNC = countingbloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cbf_agg("any", float8) IS
  'counting filter of all non-null values, for a number of distinct values at a false positive '
  'rate of 1 %';

CREATE AGGREGATE cbf_agg(value "any", expected float8, fpr float8) (
  SFUNC = countingbloomfilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = countingbloomfilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = countingbloomfilter_agg_combine, SERIALFUNC = countingbloomfilter_agg_serial,
  DESERIALFUNC = countingbloomfilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cbf_agg("any", float8, float8) IS
  'counting filter of all non-null values, for a number of distinct values at a rate; self-sized '
  'if the number is null';

-- Comparison

CREATE FUNCTION countingbloomfilter_eq(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_eq(countingbloomfilter, countingbloomfilter) IS
  'true if both have the same bytes';

CREATE FUNCTION countingbloomfilter_ne(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_ne(countingbloomfilter, countingbloomfilter) IS
  'true if the bytes differ';

CREATE FUNCTION countingbloomfilter_lt(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_lt(countingbloomfilter, countingbloomfilter) IS
  'less than, in bytewise order';

CREATE FUNCTION countingbloomfilter_le(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_le(countingbloomfilter, countingbloomfilter) IS
  'less than or equal, in bytewise order';

CREATE FUNCTION countingbloomfilter_gt(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_gt(countingbloomfilter, countingbloomfilter) IS
  'greater than, in bytewise order';

CREATE FUNCTION countingbloomfilter_ge(countingbloomfilter, countingbloomfilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_ge(countingbloomfilter, countingbloomfilter) IS
  'greater than or equal, in bytewise order';

CREATE FUNCTION countingbloomfilter_cmp(countingbloomfilter, countingbloomfilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_cmp(countingbloomfilter, countingbloomfilter) IS
  'less, equal or greater in bytewise order';

CREATE FUNCTION countingbloomfilter_hash(countingbloomfilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_hash(countingbloomfilter) IS
  'hash of the bytes of a filter';

CREATE FUNCTION countingbloomfilter_hash_extended(countingbloomfilter, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'filter_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION countingbloomfilter_hash_extended(countingbloomfilter, bigint) IS
  'hash of the bytes of a filter, with a seed';

CREATE OPERATOR = (
  FUNCTION = countingbloomfilter_eq, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (countingbloomfilter, countingbloomfilter) IS
  'true if both have the same bytes';

CREATE OPERATOR <> (
  FUNCTION = countingbloomfilter_ne, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (countingbloomfilter, countingbloomfilter) IS 'true if the bytes differ';

CREATE OPERATOR < (
  FUNCTION = countingbloomfilter_lt, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (countingbloomfilter, countingbloomfilter) IS 'less than, in bytewise order';

CREATE OPERATOR <= (
  FUNCTION = countingbloomfilter_le, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (countingbloomfilter, countingbloomfilter) IS
  'less than or equal, in bytewise order';

CREATE OPERATOR > (
  FUNCTION = countingbloomfilter_gt, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (countingbloomfilter, countingbloomfilter) IS
  'greater than, in bytewise order';

CREATE OPERATOR >= (
  FUNCTION = countingbloomfilter_ge, LEFTARG = countingbloomfilter, RIGHTARG = countingbloomfilter,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (countingbloomfilter, countingbloomfilter) IS
  'greater than or equal, in bytewise order';

CREATE OPERATOR CLASS countingbloomfilter_ops DEFAULT FOR TYPE countingbloomfilter USING btree AS
  OPERATOR 1 < (countingbloomfilter, countingbloomfilter),
  OPERATOR 2 <= (countingbloomfilter, countingbloomfilter),
  OPERATOR 3 = (countingbloomfilter, countingbloomfilter),
  OPERATOR 4 >= (countingbloomfilter, countingbloomfilter),
  OPERATOR 5 > (countingbloomfilter, countingbloomfilter),
  FUNCTION 1 countingbloomfilter_cmp(countingbloomfilter, countingbloomfilter);
COMMENT ON OPERATOR CLASS countingbloomfilter_ops USING btree IS
  'bytewise order of counting bloom filters';
COMMENT ON OPERATOR FAMILY countingbloomfilter_ops USING btree IS
  'bytewise order of counting bloom filters';

CREATE OPERATOR CLASS countingbloomfilter_ops DEFAULT FOR TYPE countingbloomfilter USING hash AS
  OPERATOR 1 = (countingbloomfilter, countingbloomfilter),
  FUNCTION 1 countingbloomfilter_hash(countingbloomfilter),
  FUNCTION 2 countingbloomfilter_hash_extended(countingbloomfilter, bigint);
COMMENT ON OPERATOR CLASS countingbloomfilter_ops USING hash IS 'hashing of counting bloom filters';
COMMENT ON OPERATOR FAMILY countingbloomfilter_ops USING hash IS
  'hashing of counting bloom filters';

-- --- Cuckoo filters: smaller sets from which values can be removed -------------------------------

-- Type

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(cstring) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_in(cstring) IS 'text input: base64';

CREATE FUNCTION cuckoofilter_out(cuckoofilter) RETURNS cstring
  AS 'MODULE_PATHNAME', 'filter_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter) IS 'text output: base64';

CREATE FUNCTION cuckoofilter_recv(internal) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_recv(internal) IS 'binary input';

CREATE FUNCTION cuckoofilter_send(cuckoofilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter) IS 'binary output';

CREATE TYPE cuckoofilter (
  INPUT = cuckoofilter_in,
  OUTPUT = cuckoofilter_out,
  RECEIVE = cuckoofilter_recv,
  SEND = cuckoofilter_send,
  ANALYZE = bloomfilter_typanalyze,
  CATEGORY = 'f',
  ALIGNMENT = double,
  STORAGE = external
);
COMMENT ON TYPE cuckoofilter IS
  'a set summary that values can be removed from: fingerprints in buckets';

-- Casts

CREATE FUNCTION bytea(cuckoofilter) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bytea(cuckoofilter) IS 'the bytes of a filter, as doc/format.md describes them';

CREATE FUNCTION cuckoofilter(bytea) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'cuckoofilter_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter(bytea) IS 'a filter from its bytes, checked';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION bytea(cuckoofilter);
COMMENT ON CAST (cuckoofilter AS bytea) IS 'the bytes of a filter';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter(bytea) AS ASSIGNMENT;
COMMENT ON CAST (bytea AS cuckoofilter) IS 'a filter from its bytes, checked';

-- Creation

CREATE FUNCTION cf_create(expected float8, fpr float8 DEFAULT 0.01, seed bigint DEFAULT 0,
                          type regtype DEFAULT NULL)
  RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_create(float8, float8, bigint, regtype) IS
  'empty filter for a number of values at a false positive rate; it can have an element type';

CREATE FUNCTION cf_clear(filter cuckoofilter) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_clear(cuckoofilter) IS 'empty filter of the same geometry and seed';

-- Adding

CREATE FUNCTION cf_add(filter cuckoofilter, value "any") RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_add(cuckoofilter, "any") IS 'filter plus one value';

CREATE FUNCTION cf_add(filter cuckoofilter, value bf_literal) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'cf_add_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_add(cuckoofilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

CREATE FUNCTION cf_add_all(filter cuckoofilter, "values" anyarray) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_add_all(cuckoofilter, anyarray) IS
  'filter plus every non-null element of an array';

CREATE FUNCTION cf_add_all(filter cuckoofilter, "values" bf_literal) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'filter_untyped_list' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_add_all(cuckoofilter, bf_literal) IS
  'raises an error: a list needs the type of its values';

CREATE FUNCTION cf_put(filter cuckoofilter, value "any", OUT filter cuckoofilter,
                       OUT was_new boolean)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_put(cuckoofilter, "any") IS
  'filter plus one value unless it seems to be there, and whether it was added';

CREATE FUNCTION cf_put(filter cuckoofilter, value bf_literal, OUT filter cuckoofilter,
                       OUT was_new boolean)
  AS 'MODULE_PATHNAME', 'cf_put_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_put(cuckoofilter, bf_literal) IS
  'filter plus a literal unless it seems to be there, and whether it was added';

CREATE OPERATOR + (FUNCTION = cf_add, LEFTARG = cuckoofilter, RIGHTARG = "any");
COMMENT ON OPERATOR + (cuckoofilter, "any") IS 'filter plus one value';

CREATE OPERATOR + (FUNCTION = cf_add, LEFTARG = cuckoofilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR + (cuckoofilter, bf_literal) IS
  'filter plus a literal, read as the element type of the filter';

-- Removing

CREATE FUNCTION cf_remove(filter cuckoofilter, value "any") RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_remove(cuckoofilter, "any") IS
  'filter minus one value; an error if the value is not there';

CREATE FUNCTION cf_remove(filter cuckoofilter, value bf_literal) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'cf_remove_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_remove(cuckoofilter, bf_literal) IS
  'filter minus a literal, read as the element type of the filter; an error if the value is not '
  'there';

CREATE FUNCTION cf_remove(filter cuckoofilter, value "any", missing_ok boolean) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_remove(cuckoofilter, "any", boolean) IS
  'filter minus one value; the filter unchanged if the value is not there and missing_ok is true';

CREATE FUNCTION cf_remove(filter cuckoofilter, value bf_literal, missing_ok boolean)
  RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'cf_remove_literal' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cf_remove(cuckoofilter, bf_literal, boolean) IS
  'filter minus a literal; the filter unchanged if the value is not there and missing_ok is true';

CREATE FUNCTION cuckoofilter_minus(cuckoofilter, anynonarray) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME', 'cf_remove' LANGUAGE C IMMUTABLE PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION cuckoofilter_minus(cuckoofilter, anynonarray) IS
  'filter minus one value that is not an array';

CREATE OPERATOR - (FUNCTION = cuckoofilter_minus, LEFTARG = cuckoofilter, RIGHTARG = anynonarray);
COMMENT ON OPERATOR - (cuckoofilter, anynonarray) IS 'filter minus one value';

CREATE OPERATOR - (FUNCTION = cf_remove, LEFTARG = cuckoofilter, RIGHTARG = bf_literal);
COMMENT ON OPERATOR - (cuckoofilter, bf_literal) IS
  'filter minus a literal, read as the element type of the filter';

-- Probing

CREATE FUNCTION cf_contains(filter cuckoofilter, value "any") RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_contains(cuckoofilter, "any") IS 'true if the value is possibly in the set';

CREATE FUNCTION cf_contains(filter cuckoofilter, value bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_contains(cuckoofilter, bf_literal) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE FUNCTION cf_contained(value "any", filter cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_contained("any", cuckoofilter) IS 'true if the value is possibly in the set';

CREATE FUNCTION cf_contained(value bf_literal, filter cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contained_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_contained(bf_literal, cuckoofilter) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE OPERATOR @> (FUNCTION = cf_contains, LEFTARG = cuckoofilter, RIGHTARG = "any",
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (cuckoofilter, "any") IS 'true if the value is possibly in the set';

CREATE OPERATOR @> (FUNCTION = cf_contains, LEFTARG = cuckoofilter, RIGHTARG = bf_literal,
                    COMMUTATOR = <@,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR @> (cuckoofilter, bf_literal) IS 'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = cf_contained, LEFTARG = "any", RIGHTARG = cuckoofilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ ("any", cuckoofilter) IS 'true if the value is possibly in the set';

CREATE OPERATOR <@ (FUNCTION = cf_contained, LEFTARG = bf_literal, RIGHTARG = cuckoofilter,
                    COMMUTATOR = @>,
                    RESTRICT = bloomfilter_restrict, JOIN = bloomfilter_join);
COMMENT ON OPERATOR <@ (bf_literal, cuckoofilter) IS 'true if the value is possibly in the set';

CREATE FUNCTION cf_multiplicity(filter cuckoofilter, value "any") RETURNS int
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_multiplicity(cuckoofilter, "any") IS
  'upper bound for how many copies of a value are stored';

CREATE FUNCTION cf_multiplicity(filter cuckoofilter, value bf_literal) RETURNS int
  AS 'MODULE_PATHNAME', 'cf_multiplicity_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION cf_multiplicity(cuckoofilter, bf_literal) IS
  'upper bound for how many copies of a literal are stored';

-- Inspection

CREATE FUNCTION cf_count(filter cuckoofilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_count(cuckoofilter) IS 'number of copies of values that are stored';

CREATE FUNCTION cf_fpr(filter cuckoofilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_fpr(cuckoofilter) IS 'the false positive rate now, from the actual fill';

CREATE FUNCTION cf_info(filter cuckoofilter, OUT version int, OUT element_type text,
                        OUT seed bigint, OUT expected bigint, OUT target_fpr float8,
                        OUT fingerprint_bits int, OUT buckets bigint, OUT bits bigint,
                        OUT bytes bigint, OUT stored bigint, OUT capacity_left bigint,
                        OUT kicks bigint, OUT fill float8, OUT estimated_fpr float8)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_info(cuckoofilter) IS
  'parameters, size, copies stored, kicks and fill of a cuckoo filter';

CREATE FUNCTION cf_describe(filter cuckoofilter) RETURNS text
  AS 'MODULE_PATHNAME', 'filter_describe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_describe(cuckoofilter) IS
  'one line for people: values, capacity, size, rate and fill';

CREATE FUNCTION cf_sizing(expected float8, fpr float8 DEFAULT 0.01, OUT fingerprint_bits int,
                          OUT buckets bigint, OUT bits bigint, OUT bytes bigint,
                          OUT bits_per_value float8, OUT filters bigint)
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_sizing(float8, float8) IS
  'the size of a cuckoo filter for a number of values at a rate; if one would be too large, of '
  'several';

CREATE FUNCTION cf_check(filter cuckoofilter) RETURNS text
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cf_check(cuckoofilter) IS
  'null if the value is sound, else what is wrong with it';

-- Set algebra

CREATE FUNCTION cf_union(a cuckoofilter, b cuckoofilter) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cf_union(cuckoofilter, cuckoofilter) IS
  'filter of the values of both, each as often as in both together; a null filter adds nothing';

CREATE FUNCTION cuckoofilter_overlaps(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_overlaps' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_overlaps(cuckoofilter, cuckoofilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE OPERATOR && (
  FUNCTION = cuckoofilter_overlaps, COMMUTATOR = &&,
  LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter
);
COMMENT ON OPERATOR && (cuckoofilter, cuckoofilter) IS
  'raises an error; its hint names the functions for two filters';

CREATE FUNCTION cuckoofilter_union_step(state cuckoofilter, filter cuckoofilter)
  RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_union_step(cuckoofilter, cuckoofilter) IS
  'transition function of cf_union_agg';

CREATE AGGREGATE cf_union_agg(filter cuckoofilter) (
  SFUNC = cuckoofilter_union_step, STYPE = cuckoofilter,
  COMBINEFUNC = cuckoofilter_union_step, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_union_agg(cuckoofilter) IS
  'union of all non-null filters, with the copies of all; null if there are none';

-- Aggregates

CREATE FUNCTION cuckoofilter_agg_trans(internal, "any") RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION cuckoofilter_agg_trans(internal, "any") IS 'transition function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_trans(internal, "any", float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION cuckoofilter_agg_trans(internal, "any", float8) IS
  'transition function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_trans(internal, "any", float8, float8) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE SUPPORT bloomfilter_support_agg;
COMMENT ON FUNCTION cuckoofilter_agg_trans(internal, "any", float8, float8) IS
  'transition function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_agg_combine(internal, internal) IS 'combine function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_serial(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'filter_agg_serial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_agg_serial(internal) IS 'serialization function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_deserial(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'filter_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_agg_deserial(bytea, internal) IS
  'deserialization function of cf_agg';

CREATE FUNCTION cuckoofilter_agg_final(internal) RETURNS cuckoofilter
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_agg_final(internal) IS 'final function of cf_agg';

CREATE AGGREGATE cf_agg(value "any") (
  SFUNC = cuckoofilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = cuckoofilter_agg_combine, SERIALFUNC = cuckoofilter_agg_serial,
  DESERIALFUNC = cuckoofilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg("any") IS
  'cuckoo filter of all distinct non-null values, sized for them at a false positive rate of 1 %';

CREATE AGGREGATE cf_agg(value "any", expected float8) (
  SFUNC = cuckoofilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = cuckoofilter_agg_combine, SERIALFUNC = cuckoofilter_agg_serial,
  DESERIALFUNC = cuckoofilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg("any", float8) IS
  'cuckoo filter of all distinct non-null values, sized for a number of values, or for all if '
  'there are more, at a false positive rate of 1 %';

CREATE AGGREGATE cf_agg(value "any", expected float8, fpr float8) (
  SFUNC = cuckoofilter_agg_trans, STYPE = internal, SSPACE = 8192,
  FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
  COMBINEFUNC = cuckoofilter_agg_combine, SERIALFUNC = cuckoofilter_agg_serial,
  DESERIALFUNC = cuckoofilter_agg_deserial,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE cf_agg("any", float8, float8) IS
  'cuckoo filter of all distinct non-null values, sized for a number of values, or for all if '
  'there are more, at a rate; self-sized if the number is null';

-- Comparison

CREATE FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter) IS
  'true if both have the same bytes';

CREATE FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter) IS 'true if the bytes differ';

CREATE FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter) IS 'less than, in bytewise order';

CREATE FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter) IS
  'less than or equal, in bytewise order';

CREATE FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter) IS
  'greater than, in bytewise order';

CREATE FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter) IS
  'greater than or equal, in bytewise order';

CREATE FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter) IS
  'less, equal or greater in bytewise order';

CREATE FUNCTION cuckoofilter_hash(cuckoofilter) RETURNS int
  AS 'MODULE_PATHNAME', 'filter_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash(cuckoofilter) IS 'hash of the bytes of a filter';

CREATE FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) RETURNS bigint
  AS 'MODULE_PATHNAME', 'filter_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_hash_extended(cuckoofilter, bigint) IS
  'hash of the bytes of a filter, with a seed';

CREATE OPERATOR = (
  FUNCTION = cuckoofilter_eq, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter) IS 'true if both have the same bytes';

CREATE OPERATOR <> (
  FUNCTION = cuckoofilter_ne, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter) IS 'true if the bytes differ';

CREATE OPERATOR < (
  FUNCTION = cuckoofilter_lt, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter) IS 'less than, in bytewise order';

CREATE OPERATOR <= (
  FUNCTION = cuckoofilter_le, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter) IS 'less than or equal, in bytewise order';

CREATE OPERATOR > (
  FUNCTION = cuckoofilter_gt, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter) IS 'greater than, in bytewise order';

CREATE OPERATOR >= (
  FUNCTION = cuckoofilter_ge, LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
  COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter) IS 'greater than or equal, in bytewise order';

CREATE OPERATOR CLASS cuckoofilter_ops DEFAULT FOR TYPE cuckoofilter USING btree AS
  OPERATOR 1 < (cuckoofilter, cuckoofilter),
  OPERATOR 2 <= (cuckoofilter, cuckoofilter),
  OPERATOR 3 = (cuckoofilter, cuckoofilter),
  OPERATOR 4 >= (cuckoofilter, cuckoofilter),
  OPERATOR 5 > (cuckoofilter, cuckoofilter),
  FUNCTION 1 cuckoofilter_cmp(cuckoofilter, cuckoofilter);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING btree IS 'bytewise order of cuckoo filters';
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING btree IS 'bytewise order of cuckoo filters';

CREATE OPERATOR CLASS cuckoofilter_ops DEFAULT FOR TYPE cuckoofilter USING hash AS
  OPERATOR 1 = (cuckoofilter, cuckoofilter),
  FUNCTION 1 cuckoofilter_hash(cuckoofilter),
  FUNCTION 2 cuckoofilter_hash_extended(cuckoofilter, bigint);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING hash IS 'hashing of cuckoo filters';
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING hash IS 'hashing of cuckoo filters';

-- Functions with the prefix bf_ for the two other types

CREATE FUNCTION bf_contains(filter countingbloomfilter, value "any") RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(countingbloomfilter, "any") IS
  'true if the value is possibly in the set';

CREATE FUNCTION bf_contains(filter countingbloomfilter, value bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(countingbloomfilter, bf_literal) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE FUNCTION bf_count(filter countingbloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME', 'cbf_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_count(countingbloomfilter) IS 'the same as cbf_count';

CREATE FUNCTION bf_fpr(filter countingbloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME', 'cbf_fpr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_fpr(countingbloomfilter) IS 'the same as cbf_fpr';

CREATE FUNCTION bf_info(filter countingbloomfilter, OUT version int, OUT element_type text,
                        OUT seed bigint, OUT expected bigint, OUT target_fpr float8,
                        OUT hashes int, OUT counters bigint, OUT bits bigint, OUT bytes bigint,
                        OUT counters_set bigint, OUT counters_saturated bigint, OUT fill float8,
                        OUT estimated_count float8, OUT estimated_fpr float8,
                        OUT saturated boolean)
  AS 'MODULE_PATHNAME', 'cbf_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_info(countingbloomfilter) IS 'the same as cbf_info';

CREATE FUNCTION bf_describe(filter countingbloomfilter) RETURNS text
  AS 'MODULE_PATHNAME', 'filter_describe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_describe(countingbloomfilter) IS 'the same as cbf_describe';

CREATE FUNCTION bf_check(filter countingbloomfilter) RETURNS text
  AS 'MODULE_PATHNAME', 'cbf_check' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_check(countingbloomfilter) IS 'the same as cbf_check';

CREATE FUNCTION bf_contains(filter cuckoofilter, value "any") RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(cuckoofilter, "any") IS 'true if the value is possibly in the set';

CREATE FUNCTION bf_contains(filter cuckoofilter, value bf_literal) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_literal' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
  SUPPORT bloomfilter_support;
COMMENT ON FUNCTION bf_contains(cuckoofilter, bf_literal) IS
  'true if the literal, read as the element type of the filter, is possibly in the set';

CREATE FUNCTION bf_count(filter cuckoofilter) RETURNS float8
  AS 'MODULE_PATHNAME', 'cf_count' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_count(cuckoofilter) IS 'the same as cf_count';

CREATE FUNCTION bf_fpr(filter cuckoofilter) RETURNS float8
  AS 'MODULE_PATHNAME', 'cf_fpr' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_fpr(cuckoofilter) IS 'the same as cf_fpr';

CREATE FUNCTION bf_info(filter cuckoofilter, OUT version int, OUT element_type text,
                        OUT seed bigint, OUT expected bigint, OUT target_fpr float8,
                        OUT fingerprint_bits int, OUT buckets bigint, OUT bits bigint,
                        OUT bytes bigint, OUT stored bigint, OUT capacity_left bigint,
                        OUT kicks bigint, OUT fill float8, OUT estimated_fpr float8)
  AS 'MODULE_PATHNAME', 'cf_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_info(cuckoofilter) IS 'the same as cf_info';

CREATE FUNCTION bf_describe(filter cuckoofilter) RETURNS text
  AS 'MODULE_PATHNAME', 'filter_describe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_describe(cuckoofilter) IS 'the same as cf_describe';

CREATE FUNCTION bf_check(filter cuckoofilter) RETURNS text
  AS 'MODULE_PATHNAME', 'cf_check' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_check(cuckoofilter) IS 'the same as cf_check';

-- --- Filter indexes ------------------------------------------------------------------------------

-- The scan key of an index. The planner makes it from the value operand of @>.

CREATE TYPE bf_probe;

CREATE FUNCTION bloomfilter_probe_in(cstring) RETURNS bf_probe
  AS 'MODULE_PATHNAME', 'bf_probe_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_probe_in(cstring) IS
  'text input: accepts only ''expired''; bloomfilter_probe() and similar functions make probes';

CREATE FUNCTION bloomfilter_probe_out(bf_probe) RETURNS cstring
  AS 'MODULE_PATHNAME', 'bf_probe_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_probe_out(bf_probe) IS
  'text output: the value, or ''expired'' for a probe of another command';

CREATE TYPE bf_probe (
  INPUT = bloomfilter_probe_in,
  OUTPUT = bloomfilter_probe_out,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE bf_probe IS
  'probe of a filter index: a value with its type, a bare literal, an array or a hash';

CREATE FUNCTION bloomfilter_probe(value "any") RETURNS bf_probe
  AS 'MODULE_PATHNAME', 'bf_probe' LANGUAGE C STABLE STRICT PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bloomfilter_probe("any") IS 'probe of a filter index for a value';

CREATE FUNCTION bloomfilter_probe(value bf_literal) RETURNS bf_probe
  AS 'MODULE_PATHNAME', 'bf_probe_literal' LANGUAGE C STABLE STRICT PARALLEL SAFE
  SUPPORT bloomfilter_support_value;
COMMENT ON FUNCTION bloomfilter_probe(bf_literal) IS 'probe of a filter index for a literal';

CREATE FUNCTION bloomfilter_probe_any("values" anyarray) RETURNS bf_probe
  AS 'MODULE_PATHNAME', 'bf_probe_any' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_probe_any(anyarray) IS
  'probe of a filter index for any element of an array';

CREATE FUNCTION bloomfilter_probe_hash(hash bigint) RETURNS bf_probe
  AS 'MODULE_PATHNAME', 'bf_probe_hash' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_probe_hash(bigint) IS
  'probe of a filter index for the value that has this hash';

CREATE FUNCTION bloomfilter_contains_probe(bloomfilter, bf_probe) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_probe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
COMMENT ON FUNCTION bloomfilter_contains_probe(bloomfilter, bf_probe) IS
  'true if the value is possibly in the set';

CREATE OPERATOR @>> (FUNCTION = bloomfilter_contains_probe, LEFTARG = bloomfilter,
                     RIGHTARG = bf_probe);
COMMENT ON OPERATOR @>> (bloomfilter, bf_probe) IS
  'true if the value is possibly in the set; the form of @> that an index supports';

CREATE FUNCTION bloomfilter_contains_probe(countingbloomfilter, bf_probe) RETURNS boolean
  AS 'MODULE_PATHNAME', 'filter_contains_probe' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
COMMENT ON FUNCTION bloomfilter_contains_probe(countingbloomfilter, bf_probe) IS
  'true if the value is possibly in the set';

CREATE OPERATOR @>> (FUNCTION = bloomfilter_contains_probe, LEFTARG = countingbloomfilter,
                     RIGHTARG = bf_probe);
COMMENT ON OPERATOR @>> (countingbloomfilter, bf_probe) IS
  'true if the value is possibly in the set; the form of @> that an index supports';

CREATE FUNCTION bloomfilter_index_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME_handlers' LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_index_handler(internal) IS
  'handler of the index access method for stored filters';

CREATE ACCESS METHOD bloomfilter TYPE INDEX HANDLER bloomfilter_index_handler;
COMMENT ON ACCESS METHOD bloomfilter IS
  'filter index: finds the stored filters that possibly hold a value';

CREATE OPERATOR CLASS bloomfilter_ops DEFAULT FOR TYPE bloomfilter USING bloomfilter AS
  OPERATOR 1 @>> (bloomfilter, bf_probe),
  FUNCTION 1 bloomfilter_probe("any"),
  FUNCTION 2 bloomfilter_probe(bf_literal),
  FUNCTION 3 bloomfilter_probe_any(anyarray),
  FUNCTION 4 bloomfilter_probe_hash(bigint);
COMMENT ON OPERATOR CLASS bloomfilter_ops USING bloomfilter IS
  'finds bloom filters that possibly hold a value';
COMMENT ON OPERATOR FAMILY bloomfilter_ops USING bloomfilter IS
  'finds bloom filters that possibly hold a value';

CREATE OPERATOR CLASS countingbloomfilter_ops DEFAULT FOR TYPE countingbloomfilter
  USING bloomfilter AS
  OPERATOR 1 @>> (countingbloomfilter, bf_probe),
  FUNCTION 1 bloomfilter_probe("any"),
  FUNCTION 2 bloomfilter_probe(bf_literal);
COMMENT ON OPERATOR CLASS countingbloomfilter_ops USING bloomfilter IS
  'finds counting bloom filters that possibly hold a value';
COMMENT ON OPERATOR FAMILY countingbloomfilter_ops USING bloomfilter IS
  'finds counting bloom filters that possibly hold a value';

-- Columns of all other types get this opclass, which raises an error with a hint. Its function 5 is
-- the one for opclass options, because the server calls that function whenever it makes an index.

CREATE FUNCTION bloomfilter_unindexed(internal) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_unindexed(internal) IS
  'raises an error: the access method cannot index this type';

CREATE OPERATOR CLASS unindexed_ops DEFAULT FOR TYPE "any" USING bloomfilter AS
  FUNCTION 5 bloomfilter_unindexed(internal);
COMMENT ON OPERATOR CLASS unindexed_ops USING bloomfilter IS
  'raises an error: the access method cannot index this type';
COMMENT ON OPERATOR FAMILY unindexed_ops USING bloomfilter IS
  'raises an error: the access method cannot index this type';

-- --- Bloompages indexes --------------------------------------------------------------------------

CREATE FUNCTION bloomfilter_pages_handler(internal) RETURNS index_am_handler
  AS 'MODULE_PATHNAME_handlers' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloomfilter_pages_handler(internal) IS
  'handler of the access method of bloompages indexes';

CREATE ACCESS METHOD bloompages TYPE INDEX HANDLER bloomfilter_pages_handler;
COMMENT ON ACCESS METHOD bloompages IS
  'bloompages index: finds the heap pages that possibly have a value, or what is inside a value';

-- Most operator classes have the equality operator of a type and its extended hash function, as the
-- server's classes for hash indexes do. Operators that compare two types are in the class of the
-- left type. Values of the two types that are equal have the same hash. The classes for what is
-- inside a value also have GIN's operators and support functions, with GIN's numbers.

CREATE OPERATOR FAMILY integer_ops USING bloompages;
COMMENT ON OPERATOR FAMILY integer_ops USING bloompages IS 'equality of integers';

CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE smallint USING bloompages FAMILY integer_ops AS
  OPERATOR 1 = (smallint, smallint),
  OPERATOR 1 = (smallint, int),
  OPERATOR 1 = (smallint, bigint),
  FUNCTION 1 hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS int2_ops USING bloompages IS 'equality of smallint';

CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int USING bloompages FAMILY integer_ops AS
  OPERATOR 1 = (int, smallint),
  OPERATOR 1 = (int, int),
  OPERATOR 1 = (int, bigint),
  FUNCTION 1 hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS int4_ops USING bloompages IS 'equality of int';

CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE bigint USING bloompages FAMILY integer_ops AS
  OPERATOR 1 = (bigint, smallint),
  OPERATOR 1 = (bigint, int),
  OPERATOR 1 = (bigint, bigint),
  FUNCTION 1 hashint8extended(bigint, bigint);
COMMENT ON OPERATOR CLASS int8_ops USING bloompages IS 'equality of bigint';

CREATE OPERATOR FAMILY float_ops USING bloompages;
COMMENT ON OPERATOR FAMILY float_ops USING bloompages IS 'equality of floating-point numbers';

CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING bloompages FAMILY float_ops AS
  OPERATOR 1 = (float4, float4),
  OPERATOR 1 = (float4, float8),
  FUNCTION 1 hashfloat4extended(float4, bigint);
COMMENT ON OPERATOR CLASS float4_ops USING bloompages IS 'equality of float4';

CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING bloompages FAMILY float_ops AS
  OPERATOR 1 = (float8, float4),
  OPERATOR 1 = (float8, float8),
  FUNCTION 1 hashfloat8extended(float8, bigint);
COMMENT ON OPERATOR CLASS float8_ops USING bloompages IS 'equality of float8';

CREATE OPERATOR FAMILY text_ops USING bloompages;
COMMENT ON OPERATOR FAMILY text_ops USING bloompages IS 'equality of strings';

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING bloompages FAMILY text_ops AS
  OPERATOR 1 = (text, text),
  OPERATOR 1 = (text, name),
  FUNCTION 1 hashtextextended(text, bigint);
COMMENT ON OPERATOR CLASS text_ops USING bloompages IS 'equality of text';

CREATE OPERATOR CLASS name_ops DEFAULT FOR TYPE name USING bloompages FAMILY text_ops AS
  OPERATOR 1 = (name, text),
  OPERATOR 1 = (name, name),
  FUNCTION 1 hashnameextended(name, bigint);
COMMENT ON OPERATOR CLASS name_ops USING bloompages IS 'equality of name';

-- The class for LIKE and regular expressions. Its keys are the n-grams of a text: four bytes as a
-- number.

CREATE FUNCTION bloompages_ngram_values(text, internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloompages_ngram_values(text, internal) IS 'n-grams of a text';

CREATE FUNCTION bloompages_ngram_query(text, internal, smallint, internal, internal, internal,
                                       internal) RETURNS internal
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloompages_ngram_query(text, internal, smallint, internal, internal, internal,
                                           internal) IS
  'n-grams that a text must have to match a pattern';

CREATE FUNCTION bloompages_ngram_consistent(internal, smallint, text, int, internal, internal,
                                            internal) RETURNS "char"
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloompages_ngram_consistent(internal, smallint, text, int, internal, internal,
                                                internal) IS
  'whether a text that has some n-grams may match a pattern';

CREATE OPERATOR CLASS text_ngram_ops FOR TYPE text USING bloompages AS
  OPERATOR 3 ~~ (text, text),
  OPERATOR 4 ~~* (text, text),
  OPERATOR 5 ~ (text, text),
  OPERATOR 6 ~* (text, text),
  OPERATOR 100 = (text, text),
  OPERATOR 101 ^@ (text, text),
  FUNCTION 1 hashtextextended(text, bigint),
  FUNCTION 2 bloompages_ngram_values(text, internal),
  FUNCTION 3 bloompages_ngram_query(text, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 bloompages_ngram_consistent(internal, smallint, text, int, internal, internal,
    internal);
COMMENT ON OPERATOR CLASS text_ngram_ops USING bloompages IS
  'LIKE, ILIKE, regular expressions, beginnings and equality of text';
COMMENT ON OPERATOR FAMILY text_ngram_ops USING bloompages IS
  'LIKE, ILIKE, regular expressions, beginnings and equality of text';

CREATE OPERATOR CLASS aclitem_ops DEFAULT FOR TYPE aclitem USING bloompages AS
  OPERATOR 1 = (aclitem, aclitem),
  FUNCTION 1 (aclitem, aclitem) hash_aclitem_extended(aclitem, bigint);
COMMENT ON OPERATOR CLASS aclitem_ops USING bloompages IS 'equality of aclitem';
COMMENT ON OPERATOR FAMILY aclitem_ops USING bloompages IS 'equality of aclitem';

CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING bloompages AS
  OPERATOR 1 && (anyarray, anyarray),
  OPERATOR 2 @> (anyarray, anyarray),
  OPERATOR 3 <@ (anyarray, anyarray),
  OPERATOR 100 = (anyarray, anyarray),
  FUNCTION 1 hash_array_extended(anyarray, bigint),
  FUNCTION 2 ginarrayextract(anyarray, internal, internal),
  FUNCTION 3 ginqueryarrayextract(anyarray, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 6 ginarraytriconsistent(internal, smallint, anyarray, int, internal, internal,
    internal);
COMMENT ON OPERATOR CLASS array_ops USING bloompages IS
  'elements of arrays, and equality';
COMMENT ON OPERATOR FAMILY array_ops USING bloompages IS
  'elements of arrays, and equality';
CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE boolean USING bloompages AS
  OPERATOR 1 = (boolean, boolean),
  FUNCTION 1 (boolean, boolean) hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS bool_ops USING bloompages IS 'equality of boolean';
COMMENT ON OPERATOR FAMILY bool_ops USING bloompages IS 'equality of boolean';

CREATE OPERATOR CLASS bpchar_ops DEFAULT FOR TYPE bpchar USING bloompages AS
  OPERATOR 1 = (bpchar, bpchar),
  FUNCTION 1 (bpchar, bpchar) hashbpcharextended(bpchar, bigint);
COMMENT ON OPERATOR CLASS bpchar_ops USING bloompages IS 'equality of bpchar';
COMMENT ON OPERATOR FAMILY bpchar_ops USING bloompages IS 'equality of bpchar';

CREATE OPERATOR CLASS bytea_ops DEFAULT FOR TYPE bytea USING bloompages AS
  OPERATOR 1 = (bytea, bytea),
  FUNCTION 1 (bytea, bytea) hashvarlenaextended(internal, bigint);
COMMENT ON OPERATOR CLASS bytea_ops USING bloompages IS 'equality of bytea';
COMMENT ON OPERATOR FAMILY bytea_ops USING bloompages IS 'equality of bytea';

CREATE OPERATOR CLASS char_ops DEFAULT FOR TYPE "char" USING bloompages AS
  OPERATOR 1 = ("char", "char"),
  FUNCTION 1 ("char", "char") hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS char_ops USING bloompages IS 'equality of char';
COMMENT ON OPERATOR FAMILY char_ops USING bloompages IS 'equality of char';

CREATE OPERATOR CLASS cid_ops DEFAULT FOR TYPE cid USING bloompages AS
  OPERATOR 1 = (cid, cid),
  FUNCTION 1 (cid, cid) hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS cid_ops USING bloompages IS 'equality of cid';
COMMENT ON OPERATOR FAMILY cid_ops USING bloompages IS 'equality of cid';

CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING bloompages AS
  OPERATOR 1 = (date, date),
  FUNCTION 1 (date, date) hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS date_ops USING bloompages IS 'equality of date';
COMMENT ON OPERATOR FAMILY date_ops USING bloompages IS 'equality of date';

CREATE OPERATOR CLASS enum_ops DEFAULT FOR TYPE anyenum USING bloompages AS
  OPERATOR 1 = (anyenum, anyenum),
  FUNCTION 1 (anyenum, anyenum) hashenumextended(anyenum, bigint);
COMMENT ON OPERATOR CLASS enum_ops USING bloompages IS 'equality of enums';
COMMENT ON OPERATOR FAMILY enum_ops USING bloompages IS 'equality of enums';

CREATE OPERATOR CLASS interval_ops DEFAULT FOR TYPE interval USING bloompages AS
  OPERATOR 1 = (interval, interval),
  FUNCTION 1 (interval, interval) interval_hash_extended(interval, bigint);
COMMENT ON OPERATOR CLASS interval_ops USING bloompages IS 'equality of interval';
COMMENT ON OPERATOR FAMILY interval_ops USING bloompages IS 'equality of interval';

CREATE OPERATOR CLASS jsonb_ops DEFAULT FOR TYPE jsonb USING bloompages AS
  OPERATOR 7 @> (jsonb, jsonb),
  OPERATOR 15 @? (jsonb, jsonpath),
  OPERATOR 16 @@ (jsonb, jsonpath),
  OPERATOR 100 = (jsonb, jsonb),
  FUNCTION 1 jsonb_hash_extended(jsonb, bigint),
  FUNCTION 2 gin_extract_jsonb_path(jsonb, internal, internal),
  FUNCTION 3 gin_extract_jsonb_query_path(jsonb, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 5 hashint4extended(int, bigint),
  FUNCTION 6 gin_triconsistent_jsonb_path(internal, smallint, jsonb, int, internal, internal,
    internal);
COMMENT ON OPERATOR CLASS jsonb_ops USING bloompages IS
  'values in jsonb with the path to each, and equality';
COMMENT ON OPERATOR FAMILY jsonb_ops USING bloompages IS
  'values in jsonb with the path to each, and equality';

CREATE OPERATOR CLASS jsonb_key_ops FOR TYPE jsonb USING bloompages AS
  OPERATOR 7 @> (jsonb, jsonb),
  OPERATOR 9 ? (jsonb, text),
  OPERATOR 10 ?| (jsonb, text[]),
  OPERATOR 11 ?& (jsonb, text[]),
  OPERATOR 15 @? (jsonb, jsonpath),
  OPERATOR 16 @@ (jsonb, jsonpath),
  OPERATOR 100 = (jsonb, jsonb),
  FUNCTION 1 jsonb_hash_extended(jsonb, bigint),
  FUNCTION 2 gin_extract_jsonb(jsonb, internal, internal),
  FUNCTION 3 gin_extract_jsonb_query(jsonb, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 5 hashtextextended(text, bigint),
  FUNCTION 6 gin_triconsistent_jsonb(internal, smallint, jsonb, int, internal, internal, internal);
COMMENT ON OPERATOR CLASS jsonb_key_ops USING bloompages IS
  'keys and values in jsonb, each for itself, and equality';
COMMENT ON OPERATOR FAMILY jsonb_key_ops USING bloompages IS
  'keys and values in jsonb, each for itself, and equality';

CREATE OPERATOR CLASS macaddr8_ops DEFAULT FOR TYPE macaddr8 USING bloompages AS
  OPERATOR 1 = (macaddr8, macaddr8),
  FUNCTION 1 (macaddr8, macaddr8) hashmacaddr8extended(macaddr8, bigint);
COMMENT ON OPERATOR CLASS macaddr8_ops USING bloompages IS 'equality of macaddr8';
COMMENT ON OPERATOR FAMILY macaddr8_ops USING bloompages IS 'equality of macaddr8';

CREATE OPERATOR CLASS macaddr_ops DEFAULT FOR TYPE macaddr USING bloompages AS
  OPERATOR 1 = (macaddr, macaddr),
  FUNCTION 1 (macaddr, macaddr) hashmacaddrextended(macaddr, bigint);
COMMENT ON OPERATOR CLASS macaddr_ops USING bloompages IS 'equality of macaddr';
COMMENT ON OPERATOR FAMILY macaddr_ops USING bloompages IS 'equality of macaddr';

CREATE OPERATOR CLASS multirange_ops DEFAULT FOR TYPE anymultirange USING bloompages AS
  OPERATOR 1 = (anymultirange, anymultirange),
  FUNCTION 1 (anymultirange, anymultirange) hash_multirange_extended(anymultirange, bigint);
COMMENT ON OPERATOR CLASS multirange_ops USING bloompages IS 'equality of multiranges';
COMMENT ON OPERATOR FAMILY multirange_ops USING bloompages IS 'equality of multiranges';

CREATE OPERATOR CLASS inet_ops DEFAULT FOR TYPE inet USING bloompages AS
  OPERATOR 1 = (inet, inet),
  FUNCTION 1 (inet, inet) hashinetextended(inet, bigint);
COMMENT ON OPERATOR CLASS inet_ops USING bloompages IS 'equality of inet';
COMMENT ON OPERATOR FAMILY inet_ops USING bloompages IS 'equality of inet';

CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING bloompages AS
  OPERATOR 1 = (numeric, numeric),
  FUNCTION 1 (numeric, numeric) hash_numeric_extended(numeric, bigint);
COMMENT ON OPERATOR CLASS numeric_ops USING bloompages IS 'equality of numeric';
COMMENT ON OPERATOR FAMILY numeric_ops USING bloompages IS 'equality of numeric';

CREATE OPERATOR CLASS oid_ops DEFAULT FOR TYPE oid USING bloompages AS
  OPERATOR 1 = (oid, oid),
  FUNCTION 1 (oid, oid) hashoidextended(oid, bigint);
COMMENT ON OPERATOR CLASS oid_ops USING bloompages IS 'equality of oid';
COMMENT ON OPERATOR FAMILY oid_ops USING bloompages IS 'equality of oid';

CREATE OPERATOR CLASS oidvector_ops DEFAULT FOR TYPE oidvector USING bloompages AS
  OPERATOR 1 = (oidvector, oidvector),
  FUNCTION 1 (oidvector, oidvector) hashoidvectorextended(oidvector, bigint);
COMMENT ON OPERATOR CLASS oidvector_ops USING bloompages IS 'equality of oidvector';
COMMENT ON OPERATOR FAMILY oidvector_ops USING bloompages IS 'equality of oidvector';

CREATE OPERATOR CLASS pg_lsn_ops DEFAULT FOR TYPE pg_lsn USING bloompages AS
  OPERATOR 1 = (pg_lsn, pg_lsn),
  FUNCTION 1 (pg_lsn, pg_lsn) pg_lsn_hash_extended(pg_lsn, bigint);
COMMENT ON OPERATOR CLASS pg_lsn_ops USING bloompages IS 'equality of pg_lsn';
COMMENT ON OPERATOR FAMILY pg_lsn_ops USING bloompages IS 'equality of pg_lsn';

CREATE OPERATOR CLASS range_ops DEFAULT FOR TYPE anyrange USING bloompages AS
  OPERATOR 1 = (anyrange, anyrange),
  FUNCTION 1 (anyrange, anyrange) hash_range_extended(anyrange, bigint);
COMMENT ON OPERATOR CLASS range_ops USING bloompages IS 'equality of ranges';
COMMENT ON OPERATOR FAMILY range_ops USING bloompages IS 'equality of ranges';

CREATE OPERATOR CLASS tsvector_ops DEFAULT FOR TYPE tsvector USING bloompages AS
  OPERATOR 1 @@ (tsvector, tsquery),
  FUNCTION 2 gin_extract_tsvector(tsvector, internal, internal),
  FUNCTION 3 gin_extract_tsquery(tsvector, internal, smallint, internal, internal, internal,
    internal),
  FUNCTION 5 hashtextextended(text, bigint),
  FUNCTION 6 gin_tsquery_triconsistent(internal, smallint, tsvector, int, internal, internal,
    internal);
COMMENT ON OPERATOR CLASS tsvector_ops USING bloompages IS 'words of tsvector';
COMMENT ON OPERATOR FAMILY tsvector_ops USING bloompages IS 'words of tsvector';

CREATE OPERATOR CLASS tid_ops DEFAULT FOR TYPE tid USING bloompages AS
  OPERATOR 1 = (tid, tid),
  FUNCTION 1 (tid, tid) hashtidextended(tid, bigint);
COMMENT ON OPERATOR CLASS tid_ops USING bloompages IS 'equality of tid';
COMMENT ON OPERATOR FAMILY tid_ops USING bloompages IS 'equality of tid';

CREATE OPERATOR CLASS time_ops DEFAULT FOR TYPE time USING bloompages AS
  OPERATOR 1 = (time, time),
  FUNCTION 1 (time, time) time_hash_extended(time, bigint);
COMMENT ON OPERATOR CLASS time_ops USING bloompages IS 'equality of time';
COMMENT ON OPERATOR FAMILY time_ops USING bloompages IS 'equality of time';

CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING bloompages AS
  OPERATOR 1 = (timestamp, timestamp),
  FUNCTION 1 (timestamp, timestamp) timestamp_hash_extended(timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamp_ops USING bloompages IS 'equality of timestamp';
COMMENT ON OPERATOR FAMILY timestamp_ops USING bloompages IS 'equality of timestamp';

CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING bloompages AS
  OPERATOR 1 = (timestamptz, timestamptz),
  FUNCTION 1 (timestamptz, timestamptz) timestamp_hash_extended(timestamp, bigint);
COMMENT ON OPERATOR CLASS timestamptz_ops USING bloompages IS 'equality of timestamptz';
COMMENT ON OPERATOR FAMILY timestamptz_ops USING bloompages IS 'equality of timestamptz';

CREATE OPERATOR CLASS timetz_ops DEFAULT FOR TYPE timetz USING bloompages AS
  OPERATOR 1 = (timetz, timetz),
  FUNCTION 1 (timetz, timetz) timetz_hash_extended(timetz, bigint);
COMMENT ON OPERATOR CLASS timetz_ops USING bloompages IS 'equality of timetz';
COMMENT ON OPERATOR FAMILY timetz_ops USING bloompages IS 'equality of timetz';

CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING bloompages AS
  OPERATOR 1 = (uuid, uuid),
  FUNCTION 1 (uuid, uuid) uuid_hash_extended(uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_ops USING bloompages IS 'equality of uuid';
COMMENT ON OPERATOR FAMILY uuid_ops USING bloompages IS 'equality of uuid';

CREATE OPERATOR CLASS xid8_ops DEFAULT FOR TYPE xid8 USING bloompages AS
  OPERATOR 1 = (xid8, xid8),
  FUNCTION 1 (xid8, xid8) hashint8extended(bigint, bigint);
COMMENT ON OPERATOR CLASS xid8_ops USING bloompages IS 'equality of xid8';
COMMENT ON OPERATOR FAMILY xid8_ops USING bloompages IS 'equality of xid8';

CREATE OPERATOR CLASS xid_ops DEFAULT FOR TYPE xid USING bloompages AS
  OPERATOR 1 = (xid, xid),
  FUNCTION 1 (xid, xid) hashint4extended(int, bigint);
COMMENT ON OPERATOR CLASS xid_ops USING bloompages IS 'equality of xid';
COMMENT ON OPERATOR FAMILY xid_ops USING bloompages IS 'equality of xid';

-- An index on rows is refused when it is made, with a hint. Without this class, the server would
-- ask for one.
CREATE OPERATOR CLASS record_ops DEFAULT FOR TYPE record USING bloompages AS
  OPERATOR 1 = (record, record),
  FUNCTION 1 hash_record_extended(record, bigint);
COMMENT ON OPERATOR CLASS record_ops USING bloompages IS 'raises an error: rows cannot be indexed';
COMMENT ON OPERATOR FAMILY record_ops USING bloompages IS 'raises an error: rows cannot be indexed';

-- Functions for the owner of an index

CREATE FUNCTION bf_index_info(index regclass, OUT groups bigint, OUT grouped bigint,
                              OUT pending bigint, OUT loose bigint, OUT bytes bigint,
                              OUT free_bytes bigint, OUT ranges bigint, OUT ready bigint,
                              OUT tail_pages bigint, OUT pages_per_range bigint,
                              OUT bits_per_value float8, OUT fill float8, OUT overfull bigint,
                              OUT false_pages float8, OUT additions float8)
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION bf_index_info(regclass) IS
  'of a filter index: how many filters are in groups, waiting and in no group; of a bloompages '
  'index: how many ranges of heap pages there are, and how full their filters are; the size';

CREATE FUNCTION bf_index_check(index regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bf_index_check(regclass) IS
  'raises an error if an index is damaged or differs from its table';

CREATE FUNCTION bf_index_tidy(index regclass) RETURNS void
  AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION bf_index_tidy(regclass) IS
  'filter index: moves waiting filters into groups and merges small groups; '
  'bloompages index: makes the filters of all complete ranges';
