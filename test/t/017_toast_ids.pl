# The cache of stored filters has the ids of TOAST values as its keys, and PostgreSQL reuses these ids.
# During a transaction, a filter can be removed, and another filter of the same size can get the same
# id. Then probes must use the other filter, not the cached one. As long as a cached filter cannot have
# been removed, it must not be read again.
#
# A C function sets the server's counter of ids back, as if it had wrapped around.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $next_oid = compile_library('next_oid')
  or plan skip_all => "nothing compiles with the server's headers";
my $node = new_server('toast_ids');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Two filters of the same size, 12 chunks that fill 3 pages. If `of` is 0, the filter contains 0 to
# 18899; if `of` is 1, it contains 1000000 to 1018899.
query(qq{
    CREATE FUNCTION set_next_oid(oid) RETURNS void LANGUAGE C AS '$next_oid';
    CREATE TABLE filters (of int, f bloomfilter);
    INSERT INTO filters SELECT i / 1000000, bf_agg(i, 18900)
      FROM generate_series(0, 1000000, 1000000) first, generate_series(first, first + 18899) i GROUP BY 1;
    CREATE TABLE stored (f bloomfilter)});
my $toast = query(q{SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'stored'::regclass});
query(qq{
    CREATE FUNCTION id() RETURNS oid STABLE LANGUAGE sql AS 'SELECT DISTINCT chunk_id FROM $toast';
    CREATE FUNCTION filter(n int) RETURNS bloomfilter STABLE LANGUAGE sql
      AS 'SELECT f FROM filters WHERE of = n';
    CREATE FUNCTION found(n int) RETURNS bigint LANGUAGE sql AS
      'SELECT count(*) FROM generate_series(n * 1000000, n * 1000000 + 18899) i
        WHERE (SELECT f FROM stored) \@> i';
    CREATE FUNCTION found_in_variable(n int) RETURNS int LANGUAGE plpgsql AS \$\$
      DECLARE
        filter bloomfilter;
        found int := 0;
      BEGIN
        SELECT f INTO filter FROM stored;
        FOR i IN n * 1000000 .. n * 1000000 + 18899 LOOP
          found := found + (filter \@> i)::int;
        END LOOP;
        RETURN found;
      END \$\$});
my $store = 'TRUNCATE stored; INSERT INTO stored VALUES (filter(0));';

# Returns psql commands by which another session removes the TOAST value with the id `known`, and then
# stores the other filter with this id.
sub replaced_by {
    my ($name, $remove) = @_;
    open my $script, '>', "$dir/$name.sql" or die $!;
    print $script "$remove;", q{
        SELECT set_next_oid(:known) \gset
        UPDATE stored SET f = filter(1);
        SELECT 'another id' WHERE id() <> :known;
    };
    close $script;
    my $psql = "psql -XAtq -v ON_ERROR_STOP=1 -d '" . $node->connstr('postgres') . "'";
    return "\\setenv known :known\n\\! $psql -v known=\$known -f '$dir/$name.sql'\n";
}
# If the chunks are dead and their pages full, reading the pages prunes the chunks. That is used where
# possible, because VACUUM also tells all sessions that the table has changed. Only VACUUM removes what
# a subtransaction stored that was rolled back.
my $updated = replaced_by('updated', "UPDATE stored SET f = NULL; SELECT count(*) AS read FROM $toast \\gset\n");
my $vacuumed = replaced_by('vacuumed', 'VACUUM (TRUNCATE false) stored');
my $known = 'SELECT id() AS known \gset';

for my $found (qw(found found_in_variable)) {
    is( query("$store BEGIN; $known\nSELECT $found(0);\n${updated}SELECT $found(1), $found(0) < 1000; COMMIT"),
        "18900\n18900|t", "$found(): a filter that was replaced between two statements is not used any more");
}
is( query('TRUNCATE stored; INSERT INTO stored VALUES (NULL);'
          . ' BEGIN; DECLARE snapshot CURSOR FOR SELECT; FETCH snapshot;'
          . " SAVEPOINT undone; UPDATE stored SET f = filter(0); $known\nSELECT found(0);"
          . " ROLLBACK TO undone;\n${vacuumed}SELECT found(1); COMMIT"),
    "18900\n18900",
    'a filter of a subtransaction that was rolled back is not used, while a snapshot is held');
for my $begin ('BEGIN', 'BEGIN ISOLATION LEVEL REPEATABLE READ',
    'BEGIN; DROP TABLE stored; CREATE TABLE stored (f bloomfilter)') {
    is( query("$begin; $store"
              . q{SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = 'stored'::regclass \gset}
              . "\nSELECT DISTINCT chunk_id AS known FROM :toast \\gset\n"
              . 'SELECT found(0); TRUNCATE stored; SELECT set_next_oid(:known) \gset' . "\n"
              . 'INSERT INTO stored VALUES (filter(1)); SELECT found(1);'
              . ' SELECT DISTINCT chunk_id = :known FROM :toast; ROLLBACK'),
        "18900\n18900\nt", "a filter that the transaction itself replaced is not used any more: $begin");
}
is( query(qq{
        $store
        DO \$\$
          DECLARE
            known oid := id();
          BEGIN
            ASSERT found(0) = 18900;
            TRUNCATE stored;
            PERFORM set_next_oid(known);
            INSERT INTO stored VALUES (filter(1));
            ASSERT id() = known, 'another id';
            ASSERT found(1) = 18900, 'members are missing';
          END \$\$;
        SELECT found(1)}),
    18900, 'a filter that a DO statement replaced is not used any more');

# A filter that was copied is not read again while the transaction holds a snapshot.
query($store);
for (
    [ 'READ COMMITTED', '>', 5 ], [ 'REPEATABLE READ', '<=', 2 ],
    [ 'READ COMMITTED; DECLARE snapshot CURSOR FOR SELECT; FETCH snapshot', '<=', 2 ]) {
    my ($begin, $than, $buffers) = @$_;
    my $plan = query("BEGIN ISOLATION LEVEL $begin; SELECT found(0) \\gset\n"
          . 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, COSTS OFF, SUMMARY OFF)'
          . ' SELECT count(*) FROM generate_series(1, 1000) i WHERE (SELECT f FROM stored) @> i; COMMIT');
    my ($hits) = $plan =~ /^ *Buffers: shared hit=(\d+)/m or die "no buffers: $plan";
    cmp_ok($hits, $than, $buffers, "$begin: the next statement touches $hits buffers, $than $buffers");
}
is( query(qq{
        DO \$\$
          DECLARE
            hits bigint;
          BEGIN
            ASSERT found(0) = 18900;
            hits := pg_stat_get_xact_blocks_hit('$toast'::regclass);
            ASSERT found(0) = 18900;
            ASSERT pg_stat_get_xact_blocks_hit('$toast'::regclass) = hits;
          END \$\$;
        SELECT 'not read again'}),
    'not read again', 'the second of two queries within a DO statement does not read the filter again');

clean_log($node);
done_testing();
