# The aggregates' memory is small for many small groups, and for one large group it is bounded by
# work_mem and the filter. Bytes are measured twice: by the executor's count, and by the largest
# resident set of a fresh backend, compared with the same query under another aggregate.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

use constant MB => 1024 * 1024;

my $node = new_server('memory');

# 50 000 groups of 100 rows in one hash table, with all groups growing side by side or one by one
my $hashed = "SET enable_sort = off; SET work_mem = '4GB'";
my ($i, $g) = ('generate_series(1::bigint, 100)', 'generate_series(1, 50000)');
my %rows = ('side by side' => "(SELECT i, $g AS g FROM $i i) s",
    'one by one' => "(SELECT $i AS i, g FROM $g g) s");

# The memory that an aggregate takes, in the hash table and in the process.
sub measure {
    my ($aggregate, $rows) = @_;
    my ($process, $plan) = peak_memory($node, "$hashed; EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF)"
          . " SELECT g, $aggregate FROM $rows GROUP BY g");
    my ($count, $batches, $kilobytes) =
      $plan =~ /^HashAggregate.*rows=(\d+).*\n.*\n *Batches: (\d+)  Memory Usage: (\d+)kB/
      or die "no hash table: $plan";
    is("$count $batches", '50000 1', "$aggregate: 50 000 groups in one batch");
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
            cmp_ok($peer, '>', 50000 * 100 * 8, "array_agg(i) takes $peer bytes of $where");
            cmp_ok($ours, '<=', 1.3 * $peer, "$aggregate takes $ours bytes of $where");
        }
    }
}

# A group's state is no larger than its rows or its filter. Tested with 1000 groups of 1100 rows
# side by side and filters made for a million values, in one process and in several; and with 100
# groups of 40 000 rows, whose filters of 124 and 496 KB are smaller than the rows.
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
        is($count, 1000, '... of 1000 groups');
        cmp_ok($peak, '<', 200 * MB, "... which takes $peak bytes");
    }
    my $bytes = $node->safe_psql('postgres', "SELECT bytes FROM ${type}_sizing(100000, 0.01)");
    my $plan = $node->safe_psql('postgres', "$hashed; EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF)"
          . " SELECT ${type}_agg(i, 100000) FROM generate_series(1, 4000000) i GROUP BY i % 100");
    my ($kilobytes) = $plan =~ /Memory Usage: (\d+)kB/;
    cmp_ok(1024 * $kilobytes, '<=', 1.2 * 100 * ($bytes + 8192),
        "${type}_agg: ${kilobytes} kB of filters and their buffers");
}

# A parallel worker sends a head, and the hashes or the filter, whichever is smaller.
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
        '', "${type}_agg: what is sent is as large as it must be");
}

# What a backend takes that only counts rows: however many there are, since a set in a list of SELECT
# is made row by row.
my ($counting) = peak_memory($node, 'SELECT count(i) FROM (SELECT generate_series(1, 1000) AS i) rows');

# The memory that bf_agg takes in addition to that of count, the size of its filter, and the bytes of
# its files.
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
    cmp_ok($filter, '>', 12_000_000, 'the filter is for all values');
    cmp_ok($ours, '>=', $filter, "${work_mem}MB * $multiplier: $ours bytes include the filter");
    cmp_ok($ours, '<=', $limit + $filter + 8 * MB, '... and little else beyond the limit');
    cmp_ok($files, '>=', 8 * 10_000_000 - $limit, '... what has no room in memory is in files');
}

# Repetitions take no memory, and the sets that find them no more than the limit.
for (
    [ 'i % 100000', 64, 4 ], [ 'i / 100', 64, 4 ], [ 'i % 1000000', 16, 16 ], [ 'i / 4', 16, 16 ],
    [ 'i % 3000000', 4, 4 ]) {
    my ($value, $work_mem, $limit) = @$_;
    my ($ours, $filter) = self_sized($value, $rows, $work_mem, 1);
    cmp_ok($ours, '<=', $limit * MB + $filter + 8 * MB,
        "$value, ${work_mem}MB: $ours bytes for a filter of $filter");
}

# As many distinct values as fill half of an array, and only new values after repetitions that are
# in files already
for (
    [ 'i % 1048000', 32, 'generate_series(1, 3000000) i' ],
    [ 'i % 1049500', 32, 'generate_series(1, 3000000) i' ],
    [ 'CASE WHEN i <= 5000000 THEN i * 100 / 205 % 300000 ELSE i END', 8,
        'generate_series(1::bigint, 7000000) i' ]) {
    my ($value, $work_mem, $from) = @$_;
    my $stream = "FROM (SELECT $value AS v FROM (SELECT " . ($from =~ s/ i$/ AS i/r) . ') g) s';
    my ($ours, $filter) = self_sized('v', $stream, $work_mem, 1);
    cmp_ok($ours, '<=', $work_mem * MB + $filter + 8 * MB,
        "$value, ${work_mem}MB: $ours bytes for a filter of $filter");
}

