# Without memory or disk space, a statement fails with an error. It never gives a wrong answer, and the
# server never crashes, except if it cannot write WAL. After the error, the same transaction goes on,
# no temporary file is left, and no acknowledged addition is lost.
#
# prlimit limits the memory of a backend. The limit leaves a random part of what the statement needs.
# Disks are file systems of a few megabytes in memory, for temporary files, for tables and for WAL. An
# unprivileged user mounts them in a namespace.

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

use constant MB => 1024 * 1024;

my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $node = new_server('exhausted', init => { extra => [ '--encoding=UTF8', '--no-locale', '--wal-segsize=1' ] },
    conf => "checkpoint_timeout = 1h\nmax_parallel_workers = 4\n");
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

my $asked = 'SELECT md5(bf_agg(i)::bytea), md5(cbf_agg(i)::bytea), md5(cf_agg(i)::bytea) FROM generate_series(1, 20000) i';
my $truth = query($asked);
my @wrong;

# Checks that a transaction, which began with a savepoint, goes on after a statement that may have
# failed: it has right answers, it commits, and no temporary file is left.
sub goes_on {
    my ($session, $what) = @_;
    $session->ask('ROLLBACK TO begun');
    my ($answer) = $session->ask($asked);
    push @wrong, "$what: then $answer" if $answer ne $truth;
    my (undef, $state) = $session->ask('COMMIT');
    push @wrong, "$what: then $state" if $state ne '00000';
    my $files = temporary_files($node->data_dir);
    push @wrong, "$what: $files are left" if $files;
    return;
}

# --- memory ----------------------------------------------------------------------------------------

query(q{
    CREATE TABLE stored AS SELECT bf_agg(i, 10000000) AS f, cf_agg(i, 4000000) AS k FROM generate_series(1, 1000) i;
    CREATE TABLE many AS SELECT n AS id, bf_create(100000) + n AS f FROM generate_series(1, 100) n;
    CREATE UNLOGGED TABLE rows AS SELECT i FROM generate_series(1, 500000) i;
    CREATE UNLOGGED TABLE paged (i int);
    CREATE INDEX paged_i ON paged USING bloompages (i)});

my $large = q{SET work_mem = '256MB'};
my $empty = 'bf_create(30000000)'; # 37 MB
my @hungry = (
    (map { [ $large, "SELECT md5(${_}_agg(i)::bytea) FROM generate_series(1, 1000000) i" ] } qw(bf cbf cf)),
    (map { [ $large, "SELECT md5(${_}_agg(i, 5000000)::bytea) FROM generate_series(1, 100000) i" ] } qw(bf cbf cf)),
    [ $large, 'SELECT count(f), md5(string_agg(md5(f::bytea), NULL ORDER BY k)) FROM (SELECT i % 1000 AS k, bf_agg(i) AS f FROM rows GROUP BY 1) s' ],
    [ $large, 'SELECT md5(bf_merge_agg(p)::bytea) FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM rows GROUP BY i % 7) s' ],
    [ '', "SELECT md5(($empty + 5)::bytea)" ],
    [ '', "SELECT md5((bf_create(10000000) + 5)::text::bloomfilter::bytea)" ],
    [ '', "SELECT md5((($empty + 1) | (bf_create(3000000) + 2))::bytea), bf_jaccard($empty + 1, $empty + 2)" ],
    [ '', 'SELECT md5(bf_add_all(bf_create(1000, 0.01, grow => true), array_agg(i))::bytea) FROM generate_series(1, 100000) i' ],
    [ '', "SELECT md5(bf_from_guava(bf_to_guava(bf_create(10000000, layout => 'guava') + 5), 'long')::bytea)" ],
    [ '', 'SELECT bf_hash(array_agg(i::numeric)), bf_hash(jsonb_agg(i)), bf_shard(array_agg(ROW(i)), 100) FROM rows' ],
    [ '', 'SELECT cardinality(array_remove(bf_contains_each(f, array_fill(7, ARRAY[3000000])), true)) FROM stored' ],
    [ $large, 'SELECT count(*) FROM generate_series(1, 5000) i, stored WHERE f @> i' ],
    [ $large, 'SELECT count(*) FROM generate_series(1, 50000) i WHERE (SELECT k FROM stored) @> i' ],
    [ $large, 'SELECT count(*) FROM many, generate_series(1, 300) i WHERE f @> i' ],
    [ '', 'SELECT count(*) FROM rows WHERE (SELECT bf_agg(i) FROM rows WHERE i % 10 = 0) @> i' ],
    [ '', 'SELECT md5((SELECT f FROM stored)::bytea), cf_info(k) FROM stored' ],
    [ '', 'SELECT (bf_create_by_size(4294967296, 8) + 5) @> 5' ],
    [ '', 'CREATE INDEX ON rows USING bloompages (i) WITH (pages_per_range = 1000)' ],
    [ '', 'INSERT INTO paged SELECT i FROM rows' ],
    [ '', q{SELECT bf_index_check('paged_i')} ]);

