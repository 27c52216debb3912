# Workers send partial states to the leader in messages and in temporary files. The filter of a
# parallel plan is that of the serial plan. No file outlives its transaction, however it ends.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use File::Find;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('parallel', conf => "max_worker_processes = 16\nmax_parallel_workers = 16\nbloomfilter.scan = off\n");

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Returns the names of temporary files and of their directories. Between two queries, no process uses
# any, so all of them were left by mistake.
sub temporary_files {
    my @found;
    find(sub { push @found, $File::Find::name if /^pgsql_tmp\d/ }, $node->basedir);
    return "@found";
}

my @types = ('bf', 'cbf', 'cf');
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
  . ' SET min_parallel_table_scan_size = 0';
query(q{
    CREATE TABLE rows AS SELECT i, i % 1000 AS few, i / 3 AS thrice, i % 2 AS g
      FROM generate_series(1, 600000) i;
    CREATE TABLE many AS SELECT i FROM generate_series(1, 2200000) i;
    VACUUM ANALYZE rows; VACUUM ANALYZE many});

# Returns the beginning of a query for the filters of all types.
sub filters_of {
    my ($value) = @_;
    return 'SELECT ' . join ', ', map { "md5(${_}_agg($value)::bytea)" } @types;
}

for my $value ('i', 'few', 'thrice') {
    my $query = filters_of($value) . ' FROM rows';
    my @truth = split /\|/, query($query);
    for my $work_mem ('64kB', '4MB', '64MB') {
        for my $workers (1, 3) {
            my $settings = "$parallel; SET work_mem = '$work_mem'; SET hash_mem_multiplier = 1;"
              . " SET max_parallel_workers_per_gather = $workers";
            my @made = split /\|/, query("$settings; $query");
            is($made[$_], $truth[$_],
                "$types[$_]_agg($value), $work_mem, $workers workers: the same filter")
              for 0 .. $#types;
        }
    }
}
is(temporary_files(), '', 'parallel aggregates of all types leave no file');

# The same for filters that are built a page at a time, by one process and by four
for my $value ('i', 'few', 'thrice') {
    my $query = filters_of($value) . ' FROM rows';
    my @truth = split /\|/, query($query);
    for my $work_mem ('64kB', '64MB') {
        for my $workers (0, 3) {
            my $settings = "$parallel; SET bloomfilter.scan = on; SET work_mem = '$work_mem';"
              . " SET hash_mem_multiplier = 1; SET max_parallel_workers_per_gather = $workers";
            like(plan_of($node, $settings, $query), $workers ? qr/Finalize.*Gather.*Build/s : qr/^Custom Scan.*Build/,
                "$value, $work_mem, $workers workers: the plan has a build");
            my ($made, $bytes) = temp_bytes($node, "$settings; $query");
            is($made, join('|', @truth),
                "$value, $work_mem, $workers workers: the build makes the same filters");
            next if $work_mem ne '64kB' || $value eq 'few';
            cmp_ok($bytes, '>', 0, '... with little memory, by temporary files');
            like(query("$settings; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT bf_agg($value) FROM rows"),
                qr/Build Disk: [1-9]\d+ kB/, '... which EXPLAIN shows') if !$workers;
        }
    }
}
is(temporary_files(), '', 'builds of all types leave no file');

my $two = "$parallel; SET max_parallel_workers_per_gather = 2";
like(plan_of($node, $two, 'SELECT bf_agg(i) FROM rows'), qr/Finalize.*Gather.*Partial/s,
    'the plan has partial aggregates in workers');

# A worker sends a spilled or large state in a file, whose bytes count as written by the worker. It
# sends other states in a message, and also large states if there is a temp_file_limit. A state is
# large from 1 048 576 hashes on. The table `many` has more than twice as many, for two workers.
my %truth = map { $_ => query("SELECT md5(bf_agg(i)::bytea) $_") } 'FROM rows', 'FROM many';
my $alone = 'SET parallel_leader_participation = off';
for (
    [ 'spilled', '4MB', '', 'FROM rows', 1 ],
    [ 'small', '64MB', '', 'FROM rows', 0 ],
    [ 'large', '64MB', $alone, 'FROM many', 1 ],
    [ 'large, with a limit', '64MB', "$alone; SET temp_file_limit = 0", 'FROM many', 0 ]) {
    my ($name, $work_mem, $setting, $from, $by_file) = @$_;
    my ($digest, $bytes) = temp_bytes($node, "$two; $setting; SET work_mem = '$work_mem';"
          . " SET hash_mem_multiplier = 1; SELECT md5(bf_agg(i)::bytea) $from");
    is($digest, $truth{$from}, "state is $name: the same filter");
    $by_file ? cmp_ok($bytes, '>', 0, "... sent in a file, of $bytes bytes") : is($bytes, 0,
        '... sent in a message');
}