# Counting and cuckoo filters. The filter's memory is measured by the filter itself, because looking
# into a counting one takes a Bloom filter beside it. Up to 65 536 distinct values, a counting
# filter keeps 15 copies of each in memory, whatever the limit: 16 MB.
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
    cmp_ok($filter, '>=', $least, "$settings: the filter is for all values");
    cmp_ok($ours, '<=', $limit * MB + $filter + 8 * MB,
        "... $ours bytes are the filter's $filter and little else beyond the limit");
    cmp_ok($files, $least_files ? '>=' : '==', $least_files, "... $files bytes of files");
}

# Hashing a value leaves no memory behind.
$rows = 'FROM (SELECT generate_series(1, 600000) AS i) rows';
for my $value (
    'i / 7.0', q{(i || repeat('7', 100))::numeric}, q{jsonb_build_object('a', array[i, i + 1])},
    q{array['a' || i, NULL]}, q{ROW(i, 'a' || i)}, 'numrange(i, i + 1)') {
    my ($peak) = peak_memory($node, "SELECT bf_agg($value, 1000) IS NULL $rows");
    cmp_ok($peak - $counting, '<=', 8 * MB, "$value: " . ($peak - $counting) . ' bytes');
}

# Hashing a value of many parts takes little memory beside the value itself: at most four times its
# size.
for my $value (
    'array_agg(i::numeric)', 'jsonb_agg(i)', 'jsonb_object_agg(i, NULL)', 'array_agg(i % 2 = 0)',
    'array_agg(int4range(i, i + 1))', 'range_agg(int4range(2 * i, 2 * i + 1))', 'array_agg(ROW(i))',
    'array_agg(ROW(i, ROW(i::numeric)))',
    q{array_agg(ROW(i, ROW(repeat('a', 3000)::varchar))) FILTER (WHERE i <= 30000)},
    q{ROW(1, array_agg((i % 2)::text::"char"))}) {
    my $made = "(SELECT $value AS v FROM generate_series(1, 300000) i OFFSET 0) s";
    my ($least, $size) = peak_memory($node, "SELECT pg_column_size(v) FROM $made WHERE bf_hash(1) IS NOT NULL");
    my ($peak) = peak_memory($node, "SELECT bf_hash(v) IS NULL FROM $made");
    cmp_ok($size, '>=', 300_000, "$value: a value of $size bytes");
    cmp_ok($peak - $least, '<=', 4 * $size + MB, '... whose hash takes ' . ($peak - $least));
}

# A build that runs again for each row of another table keeps nothing of each time, and conditions
# that probe many filters are not compiled for each of them.
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
    ok(plan_of($node, $serial, $query) =~ /Bloom Filter (?:Build|Scan)/, substr $query, 0, 60);
    my ($least) = peak_memory($node, "$serial; SET bloomfilter.scan = off; $query");
    my ($peak) = peak_memory($node, "$serial; $query");
    cmp_ok($peak - $least, '<=', 50 * MB, '... takes ' . ($peak - $least) . ' bytes more by pages');
}

# Probes of two types that take turns leave no memory behind.
my @peaks;
for my $probed ('i + 1', 'ARRAY[i]') {
    my ($peak) = peak_memory($node,
        'SELECT count(*) FROM generate_series(1, 200000) i, (SELECT bf_create(10) AS f OFFSET 0) s'
          . " WHERE f @>> (CASE i % 2 WHEN 0 THEN bloomfilter_probe(i) ELSE bloomfilter_probe($probed) END)");
    push @peaks, $peak;
}
cmp_ok($peaks[1] - $peaks[0], '<=', 8 * MB, 'probes of two types take '
      . ($peaks[1] - $peaks[0]) . ' bytes more than those of one');

# A build of a partitioned table has the states of its partitions one after the other.
$node->safe_psql('postgres', q{CREATE TABLE parts (part int, i int) PARTITION BY RANGE (part);
    SELECT format('CREATE TABLE parts_%1$s PARTITION OF parts FOR VALUES FROM (%1$s) TO (%1$s + 1)', p)
    FROM generate_series(1, 40) p \gexec
    INSERT INTO parts SELECT 1 + i % 40, i FROM generate_series(1, 800000) i; ANALYZE parts});
for my $argument ('', ', 800000') {
    my $query = 'SELECT ' . join(', ', map { "bf_count(bf_agg(i + $_$argument))" } 1 .. 8) . ' FROM parts';
    my $serial = "SET max_parallel_workers_per_gather = 0; SET work_mem = '16MB'";
    ok(plan_of($node, $serial, $query) =~ /Append\n.*Bloom Filter Build/, "of partitions: $argument");
    my ($least) = peak_memory($node, "$serial; SET bloomfilter.scan = off; $query");
    my ($peak) = peak_memory($node, "$serial; $query");
    cmp_ok($peak - $least, '<=', 30 * MB, '... takes ' . ($peak - $least) . ' bytes more by pages');
}

clean_log($node);
done_testing();
