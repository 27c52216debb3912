# Processes are killed with SIGKILL at random moments. An addition that was acknowledged is in the
# filters afterwards. An addition that was not acknowledged is in all of the filters or in none. Every
# filter has exactly the bytes that its values give.
#
# First, backends, the postmaster and walsenders are killed while sessions add to tables of all three
# types, which are set up as doc/streaming.md says. A synchronous standby and a subscriber follow. The
# standby is promoted while sessions add, and the old primary is rewound. Then sessions that build
# filters, indexes and materialized views are killed, and at last pg_dump, pg_restore and pg_upgrade.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Faults;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;
use Time::HiRes qw(time usleep);

my $dir = PostgreSQL::Test::Utils::tempdir();
my $conf = <<'CONF';
restart_after_crash = on
wal_log_hints = on
wal_keep_size = 1GB
max_parallel_workers = 4
CONF
my $primary = new_server('primary', init => { allows_streaming => 'logical' }, conf => $conf);

# --- streaming -------------------------------------------------------------------------------------

# The table `pages` is the log of additions. Its trigger adds to the other tables, which have shards of
# each type and four large filters.
my $definitions = q{
    CREATE TABLE pages (url text, writer int, batch int);
    CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL);
    CREATE TABLE counted (shard int PRIMARY KEY, filter countingbloomfilter NOT NULL);
    CREATE TABLE removable (shard int PRIMARY KEY, filter cuckoofilter NOT NULL);
    CREATE TABLE large (part int PRIMARY KEY, filter bloomfilter NOT NULL);
};
$primary->safe_psql('postgres', $definitions . q{
    CREATE FUNCTION pages_seen() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO seen AS s SELECT bf_shard(url, 29), bf_agg(url, 1495) FROM added GROUP BY 1 ORDER BY 1
      ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter WHERE s.filter <> (s.filter | excluded.filter);
      INSERT INTO counted AS s SELECT bf_shard(url, 29), cbf_agg(url, 400) FROM added GROUP BY 1 ORDER BY 1
      ON CONFLICT (shard) DO UPDATE SET filter = cbf_union(s.filter, excluded.filter);
      INSERT INTO removable AS s SELECT bf_shard(url, 29), cf_agg(url, 1400) FROM added GROUP BY 1 ORDER BY 1
      ON CONFLICT (shard) DO UPDATE SET filter = cf_union(s.filter, excluded.filter);
      INSERT INTO large AS s SELECT bf_shard(url, 4), bf_agg(url, 100000) FROM added GROUP BY 1 ORDER BY 1
      ON CONFLICT (part) DO UPDATE SET filter = s.filter | excluded.filter;
      RETURN NULL;
    END $$;
    CREATE TRIGGER pages_seen AFTER INSERT ON pages REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION pages_seen()});

# Lists the filters of a server that are not sound or differ from the filter of the logged values
my $wrong = q{
    SELECT 'seen', shard FROM seen FULL JOIN (SELECT bf_shard(url, 29) AS shard, bf_agg(url, 1495) AS made FROM pages GROUP BY 1) m USING (shard)
      WHERE filter IS DISTINCT FROM made OR bf_check(filter) IS NOT NULL
    UNION ALL
    SELECT 'counted', shard FROM counted FULL JOIN (SELECT bf_shard(url, 29) AS shard, cbf_agg(url, 400) AS made FROM pages GROUP BY 1) m USING (shard)
      WHERE filter IS DISTINCT FROM made OR cbf_check(filter) IS NOT NULL
    UNION ALL
    SELECT 'large', part FROM large FULL JOIN (SELECT bf_shard(url, 4) AS part, bf_agg(url, 100000) AS made FROM pages GROUP BY 1) m USING (part)
      WHERE filter IS DISTINCT FROM made OR bf_check(filter) IS NOT NULL
    UNION ALL
    SELECT 'removable', shard FROM removable FULL JOIN (SELECT bf_shard(url, 29) AS shard, count(*) AS n FROM pages GROUP BY 1) m USING (shard)
      WHERE cf_count(filter) IS DISTINCT FROM n::float8 OR cf_check(filter) IS NOT NULL
    UNION ALL
    SELECT 'missing', bf_shard(url, 29) FROM pages LEFT JOIN removable ON shard = bf_shard(url, 29) WHERE (filter @> url) IS NOT TRUE};