# A state that was sent in a file is sorted in as much memory as it needs, not in all that is allowed.
is(query("$two; $alone; SET work_mem = '2000GB'; SELECT md5(cf_agg(i)::bytea) FROM many"),
    query('SELECT md5(cf_agg(i)::bytea) FROM many'), 'the largest work_mem is not allocated for a sort');

# The bitmap of a sized filter is sent in a file if it has more than 1 MB. What the leader itself
# builds, a page at a time, is not sent.
for my $agg ('bf_agg(i, 500000)', 'bf_agg(i, 1000000)', 'cbf_agg(i, 250000)') {
    my $query = "SELECT md5($agg\::bytea) FROM rows";
    my $truth = query($query);
    for my $scan ('off', 'on') {
        for (
            [ 'by two workers', $alone, $agg !~ /500000/ ],
            [ 'with the leader', '' ],
            [ 'under a limit', "$alone; SET temp_file_limit = 0", 0 ]) {
            my ($name, $setting, $by_file) = @$_;
            my ($digest, $bytes) = temp_bytes($node, "$two; $setting; SET bloomfilter.scan = $scan; $query");
            is($digest, $truth, "$agg $name, scan = $scan: the same filter");
            $by_file ? cmp_ok($bytes, '>', 0, '... sent in a file') : is($bytes, 0, '... sent in a message')
              if $name ne 'with the leader';
        }
    }
}
is(temporary_files(), '', 'states that were sent in files leave no file');

# One process combines two partial states, of all pairs of six kinds and in both orders. Each kind of
# state has two partitions, and partitions are read in the order of their keys.
query(q{
    CREATE TABLE part (p int, i int) PARTITION BY LIST (p);
    DO $$ BEGIN
      FOR n IN 1 .. 12 LOOP
        EXECUTE format('CREATE TABLE part%s PARTITION OF part FOR VALUES IN (%s)', n, n);
      END LOOP;
    END $$;
    INSERT INTO part SELECT p, i FROM (
      SELECT 1, i FROM generate_series(1, 10) i UNION ALL
      SELECT 2, i FROM generate_series(1, 65536) i UNION ALL
      SELECT 3, i % 70000 FROM generate_series(1, 300000) i UNION ALL
      SELECT 4, i FROM generate_series(60000, 150000) i UNION ALL
      SELECT 5, i FROM generate_series(1, 200000) i UNION ALL
      SELECT 6, i FROM generate_series(100000, 300000) i) made (kind, i),
      LATERAL (VALUES (kind), (kind + 6)) v (p);
    VACUUM ANALYZE part});
my $pieces = 'SET enable_partitionwise_aggregate = on; SET cpu_tuple_cost = 0.0001;'
  . ' SET hash_mem_multiplier = 1';
my $filters = filters_of('i');
like(plan_of($node, $pieces, "$filters FROM part WHERE p IN (1, 11)"),
    qr/Finalize.*Append.*Partial.* on part1 .*Partial.* on part11 /s,
    'the plan has a partial aggregate of each partition');
like(plan_of($node, "$pieces; SET bloomfilter.scan = on", "$filters FROM part WHERE p IN (1, 11)"),
    qr/Finalize.*Append.*Build\) on part1 .*Build\) on part11 /s,
    'with bloomfilter.scan, the plan has a build of each partition');
# The filters of two kinds of states do not depend on their order.
my (@wrong, %of_kinds);
for my $first (1 .. 6) {
    for my $second (7 .. 12) {
        my $some = "FROM part WHERE p IN ($first, $second)";
        my $kinds = join ' ', sort $first, $second - 6;
        $of_kinds{$kinds} //= query("SET work_mem = '1GB'; $filters $some");
        for my $settings ("work_mem = '64kB'", "work_mem = '64MB'",
            "work_mem = '64kB'; SET bloomfilter.scan = on", "work_mem = '64MB'; SET bloomfilter.scan = on") {
            push @wrong, "$first $second $settings"
              if $of_kinds{$kinds} ne query("$pieces; SET $settings; $filters $some");
        }
    }
}
is("@wrong", '', 'any two partial states make the same filters as a plain aggregate');
is(query("$pieces; SET work_mem = '64kB'; $filters FROM part"),
    query("SET work_mem = '1GB'; $filters FROM part"), '... and so do all partial states together');
is(temporary_files(), '', 'combining partial states leaves no file');

# A rescan of an unchanged hash table returns the same states again.
my $again = q{SELECT string_agg(DISTINCT digests, ' ') FROM (SELECT (SELECT string_agg(digest, ',')
    FROM (SELECT md5(bf_agg(i)::bytea) AS digest FROM rows_part GROUP BY g HAVING count(*) > v) s)
  FROM (VALUES (1), (2), (3)) o (v)) s (digests)};
