# Estimates of the planner have no bad effects. No query that would run fails or crashes while it is
# planned. Planning takes little memory and reads few pages. Estimates tell a user nothing about rows
# that the user must not read.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('planner');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE FUNCTION forged(bytea, int DEFAULT 1) RETURNS bloomfilter LANGUAGE internal IMMUTABLE
      STRICT AS 'bytea_substr_no_len';
    CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
      BEGIN EXECUTE statement; RETURN 'ok'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
    CREATE FUNCTION expected(query text) RETURNS int LANGUAGE plpgsql AS $$
      DECLARE plan json;
      BEGIN
        EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
        WHILE plan -> 0 -> 'Plan' -> 'Plans' IS NOT NULL LOOP
          plan := json_build_array(json_build_object('Plan', plan -> 0 -> 'Plan' -> 'Plans' -> 0));
        END LOOP;
        RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
      END $$;
    CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE TABLE types AS
      SELECT i AS id, i % 10 AS number, i % 10 + 0.5 AS fraction, i::text AS word,
        i::text COLLATE blind AS blind, (i % 5)::money AS amount, json_build_object('a', i) AS document,
        jsonb_build_object('a', i % 7) AS object, ARRAY[i % 3] AS list, point(i, i) AS place,
        int4range(i % 5, 9) AS range, 'sad'::mood AS mood, to_tsvector('simple', i::text) AS words,
        (i % 4)::bit(3) AS bits, NULL::int AS nothing, interval '1 day' * (i % 3) AS span,
        B'1'::varbit AS varbits, inet '10.0.0.0' + i % 9 AS address, (i % 9)::float8 AS weight
      FROM generate_series(1, 1000) i;
    CREATE TABLE filters AS
      SELECT bf_agg(i) AS f, cbf_agg(i) AS cbf, cf_agg(i) AS cf, bf_agg(i::text) AS g
      FROM generate_series(1, 100) i;
    ANALYZE});


# Conditions, some of which would fail if they were evaluated, in queries that never evaluate them.
# The queries are planned without an error.
my @filters = ('f', 'cbf', 'cf', 'g', 'bf_create(9)', '(bf_create(9) + 1)', q{(bf_create(9) + 'a'::text)},
    '(cbf_create(9) + 1.5)', '(cf_create(9) + now())', '(SELECT bf_agg(i) FROM generate_series(1, 3) i)',
    '(SELECT g FROM filters)', '(SELECT bf_agg(x.id, 10, 7) FROM types x)', 'NULL::bloomfilter');
my @asks = map { my $f = $_; map { s/FILTER/$f/r } 'FILTER @> COLUMN', 'COLUMN <@ FILTER', 'NOT FILTER @> COLUMN' }
  @filters;
push @asks, map { ; "bf_contains_any($_, ARRAY[COLUMN])", "bf_contains_all($_, ARRAY[COLUMN, NULL])" }
  grep { !/c[bf]/ || /^bf/ } @filters[ 0, 3 .. 6, 9 .. 11 ];
for my $column (split /\n/,
    query(q{SELECT attname FROM pg_attribute WHERE attrelid = 'types'::regclass AND attnum > 0}))
{
    my @statements = map { s/COLUMN/$column/gr }
      map { ("SELECT FROM types, filters WHERE id < 0 AND $_", "SELECT FROM types, filters WHERE id < 0 AND (number = 1 OR $_)") }
      @asks;
    my $wrong = query(join ' UNION ALL ',
        map { ; "SELECT $_ || outcome($_) WHERE outcome($_) <> 'ok'" } map { "\$q\$$_\$q\$" } @statements);
    is($wrong, '', "column $column: planning conditions that are not evaluated raises no error");
}

