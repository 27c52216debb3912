# Partial states (bf_partial) that are spilled, sent by workers, stored, dumped, restored, and copied
# in binary form. Damaged bytes in binary form are refused, or are a state that can be used.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('partial');
sub query { return $node->safe_psql('postgres', join '; ', @_) }

query(q{
    CREATE TABLE rows AS SELECT i, i % 3 AS g FROM generate_series(1, 600000) i;
    ANALYZE rows});
my $truth = query('SELECT md5(bf_agg(i)::bytea) FROM rows');
my $sized = query('SELECT md5(bf_agg(i, 600000)::bytea) FROM rows');

# A self-sized state keeps at least 131 072 hashes in memory before it moves them to files. No file is
# left after the result, after an error, or when a cursor is closed before its end.
my $small = q{SET work_mem = '64kB'};
my $files = q{SELECT count(*) || ' files left' FROM pg_ls_tmpdir()};
for my $case (
    [ 'bf_dist_agg', 'SELECT md5(bf_dist_agg(bf_element_of(i))::bytea) FROM rows', $truth ],
    [ 'groups merged', 'SELECT md5(bf_merge_agg(p)::bytea)'
          . ' FROM (SELECT bf_partial_agg(bf_element_of(i)) AS p FROM rows GROUP BY g) s', $truth ],
    [ 'a sized state', 'SELECT md5(bf_dist_agg(bf_element_of(i), 600000)::bytea) FROM rows', $sized ],
) {
    my ($what, $query, $expected) = @$case;
    my ($result, $bytes) = temp_bytes($node, "$small; $query; $files");
    is($result, "$expected\n0 files left", "$what: the same bytes as bf_agg, and no file is left");
    if ($what eq 'a sized state') {
        is($bytes, 0, "$what: no file is written");
    } else {
        cmp_ok($bytes, '>=', 8 * 131072, "$what: hashes are spilled");
    }
}
my ($status, $out, $errors) = $node->psql('postgres', "$small;"
      . 'SELECT bf_dist_agg(bf_element_of(i)), sum(1 / (i - 600000)) FROM rows');
like($errors, qr/division by zero/, 'a query fails after its hashes were spilled');
is(query("$small; BEGIN; DECLARE c CURSOR FOR SELECT g, bf_partial_agg(bf_element_of(i)) FROM rows"
          . ' GROUP BY g; MOVE 1 FROM c; COMMIT', $files),
    '0 files left', 'neither this error nor a cursor that is not read to its end leaves a file');

# Memory: a state takes no more than bf_agg, with two exceptions. A sized state also keeps hashes
# beside its bitmap. If the result of the query is a partial state, the result takes memory, too.
my $rows = 'FROM generate_series(1, 5000000) i';
my $limit = q{SET work_mem = '4MB'};
for my $arguments ('', ', 5000000') {
    my ($own) = peak_memory($node, "$limit; SELECT length(bf_agg(i$arguments)::text) $rows");
    my ($dist) = peak_memory($node,
        "$limit; SELECT length(bf_dist_agg(bf_element_of(i)$arguments)::text) $rows");
    my $hashes = $arguments ? 2 * 6_400_000 : 0;
    cmp_ok($dist, '<=', 1.1 * $own + $hashes,
        "bf_dist_agg(…$arguments) takes little more than bf_agg: $dist bytes, bf_agg $own");
}

