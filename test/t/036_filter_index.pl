# A filter index gives the answers of a sequential scan: for every element type and
# geometry, under every plan, while rows are inserted, deleted and moved into groups, after crashes, and
# on a standby. A damaged page is an error. bf_index_check() checks that each row is in the index, and
# that each block of the index is where it belongs.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Faults;
use Support;
use Test::More;

# The server has no checksums, which would find damage before the index does.
my $no_checksums = `initdb --help` =~ /--no-data-checksums/ ? ['--no-data-checksums'] : [];
my $node = new_server('primary', init => { allows_streaming => 1, extra => [ '--encoding=UTF8', '--no-locale', @$no_checksums ] },
    conf => "bloomfilter.overfill = ignore\n");

sub query {
    my ($sql, $server) = @_;
    return ($server || $node)->safe_psql('postgres', $sql);
}

# Functions that return the rows, or the SQLSTATE, of a query under each plan. Queries of a function
# that is not volatile all have the same snapshot.
query(q{
    CREATE FUNCTION answers(condition text, source text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
    DECLARE plan text; answer text; answers text[];
    BEGIN
      PERFORM set_config('enable_indexonlyscan', 'off', true);
      FOREACH plan IN ARRAY '{seqscan,indexscan,bitmapscan}'::text[] LOOP
        PERFORM set_config('enable_' || p, CASE p WHEN plan THEN 'on' ELSE 'off' END, true)
        FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) p;
        PERFORM set_config('bloomfilter.scan', 'off', true);
        BEGIN
          EXECUTE format('SELECT count(*) || '' '' || coalesce(string_agg(id::text, '','' ORDER BY id), '''')
            FROM %s WHERE %s', source, condition) INTO answer;
        EXCEPTION WHEN OTHERS THEN answer := SQLSTATE;
        END;
        answers := answers || answer;
      END LOOP;
      RETURN answers;
    END $$;
    CREATE FUNCTION must_be_alike(condition text, source text) RETURNS text LANGUAGE plpgsql STABLE AS $$
    DECLARE a text[] := answers(condition, source);
    BEGIN
      IF a[1] <> ALL (a[2:]) OR a[2] <> a[3] THEN
        RAISE 'answers of % differ: %', condition, a USING ERRCODE = 'XX003';
      END IF;
      RETURN a[1];
    END $$});

# Runs a query of each condition under each plan; a difference is an error. Returns the number of
# answers that are not empty.
sub ask {
    my ($source, $conditions, $name, $server) = @_;
    my $list = join ', ', map { "(\$c\$$_\$c\$)" } @$conditions;
    my ($status, $found, $errors) = ($server || $node)->psql('postgres',
        "SELECT count(*) FROM (VALUES $list) v (c) WHERE must_be_alike(c, '$source') NOT LIKE '0 %'");
    is($status . $errors, '0', "$name: index scans give the answers of a sequential scan");
    return $found;
}

# --- element types, geometries and changes of rows --------------------------------------------------

# A value of each element family, as an expression of the integer i
my %value_of = (
    int => 'i', float8 => 'i / 7.0::float8', numeric => 'i / 8.0', text => q{'word ' || i}, bytea => 'int4send(i)',
    varchar => q{('word ' || i || repeat(' ', i % 2))::varchar},
    uuid => 'md5(i::text)::uuid', oid => 'i::oid', date => q{date '2000-01-01' + i},
    timestamp => q{timestamp '2000-01-01' + make_interval(days => i)}, inet => q{inet '10.0.0.0' + i},
    time => q{time '00:00' + make_interval(secs => i)}, interval => 'make_interval(secs => i)',
    boolean => 'i % 2 = 0', jsonb => q{to_jsonb(i)}, array => 'array[i, i + 1]', row => q{(i, 'word ' || i)}, range => 'int4range(i, i + 3)',
    multirange => 'int4multirange(int4range(i, i + 3))');

# Returns expressions of filters of several geometries, with values of one family that depend on f.
sub filters_of {
    my ($value) = @_;
    my $all = "array(SELECT $value FROM generate_series(f * 20, f * 20 + 30) i)";
    my $agg = sub { "(SELECT $_[0] FROM generate_series(f * 20, f * 20 + 30) i)" };
    return ($agg->("bf_agg($value, 100)"), $agg->("bf_agg($value, 1000, 0.0001)"), $agg->("bf_agg($value)"),
        $agg->("bf_agg($value, 40) | bf_agg($value, 3000)"),
        "(SELECT bf_agg($value, 100) FROM generate_series(1, 0) i)", 'NULL::bloomfilter');
}

my $id = 0;
for my $type (sort keys %value_of) {
    my $value = $value_of{$type};
    my $union = join ' UNION ALL ', map { "SELECT $_ AS filter, f FROM generate_series(1, 150) f" } filters_of($value);
    query(qq{
        CREATE TABLE of_$type (id serial, filter bloomfilter, counting countingbloomfilter);
        INSERT INTO of_$type (filter) SELECT filter FROM ($union) u ORDER BY f;
        UPDATE of_$type SET counting = (SELECT cbf_agg($value, 50) FROM generate_series(id, id + 20) i) WHERE id % 3 = 0;
        CREATE INDEX of_${type}_filter ON of_$type USING bloomfilter (filter);
        CREATE INDEX of_${type}_counting ON of_$type USING bloomfilter (counting) WITH (list_limit = 20)});
    my @conditions = map { my $i = $_; my $v = $value =~ s/\bi\b/$i/gr;
        ("filter @> ($v)", "($v) <@ filter", "bf_contains(filter, $v)", "counting @> ($v)",
         "filter @> ($v) AND counting @> ($v)",
         $type eq 'array' ? () : ("bf_contains_any(filter, array[$v, NULL, $v])"), "bf_contains_hash(filter, bf_hash($v))", "filter @> ($v)::text::bf_literal", "filter @> ($v)::text") } (25, 400, 2999, 77777);
    push @conditions, 'filter @> NULL::int', q{filter @> 'x'}, 'filter @> 5::bigint', 'filter @> 5.0', 'filter @> 5.5::float8',
      q{filter @> date '2000-01-05'}, q{filter @> timestamp '2000-01-05'}, q{filter @> '2000-01-05'}, q{filter @> interval '5 s'},
      q{filter @> 'word 25'::name}, q{filter @> 'word 25 '::char(10)}, q{filter @> '{5,6}'}, 'filter @> ROW(1, 2)';
    cmp_ok(ask("of_$type", \@conditions, $type), '>', 3, "$type: more than 3 answers have rows");
    query(qq{DELETE FROM of_$type WHERE id % 4 = 0;
        UPDATE of_$type SET filter = (SELECT filter FROM of_$type WHERE filter IS NOT NULL ORDER BY id LIMIT 1) WHERE id % 5 = 0;
        BEGIN; UPDATE of_$type SET filter = NULL, counting = NULL; ROLLBACK});
    ask("of_$type", \@conditions, "$type, after changes");
    query("VACUUM of_$type");
    query("INSERT INTO of_$type (filter, counting) SELECT filter, counting FROM of_$type");
    ask("of_$type", \@conditions, "$type, after vacuum");
    query("SELECT bf_index_tidy('of_${type}_filter'), bf_index_tidy('of_${type}_counting')");
    ask("of_$type", \@conditions, "$type, after bf_index_tidy()");
    is(sqlstate($node, "SELECT bf_index_check('of_${type}_filter'), bf_index_check('of_${type}_counting')"), '00000', "$type: the index is sound");
}

# --- a TID that is used again -----------------------------------------------------------------------

# A row is removed whose entry is in the list, or in a group. Its TID is used by a row with another
# filter.
for my $waiting (1, 200) {
    query(qq{
        CREATE TABLE reused (id serial, filter bloomfilter) WITH (fillfactor = 100);
        CREATE INDEX reused_filter ON reused USING bloomfilter (filter);
        INSERT INTO reused (filter) SELECT bf_agg(i, 1000) FROM generate_series(1, $waiting) f, generate_series(f * 10, f * 10 + 5) i GROUP BY f ORDER BY f});
    my $before = query('SELECT min(ctid) FROM reused');
    query('SELECT bf_index_tidy(\'reused_filter\')') if $waiting > 1;
    query('DELETE FROM reused WHERE id = 1');
    query('VACUUM reused');
    query('INSERT INTO reused (filter) VALUES (bf_create(1000) + 777777)');
    is(query('SELECT ctid FROM reused ORDER BY id DESC LIMIT 1'), $before,
        "the new row has the TID of the removed one ($waiting rows)");
    ask('reused', [ 'filter @> 10', 'filter @> 777777', 'filter @> 30' ], "a TID that is used again ($waiting rows)");
    query('SELECT bf_index_tidy(\'reused_filter\')');
    ask('reused', [ 'filter @> 10', 'filter @> 777777', 'filter @> 30' ],
        "... and is moved into a group ($waiting rows)");
    is(sqlstate($node, q{SELECT bf_index_check('reused_filter')}), '00000',
        "... the index is sound ($waiting rows)");
    query('DROP TABLE reused');
}

# --- VACUUM in parallel -----------------------------------------------------------------------------

# A worker of VACUUM waits for a session that is moving rows in an index. VACUUM goes on when this
# session ends its transaction. The test takes the lock as src/pg/index_page.cpp does.
my $library = compile_library('mover');
SKIP: {
    $library or skip 'no library can be compiled for this server', 4;
    query(qq{
        CREATE FUNCTION hold_mover(regclass) RETURNS void LANGUAGE c AS '$library', 'hold_mover';
        CREATE TABLE halves (id serial, a bloomfilter, b bloomfilter);
        CREATE INDEX half_a ON halves USING bloomfilter (a);
        CREATE INDEX half_b ON halves USING bloomfilter (b);
        INSERT INTO halves (a, b) SELECT f, f FROM (SELECT bf_agg(i, 1000) AS f FROM generate_series(1, 300) n, generate_series(n, n + 5) i GROUP BY n) s;
        DELETE FROM halves WHERE id % 3 = 0});
    my $holder = $node->background_psql('postgres', on_error_stop => 1);
    $holder->query_safe(q{BEGIN; SELECT hold_mover('half_a'), hold_mover('half_b')});
    my ($said, $errors) = ('', '');
    my $vacuum = IPC::Run::start([ 'psql', '-X', '-h', $node->host, '-p', $node->port, '-c', 'SET min_parallel_index_scan_size = 0',
        '-c', 'VACUUM (PARALLEL 1, VERBOSE) halves', 'postgres' ], '<', \undef, '>', \$said, '2>', \$errors);
    my $waiting = q{SELECT count(*) FROM pg_locks l JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'tuple' AND NOT granted AND l.relation IN ('half_a'::regclass, 'half_b'::regclass)};
    ok($node->poll_query_until('postgres', "SELECT ($waiting AND leader_pid IS NOT NULL) = 1"),
        'a worker of VACUUM waits for a session that moves rows');
    $holder->query_safe('COMMIT');
    $holder->quit;
    ok($vacuum->finish, 'when this session ends, VACUUM succeeds');
    like($errors, qr/launched 1 parallel vacuum worker/, '... with one worker');
    is(query(q{SELECT (SELECT pending FROM bf_index_info(i)) FROM unnest('{half_a,half_b}'::regclass[]) i}), "0\n0", '... and both indexes are tidied');
}

# --- VACUUM while a scan reads the directory ---------------------------------------------------------

# The index has 24 groups of one page each, in four pages of the directory. A scan that has read the
# first page of the directory waits for the first group. Meanwhile, VACUUM merges four groups of the
# second page into one, which it puts into the first page. The scan must find the rows of the new
# group. It must not probe the groups that it has probed before.
SKIP: {
    $library or skip 'no library can be compiled for this server', 5;
    query(qq{
        CREATE FUNCTION hold_page(regclass, int) RETURNS void LANGUAGE c AS '$library', 'hold_page';
        CREATE TABLE merged (part text, n int, filter bloomfilter) WITH (autovacuum_enabled = off);
        CREATE INDEX merged_filter ON merged USING bloomfilter (filter) WITH (list_limit = 1000)});
    my $group = sub {
        my ($part, $value) = @_;
        query("INSERT INTO merged SELECT '$part', i, bf_create(10) + $value FROM generate_series(1, 127) i");
        query(q{SELECT bf_index_tidy('merged_filter')});
    };
    $group->('kept', 6);
    $group->('removed', 7) for 1 .. 2;
    $group->('kept', 6) for 1 .. 7;
    $group->('merged', 5) for 1 .. 4;
    $group->('kept', 6) for 1 .. 10;
    query(q{DELETE FROM merged WHERE part = 'removed'});
    query('VACUUM merged'); # so the first page of the directory has room
    query(q{DELETE FROM merged WHERE part = 'merged' AND n % 4 <> 0});
    my $groups = query(q{SELECT groups FROM bf_index_info('merged_filter')});
    my $rows = query(q{SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM merged WHERE filter @> 5});
    my ($lock, $holder, $scan) = map { $node->background_psql('postgres', on_error_stop => 1) } 1 .. 3;
    $lock->query_safe('SELECT pg_advisory_lock(1)');
    $holder->query_until(qr/holding/, "\\echo holding\nSELECT hold_page('merged_filter', 3);\n");
    ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}),
        'a session holds the page of the first group');
    $scan->query_safe('SET enable_seqscan = off');
    $scan->query_until(qr/reading/, "\\echo reading\nBEGIN;\nSELECT count(*) || ' rows' FROM merged WHERE filter @> 5;\n"
        . "SELECT pg_stat_get_xact_blocks_fetched('merged_filter'::regclass) || ' pages';\nCOMMIT;\n");
    ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
        WHERE state = 'active' AND query LIKE 'SELECT count(*) || '' rows''%' AND wait_event LIKE 'Buffer%'}), 'a scan waits for this page');
    query('VACUUM merged');
    is(query(q{SELECT groups FROM bf_index_info('merged_filter')}), $groups - 3, '... while VACUUM merges four groups');
    $lock->query_safe('SELECT pg_advisory_unlock(1)');
    my ($found, $pages) = $scan->query(q{SELECT 'end'}) =~ /^(\d+) rows\n(\d+) pages/m;
    is($found, $rows, '... and finds all rows');
    cmp_ok($pages, '<', 1.5 * $groups, '... but does not probe the other groups again');
    $_->quit for $lock, $holder, $scan;
}

# VACUUM makes its pauses while it merges groups, too.
query(q{
    CREATE TABLE slow (id serial, filter bloomfilter) WITH (autovacuum_enabled = off);
    CREATE INDEX slow_filter ON slow USING bloomfilter (filter);
    INSERT INTO slow (filter) SELECT bf_create(3000) + i FROM generate_series(1, 1000) i;
    SELECT bf_index_tidy('slow_filter');
    DELETE FROM slow WHERE id % 3 > 0});
my $slow = $node->background_psql('postgres', on_error_stop => 0);
$slow->query_until(qr/vacuuming/, "\\echo vacuuming\nSET vacuum_cost_limit = 50;\nSET vacuum_cost_delay = '20ms';\nVACUUM slow;\n");
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_progress_vacuum JOIN pg_stat_activity USING (pid)
    WHERE phase = 'cleaning up indexes' AND wait_event = 'VacuumDelay'}), 'VACUUM pauses while it merges groups');
query(q{SELECT pg_cancel_backend(pid) FROM pg_stat_progress_vacuum});
$slow->quit;
# VACUUM FULL locks the table, so it makes none. With pauses, it would take more than a minute.
is(sqlstate($node, q{SET vacuum_cost_limit = 1; SET vacuum_cost_delay = '100ms'; SET statement_timeout = '30s'; VACUUM FULL slow}),
    '00000', 'VACUUM FULL does not pause');

# --- many sessions at a time ------------------------------------------------------------------------

query(q{
    CREATE TABLE busy (id serial, kind int, filter bloomfilter);
    CREATE INDEX busy_filter ON busy USING bloomfilter (filter) WITH (list_limit = 40);
    CREATE INDEX busy_other ON busy USING bloomfilter (filter) WITH (list_limit = 60);
    CREATE FUNCTION made(kind int, n int) RETURNS bloomfilter LANGUAGE sql AS $$
      SELECT CASE kind
        WHEN 0 THEN bf_agg(i, 20) WHEN 1 THEN bf_agg(i, 1000) WHEN 2 THEN bf_agg(i, 300, 0.0001)
        WHEN 3 THEN bf_agg(i, 5000) WHEN 4 THEN bf_agg(i, 20) | bf_agg(i, 100)
        WHEN 5 THEN bf_add_all(bf_create(1000, seed => n % 3), array_agg(i)) WHEN 6 THEN bf_agg(i) ELSE NULL END
      FROM generate_series(n, n + 19) i $$});
my $check = q{SELECT bf_index_check('busy_filter'), bf_index_check('busy_other')};
# What sessions do to a table at the same time: each statement has a weight, by which it is chosen.
my %busy = (
    insert => [ 6, 'INSERT INTO busy (kind, filter) SELECT :kind, made(:kind, :n + i) FROM generate_series(1, 15) i' ],
    update => [ 2, 'UPDATE busy SET filter = made(:kind, :n) WHERE id = (SELECT id FROM busy OFFSET :some LIMIT 1 FOR UPDATE SKIP LOCKED)' ],
    delete => [ 3, 'DELETE FROM busy WHERE id IN (SELECT id FROM busy OFFSET :some LIMIT 8 FOR UPDATE SKIP LOCKED)' ],
    abort => [ 2, "BEGIN;\nINSERT INTO busy (kind, filter) SELECT :kind, made(:kind, :n + i) FROM generate_series(1, 30) i;\nROLLBACK" ],
    probe => [ 6, "SELECT must_be_alike('filter @> ' || :n, 'busy')" ],
    vacuum => [ 1, 'SET min_parallel_index_scan_size = 0; VACUUM (PARALLEL 2) busy' ],
    tidy => [ 1, q{SELECT bf_index_tidy('busy_filter')} ],
    check => [ 1, $check ]);

sub pgbench {
    my ($script, @options) = @_;
    return pgbench_command($node, "\\set kind random(0, 7)\n\\set n random(1, 3000)\n\\set some random(0, 500)", $script, @options);
}

my ($out, $errors) = ('', '');
sub no_difference {
    my ($name, $script, @options) = @_;
    my $ran = IPC::Run::run([ pgbench($script, @options) ], '<', \undef, '>', \$out, '2>', \$errors);
    is($errors =~ s/^pgbench: (?!error).*\n|^pgbench \(.*\n//mgr, '',
        "$name: no error, and no answer that differs");
    ok($ran, "$name: pgbench succeeds");
}
no_difference('many sessions', \%busy, '-t', '250');
my @asked = map { "filter @> $_" } 5, 100, 777, 1500, 2990, 99999;
ask('busy', \@asked, 'after many sessions');
is(sqlstate($node, $check), '00000', 'after many sessions: the indexes are sound');
cmp_ok(query(q{SELECT groups FROM bf_index_info('busy_filter')}), '>', 2,
    'after many sessions: the index has more than 2 groups');

# Groups are made and removed all the time, while scans read many pages of the directory. Each seed has
# one or two groups, and each filter of a group fills a page.
query(q{
    CREATE TABLE moving (id serial, filter bloomfilter);
    CREATE INDEX moving_filter ON moving USING bloomfilter (filter) WITH (list_limit = 16);
    INSERT INTO moving (filter) SELECT bf_create(6500, seed => s) + 5 + i FROM generate_series(1, 300) s, generate_series(1, 3) i});
my %moving = (
    insert => [ 3, 'INSERT INTO moving (filter) SELECT bf_create(6500, seed => (:n + i) % 300) + 5 + :n FROM generate_series(1, 20) i' ],
    delete => [ 3, 'DELETE FROM moving WHERE id IN (SELECT id FROM moving OFFSET :some LIMIT 20 FOR UPDATE SKIP LOCKED)' ],
    probe => [ 9, q{SELECT must_be_alike('filter @> 5', 'moving')} ],
    vacuum => [ 2, 'VACUUM moving' ],
    tidy => [ 4, q{SELECT bf_index_tidy('moving_filter')} ]);
no_difference('moving groups', \%moving, '-t', '200');
is(sqlstate($node, q{SELECT bf_index_check('moving_filter')}), '00000',
    'after moving groups: the index is sound');

# Pages are added to the list while the index is checked.
query(q{
    CREATE TABLE growing (filter bloomfilter);
    CREATE INDEX growing_filter ON growing USING bloomfilter (filter) WITH (list_limit = 1000000);
    INSERT INTO growing SELECT bf_create(10) + i FROM generate_series(1, 20000) i});
my %growing = (
    insert => [ 1, 'INSERT INTO growing SELECT bf_create(10) + :n FROM generate_series(1, 300)' ],
    check => [ 1, q{SELECT bf_index_check('growing_filter')} ]);
no_difference('a list that grows', \%growing, '-t', '60');

# A cancelled statement leaves a sound index. Other sessions complete what it had begun.
for my $ms (1 .. 30) {
    $node->psql('postgres', "SET statement_timeout = '${ms}ms';"
        . 'INSERT INTO busy (kind, filter) SELECT i % 8, made(i % 8, i) FROM generate_series(1, 60) i;'
        . "DELETE FROM busy WHERE id % 30 = $ms; VACUUM busy; SELECT bf_index_tidy('busy_filter')");
}
is(sqlstate($node, $check), '00000', 'after cancelled statements, the indexes are sound');
query(q{SELECT bf_index_tidy('busy_filter')});
is(sqlstate($node, $check), '00000', 'after cancelled statements and bf_index_tidy(), the indexes are sound');
ask('busy', \@asked, 'after cancelled statements');

# --- crashes at any moment --------------------------------------------------------------------------

for my $round (1 .. 8) {
    my ($some, $said) = ('', '');
    my $bench = IPC::Run::start([ pgbench(\%busy, '-T', '60') ], '<', \undef, '>', \$some, '2>', \$said);
    my $build = IPC::Run::start([ 'psql', '-X', '-h', $node->host, '-p', $node->port, '-c',
        'CREATE INDEX CONCURRENTLY ON busy USING bloomfilter (filter)', '-c', 'REINDEX INDEX busy_filter', 'postgres' ],
        '<', \undef, '>', \$some, '2>', \$said) if $round % 2;
    select undef, undef, undef, 0.3 + $round * 0.17;
    $node->stop('immediate');
    $bench->finish;
    $build->finish if $build;
    $node->start;
    query(q{SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
        WHERE indrelid = 'busy'::regclass AND NOT indisvalid}) =~ /(.+)/s and query("$1");
    is(sqlstate($node, "SELECT bf_index_check(indexrelid) FROM pg_index WHERE indrelid = 'busy'::regclass AND indisvalid"), '00000',
        "after crash $round, the indexes are sound");
    ask('busy', \@asked, "after crash $round");
}
query('VACUUM busy');
is(sqlstate($node, $check), '00000', 'after all crashes and VACUUM, the indexes are sound');

# Unlogged tables
query(q{CREATE UNLOGGED TABLE unlogged AS SELECT * FROM busy; CREATE INDEX unlogged_filter ON unlogged USING bloomfilter (filter)});
ask('unlogged', \@asked, 'unlogged table');
$node->stop('immediate');
$node->start;
is(query('SELECT count(*) FROM unlogged WHERE filter @> 5'), '0',
    'unlogged table, after a crash: a query finds no row');
query('INSERT INTO unlogged SELECT * FROM busy');
ask('unlogged', \@asked, 'unlogged table, filled again after a crash');

# --- a standby --------------------------------------------------------------------------------------

# The standby compares each page that it replays with the primary's.
$node->append_conf('postgresql.conf', "wal_consistency_checking = 'generic'");
$node->reload;
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby', own_host => 0);
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
no_difference('many sessions, with a standby', \%busy, '-t', '60');
query(q{CREATE INDEX busy_second ON busy USING bloomfilter (filter)});
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
ask('busy', \@asked, 'on a standby', $standby);
is(sqlstate($standby, $check), '55000', 'bf_index_check() on a standby is an error');
$standby->promote;
is(sqlstate($standby, q{SELECT bf_index_check('busy_filter'), bf_index_check('busy_second')}), '00000',
    'after promotion, the indexes of the standby are sound');
query('INSERT INTO busy (kind, filter) SELECT 1, made(1, i) FROM generate_series(1, 500) i; VACUUM busy', $standby);
ask('busy', \@asked, 'after promotion and changes', $standby);
is(sqlstate($standby, $check), '00000', 'after promotion and changes, the indexes are sound');
$standby->stop;
$node->append_conf('postgresql.conf', "wal_consistency_checking = ''");

# --- damaged pages ----------------------------------------------------------------------------------

query(q{
    CREATE TABLE damaged AS SELECT f AS id, bf_agg(i, 1000) AS filter FROM generate_series(1, 400) f, generate_series(f * 9, f * 9 + 20) i GROUP BY f;
    INSERT INTO damaged VALUES (1000, bf_create(10) | bf_create(200)), (1001, NULL);
    CREATE INDEX damaged_filter ON damaged USING bloomfilter (filter);
    UPDATE damaged SET id = 1002 WHERE id = 1000;
    INSERT INTO damaged SELECT 2000 + f, bf_create(5000) + f FROM generate_series(1, 127) f;
    SELECT bf_index_tidy('damaged_filter');
    DELETE FROM damaged WHERE id > 2000});
query('VACUUM (INDEX_CLEANUP on) damaged'); # leaves free space at the index's end
my %tid_of = split /[|\n]/, query('SELECT id, ctid FROM damaged WHERE id > 1000');
my ($table, $file, $sound); # the table, the file of its index, and the file's undamaged content
sub to_be_damaged {
    ($table) = @_;
    $file = $node->data_dir . '/' . query("SELECT pg_relation_filepath('${table}_filter')");
    $node->stop;
    $sound = slurp_file($file);
    return;
}
to_be_damaged('damaged');
my $blocks = length($sound) / 8192;
sub damaged_by {
    my ($name, $change) = @_;
    my $bytes = $sound;
    $change->(\$bytes);
    open my $handle, '+<:raw', $file or die $!;
    truncate $handle, 0;
    print $handle $bytes;
    close $handle;
    $node->start;
    my %states;
    $states{ sqlstate($node, "SET enable_seqscan = off; SET bloomfilter.scan = off; SELECT count(*) FROM $table WHERE filter @> $_") }++ for 50, 700, 2500;
    my $check = sqlstate($node, "SELECT bf_index_check('${table}_filter')");
    # The division by zero undoes the row after it was added to the index, so that the next damaged file
    # need not contain it.
    my $inserted = sqlstate($node, "INSERT INTO $table SELECT 0, filter FROM $table LIMIT 1 RETURNING 1 / id");
    my $tidied = sqlstate($node, "SELECT bf_index_tidy('${table}_filter')");
    $node->stop;
    return (join(' ', sort keys %states), $check, $inserted, $tidied);
}
# The slot of the directory that describes the free space, and its fields
my ($free) = grep { ord(substr $sound, $_ + 36, 1) == 2 } map { 2 * 8192 + 64 + $_ * 808 } 0 .. 9;
my ($start, $pages) = unpack 'VV', substr $sound, $free + 24, 8;
is($start + $pages, $blocks, 'the free space is at the end of the index');
# Fields of each page's head are damaged, then fields of a slot and of an entry. (The head of a page
# begins at byte 24, its content at byte 64.)
for my $block (0 .. 4, $start - 1) {
    for my $change ([ 'head', 24, "\xFF" x 8 ], [ 'zeros', 0, "\0" x 8192 ], [ 'kind', 29, "\x09" ]) {
        my ($what, $at, $bytes) = @$change;
        my ($asked, $checked) = damaged_by("$what of $block", sub { substr(${ $_[0] }, $block * 8192 + $at, length $bytes) = $bytes });
        like($asked, qr/\A(?:00000 )?XX002\z|\A00000\z/,
            "block $block, $what: probes give an answer or XX002");
        is($asked =~ /XX002/ ? 1 : 0, 1, "block $block, $what: a probe gives XX002") if $block < 3;
        is($checked, 'XX002', "block $block, $what: bf_index_check() finds it");
    }
}
# The directory is block 2. The fields of its first slot are at these bytes: seed 0, units 8, shape 12,
# layout 16, k 17, family 18, start 24, pages 28, number 32, state 36, columns 37, live 38, rows 40.
for my $change ([ 'units', 8, pack('V', 1 << 30) ], [ 'layout', 16, "\x09" ], [ 'k', 17, "\x00" ], [ 'family', 18, "\xFF" ], [ 'reserved', 19, "\x01" ],
    [ 'start', 24, pack('V', 0xFFFFFFF0) ], [ 'start of another', 24, pack('V', 4) ], [ 'pages', 28, pack('V', 1) ],
    [ 'number', 32, pack('V', 99) ], [ 'state', 36, "\x07" ], [ 'columns', 37, "\xFF" ], [ 'live', 38, "\x01" ]) {
    my ($what, $at, $bytes) = @$change;
    my ($asked, $checked) = damaged_by("slot, $what", sub { substr(${ $_[0] }, 2 * 8192 + 64 + $at, length $bytes) = $bytes });
    is($asked, 'XX002', "slot with a wrong field, $what: probes give XX002");
    is($checked, 'XX002', "slot with a wrong field, $what: bf_index_check() finds it");
}
# Some damage is not noticed by probes, but by bf_index_check(): a missing row, wrong bits of a filter,
# a wrong end.
for my $change ([ 'a row that is gone', 2 * 8192 + 64 + 40, "\0" x 6 . substr($sound, 2 * 8192 + 64 + 46, 6) ],
    [ 'a bit', 4 * 8192 + 64, chr(ord(substr $sound, 4 * 8192 + 64, 1) ^ 1) ], [ 'an entry', 8192 + 64, "\0\0\x09\0\x09\0" ],
    [ 'groups', 64 + 40, pack('V', 77) ], [ 'a group that is gone', 2 * 8192 + 64 + 36, "\0" ],
    [ 'another seed', 2 * 8192 + 64, pack('Q<', 5) ],
    [ 'free space of another', $free + 24, pack('V', $start - 1) ], [ 'free space elsewhere', $free + 24, pack('V', $start + 1) ],
    [ 'less free space', $free + 28, pack('V', $pages - 1) ]) {
    my ($what, $at, $bytes) = @$change;
    my (undef, $checked) = damaged_by($what, sub { substr(${ $_[0] }, $at, length $bytes) = $bytes });
    is($checked, 'XX002', "$what: bf_index_check() finds it");
}
# With a wrong number of blocks, the index would overwrite itself or fill the disk.
for my $number (0, 4, 0xFF000000) {
    my @states = damaged_by("$number blocks", sub { substr(${ $_[0] }, 64, 4) = pack('V', $number) });
    is("@states", 'XX002 XX002 XX002 XX002',
        "a wrong number of blocks, $number: probe, check, insert and tidy give XX002");
}
# The list gets a second entry. It has a TID that does not exist, or of a block that the table lacks, or
# of a later version of a row (the index has the TID of the first version), or of a row with NULL.
sub row_of { my ($block, $offset) = $_[0] =~ /(\d+),(\d+)/; return pack('vvv', $block >> 16, $block & 0xFFFF, $offset) }
is(ord(substr $sound, 8192 + 30, 1), 1, 'the list has one entry');
for my $change ([ 'nothing', '(0,250)' ], [ 'no page', '(70000,1)' ], [ 'a later version', $tid_of{1002} ], [ 'NULL', $tid_of{1001} ]) {
    my ($what, $tid) = @$change;
    my ($asked, $checked) = damaged_by("an entry for $what", sub {
        substr(${ $_[0] }, 8192 + 12, 2) = pack('v', 64 + 32); # where the page's content ends
        substr(${ $_[0] }, 8192 + 30, 1) = "\x02";
        substr(${ $_[0] }, 8192 + 64 + 16, 16) = row_of($tid) . "\0" x 10;
    });
    is($checked, 'XX002', "an entry for $what: bf_index_check() finds it");
}
# TIDs that no row can have, or of a block that the table lacks.
for my $tid ('1,0', '1,32767', '1,65535', '70000,1') {
    my $row = row_of($tid);
    my ($asked, $checked, undef, $tidied) = damaged_by("entry of $tid", sub { substr(${ $_[0] }, 8192 + 64, 6) = $row });
    is("$asked $checked", 'XX002 XX002',
        "an entry with the TID $tid: probes and bf_index_check() give XX002");
    is($tidied, '00000', "an entry with the TID $tid: bf_index_tidy() succeeds");
    ($asked, $checked) = damaged_by("column of $tid", sub { substr(${ $_[0] }, 2 * 8192 + 64 + 40, 6 * 127) = $row x 127 });
    like("$asked $checked", qr/XX002 XX002\z/,
        "columns of a group with the TID $tid: probes and bf_index_check() give XX002");
}
# List and directory have one page each. Its link to the next page is made to lead to itself, or beyond
# the end of the index.
for my $block (1, 2) {
    my ($asked, $checked) = damaged_by("circle of $block", sub { substr(${ $_[0] }, $block * 8192 + 32, 4) = pack('V', $block) });
    is("$asked $checked", 'XX002 XX002',
        "block $block links to itself: probes and bf_index_check() give XX002");
    ($asked, $checked) = damaged_by("end of $block", sub { substr(${ $_[0] }, $block * 8192 + 32, 4) = pack('V', $blocks) });
    is("$asked $checked", 'XX002 XX002',
        "block $block links beyond the end: probes and bf_index_check() give XX002");
}
my ($asked, $checked) = damaged_by('cut off', sub { ${ $_[0] } = substr(${ $_[0] }, 0, 8192 * 5) });
is("$asked $checked", 'XX002 XX002', 'a file that is cut off: probes and bf_index_check() give XX002');
is(join(' ', damaged_by('nothing', sub { })), '00000 00000 22012 00000',
    'the undamaged file: everything succeeds');
$node->start;

# Rows wait in the list to be moved into a group. One of them has a TID that no row has. The others are
# moved.
query(q{
    CREATE TABLE waiting AS SELECT f AS id, bf_create(1000) + f AS filter FROM generate_series(1, 130) f LIMIT 0;
    CREATE INDEX waiting_filter ON waiting USING bloomfilter (filter) WITH (list_limit = 10000);
    INSERT INTO waiting SELECT f, bf_create(1000) + f FROM generate_series(1, 130) f});
to_be_damaged('waiting');
for my $tid ('1,0', '70000,1') {
    my ($asked, $checked, undef, $tidied) = damaged_by("waiting $tid", sub { substr(${ $_[0] }, 8192 + 64, 6) = row_of($tid) });
    is("$asked $checked $tidied", 'XX002 XX002 00000',
        "a waiting row with the TID $tid: probes and the check give XX002, bf_index_tidy() succeeds");
    $node->start;
    is(query(q{SELECT grouped > 100 FROM bf_index_info('waiting_filter')}), 't',
        '... and over 100 other rows are in a group');
    $node->stop;
}
$node->start;

# --- old_snapshot_threshold -------------------------------------------------------------------------

# If VACUUM removes rows that a cursor has found in the index but not yet fetched, fetching them is an
# error, as in a sequential scan. (The value 0 of old_snapshot_threshold is for tests: a snapshot is too
# old after five seconds. With this value, servers with assertions may stop at any query.)
SKIP: {
    skip 'the server has no old_snapshot_threshold', 4 if query(q{SELECT count(*) FROM pg_settings WHERE name = 'old_snapshot_threshold'}) == 0;
    skip 'the server has assertions', 4 if query('SHOW debug_assertions') eq 'on';
    $node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
    $node->restart;
    query(q{
        CREATE TABLE aging AS SELECT i AS id, bf_create(50) + 7 AS filter FROM generate_series(1, 3000) i;
        CREATE INDEX aging_filter ON aging USING bloomfilter (filter)});
    query('VACUUM ANALYZE aging');
    my %readers;
    for my $plan ('seqscan', 'indexscan') {
        $readers{$plan} = Faults->session($node, "SET bloomfilter.scan = off; SET enable_bitmapscan = off; SET enable_seqscan = off;"
            . "SET enable_indexscan = off; SET enable_$plan = on");
        my ($first) = $readers{$plan}->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE c CURSOR FOR SELECT id FROM aging WHERE filter @> 7; FETCH 2 c');
        is($first, "1\n2", "old_snapshot_threshold, $plan: the cursor returns the first rows");
    }
    query('SELECT pg_sleep(6)');
    query($_) for 'DELETE FROM aging', 'SELECT txid_current()', 'VACUUM aging', 'INSERT INTO aging VALUES (0, bf_create(50) + 7)';
    for my $plan (sort keys %readers) {
        my (undef, $state) = $readers{$plan}->ask('FETCH ALL c');
        is($state, '72000',
            "old_snapshot_threshold, $plan: fetching the rest is the error 72000, snapshot too old");
        $readers{$plan}->end;
    }
}

clean_log($node);
done_testing();
