# A stored filter is detoasted once and probed many times from the cache. Yet every probe must have the
# answer of the current filter: when a row is updated between probes, when every row has another
# filter, when a variable is assigned again, when a subtransaction is rolled back, and when a plan is
# kept.
#
# In most tests, filter n contains n alone and has room for thousands of values. Nearly every filter
# denies any other number, so a probe of the wrong filter gives the wrong answer.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('stored');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE TABLE one (id int PRIMARY KEY, f bloomfilter);
    INSERT INTO one VALUES (1, bf_create(10000) + 1);
    CREATE TABLE many (id int PRIMARY KEY, f bloomfilter);
    INSERT INTO many SELECT n, bf_create(14000) + n FROM generate_series(1, 200) n;
    CREATE TABLE short AS SELECT n AS id, bf_create(5000) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE probes AS SELECT v FROM generate_series(1, 200) v;
    CREATE TABLE compressed (LIKE many);
    ALTER TABLE compressed ALTER f SET STORAGE EXTENDED;
    INSERT INTO compressed SELECT id, f FROM many;
    INSERT INTO compressed SELECT 0, bf_create(100000) + 0;
    CREATE TABLE tiny AS SELECT n AS id, bf_create(10) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE linked (LIKE many);
    INSERT INTO linked
      SELECT id, CASE id % 3 WHEN 0 THEN f | bf_create(28000) WHEN 1 THEN bf_create(1000, 0.0001) | f
        ELSE (bf_create(7000) + id) | f | bf_create(10, grow => true) END
      FROM many;
    CREATE TABLE guava AS
      SELECT n AS id, bf_create(14000, layout => 'guava') + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE parquet AS
      SELECT n AS id, bf_create(10000, layout => 'parquet') + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE tiny_linked AS
      SELECT n AS id, CASE n % 2 WHEN 0 THEN (bf_create(10) + n) | bf_create(100)
        ELSE bf_create(20, 0.001, grow => true) + n END AS f
      FROM generate_series(1, 200) n;
    CREATE TABLE counting AS SELECT n AS id, cbf_create(3500) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE counting_pages AS
      SELECT n AS id, cbf_create(3000, 0.0001) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE cuckoo AS
      SELECT n AS id, cf_create(14000, 0.003) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE tiny_cuckoo AS SELECT n AS id, cf_create(20) + n AS f FROM generate_series(1, 200) n;
    CREATE TABLE tiny_counting AS SELECT n AS id, cbf_create(20) + n AS f FROM generate_series(1, 200) n;
    ANALYZE});
is( query(q{
        SELECT bool_and(pg_column_size(f) > 16388) FROM many UNION ALL
        SELECT bool_and(pg_column_size(f) < 2000) FROM compressed UNION ALL
        SELECT min(pg_column_size(f)) > 5000 AND max(pg_column_size(f)) < 8192 FROM short UNION ALL
        SELECT max(pg_column_size(f)) < 128 FROM tiny UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM linked UNION ALL
        SELECT max(pg_column_size(f)) < 512 FROM tiny_linked UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM guava UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM parquet UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM counting UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM counting_pages UNION ALL
        SELECT bool_and(pg_column_size(f) > 16388) FROM cuckoo}),
    join("\n", ('t') x 11), 'filters are stored in all ways: out of line, compressed, and in the row');