my $digest = 'SELECT ' . join ', ', map { "(SELECT md5(string_agg(filter::text, ' ' ORDER BY $_->[1])) FROM $_->[0])" }
  [ 'seen', 'shard' ], [ 'counted', 'shard' ], [ 'removable', 'shard' ], [ 'large', 'part' ];

# Writers: sessions that add batches and report which of them were acknowledged.
my ($batches, @writers) = (0);

sub start_writers {
    my ($node, $count) = @_;
    for my $writer (1 .. $count) {
        my $script = '';
        for my $batch ($batches + 1 .. $batches + 3000) {
            my $size = 1 + int rand 20;
            $script .= "INSERT INTO pages SELECT 'https://example.com/$writer/$batch/' || i, $writer, $batch"
              . " FROM generate_series(1, $size) i;\n\\echo added $writer $batch\n";
        }
        my $file = "$dir/writer$writer.sql";
        unlink $file;
        append_to_file($file, $script);
        my %writer = (out => '', err => '');
        $writer{run} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $file ],
            '>', \$writer{out}, '2>', \$writer{err});
        push @writers, \%writer;
    }
    $batches += 3000;
    return;
}

my @acknowledged;

# Reads the writers' reports. Returns whether any of them is still at work.
sub writers_work {
    my $work = 0;
    for my $writer (@writers) {
        eval { $writer->{run}->pump_nb; 1 } and $work++;
    }
    return $work;
}

sub end_writers {
    for my $writer (@writers) {
        eval { $writer->{run}->kill_kill(grace => 0) if $writer->{run}->pumpable; 1 };
        eval { $writer->{run}->finish };
        push @acknowledged, $writer->{out} =~ /^added (\d+ \d+)$/mg;
    }
    @writers = ();
    return;
}

# Lets writers add until each has added something and a random time has passed.
sub let_them_add {
    my $until = time + between_numbers(0.2, 1.2);
    wait_until('additions', sub { writers_work(); time > $until && !grep { $_->{out} !~ /added/ } @writers });
    return;
}

sub is_right {
    my ($node, $what) = @_;
    is($node->safe_psql('postgres', "$wrong LIMIT 10"), '',
        "$what: every filter is that of the logged values");
    my $values = join ', ', map { '(' . s/ /, /r . ')' } @acknowledged;
    is( $node->safe_psql('postgres', "SELECT * FROM (VALUES $values) a (writer, batch) EXCEPT SELECT writer, batch FROM pages LIMIT 10"),
        '', "$what: the log has all of " . @acknowledged . ' acknowledged additions');
    return;
}

# Kills a random backend that fulfils a condition, and waits until the server has recovered. Returns
# true if the backend was killed, and false if it had ended by itself. The postmaster reports a crash
# before it accepts the next connection, so a connection is made before the log is read.
sub kill_backend {
    my ($node, $condition) = @_;
    my ($pid) = split /\n/, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $condition AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1");
    return 0 if !$pid;
    my $before = -s $node->logfile;
    my $crash = sub { slurp_file($node->logfile, $before) =~ /\(PID $pid\) was terminated by signal 9/ };
    kill KILL => $pid;
    wait_until('the end of the process', sub { !kill 0 => $pid });
    # The library's psql() would fail if the psql process ended before it had read the query.
    system_log('psql', '-Xqc', '', '-d', $node->connstr('postgres'));
    return 0 if !$crash->();
    wait_until('recovery', sub { slurp_file($node->logfile, $before) =~ /database system is ready to accept connections/ });
    return 1;
}

sub postmaster_of {
    my ($node) = @_;
    return (slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/)[0];
}

sub kill_postmaster {
    my ($node) = @_;
    my $pid = postmaster_of($node);
    my @children = children_of($pid);
    $node->kill9;
    wait_until('the end of all processes', sub { !grep { kill 0 => $_ } @children });
    return;
}

# A standby that additions wait for, and a subscriber
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
my $subscriber = new_server('subscriber', init => { allows_streaming => 'logical' });
$subscriber->safe_psql('postgres', $definitions);
$primary->safe_psql('postgres', 'CREATE PUBLICATION added FOR ALL TABLES; ALTER TABLE pages REPLICA IDENTITY FULL');
$subscriber->safe_psql('postgres', q{CREATE SUBSCRIPTION added CONNECTION 'dbname=postgres } . $primary->connstr . q{' PUBLICATION added});
$subscriber->poll_query_until('postgres', q{SELECT count(*) = 5 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel});
$primary->append_conf('postgresql.conf', q{synchronous_standby_names = 'standby'});
$primary->reload;