# Filters with some wrong bytes, and values that are no filters, as parameters and in ANALYZE
query(q{
    CREATE TABLE damaged (f bloomfilter);
    SELECT setseed(0.5);
    INSERT INTO damaged SELECT forged(CASE WHEN i % 5 = 0 THEN substr(b, 1, (random() * length(b))::int)
        ELSE set_byte(set_byte(b, (random() * 35)::int, (random() * 255)::int),
          (random() * (length(b) - 1))::int, (random() * 255)::int) END)
      FROM generate_series(1, 300) i,
        LATERAL (SELECT (bf_create(20) + i)::bytea UNION ALL SELECT (cbf_create(20) + i)::bytea
          UNION ALL SELECT (cf_create(20) + i)::bytea
          UNION ALL SELECT (bf_create(20) + i | bf_create(5000, 0.0001) + 3)::bytea
          UNION ALL SELECT bf_to_spark(bf_create(20, layout => 'spark'))) s(b);
    CREATE FUNCTION planned(f bloomfilter, condition text) RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE 'SELECT FROM types WHERE id < 0 AND ' || condition USING f;
        RETURN 'ok';
      EXCEPTION WHEN OTHERS THEN RETURN SQLERRM;
      END $$});
is(query(q{SELECT planned, count(*) FROM damaged,
      unnest(ARRAY['$1 @> number', '$1 @> word', '$1 @> (id, word)', 'bf_contains_any($1, list)',
        'bf_contains_hash($1, id)']) c, planned(f, c) GROUP BY 1}),
    'ok|7500', 'planning queries with damaged filters as parameters raises no error');
is(sqlstate($node, 'ANALYZE damaged'), '00000', 'ANALYZE of a table of damaged filters raises no error');
is(query('SELECT count(*) FROM damaged, types WHERE id < 0 AND f @> number'), '0',
    '... and neither does planning with the statistics of damaged filters');

# Estimates tell nothing about values that a user must not read: the estimate for a filter with the
# most common value is the same as for a filter with another value.
query(q{
    CREATE ROLE stranger;
    CREATE TABLE secrets AS
      SELECT i AS id, CASE WHEN i % 2 = 0 THEN 42 ELSE i % 500 + 1000 END AS secret,
        ARRAY[CASE WHEN i % 2 = 0 THEN 42 ELSE i % 500 + 1000 END] AS list,
        CASE WHEN i % 100 = 0 THEN 'stranger' ELSE 'owner' END AS reader
      FROM generate_series(1, 10000) i;
    ANALYZE secrets;
    CREATE TABLE rows_of_all (LIKE secrets);
    INSERT INTO rows_of_all TABLE secrets;
    ANALYZE rows_of_all;
    CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE reader = current_user;
    ALTER TABLE rows_of_all ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON rows_of_all USING (reader = current_user);
    GRANT SELECT ON barrier, rows_of_all, filters TO stranger});
for my $from ('barrier', 'rows_of_all') {
    for my $condition ('%L::bloomfilter @> secret', 'secret <@ %L::bloomfilter', 'bf_contains(%L, secret)',
        'bf_contains_any(%L, list)', 'bf_contains_any(%L, ARRAY[secret, 5])')
    {
        my $told = query(qq{SET ROLE stranger; SELECT DISTINCT
            expected(format('SELECT FROM $from WHERE $condition', bf_create(100) + i)) FROM unnest(ARRAY[42, 43]) i});
        like($told, qr/^\d+$/, "$from, $condition: the same estimate for a common value and another");
    }
}
is(query(q{SELECT expected(format('SELECT FROM secrets WHERE %L::bloomfilter @> secret',
      bf_create(100) + i)) > 4000 FROM unnest(ARRAY[42, 43]) i}), "t\nf",
          'for the owner, the estimates differ');

# Queries of partitions with large parameters can be planned. ANALYZE reads some megabytes of filters,
# however many filters there are and however large they are.
query(q{
    CREATE TABLE parts (x int) PARTITION BY HASH (x);
    SELECT format('CREATE TABLE part%s PARTITION OF parts FOR VALUES WITH (MODULUS 64, REMAINDER %s)', p, p)
      FROM generate_series(0, 63) p \gexec
    INSERT INTO parts SELECT generate_series(1, 64000);
    CREATE FUNCTION planned_for(size bigint) RETURNS text LANGUAGE plpgsql AS $$
      DECLARE filter bloomfilter := bf_create_by_size(size, 6) + 1;
      BEGIN
        EXECUTE 'SELECT FROM parts WHERE pg_backend_pid() = 0 AND $1 @> x' USING filter;
        RETURN 'ok';
      END $$;
    CREATE UNLOGGED TABLE many AS SELECT bf_create(1000000) AS f FROM generate_series(1, 100);
    CREATE UNLOGGED TABLE large AS SELECT bf_create(10000000) AS f FROM generate_series(1, 4)});
