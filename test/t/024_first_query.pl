# The scan needs no configuration. The first query of a connection that names an operator or function
# of the extension is planned with the scan: their support function loads the library before paths are
# made.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('first_query');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE TABLE events AS SELECT i AS item, i % 10 AS shop FROM generate_series(1, 10000) i;
    CREATE TABLE parts (LIKE events) PARTITION BY HASH (item);
    CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    INSERT INTO parts TABLE events;
    CREATE TABLE guarded AS TABLE events;
    CREATE TABLE filters AS SELECT bf_agg(i, 100, 1e-8) AS bf, cbf_agg(i, 100, 1e-8) AS cbf,
        cf_agg(i, 100, 1e-8) AS cf FROM generate_series(1, 100) i;
    CREATE TABLE calls WITH (parallel_workers = 2) AS SELECT x FROM generate_series(1, 4) x;
    ANALYZE;
    CREATE FUNCTION stored() RETURNS bloomfilter LANGUAGE plpgsql STABLE AS -- without the library
      'BEGIN RETURN (SELECT bf FROM filters); END';
    CREATE FUNCTION in_plpgsql(f bloomfilter) RETURNS bigint LANGUAGE plpgsql STABLE AS
      'BEGIN RETURN (SELECT count(*) FROM events WHERE f @> item); END';
    CREATE FUNCTION asks(f bloomfilter, item int) RETURNS boolean LANGUAGE sql AS 'SELECT f @> item'});
my $wanted = '(SELECT bf FROM filters) @> item';
my %literals = map { $_ => query("SELECT quote_literal($_) || '::' || pg_typeof($_) FROM filters") } qw(bf cbf cf);
query(qq{
    CREATE VIEW with_constant AS SELECT * FROM events WHERE $literals{bf} @> item;
    CREATE VIEW with_subquery WITH (security_barrier) AS SELECT * FROM events WHERE $wanted;
    CREATE FUNCTION inlined() RETURNS SETOF events LANGUAGE sql STABLE AS 'SELECT * FROM events WHERE $wanted';
    CREATE FUNCTION not_inlined() RETURNS SETOF events LANGUAGE sql AS 'SELECT * FROM events WHERE $wanted';
    CREATE FUNCTION in_worker(x int) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE COST 10000 AS
      'BEGIN RETURN (SELECT count(*) FROM events WHERE $wanted AND item >= x); END';
    CREATE ROLE reader LOGIN;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
    ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
    CREATE POLICY wanted ON guarded USING ($wanted)});

is(query(q{SELECT count(*), count(*) FILTER (WHERE prosupport = 0) FROM pg_proc
      WHERE prosrc ~ '^filter_contain(s|ed)(_literal)?$'}), '16|0',
    'all 16 functions that probe for a value have a support function');

