# A statement that is cancelled, by a signal or by statement_timeout, ends within a second of the
# backend's processor time, whatever function it is calling. Then the same session goes on. Its answers
# are right, no temporary file is left, and its memory has been freed.
#
# The calls are as long as possible, most of them longer than a second. Each is interrupted at a random
# moment (test/t/Faults.pm). If a call ended before this moment, it is interrupted again, so early that
# it cannot have ended, even on a busy machine. Calls that need more memory are tested if
# BLOOMFILTER_TEST_LARGE is set.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Faults;
use List::Util qw(max min);
use PostgreSQL::Test::Utils;
use Support;
use Test::More;
use Time::HiRes qw(time);

use constant MB => 1024 * 1024;

my $node = new_server('cancelled', conf => "max_parallel_workers = 8\nmax_worker_processes = 8\n");
my $dir = PostgreSQL::Test::Utils::tempdir();
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# --- long calls ------------------------------------------------------------------------------------

# Writes a bloomfilter of self-sized links of 5 MiB. The links differ in one byte near the end, so
# comparing two of them reads both as a whole.
sub write_links {
    my ($file, $count, $from_end) = @_;
    my $units = 5 * MB / 64;
    my $entry = pack 'Q< d< V C C v', 0, 0, $units, 6, 0x12, 0;
    open my $out, '>:raw', $file or die "$file: $!";
    print $out pack('C4 Q< Q< d< V C x3', 1, 1, 1, 0, 0, 0, 0, $count, 1), $entry x $count;
    for my $i (1 .. $count) {
        my $bitmap = "\0" x (64 * $units);
        substr($bitmap, -$from_end, 1) = chr $i;
        print $out $bitmap;
    }
    close $out or die "$file: $!";
    return;
}
write_links("$dir/links_$_", 32, $_) for 1, 2;

query(qq{
    CREATE TYPE pair AS (a int, b numeric);
    CREATE UNLOGGED TABLE made (i int[], n numeric[], r pair[], t text[], j jsonb);
    ALTER TABLE made ALTER i SET STORAGE EXTERNAL, ALTER n SET STORAGE EXTERNAL,
      ALTER r SET STORAGE EXTERNAL, ALTER t SET STORAGE EXTERNAL, ALTER j SET STORAGE EXTERNAL;
    INSERT INTO made SELECT array_fill(7, array[20000000]), array_fill(7.5, array[6000000]),
      array_fill((7, 7.5)::pair, array[2000000]), array_fill('seven'::text, array[6000000]),
      to_jsonb(array_fill(7, array[3000000]));
    CREATE UNLOGGED TABLE linked (a bloomfilter, b bloomfilter);
    INSERT INTO linked SELECT pg_read_binary_file('$dir/links_1')::bloomfilter, pg_read_binary_file('$dir/links_2')::bloomfilter;
    CREATE UNLOGGED TABLE rows AS SELECT i, i % 50000 AS few, md5(i::text) AS word FROM generate_series(1, 600000) i;
    ALTER TABLE rows ALTER few SET STATISTICS 10000;
    ANALYZE rows (i, few);
    -- A page has a hundred rows of 10 MB. Copying a compressed value is fast.
    CREATE UNLOGGED TABLE wide AS SELECT 0 AS i, repeat('x', 10000000) AS word;
    INSERT INTO wide SELECT id, word FROM wide, generate_series(1, 160) id;
    ANALYZE wide;
    CREATE UNLOGGED TABLE filters AS
      SELECT id, bf_create(14000) + id AS f, cf_create(3000) + id AS k FROM generate_series(1, 3000) id;
    CREATE INDEX rows_pages ON rows USING bloompages (i, few, word);
    CREATE UNLOGGED TABLE shards (shard int PRIMARY KEY, f bloomfilter);
});

my $rows = 'FROM generate_series(1, 3000000) i';
my $spilling = q{SET work_mem = '1MB'; SET hash_mem_multiplier = 1};
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
  . ' SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2';
# The arguments are columns of a table. If they were constants, the planner would compute the calls and
# copy their results.
my ($largest, $medium) = map { "bf_create_by_size($_, 8)" } 'bits', 'bits / 4';
my ($counting, $cuckoo) = ('cbf_create(counters)', 'cf_create(buckets)');
query('CREATE TABLE largest AS SELECT 4294967296 AS bits, 108251015 AS counters, 408021891 AS buckets');

