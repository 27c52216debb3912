# Several servers (nodes) are connected by postgres_fdw. Filters are sent between them, and rows are
# not. One node has another encoding. The tests look at the SQL that plans send, count the bytes
# between the servers, and compare the results with a local table that has all rows.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Nodes;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my @names = qw(a b c);
my %nodes = map {
    $_ => new_server($_, init => { extra => [ '--no-locale', '--encoding=' . ($_ eq 'c' ? 'LATIN1' : 'UTF8') ] })
} @names;
my $asker = new_server('asker');
sub query { my ($sql) = @_; return $asker->safe_psql('postgres', $sql) }
plan skip_all => 'the server has no postgres_fdw'
  if !query(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});

my %ports;
@ports{@names} = count_bytes(@nodes{@names});

# --- data ----------------------------------------------------------------------------------------

# Each node has a third of the rows of `here`. Each value has an e with an accent, which is one byte in
# LATIN1 and two in UTF8.
my $rows = 30_000;
my $path = q{U&'usr/share/caf\00E9-' || i % 97 || '/file-' || i};
my $columns = 'id int, node text, path text';
my $select = "SELECT i, chr(97 + i % 3), $path FROM generate_series(1, $rows) i";
query(qq{
    CREATE TABLE here($columns);
    INSERT INTO here $select;
    CREATE TABLE wanted AS SELECT path FROM here WHERE id % 100 = 0;
    CREATE TABLE large AS SELECT bf_agg(path, 100000) AS f FROM here;
    ANALYZE});
for my $name (@names) {
    $nodes{$name}->safe_psql('postgres', qq{
        CREATE TABLE files($columns);
        INSERT INTO files SELECT * FROM ($select) s (id, node, path) WHERE node = '$name';
        CREATE TABLE filters(name text, item int, f bloomfilter, words bloomfilter);
        INSERT INTO filters SELECT 'Filter ' || i, i, bf_create(100000) + i, bf_create(1000) + ('filter ' || i) FROM generate_series(1, 9) i;
        CREATE VIEW facts AS SELECT name, bf_count(f) FROM filters;
        ANALYZE});
}

query("CREATE EXTENSION postgres_fdw; CREATE TABLE files($columns) PARTITION BY LIST (node)");
my $host = $nodes{a}->host; # all nodes have the same
for my $name (@names) {
    my $options = "host '$host', port '$ports{$name}', dbname 'postgres'";
    query(qq{
        CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
          OPTIONS ($options, extensions 'bloomfilter', async_capable 'true', fetch_size '1000');
        CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
        CREATE FOREIGN TABLE files_$name PARTITION OF files FOR VALUES IN ('$name')
          SERVER $name OPTIONS (table_name 'files')});
}
query(qq{
    CREATE FOREIGN TABLE filters(name text, item int, f bloomfilter, words bloomfilter) SERVER a;
    CREATE FOREIGN TABLE facts(name text, bf_count float8) SERVER a;
    CREATE FOREIGN TABLE in_batches($columns) SERVER a OPTIONS (table_name 'files', fetch_size '10');
    CREATE SERVER bare FOREIGN DATA WRAPPER postgres_fdw
      OPTIONS (host '$host', port '$ports{a}', dbname 'postgres');
    CREATE USER MAPPING FOR CURRENT_USER SERVER bare;
    CREATE FOREIGN TABLE bare_files($columns) SERVER bare OPTIONS (table_name 'files');
    CREATE FOREIGN TABLE bare_filters(name text, item int, f bloomfilter, words bloomfilter) SERVER bare OPTIONS (table_name 'filters')});

query('ANALYZE files, files_a, files_b, files_c, filters');

# $talk: the most bytes that a new session sends besides filters and rows, such as its user, its
# settings and the text of a statement. $row: the bytes that a row takes besides its values.
my $talk = 4096;
my $row = 16;

# Returns the length of a filter as text, because postgres_fdw sends values as text.
sub length_of { my ($filter) = @_; return query("SELECT length(($filter)::text)") }

# Checks that a query sends SQL to the given number of nodes, and that each statement matches a pattern.
sub asks_nodes {
    my ($query, $count, $pattern, $name, $settings) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @asked = split /\n/, remote_sql($asker, $query, $settings);
    return is(scalar(grep { /$pattern/ } @asked), $count, $name) && is(scalar @asked, $count,
        '... and no other SQL is sent')
      || diag(join "\n", @asked);
}

