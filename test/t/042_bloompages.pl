# A bloompages index gives the answers of a scan while rows come, go and change, after
# crashes at any moment, and on a standby. A damaged page is an error. bf_index_check() finds the
# values of each row.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

# Without checksums, which would find damage before the index does.
my $no_checksums = `initdb --help` =~ /--no-data-checksums/ ? ['--no-data-checksums'] : [];
my $node = new_server('primary', init => { allows_streaming => 1, extra => [ '--encoding=UTF8', '--no-locale', @$no_checksums ] });

sub query {
    my ($sql, $server) = @_;
    return ($server || $node)->safe_psql('postgres', $sql);
}

# In a database of another encoding, n-grams find what ignores case if the locale is "C".
query(q{CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
is( $node->safe_psql('latin', q{
    CREATE EXTENSION bloomfilter;
    CREATE TABLE t AS SELECT chr(i % 90 + 161) || 'Row ' || i AS a, 'Row ' || i AS b, 'Row ' || i AS c
      FROM generate_series(1, 5000) i;
    ALTER TABLE t ALTER b TYPE text COLLATE "POSIX", ALTER c TYPE text COLLATE "und-x-icu";
    CREATE INDEX ON t USING bloompages (a text_ngram_ops);
    CREATE INDEX ON t USING bloompages (b text_ngram_ops);
    CREATE INDEX ON t USING bloompages (c text_ngram_ops);
    VACUUM ANALYZE t;
    SET enable_seqscan = off;
    SELECT count(*) FROM t WHERE a ILIKE '%ROW 4711%';
    SELECT count(*) FROM t WHERE b ~* 'rOW 4711';
    SELECT count(*) FROM t WHERE c ILIKE '%ROW 4711%';
    EXPLAIN (COSTS off) SELECT FROM t WHERE a ILIKE '%ROW 4711%';
    EXPLAIN (COSTS off) SELECT FROM t WHERE b ~* 'rOW 4711';
    EXPLAIN (COSTS off) SELECT FROM t WHERE c ILIKE '%ROW 4711%'})
      =~ s/^(?!\d|.*Index Scan).*\n?//mgr,
    "1\n1\n1\n  ->  Bitmap Index Scan on t_a_idx\n  ->  Bitmap Index Scan on t_b_idx\n  ->  Bitmap Index Scan on t_c_idx\n",
    'ILIKE and ~* in a database with encoding LATIN1');

# The number of rows that a condition finds, which must be the same with a bitmap scan and without. In
# a function that is not volatile, both see the same rows.
query(q{
    CREATE FUNCTION must_be_alike(source text, condition text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
    DECLARE q text := format('SELECT count(*) || coalesce(string_agg(id::text, '','' ORDER BY id), '''') FROM %s WHERE %s', source, condition);
      by_index text; by_scan text;
    BEGIN
      PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'on', true);
      EXECUTE q INTO by_index;
      PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'off', true);
      EXECUTE q INTO by_scan;
      IF by_index <> by_scan THEN
        RAISE 'answers of % differ: % and %', condition, by_index, by_scan USING ERRCODE = 'XX003';
      END IF;
      RETURN length(by_scan);
    END $$;
    CREATE TABLE busy (id serial, k int, u uuid, t text) WITH (fillfactor = 70);
    CREATE INDEX busy_pages ON busy USING bloompages (k, u, t);
    CREATE INDEX busy_small ON busy USING bloompages (k) WITH (pages_per_range = 2);
    CREATE INDEX busy_quiet ON busy USING bloompages (u) WITH (autosummarize = off, fpr = 0.001);
    CREATE INDEX busy_keys ON busy USING bloompages (t text_ngram_ops, (ARRAY[k, -k])) WITH (pages_per_range = 2) WHERE id > 0});
my $check = q{SELECT bf_index_check(i) FROM unnest('{busy_pages,busy_small,busy_quiet,busy_keys}'::regclass[]) i};
my @questions = ('id > 0 AND ARRAY[k, -k] @> ARRAY[-77]', 'id > 0 AND ARRAY[k, -k] && ARRAY[-5, 9999]', 'id > 0 AND t LIKE \'%4321%\'', 'k = 5', 'k = 77', 'k = ANY (ARRAY[1, 500, 999])', "t = 't7'", 'k = 3 AND t = \'t3\'',
    "u = md5('12')::uuid", "u = ANY (ARRAY[md5('1'), md5('2'), md5('3')]::uuid[])");
sub answers_are_alike {
    my ($name, $server) = @_;
    my $list = join ', ', map { "(\$c\$$_\$c\$)" } @questions;
    my ($status, $found, $errors) = ($server || $node)->psql('postgres', "SELECT must_be_alike('busy', c) FROM (VALUES $list) v(c)");
    is($status, 0, "$name: the answers of index and scan are the same") or diag($errors);
    return;
}

# --- many sessions at a time --------------------------------------------------------------------------

my %busy = (
    insert => [ 6, "INSERT INTO busy (k, u, t) SELECT (:n + i) % 1000, md5(((:n + i) % 5000)::text)::uuid, 't' || :n FROM generate_series(1, :some) i" ],
    update => [ 4, 'UPDATE busy SET k = :n % 1000 WHERE id BETWEEN :id AND :id + 20' ],
    hot => [ 3, "UPDATE busy SET t = t || 'h' WHERE id BETWEEN :id AND :id + 5" ],
    delete => [ 2, 'DELETE FROM busy WHERE id BETWEEN :id AND :id + 60' ],
    abort => [ 2, "BEGIN;\nINSERT INTO busy (k) SELECT i FROM generate_series(1, 300) i;\nROLLBACK" ],
    part => [ 1, "BEGIN;\nSAVEPOINT a;\nINSERT INTO busy (k) SELECT i FROM generate_series(1, 30) i;\nROLLBACK TO a;\nINSERT INTO busy (k, t) VALUES (77, 'part');\nCOMMIT" ],
    probe => [ 6, "SELECT must_be_alike('busy', 'k = ' || :n % 1000)" ],
    keys => [ 3, "SELECT must_be_alike('busy', 'id > 0 AND ARRAY[k, -k] @> ARRAY[-' || :n % 1000 || ']')" ],
    other => [ 2, "SELECT must_be_alike('busy', format('u = %L', md5((:n)::text)::uuid))" ],
    vacuum => [ 1, 'VACUUM busy' ],
    tidy => [ 1, q{SELECT bf_index_tidy('busy_quiet')} ],
    check => [ 1, $check ]);

sub pgbench {
    my @options = @_;
    return pgbench_command($node, "\\set n random(1, 5000)\n\\set some random(1, 400)\n\\set id random(1, 40000)", \%busy, @options);
}

# Deadlocks come from the updates of the test itself.
my ($out, $errors) = ('', '');
sub no_difference {
    my ($name, @options) = @_;
    IPC::Run::run([ pgbench('--max-tries=10', @options) ], '<', \undef, '>', \$out, '2>', \$errors);
    is($errors =~ s/^pgbench: (?!error).*\n|^pgbench \(.*\n//mgr =~ s/.*deadlock.*\n//gr, '', "$name: no error, and no answer that differs");
    return;
}
no_difference('many sessions', '-t', '300');
answers_are_alike('after many sessions');
is(sqlstate($node, $check), '00000', 'after many sessions: the indexes have all values');
cmp_ok(query(q{SELECT ready FROM bf_index_info('busy_small')}), '>', 20, 'after many sessions: more than 20 ranges have filters');

# A cancelled statement leaves a sound index, and others go on where it stopped.
for my $ms (1 .. 25) {
    $node->psql('postgres', "SET statement_timeout = '${ms}ms'; INSERT INTO busy (k, t) SELECT i, 'c' FROM generate_series(1, 3000) i; VACUUM busy; SELECT bf_index_tidy('busy_pages')");
}
is(sqlstate($node, $check), '00000', 'after cancelled statements: the indexes have all values');
query('VACUUM busy');
is(query(q{SELECT tail_pages < pages_per_range FROM bf_index_info('busy_pages')}), 't', 'VACUUM gives a filter to every complete range');
answers_are_alike('after cancelled statements');

# --- crashes at any moment ----------------------------------------------------------------------------

for my $round (1 .. 8) {
    my ($some, $said) = ('', '');
    my $bench = IPC::Run::start([ pgbench('-T', '60') ], '<', \undef, '>', \$some, '2>', \$said);
    my $build = IPC::Run::start([ 'psql', '-X', '-h', $node->host, '-p', $node->port, '-c',
        'CREATE INDEX CONCURRENTLY ON busy USING bloompages (t)', '-c', 'REINDEX INDEX busy_small', 'postgres' ],
        '<', \undef, '>', \$some, '2>', \$said) if $round % 2;
    select undef, undef, undef, 0.3 + $round * 0.17;
    $node->stop('immediate');
    $bench->finish;
    $build->finish if $build;
    $node->start;
    query(q{SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
        WHERE indrelid = 'busy'::regclass AND NOT indisvalid}) =~ /(.+)/s and query("$1");
    is(sqlstate($node, "SELECT bf_index_check(indexrelid) FROM pg_index WHERE indrelid = 'busy'::regclass"), '00000',
        "after crash $round: the indexes have all values");
    answers_are_alike("after crash $round");
}

# The initial fork of an unlogged table's index
query(q{CREATE UNLOGGED TABLE unlogged AS SELECT * FROM busy; CREATE INDEX unlogged_pages ON unlogged USING bloompages (k) WITH (pages_per_range = 4)});
$node->stop('immediate');
$node->start;
is(query('SET enable_seqscan = off; SELECT count(*) FROM unlogged WHERE k = 5'), '0', 'unlogged table, after a crash: a query finds no row');
query('INSERT INTO unlogged SELECT * FROM busy; VACUUM unlogged');
is(query(q{SELECT pages_per_range || ' ' || (ready > 5) FROM bf_index_info('unlogged_pages')}), '4 true', 'unlogged table, filled again: the index has filters and its options');
is(sqlstate($node, q{SELECT bf_index_check('unlogged_pages')}), '00000', 'unlogged table, filled again: the index has all values');

# --- CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY while others write ------------------------------

{
    my ($some, $said) = ('', '');
    my $bench = IPC::Run::start([ pgbench('--max-tries=10', '-T', '6') ], '<', \undef, '>', \$some, '2>', \$said);
    for my $round (1 .. 3) {
        query('CREATE INDEX CONCURRENTLY busy_later ON busy USING bloompages (k, t) WITH (pages_per_range = 3)');
        is(sqlstate($node, q{SELECT bf_index_check('busy_later')}), '00000', "CREATE INDEX CONCURRENTLY, round $round: the index has all values");
        query('REINDEX INDEX CONCURRENTLY busy_later');
        is(sqlstate($node, q{SELECT bf_index_check('busy_later')}), '00000', "REINDEX CONCURRENTLY, round $round: the index has all values");
        query('DROP INDEX CONCURRENTLY busy_later');
    }
    $bench->finish;
    is($said =~ s/^pgbench: (?!error).*\n|^pgbench \(.*\n//mgr =~ s/.*deadlock.*\n//gr, '', 'writers beside CREATE INDEX CONCURRENTLY see no error');
}

# --- a standby ------------------------------------------------------------------------------------------

# The standby compares each page that it replays with the primary's. So it finds out if a server reads
# the records of set bits in another way than the index writes them.
$node->append_conf('postgresql.conf', "wal_consistency_checking = 'generic'");
$node->reload;
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby', own_host => 0);
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
no_difference('many sessions, with a standby', '-t', '80');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
answers_are_alike('on a standby', $standby);
is(sqlstate($standby, q{SELECT bf_index_tidy('busy_pages')}), '55000', 'bf_index_tidy() on a standby is an error');
$standby->promote;
is(sqlstate($standby, $check), '00000', 'after promotion: the indexes of the standby have all values');
query(q{INSERT INTO busy (k, t) SELECT i % 1000, 'p' FROM generate_series(1, 20000) i; VACUUM busy}, $standby);
answers_are_alike('after promotion and changes', $standby);
is(sqlstate($standby, $check), '00000', 'after promotion and changes: the indexes have all values');
$standby->stop;
$node->append_conf('postgresql.conf', "wal_consistency_checking = ''");

# A prepared transaction sets its bits before PREPARE.
SKIP: {
    $node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
    $node->restart;
    query(q{BEGIN; INSERT INTO busy (k, t) VALUES (123456, 'prepared'); UPDATE busy SET k = 123456 WHERE id IN (SELECT id FROM busy LIMIT 3); PREPARE TRANSACTION 'two'});
    $node->stop('immediate');
    $node->start;
    query(q{COMMIT PREPARED 'two'});
    is(query(q{SELECT must_be_alike('busy', 'k = 123456') > 0}), 't', 'the rows of a prepared transaction are found after a crash');
    is(sqlstate($node, $check), '00000', '... and the indexes have all values');
}

# --- an index that was built without WAL ------------------------------------------------------------------

$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0");
$node->restart;
query(q{BEGIN; CREATE TABLE minimal (id int, k int); INSERT INTO minimal SELECT i, i FROM generate_series(1, 30000) i;
    CREATE INDEX minimal_pages ON minimal USING bloompages (k); COMMIT; INSERT INTO minimal SELECT i, i FROM generate_series(30001, 60000) i});
$node->stop('immediate');
$node->start;
is(sqlstate($node, q{SELECT bf_index_check('minimal_pages')}), '00000', 'wal_level = minimal, after a crash: the index has all values');
is(query(q{SELECT must_be_alike('minimal', 'k = 4321')}) > 1, 1, 'wal_level = minimal, after a crash: a row is found');

# --- a directory of two pages, and a table that is no heap -------------------------------------------------

# A page has one row, and a range one page. So the table has more than the 254 groups of a page of the
# directory.
query(q{CREATE UNLOGGED TABLE wide (k int, pad text DEFAULT repeat('x', 900)) WITH (fillfactor = 10);
    CREATE INDEX wide_later ON wide USING bloompages (k) WITH (pages_per_range = 1, fpr = 0.1, autosummarize = off);
    INSERT INTO wide SELECT generate_series(1, 32600);
    CREATE INDEX wide_pages ON wide USING bloompages (k) WITH (pages_per_range = 1, fpr = 0.1)});
query('VACUUM wide');
is(query(q{SELECT min(ready) || ' ' || max(ready) FROM unnest('{wide_later,wide_pages}'::regclass[]) i, bf_index_info(i)}), '32600 32600',
    'a directory of two pages: each page of the table has a filter');
query('UPDATE wide SET k = -k WHERE k % 100 = 0');
is(query('SET enable_seqscan = off; SELECT count(*) FROM wide WHERE k = -32500'), '1', 'a directory of two pages: a row of the last groups is found');
is(sqlstate($node, q{SELECT bf_index_check(i) FROM unnest('{wide_later,wide_pages}'::regclass[]) i}), '00000',
    'a directory of two pages: the indexes have all values, also those that were changed');
query('DROP TABLE wide');

SKIP: {
    my $library = compile_library('copied_heap') or skip 'no compiler for another table access method', 1;
    query(qq{CREATE FUNCTION copied_heap(internal) RETURNS table_am_handler LANGUAGE C AS '$library';
        CREATE ACCESS METHOD copied_heap TYPE TABLE HANDLER copied_heap; CREATE TABLE no_heap (k int) USING copied_heap});
    is(sqlstate($node, 'CREATE INDEX ON no_heap USING bloompages (k)'), '0A000', 'a table that is no heap cannot have such an index');
}

# --- damaged pages ----------------------------------------------------------------------------------------

query(q{CREATE TABLE damaged (id int, k int) WITH (fillfactor = 70); INSERT INTO damaged SELECT i, i FROM generate_series(1, 20000) i;
    CREATE INDEX damaged_pages ON damaged USING bloompages (k); VACUUM damaged});
my $file = $node->data_dir . '/' . query(q{SELECT pg_relation_filepath('damaged_pages')});
$node->stop;
my $sound = slurp_file($file);
my $content = 64;
sub damaged_by {
    my ($name, $offset, $bytes, $states, $end) = @_;
    my $changed = $sound;
    substr($changed, $offset, length $bytes) = $bytes;
    $changed = substr $changed, 0, $end if $end;
    open my $handle, '+<:raw', $file or die $!;
    truncate $handle, 0;
    print $handle $changed;
    close $handle;
    $node->start;
    my %seen = map { $_->[0] => sqlstate($node, $_->[1]) } (
        [ scan => 'SET enable_seqscan = off; SELECT count(*) FROM damaged WHERE k = 77' ],
        [ insert => 'BEGIN; UPDATE damaged SET k = 77 WHERE k = 1; ROLLBACK' ],
        [ check => q{SELECT bf_index_check('damaged_pages')} ]);
    is(join(' ', map { "$_ $seen{$_}" } qw(scan insert check)), $states, "$name: " . $states);
    my (undef, undef, $message) =
      $node->psql('postgres', q{SELECT bf_index_check('damaged_pages')});
    $node->stop;
    return $message;
}
damaged_by('nothing', 0, substr($sound, 0, 1), 'scan 00000 insert 00000 check 00000');
like(damaged_by('the meta page is no meta page', 24, 'x', 'scan XX002 insert XX002 check XX002'),
    qr/block 0 is not a meta page$/m, '... and a message that names the page');
damaged_by('a number of the meta page', $content, "\x01", 'scan XX002 insert XX002 check XX002');
like(damaged_by('the directory is no directory', 8192 + 24, 'x',
        'scan XX002 insert XX002 check XX002'),
    qr/block 1 is not a page of the directory$/m, '... and a message that names the page');
# The values 1 and 77 are on other lines than the first two, so only the check reads these.
like(damaged_by('a page of lines is no page of lines', 2 * 8192 + 24, 'x', 'scan 00000 insert 00000 check XX002'),
    qr/block 2 is not a page of lines$/m, '... and a message that names the page');
damaged_by('a slot has no lines', 8192 + $content + 4, "\0\0\0\0", 'scan XX002 insert XX002 check XX002');
damaged_by('a slot has another layout', 8192 + $content + 8, "\x21", 'scan XX002 insert XX002 check XX002');
damaged_by('a slot begins after the end', 8192 + $content, "\xff\x0f\0\0", 'scan XX002 insert XX002 check XX002');
damaged_by('a slot has fewer lines', 8192 + $content + 4, pack('L', unpack('L', substr $sound, 8192 + $content + 4, 4) - 1), 'scan XX002 insert XX002 check XX002');
damaged_by('the last page is gone', 0, '', 'scan XX002 insert 00000 check XX002', length($sound) - 8192);
like(damaged_by('one page of lines is that of another group', 3 * 8192 + 36, "\xff",
        'scan 00000 insert 00000 check XX002'),
    qr/block 3 is not a page of its group$/m, '... and a message that names the page');
my $lines = length($sound) / 8192 - 2;
{
    my $changed = $sound;
    substr($changed, 8192 * (2 + $_) + 36, 4) = "\xff\0\0\0" for 0 .. $lines - 1;
    my $of_other_group = $changed;
    damaged_by('pages of lines are those of another group', 0, $of_other_group, 'scan XX002 insert XX002 check XX002');
    $changed = $sound;
    substr($changed, 8192 * (2 + $_) + $content, 8128) = "\0" x 8128 for 0 .. $lines - 1;
    damaged_by('the bits of all filters are gone', 0, $changed, 'scan 00000 insert 00000 check XX002');
    damaged_by('nothing is damaged again', 0, substr($sound, 0, 1), 'scan 00000 insert 00000 check 00000');
    $node->start;
    query('DELETE FROM damaged');
    $node->stop;
    damaged_by('pages of lines are those of another group, and no row is left', 0, $of_other_group, 'scan XX002 insert 00000 check XX002');
}
open my $handle, '+<:raw', $file or die $!;
truncate $handle, 0;
print $handle $sound;
close $handle;
$node->start;
query('REINDEX INDEX damaged_pages');
is(sqlstate($node, q{SELECT bf_index_check('damaged_pages')}), '00000', 'REINDEX makes a damaged index again');
$node->stop;
done_testing();