# Returns the results of statements in a new connection, and the number of scans in their plans,
# including the plans of functions.
sub first_query {
    my ($sql, $settings, @options) = @_;
    my (undef, $rows, $messages) = $node->psql('postgres', qq{
        SELECT count(*) FROM pg_settings WHERE name LIKE 'bloomfilter.%';
        SET debug_print_plan = on; SET client_min_messages = log; $settings;
        $sql}, @options);
    my $scans = () = $messages =~ /\{CUSTOMSCAN/g;
    return join ', ', split(/\n/, $rows), "$scans scans", $messages =~ /((?:WARNING|ERROR): .*)/;
}

sub is_scanned {
    my ($sql, $name, %options) = @_;
    my ($rows, $scans) = ($options{rows} // 100, $options{scans} // 1);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is(first_query($sql, $options{settings} // ''), "0, $rows, $scans scans", $name);
}

my $count = 'SELECT count(*) FROM events WHERE';
for my $type (sort keys %literals) {
    for my $filter ($literals{$type}, "(SELECT $type FROM filters)") {
        is_scanned("$count $_", 'scanned: ' . s/\Q$literals{$type}\E/'...'/r)
          for "$filter @> item", "item <@ $filter",
          "${type}_contains($filter, item)", "${type}_contained(item, $filter)";
    }
    is_scanned("$count (SELECT $type FROM filters) @> '7'", "$type: not scanned for a literal alone",
        rows => 10000, scans => 0);
    is_scanned("$count '7' <@ (SELECT $type FROM filters) AND $wanted",
        "$type: scanned for a literal and a column");
}

my $filter = query('SELECT bf FROM filters');
my $prepared = "PREPARE asked(bloomfilter) AS $count \$1 @> item";
for my $kind ('custom', 'generic') {
    my $mode = "plan_cache_mode = force_${kind}_plan";
    is_scanned("$prepared; EXECUTE asked(stored())", "scanned: a parameter, $kind plan",
        settings => "SET $mode");
    is_scanned('SELECT in_plpgsql(stored())', "scanned: a query in PL/pgSQL, $kind plan",
        settings => "SET $mode");
    local $ENV{PGOPTIONS} = "-c client_min_messages=log -c debug_print_plan=on -c " . $mode =~ s/ //gr;
    my $script = $node->basedir . "/$kind.sql";
    append_to_file($script, "$count :f::bloomfilter @> item;\n");
    for my $protocol ('extended', 'prepared') {
        my (undef, $messages) = run_command([ 'pgbench', '-n', '-t', 1, '-M', $protocol, '-f', $script,
            '-D', "f=$filter", '-d', $node->connstr('postgres') ]);
        like($messages, qr/\{CUSTOMSCAN/, "scanned: the $protocol protocol, $kind plan");
    }
}
is_scanned("$prepared; EXECUTE asked(NULL)", 'scanned: a parameter that is NULL, which gives no rows',
    rows => 0, settings => 'SET plan_cache_mode = force_generic_plan');

is_scanned($_, 'scanned: ' . s/\Q$literals{bf}\E/.../r)
  for 'SELECT count(*) FROM with_constant', 'SELECT count(*) FROM with_subquery',
  'SET ROLE reader; SELECT count(*) FROM guarded', "$count asks((SELECT bf FROM filters), item)",
  'SELECT count(*) FROM inlined()', 'SELECT count(*) FROM not_inlined()',
  "WITH w AS MATERIALIZED (SELECT bf FROM filters) $count (SELECT bf FROM w) @> item",
  "WITH e AS MATERIALIZED (SELECT FROM events WHERE $wanted) SELECT count(*) FROM e",
  "SELECT count(*) FROM (SELECT item FROM events WHERE $wanted UNION ALL SELECT x FROM calls WHERE x > 4) e",
  "$count item IN (SELECT item FROM guarded WHERE $wanted OFFSET 0)",
  "WITH u AS (UPDATE events SET shop = 1 WHERE $literals{bf} @> item RETURNING 1) SELECT count(*) FROM u",
  "BEGIN; WITH d AS (DELETE FROM events USING calls WHERE x = 1 AND $wanted RETURNING 1)"
  . ' SELECT count(*) FROM d; ROLLBACK',
  "COPY (SELECT count(*) FROM events WHERE $wanted) TO STDOUT",
  "CREATE TEMPORARY TABLE made AS SELECT FROM events WHERE $wanted; SELECT count(*) FROM made",
  "DO \$\$ BEGIN ASSERT ($count $wanted) = 100; END \$\$; SELECT 100",
  "BEGIN; DECLARE c CURSOR FOR SELECT item FROM events WHERE $wanted; MOVE 99 FROM c; FETCH c";
is_scanned("SELECT count(*) FROM parts WHERE $wanted", 'scanned: each of two partitions', scans => 2);

# Parallel plans: workers load the library themselves, and the leader's EXPLAIN shows what they have
# probed.
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off; SET parallel_setup_cost = 0;'
  . ' SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
my $explain = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)';
is_scanned("$count $wanted", 'scanned: a parallel plan', settings => $parallel);
like(query("$parallel; $explain $count $wanted"), qr/Workers\ Launched:\ 2\n.*Parallel\ Custom\ Scan\ \(Bloom\ Filter\ Scan\)
    .*loops=2\).*Removed\ by\ Bloom\ Filter:\ 4950\n.*Size:\ 1\ kB\n.*Access:\ in\ memory/sx,
    'EXPLAIN ANALYZE of a parallel plan shows what workers have probed');
like(query("$parallel; $explain SELECT ($count (SELECT bf FROM filters WHERE x > 0) @> item) FROM calls"),
    qr/Parallel\ Custom\ Scan.*loops=8\).*Removed\ by\ Bloom\ Filter:\ 4950\n.*Size:\ 1\ kB\n/sx,
    '... also when the scan runs several times');
like(query("$parallel; $explain SELECT in_worker(x) FROM calls"), qr/Workers Launched: 2/, 'workers call a function');
is_scanned('SELECT sum(in_worker(x)) FROM calls', 'scanned: queries of a function that only workers call',
    settings => $parallel, rows => 394, scans => 4);

# The setting bloomfilter.scan is changed before the library is loaded.
is_scanned("$count $wanted", 'not scanned after SET bloomfilter.scan = off',
    settings => 'SET bloomfilter.scan = off', scans => 0);