while (another_round('streaming')) {
    for my $victim ('a backend', 'the postmaster', 'a walsender') {
        start_writers($primary, 4);
        let_them_add();
        if ($victim eq 'the postmaster') {
            kill_postmaster($primary);
            $primary->start;
        } else {
            my $found = kill_backend($primary, $victim eq 'a backend' ? q{query LIKE 'INSERT INTO pages%'} : q{backend_type = 'walsender'});
            ok($found, "$victim was found and killed");
        }
        end_writers();
        is_right($primary, "after $victim was killed");
    }
    $primary->wait_for_catchup($standby);
    $primary->wait_for_catchup('added');
    is_right($standby, 'the standby');
    is($_->safe_psql('postgres', $digest), $primary->safe_psql('postgres', $digest),
        $_->name . ' has the same filters as the primary')
      for $standby, $subscriber;
    last if $batches > 60_000; # the filters are full
}

# The primary is killed while sessions add. The standby is promoted, and the old primary follows it.
start_writers($primary, 4);
let_them_add();
kill_postmaster($primary);
$standby->promote;
end_writers();
is_right($standby, 'the promoted standby');
start_writers($standby, 4);
let_them_add();
end_writers();
is_right($standby, 'the promoted standby, after further additions');
$standby->safe_psql('postgres', 'CHECKPOINT');
# pg_rewind first completes the crash recovery of the server that it rewinds. It also replaces the
# configuration by that of the other server.
my $own_conf = slurp_file($primary->data_dir . '/postgresql.conf');
command_ok([ 'pg_rewind', '--target-pgdata', $primary->data_dir, '--source-server', $standby->connstr('postgres'), '--no-sync' ],
    'pg_rewind of the old primary');
unlink $primary->data_dir . '/postgresql.conf';
append_to_file($primary->data_dir . '/postgresql.conf', $own_conf . "synchronous_standby_names = ''\n");
$primary->enable_streaming($standby);
$primary->start;
$standby->wait_for_catchup($primary);
is_right($primary, 'the old primary, rewound');
is($primary->safe_psql('postgres', $digest), $standby->safe_psql('postgres', $digest),
    'the old primary has the same filters as the new one');
clean_log($subscriber);
$_->stop for $primary, $subscriber;

# --- building --------------------------------------------------------------------------------------

my $node = $standby;
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    CREATE TABLE rows AS SELECT i, i % 100 AS g FROM generate_series(1, 400000) i;
    CREATE TABLE filters AS SELECT g, bf_agg(i) AS f, cbf_agg(i) AS c, cf_agg(i) AS k FROM rows GROUP BY g;
    CREATE MATERIALIZED VIEW built AS SELECT g, bf_agg(i) AS f FROM rows GROUP BY g;
    CREATE UNIQUE INDEX ON built (g);
    CREATE TABLE indexed (f bloomfilter);
    CREATE INDEX ON indexed USING bloomfilter (f) WITH (list_limit = 20);
    CREATE TABLE paged (i int, g int);
    CREATE INDEX ON paged USING bloompages (i, g);
    VACUUM ANALYZE rows});
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
  . ' SET max_parallel_workers_per_gather = 2; SET max_parallel_maintenance_workers = 2';
my $spilling = q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1};
my $contents = 'SELECT md5(string_agg(md5(f::bytea) || md5(c::bytea) || md5(k::bytea), chr(10) ORDER BY g)) FROM';
my $truth = query("$contents filters");
my $of_view = 'SELECT md5(string_agg(f::text, chr(10) ORDER BY g)) FROM built';
my $view = query($of_view);

