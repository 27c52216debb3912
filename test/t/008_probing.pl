# What probes of a stored filter read: a single probe reads a few chunks, and many probes read the
# whole value once, wherever in the transaction they are. Copies take no more memory than the settings
# allow. Reads are counted in buffers; no time is measured.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('probing');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);
    INSERT INTO filters
      SELECT size || ' ' || rate, bf_agg(i, size, rate)
      FROM unnest(ARRAY[6000, 100000, 1000000, 10000000]) size,
        unnest(ARRAY[0.01, 0.0001]::float8[]) rate, generate_series(1, 1000) i
      GROUP BY size, rate;
    INSERT INTO filters SELECT 'other ' || n, bf_agg(i, 1000000, 0.01)
      FROM generate_series(1, 20) n, generate_series(n, n + 10) i GROUP BY n;
    CREATE TABLE parts (x int) PARTITION BY RANGE (x);
    SELECT format('CREATE TABLE part%s PARTITION OF parts FOR VALUES FROM (%s) TO (%s)',
      p, p * 1000, p * 1000 + 1000) FROM generate_series(0, 63) p \gexec
    INSERT INTO parts SELECT generate_series(0, 63999);
    VACUUM ANALYZE});

# Returns the number of buffers that a query touches in a session that has run it before.
sub buffers {
    my ($sql) = @_;
    my $plan = query("$sql; EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF, SUMMARY OFF) $sql");
    my @counts = $plan =~ /^ *Buffers: shared(.*)$/m or die "no buffers: $plan";
    my $total = 0;
    $total += $1 while $counts[0] =~ /(?:hit|read)=(\d+)/g;
    return $total;
}

my %chunks = map { split /\|/ } split /\n/, query(
    q{SELECT name, pg_column_size(f) / 1996 + 1 FROM filters WHERE name NOT LIKE 'other%'});

# Returns the most buffers that many probes may touch. Slices, of three buffers each, may be read until
# they have cost as many bytes as the whole filter. Then the whole filter is read once, not twice.
sub read_once {
    my ($name) = @_;
    my $whole = buffers("SELECT bf_check(f) FROM filters WHERE name = '$name'");
    return 3 * 1996 * $chunks{$name} / 8192 + 1.5 * $whole + 50;
}

for my $name (sort keys %chunks) {
    my $row = "FROM filters WHERE name = '$name'";
    my $least = buffers("SELECT f IS NULL $row");
    my $probe = buffers("SELECT f @> 1 $row");
    cmp_ok($probe - $least, '<=', 8, "$name: one probe touches " . ($probe - $least) . ' buffers');
    if ($chunks{$name} < 9) {
        my $whole = buffers("SELECT bf_check(f) $row");
        cmp_ok($probe, '<=', $whole, "$name: a short filter is read once, as a whole");
    }
    next if $chunks{$name} < 100;

    # With many probes, slices are read until they have cost as much as the whole filter.
    my $asks = $chunks{$name};
    my $once = read_once($name);
    my $many = buffers(
        "SELECT count(*) FROM generate_series(1, $asks) i WHERE (SELECT f $row) @> i");
    cmp_ok($many, '>', $chunks{$name} / 4, "$name: $asks probes read the whole filter");
    cmp_ok($many, '<', $once, "... once, after slices of the same cost: $many buffers");
}

# The number of an array's elements is known. So they are probed by slices if they are few, and in a
# copy that is made at once if they are many.
for my $name ('1000000 0.01', '10000000 0.01') {
    my $row = "FROM filters WHERE name = '$name'";
    my $array = sub { return "ARRAY(SELECT generate_series(-$_[0], -1))" };
    my $whole = buffers("SELECT bf_check(f) $row");
    my $enough = int($chunks{$name} / 4) + 1; # as many slices as cost a copy
    for my $ask ('bf_contains_each(f, %s)', 'bf_contains_any(f, %s)', 'NOT bf_contains_all(f, %s || 1)') {
        my $few = buffers('SELECT ' . sprintf($ask, $array->(10)) . " $row");
        cmp_ok($few, '<', 70, "$name: $ask of 10 touches only $few buffers");
        next if $name ne '1000000 0.01' && $ask !~ /each/; # these calls may end after 256 values
        my $many = buffers('SELECT ' . sprintf($ask, $array->($enough)) . " $row");
        cmp_ok($many, '>', $chunks{$name} / 4, "$name: $ask of $enough reads the whole filter");
        cmp_ok($many, '<=', $whole + 8 + 4 * $chunks{$name} / 512,
            "... without slices before: $many buffers");
    }
    is( query("SELECT bf_contains_each(f, a) = bf_contains_each(f::bytea::bloomfilter, a),"
              . ' bf_contains_each(f, a) = answers, cardinality(array_positions(answers, NULL))'
              . ' FROM (SELECT array_agg(nullif(i, i / 7 * 7) ORDER BY i) AS a FROM generate_series(1, 20000) i) asked,'
              . " filters, LATERAL (SELECT array_agg(f \@> v ORDER BY n) AS answers"
              . " FROM unnest(a) WITH ORDINALITY u (v, n)) one_by_one WHERE name = '$name'"),
        't|t|2857', "$name: bf_contains_each of 20 000 values, some NULL, has the answers of single probes");
}