is_scanned("SET bloomfilter.scan = on; $count $wanted", 'scanned after SET to off and to on',
    settings => 'SET bloomfilter.scan = off');
for my $of ('ROLE reader', 'DATABASE postgres') {
    query("ALTER $of SET bloomfilter.scan = off");
    is(first_query("$count $wanted", '', extra_params => [ '-U', 'reader' ]), '0, 100, 0 scans',
        "not scanned after ALTER $of SET bloomfilter.scan = off");
    query("ALTER $of RESET bloomfilter.scan");
}

# Join filters need the library. Neither SET nor a query without the extension loads it. Every user
# loads it by using the extension. Only superusers may load it by LOAD or at the start of a session.
query(q{
    CREATE TABLE orders AS SELECT i AS number, i % 1000 AS item FROM generate_series(1, 100000) i;
    CREATE TABLE chosen AS SELECT i AS item, i % 100 AS kind FROM generate_series(1, 1000) i;
    VACUUM ANALYZE orders, chosen;
    CREATE ROLE owner LOGIN;
    GRANT SELECT ON orders, chosen TO reader, owner;
    ALTER DATABASE postgres OWNER TO owner});
my $on = 'SET bloomfilter.join_filter = on';

# Returns what psql prints in a new connection of a role.
sub printed_for {
    my ($role, $sql) = @_;
    my (undef, $rows, $errors) = $node->psql('postgres', $sql, extra_params => [ '-U', $role ]);
    return $rows . $errors;
}

# Returns the number of join filters in the plan of a join that does not name the extension. The plan
# is made in a new connection of a role, after some statements.
sub join_filters {
    my ($role, $before) = @_;
    my $plan = printed_for($role, "$before;
        EXPLAIN (COSTS OFF) SELECT count(*) FROM orders JOIN chosen USING (item) WHERE kind = 5");
    $plan =~ /Hash Join|Merge Join|Nested Loop/ or die $plan;
    return scalar(() = $plan =~ /Bloom Filter Scan/g);
}
my $use = 'SELECT bf_sizing(1)';
# From PostgreSQL 18 on, the planner asks all access methods that know an operator. For that, it loads
# only the library of the handlers, which has no join filters.
is(join_filters('reader', $_->[0]), $_->[1], "$_->[1] join filters: $_->[2]")
  for [ $on, 0, 'the setting is on, but nothing of the extension has been used' ],
  [ $use, 0, 'the extension has been used, but the setting is off' ],
  [ "$on; $use", 1, 'first SET, then the extension is used' ],
  [ "$use; $on", 1, 'first the extension is used, then SET' ];
like(printed_for('reader', $_->[0]), $_->[1], $_->[0])
  for [ q{LOAD 'bloomfilter'}, qr/access to library "bloomfilter" is not allowed/ ],
  [ 'SHOW bloomfilter.join_filter', qr/unrecognized configuration parameter/ ],
  [ "$use; SHOW bloomfilter.join_filter", qr/^off$/m ],
  [ "SET bloomfilter.typo = 1; $use", qr/invalid configuration parameter name "bloomfilter.typo"/ ];
for my $whose ([ reader => 'ROLE reader' ], [ owner => 'DATABASE postgres' ]) {
    my ($role, $of) = @$whose;
    my $preload = "ALTER $of SET session_preload_libraries = 'bloomfilter'";
    my $alter = "ALTER $of SET bloomfilter.join_filter = on";
    my $denied = 'permission denied to set parameter';
    like(printed_for($role, "$use; $preload"), qr/$denied "session_preload_libraries"/,
        "$role is denied: $preload");
    like(printed_for($role, $alter), qr/$denied "bloomfilter.join_filter"/,
        "$role is denied without the library: $alter");
    unlike(printed_for($role, "$use; $alter"), qr/ERROR/, '... but not if the library is loaded');
    is(join_filters($role, ''), 0,
        '... the next session has no join filters without use of the extension');
    is(join_filters($role, $use), 1, '... and has them when the extension has been used');
    query($preload);
    is(join_filters($role, ''), 1, "if a superuser preloads the library for $of, sessions have join filters");
    query("ALTER $of RESET session_preload_libraries; ALTER $of RESET bloomfilter.join_filter");
}

query('REVOKE EXECUTE ON FUNCTION bf_contains(bloomfilter, "any") FROM PUBLIC');
is(first_query("SET ROLE reader; $count $wanted", ''),
    '0, 1 scans, ERROR:  permission denied for function bf_contains',
    'without the right to execute bf_contains, a scan raises the usual error');

clean_log($node);
done_testing();