# Many small groups take about as much memory as with bf_agg. All groups share one memory context. The
# server measures its contexts at each new group, so with a context for each group, the time would grow
# with the square of the number of groups.
my %of_groups;
for my $aggregate ('bf_agg(i)', 'bf_dist_agg(bf_element_of(i))') {
    my $plan = query(q{SET work_mem = '256MB'; SET enable_sort = off},
        q{SET max_parallel_workers_per_gather = 0},
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT i / 30, $aggregate FROM rows GROUP BY 1");
    ($of_groups{$aggregate}) = $plan =~ /HashAggregate.*Batches: 1  Memory Usage: (\d+)kB/s
      or die $plan;
}
my ($own, $dist) = @of_groups{sort keys %of_groups};
cmp_ok($dist, '<=', 1.5 * $own,
    "20 000 groups: bf_dist_agg takes at most 1.5 times the memory of bf_agg: $dist kB, bf_agg $own");

# Workers send their states in the form in which states are stored.
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;'
  . ' SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
my %half = (off => 'Partial Aggregate', on => 'Bloom Filter Build');
for my $scan (sort keys %half) {
    for my $memory ($small, q{SET work_mem = '64MB'}) {
        for my $aggregate ('bf_dist_agg(bf_element_of(i))', 'bf_dist_agg(bf_element_of(i), 600000)') {
            my $settings = "$parallel; SET bloomfilter.scan = $scan; $memory";
            like(plan_of($node, $settings, "SELECT $aggregate FROM rows"),
                qr/Finalize Aggregate.*$half{$scan}/s,
                    "$aggregate in workers, $memory: the plan has a $half{$scan}");
            is(query($settings, "SELECT md5($aggregate\::bytea) FROM rows"),
                $aggregate =~ /600000/ ? $sized : $truth, '... and the filter has the same bytes as bf_agg');
        }
    }
}

# States are stored, dumped, restored, and copied in binary form. Merging them gives the same filter.
query(q{
    CREATE TABLE kept AS SELECT g, bf_partial_agg(bf_element_of(i)) AS own,
      bf_partial_agg(bf_element_of(i), 600000) AS sized, min(bf_element_of(i)::text)::bf_element AS e
    FROM rows GROUP BY g;
    CREATE DATABASE restored});
my $digest = 'SELECT md5(bf_merge_agg(own)::bytea), md5(bf_merge_agg(sized)::bytea), '
  . "md5(string_agg(own::text || sized::text || e::text, ',' ORDER BY g)) FROM kept";
my $kept = query($digest);
is(substr($kept, 0, 65), "$truth|$sized", 'stored states are merged to the filter of all rows');
my $dump = $node->basedir . '/kept.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-t', 'kept', $node->connstr('postgres') ],
    'pg_dump of stored states');
$node->safe_psql('restored', 'CREATE EXTENSION bloomfilter');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('restored'), $dump ], 'pg_restore of stored states');
is($node->safe_psql('restored', $digest), $kept, 'stored states are the same after pg_restore');
my $binary = $node->basedir . '/kept.binary';
query("COPY kept TO '$binary' WITH (FORMAT binary)", 'CREATE TABLE copy (LIKE kept)',
    "COPY copy FROM '$binary' WITH (FORMAT binary)");
(my $of_copy = $digest) =~ s/FROM kept/FROM copy/;
is(query($of_copy), $kept, 'stored states are the same after COPY in binary form');

# Each byte of a copied file is changed in turn. The file is refused, or it has a state that can be
# used. If the server crashed, the remaining files would have no outcome.
query(q{
    CREATE TABLE few AS SELECT bf_partial_agg(bf_element_of(i)) AS p, bf_element_of(5) AS e
    FROM generate_series(1, 4) i});
query("COPY few TO '$binary' WITH (FORMAT binary)");
my $sound = slurp_file($binary);
my $head = 11 + 8 + 2; # the bytes of the file's header and of the number of columns
my (@damaged, $script);
for my $at ($head .. length($sound) - 3) {
    for my $flip (1, 128) {
        my $bytes = $sound;
        substr($bytes, $at, 1) = chr(ord(substr $bytes, $at, 1) ^ $flip);
        push @damaged, "$binary.$at.$flip";
        open my $file, '>:raw', $damaged[-1] or die "$damaged[-1]: $!";
        print {$file} $bytes;
        close $file;
        $script .= "BEGIN; COPY few FROM '$damaged[-1]' WITH (FORMAT binary);\n\\echo copied :SQLSTATE\n"
          . "SELECT bf_merge_agg(p), bf_dist_agg(e) FROM few GROUP BY e;\n\\echo used :SQLSTATE\nROLLBACK;\n";
    }
}
my (undef, $printed) = $node->psql('postgres', $script, on_error_stop => 0);
my @copied = $printed =~ /^copied (\w{5})$/mg;
my @used = $printed =~ /^used (\w{5})$/mg;
my %outcomes;
$outcomes{ $copied[$_] eq '00000' ? $used[$_] : $copied[$_] }++ for 0 .. $#damaged;
is(join(' ', grep { !/^(?:00000|22P03|22P04|22023|42804|54000)$/ } sort keys %outcomes),
    '', 'flipped bytes are an error of a few kinds, or a state that can be used: ' . join ' ', %outcomes);
cmp_ok($outcomes{'22P03'}, '>', 50, 'more than 50 flips in the head are refused as invalid');

clean_log($node);
done_testing();