query(q{
    CREATE TABLE rows_part (p int, g int, i int) PARTITION BY LIST (p);
    CREATE TABLE rows_part0 PARTITION OF rows_part FOR VALUES IN (0);
    CREATE TABLE rows_part1 PARTITION OF rows_part FOR VALUES IN (1);
    INSERT INTO rows_part SELECT i % 2, i / 2 % 2, i FROM generate_series(1, 800000) i;
    VACUUM ANALYZE rows_part});
like(plan_of($node, $pieces, $again), qr/Finalize Group.*Sort.*Append.*Partial HashAgg/s,
    'the plan has hash tables of partial states below a sort');
is(query("$pieces; SET work_mem = '64kB'; $again"), query("SET work_mem = '1GB'; $again"),
    'states of a hash table that is read again for each row make the same filters');
query('ALTER TABLE rows_part0 SET (parallel_workers = 0);'
      . ' ALTER TABLE rows_part1 SET (parallel_workers = 0)');
is(query("$two; $pieces; SET work_mem = '64kB'; $again"), query("SET work_mem = '1GB'; $again"),
    '... also with workers');
is(temporary_files(), '', 'rescans leave no file');

# A rescan of an unchanged sort returns the messages of the workers again.
my $unsorted = "$two; SET work_mem = '64kB'; SET enable_hashagg = off; SET enable_gathermerge = off";
my $joined = join '; ', $unsorted, map { "SET enable_$_ = off" } qw(material hashjoin mergejoin);
my $twice = q{SELECT string_agg(digest, ' ' ORDER BY v, g) FROM (VALUES (0), (1)) o (v)
  LEFT JOIN (SELECT g, md5(bf_agg(i)::bytea) AS digest FROM rows GROUP BY g) s ON g >= v};
like(plan_of($node, $joined, $twice), qr/Nested Loop.*Values.*Finalize Group.*Sort.*Gather\s.*Partial/s,
    'the plan sorts the messages of workers within a nested loop');
is(query("$joined; $twice"), query("SET work_mem = '1GB'; $twice"),
    'messages that a sort returns again make the same filters');
is(temporary_files(), '', '... and leave no file');

# A subquery that builds a filter anew for each row keeps no file of the row before.
query(q{CREATE FUNCTION files_now() RETURNS bigint LANGUAGE sql PARALLEL RESTRICTED AS $$
    SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false) d, pg_ls_dir('base/pgsql_tmp/' || d)
    WHERE d LIKE '%fileset' $$});
query(q{CREATE TABLE parts (LIKE rows) PARTITION BY HASH (i);
    CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    INSERT INTO parts SELECT * FROM rows;
    ANALYZE parts});
for (
    [ 'rows', 'bloomfilter.scan = on', qr/Gather\n.*\n.*Build\) on rows/ ],
    [ 'rows', 'bloomfilter.scan = off', qr/Gather\n.*\n.*Partial Aggregate/ ],
    [   'parts',
        'bloomfilter.scan = off; SET enable_partitionwise_aggregate = on',
        qr/Gather\n.*\n.*Append\n.*Partial Aggregate/
    ]) {
    my ($table, $setting, $plan) = @$_;
    my $settings = "$two; $alone; SET $setting";
    my $anew = qq{SELECT max(files) FROM (SELECT (SELECT f @> v FROM (SELECT bf_agg(i, 1000000) AS f FROM $table) s) AS found,
      files_now() AS files FROM (VALUES (1), (2), (3)) o (v) OFFSET 0) s WHERE found};
    like(plan_of($node, $settings, $anew), $plan, "$table, $setting: the plan builds a filter for each row, with workers");
    is(query("$settings; $anew"), 0, '... and no file of an earlier row is left');
}