# Every row has another filter. Casting a filter to bytea and back makes a new inline value for each
# probe.
my @tests;
for my $table (qw(many short compressed tiny linked tiny_linked guava parquet counting counting_pages
    cuckoo tiny_counting tiny_cuckoo)) {
    my $type = $table =~ /counting/ ? 'countingbloomfilter'
      : $table =~ /cuckoo/ ? 'cuckoofilter' : 'bloomfilter';
    my $inline = "f::bytea::$type";
    # Layouts of other systems and the other types have no probes for hashes. The other types have no
    # probes for arrays either.
    my $by_hash = $table =~ /guava|parquet/ ? 'f @> v' : 'bf_contains_hash(f, bf_hash(v))';
    my $any = 'bf_contains_any(f, array[v])';
    if ($type ne 'bloomfilter') {
        my $prefix = $type eq 'cuckoofilter' ? 'cf' : 'cbf';
        ($by_hash, $any) = ("(${prefix}_multiplicity(f, v) > 0)", "${prefix}_contains(f + v - v, v)");
    }
    for my $order ('id, v', 'v, id', 'hashint4(id * 1000 + v)') {
        my $pairs = "(SELECT id, f, v FROM $table, probes"
          . " WHERE id > 0 AND (v - id) % 4 = 0 ORDER BY $order) pairs";
        push @tests, [ qq{
                SELECT count(*) FILTER (WHERE id = v AND NOT f @> v),
                  count(*) FILTER (WHERE (f @> v) <> ($inline @> v)),
                  count(*) FILTER (WHERE (v <@ f) <> (v <@ $inline)),
                  count(*) FILTER (WHERE (f @> v::text::bf_literal) <> (f @> v)),
                  count(*) FILTER (WHERE $any <> (f @> v)),
                  count(*) FILTER (WHERE $by_hash <> (f @> v)),
                  count(*) FILTER (WHERE f @> v) BETWEEN 200 AND 500
                FROM $pairs},
            '0|0|0|0|0|0|t', "$table: each probe has the answer of its row's filter, ordered by $order" ];
    }
}
results_are($node, @tests);
for my $join ('enable_hashjoin', 'enable_mergejoin', 'enable_nestloop') {
    my $off = join '; ', map { "SET $_ = off" }
      grep { $_ ne $join } qw(enable_hashjoin enable_mergejoin enable_nestloop);
    is(query("$off; SELECT count(*) FROM many JOIN probes ON id = v WHERE f @> v"),
        200, "each of 200 joined filters contains its value, $join");
}
is( query('SELECT count(*) FROM probes WHERE (SELECT f FROM many WHERE id = v) @> v'),
    200, 'a subquery that returns another filter for each row: each contains its value');
is( query('SELECT count(*), sum(v) FROM probes WHERE (SELECT f FROM many WHERE id = 77) @> v'),
    '1|77', 'a subquery that returns one filter for all rows: only its member is found');
is( query('SELECT count(*) FROM many a JOIN many b ON b.id = 201 - a.id'
          . ' WHERE a.f @> a.id AND b.f @> b.id AND NOT a.f @> b.id'),
    200, 'two filters in one row: each is probed for its own value');
is( query('SELECT sum((CASE WHEN v % 2 = 0 THEN m.f ELSE t.f END @> v)::int)'
          . ' FROM probes JOIN many m ON m.id = v JOIN tiny t ON t.id = v'),
    200, 'one call site with stored and inline filters in turn: each contains its value');
is( query('SELECT sum((CASE WHEN v % 2 = 0 THEN m.f WHEN v % 3 = 0 THEN c.f END @> v)::int),'
          . ' count(*) FROM probes JOIN many m ON m.id = v JOIN compressed c ON c.id = v'),
    '133|200',
    'one call site with stored, compressed and NULL filters in turn: all but NULL contain their value');

# One call site probes one filter. Another call site probes many filters, which evict the first one
# from the cache and take its memory.
for my $table (qw(many short linked guava parquet counting counting_pages cuckoo)) {
    is( query(qq{
        SET work_mem = '64kB';
        SELECT count(*), count(*) FILTER (WHERE one_answer = (g = 77)),
          count(*) FILTER (WHERE each_answer = (g = id))
        FROM (SELECT id, g, (SELECT f FROM $table WHERE id = 77) @> g AS one_answer,
            f @> g AS each_answer
          FROM $table, generate_series(1, 200) g ORDER BY id, g OFFSET 0) asked}),
    '40000|40000|40000', "$table: a filter that is evicted between two probes has the right answers");
}

# Inline values, all of the same length: nothing that is known of one filter may be used for the next.
is( query(q{
        CREATE TABLE alike AS
        SELECT i, bf_create_by_size(1536, 1 + i % 16, i / 16)
          + CASE i % 3 WHEN 0 THEN i END::int + CASE i % 3 WHEN 1 THEN i::text END
          + CASE i % 3 WHEN 2 THEN i END::numeric AS f
        FROM generate_series(0, 999) i;
        SELECT count(*), count(DISTINCT pg_column_size(f)),
          count(*) FILTER (WHERE CASE i % 3 WHEN 0 THEN f @> i WHEN 1 THEN f @> i::text
            ELSE f @> i::numeric END),
          count(*) FILTER (WHERE f @> i::text::bf_literal)
        FROM (SELECT * FROM alike ORDER BY hashint4(i) OFFSET 0) shuffled}),
    '1000|1|1000|1000',
    'inline filters of one length, but many geometries, seeds and element types, contain their values');