# Each entry has settings and one statement, which will be cancelled.
my @calls = (
    # Building
    (map { my $type = $_; map { [ @$_[0], "SELECT ${type}_agg($_->[1]) IS NULL $rows" ] }
          [ '', 'i' ], [ $spilling, 'i' ], [ $spilling, 'i / 20' ], [ '', 'i, 3000000' ], [ '', "'word ' || i" ] }
        qw(bf cbf cf)),
    (map { [ "$parallel; $spilling", "SELECT ${_}_agg(i) IS NULL FROM rows, generate_series(1, 5) j" ] } qw(bf cbf cf)),
    (map { [ '', "SELECT bf_agg(i, 3000000, 0.01, '$_') IS NULL $rows" ] } qw(guava parquet redis spark datasketches hive)),
    # Building of a table, a page at a time, with values, conditions or hashing that take long
    (map { my $type = $_; map { [ $_, "SELECT ${type}_agg(md5(repeat(word, 200))) IS NULL FROM rows" ] }
          '', $spilling, "$parallel; $spilling" } qw(bf cf)),
    [ '', q{SELECT bf_agg(i) IS NULL, cbf_agg(i) IS NULL FROM rows WHERE md5(repeat(word, 200)) <> ''} ],
    [ '', q{SELECT bf_agg(i) FILTER (WHERE md5(word || word) <> '') IS NULL FROM wide} ],
    [ '', 'SELECT bf_agg(md5(word || word)) IS NULL FROM wide' ],
    [ '', q{SELECT bf_agg(word, 10, 0.01, 'guava_chars') IS NULL FROM wide} ],
    [ '', "SELECT count(bf_agg) FROM (SELECT bf_agg(i) $rows GROUP BY i % 1000) s" ],
    [ '', "SELECT count(f) FROM (SELECT cbf_agg(i, 100000) OVER (ORDER BY i ROWS 1000 PRECEDING) AS f FROM rows) s" ],
    [ '', "SELECT bf_merge_agg(p) IS NULL FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p $rows GROUP BY i % 3) s" ],
    [ 'TRUNCATE shards', "INSERT INTO shards SELECT bf_shard(i, 669), bf_agg(i, 4000) $rows GROUP BY 1 ORDER BY 1" ],
    # Indexes of pages
    [ '', 'CREATE INDEX ON rows USING bloompages (i, few, word)' ],
    [ '', 'CREATE INDEX ON wide USING bloompages (word)' ],
    [ '', q{SELECT bf_index_check('rows_pages')} ],
    # Calls that read whole large filters
    (map { [ '', "SELECT $_ FROM largest" ] }
        "bf_check($largest)", "cbf_check($counting)", "cf_check($cuckoo)", "bf_info($largest)",
        "cbf_info($counting)", "cf_info($cuckoo)", "bf_describe($largest), cf_count($cuckoo)",
        "cf_check($cuckoo + 1 - 1)", "cf_check($cuckoo\::bytea::cuckoofilter)", "bf_check(bf_fold($largest, 1000))",
        "$largest = bf_create_by_size(bits, 9)", "bf_union_count($largest, $largest)", "bf_check($counting\::bloomfilter)",
        "length($medium\::text)", "bf_check($medium\::text::bloomfilter)",
        "bf_check(bf_intersect($medium + 1, $medium + 2)), bf_jaccard($medium + 1, $medium + 2)",
        "cbf_check(cbf_union(cbf_create(counters / 4) + 1, cbf_create(counters / 4) + 2))",
        "bf_check(bf_create(buckets / 4, 0.01, grow => true) + 5 | bf_create(buckets / 4) + 6)"),
    # Unions and intersections
    [ '', 'SELECT bf_check(bf_union(a, b)) FROM linked' ],
    [ '', 'SELECT bf_check(bf_union_agg(f)) FROM linked, LATERAL (VALUES (a), (b)) v (f)' ],
    [ '', 'SELECT cf_check(cf_union(cf_add_all(cf_create(1000000), array_agg(i) FILTER (WHERE i <= 520000)),'
          . ' cf_add_all(cf_create(1000000), array_agg(i) FILTER (WHERE i > 520000)))) FROM generate_series(1, 1033000) i' ],
    [ '', 'SELECT cf_check(cf_add_all(cf_create(1000000), array_agg(i))) FROM generate_series(1, 1050000) i' ],
    # Large arguments
    [ '', 'SELECT bf_check(bf_add_all(bf_create(1000000), i)) FROM made' ],
    [ '', 'SELECT bf_check(bf_add_all(bf_create(100, grow => true), array_agg(i))) FROM generate_series(1, 2000000) i' ],
    [ '', 'SELECT cbf_check(cbf_add_all(cbf_create(1000000), i)) FROM made' ],
    (map { [ '', "SELECT cardinality(bf_contains_each(f, $_)) FROM made, LATERAL (SELECT bf_create(100) + $_" . "[1]) v (f)" ] }
        qw(i n r t)),
    [ '', "SELECT bf_contains_any(bf_create(100) + 8, i), bf_contains_all(bf_create(100) + 7, i) FROM made" ],
    [ '', "SELECT cardinality(bf_contains_each(bf_create(100, layout => 'guava') + 8, i)) FROM made" ],
    (map { [ '', "SELECT bf_hash($_), bf_shard($_, 100) FROM made" ] } qw(i n r t j)),
    [ '', 'SELECT bf_create(10) + j IS NULL, (bf_create(10) + j) @> j FROM made' ],
    [ '', "SELECT bf_hash(repeat('a', 60000000)::varchar), bf_create(10, layout => 'guava_chars') + repeat('a', 60000000) IS NULL" ],
    # Other systems
    (map { [ '', "SELECT bf_check(bf_from_$_->[0](bf_to_$_->[0](bf_create($_->[2], layout => '$_->[0]')), '$_->[1]')) FROM largest" ] }
        [ 'guava', 'long', 'buckets' ], [ 'spark', 'long', 'buckets' ], [ 'hive', 'long', 'buckets' ], [ 'parquet', 'INT64', 'buckets / 5' ]),
    [ '', "SELECT bf_check(bf_from_redis((r).header, (r).chunks))"
          . " FROM (SELECT bf_to_redis(bf_create(buckets / 2, layout => 'redis')) AS r FROM largest OFFSET 0) s" ],
    # Probing, planning and indexing
    [ '', 'SELECT count(*) FROM rows a, generate_series(1, 20) WHERE (SELECT bf_agg(i) FROM rows) @> i' ],
    [ 'SET bloomfilter.scan = off', 'SELECT count(*) FROM rows a, generate_series(1, 20) WHERE (SELECT bf_agg(i) FROM rows) @> i' ],
    [ '', q{SELECT count(*) FROM wide WHERE (SELECT bf_create(10, layout => 'guava_chars') + 'a'::text) @> word} ],
    [ '', q{SELECT count(*) FROM wide WHERE (SELECT bf_create(10) + 'a'::text) @> md5(word || word)} ],
    [ q{SET work_mem = '64kB'}, 'SELECT count(*) FROM filters, generate_series(1, 1000) i WHERE f @> i OR k @> i' ],
    [ '', 'ANALYZE filters' ],
    [ '', "SELECT FROM rows WHERE bf_create_by_size(1073741824, 8) @> few LIMIT 0" ],
    [ '', 'CREATE INDEX ON rows (bf_hash(word))' ],
    [ '', 'CREATE INDEX ON filters USING hash (f)' ]);
