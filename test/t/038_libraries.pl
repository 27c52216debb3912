# Other libraries may store the rows of a table elsewhere: TimescaleDB compresses the rows of a chunk
# into another table, and Citus has them on other servers. They also mark their tables in queries. Such
# tables are never read by a Bloom Filter Scan or Build, and get no join filter. test/t/other_library.c
# is such a library.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Support;
use Test::More;

my $library = compile_library('other_library')
  or plan skip_all => "nothing compiles with the server's headers";

my $node = new_server('libraries');
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }
query(q{
    CREATE TABLE plain AS SELECT i AS id, i % 1000 AS k FROM generate_series(1, 20000) i;
    CREATE TABLE elsewhere AS TABLE plain;
    CREATE TABLE marked AS TABLE plain;
    CREATE TABLE chosen AS SELECT i AS k FROM generate_series(1, 10) i;
    CREATE INDEX ON elsewhere USING bloompages (k);
    CREATE INDEX ON elsewhere (k);
    ANALYZE plain, elsewhere, marked, chosen});

# Each session loads both libraries, in either order.
my $settings = 'SET max_parallel_workers_per_gather = 0; SET bloomfilter.join_filter = on; SET cpu_tuple_cost = 1';
my %loads = ('the other library last' => "LOAD 'bloomfilter'; LOAD '$library'; $settings",
    'ours last' => "LOAD '$library'; LOAD 'bloomfilter'; $settings");

my %queries = (
    build => [ qr/Bloom Filter Build/, 'SELECT bf_count(bf_agg(k)) FROM %s' ],
    scan => [ qr/Bloom Filter Scan/, 'SELECT count(*) FROM %s WHERE (SELECT bf_agg(k) FROM chosen) @> k' ],
    'join filter' => [ qr/InitPlan.*Bloom Filter Build/s, 'SELECT count(*) FROM %s JOIN chosen USING (k)' ]);
for my $order (sort keys %loads) {
    for my $what (sort keys %queries) {
        my ($node_of, $query) = @{ $queries{$what} };
        like(plan_of($node, $loads{$order}, sprintf $query, 'plain'), $node_of,
            "$order: a plain table has a $what");
        my $other = plan_of($node, $loads{$order}, sprintf $query, 'elsewhere');
        unlike($other, qr/Bloom Filter \w+\) on elsewhere/,
            "$order: a table with rows elsewhere has no $what");
        next if $what ne 'join filter';
        unlike($other, $node_of, "$order: ... and no filter is built for it");
        unlike(plan_of($node, $loads{$order}, sprintf $query, 'marked'), $node_of,
            "$order: a marked table has no join filter");
    }
    unlike(plan_of($node, $loads{$order}, 'SELECT count(*) FROM plain JOIN marked ON plain.id = marked.k WHERE marked.id < 10'),
        qr/Bloom Filter Build/, "$order: no join filter is built of a marked table");
    # The keys are of a table that the other library plans later.
    my $later = 'SELECT count(*) FROM plain JOIN elsewhere USING (id) WHERE elsewhere.k = 3';
    like(plan_of($node, $loads{$order}, $later), qr/InitPlan.*Aggregate.*Seq Scan on elsewhere.*Bloom Filter Scan\) on plain/s,
        "$order: a table with rows elsewhere is read by its library's scan to build a filter");
    unlike(plan_of($node, $loads{$order}, $later), qr/Bloom Filter Build/, "$order: ... and no build reads it");
    is(query("$loads{$order}; $later"), 20, "$order: ... and the join returns all 20 rows");
    unlike(plan_of($node, $loads{$order}, 'SELECT count(*) FROM elsewhere WHERE k = 3'), qr/Index/,
        "$order: no index path is added to a table with rows elsewhere");
    is(query("$loads{$order}; SELECT count(*) FROM elsewhere JOIN chosen USING (k)"), 200,
        "$order: a join returns all 200 rows");
}

clean_log($node);
done_testing();