is(query('SELECT planned_for(33554432)'), 'ok',
    'a query that probes a parameter of 4 MB for 64 partitions is planned');

sub blocks_of_analyze {
    my ($table) = @_;
    return query(qq{
        BEGIN;
        ANALYZE $table;
        SELECT pg_stat_get_xact_blocks_fetched(reltoastrelid) FROM pg_class WHERE relname = '$table';
        COMMIT});
}
my $blocks = blocks_of_analyze('many');
cmp_ok($blocks, '>', 100, 'ANALYZE of 100 filters of 1.2 MB reads over 100 blocks of them');
cmp_ok($blocks, '<', 5000, "... but less than 5000, $blocks blocks");
$blocks = blocks_of_analyze('large');
cmp_ok($blocks, '<', 1200, "ANALYZE of 4 filters of 12 MB reads less than 1200 blocks, $blocks");

# Queries with estimates in parallel workers, in cursors, and with unusual settings
query(q{
    CREATE FUNCTION found(f bloomfilter) RETURNS int LANGUAGE plpgsql PARALLEL SAFE STABLE AS
      $$ BEGIN RETURN (SELECT count(*) FROM types WHERE f @> number); END $$});
is(query(q{DO $$ BEGIN PERFORM set_config(name, 'on', false) FROM pg_settings
        WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); END $$;
      SELECT max(found(f)) FROM filters}), 900, 'a query that a parallel worker plans has the right answer');
is(query('SELECT found(f) FROM filters; SELECT found(f) FROM filters') , "900\n900",
    'a query in PL/pgSQL has the right answer, twice');
is(query(q{BEGIN; DECLARE c CURSOR FOR SELECT id FROM types, filters WHERE f @> id ORDER BY id; FETCH 1 FROM c}),
    1, 'the query of a cursor has the right first row');
is(query(q{SET cpu_operator_cost = 0; SET seq_page_cost = 0; SELECT count(*) FROM types, filters WHERE f @> number}),
    900, 'with costs of 0, a query has the right answer');
my $many_joins = q{SET join_collapse_limit = 20; SELECT count(*) FROM types a JOIN types b USING (id)
      JOIN filters ON f @> a.id AND f @> b.number
      WHERE EXISTS (SELECT FROM types c, filters g WHERE g.f @> c.id AND c.number = a.number)};
is(query("SET geqo_threshold = 2; $many_joins"), query($many_joins),
    'with GEQO, a query has the same answer');

# In an equivalence class of 400 columns of each of three tables, each two tables have 160 000 pairs.
my @columns = map { my $table = $_; map { "w$table.c$_" } 1 .. 400 } 0 .. 2;
query("CREATE TABLE w$_ (" . join(', ', map { "c$_ int" } 1 .. 400) . ')') for 0 .. 2;
query('INSERT INTO w0 (c1) SELECT generate_series(1, 20000); ANALYZE w0');
my $wide = 'SET join_collapse_limit = 1; SET from_collapse_limit = 1; EXPLAIN SELECT FROM w0, w1, w2 WHERE '
  . join ' AND ', map { "w0.c1 = $_" } grep { $_ ne 'w0.c1' } @columns;
my ($least) = peak_memory($node, $wide);
for my $change ('SET bloomfilter.join_filter = on; ', '') {
    my $asks = $change ? '' : ' AND (SELECT bf_agg(c1) FROM w1) @> w0.c2';
    my ($peak) = peak_memory($node, "$change$wide$asks");
    cmp_ok($peak - $least, '<', 100_000_000,
        "1200 equal columns, $change$asks: planning takes only " . ($peak - $least) . ' bytes more');
}

SKIP: {
    skip 'BLOOMFILTER_TEST_LARGE is not set', 2 unless $ENV{BLOOMFILTER_TEST_LARGE};
    is(query('SELECT planned_for(4294967296)'), 'ok', 'a query with a parameter of 512 MiB is planned');
    query('TRUNCATE large; INSERT INTO large SELECT bf_create_by_size(4294967296, 6)');
    cmp_ok($blocks = blocks_of_analyze('large'), '<', 400,
        "ANALYZE reads less than 400 blocks of it, $blocks");
}

clean_log($node);
done_testing();
