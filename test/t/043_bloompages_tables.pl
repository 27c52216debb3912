# A bloompages index on tables that regression tests cannot make: with empty pages
# after a crash, in another tablespace, and of another access method.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('tables');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# --- empty pages -------------------------------------------------------------------------------------

# A server that extends a table and crashes leaves empty pages. From 16 on, it extends a table by many
# pages at once. INSERT gives a range with many empty pages no filter as long as rows come to the pages
# after it, but later ranges do not wait for ever.
query(q{
    CREATE TABLE extended (id int, pad text DEFAULT repeat('x', 6000));
    ALTER TABLE extended ALTER pad SET STORAGE plain;
    CREATE INDEX extended_id ON extended USING bloompages (id) WITH (pages_per_range = 4);
    INSERT INTO extended SELECT generate_series(1, 16);
    CHECKPOINT});
my $ready = q{SELECT ready FROM bf_index_info('extended_id')};
is(query($ready), 2, 'without empty pages, INSERT gives filters to all ranges but the last two');
my $file = $node->data_dir . '/' . query(q{SELECT pg_relation_filepath('extended')});
$node->stop;
append_to_file($file, "\0" x (4 * 8192));
$node->start;
is(query(q{SELECT pg_relation_size('extended') / 8192}), 20, 'four pages are empty');
# The server puts the first row into the last page.
query('INSERT INTO extended SELECT generate_series(17, 16 + 33)');
is(query($ready), 4, 'INSERT gives no filter to a range of empty pages');
query('INSERT INTO extended SELECT generate_series(101, 103)');
cmp_ok(query($ready), '>', 4, '... until rows have filled eight more ranges');
query('INSERT INTO extended SELECT generate_series(201, 200 + 100)');
is(query(q{SELECT tail_pages <= 8 FROM bf_index_info('extended_id')}), 't', '... and then goes on as before');
query('VACUUM extended'); # so that the server finds the empty pages
query('INSERT INTO extended SELECT generate_series(301, 300 + 10)');
is(query(q{SELECT count(*) FROM extended WHERE (ctid::text::point)[0] BETWEEN 16 AND 18}), 3, 'rows come into the empty pages');
is(query(q{SET enable_seqscan = off; SELECT count(*) FROM extended WHERE id BETWEEN 301 AND 310 AND id = ANY (ARRAY(SELECT generate_series(301, 310)))}),
    10, '... and are found');
is(sqlstate($node, q{SELECT bf_index_check('extended_id')}), '00000', '... and the index has all values');

# --- another tablespace ------------------------------------------------------------------------------

my $place = PostgreSQL::Test::Utils::tempdir_short();
query("CREATE TABLESPACE elsewhere LOCATION '$place'");
query(q{
    CREATE TABLE moved AS SELECT i AS id FROM generate_series(1, 20000) i;
    CREATE INDEX moved_id ON moved USING bloompages (id) WITH (pages_per_range = 4)});
my $found = q{SET enable_seqscan = off; SELECT count(*) FROM moved WHERE id IN (7, 20007, 19999)};
for my $statement ('ALTER TABLE moved SET TABLESPACE elsewhere', 'ALTER INDEX moved_id SET TABLESPACE elsewhere',
    'REINDEX (TABLESPACE pg_default) INDEX moved_id', 'REINDEX (TABLESPACE elsewhere) INDEX CONCURRENTLY moved_id') {
    query($statement);
    is(query($found), 2, "$statement: rows are found");
    is(sqlstate($node, q{SELECT bf_index_check('moved_id')}), '00000', '... and the index has all values');
}
query('INSERT INTO moved SELECT i FROM generate_series(20001, 40000) i; DELETE FROM moved WHERE id = 7');
$node->stop('immediate');
$node->start;
is(query($found), 2, 'after a crash, rows are found');
is(sqlstate($node, q{SELECT bf_index_check('moved_id')}), '00000', '... and the index has all values');

# --- another access method ---------------------------------------------------------------------------

SKIP: {
    my $compiled = compile_library('copied_heap') or skip 'no compiler for the server', 3;
    query(qq{CREATE FUNCTION copied_heap(internal) RETURNS table_am_handler LANGUAGE C AS '$compiled';
        CREATE ACCESS METHOD copied_heap TYPE TABLE HANDLER copied_heap;
        CREATE TABLE copied USING copied_heap AS SELECT generate_series(1, 1000) AS id});
    my (undef, undef, $error) = $node->psql('postgres', 'CREATE INDEX ON copied USING bloompages (id)');
    like($error, qr/access method "bloompages" does not support tables of other access methods than heap/,
        'an index on a table of another access method is an error');
    is(sqlstate($node, 'ALTER TABLE moved SET ACCESS METHOD copied_heap'), '0A000', '... and so is to give an indexed table another access method');
    is(query($found), 2, '... which changes nothing');
}

clean_log($node);
done_testing();
