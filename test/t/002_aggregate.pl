# bf_agg, cbf_agg and cf_agg give the same bytes however they are computed: serial or parallel, in
# memory or spilled, hashed or sorted, in any order, compiled or not, with every kernel. They are the
# bytes of a filter to which the values were added one by one. Repeated values do not change the bytes
# of bf_agg and cf_agg; cbf_agg counts them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('aggregate', conf => "max_worker_processes = 8\nsynchronize_seqscans = off\nbloomfilter.scan = off");

# Distinct values: all in i, a third in s, 50 000 in few, 1 in one. The groups of g have different
# sizes, up to some 300 000 rows.
$node->safe_psql('postgres', q{
    CREATE TABLE rows AS
      SELECT i::bigint, 'https://example.org/' || i / 3 AS s, i % 50000 AS few, 1 AS one,
        CASE WHEN i % 7 = 0 THEN NULL ELSE i END AS gaps, floor(log(i))::int AS g
      FROM generate_series(1, 400000) i;
    ALTER TABLE rows SET (parallel_workers = 3);
    CREATE TABLE parts (i bigint, s text, few int, one int, gaps int, g int)
      PARTITION BY HASH (i);
    SELECT format('CREATE TABLE parts_%s PARTITION OF parts
        FOR VALUES WITH (MODULUS 3, REMAINDER %s)', r, r) FROM generate_series(0, 2) r
    \gexec
    INSERT INTO parts SELECT * FROM rows;
    CREATE TABLE by_parameter (i int, p int) PARTITION BY LIST (p);
    CREATE TABLE with_0 PARTITION OF by_parameter FOR VALUES IN (0);
    CREATE TABLE with_1 PARTITION OF by_parameter FOR VALUES IN (1);
    INSERT INTO by_parameter SELECT i, i % 2 FROM generate_series(1, 1000) i;
    ANALYZE rows, parts, by_parameter});

# Calls of bf_agg and cf_agg: sized for a number of values and self-sized, for numbers of values that
# are counted exactly and for numbers that are estimated.
my @forms = (
    'bf_agg(i)', 'bf_agg(s)', 'bf_agg(few)', 'bf_agg(one)', 'bf_agg(gaps)',
    'bf_agg(i, 400000)', 'bf_agg(i, 100)', 'bf_agg(s, 10000, 0.0001)', 'bf_agg(one, 10)',
    'bf_agg(i, NULL, 0.001)', 'bf_agg(few, NULL, NULL)', 'bf_agg(i) FILTER (WHERE i <= 70000)',
    'bf_agg(ROW(i, s), 400000)', 'bf_agg(i) FILTER (WHERE false)', 'bf_agg(NULL::int, 20)',
    'bf_agg(i, 300) FILTER (WHERE false)', 'cf_agg(i, 300) FILTER (WHERE false)',
    # the hashes take as many bytes as the filter: never, for all partitions together, for one partition
    'bf_agg(i, 5000000)', 'bf_agg(i, 2000000)', 'bf_agg(i, 700000)',
    'bf_agg(i, 700000) FILTER (WHERE i <= 10000 OR satisfies_hash_partition(\'parts\'::regclass, 3, 0, i))',
    'bf_agg(i, 700000) FILTER (WHERE i <= 10000 OR satisfies_hash_partition(\'parts\'::regclass, 3, 2, i))',
    'cf_agg(i, 10000)', 'cf_agg(few)', 'cf_agg(NULL::int, 20)',
    # layouts with hashes of 128 bits, and bitmaps with an odd number of words
    "bf_agg(i, 2500001, 0.01, 'guava')", "bf_agg(i, 300004, 0.01, 'guava')",
    "bf_agg(i, 300000, 0.01, 'parquet')");

# Calls of cbf_agg: values that occur once, 3 times, 8 times, and more often than a counter can count
my @counting = (
    'cbf_agg(i)', 'cbf_agg(few)', 'cbf_agg(one)', 'cbf_agg(s, 10000, 0.0001)',
    'cbf_agg(i % 30000) FILTER (WHERE i <= 90000)', 'cbf_agg(NULL::int, 20)');

sub digests_of {
    return "SELECT concat_ws(' ', " . join(', ', map { "md5(($_)::bytea)" } @_) . ')';
}
my $digests = digests_of(@forms, @counting);
my $memory = q{work_mem = '64MB'};
my $spill = q{work_mem = '64kB'};
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
  . ' SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 3';

sub result { my ($settings, $query) = @_; return $node->safe_psql('postgres', "$settings; $query") }

# The expected bytes are those of a serial aggregate in memory. They are compared with filters to
# which the values were added one by one.
my ($truth, $no_bytes) = temp_bytes($node, "SET $memory; $digests FROM rows");
is($no_bytes, 0, 'with work_mem = 64MB, nothing is spilled');
is( result("SET $memory", q{
        SELECT bf_agg(i, 400000) = bf_add_all(bf_create(400000), array_agg(i)),
          bf_agg(s, 10000, 0.0001) = bf_add_all(bf_create(10000, 0.0001), array_agg(s)),
          bf_agg(few, 50000) = bf_add_all(bf_create(50000), array_agg(few)) FROM rows}),
    't|t|t', 'bf_agg makes the same filter as adding the values one by one');
for my $parameters ("2500001, 0.01, 'guava'", "300004, 0.01, 'guava'", "300000, 0.01, 'parquet'") {
    my ($expected, $rate, $layout) = split /, /, $parameters;
    is( result("SET $memory", qq{
            SELECT made = bf_add_all(bf_create($expected, $rate, layout => $layout), members),
              bits % 128 FROM (SELECT bf_agg(i, $parameters) AS made, array_agg(i) AS members FROM rows)
              a, bf_info(made)}),
        $layout eq q{'guava'} ? 't|64' : 't|0', "$parameters: the same filter as adding one by one");
}
# The 976 lines that 50 000 values take are rounded up to the 992 that 51 000 values take.
is( result("SET $memory", q{
        SELECT substr(self_sized::bytea, 37) = substr(sized::bytea, 37), expected
        FROM (SELECT bf_agg(few) AS self_sized, array_agg(few) AS members FROM rows) a,
          bf_info(self_sized), bf_add_all(bf_create(51000), members) AS sized}),
    't|50000', 'a self-sized filter has the bits of a filter that is sized for its size class');
is( result("SET $memory", q{
        SELECT cbf_agg(i, 400000) = cbf_add_all(cbf_create(400000), array_agg(i)),
          cbf_agg(s, 10000, 0.0001) = cbf_add_all(cbf_create(10000, 0.0001), array_agg(s)),
          cbf_agg(few, 50000) = cbf_add_all(cbf_create(50000), array_agg(few)),
          cbf_agg(one, 10) = cbf_add_all(cbf_create(10), array_agg(one)) FROM rows}),
    't|t|t|t', 'cbf_agg makes the same filter as adding the values one by one');
is( result("SET $memory", q{
        SELECT substr(self_sized::bytea, 37) = substr(sized::bytea, 37), expected
        FROM (SELECT cbf_agg(few) AS self_sized, array_agg(few) AS members FROM rows) a,
          cbf_info(self_sized), cbf_add_all(cbf_create(51000), members) AS sized}),
    't|50000', 'a self-sized counting filter has the counters of a filter that is sized for its size class');

# Values are added in ascending order of hashes, so non-negative bigints come first. The buckets of
# 400 000 values are rounded up to those of 404 683.
is( result("SET $memory", q{
        SELECT sized = sized_one_by_one,
          substr(self_sized::bytea, 37) = substr(one_by_one::bytea, 37), expected, stored
        FROM (SELECT cf_agg(i, 500000, 0.001) AS sized, cf_agg(i) AS self_sized,
            array_agg(i ORDER BY bf_hash(i) < 0, bf_hash(i)) AS members FROM rows) a,
          cf_info(self_sized), cf_add_all(cf_create(500000, 0.001), members) AS sized_one_by_one,
          cf_add_all(cf_create(404683), members) AS one_by_one}),
    't|t|400000|400000', 'cf_agg makes the same filter as adding one by one in the order of hashes');
# Without rows and without a number of values, bf_agg makes a filter that grows. A counting filter
# cannot grow, so this call is left out.
my @as_bloom = map { /^bf_agg(.*[^'].)$/ ? "(cbf_agg$1)::bloomfilter = bf_agg$1" : () }
  grep { $_ ne 'bf_agg(i) FILTER (WHERE false)' } @forms;
for my $work_mem ($memory, $spill) {
    is( result("SET $work_mem", 'SELECT ' . join(', ', @as_bloom) . ' FROM rows'),
        join('|', ('t') x @as_bloom),
        "$work_mem: every filter of cbf_agg, cast to bloomfilter, is the filter of bf_agg");
}
is( result("SET $memory", 'SELECT bool_and(of_i @> i AND of_s @> s) FROM rows,'
          . ' (SELECT bf_agg(i) AS of_i, bf_agg(s) AS of_s FROM rows) filters'),
    't', 'self-sized filters contain all their members');
is( result("SET $spill", 'SELECT bool_and(counting @> i), bool_and(cuckoo @> i),'
          . ' bool_and(cbf_multiplicity(counting_few, few) >= 8), max(gaps_info.stored) FROM rows,'
          . ' (SELECT cbf_agg(i) AS counting, cf_agg(i) AS cuckoo, cbf_agg(few) AS counting_few,'
          . ' cf_agg(gaps) AS cuckoo_gaps FROM rows) filters, cf_info(cuckoo_gaps) gaps_info'),
    't|t|t|342858', 'counting and cuckoo filters whose hashes were spilled contain and count their members');

# Little memory, other orders of the rows, repeated rows
my ($spilled, $bytes) = temp_bytes($node, "SET $spill; $digests FROM rows");
is($spilled, $truth, 'spilled: the same bytes');
cmp_ok($bytes, '>', 4 * 8 * 100000, "spilled: $bytes bytes of temporary files");
is(result("SET work_mem = '4MB'", "$digests FROM rows"), $truth, 'work_mem 4MB: the same bytes');
for my $order ('i DESC', 's', 'hashint8(i)') {    # the table itself is in the order of i
    my $from = "FROM (SELECT * FROM rows ORDER BY $order) ordered";
    is(result("SET $memory", "$digests $from"), $truth, "order by $order: the same bytes");
    is(result("SET $spill", "$digests $from"), $truth, "order by $order, spilled: the same bytes");
}
# Returns the expected digests if each row comes several times. For cbf_agg, the expected filter is a
# union of several copies of its filter.
sub repeated_truth {
    my ($times) = @_;
    my $number = 0;
    my $filters = join ', ', map { "$_ AS f" . $number++ } @counting;
    my $unions = join ', ', map { "md5(cbf_union_agg(f$_)::bytea)" } 0 .. $#counting;
    my $counts = result("SET $memory", "SELECT concat_ws(' ', $unions)"
          . " FROM (SELECT $filters FROM rows) made, generate_series(1, $times)");
    return join ' ', (split / /, $truth)[ 0 .. $#forms ], $counts;
}
my %repeated_truth = map { $_ => repeated_truth($_) } 2, 3;

for (
    [ 2, 'FROM (SELECT * FROM rows UNION ALL SELECT * FROM rows) repeated' ],
    [ 3, 'FROM (SELECT * FROM rows, generate_series(1, 3) ORDER BY hashint8(i)) repeated' ]) {
    my ($times, $repeated) = @$_;
    my $expected = $repeated_truth{$times};
    isnt($expected, $truth, "each row $times times: the expected filters differ from those of single rows");
    is(result("SET $memory", "$digests $repeated"), $expected, "each row $times times: the expected bytes");
    is(result("SET $spill", "$digests $repeated"),
        $expected, "each row $times times, spilled: the expected bytes");
}
is( result("SET $spill", 'SELECT md5(bf_agg(DISTINCT i)::bytea), md5(bf_agg(DISTINCT s, 10000,'
          . ' 0.0001)::bytea), md5(bf_agg(few ORDER BY s)::bytea) FROM rows'),
    join('|', (split / /, $truth)[ 0, 7, 2 ]), 'DISTINCT and ORDER BY: the same bytes');

# Partial aggregation: in workers, and in each partition
for my $leader (qw(on off)) {
    for my $work_mem ($memory, $spill) {
        my $settings = "$parallel; SET parallel_leader_participation = $leader; SET $work_mem";
        my $query = "$digests FROM rows";
        like(plan_of($node, $settings, $query),
            qr/Finalize Aggregate\n.*Gather\n.*Workers Planned: 3\n.*Partial Aggregate/,
            'the plan has partial aggregates in workers');
        is(result($settings, $query), $truth,
            "parallel, leader $leader, $work_mem: the same bytes");
    }
}
like(
    $node->safe_psql('postgres',
        "$parallel; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT bf_agg(i) FROM rows"),
    qr/Workers Launched: [1-3]/, 'parallel workers do run');
for my $work_mem ($memory, $spill) {
    my $settings = "SET enable_partitionwise_aggregate = on; SET $work_mem";
    my $query = "$digests FROM parts";
    like(plan_of($node, $settings, $query),
        qr/^Finalize Aggregate\n +->  Append\n +->  Partial Aggregate/,
        'the plan has a partial aggregate of each partition');
    is(result($settings, $query), $truth, "partitions, $work_mem: the same bytes");
}
# A spilled state sends the distinct values of its files, which contain repeated values. The table has
# each row three times now.
$node->safe_psql('postgres', 'INSERT INTO parts SELECT r.* FROM rows r, generate_series(1, 2)');
for my $settings ("SET $spill", "$parallel; SET $spill") {
    is(result("SET enable_partitionwise_aggregate = on; $settings", "$digests FROM parts"),
        $repeated_truth{3}, "partitions with each row three times, $settings: the expected bytes");
}

# Groups: hashed and sorted, with a hash table that fits and one that does not, in parallel
my $several = 'md5(bf_agg(i)::bytea), md5(bf_agg(few, 10)::bytea),'
  . ' md5(bf_agg(s, NULL, 0.001)::bytea), md5(cbf_agg(i)::bytea), md5(cbf_agg(few, 10)::bytea),'
  . ' md5(cbf_agg(s)::bytea), md5(cf_agg(i)::bytea), md5(cf_agg(s, 10)::bytea)';
my $of_all = result("SET $memory", "SELECT $several FROM rows");
my $groups = "SELECT g, $several";
my $sorted = 'SET enable_hashagg = off';
my $hashed = 'SET enable_sort = off';
my $of_groups = result("$sorted; SET $memory", "$groups FROM rows GROUP BY g ORDER BY g");
is( $of_groups,
    join("\n", map {
        result("SET $memory", "$groups FROM rows WHERE g = $_ GROUP BY g") } 0 .. 5),
    'with GROUP BY, each group has the filters of a query with the rows of this group alone');
my %strategy = (
    "$sorted; SET $memory" => 'GroupAggregate',
    "$sorted; SET $spill" => 'GroupAggregate',
    "$hashed; SET $memory" => 'HashAggregate',
    "$hashed; SET $spill" => 'HashAggregate',
    "$parallel; $sorted; SET $spill" => 'Partial GroupAggregate',
    "$parallel; $hashed; SET $spill" => 'Partial HashAggregate');
for my $settings (sort keys %strategy) {
    my $query = "SELECT * FROM ($groups FROM rows GROUP BY g OFFSET 0) grouped";
    like(plan_of($node, $settings, $query), qr/-> +$strategy{$settings}\n|^$strategy{$settings}\n/,
        "the plan is a $strategy{$settings}");
    my $result = join "\n", sort split /\n/, result($settings, $query);
    is($result, $of_groups, "$settings: the same bytes");
}
my $many = 'SELECT md5(string_agg(d, NULL ORDER BY k)) FROM'
  . ' (SELECT i % 30000 AS k, concat(md5(bf_agg(s)::bytea), md5(cbf_agg(s)::bytea),'
  . ' md5(cf_agg(s)::bytea)) AS d FROM rows GROUP BY i % 30000) grouped';
my ($one_batch) = temp_bytes($node, "$hashed; SET work_mem = '256MB'; $many");
my ($many_batches, $hash_bytes) = temp_bytes($node, "$hashed; SET $spill; $many");
is($many_batches, $one_batch, 'HashAggregate in many batches: the same bytes as in one batch');
cmp_ok($hash_bytes, '>', 0, 'HashAggregate with work_mem = 64kB wrote batches to temporary files');
for my $strategy ($sorted, $hashed) {
    my $settings = "$strategy; SET $spill";
    my $by = sub { return "$groups FROM rows GROUP BY $_[0] ORDER BY g" };
    my $sets = $by->('GROUPING SETS ((g), ())');
    is(result($settings, $sets), "$of_groups\n|$of_all", "grouping sets, $strategy: the same bytes");
    for my $same ('ROLLUP (g)', 'CUBE (g)') {
        is(plan_of($node, $settings, $by->($same)), plan_of($node, $settings, $sets),
            "... $same, $strategy: the same plan as GROUPING SETS");
    }
}

# Compiled by JIT, with all functions inlined
SKIP: {
    skip 'the server has no JIT', 2
      if result("SET jit = on", 'SELECT pg_jit_available()') ne 't';
    my $jit = 'SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = 0;'
      . " SET jit_optimize_above_cost = 0; SET $memory";
    like(result($jit, 'EXPLAIN (ANALYZE, TIMING OFF) SELECT bf_agg(i) FROM rows'),
        qr/^JIT:.*Inlining true/ms, 'the plan is compiled');
    is(result($jit, "$digests FROM rows"), $truth, 'compiled by JIT: the same bytes');
}

# Calls whose parameters differ between rows are an error, within a worker and between two workers.
my $differ = 'SELECT bf_agg(i, 100 + i % 2) FROM rows';
is(sqlstate($node, $differ), '22023', 'parameters that differ between rows are an error');
is(sqlstate($node, "$parallel; $differ"), '22023', '... also in parallel workers');
for my $form ('bf_agg(i, 100 + p)', 'bf_agg(i, 100, 0.01 + p / 100.0)',
    'bf_agg(i, CASE WHEN p = 1 THEN 100 END)', 'bf_agg(i, NULL, 0.01 + p / 100.0)',
    'cbf_agg(i, 100 + p)', 'cbf_agg(i, CASE WHEN p = 1 THEN 100 END)',
    'cf_agg(i, 1000, 0.01 + p / 100.0)', 'cf_agg(i, CASE WHEN p = 1 THEN 100 END)') {
    my $settings = 'SET enable_partitionwise_aggregate = on';
    my $query = "SELECT $form FROM by_parameter";
    like(plan_of($node, $settings, $query), qr/Partial Aggregate/, "the plan has partial aggregates: $form");
    is(sqlstate($node, "$settings; $query"), '22023', "$form, which differs between partitions, is an error");
}

# The scalar kernel, which all others must agree with
{
    local $ENV{BLOOMFILTER_KERNEL} = 'scalar';
    $node->restart;
}
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
like(slurp_file("/proc/$postmaster/environ"), qr/\bBLOOMFILTER_KERNEL=scalar\b/,
    'the server runs with BLOOMFILTER_KERNEL=scalar');
is(result("SET $memory", "$digests FROM rows"), $truth, 'scalar kernel: the same bytes');
is(result("SET $spill", "$digests FROM rows"), $truth, 'scalar kernel, spilled: the same bytes');
is(result("SET $memory", "$groups FROM rows GROUP BY g ORDER BY g"),
    $of_groups, 'scalar kernel, groups: the same bytes');

clean_log($node);
done_testing();