# Each entry has a statement that builds, the relation that it makes or changes, a query of the result,
# and the right answer.
my $each = 'SELECT g, bf_agg(i) AS f, cbf_agg(i) AS c, cf_agg(i) AS k FROM rows GROUP BY g';
my $one = 'SELECT 0 AS g, bf_agg(i) AS f, cbf_agg(i) AS c, cf_agg(i) AS k FROM rows';
my $by_index = 'SET enable_seqscan = off; SELECT count(*) FROM';
my $with_it = 'SELECT count(*) FROM filters WHERE f @> 4711';
my @builds = (
    [ "CREATE TABLE new AS $each", 'new', "$contents new", $truth ],
    [ "CREATE TABLE new AS $one", 'new', "$contents new", query("$contents ($one) s") ],
    [ 'CREATE INDEX new ON rows (bf_hash(i))', 'new', "$by_index rows WHERE bf_hash(i) = bf_hash(4711)", 1 ],
    [ 'CREATE INDEX new ON filters USING hash (f)', 'new', "$by_index filters a JOIN filters b USING (f)", 100 ],
    [ 'CREATE INDEX new ON filters USING bloomfilter (f)', 'new', "SET enable_seqscan = off; SELECT bf_index_check('new'); $with_it",
        "\n" . query($with_it) ],
    [ 'INSERT INTO indexed SELECT f FROM filters, generate_series(1, 10)', 'indexed', "SET enable_seqscan = off;"
          . " SELECT bf_index_check('indexed_f_idx'), (SELECT count(*) FROM indexed WHERE f @> 4711)"
          . ' = (SELECT count(*) FROM indexed WHERE f::text::bloomfilter @> 4711)', '|t' ],
    [ 'CREATE INDEX new ON rows USING bloompages (i, g)', 'new', "SET enable_seqscan = off; SELECT bf_index_check('new');"
          . ' SELECT count(*) FROM rows WHERE i = 4711', "\n1" ],
    [ 'INSERT INTO paged SELECT i, g FROM rows', 'paged', "SET enable_seqscan = off;"
          . " SELECT bf_index_check('paged_i_g_idx'), (SELECT count(*) FROM paged WHERE i = 4711)"
          . ' = (SELECT count(*) FROM paged WHERE i + 0 = 4711)', '|t' ],
    [ 'REFRESH MATERIALIZED VIEW built', 'built', $of_view, $view ],
    [ 'REFRESH MATERIALIZED VIEW CONCURRENTLY built', 'built', $of_view, $view ]);

# Begins a statement and kills one of its processes, or the postmaster, while the statement runs.
# Returns its SQLSTATE.
sub killed_in {
    my ($sql, $victim) = @_;
    my $session = Faults->session($node, "$parallel; $spilling");
    my $after = cpu_of($session->pid) + between_numbers(0, 0.4);
    $session->begin($sql);
    wait_until('some work', sub { $session->has_answered || cpu_of($session->pid) > $after });
    if ($victim eq 'postmaster') {
        kill_postmaster($node);
        $node->start;
    } else {
        my $pid = $session->pid;
        my $of_victim = $victim eq 'worker' ? "leader_pid = $pid AND pid <> $pid" : "pid = $pid";
        kill_backend($node, $of_victim) || kill_backend($node, "pid = $pid");
    }
    my (undef, $state) = $session->wait_for_answer;
    $session->end;
    return $state;
}

my @states; # on a busy machine, all statements of a round may end before they are killed
sub some_were_killed { return scalar grep { $_ eq '08006' } @states }
while (another_round('building') || (!some_were_killed() && @states < 10 * @builds)) {
    for (@builds) {
        my ($sql, $relation, $result, $right) = @$_;
        my $victim = chosen('backend', 'worker', 'postmaster');
        my $state = killed_in($sql, $victim);
        push @states, $state;
        my $is_there = query("SELECT to_regclass('$relation') IS NOT NULL") eq 't';
        ok($is_there || $state ne '00000',
            "$sql, $victim killed: the relation is there if the statement succeeded");
        is(query("$contents filters") . query($of_view), $truth . $view,
            '... filters that were built before have not changed');
        query($sql) if !$is_there;
        is(query($result), $right, '... the result is right, if need be after running the statement again');
        is(temporary_files($node->data_dir), '', '... and no temporary file is left');
        query("DROP " . ($sql =~ /CREATE (\w+)/)[0] . " $relation") if $relation eq 'new';
    }
}
ok(some_were_killed(), 'some statements were killed before they ended');

# --- dump, restore, upgrade ------------------------------------------------------------------------

