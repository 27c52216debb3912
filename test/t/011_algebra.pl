# bf_union_agg and bf_intersect_agg over stored filters give the same bytes in every plan. They take
# the memory of a few filters, however many there are.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('algebra');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE TABLE parts (id int, f bloomfilter) PARTITION BY RANGE (id);
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (101);
    CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (101) TO (201);
    INSERT INTO parts SELECT id, bf_agg(i, 1000000)
      FROM generate_series(1, 200) id, generate_series(1, 1000) x, LATERAL (SELECT id * 10 + x AS i) v
      GROUP BY id;
    ALTER TABLE parts_1 SET (parallel_workers = 2);
    ALTER TABLE parts_2 SET (parallel_workers = 2);
    ANALYZE parts});
my $direct = query('SELECT md5(bf_agg(i, 1000000)::bytea) FROM generate_series(11, 3000) i');
my $union = 'SELECT md5(bf_union_agg(f)::bytea) FROM parts';
my $common = 'SELECT md5(bf_intersect_agg(f)::bytea) FROM parts WHERE id <= 50';
my $serial = query($common);

is(query($union), $direct, 'the union of all filters is the filter of all values');
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;'
  . ' SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
for my $setting ('SET enable_partitionwise_aggregate = off', 'SET enable_partitionwise_aggregate = on') {
    like(plan_of($node, "$parallel; $setting", $union), qr/Finalize Aggregate.*Gather.*Partial Aggregate/s,
        "$setting: the plan has partial aggregates in workers");
    is(query("$parallel; $setting; $union"), $direct, "$setting, parallel: the same union");
    is(query("$parallel; $setting; $common"), $serial, "$setting, parallel: the same intersection");
}

# The state is changed in place, so 200 filters of 1.2 MB take the memory of a few.
my ($least) = peak_memory($node, 'SELECT max(octet_length(f::bytea)) FROM parts');
for my $aggregate ('bf_union_agg(f)', 'bf_intersect_agg(f)') {
    my ($peak, $bytes) = peak_memory($node,
        "SELECT bytes FROM (SELECT $aggregate AS f FROM parts OFFSET 0) x, bf_info(f)");
    my $ours = $peak - $least;
    cmp_ok($bytes, '>', 1_200_000, "$aggregate of 200 filters makes a filter of $bytes bytes");
    cmp_ok($ours, '<=', 6 * $bytes, "$aggregate takes $ours bytes, the memory of at most six filters");
}
is(query($union), $direct, 'the stored filters have not changed');

# Unions of filters of several sizes, some of them self-sized, have the same links in every plan.
query(q{
    CREATE TABLE mixed AS
    SELECT id, CASE WHEN id % 20 = 0 THEN bf_agg(i) ELSE bf_agg(i, 1000 * (1 + id % 3)) END AS f
    FROM generate_series(1, 500) id, LATERAL generate_series(id, id * 2) i GROUP BY id;
    ALTER TABLE mixed SET (parallel_workers = 2);
    ANALYZE mixed});
my $linked = 'SELECT md5(bf_union_agg(f)::bytea) FROM mixed';
my $links = query('SET bloomfilter.overfill = ignore; SELECT links FROM mixed, bf_info((SELECT bf_union_agg(f)'
      . ' FROM mixed)) LIMIT 1');
is($links, 28, 'the union has a link for each of 3 sizes and for each of 25 self-sized filters');
like(plan_of($node, $parallel, $linked), qr/Finalize Aggregate.*Gather.*Partial Aggregate/s,
    'the plan of a union of several links has partial aggregates in workers');
is(query("SET bloomfilter.overfill = ignore; $parallel; $linked"),
    query("SET bloomfilter.overfill = ignore; $linked"), 'a union of several links is the same in parallel');

clean_log($node);
done_testing();
