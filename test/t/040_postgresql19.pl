# Features that PostgreSQL 19 has and older versions lack: aggregates below joins, names of subqueries,
# NOT IN as an antijoin, advice for plans, REPACK, scans that mark pages as all-visible, and new types.
# Virtual generated columns are also tested here.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

plan skip_all => 'the server is older than PostgreSQL 19' if `pg_config --version` =~ /^PostgreSQL 1[5-8](?!\d)/;

my $node = new_server('postgresql19', conf => "wal_level = logical\nmax_worker_processes = 16\n");

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# --- aggregates below joins -------------------------------------------------------------------------

# Each row of `fact` is joined with ten rows of `link`, so the server aggregates before it joins. The
# result has ten groups or thousands.
query(q{
    CREATE TABLE fact AS SELECT i AS id, i % 500 AS g, i % 7000 AS x, bf_create(50) + i % 3000 AS f,
      (SELECT bf_partial_agg(bf_element_of(j)) FROM generate_series(i % 700, i % 700 + 1) j) AS bf_partial
    FROM generate_series(1, 20000) i;
    CREATE TABLE link AS SELECT i % 500 AS g, i % 10 AS few, i % 5000 AS many FROM generate_series(1, 5000) i;
    ALTER TABLE fact ADD cbf countingbloomfilter, ADD cf cuckoofilter;
    UPDATE fact SET cbf = cbf_create(50) + x, cf = cf_create(50) + x WHERE id <= 5000;
    VACUUM ANALYZE fact, link});
my @below = (
    (map { my $prefix = $_; map { "${prefix}_agg($_)" } 'x', 'x, 7000', 'x, 500, 0.001', 'NULLIF(x, 3)' } qw(bf cbf cf)),
    q{bf_agg(x, 7000, 0.01, 'guava')}, 'bf_agg((x, id % 3))', 'bf_agg(x) FILTER (WHERE x > 5000)',
    'bf_dist_agg(bf_element_of(x))', 'bf_dist_agg(bf_element_of(x), 7000)', 'bf_partial_agg(bf_element_of(x))',
    'bf_merge_agg(bf_partial)', 'bf_union_agg(f)', 'bf_intersect_agg(f)', 'cbf_union_agg(cbf)');
for my $key (qw(few many)) {
    # A cuckoo filter can store at most eight copies of a value, but each group of `few` has ten.
    for my $call (@below, $key eq 'many' ? 'cf_union_agg(cf) FILTER (WHERE id <= 500)' : ()) {
        my $from = "SELECT $key, $call AS f FROM fact JOIN link USING (g) GROUP BY $key";
        my $digest = "SELECT count(*), sum(hashtextextended(f::text, $key)) FROM ($from) s";
        my $after = query("SET enable_eager_aggregate = off; $digest");
        is(query($digest), $after,
            "$call by $key: aggregating before the join gives the same bytes as after it");
        like(plan_of($node, 'SELECT', $from), qr/Join\n(?:.*\n)*.*Partial \w*Aggregate/,
            '... and the plan aggregates before the join');
        is(query("SET work_mem = '64kB'; $digest"), $after, '... with little memory, the same bytes');
    }
}

# The join returns a group's partial state several times. Large states are in files, which then have to
# be read again. Without rows, the parameters of the call are found on both sides of the join.
query(q{
    CREATE TABLE large AS SELECT i % 4 AS g, i AS x FROM generate_series(1, 1200000) i;
    CREATE TABLE pair AS SELECT i % 4 AS g, i AS k FROM generate_series(1, 20) i;
    CREATE TABLE small AS SELECT i % 4 AS g, i AS x FROM generate_series(1, 20000) i;
    CREATE TABLE pairs AS SELECT i % 4 AS g, i % 5 AS k FROM generate_series(1, 200000) i;
    VACUUM ANALYZE large, pair, small, pairs});