# Starts a program. At the given moment, kills it and all processes that it started. Returns 1 if it
# was killed, and 0 if it had ended by itself.
sub killed_program {
    my ($moment, @command) = @_;
    my $out = '';
    my $run = IPC::Run::start([ 'setsid', @command ], '<', \undef, '>&', \$out, init => sub { chdir $dir });
    wait_until('some work', sub { $run->pump_nb; $moment->($out) || !$run->pumpable });
    my $pid = $run->{KIDS}[0]{PID};
    kill KILL => -$pid;
    eval { $run->finish };
    return ($run->full_results)[0] == 9 ? 1 : 0; # the wait status of a process that SIGKILL ended
}

my $dump = "$dir/whole.dump";
command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', $dump ], 'pg_dump');
my ($size, $dumps_killed, $dumps) = (-s $dump, 0, 0);
while (another_round('dumping') || (!$dumps_killed && $dumps < 10)) {
    $dumps++;
    my $share = rand;
    $dumps_killed += killed_program(sub { (-s "$dir/part.dump" // 0) > $share * $size },
        'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', "$dir/part.dump");
    is(query("$contents filters"), $truth,
        sprintf 'pg_dump killed at %d %%: the filters have not changed', 100 * $share);
    query('CREATE DATABASE again');
    my $restored = 'SELECT count(*) FROM pg_class WHERE relname IN '
      . "('rows', 'filters', 'large', 'seen', 'counted', 'removable', 'pages', 'built_g_idx', 'seen_pkey')";
    my $most = chosen(1 .. 7);
    $dumps_killed += killed_program(sub { $node->safe_psql('again', $restored) >= $most },
        'pg_restore', '-d', $node->connstr('again'), $dump);
    query('DROP DATABASE again WITH (FORCE)');
    query('CREATE DATABASE again');
    command_ok([ 'pg_restore', '-e', '-d', $node->connstr('again'), $dump ],
        'after pg_restore was killed, it succeeds in a new database');
    is($node->safe_psql('again', "$contents filters; $of_view"), "$truth\n$view", '... the restored filters are the same');
    is($node->safe_psql('again', $wrong), '', '... and are those of the logged values');
    query('DROP DATABASE again');
}
cmp_ok($dumps_killed, '>', 0, 'pg_dump or pg_restore was killed before it ended');

# pg_upgrade to the same version is killed with its servers. The old cluster is still whole, and can
# then be upgraded to another new cluster.
my $bindir = `pg_config --bindir`;
chomp $bindir;
my $clusters = 0;

sub new_cluster {
    my $new = PostgreSQL::Test::Cluster->new('new' . ++$clusters);
    $new->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
    return $new;
}

sub upgrade_to {
    my ($new) = @_;
    return ('pg_upgrade', '-b', $bindir, '-B', $bindir, '-d', $node->data_dir, '-D', $new->data_dir,
        '-p', $node->port, '-P', $new->port, '-s', $node->host);
}

my $upgrades_killed = 0;
while (another_round('upgrading') || (!$upgrades_killed && $clusters < 10)) {
    $node->stop;
    my $new = new_cluster();
    my $moment = chosen('Creating dump of', 'Analyzing all rows', 'Restoring global objects', 'Restoring database schemas', 'Copying');
    my $killed = killed_program(sub { $_[0] =~ /$moment/ }, upgrade_to($new));
    for my $cluster (grep { -e $_->data_dir . '/postmaster.pid' } $node, $new) {
        my $pid = postmaster_of($cluster);
        my @children = children_of($pid);
        kill KILL => $pid;
        wait_until('the end of all processes', sub { !grep { kill 0 => $_ } @children });
    }
    $upgrades_killed += $killed;
    note("pg_upgrade is killed at: $moment") if $killed;
    $node->start;
    is_right($node, 'pg_upgrade killed: the old cluster');
    is(query("$contents filters") . query($of_view), $truth . $view,
        '... and its other filters have not changed');
    $node->stop;
    my $next = new_cluster();
    command_ok([ 'sh', '-c', 'cd "$0" && exec "$@"', $dir, upgrade_to($next) ],
        'after pg_upgrade was killed, it succeeds to a new cluster');
    $next->start;
    is_right($next, 'pg_upgrade run again: the upgraded cluster');
    is($next->safe_psql('postgres', "$contents filters; $of_view"), "$truth\n$view", '... and its other filters are the same');
    clean_log($next);
    $next->stop;
    $node->start;
}
cmp_ok($upgrades_killed, '>', 0, 'pg_upgrade was killed before it ended');
done_testing();