is( query(q{
        CREATE TABLE sevens AS
        SELECT CASE i % 10 WHEN 0 THEN f + 7 WHEN 1 THEN f + 7::numeric ELSE f + '7'::text END AS f
        FROM generate_series(1, 300) i, LATERAL (SELECT bf_create_by_size(1536, 6, i / 7) AS f) empty;
        PREPARE ask (unknown) AS SELECT count(*) FILTER (WHERE f @> $1) FROM sevens;
        SELECT count(*) FILTER (WHERE f @> '7'), count(*) FILTER (WHERE f @> '8') < 10,
          count(*) FILTER (WHERE f + '9' @> '9' AND NOT f + '9' = f) FROM sevens;
        EXECUTE ask ('7')}),
    "300|t|300\n300", 'one literal or parameter is found in filters of many seeds and element types');
for my $text ('i::text', 'i') {
    my $rest = $text eq 'i' ? 1 : 0;
    my ($code, undef, $error) = $node->psql('postgres',
        "SELECT count(*) FILTER (WHERE f @> $text) FROM (SELECT * FROM alike"
          . " WHERE i % 3 = $rest OR i = 998 - $rest ORDER BY i OFFSET 0) x");
    like($error, qr/bloom filter holds \w+ values, but the value is/,
        'a filter of another element type after many of the right type is an error');
}

# Filters of three types in turn, and multiplicities in the same query as probes
is( query(q{
        SELECT sum((CASE v % 3 WHEN 0 THEN m.f @> v WHEN 1 THEN c.f @> v ELSE k.f @> v END)::int),
          sum(cbf_multiplicity(c.f, v) + cf_multiplicity(k.f, v) + (c.f @> v AND k.f @> v)::int),
          sum(cbf_multiplicity(c.f + v, v) + cf_multiplicity(k.f + v, v)),
          count(*) FILTER (WHERE c.f @> v + 1 AND k.f @> v + 1)
        FROM probes JOIN many m ON m.id = v JOIN counting c ON c.id = v JOIN cuckoo k ON k.id = v}),
    '200|600|800|0', 'filters of three types in one query: each has its own answers and multiplicities');

# One row is updated between probes.
is( query(q{
        BEGIN;
        SELECT f @> 1, f @> 2 FROM one;
        UPDATE one SET f = f + 2;
        SELECT f @> 1, f @> 2 FROM one;
        SAVEPOINT s;
        UPDATE one SET f = bf_clear(f) + 3;
        SELECT f @> 1, f @> 2, f @> 3 FROM one;
        ROLLBACK TO s;
        SELECT f @> 1, f @> 2, f @> 3 FROM one;
        ROLLBACK;
        SELECT f @> 1, f @> 2 FROM one}),
    "t|f\nt|t\nf|f|t\nt|t|f\nt|f", 'probes see a row after each update, and after ROLLBACK TO and ROLLBACK');

# The same in one session with plans and functions that are kept, so that their call sites are kept
my $probing = q{
    PREPARE probe (int) AS SELECT f @> $1 FROM one;
    CREATE FUNCTION probe(v int) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN RETURN (SELECT f @> v FROM one); END $$;
    CREATE FUNCTION probe_value(f bloomfilter, v int) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN RETURN f @> v; END $$;
    SET plan_cache_mode = %s;
    EXECUTE probe (1); EXECUTE probe (2);
    SELECT probe(1), probe(2), probe_value(f, 1), probe_value(f, 2) FROM one;
    UPDATE one SET f = bf_clear(f) + 2;
    EXECUTE probe (1); EXECUTE probe (2);
    SELECT probe(1), probe(2), probe_value(f, 1), probe_value(f, 2) FROM one;
    BEGIN;
    SAVEPOINT s;
    UPDATE one SET f = bf_clear(f) + 1;
    SELECT probe(1), probe(2), probe_value(f, 1), probe_value(f, 2) FROM one;
    ROLLBACK TO s;
    SELECT probe(1), probe(2), probe_value(f, 1), probe_value(f, 2) FROM one;
    UPDATE one SET f = bf_clear(f) + 1;
    COMMIT;
    EXECUTE probe (1); EXECUTE probe (2);
    VACUUM FULL one;
    SELECT probe(1), probe(2), probe_value(f, 1), probe_value(f, 2) FROM one;
    DROP FUNCTION probe; DROP FUNCTION probe_value};
