# The recipe of doc/streaming.md, a table of small filters (shards) for many writers. Concurrent
# writers have no deadlock and lose no value. A crash loses no acknowledged value. Filters stay inline,
# and updated rows stay on their page. All shards together keep the false positive rate.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_server('shards');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# For a number of values at 1 %, the recipe has $shards filters for $capacity values each.
my ($shards, $capacity);

sub empty_table {
    my ($expected) = @_;
    ($shards, $capacity) = split /\|/,
      query("SELECT n, $expected / n + 1 FROM bf_shard_count($expected, 0.01) n");
    query(q{
        DROP TABLE IF EXISTS seen;
        CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL)
          WITH (fillfactor = 50)});
    return;
}

sub new_table {
    my ($expected) = @_;
    empty_table($expected);
    query("INSERT INTO seen SELECT i, bf_create($capacity) FROM generate_series(0, $shards - 1) i;"
          . ' ALTER TABLE seen SET (fillfactor = 100)');
    return;
}

sub add_one {
    my ($value) = @_;
    return "INSERT INTO seen AS s VALUES (bf_shard($value, $shards), bf_create($capacity) + $value)"
      . " ON CONFLICT (shard) DO UPDATE SET filter = s.filter + $value"
      . " WHERE NOT s.filter @> $value";
}

sub add_many {
    my ($values) = @_;
    return "INSERT INTO seen AS s SELECT bf_shard(v, $shards), bf_agg(v, $capacity)"
      . " FROM $values v(v) GROUP BY 1 ORDER BY 1"
      . ' ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter'
      . ' WHERE s.filter <> (s.filter | excluded.filter)';
}

# Returns the number of values that their shards do not contain.
sub missing {
    my ($values) = @_;
    return query("SELECT count(*) FROM $values v(v) WHERE NOT EXISTS"
          . " (SELECT FROM seen WHERE shard = bf_shard(v, $shards) AND filter @> v)");
}

sub deadlocks { return query(q{SELECT sum(deadlocks) FROM pg_stat_database}) }

# 16 writers of overlapping batches; each batch is a transaction over all shards. The first batches
# create the shards. Half of the batches have their values in one order, half in the other.
empty_table(40000);
query('CREATE TABLE acknowledged (first int)');
$node->pgbench('-n -c 16 -j 2 -t 50', 0, [qr{actually processed: 800/800}], [qr/^$/],
    '16 writers of overlapping batches',
    {
        up => '\set first random(1, 40) * 500' . "\nBEGIN;\n"
          . add_many('generate_series(:first + 1, :first + 1000)')
          . ";\nINSERT INTO acknowledged VALUES (:first);\nCOMMIT;\n",
        down => '\set first random(1, 40) * 500' . "\nBEGIN;\n"
          . add_many('generate_series(:first + 1000, :first + 1, -1)')
          . ";\nINSERT INTO acknowledged VALUES (:first);\nCOMMIT;\n"
    });
is(deadlocks(), 0, 'writers of overlapping batches have no deadlock');
is(query('SELECT count(*) FROM acknowledged'), 800, 'every batch was acknowledged');
is( missing('(SELECT first + i FROM (SELECT DISTINCT first FROM acknowledged) a,'
          . ' generate_series(1, 1000) i)'),
    0, 'every value of an acknowledged batch is contained');

# Single values and batches at the same time, with readers that must never see a value disappear
new_table(40000);
query('TRUNCATE acknowledged');
$node->pgbench('-n -c 16 -j 2 -t 200', 0, [qr{actually processed: 3200/3200}], [qr/^$/],
    '16 writers of single values and batches',
    {
        'single@8' => '\set v random(1, 30000)' . "\n"
          . add_one(':v') . ";\nINSERT INTO acknowledged VALUES (:v);\n"
          . "SELECT 1 / count(*) FROM seen WHERE shard = bf_shard(:v, $shards) AND filter @> :v;\n",
        'batch@1' => '\set v random(1, 30000)' . "\n"
          . add_many('generate_series(:v, :v + 100)') . ";\nINSERT INTO acknowledged VALUES (:v);\n"
    });
is(deadlocks(), 0, 'writers of single values and batches have no deadlock');
is(missing('(SELECT DISTINCT first FROM acknowledged)'), 0, 'every acknowledged value is contained');

# All shards are filled to their capacity.
my $count = 1_000_000;
new_table($count);
query(add_many("generate_series(1, $count)"));
is(query('SELECT count(*) FROM seen WHERE bf_count(filter) > 0'),
    $shards, 'a million values are spread over all shards');
is(missing("generate_series(1, $count)"), 0, 'all of a million values are contained');
my ($fullest, $rate) = split /\|/,
  query("SELECT max(bf_count(filter) / $capacity), avg(bf_fpr(filter)) FROM seen");
cmp_ok($fullest, '>', 1.03, 'some shards hold over 3 % more values than they were made for');
cmp_ok($rate, '<', 0.0105, 'yet the average rate that bf_fpr() estimates is at most 1.05 %');
my $strangers = query("SELECT count(*) FROM generate_series($count + 1, 2 * $count) v WHERE EXISTS"
      . " (SELECT FROM seen WHERE shard = bf_shard(v, $shards) AND filter @> v)");
