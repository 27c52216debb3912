# The aggregates take little memory for many small groups. For one large group, their memory is bounded
# by work_mem and the size of the filter. Memory is measured in two ways: as the executor counts it,
# and as the largest resident set of a new backend, compared with the same query and another aggregate.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

use constant MB => 1024 * 1024;

my $node = new_server('memory');

# 50 000 groups of 100 rows in one hash table. The groups get their rows in turn, or one group after
# the other.
my $hashed = "SET enable_sort = off; SET work_mem = '4GB'";
my ($i, $g) = ('generate_series(1::bigint, 100)', 'generate_series(1, 50000)');
my %rows = ('side by side' => "(SELECT i, $g AS g FROM $i i) s",
    'one by one' => "(SELECT $i AS i, g FROM $g g) s");

# Returns the bytes of memory of a query with an aggregate: of the hash table, and of the process.
sub measure {
    my ($aggregate, $rows) = @_;
    my ($process, $plan) = peak_memory($node, "$hashed; EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF)"
          . " SELECT g, $aggregate FROM $rows GROUP BY g");
    my ($count, $batches, $kilobytes) =
      $plan =~ /^HashAggregate.*rows=(\d+).*\n.*\n *Batches: (\d+)  Memory Usage: (\d+)kB/
      or die "no hash table: $plan";
    is("$count $batches", '50000 1', "$aggregate: the hash table has 50 000 groups in one batch");
    return (1024 * $kilobytes, $process);
}

for my $order (sort keys %rows) {
    my @least = measure('count(i)', $rows{$order});
    my @peer = measure('array_agg(i)', $rows{$order});
    for my $aggregate ('bf_agg(i)', 'bf_agg(i, 100)', 'cf_agg(i, 100)') {
        next if $aggregate =~ /^c/ && $order eq 'one by one';
        my @ours = measure($aggregate, $rows{$order});
        for my $place (0, 1) {
            my $peer = $peer[$place] - $least[$place];
            my $ours = $ours[$place] - $least[$place];
            my $where = ('the hash table', 'the process')[$place] . ", $order";
            cmp_ok($peer, '>', 50000 * 100 * 8,
                "array_agg(i) takes $peer bytes of $where, 8 a value or more");
            cmp_ok($ours, '<=', 1.3 * $peer,
                "$aggregate takes $ours bytes of $where, at most 1.3 times as many as array_agg(i)");
        }
    }
}

# A group's state is not larger than the hashes of its rows, and not larger than its filter. The first
# test has 1000 groups of 1100 rows and filters for a million values, in one process and in several.
# The second has 100 groups of 40 000 rows, whose filters of 124 and 496 KB are smaller than the hashes.
$node->safe_psql('postgres', q{
    CREATE TABLE rows AS SELECT i % 1000 AS k, i FROM generate_series(1, 1100000) i;
    ANALYZE rows});
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
  . ' SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2';
for my $type ('bf', 'cbf') {
    for my $settings ($hashed, "$hashed; $parallel") {
        my $query = "SELECT count(f) FROM"
          . " (SELECT ${type}_agg(i, 1000000) AS f FROM rows GROUP BY k OFFSET 0) grouped";
        my $plan = $settings eq $hashed
          ? qr/->  HashAggregate\n/ : qr/->  Finalize HashAggregate\n.*->  Partial HashAggregate\n/s;
        like(plan_of($node, $settings, $query), $plan, "${type}_agg: the plan has a hash table");
        my ($peak, $count) = peak_memory($node, "$settings; $query");
        is($count, 1000, "${type}_agg: 1000 groups have filters");
        cmp_ok($peak, '<', 200 * MB, "... and the backend takes $peak bytes, less than 200 MB");
    }
    my $bytes = $node->safe_psql('postgres', "SELECT bytes FROM ${type}_sizing(100000, 0.01)");
    my $plan = $node->safe_psql('postgres', "$hashed; EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF)"
          . " SELECT ${type}_agg(i, 100000) FROM generate_series(1, 4000000) i GROUP BY i % 100");
    my ($kilobytes) = $plan =~ /Memory Usage: (\d+)kB/;
    cmp_ok(1024 * $kilobytes, '<=', 1.2 * 100 * ($bytes + 8192),
        "${type}_agg: ${kilobytes} kB for 100 groups, little more than their filters and buffers");
}

# A parallel worker sends a head, followed by the hashes or by the filter's bits, whichever is smaller.
$node->safe_psql('postgres', qq{
    CREATE AGGREGATE bf("any", float8)
      (SFUNC = bloomfilter_agg_trans, STYPE = internal, FINALFUNC = bloomfilter_agg_serial);
    CREATE AGGREGATE cbf("any", float8)
      (SFUNC = countingbloomfilter_agg_trans, STYPE = internal, FINALFUNC = bloomfilter_agg_serial)});