# --- rows that a filter lets through ---------------------------------------------------------------

my $filter = '(SELECT bf_agg(path) FROM wanted)';
my $sent = length_of($filter);
my $found = "SELECT path FROM %s WHERE $filter \@> path";
my $in = sub { my ($table, $sql) = @_; return $sql =~ s/%s/$table/r };
my $asked = qr/^SELECT path FROM public\.files WHERE \(\(\$1::public\.bloomfilter OPERATOR\(public\.@>\) path\)\)$/;
asks_nodes($in->('files', $found), 3, $asked, 'the condition with the filter is sent to each of three nodes');
like(verbose_plan($asker, $in->('files', $found)), qr/(?:Async Foreign Scan.*){3}/s,
    '... the nodes work at the same time');

my $digest = 'SELECT count(*), sum(octet_length(path)), md5(string_agg(path, chr(10) ORDER BY path)) FROM (%s) s';
my $found_here = query($in->($in->('here', $found), $digest));
my ($count, $length) = split /\|/, $found_here;
my ($result, $to, $from) = bytes_of($asker, $in->($in->('files', $found), $digest));
is($result, $found_here, '... the rows are those that one server finds');
between($to, 3 * $sent, 3 * ($sent + $talk), '... the bytes to the nodes are three times the filter');
between($from, $length, $length + $row * $count + 3 * $talk,
    '... the bytes from the nodes are the rows that are found');
cmp_ok($from, '<', query('SELECT sum(octet_length(path)) FROM here') / 10,
    '... less than a tenth of all rows');
is(query("SELECT count(*) FROM wanted WHERE path NOT IN (${\$in->('files', $found)})"), 0,
    '... and no member is missing');
is(query("SELECT count(*) FROM (SELECT path FROM (${\$in->('files', $found)} OFFSET 0) s WHERE path IN (SELECT path FROM wanted)) s"),
    $rows / 100, '... and an exact condition keeps only the wanted rows');

# A scan sends its filter once, however often it fetches rows.
my $large = length_of('SELECT f FROM large');
my $batches = $rows / 3 / 10;
($result, $to, $from) = bytes_of($asker, 'SELECT count(*) FROM in_batches WHERE (SELECT f FROM large) @> path');
is($result, $rows / 3, 'a scan that fetches 10 rows at a time returns all rows');
between($to, $large, $large + 32 * $batches + $talk, '... and the filter is sent once');

my $here_a = q{(SELECT * FROM here WHERE node = 'a') h};

# The filter is sent again each time a scan begins again with another parameter.
my $again = 'SELECT sum((SELECT count(*) FROM %s WHERE (SELECT f FROM large) @> path AND id > x)) FROM generate_series(1, 4) x';
($result, $to) = bytes_of($asker, $in->('files_a', $again));
is($result, query($in->($here_a, $again)),
    'a scan that runs four times with different parameters has the right rows');
between($to, 4 * $large, 4 * ($large + $talk), '... and the filter is sent four times');

# If a scan runs again with the same parameters, postgres_fdw may rewind its cursor.
my $apart = 'SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
my $looped = "SELECT count(*), sum(x * id) FROM generate_series(1, 4) x LEFT JOIN (SELECT * FROM %s WHERE $filter \@> path) s ON x < id % 7 + x * 0";
like(verbose_plan($asker, $in->('in_batches', $looped), $apart), qr/Nested Loop(?!.*Materialize).*Foreign Scan/s,
    'the plan is a nested loop over a foreign scan');
is(query($apart . $in->('in_batches', $looped)), query($in->($here_a, $looped)),
    '... which returns the same rows each time');

# --- filters of what nodes have --------------------------------------------------------------------