sub limit_memory {
    my ($session, $bytes) = @_;
    system('prlimit', '--pid', $session->pid, "--as=$bytes:unlimited") == 0 or die "prlimit: $?";
    return;
}

sub memory_of {
    my ($session, $field) = @_;
    return 1024 * (slurp_file('/proc/' . $session->pid . '/status') =~ /^$field:\s+(\d+)/m)[0];
}

my %states;
sub starve {
    my ($settings, $sql) = @_;
    my $session = Faults->session($node, "SELECT 1; $settings");
    # The first run has enough memory, so that the stack grows as far as the statement needs. If the
    # stack could not grow, the process would crash instead of raising an error.
    my ($right, $state) = $session->ask($sql);
    die "$sql: $state" if $state ne '00000';
    my $needed = memory_of($session, 'VmPeak') - memory_of($session, 'VmSize');
    for (1 .. 3) {
        $session->ask('BEGIN; SAVEPOINT begun');
        my $more = int(rand $needed + MB);
        limit_memory($session, memory_of($session, 'VmSize') + $more);
        my ($answer, $state) = $session->ask($sql);
        limit_memory($session, 'unlimited');
        my $what = "$sql with $more of $needed bytes more";
        push @wrong, "$what: $state" if $state !~ /^(?:00000|53200)$/;
        push @wrong, "$what: $answer" if $state eq '00000' && $answer ne $right;
        $states{$state}++;
        goes_on($session, $what);
    }
    $session->end;
    return;
}

if (system('prlimit --version >/dev/null 2>&1') == 0) {
    while (another_round('memory')) {
        starve(@$_) for @hungry;
    }
    is(join("\n", @wrong), '',
        'with too little memory, statements fail with an error, and the transaction goes on');
    cmp_ok($states{53200} // 0, '>', @hungry, "... which happened $states{53200} times");
    clean_log($node);
} else {
  SKIP: {
        skip 'there is no prlimit to limit memory', 1;
    }
}

# --- disks -----------------------------------------------------------------------------------------

# A shell that is root in new namespaces. It starts the server, which must not be root, as the user.
my ($in, $out) = ('', '');
my $shell;
my $marks = 0;

sub in_namespace {
    my ($command) = @_;
    my $mark = 'done ' . ++$marks;
    $out = '';
    $in .= "$command; echo \$? $mark\n";
    wait_until($command, sub { $shell->pump_nb; $out =~ /$mark/ || !$shell->pumpable });
    return $out =~ /^0 $mark/m;
}

my $as_user = "unshare -U --map-user=$> --";
# Mounts a file system of some megabytes, or changes its size. (The source is named: otherwise, mount
# would repeat options that only the user who mounted the file system may give.)
sub mount_disk {
    my ($megabytes, $where, $options) = @_;
    return in_namespace("mount -t tmpfs -o ${options}size=${megabytes}m,mode=0777 none $dir/$where");
}

sub has_namespaces {
    return 0 if system('unshare -rm true 2>/dev/null');
    $shell = IPC::Run::start([ 'unshare', '-rm', 'sh' ], '<', \$in, '>&', \$out);
    return in_namespace("mkdir $dir/disk $dir/wal") && mount_disk(16, 'disk', '') && mount_disk(24, 'wal', '')
      && in_namespace("$as_user true");
}

sub start_in_namespace {
    in_namespace("$as_user pg_ctl -w -D " . $node->data_dir . ' -l ' . $node->logfile . ' start >/dev/null')
      or die "the server does not start: $out " . slurp_file($node->logfile);
    $node->_update_pid(1);
    return;
}

# Statements that fill a disk. In their session, temporary files and tables are on the small disk.
my $spilling = q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET max_parallel_workers_per_gather = 0};
my $parallel = q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;}
  . ' SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2';
my @filling = (
    (map { [ $spilling, "SELECT ${_}_agg(i) IS NULL FROM generate_series(1, 3000000) i" ] } qw(bf cbf cf)),
    (map { [ $parallel, "SELECT ${_}_agg(i + 500000 * j) IS NULL FROM rows, generate_series(1, 5) j" ] } qw(bf cbf cf)),
    [ $spilling, 'SELECT count(f) FROM (SELECT bf_agg(i) AS f FROM generate_series(1, 3000000) i GROUP BY i % 3) s' ],
    [ $spilling, 'SELECT count(*) FROM (SELECT bf_merge_agg(p) FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM generate_series(1, 3000000) i GROUP BY i % 3) s) s' ],
    [ '', 'CREATE TABLE new TABLESPACE small AS SELECT bf_agg(i, 20000000) AS f FROM generate_series(1, 10) i' ],
    [ '', 'CREATE TABLE new TABLESPACE small AS SELECT cf_agg(i, 1000000) AS f FROM generate_series(1, 10) i, generate_series(1, 100) n GROUP BY n' ],
    [ '', 'INSERT INTO kept SELECT n, bf_create(1000000) + n FROM generate_series(100, 200) n' ],
    [ '', 'UPDATE kept SET f = bf_growable(f) | bf_create(10000000)' ],
    [ '', q{CREATE INDEX ON rows (bf_hash(i), bf_hash(i || 'a')) TABLESPACE small} ],
    [ '', 'CREATE INDEX ON rows USING bloompages (i, i, i, i, i, i, i, i) WITH (fpr = 1e-9) TABLESPACE small' ],
    [ '', 'INSERT INTO paged SELECT i FROM rows' ]);