for my $type ('bf', 'cbf') {
    is( $node->safe_psql('postgres', qq{
            SELECT rows, expected FROM unnest(ARRAY[1, 12, 1000, 1100, 20000, 70000]) rows,
              unnest(ARRAY[1, 1000, 10000, 1000000]) expected, ${type}_create(expected) empty,
              LATERAL (SELECT length($type(i, expected)) AS sent FROM generate_series(1, rows) i) s
            WHERE sent <> 24 + least(8 * rows, length(empty::bytea) - 36)}),
        '', "${type}_agg: a worker's state has 24 bytes and the smaller of hashes and filter");
}

# The memory of a backend that only counts rows. It does not depend on the number of rows, because
# the server makes the rows of a set in a SELECT list one by one.
# A frame without rows gets a state of its own, which is freed with the row.
{
    my $frames = q{SELECT count(p) FROM (SELECT %s FILTER (WHERE i < 0) OVER (ORDER BY i) AS p FROM generate_series(1, 50000) i) s};
    my ($least) = peak_memory($node, sprintf $frames, 'count(i)');
    my ($peak) = peak_memory($node, sprintf $frames, 'bf_partial_agg(bf_element_of(i))');
    cmp_ok($peak, '<', $least + 8 * MB, 'states of 50 000 frames without rows are not kept');
}

my ($counting) = peak_memory($node, 'SELECT count(i) FROM (SELECT generate_series(1, 1000) AS i) rows');

# Returns the memory that bf_agg takes in addition to count's, the size of its filter, and the bytes of
# its temporary files.
sub self_sized {
    my ($value, $rows, $work_mem, $multiplier) = @_;
    my ($peak, $filter, $files) = peak_memory($node,
        "SET work_mem = '${work_mem}MB'; SET hash_mem_multiplier = $multiplier;"
          . " SELECT bytes FROM (SELECT bf_agg($value) AS f $rows) made, bf_info(f)");
    return ($peak - $counting, $filter, $files);
}

# 10 million distinct values
my $rows = 'FROM (SELECT generate_series(1, 10000000) AS i) rows';
for ([ 4, 2 ], [ 64, 1 ], [ 64, 2 ]) {
    my ($work_mem, $multiplier) = @$_;
    my $limit = $work_mem * MB * $multiplier;
    my ($ours, $filter, $files) = self_sized('i', $rows, $work_mem, $multiplier);
    cmp_ok($filter, '>', 12_000_000, 'the filter is large enough for 10 million values');
    cmp_ok($ours, '>=', $filter, "${work_mem}MB * $multiplier: $ours bytes of memory include the filter");
    cmp_ok($ours, '<=', $limit + $filter + 8 * MB, '... and at most 8 MB more than the filter and the limit');
    cmp_ok($files, '>=', 8 * 10_000_000 - $limit, '... and hashes beyond the limit are in temporary files');
}

# Repeated values take no memory. The sets of hashes that recognise them take at most the limit.
for (
    [ 'i % 100000', 64, 4 ], [ 'i / 100', 64, 4 ], [ 'i % 1000000', 16, 16 ], [ 'i / 4', 16, 16 ],
    [ 'i % 3000000', 4, 4 ]) {
    my ($value, $work_mem, $limit) = @$_;
    my ($ours, $filter) = self_sized($value, $rows, $work_mem, 1);
    cmp_ok($ours, '<=', $limit * MB + $filter + 8 * MB,
        "$value, ${work_mem}MB: $ours bytes of memory for a filter of $filter and repeated values");
}

# Streams that are hard to bound: one with as many distinct values as fill half of an array, and one
# in which only new values follow repeated values that are in files already.
for (
    [ 'i % 1048000', 32, 'generate_series(1, 3000000) i' ],
    [ 'i % 1049500', 32, 'generate_series(1, 3000000) i' ],
    [ 'CASE WHEN i <= 5000000 THEN i * 100 / 205 % 300000 ELSE i END', 8,
        'generate_series(1::bigint, 7000000) i' ]) {
    my ($value, $work_mem, $from) = @$_;
    my $stream = "FROM (SELECT $value AS v FROM (SELECT " . ($from =~ s/ i$/ AS i/r) . ') g) s';
    my ($ours, $filter) = self_sized('v', $stream, $work_mem, 1);
    cmp_ok($ours, '<=', $work_mem * MB + $filter + 8 * MB,
        "$value, ${work_mem}MB: $ours bytes of memory for a filter of $filter");
}