for my $aggregate ('bf_agg(path, 10000)', 'bf_agg(path, NULL, 0.001)', 'bf_agg(path)', 'bf_agg(id)', 'bf_agg(lower(path))',
    'bf_agg(bf_hash(path))', 'bf_agg(path ORDER BY id)', 'bf_agg(DISTINCT id % 1000)', 'bf_agg(path) FILTER (WHERE id % 2 = 0)',
    'cbf_agg(id % 500)', 'cf_agg(path)') {
    for my $name ($aggregate =~ /path/ ? ('a', 'c') : 'a') {
        asks_nodes("SELECT $aggregate FROM files_$name", 1, qr/^SELECT public\.\w+_agg\(/, "node $name computes $aggregate");
        my $expected = query("SELECT $aggregate FROM here WHERE node = '$name'");
        ($result, $to, $from) = bytes_of($asker, "SELECT $aggregate FROM files_$name");
        is($result, $expected, '... the filter is the same as on one server');
        between($from, length $expected, $talk + length $expected, '... and only the filter is sent back');
    }
}
asks_nodes('SELECT bf_agg((id, path)) FROM files_a', 1, qr/^SELECT id, path FROM/,
    'an aggregate of ROW values fetches rows: a limit of postgres_fdw');
is(query('SELECT bf_agg((id, path)) FROM files_a'), query(q{SELECT bf_agg((id, path)) FROM here WHERE node = 'a'}), '... and the filter is right');

# One filter is made from several nodes.
my $whole = query("SELECT bf_agg(path, $rows) FROM here");
my $partitionwise = 'SET enable_partitionwise_aggregate = on';
my $each = "SELECT node, bf_agg(path, $rows) AS f FROM files GROUP BY node";
my %unions = (
    'a union by node' => [ "SELECT bf_union_agg(f) FROM ($each) s", $partitionwise ],
    'a union of nodes' => [ 'SELECT bf_union_agg(f) FROM ('
          . join(' UNION ALL ', map { "SELECT bf_agg(path, $rows) AS f FROM files_$_" } @names) . ') s', '' ]);
for my $name (sort keys %unions) {
    my ($union, $settings) = @{ $unions{$name} };
    asks_nodes($union, 3, qr/public\.bf_agg\(path, ${rows}::double precision\)/,
        "$name: each node computes its filter", $settings);
    like(verbose_plan($asker, $union, $settings), qr/(?:Async Foreign Scan.*){3}/s, '... at the same time');
    ($result, $to, $from) = bytes_of($asker, "$settings; $union");
    is($result, $whole, '... the union is the filter of all rows');
    between($from, 3 * length $whole, 3 * ($talk + length $whole), '... and each node sends one filter');
}
for my $settings ('', $partitionwise) {
    asks_nodes("SELECT bf_agg(path, $rows) FROM files", 3, qr/^SELECT path FROM/,
        'bf_agg over all nodes fetches their rows: a limit of PostgreSQL', $settings);
    ($result, $to, $from) = bytes_of($asker, "$settings; SELECT bf_agg(path, $rows) FROM files");
    is($result, $whole, '... and the filter is right');
    cmp_ok($from, '>', query('SELECT sum(octet_length(path)) FROM here'), '... and all values are sent');
}

# A self-sized filter of all rows is made from a partial state of each node, and is the same as on one
# server. A state consists of hashes as long as they take fewer bytes than the bitmap.
my $hashes = 8 * $rows * 4 / 3;
my $itself = query('SELECT bf_agg(path) FROM here');
my @partials = (
    [ '', $itself, $hashes ],
    [ ", $rows", $whole, 3 * length $whole ],
    [ ', 10000000', query('SELECT bf_agg(path, 10000000) FROM here'), $hashes ],
    [ ', NULL, 0.001', query('SELECT bf_agg(path, NULL, 0.001) FROM here'), $hashes ]);
for my $case (@partials) {
    my ($arguments, $expected, $most) = @$case;
    my $partial = "bf_partial_agg(bf_element_of(path)$arguments) AS p";
    my $of_all = 'SELECT bf_merge_agg(p) FROM (' . join(' UNION ALL ', map { "SELECT $partial FROM files_$_" } @names) . ') s';
    my $by_node = "SELECT bf_merge_agg(p) FROM (SELECT node, $partial FROM files GROUP BY node) s";
    for ([ $of_all, '' ], [ $by_node, $partitionwise ]) {
        my ($merged, $settings) = @$_;
        asks_nodes($merged, 3, qr/public\.bf_partial_agg\(public\.bf_element_of\(path\)/, "partial states of each node: $partial", $settings);
        ($result, $to, $from) = bytes_of($asker, "$settings; $merged");
        ok($result eq $expected, '... and merged, they are the filter of all rows');
        cmp_ok($from, '<', $most + 3 * $talk, '... and only hashes or bitmaps are sent');
    }
}
query(q{CREATE TABLE partials(node text, p bf_partial)});
query("INSERT INTO partials SELECT '$_', bf_partial_agg(bf_element_of(path)) FROM files_$_") for @names;
is(query('SELECT bf_merge_agg(p ORDER BY node DESC) FROM partials'), $itself,
    'partial states that are stored here are merged to the filter of all rows');
asks_nodes('SELECT bf_dist_agg(bf_element_of(path)) FROM files_c', 1, qr/^SELECT public\.bf_dist_agg\(/,
    'node c computes bf_dist_agg');
is(query('SELECT bf_dist_agg(bf_element_of(path)) FROM files_c'), query('SELECT bf_agg(path) FROM files_c'),
    '... and gets the same filter as bf_agg');
is(query('SELECT bf_dist_agg(bf_element_of(path)) FROM files'), $itself,
    'bf_dist_agg of all nodes is the filter of all rows');

# --- filters that nodes have -----------------------------------------------------------------------

my $stored = length_of('SELECT f FROM filters LIMIT 1');
for my $condition ('f @> 5', '5 <@ f', 'bf_contains(f, 5)', 'f @> item', 'words @> lower(name)', 'f @> (item + 0)',
    q{words @> 'filter 5'}, q{'filter 5'::text <@ words}, q{words @> 'filter 5'::varchar},
    q{bf_contains_hash(words, bf_hash('filter 5'::text))}, 'bf_contains_any(f, ARRAY[5, 5000])') {
    my ($of_nodes, $of_asker) = map { "SELECT name FROM $_ WHERE $condition ORDER BY item" } 'filters', 'bare_filters';
    asks_nodes($of_nodes, 1, qr/ WHERE .*(?:@>|<@|bf_contains)/,
        "the node probes its stored filters: $condition");
    ($result, $to, $from) = bytes_of($asker, $of_nodes);
    is($result, query($of_asker), '... the rows are the same as when filters are fetched');
    like($result, qr/^Filter 5$/m, '... the filter that contains the value is among them');
    cmp_ok($from, '<', 2 * $talk, '... and no filter is sent');
}
for my $aggregate ('bf_union_agg(f)', 'bf_intersect_agg(f)', 'sum(bf_count(f))') {
    asks_nodes("SELECT $aggregate FROM filters", 1, qr/^SELECT (?:sum\()?public\.\w+\(/,
        "the node computes $aggregate of its filters");
    ($result, $to, $from) = bytes_of($asker, "SELECT $aggregate FROM filters");
    is($result, query("SELECT $aggregate FROM bare_filters"),
        '... the result is the same as when filters are fetched');
    between($from, length $result, $talk + length $result, '... and only the result is sent');
}
($result, $to, $from) = bytes_of($asker, 'SELECT name, bf_count(f) FROM filters ORDER BY 1');
cmp_ok($from, '>', 9 * $stored, 'functions in a SELECT list fetch the filters: a limit of postgres_fdw');
my $facts;
($facts, $to, $from) = bytes_of($asker, 'SELECT * FROM facts ORDER BY 1');
cmp_ok($from, '<', $talk, '... but a view on the node sends only the results');
is($facts, $result, '... which are the same');

asks_nodes('SELECT name, id FROM filters JOIN files_a ON f @> id', 1, qr/INNER JOIN.*\.f OPERATOR\(public\.@>\) r\d\.id/,
    'a node joins its two tables by a probe');
is(query('SELECT name, id FROM filters JOIN files_a ON f @> id ORDER BY 1, 2'),
    query(q{SELECT name, id FROM bare_filters JOIN here ON f @> id WHERE node = 'a' ORDER BY 1, 2}), '... the same rows');

for ([ 'f', 77, 3 ], [ 'words', "'filter 77'", 4 ]) {
    my ($column, $element, $item) = @$_;
    my $update = "UPDATE filters SET $column = $column + $element WHERE item = $item";
    like(verbose_plan($asker, $update), qr/Remote SQL: UPDATE public\.filters SET $column = \($column OPERATOR\(public\.\+\) $element/,
        "an UPDATE that adds to a filter is sent: $element");
    ($result, $to, $from) = bytes_of($asker, $update);
    cmp_ok($to + $from, '<', 2 * $talk, '... the filter itself is not sent');
    is(query("SELECT item FROM bare_filters WHERE $column \@> $element"), $item,
        '... and the filter contains the value');
}
for ('words @> $1', 'words @> $1::text') {
    my ($settings, $value) = ('SET plan_cache_mode = force_generic_plan', "'filter 5'");
    ($result, $to, $from) = bytes_of($asker, "$settings; PREPARE asked AS SELECT name FROM filters WHERE $_; EXECUTE asked($value)");
    is($result, 'Filter 5', "a probe for a parameter finds the right filter on the node: $_");
    cmp_ok($from, '<', $talk, '... and no filter is sent');
}

# --- plans -----------------------------------------------------------------------------------------

# On a node, a foreign scan is a cursor. auto_explain writes its plan into the node's log.
query(qq{
    CREATE SERVER logging FOREIGN DATA WRAPPER postgres_fdw
      OPTIONS (host '$host', port '$ports{a}', dbname 'postgres', extensions 'bloomfilter', fetch_size '100',
        options '-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on');
    CREATE USER MAPPING FOR CURRENT_USER SERVER logging;
    CREATE FOREIGN TABLE logged($columns) SERVER logging OPTIONS (table_name 'files');
    CREATE FOREIGN TABLE known($columns) SERVER logging});
$nodes{a}->safe_psql('postgres', q{
    CREATE TABLE kept AS SELECT bf_agg(path) AS f FROM files WHERE id % 100 = 0;
    CREATE VIEW known AS SELECT * FROM files WHERE (SELECT f FROM kept) @> path});

# Returns the result of a query. For each Bloom Filter Scan of a cursor on the node, it also returns
# the number of rows and the number of executions.
sub scans_of {
    my ($sql) = @_;
    my $before = -s $nodes{a}->logfile;
    my $result = query($sql);
    my $log = substr slurp_file($nodes{a}->logfile), $before;
    return ($result, $log =~ /DECLARE c\d+ CURSOR.*?Custom Scan \(Bloom Filter Scan\) on files .*?\(actual .*?rows=(\d+)\S* loops=(\d+)\)/sg);
}

SKIP: {
    skip 'the server has no auto_explain', 1 if $nodes{a}->psql('postgres', q{LOAD 'auto_explain'}) != 0;
    my $count = query($in->('files_a', "SELECT count(*) FROM ($found) s"));
    is_deeply([ scans_of($in->('logged', "SELECT count(*) FROM ($found) s")) ], [ $count, $count, 1 ],
        'on the node, a Bloom Filter Scan probes the filter that was sent');
    my $known = query(q{SELECT count(*) FROM here WHERE node = 'a' AND (SELECT bf_agg(path) FROM here WHERE node = 'a' AND id % 100 = 0) @> path});
    is_deeply([ scans_of('SELECT count(*) FROM (SELECT path FROM known OFFSET 0) s') ], [ $known, $known, 1 ],
        '... and the filter that a view on the node has');
    my ($sums, @scans) = scans_of($apart . $in->('logged', $looped));
    is($sums, query($in->($here_a, $looped)), 'a nested loop over such a scan has the right rows');
    my $times = 0;
    $times += $scans[ 2 * $_ + 1 ] for 0 .. $#scans / 2;
    is($times, 4, '... and the Bloom Filter Scan runs four times');
}

# Estimates for foreign tables are as good as for local tables.
query(q{
    CREATE FUNCTION expected(query text, OUT expected float8, OUT actual float8) LANGUAGE plpgsql AS $$
    DECLARE
      plan jsonb;
    BEGIN
      EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
      expected := plan -> 0 -> 'Plan' ->> 'Plan Rows';
      actual := plan -> 0 -> 'Plan' ->> 'Actual Rows';
    END $$;
    CREATE TABLE filters_here AS SELECT id / 1000 AS key, bf_agg(id) AS f FROM here WHERE id % 10 = 0 GROUP BY 1;
    ANALYZE filters_here});

sub expects {
    my ($query, $name, $settings) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ($expected, $actual) = split /\|/, query(($settings // '') . "; SELECT * FROM expected(\$\$$query\$\$)");
    return between($expected, $actual / 2, 2 * $actual,
        "$name: the estimated number of rows is right within a factor of 2");
}

my $quarter = '(SELECT bf_agg(id) FROM %s WHERE id < 7500) @> id';
expects($in->('here', "SELECT FROM files_a WHERE $quarter" =~ s{WHERE id}{WHERE node = 'a' AND id}r),
    'a filter of a local table, probed for a foreign table');
expects($in->('files_a', "SELECT FROM files_a WHERE $quarter"), 'a filter of the foreign table itself');
expects($in->("files_$_", "SELECT FROM here WHERE $quarter"), "a filter of node $_, probed for a local table")
  for 'a', 'c';
expects('SELECT FROM here WHERE (SELECT bf_agg(a.id) FROM files_a a JOIN files_a b ON a.id = b.id WHERE a.id < 4000) @> id',
    'a filter of a join of two foreign tables');
expects($in->('files', "SELECT FROM here WHERE $quarter"), 'a filter of all nodes');
expects($in->('files', "SELECT FROM here WHERE $quarter"), 'a filter of all nodes, partitionwise',
    $partitionwise);
expects("SELECT FROM here WHERE (SELECT bf_union_agg(f) FROM (SELECT node, bf_agg(id, $rows) AS f FROM files GROUP BY node) s) \@> id",
    'a union of a filter of each node', $partitionwise);
expects('SELECT FROM here WHERE (SELECT bf_union_agg(f) FROM filters WHERE item < 5) @> id',
    'a union of filters that a node has stored');
expects('SELECT FROM here JOIN filters ON f @> id',
    'a join of a local table with a foreign table of filters');
expects('SELECT FROM files_a JOIN filters_here ON f @> id',
    'a join of a foreign table with a local table of filters');

# The planner expects a tenth of the rows if a foreign table was not analyzed. A node that plans with
# use_remote_estimate does not get the filter, and expects a tenth, too.
sub expects_a_tenth {
    my ($table, $name) = @_;
    my ($some, $all) = map { query("SELECT expected FROM expected('SELECT FROM $table WHERE $_')") } $in->('here', $quarter), 'true';
    return between($some, $all / 20, $all / 5, $name);
}
expects_a_tenth('in_batches', 'a foreign table that was not analyzed: a tenth of the rows is expected');
query("ALTER FOREIGN TABLE in_batches OPTIONS (use_remote_estimate 'true')");
expects_a_tenth('in_batches', 'use_remote_estimate: a tenth of the rows is expected');

# --- foreign servers without the option `extensions` -----------------------------------------------

asks_nodes($in->('bare_files', $found), 1, qr/^SELECT path FROM public\.files$/,
    'without `extensions`, a probe fetches all rows');
is(query($in->('bare_files', $found) . ' ORDER BY path'), query($in->('files_a', $found) . ' ORDER BY path'),
    '... and finds the same ones');
asks_nodes('SELECT bf_agg(path) FROM bare_files', 1, qr/^SELECT path FROM/,
    'without `extensions`, bf_agg fetches all rows');
is(query('SELECT bf_agg(path) FROM bare_files'), query('SELECT bf_agg(path) FROM files_a'),
    '... and makes the same filter');

# --- filters that the planner places ----------------------------------------------------------------

# The source of a join filter is read twice. So a foreign table is never a source, nor is a partitioned
# table with a foreign partition. The table for which a filter is probed may be joined with one.
my $placing = q{LOAD 'bloomfilter'; SET bloomfilter.join_filter = on; SET cpu_tuple_cost = 10};
for my $keys ('files', 'files_a') {
    my $join = "SELECT h.id FROM here h JOIN $keys f ON h.id = f.id WHERE f.id < 900 ORDER BY 1";
    unlike(query("$placing; EXPLAIN $join"), qr/Bloom Filter/, "no join filter is made of $keys");
    is(query("$placing; $join"), query($join), '... the same rows');
}
my $join = 'SELECT h.id FROM here h JOIN files f ON h.id = f.id JOIN wanted w ON h.path = w.path ORDER BY 1';
like(query("$placing; EXPLAIN $join"), qr/Bloom Filter Scan\) on here/,
    'a join filter is made of a local table');
is(query("$placing; $join"), query($join), '... the same rows');

# --- encodings -------------------------------------------------------------------------------------

is($nodes{c}->safe_psql('postgres', q{SHOW server_encoding; SELECT octet_length(path) - char_length(path) FROM files LIMIT 1}),
    "LATIN1\n0", 'node c has the encoding LATIN1, with one byte for each character');
is(query('SELECT octet_length(path) - char_length(path) FROM files_c LIMIT 1'), 1,
    '... and here, an accented letter of its text has two bytes');
query(q{INSERT INTO filters SELECT 'of c', 99, bf_agg(path, 10000) FROM files_c});
is(query(q{SELECT f = (SELECT bf_agg(path, 10000) FROM here WHERE node = 'c') FROM bare_filters WHERE item = 99}),
    't', 'a filter that node c made is the same as a filter made in UTF8');
is(query(q{SELECT count(*) FROM here WHERE node = 'c' AND NOT (SELECT f FROM bare_filters WHERE item = 99) @> path}), 0,
    '... and contains all values');

clean_log($_) for $asker, @nodes{@names};
done_testing();