cmp_ok($strangers, '<', 0.0105 * $count, 'at most 1.05 % of a million other values are false positives');
cmp_ok($strangers, '>', 0.0090 * $count, 'and at least 0.9 %');

# Filters stay inline, updated rows stay on their page, and an addition writes little WAL.
sub wal_of {
    my ($values, $sql) = @_;
    return query("SELECT pg_current_wal_insert_lsn() AS before \\gset\n$sql\n"
          . "SELECT round((pg_current_wal_insert_lsn() - :'before') / $values)");
}

sub each_in_a_transaction {
    my ($sql) = @_;
    return "DO \$\$ BEGIN FOR v IN 2000001 .. 2020000 LOOP $sql; COMMIT; END LOOP; END \$\$;";
}

sub batches_of {
    my ($size, $from) = @_;
    return "DO \$\$ BEGIN FOR n IN 0 .. 20000 / $size - 1 LOOP "
      . add_many("(SELECT $from + $size * n + i FROM generate_series(1, $size) i)")
      . '; COMMIT; END LOOP; END $$;';
}

sub add_existing {
    my ($value) = @_;
    return "UPDATE seen SET filter = filter + ($value) WHERE shard = bf_shard($value, $shards)"
      . " AND NOT filter @> ($value)";
}
new_table($count);
query(add_many("generate_series(1, $count / 2)") . '; VACUUM seen; CHECKPOINT');
query(each_in_a_transaction(add_one('v')) =~ s/20(\d{5})/10$1/gr);    # writes full-page images before
my %wal = (
    value => wal_of(20000, each_in_a_transaction(add_one('v'))),
    'value by UPDATE' => wal_of(20000, each_in_a_transaction(add_existing('v + 100000'))),
    'value of a batch of 100' => wal_of(20000, batches_of(100, 3000000)),
    'value of a batch of 10000' => wal_of(20000, batches_of(10000, 4000000)));
note("WAL bytes per $_: $wal{$_}") for sort keys %wal;
cmp_ok($wal{$_}, '<=', 250, "at most 250 bytes of WAL per $_") for sort keys %wal;
cmp_ok(wal_of(20000, each_in_a_transaction(add_existing('v'))),
    '<', 5, 'an UPDATE for a value that is contained writes no WAL');
$node->poll_query_until('postgres', # statistics may come late
    q{SELECT n_tup_upd > 60000 FROM pg_stat_user_tables WHERE relname = 'seen'})
  or die 'too few updates';
my ($updates, $hot, $toast, $pages) = split /\|/, query(q{
    SELECT n_tup_upd, n_tup_hot_upd, pg_relation_size(reltoastrelid), pg_relation_size(c.oid) / 8192
    FROM pg_stat_all_tables JOIN pg_class c ON c.oid = relid WHERE c.relname = 'seen'});
is($hot, $updates, 'all updates are HOT: rows stay on their page');
is($toast, 0, 'no filter is out of line');
cmp_ok($pages, '<=', $shards / 2 + 1, 'the table has not grown by the updates');

# A crash: each session logs the values that were acknowledged, and the server is killed meanwhile.
new_table($count);
my $dir = PostgreSQL::Test::Utils::tempdir();
my @sessions;
for my $session (0 .. 3) {
    my $sql = join '', map {
        my $first = 10 * (4 * $_ + $session);
        $_ % 20
          ? add_one($first) . " RETURNING '$first';\n"
          : 'WITH batch AS (' . add_many("generate_series($first, $first + 9)")
          . " RETURNING 1) SELECT '$first+9' FROM batch LIMIT 1;\n"
    } 1 .. 50000;
    append_to_file("$dir/$session.sql", $sql);
    push @sessions, IPC::Run::start(
        [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
            '-f', "$dir/$session.sql" ],
        '>', "$dir/$session.out", '2>', "$dir/$session.err");
}
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
for (1 .. 600) {
    last if query('SELECT coalesce(sum(bf_count(filter)), 0) > 20000 FROM seen') eq 't';
    usleep(50_000);
}
my @children = split ' ', `ps -o pid= --ppid $postmaster`;
$node->kill9;
kill 'KILL', @children;
$_->finish for @sessions;
usleep(100_000) while grep { kill 0, $_ } $postmaster, @children;
$node->start;
my @acknowledged = map { split /\n/, slurp_file("$dir/$_.out") } 0 .. 3;
cmp_ok(@acknowledged, '>', 100, 'values were acknowledged before the crash');
cmp_ok(@acknowledged, '<', 200000, 'the crash came before all values were added');
query('CREATE TABLE survivors (first int, last int); INSERT INTO survivors VALUES '
      . join(', ', map { /^(\d+)\+9$/ ? "($1, $1 + 9)" : "($_, $_)" } @acknowledged));
is(missing('(SELECT generate_series(first, last) FROM survivors)'),
    0, 'after the crash, every acknowledged value is contained');
is(query('SELECT count(*) FROM seen WHERE bf_check(filter) IS NOT NULL'),
    0, 'after the crash, all filters are sound');

done_testing();