# Counting and cuckoo filters. The filter's size is measured by pg_column_size(), because cbf_info()
# makes a Bloom filter of a counting filter and so takes more memory. Up to 65 536 distinct values,
# cbf_agg keeps 15 copies of each in memory, whatever the limit: 16 MB.
for (
    [ 'cbf_agg(i)', 10, '4MB', 2, 8, 47_000_000, 7e7 ],
    [ 'cbf_agg(i)', 10, '64MB', 1, 64, 47_000_000, 6e7 ],
    [ 'cf_agg(i)', 4, '4MB', 2, 8, 5_000_000, 3e7 ],
    [ 'cf_agg(i)', 10, '64MB', 1, 64, 13_000_000, 6e7 ],
    [ 'cbf_agg(i / 12)', 4, '4MB', 1, 16, 1_500_000, 2e7 ],
    [ 'cbf_agg(i / 160)', 10, '64kB', 1, 16, 300_000, 0 ],
    [ 'cbf_agg(i / 100)', 10, '64kB', 1, 16, 300_000, 1e6 ],
    [ 'cf_agg(i / 4)', 4, '4MB', 1, 4, 1_300_000, 4e6 ],
    [ 'cbf_agg(i % 1000)', 10, '64kB', 1, 2, 1, 0 ],
    [ 'cf_agg(i % 1000)', 10, '64kB', 1, 2, 1, 0 ],
    [ 'cf_agg(i % 60000)', 4, '64kB', 1, 2, 70_000, 0 ]) {
    my ($aggregate, $millions, $work_mem, $multiplier, $limit, $least, $least_files) = @$_;
    my $from = "FROM (SELECT generate_series(1, ${millions}000000) AS i) rows";
    my $settings = "$aggregate, $work_mem * $multiplier";
    my ($peak, $filter, $files) = peak_memory($node,
        "SET work_mem = '$work_mem'; SET hash_mem_multiplier = $multiplier;"
          . " SELECT pg_column_size(f) FROM (SELECT $aggregate AS f $from) made");
    my $ours = $peak - $counting;
    cmp_ok($filter, '>=', $least, "$settings: the filter is large enough for all values");
    cmp_ok($ours, '<=', $limit * MB + $filter + 8 * MB,
        "... and $ours bytes of memory are at most 8 MB more than the limit and the filter of $filter");
    cmp_ok($files, $least_files ? '>=' : '==', $least_files, "... and $files bytes of files are as expected");
}

# Memory for hashing a value is freed before the next value.
$rows = 'FROM (SELECT generate_series(1, 600000) AS i) rows';
for my $value (
    'i / 7.0', q{(i || repeat('7', 100))::numeric}, q{jsonb_build_object('a', array[i, i + 1])},
    q{array['a' || i, NULL]}, q{ROW(i, 'a' || i)}, 'numrange(i, i + 1)') {
    my ($peak) = peak_memory($node, "SELECT bf_agg($value, 1000) IS NULL $rows");
    cmp_ok($peak - $counting, '<=', 8 * MB, "$value: 600 000 values are hashed in "
          . ($peak - $counting) . ' bytes of memory');
}

# Hashing a value of many parts takes at most four times the size of the value.
for my $value (
    'array_agg(i::numeric)', 'jsonb_agg(i)', 'jsonb_object_agg(i, NULL)', 'array_agg(i % 2 = 0)',
    'array_agg(int4range(i, i + 1))', 'range_agg(int4range(2 * i, 2 * i + 1))', 'array_agg(ROW(i))',
    'array_agg(ROW(i, ROW(i::numeric)))',
    q{array_agg(ROW(i, ROW(repeat('a', 3000)::varchar))) FILTER (WHERE i <= 30000)},
    q{ROW(1, array_agg((i % 2)::text::"char"))}) {
    my $made = "(SELECT $value AS v FROM generate_series(1, 300000) i OFFSET 0) s";
    my ($least, $size) = peak_memory($node, "SELECT pg_column_size(v) FROM $made WHERE bf_hash(1) IS NOT NULL");
    my ($peak) = peak_memory($node, "SELECT bf_hash(v) IS NULL FROM $made");
    cmp_ok($size, '>=', 300_000, "$value: the value is large, $size bytes");
    cmp_ok($peak - $least, '<=', 4 * $size + MB, '... and hashing it takes ' . ($peak - $least) . ' bytes');
}

# A build that runs for each row of another table frees its memory after each run. The conditions of a
# scan that probes many filters are not compiled for each filter.
$node->safe_psql('postgres', q{CREATE TABLE few AS SELECT 1 AS k;
    CREATE TABLE many AS SELECT i AS k FROM generate_series(1, 20000) i; ANALYZE few, many});