if ($ENV{BLOOMFILTER_TEST_LARGE}) {
    query(q{
        CREATE UNLOGGED TABLE large (i int[]); -- array_fill() itself does not look for interrupts
        ALTER TABLE large ALTER i SET STORAGE EXTERNAL;
        INSERT INTO large SELECT array_fill(7, array[120000000])});
    push @calls, [ '', 'SELECT cardinality(bf_contains_each(bf_create(100) + 7, i)) FROM large' ],
      map { [ '', "SELECT $_ FROM largest" ] } "length($largest\::text)", "cf_check($cuckoo\::text::cuckoofilter)";
}

# --- interrupted -----------------------------------------------------------------------------------

my $truth = query('SELECT md5(bf_agg(i)::bytea), md5(cbf_agg(i)::bytea), md5(cf_agg(i)::bytea) FROM generate_series(1, 20000) i');
my $slack = 160 * MB; # for memory that malloc() keeps, the session's buffer, and catalog caches

my $latest = $ENV{BLOOMFILTER_TEST_MINUTES} ? 2 : 0.8;
my (%worst, %whole, %cancelled, @wrong, $session, $at_rest);
# %worst: the most processor time of a call after its interruption. %whole: the least processor time in
# which a call ran to its end.

sub begin_session {
    $session = Faults->session($node);
    $session->ask("SELECT bf_agg(i) IS NULL, cbf_agg(i) IS NULL, cf_agg(i) IS NULL FROM generate_series(1, 20000) i");
    $at_rest = private_bytes($session->pid);
    return;
}