# Runs a statement that must fail with the expected SQLSTATE because a disk is full. Without a small
# disk, temp_file_limit has the same effect.
sub fill {
    my ($settings, $sql, $expected) = @_;
    my $session = Faults->session($node, "SELECT 1; $settings");
    $session->ask('BEGIN; SAVEPOINT begun');
    my (undef, $state) = $session->ask($sql);
    push @wrong, "$sql: $state" if $state ne $expected;
    # Files that workers wrote for their leader stay until the transaction ends, and may fill the disk.
    # So the transaction is rolled back.
    $session->ask('ROLLBACK; BEGIN; SAVEPOINT begun') if $settings =~ /workers_per_gather = 2/;
    goes_on($session, $sql);
    $session->end;
    return;
}

while (another_round('limits')) {
    fill("$_->[0]; SET temp_file_limit = '500kB'", $_->[1], '53400') for @filling[ 0 .. 7 ];
}
is(join("\n", @wrong), '',
    'beyond temp_file_limit, statements fail with an error, and the transaction goes on');

if (has_namespaces()) {
    $node->stop;
    my $data = $node->data_dir;
    in_namespace("$as_user sh -c 'mkdir $dir/disk/small && mv $data/pg_wal $dir/wal && ln -s $dir/wal/pg_wal $data/pg_wal'") or die $out;
    start_in_namespace();
    query("CREATE TABLESPACE small LOCATION '$dir/disk/small'");
    query('CREATE TABLE kept (id int PRIMARY KEY, f bloomfilter) TABLESPACE small;'
          . ' INSERT INTO kept SELECT n, bf_create(100000) + n FROM generate_series(1, 10) n');
    query('TRUNCATE paged; CREATE INDEX paged_small ON paged USING bloompages (i, i, i, i, i, i, i, i)'
          . ' WITH (fpr = 1e-9) TABLESPACE small');
    my $kept = 'SELECT md5(string_agg(f::text, chr(10) ORDER BY id)), count(bf_check(f)) FROM kept';
    my $before = query($kept);
    while (another_round('disk')) {
        for (@filling) {
            fill("$_->[0]; SET temp_tablespaces = small; SET default_tablespace = small", $_->[1], '53100');
            push @wrong, "$_->[1]: filters have changed" if query($kept) ne $before;
            mount_disk(64, 'disk', 'remount,') or die $out; # VACUUM needs some space
            query(q{VACUUM kept; SELECT bf_index_check('paged_small'); TRUNCATE paged; CHECKPOINT});
            mount_disk(16, 'disk', 'remount,') or die $out;
        }
    }
    is(join("\n", @wrong), '', 'on a full disk, statements fail with an error, and the transaction goes on');
    is(query("SELECT count(*) FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'small'))"), 0,
        'no temporary file is left on the full disk');
    clean_log($node);

    # If WAL cannot be written, the server stops. When it starts again, all acknowledged additions are
    # in the filters.
    query('CREATE TABLE seen AS SELECT n AS id, bf_create(20000) AS f, cbf_create(2000) AS c, cf_create(5000) AS k FROM generate_series(1, 4) n');
    my $session = Faults->session($node);
    my @acknowledged;
    for my $value (1 .. 3000) {
        my (undef, $state) = $session->ask("UPDATE seen SET f = f + $value, c = c + $value, k = k + $value WHERE id = $value % 4 + 1");
        last if $state ne '00000';
        push @acknowledged, $value;
    }
    $session->end;
    like(slurp_file($node->logfile), qr/PANIC: .*No space left on device/,
        'without space for WAL, the server stops');
    wait_until('its end', sub { !-e "$data/postmaster.pid" || !in_namespace("$as_user pg_ctl -D $data status >/dev/null") });
    $node->_update_pid(0);
    mount_disk(200, 'wal', 'remount,') or die $out;
    start_in_namespace();
    my $values = join ', ', map { "($_)" } @acknowledged;
    cmp_ok(scalar @acknowledged, '>', 20, @acknowledged . ' additions were acknowledged before');
    is( query("SELECT v FROM (VALUES $values) a (v) LEFT JOIN seen ON id = v % 4 + 1"
              . ' WHERE NOT f @> v OR cbf_multiplicity(c, v) <> 1 OR NOT k @> v OR id IS NULL'),
        '', '... and are in the filters when the server has started with more space');
    is(query('SELECT count(bf_check(f)), count(cbf_check(c)), count(cf_check(k)) FROM seen'), '0|0|0',
        '... which are sound');
    is(query($kept), $before, '... and other filters have not changed');
    $node->stop;
    $in .= "exit\n";
    eval { $shell->finish };
} else {
  SKIP: {
        skip 'the user cannot mount a small file system in a namespace', 1;
    }
}

done_testing();