for my $query ('SELECT count(f) FROM generate_series(1, 100000) g,'
      . ' LATERAL (SELECT bf_agg(k, 100, 0.01) AS f FROM few WHERE k < g % 2 + 2 OFFSET 0) s',
    'SELECT count(f) FROM generate_series(1, 100000) g,'
      . " LATERAL (SELECT bf_agg(k, 100, 0.01, 'guava') AS f FROM few WHERE k < g % 2 + 2 OFFSET 0) s",
    'SELECT count(*) FROM many WHERE '
      . join ' AND ', map { "bf_create(1000) + $_ + 1 @> k" } 1 .. 1000) {
    my $serial = 'SET max_parallel_workers_per_gather = 0; SET jit = off';
    $serial .= '; SET cpu_operator_cost = 0' if $query !~ /bf_agg/;
    ok(plan_of($node, $serial, $query) =~ /Bloom Filter (?:Build|Scan)/,
        'the plan has a build or a scan: ' . substr $query, 0, 60);
    my ($least) = peak_memory($node, "$serial; SET bloomfilter.scan = off; $query");
    my ($peak) = peak_memory($node, "$serial; $query");
    cmp_ok($peak - $least, '<=', 50 * MB,
        '... which takes ' . ($peak - $least) . ' bytes more than without a build or scan');
}

# Probes whose values have two types in turn free their memory.
my @peaks;
for my $probed ('i + 1', 'ARRAY[i]') {
    my ($peak) = peak_memory($node,
        'SELECT count(*) FROM generate_series(1, 200000) i, (SELECT bf_create(10) AS f OFFSET 0) s'
          . " WHERE f @>> (CASE i % 2 WHEN 0 THEN bloomfilter_probe(i) ELSE bloomfilter_probe($probed) END)");
    push @peaks, $peak;
}
cmp_ok($peaks[1] - $peaks[0], '<=', 8 * MB, 'probes of two types in turn take '
      . ($peaks[1] - $peaks[0]) . ' bytes more than probes of one type');

# A build of a partitioned table has the state of only one partition in memory at a time.
$node->safe_psql('postgres', q{CREATE TABLE parts (part int, i int) PARTITION BY RANGE (part);
    SELECT format('CREATE TABLE parts_%1$s PARTITION OF parts FOR VALUES FROM (%1$s) TO (%1$s + 1)', p)
    FROM generate_series(1, 40) p \gexec
    INSERT INTO parts SELECT 1 + i % 40, i FROM generate_series(1, 800000) i; ANALYZE parts});
for my $argument ('', ', 800000') {
    my $query = 'SELECT ' . join(', ', map { "bf_count(bf_agg(i + $_$argument))" } 1 .. 8) . ' FROM parts';
    my $serial = "SET max_parallel_workers_per_gather = 0; SET work_mem = '16MB'";
    ok(plan_of($node, $serial, $query) =~ /Append\n.*Bloom Filter Build/,
        "the plan has a build of each partition, with arguments (i$argument)");
    my ($least) = peak_memory($node, "$serial; SET bloomfilter.scan = off; $query");
    my ($peak) = peak_memory($node, "$serial; $query");
    cmp_ok($peak - $least, '<=', 30 * MB,
        '... which takes ' . ($peak - $least) . ' bytes more than without builds');
}

# A bloompages index frees a value, and the text of a name that is looked for, before
# it reads the next.
$node->safe_psql('postgres', q{
    CREATE TABLE long_values AS SELECT repeat(i || 'x', 1000000) AS v FROM generate_series(1, 80) i;
    CREATE TABLE names AS SELECT 'n' AS v;
    CREATE INDEX ON names USING bloompages (v)});
my ($least) = peak_memory($node, 'SELECT max(length(v)) FROM long_values');
my ($peak) = peak_memory($node, 'CREATE INDEX ON long_values USING bloompages (v) WITH (pages_per_range = 1)');
cmp_ok($peak - $least, '<=', 30 * MB, 'an index of 80 values of 3 MB takes ' . ($peak - $least) . ' bytes to build');
my $lookups = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;'
  . ' SET enable_seqscan = off; SELECT count(*) FROM (SELECT (%s)::name AS k FROM generate_series(1, 300000) OFFSET 0) s JOIN names ON v = k';
my @names = map { (peak_memory($node, sprintf $lookups, $_))[0] } 'NULL', q{repeat('n', 60)};
cmp_ok($names[1] - $names[0], '<=', 8 * MB, 'lookups of 300000 names take ' . ($names[1] - $names[0]) . ' bytes');

clean_log($node);
done_testing();
