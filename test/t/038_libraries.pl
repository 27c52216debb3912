# Other libraries have tables whose rows are not where the server looks for them, and marks in
# queries by which they find their tables. (TimescaleDB compresses the rows of a chunk into another
# table, Citus has them on other servers.) There, nothing is read by pages and no filter is placed.
# test/t/other_library.c is such a library.

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
    ANALYZE plain, elsewhere, marked, chosen});

# Plans of a query in a session that loads both libraries, in either order.
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
        like(plan_of($node, $loads{$order}, sprintf $query, 'plain'), $node_of, "$order: a $what of a plain table");
        my $other = plan_of($node, $loads{$order}, sprintf $query, 'elsewhere');
        unlike($other, qr/Bloom Filter \w+\) on elsewhere/, "$order: no $what of rows elsewhere");
        next if $what ne 'join filter';
        unlike($other, $node_of, "$order: no filter for them");
        unlike(plan_of($node, $loads{$order}, sprintf $query, 'marked'), $node_of, "$order: no filter for a table with a mark");
    }
    unlike(plan_of($node, $loads{$order}, 'SELECT count(*) FROM plain JOIN marked ON plain.id = marked.k WHERE marked.id < 10'),
        qr/Bloom Filter Build/, "$order: no filter of a table with a mark");
    is(query("$loads{$order}; SELECT count(*) FROM elsewhere JOIN chosen USING (k)"), 200, "$order: all rows");
}

clean_log($node);
done_testing();