my $workers = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
my $nested = join '; ', $workers, map { "SET enable_$_ = off" } qw(material hashjoin mergejoin);
for my $case (
    [ 'bf_agg(x, 1000000)', $workers, 'bitmaps of workers' ],
    [ 'bf_agg(x)', "$workers; SET work_mem = '64kB'", 'hashes of workers' ],
    [ 'bf_agg(x)', "SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB'", 'hashes of one process' ],
    [ 'bf_agg(x, 1000000)', $nested, 'bitmaps in a nested loop' ],
    [ 'bf_agg(x)', "$nested; SET work_mem = '64kB'", 'hashes in a nested loop' ]) {
    my ($call, $settings, $name) = @$case;
    my $digest = "SELECT md5(string_agg(f::text, '' ORDER BY k)) FROM (SELECT k, $call AS f FROM large JOIN pair USING (g) GROUP BY k) s";
    like(plan_of($node, $settings, $digest), qr/(?:Join|Nested Loop)\n(?:.*\n)*.*Partial \w*Aggregate/,
        "$name: the plan aggregates before the join");
    is(query("$settings; $digest"), query("SET enable_eager_aggregate = off; $digest"),
        '... and gives the same filters as aggregating after it');
    is(query(q{SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false) d WHERE d LIKE '%fileset'}), 0,
        '... and no file is left');
}
my $without = q{SELECT DISTINCT bf_describe(bf_agg(x, 7000, 0.01, 'guava') FILTER (WHERE x < 0)) FROM};
for my $case (
    [ 'small JOIN pair USING (g) WHERE pair.k <= 2', qr/Hash Join\n.*Hash Cond.*\n.*Partial \w*Aggregate/, 'outer' ],
    [ 'small JOIN pairs USING (g)', qr/->  Hash\n.*Partial \w*Aggregate/, 'inner' ]) {
    my ($from, $plan, $side) = @$case;
    like(plan_of($node, 'SELECT', "$without $from GROUP BY k"), $plan,
        "the plan aggregates on the $side side of the join");
    like(query("$without $from GROUP BY k"), qr/^values of any type, 0 of 7000, .*\z/,
        '... and a call without rows has its parameters');
}

# --- names of subqueries, antijoins, advice ---------------------------------------------------------

query(q{
    CREATE TABLE dim AS SELECT i AS id, i % 100 AS kind FROM generate_series(1, 20000) i;
    CREATE TABLE big AS SELECT i AS id, i % 20000 AS dim FROM generate_series(1, 300000) i;
    ALTER TABLE dim ALTER id SET NOT NULL;
    ALTER TABLE big ALTER dim SET NOT NULL;
    VACUUM ANALYZE dim, big});
my $filters = q{LOAD 'bloomfilter'; SET bloomfilter.join_filter = on};
my $join = 'SELECT count(*) FROM big b JOIN dim d ON b.dim = d.id WHERE d.kind = 7';
my $two = 'SELECT count(*) FROM big b JOIN dim d ON b.dim = d.id JOIN dim e ON b.id = e.id WHERE d.kind = 7 AND e.kind = 8';
like(plan_of($node, $filters, $join), qr/InitPlan bloom_filter_1\n.*\(InitPlan bloom_filter_1\)\.col1 @> dim/s, 'the InitPlan of a join filter has a name');
like(plan_of($node, $filters, $two), qr/^(?=.*InitPlan bloom_filter_1\n).*InitPlan bloom_filter_2\n/s,
    'the InitPlans of two join filters have different names');
is(query("$filters; $two"), query($two), '... and the query has the same rows as without join filters');

my $not_in = 'SELECT count(*) FROM big b WHERE dim NOT IN (SELECT id FROM dim d WHERE kind = 7)';
my $plan = plan_of($node, $filters, $not_in);
like($plan, qr/Anti Join/, 'NOT IN is planned as an antijoin');
unlike($plan, qr/Bloom/, '... which gets no join filter');
is(query("$filters; $not_in"), query($not_in), '... and has the same rows as without the setting');

# EXPLAIN prints advice for a plan. With this advice, the planner makes the same plan again. A build
# that reads the whole table is no choice of the planner, so advice for it matches nothing.
my $eager = 'SELECT few, bf_agg(x) FROM fact JOIN link USING (g) GROUP BY few';
my $scan = 'SELECT count(*) FROM big WHERE (SELECT bf_agg(id) FROM dim WHERE kind = 7) @> dim';
my $explain = 'EXPLAIN (COSTS OFF, PLAN_ADVICE)';
for my $sql ($join, $two, $not_in, $eager, $scan, 'SELECT bf_agg(dim) FROM big') {
    my $first = query("LOAD 'pg_plan_advice'; $filters; $explain $sql");
    $first =~ s/\n Generated Plan Advice:\n(.*)//s or $first =~ s/\nGenerated Plan Advice:\n(.*)//s;
    my $advice = $1;
    my $again = query("LOAD 'pg_plan_advice'; $filters; SET pg_plan_advice.advice = \$advice\$$advice\$advice\$; $explain $sql");
    unlike($again =~ s/^.*\@bloom_filter_\d+\) .* not matched .*(?:\n|\z)//mgr, qr/failed|not matched|inapplicable/,
        "the plan's own advice is followed: $sql");
    like($again, qr/\@bloom_filter_1\) .* not matched/, '... except advice for a build') if $sql eq $join;
    is($again =~ s/\n *Supplied Plan Advice:.*//sr, $first, '... and gives the same plan');
}