# The session keeps the memory of a copy for the next copy. It keeps as much as the largest copy took,
# at most work_mem * hash_mem_multiplier and at most 32 MB. What an interrupted copy left in this
# memory is never probed.
query(q{
    INSERT INTO filters VALUES ('largest', bf_create(30000000) + 1);
    CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql AS $$
      SELECT coalesce(sum(total_bytes), 0) / 1024 FROM pg_backend_memory_contexts
      WHERE name = 'bloomfilter buffer' $$;
    CREATE FUNCTION found(asked text) RETURNS int LANGUAGE sql AS $$
      SELECT cardinality(array_positions(bf_contains_each(f, a), true))
      FROM filters, (SELECT array_agg(i) AS a FROM generate_series(1, 6000) i) s WHERE name = asked $$;
    CREATE FUNCTION interrupted(asked text) RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM f @> 1 AND pg_cancel_backend(pg_backend_pid())
          AND bf_contains_all(f, array_fill(1, ARRAY[256])) AND bf_contains_each(f, array_fill(1, ARRAY[6000])) IS NULL
        FROM filters WHERE name = asked;
        RETURN 'done';
      EXCEPTION WHEN query_canceled THEN
        RETURN 'interrupted';
      END $$});
sub kept {
    my ($expected, $than, $bytes, $sql, $name) = @_;
    my @lines = split /\n/, query("SET hash_mem_multiplier = 1; SET work_mem = '4MB'; $sql; SELECT kept()");
    cmp_ok(1024 * pop @lines, $than, $bytes, $name);
    is(join(' ', @lines), $expected, '... and each statement finds as many values as expected');
}
my ($small, $large) = ("SELECT found('1000000 0.01')", "SELECT found('10000000 0.01')");
my $found = query($small);
cmp_ok($found, '>=', 1000, 'the 1000 values that were added are found');
kept('', '==', 0, 'SELECT WHERE false', 'no memory is kept before the first copy');
kept("$found 1000", '>', 1_200_000, "$small; $large", 'the memory of a copy within the limit is kept');
kept("$found 1000", '<', 1_400_000, "$small; $large", 'the memory of a copy beyond the limit is not kept');
kept("$found 1000", '>', 12_000_000, "$small; SET work_mem = '16MB'; $large",
    'a larger copy takes its place');
kept("$found 1000 $found", '<', 8192, "SET work_mem = '16MB'; $small; $large; SET work_mem = '64kB'; $small",
    'kept memory is freed when the limit is lowered');
kept("$found 1", '<', 1_400_000, "SET work_mem = '1GB'; $small; SELECT found('largest')",
    'more than 32 MB is not kept');
kept("$found interrupted 1000 $found", '>', 12_000_000, "SET work_mem = '16MB'; $small;"
      . " SELECT interrupted('10000000 0.01'); $large; $small",
      'after an interrupted copy, its memory is used again');
kept("interrupted 1000 t", '>', 12_000_000, "SET work_mem = '16MB'; SELECT interrupted('1000000 0.01'); $large;"
      . " SELECT $found = (SELECT cardinality(array_positions(bf_contains_each(a.f, array(SELECT generate_series(1, 6000))), true))"
      . " + 0 * cardinality(bf_contains_each(b.f, array(SELECT generate_series(1, 6000)))) FROM filters a, filters b"
      . " WHERE a.name = '1000000 0.01' AND b.name = '10000000 0.01')",
      'two filters in one query share the kept memory');

