# A bloompages index finds the rows that an old snapshot sees, though they were
# deleted before their range got a filter. If they may have been removed, the scan is an error.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Faults;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

# Without checksums, hint bits are not logged. So the server does not know after a crash which
# transactions have committed, until it looks them up.
my $no_checksums = `initdb --help` =~ /--no-data-checksums/ ? ['--no-data-checksums'] : [];
my $node = new_server('snapshots', init => { allows_streaming => 1, extra => [ '--encoding=UTF8', '--no-locale', @$no_checksums ] });

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

my $by_index = 'SET enable_seqscan = off; SET enable_bitmapscan = on; SELECT k FROM aging WHERE k = 77';
my $by_scan = 'SET enable_seqscan = on; SET enable_bitmapscan = off; SELECT k FROM aging WHERE k = 77';
query('CREATE TABLE aging (k int); CREATE INDEX aging_k ON aging USING bloompages (k) WITH (pages_per_range = 1, autosummarize = off)');
# With an expression or a WHERE clause, rows that are dead to all are left out of the filters. The
# index remembers the newest transaction that deleted one.
query(q{
    CREATE TABLE left_out (k int) WITH (autovacuum_enabled = off);
    CREATE TABLE built (k int) WITH (autovacuum_enabled = off);
    CREATE INDEX left_out_k ON left_out USING bloompages ((k + 1), (ARRAY[k])) WITH (pages_per_range = 1, autosummarize = off);
    CREATE INDEX left_out_part ON left_out USING bloompages (k) WITH (pages_per_range = 1, autosummarize = off) WHERE k > 0});
my $rows_by = sub {
    my ($plan, $condition) = @_;
    return 'SET enable_seqscan = ' . ($plan eq 'index' ? 'off' : 'on') . '; SET enable_bitmapscan = ' . ($plan eq 'index' ? 'on' : 'off')
      . "; SELECT string_agg(k::text, ',' ORDER BY k) FROM $condition";
};
my @left_out = ('left_out WHERE k + 1 = 78', 'left_out WHERE ARRAY[k] @> ARRAY[79]', 'left_out WHERE k = 77 AND k > 0', 'built WHERE k * 2 = 154', 'built WHERE k * 2 = 156');

# --- a snapshot on a standby -----------------------------------------------------------------------

# The primary does not know the snapshot, so the row is dead to everybody there. It is still in its
# page.
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby', own_host => 0);
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'wal_retrieve_retry_interval = 100ms');
$standby->start;
query('CHECKPOINT; INSERT INTO aging SELECT generate_series(1, 2000)');
query("INSERT INTO $_ SELECT generate_series(1, 2000)") for 'left_out', 'built';
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
my $reader = Faults->session($standby, 'BEGIN ISOLATION LEVEL REPEATABLE READ');
is(($reader->ask('SELECT count(*) FROM aging'))[0], 2000, 'a snapshot on a standby sees all rows');
query('DELETE FROM aging WHERE k = 77');
query("DELETE FROM $_ WHERE k IN (77, 79)") for 'left_out', 'built';
$node->stop('immediate');
$node->start;
query($_) for 'SELECT txid_current()', q{SELECT bf_index_tidy(i) FROM unnest('{aging_k,left_out_k,left_out_part}'::regclass[]) i};
query('CREATE INDEX built_k ON built USING bloompages ((k * 2)) WITH (pages_per_range = 1)');
is(query(q{SELECT ready > 5 FROM bf_index_info('aging_k')}), 't', 'the ranges get filters after a row was deleted');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is(($reader->ask($by_scan))[0], 77, 'the snapshot sees the row by a scan');
is(($reader->ask($by_index))[0], 77, '... and by the index');
for my $condition (@left_out) {
    my @by_scan = $reader->ask($rows_by->('scan', $condition));
    is_deeply([$reader->ask($rows_by->('index', $condition))], \@by_scan, "$condition: the snapshot sees rows that are left out by the index, too");
}
# A newer snapshot does not read the whole table.
is($standby->safe_psql('postgres', q{SET enable_seqscan = off; EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT FROM left_out WHERE k + 1 = 78}) =~ /lossy=/ ? 'read' : 'not read',
    'not read', 'a newer snapshot does not read the pages of a row that is gone');
$reader->end;
$standby->stop;

# --- old_snapshot_threshold ------------------------------------------------------------------------

# (The value 0 is for tests: a snapshot is too old after five seconds. With this value, servers with
# assertions may stop at any query.)
SKIP: {
    skip 'the server has no old_snapshot_threshold', 3 if query(q{SELECT count(*) FROM pg_settings WHERE name = 'old_snapshot_threshold'}) == 0;
    skip 'the server has assertions', 3 if query('SHOW debug_assertions') eq 'on';
    $node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
    $node->restart;
    query('TRUNCATE aging; INSERT INTO aging SELECT generate_series(1, 2000)');
    my %readers = map { $_ => Faults->session($node) } 'a scan', 'the index';
    $_->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM aging') for values %readers;
    query('SELECT pg_sleep(6)');
    query($_) for 'DELETE FROM aging WHERE k = 77', 'SELECT txid_current()', 'VACUUM aging', 'INSERT INTO aging VALUES (0)';
    is(query(q{SELECT ready > 5 FROM bf_index_info('aging_k')}), 't', 'old_snapshot_threshold: VACUUM has made filters');
    is(($readers{'a scan'}->ask($by_scan))[1], '72000', '... so a scan with an old snapshot is the error 72000, snapshot too old');
    is(($readers{'the index'}->ask($by_index))[1], '72000', '... and so is a lookup');
    $_->end for values %readers;
}

clean_log($node);
done_testing();