# A probe above an index scan counts as the scan of its table.
query(q{
    CREATE TABLE sale AS SELECT i AS id, i % 1000 AS day, i % 20000 AS item FROM generate_series(1, 300000) i;
    CREATE INDEX sale_item ON sale (item);
    CREATE TABLE season AS SELECT i AS id, i % 5 AS kind FROM generate_series(0, 999) i;
    CREATE TABLE pick AS SELECT i * 20 AS item FROM generate_series(1, 1000) i;
    VACUUM ANALYZE sale, season, pick});
my $lookups = "$filters; SET enable_hashjoin = off; SET enable_mergejoin = off";
my $lookup = 'SELECT s.id FROM pick p JOIN sale s ON s.item = p.item JOIN season n ON n.id = s.day'
  . ' JOIN dim e ON e.id = s.id % 20000 + 1 WHERE n.kind = 3';
like(query("LOAD 'pg_plan_advice'; $lookups; $explain $lookup"),
    qr/Bloom Filter Probe\) on sale s\n.*\n *->  Index Scan using sale_item.*INDEX_SCAN\(s /s,
    'the advice for a plan with a probe names the index scan');
is(query("LOAD 'pg_plan_advice'; SET pg_plan_advice.feedback_warnings = on; $lookups; SELECT count(*), sum(id) FROM ($lookup) l"),
    query("SELECT count(*), sum(id) FROM ($lookup) l"), '... and the query runs with the advice module');

my $advice = "LOAD 'pg_plan_advice'; SET pg_plan_advice.advice = 'SEQ_SCAN(big)'; $explain $scan";
like(query($advice), qr/Bloom Filter Scan.*SEQ_SCAN\(big\) .*failed/s,
    'a Bloom Filter Scan does not follow the advice SEQ_SCAN');
unlike(query("SET bloomfilter.scan = off; $advice"), qr/failed/,
    '... with bloomfilter.scan off, the advice is followed');

# --- REPACK -----------------------------------------------------------------------------------------

# Rows are inserted, updated and deleted while REPACK rewrites the table. With CONCURRENTLY, writers do
# not wait.
query(q{
    CREATE TABLE kept (id int PRIMARY KEY, filter bloomfilter);
    INSERT INTO kept SELECT n, bf_agg(i, 1000) FROM generate_series(1, 2000) n, generate_series(n, n + 9) i GROUP BY n;
    CREATE INDEX kept_filter ON kept USING bloomfilter (filter) WITH (list_limit = 40);
    CREATE INDEX kept_pages ON kept USING bloompages (id) WITH (pages_per_range = 4)});
my $scanned = q{SET enable_indexscan = off; SET enable_bitmapscan = off;};
my $found = 'SELECT count(*), sum(id) FROM kept WHERE filter @> ';
sub is_sound {
    my ($name) = @_;
    is(sqlstate($node, q{SELECT bf_index_check('kept_filter'), bf_index_check('kept_pages')}), '00000', "$name: the indexes are sound");
    is(query("SET enable_seqscan = off; SET bloomfilter.scan = off; $found $_"), query("$scanned $found $_"),
        "$name: a probe for $_ by the index has the rows of a scan") for 5, 777, 1999, 20003, 99999;
    return;
}
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/write.sql", <<'SQL');
\set id random(1, 3000)
\set n random(1, 20000)
INSERT INTO kept SELECT :id, bf_agg(i, 1000) FROM generate_series(:n, :n + 9) i ON CONFLICT (id) DO UPDATE SET filter = excluded.filter;
DELETE FROM kept WHERE id = :n % 3000;
SQL
for my $repack ('REPACK kept', 'REPACK kept USING INDEX kept_pkey', 'REPACK (CONCURRENTLY) kept', 'REPACK (CONCURRENTLY) kept USING INDEX kept_pkey') {
    my $before = query(q{SELECT pg_relation_filenode('kept')});
    my ($out, $errors) = ('', '');
    my $writers = IPC::Run::start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-c', '3', '-j', '1', '-t', '400',
        '-f', "$dir/write.sql", 'postgres' ], '<', \undef, '>', \$out, '2>', \$errors);
    is(sqlstate($node, $repack), '00000', "$repack succeeds while others write") for 1 .. 3;
    ok($writers->finish, '... the writers succeed, too') or diag($errors);
    isnt(query(q{SELECT pg_relation_filenode('kept')}), $before, '... and the table was rewritten');
    is_sound($repack);
}