# Each link of a filter costs a slice for each probe, and all links are copied together. In a filter of
# Guava's layout, each bit of a value is in another slice. In a cuckoo filter, a value may be in one of
# two buckets.
query(q{
    CREATE TABLE linked AS
    SELECT bf_agg(i, 6000) FILTER (WHERE i <= 2000) | bf_agg(i, 1000000) FILTER (WHERE i > 2000 AND i <= 9000)
      | bf_agg(i, 10000000) FILTER (WHERE i > 9000) AS f
    FROM generate_series(1, 20000) i;
    CREATE TABLE grown AS
    SELECT bf_add_all(bf_create(1000, grow => true), array_agg(i)) AS f FROM generate_series(1, 200000) i;
    CREATE TABLE parquet AS SELECT bf_agg(i, 1000000, 0.01, 'parquet') AS f FROM generate_series(1, 100000) i;
    CREATE TABLE guava AS SELECT bf_agg(i, 1000000, 0.01, 'guava') AS f FROM generate_series(1, 100000) i;
    CREATE TABLE hive AS SELECT bf_agg(i, 1000000, 0.05, 'hive') AS f FROM generate_series(1, 100000) i;
    CREATE TABLE counting AS SELECT cbf_agg(i, 1000000) AS f FROM generate_series(1, 100000) i;
    CREATE TABLE counting_pages AS SELECT cbf_agg(i, 400000, 0.0001) AS f FROM generate_series(1, 100000) i;
    CREATE TABLE cuckoo AS SELECT cf_agg(i, 3000000) AS f FROM generate_series(1, 2500000) i;
    CREATE TABLE cuckoo_wide AS SELECT cf_agg(i, 600000, 0.000000001) AS f FROM generate_series(1, 500000) i;
    VACUUM ANALYZE});
is(query('SELECT a.links, b.links FROM linked l, bf_info(l.f) a, grown g, bf_info(g.f) b'), '3|8',
    'the filters of several links have 3 and 8 links');
for (['linked', 3, 20000], ['grown', 8, 200000], ['parquet', 1, 100000], ['guava', 7, 100000], ['hive', 1, 100000],
    ['counting', 1, 100000], ['counting_pages', 1, 100000], ['cuckoo', 2, 2500000],
    ['cuckoo_wide', 2, 500000]) {
    my ($table, $links, $last) = @$_;
    my $prefix = $table =~ /counting/ ? 'cbf' : $table =~ /cuckoo/ ? 'cf' : 'bf';
    my $row = "FROM $table";
    my $probe = buffers("SELECT f @> -1 $row") - buffers("SELECT f IS NULL $row");
    cmp_ok($probe, '<=', 4 + 4 * $links, "$table: one probe touches $probe buffers");
    $chunks{$table} = query("SELECT pg_column_size(f) / 1996 + 1 $row");
    my $whole = buffers("SELECT ${prefix}_check(f) $row");
    my $limit = 3 * 1996 * $chunks{$table} / 8192 + 1.5 * $whole + 50;
    my $many = buffers(
        "SELECT count(*) FROM generate_series(1, $chunks{$table}) i WHERE (SELECT f $row) @> -i");
    cmp_ok($many, '>', $chunks{$table} / 4, "$table: many probes read the whole filter");
    cmp_ok($many, '<', $limit, "... once, after slices of the same cost: $many buffers");
    # Members of the first link and of the last link
    is( query("SELECT count(*) FROM generate_series(1, 1000) i WHERE (SELECT f $row) @> i"
              . " AND (SELECT f $row) @> $last - i"),
        1000, "$table: all members are found, by slices and then in the copy");
    my $by_slice = join '; ', map { "SELECT f @> $_ $row" } 1, $last / 2, $last;
    is(query($by_slice), "t\nt\nt", "$table: three members are found by slices, each in its own transaction");
    next if $prefix eq 'bf';

    # Each probe is in its own transaction, so that none is in a copy.
    my $members = 300;
    my $found = query("\\set QUIET on\n" . join ';', map {
        "SELECT f @> " . int($last * $_ / $members) . " $row" } 1 .. $members);
    is($found, join("\n", ('t') x $members), "$table: $members members are found by slices");

    # The multiplicity of a value is also read by slices at first, and then from one copy that all call
    # sites share.
    my $once = buffers("SELECT ${prefix}_multiplicity(f, -1) $row") - buffers("SELECT f IS NULL $row");
    cmp_ok($once, '<=', 4 + 4 * $links, "$table: one multiplicity touches only $once buffers");
    my $often = buffers("SELECT sum(${prefix}_multiplicity((SELECT f $row), i))"
          . ' FROM generate_series(1, 5000) i');
    cmp_ok($often, '<', $limit, "$table: 5000 multiplicities read the filter at most once: $often buffers");
    cmp_ok($often, '>', $chunks{$table} / 4, '... and they do read the whole filter');
    my $sites = join ' + ', map { "${prefix}_multiplicity(f, $_)" } 1 .. 64;
    my $of_sites = buffers("SELECT $sites $row");
    cmp_ok($of_sites, '<', $limit, "... as do multiplicities of 64 call sites: $of_sites buffers");
    $sites = join ' AND ', map { "f @> $_" } 1 .. 64;
    $of_sites = buffers("SELECT $sites $row");
    cmp_ok($of_sites, '<', $limit, "... and probes of 64 call sites: $of_sites buffers");
    is(query("SELECT $sites $row"), 't', '... which find all 64 members');
    $sites = join ' + ', map { "(f @> i + $_)::int" } 1 .. 64;
    $of_sites = buffers("SELECT sum($sites) $row, generate_series(1, 300) i");
    cmp_ok($of_sites, '<', $limit, "... and 300 probes of each of 64 call sites: $of_sites buffers");
    my $scan = buffers('SELECT count(*) FROM parts WHERE x > 5');
    my $filtered = buffers("SELECT count(*) FROM parts WHERE (SELECT f $row) @> x");
    cmp_ok($filtered - $scan, '<', $limit,
        "... and probes of 64 partitions: " . ($filtered - $scan) . ' buffers');
}

