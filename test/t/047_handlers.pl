# The handlers of the index access methods are a library of their own. From version 18 on, the planner
# calls a handler for nearly every query. That must not load the library of the extension; and if that
# library is away, everything that needs no filter must work.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my %path = copied_server();
my $node = new_server('handlers', install_path => $path{bindir} =~ s|/bin$||r);
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) =~ s/\n/ /gr }

# The libraries of the extension that a session has loaded
my $loaded = q{SELECT string_agg(DISTINCT substring(line FROM '[^/]*$'), ',')
    FROM regexp_split_to_table(pg_read_file('/proc/self/maps'), '\n') line WHERE line ~ '/bloomfilter[^/]*$'};

query(q{
    CREATE TABLE rows AS SELECT i AS id, 'row ' || i AS name FROM generate_series(1, 20000) i;
    CREATE INDEX rows_id ON rows USING bloompages (id);
    CREATE TABLE plain AS SELECT * FROM rows;
    CREATE TABLE filters AS SELECT i AS id, bf_agg(i) AS f FROM generate_series(1, 300) i GROUP BY i;
    CREATE INDEX filters_f ON filters USING bloomfilter (f);
    VACUUM ANALYZE});
my $handlers = 'bloomfilter_handlers.so';
my $only = query('SHOW server_version_num') >= 180000 ? $handlers : '';
is(query("SELECT count(*) FROM plain WHERE id = 77; $loaded"), "1 $only",
    'a query with = loads no more than the handlers');
is(query("SELECT id FROM rows WHERE id = 77; $loaded"), "77 bloomfilter.so,$handlers",
    'a query that may use an index loads the library');
my $finds = 'SET enable_seqscan = off; SELECT id FROM filters WHERE f @> 77';
like(query("EXPLAIN (COSTS OFF) $_"), qr/Index Scan/, 'the index is used') for $finds =~ s/.*; //r;
is(query($finds), '77', '... and finds the row');

# --- without the library ---------------------------------------------------------------------------

unlink "$path{pkglibdir}/bloomfilter.so" or die $!;
is(query('SELECT count(*) FROM plain WHERE id = 77'), '1', 'without the library, a query with = works');
is(query('SELECT count(*) FROM plain a JOIN plain b USING (id, name)'), '20000', '... and so does a join');
my $connection = $node->connstr('postgres');
for my $command (qw(\d \d+ \dx \di+), '\d rows', '\d filters') {
    command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-c', $command ], "... $command");
}
command_ok([ 'pg_dump', '--schema-only', '-f', "$path{root}/dump.sql", $connection ], '... pg_dump of the definitions');
for my $needs (q{SELECT id FROM rows WHERE id = 77}, q{INSERT INTO rows VALUES (1)}, q{SELECT f @> 77 FROM filters}) {
    my (undef, undef, $errors) = $node->psql('postgres', $needs);
    like($errors, qr/ERROR:  could not (?:access|load) .*bloomfilter/, "... an error names the library: $needs");
}
query('SET client_min_messages = warning; DROP EXTENSION bloomfilter CASCADE');
is(query('SELECT count(*) FROM rows WHERE id = 77'), '1', 'DROP EXTENSION leaves the tables');

clean_log($node);
done_testing();