# --- scans mark pages as all-visible ----------------------------------------------------------------

query('CREATE EXTENSION pg_visibility');
for my $reads (
    [ 'a scan', 'Bloom Filter Scan', 'SELECT count(*) FROM fresh WHERE (SELECT bf_agg(id) FROM dim WHERE kind = 7) @> id' ],
    [ 'a build', 'Bloom Filter Build', 'SELECT bf_agg(id) FROM fresh' ]) {
    my ($name, $node_name, $sql) = @$reads;
    query(q{DROP TABLE IF EXISTS fresh; CREATE TABLE fresh (id int); INSERT INTO fresh SELECT generate_series(1, 50000)});
    like(plan_of($node, 'SELECT', $sql), qr/$node_name\) on fresh/, "$name reads a new table");
    my $marked = q{SELECT count(*) FILTER (WHERE all_visible) * 10 / count(*) FROM pg_visibility_map('fresh')};
    is(query($marked), 0, '... before, no page is marked as all-visible');
    query($sql);
    cmp_ok(query($marked), '>=', 9, '... after, at least nine tenths of the pages are');
}
query(q{CREATE TABLE changed (id int); INSERT INTO changed SELECT generate_series(1, 50000);
    UPDATE changed SET id = id + 1 WHERE (SELECT bf_agg(id) FROM dim WHERE kind = 7) @> id});
is(query(q{SELECT count(*) FILTER (WHERE all_visible) FROM pg_visibility_map('changed')}), 0,
    'a scan of a table that the query itself changes marks no page');

# --- virtual generated columns ----------------------------------------------------------------------

query(q{CREATE TABLE virtual (a int, b int GENERATED ALWAYS AS (a * 2) VIRTUAL); INSERT INTO virtual SELECT generate_series(1, 30000)});
is(query('SELECT bf_agg(b) = (SELECT bf_agg(a * 2) FROM virtual) FROM virtual'), 't',
    'a filter of a virtual column is the filter of its expression');
like(plan_of($node, 'SELECT', 'SELECT bf_agg(b) FROM virtual'), qr/Bloom Filter Build/,
    '... and is made by a Bloom Filter Build');
my $virtual = 'SELECT count(*) FROM virtual WHERE (SELECT bf_agg(b) FROM virtual WHERE a <= 300) @> b';
like(plan_of($node, 'SELECT', $virtual), qr/Bloom Filter Scan\) on virtual/,
    'a filter is probed for a virtual column by a Bloom Filter Scan');
is(query($virtual), query("SET bloomfilter.scan = off; $virtual"),
    '... with the same number of rows as a sequential scan');
cmp_ok(query($virtual), '>=', 300, '... and all 300 members are found');
is(sqlstate($node, 'CREATE TABLE of_filters (a int, f bloomfilter, g bloomfilter GENERATED ALWAYS AS (f + a) VIRTUAL)'), '0A000',
    'the server refuses a virtual column of a filter, as of all types that are not built in');

# --- types ------------------------------------------------------------------------------------------

for my $case ([ q{5::oid8}, 'oid8', 'Cast the value to a supported type' ],
    [ q{'postgres'::regdatabase}, 'regdatabase', 'Cast the value to oid, on both sides' ]) {
    my ($value, $type, $hint) = @$case;
    my (undef, undef, $error) = $node->psql('postgres', "SELECT bf_agg($value)");
    like($error, qr/ERROR:  bloom filters of type $type are not supported\nHINT:  $hint/,
        "$value is refused with a hint");
}

clean_log($node);
done_testing();