# The leader waits in its first row until the workers have written their files, and have ended or
# are about to report.
query(q{
    CREATE FUNCTION in_leader(leader int, done text) RETURNS int LANGUAGE plpgsql PARALLEL SAFE
      COST 1 AS $$
    BEGIN
      IF pg_backend_pid() <> leader THEN
        RETURN 1;
      END IF;
      WHILE NOT EXISTS (SELECT FROM pg_ls_dir('base/pgsql_tmp') d
          WHERE d LIKE 'pgsql_tmp' || leader || '.%fileset')
      LOOP
        PERFORM pg_sleep(0.01);
      END LOOP;
      WHILE EXISTS (SELECT FROM pg_stat_activity
          WHERE leader_pid = leader AND wait_event IS DISTINCT FROM 'MessageQueueSend')
      LOOP
        PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
      END LOOP;
      IF done = 'kill' THEN
        PERFORM pg_terminate_backend(pid), pg_sleep(0.1) FROM pg_stat_activity
          WHERE leader_pid = leader;
      END IF;
      IF done IN ('terminate', 'cancel') THEN
        EXECUTE format('SELECT pg_%s_backend(%s), pg_sleep(10)', done, leader);
      END IF;
      RETURN 1 / (CASE WHEN done = 'divide' THEN 0 ELSE 1 END);
    END $$;
    CREATE FUNCTION build(done text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE digest text;
    BEGIN
      EXECUTE format('SELECT md5(bf_agg(i * in_leader(%s, %L))::bytea) FROM few_rows',
        pg_backend_pid(), done) INTO digest;
      RETURN digest;
    END $$;
    CREATE TABLE few_rows AS SELECT i FROM generate_series(1, 400000) i;
    VACUUM ANALYZE few_rows});
my $left = "$two; SET work_mem = '64kB'; SET hash_mem_multiplier = 1";
is(query("$left; SELECT build('read')"), query('SELECT md5(bf_agg(i)::bytea) FROM few_rows'),
    'the leader makes the right filter of files that workers left when they ended');
is(temporary_files(), '', '... and deletes the files');
for (
    [ 'divide', '22012', 'an error after workers wrote files' ],
    [ 'kill', '57P01', 'terminated workers that wrote files' ],
    [ 'cancel', '57014', 'a canceled query after workers wrote files' ],
    [ 'terminate', '57P01', 'a terminated session after workers wrote files' ]) {
    my ($done, $sqlstate, $name) = @$_;
    is(sqlstate($node, "$left; SELECT build('$done')"), $sqlstate, "$name: the expected SQLSTATE");
    $node->poll_query_until('postgres',
        q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type LIKE '%client%'});
    is(temporary_files(), '', "$name: no file is left");
}
is( query("$left; DO \$\$ BEGIN PERFORM build('divide'); EXCEPTION WHEN division_by_zero THEN END \$\$;"
          . " SELECT 1"),
    1, 'a transaction goes on after an error in a subtransaction');
is(temporary_files(), '', '... and no file is left when the transaction ends');

{
    my $elsewhere = $node->basedir . '/elsewhere';
    mkdir $elsewhere or die $!;
    query("CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
    my ($digest, $bytes) = temp_bytes($node, "$two; SET temp_tablespaces = elsewhere;"
          . " SET work_mem = '64kB'; SELECT md5(bf_agg(i)::bytea) FROM rows");
    is($digest, $truth{'FROM rows'}, 'with temp_tablespaces, the same filter');
    cmp_ok($bytes, '>', 0, '... and hashes are in temporary files');
    is(sqlstate($node, "$two; SET temp_tablespaces = elsewhere; SET work_mem = '64kB';"
              . ' SELECT bf_agg(i / (i - 500000)) FROM rows'),
        '22012', 'with temp_tablespaces, an error');
    is(temporary_files(), '', '... leaves no file in the tablespace');
}

# A session had workers, and has as many directories open as a process may have. Then its transaction
# fails, or the session ends within the transaction.
SKIP: {
    my $library = compile_library('descriptors')
      or skip "nothing compiles with the server's headers", 4;
    query("CREATE FUNCTION take_descriptors() RETURNS void LANGUAGE c AS '$library'");
    my $taken = "$left; BEGIN; LOCK TABLE few_rows;"
      . q{ DO $$ BEGIN PERFORM build('divide'); EXCEPTION WHEN division_by_zero THEN END $$;}
      . ' SELECT take_descriptors()';
    is(sqlstate($node, "$taken; SELECT 1 / 0"), '22012',
        'an error of a session that can open no more directories is reported as usual');
    is(sqlstate($node, $taken), '00000', 'a session that can open no more directories ends without an error');
    ok($node->poll_query_until('postgres',
        "SELECT count(*) = 0 FROM pg_locks WHERE relation = 'few_rows'::regclass"), '... leaves no lock');
    is(temporary_files(), '', '... and leaves no file');
}

# Because of a LIMIT, the leader does not read the states of all groups.
my $limited = 'SELECT g FROM (SELECT g, bf_agg(i) AS f FROM rows GROUP BY g ORDER BY g LIMIT 1) s'
  . ' WHERE f @> 2';
is(query("$left; SET enable_hashagg = off; BEGIN; $limited; COMMIT; SELECT 1"), "0\n1",
    'a LIMIT that stops before the last group gives the first group');
is(temporary_files(), '', '... and leaves no file');

is(sqlstate($node, "$left; SET temp_file_limit = '1MB'; SELECT bf_agg(i) FROM rows"),
    '53400', 'temp_file_limit holds for files of workers');
is(temporary_files(), '', '... and no file is left');

clean_log($node);
done_testing();