for my $mode (qw(force_generic_plan force_custom_plan)) {
    is( query(sprintf $probing, $mode), join("\n", qw(
            t f t|f|t|f
            f t f|t|f|t
            t|f|t|f f|t|f|t
            t f t|f|t|f)),
        "kept plans and functions see the row after each update and rollback, $mode");
}
is( query(q{
        CREATE FUNCTION changing(v int) RETURNS boolean LANGUAGE plpgsql AS $$
          BEGIN
            UPDATE one SET f = bf_clear(f) + v;
            RETURN (SELECT f @> v AND NOT f @> v - 1 AND NOT f @> v + 1 FROM one);
          END $$;
        SELECT count(*) FROM generate_series(1, 300) v WHERE changing(v);
        UPDATE one SET f = bf_clear(f) + 1}),
    300, 'a row that is updated 300 times within a query: each probe sees the last update');

# Another filter takes the place of a deleted filter in the table.
is( query(q{
        CREATE TABLE reused (f bloomfilter);
        CREATE FUNCTION asked(v int) RETURNS boolean LANGUAGE plpgsql AS $$
          BEGIN RETURN (SELECT f @> v FROM reused); END $$;
        INSERT INTO reused VALUES (bf_create(10000) + 1);
        SELECT asked(1), asked(2);
        TRUNCATE reused;
        INSERT INTO reused VALUES (bf_create(10000) + 2);
        SELECT asked(1), asked(2);
        DELETE FROM reused;
        VACUUM reused;
        INSERT INTO reused VALUES (bf_create(10000) + 1);
        SELECT asked(1), asked(2)}),
    "t|f\nf|t\nt|f",
    'after TRUNCATE, and after DELETE and VACUUM, probes see the new filter in the old place');

# PL/pgSQL variables
is( query(q{
        DO $$
          DECLARE
            f bloomfilter := bf_create(10000);
            stored bloomfilter;
            found int := 0;
          BEGIN
            FOR i IN 1 .. 500 LOOP
              ASSERT NOT f @> i + 100000 OR i > 100, 'found before it was added';
              f := bf_add(f, i);
              ASSERT f @> i AND f @> 1 AND f @> (i + 1) / 2, 'not found';
            END LOOP;
            FOR i IN 1 .. 200 LOOP
              SELECT many.f INTO stored FROM many WHERE id = i;
              ASSERT stored @> i AND NOT stored @> i + 1, 'not found in the stored filter';
              stored := stored + -i;
              ASSERT stored @> i AND stored @> -i, 'not found in the changed filter';
            END LOOP;
            FOR stored IN SELECT many.f FROM many ORDER BY id LOOP
              found := found + 1;
              ASSERT stored @> found AND NOT stored @> found + 1, 'not found in a loop';
            END LOOP;
          END $$;
        SELECT 'done'}),
    'done', 'probes of PL/pgSQL variables see each new assignment');

# Cursors
is( query(q{
        BEGIN;
        DECLARE held CURSOR WITH HOLD FOR SELECT id, f FROM many WHERE id <= 3 ORDER BY id;
        DECLARE open CURSOR FOR SELECT f @> v FROM one, generate_series(1, 2) v;
        FETCH open;
        UPDATE one SET f = bf_clear(f) + 2;
        FETCH open;
        SELECT f @> 1, f @> 2 FROM one;
        UPDATE many SET f = bf_clear(f) + (id + 1);
        COMMIT;
        CREATE FUNCTION of_cursor(OUT answers text) LANGUAGE plpgsql AS $$
          DECLARE held refcursor := 'held'; id int; f bloomfilter;
          BEGIN
            LOOP
              FETCH held INTO id, f;
              EXIT WHEN NOT FOUND;
              answers := concat_ws(' ', answers, f @> id, f @> id + 1);
            END LOOP;
          END $$;
        SELECT of_cursor();
        SELECT string_agg(concat_ws(' ', f @> id, f @> id + 1), ' ' ORDER BY id) FROM many
        WHERE id <= 3}),
    "t\nf\nf|t\nt f t f t f\nf t f t f t",
    'cursors see the filters of their snapshots, not the updated ones');

clean_log($node);
done_testing();