# Cancels a statement by a signal, after the given number of seconds. Returns its SQLSTATE, and the
# processor time that the backend takes after the signal, or one of its workers if that is more.
sub cancel {
    my ($sql, $after) = @_;
    my $moment = time + $after;
    $session->begin($sql);
    wait_until('some work', sub { $session->has_answered || time >= $moment });
    my $leader = $session->pid;
    my @pids = ($leader, split ' ', query("SELECT pid FROM pg_stat_activity WHERE leader_pid = $leader AND pid <> $leader"));
    my %then = map { $_ => cpu_of($_) // 0 } @pids;
    my %latest = %then;
    kill INT => $leader if !$session->has_answered;
    wait_until('an answer', sub {
            $latest{$_} = cpu_of($_) // $latest{$_} for @pids; # a worker may end before the answer comes
            return $session->has_answered;
    });
    my (undef, $state) = $session->wait_for_answer;
    return ($state, max(map { $latest{$_} - $then{$_} } @pids));
}

# Cancels a statement by statement_timeout. Before the timeout, the processor time cannot exceed the
# time that has passed. So the excess over the timeout is returned as the time after the interruption.
sub time_out {
    my ($sql, $after) = @_;
    $session->ask(sprintf 'SET statement_timeout = %d', 1 + 1000 * $after);
    my $begun = cpu_of($session->pid);
    my (undef, $state) = $session->ask($sql);
    my $used = cpu_of($session->pid) - $begun;
    return ($state, $used > $after ? $used - $after : 0);
}

sub interrupt {
    my ($call, $way, $after) = @_;
    my ($set, $sql) = @$call;
    my $name = "@$call";
    $session->ask($set) if $set;
    my $begun = cpu_of($session->pid);
    my ($state, $used) = $way eq 'cancel' ? cancel($sql, $after) : time_out($sql, $after);
    my $what = sprintf '%s %s after %.2f s', $name, $way, $after;
    $worst{$name} = $used if $used > ($worst{$name} // 0);
    $cancelled{$name} ||= $state eq '57014';
    $whole{$name} = min(cpu_of($session->pid) - $begun, $whole{$name} // ()) if $state ne '57014';
    push @wrong, "$what: $used s of processor time" if $used > 1;
    push @wrong, "$what: $state" if $state !~ /^(?:57014|00000|54000)$/; # cancelled, done, or full
    $session->ask('RESET ALL');
    my ($answer) = $session->ask('SELECT md5(bf_agg(i)::bytea), md5(cbf_agg(i)::bytea), md5(cf_agg(i)::bytea)'
          . ' FROM generate_series(1, 20000) i');
    push @wrong, "$what: then $answer" if $answer ne $truth;
    my $kept = private_bytes($session->pid) - $at_rest;
    push @wrong, "$what: $kept bytes of memory are left" if $kept > $slack;
    my $files = temporary_files($node->data_dir);
    push @wrong, "$what: $files are left" if $files;
    return;
}

# Calls of up to 0.05 s need not check for interrupts. Processor time is measured to a hundredth of a
# second, so a call for which this is true took 0.04 s or more.
sub is_long { my ($name) = @_; return $whole{$name} > 0.05 }

begin_session();
while (another_round('calls')) {
    for my $call (@calls) {
        my $name = "@$call";
        interrupt($call, chosen('cancel', 'time_out'), between_numbers(0.01, $whole{$name} // $latest));
        # If the call ended before, it is interrupted after a tenth of the processor time that it needs.
        # It cannot have ended by then.
        interrupt($call, 'time_out', $whole{$name} / 10) if !$cancelled{$name};
    }
}
is(join("\n", @wrong), '',
    scalar(@calls) . ' calls end within a second of an interruption, and the session goes on');
my @names = map { "@$_" } @calls;
my @short = grep { !$cancelled{$_} } @names;
is(join("\n", grep { is_long($_) } @short), '',
    'each call that takes longer than 0.05 s was interrupted before its end');
cmp_ok(scalar @short, '<', @calls / 4, 'less than a quarter of the calls are shorter: ' . scalar(@short));
note(join("\n", @short));
my @slowest = sort { $worst{$b} <=> $worst{$a} } keys %worst;
note(sprintf '%.2f s: %s', $worst{$_}, $_) for grep { defined } @slowest[ 0 .. 9 ];
$session->end;

clean_log($node);
done_testing();