# 64 call sites share one copy.
my $filter = "(SELECT f FROM filters WHERE name = '10000000 0.01')";
my $scan = buffers('SELECT count(*) FROM parts WHERE x > 5');
my $filtered = buffers("SELECT count(*) FROM parts WHERE $filter @> x");
cmp_ok($filtered - $scan, '<', read_once('10000000 0.01'),
    '64 partitions read one filter once: ' . ($filtered - $scan) . ' buffers');

# Many large filters in turn, each probed often, take no more memory than the limit allows. The
# resident set includes shared buffers; bf_check, with which it is compared, reads the same buffers.
my $turns = q{SELECT sum(yes) > 0 FROM generate_series(1, 2000) i, LATERAL (
    SELECT count(*) AS yes FROM filters WHERE name LIKE 'other%' AND f @> i) s};
for my $work_mem (1, 16) {
    my $setting = "SET hash_mem_multiplier = 1; SET work_mem = '${work_mem}MB'";
    my ($least) =
      peak_memory($node, "$setting; SELECT count(*) FROM filters"
          . " WHERE name LIKE 'other%' AND bf_check(f) IS NULL");
    my ($peak, $count) = peak_memory($node, "$setting; $turns");
    is($count, 't', "work_mem of ${work_mem}MB: members are found in 20 filters that are probed in turn");
    cmp_ok($peak - $least, '<=', ($work_mem + 8) * 1024 * 1024,
        '... and copies take at most work_mem and 8 MB: ' . ($peak - $least) . ' bytes');
}

# Adding values that the filter already contains does not write the filter.
sub wal { my ($sql) = @_; return query("SELECT pg_current_wal_insert_lsn() AS before \\gset\n$sql;"
      . ' SELECT pg_current_wal_insert_lsn() - :\'before\'') }
query('CHECKPOINT');
for my $known ('f + 5', q{f + '5'}, 'bf_add_all(f, array[5, 6])', q{bf_add_all(f, '{}'::int[])},
    'bf_add_hash(f, bf_hash(7))', 'f + NULL::int') {
    my $bytes = wal("UPDATE filters SET f = $known WHERE name = '1000000 0.01'");
    cmp_ok($bytes, '<', 50_000, "$known changes nothing and writes only $bytes bytes of WAL");
}
my $bytes = wal("UPDATE filters SET f = f + 123456789 WHERE name = '1000000 0.01'");
cmp_ok($bytes, '>', 1_000_000, "adding a new value writes the whole filter, $bytes bytes of WAL");

clean_log($node);
done_testing();
