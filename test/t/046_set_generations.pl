# A set that forgets, with a `keep` of two seconds, under eight writers, crashes and long transactions.
# A value is never certainly new twice within `keep`, is never denied within `keep`, and is gone a
# quarter of `keep` later. All times are those of the transactions. The set also grows meanwhile.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('set_generations', conf => "max_connections = 40\nautovacuum = on\n");

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

query(q{
    SELECT bf_create_set('seen', 'int', 200, 0.0001, '2 seconds');
    CREATE TABLE log (v int, at timestamptz DEFAULT transaction_timestamp());
    CREATE INDEX ON log (v, at)});

# In one statement, the log and the set are seen as of the same time. The log has a value if the
# transaction that added it to the set has committed.
my $denied = q{SELECT 1 / (count(*) = 0)::int FROM log
    WHERE v = :v AND at > transaction_timestamp() - interval '2 seconds' AND NOT seen_has(:v);} =~ s/\n\s*/ /r;
my $add = 'INSERT INTO log SELECT :v WHERE seen_add(:v);';
my $each = '\set v random(1, 3000)' . "\n";
my %scripts = (
    'single@10' => "$each$add\n$denied\n",
    'batch@2' => $each . 'INSERT INTO log SELECT :v WHERE seen_add_all(ARRAY[:v, :v]) = 1;' . "\n$denied\n",
    'repeatable@2' => "${each}BEGIN ISOLATION LEVEL REPEATABLE READ;\n$denied\n$add\n$denied\nEND;\n",
    'serializable@2' => "${each}BEGIN ISOLATION LEVEL SERIALIZABLE;\n$denied\n$add\n$denied\nEND;\n",
    'long@1' => "${each}BEGIN;\n$denied\n\\sleep 700 ms\n$add\n$denied\nEND;\n",
    'longer@1' => "${each}BEGIN;\n$denied\n\\sleep 1600 ms\n$add\n$denied\nEND;\n",
    'longest@1' => "${each}BEGIN;\n$denied\n\\sleep 4 s\n$add\n$denied\nEND;\n");

sub check {
    my ($what) = @_;
    is(query(q{
        SELECT count(*) FROM (SELECT at - lag(at) OVER (PARTITION BY v ORDER BY at) AS pause FROM log) l
        WHERE pause < interval '2 seconds'}), 0, "$what: no value is certainly new twice within keep");
    is(query(q{
        SELECT count(*) FROM log WHERE at > transaction_timestamp() - interval '2 seconds'
          AND NOT seen_has(v)}), 0, "$what: no value is denied within keep");
    return;
}

for my $round (1 .. 3) {
    $node->pgbench('-n -c 8 -j 2 -T 6 --max-tries=1000', 0, [qr{actually processed}], [qr/^$/],
        "round $round: eight writers", { map { ($_ =~ s/@/_$round@/r => $scripts{$_}) } keys %scripts });
    check("round $round");
    next if $round == 3;
    # The server crashes while eight sessions write.
    my @command = pgbench_command($node, '\set v random(1, 3000)',
        { single => [ 1, 'INSERT INTO log SELECT :v WHERE seen_add(:v)' ] }, '-T', 60);
    my $running = IPC::Run::start(\@command, '>', \my $out, '2>', \my $errors);
    select undef, undef, undef, 1.5;
    $node->stop('immediate');
    $running->finish;
    $node->start;
    check("after crash $round");
}
cmp_ok(query('SELECT count(*) FROM log'), '>', 3000, 'values were new more than once');
cmp_ok(query('SELECT max(n) FROM (SELECT count(*) AS n FROM log GROUP BY v) c'), '>', 2,
    'some of them several times');
cmp_ok(query('SELECT rows - shards FROM seen_info()'), '>', 0, 'the set has grown');
query('SELECT pg_sleep(2.6)');
cmp_ok(query('SELECT count(*) FROM generate_series(1, 3000) v WHERE seen_has(v)'), '<', 10,
    'all are gone after one and a quarter of keep');
cmp_ok(query('SELECT count(*) FROM generate_series(1, 3000) v WHERE seen_add(v)'), '>', 2980,
    'and are new again');

clean_log($node);
done_testing();
