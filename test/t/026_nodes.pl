# Several servers connected by postgres_fdw: filters travel, rows do not. One server has another
# encoding. Plans show what is sent to the nodes, the bytes between them are counted, and the
# results are those of one server that has all rows.

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

# Every third row of `here` is on each node. Each value has an e with an accent, of one byte or two.
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
my $host = $nodes{a}->host; # the same for all
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

# A new session sends its user and settings, and a statement its text. A row that is sent takes a
# few bytes more than its values.
my $talk = 4096;
my $row = 16;

# The length as text, because filters travel as text.
sub length_of { my ($filter) = @_; return query("SELECT length(($filter)::text)") }

# A query whose foreign scans differ only by the node, and match the pattern.
sub asks_nodes {
    my ($query, $count, $pattern, $name, $settings) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @asked = split /\n/, remote_sql($asker, $query, $settings);
    return is(scalar(grep { /$pattern/ } @asked), $count, $name) && is(scalar @asked, $count, '... and nothing else')
      || diag(join "\n", @asked);
}

# --- rows that a filter lets through ---------------------------------------------------------------

my $filter = '(SELECT bf_agg(path) FROM wanted)';
my $sent = length_of($filter);
my $found = "SELECT path FROM %s WHERE $filter \@> path";
my $in = sub { my ($table, $sql) = @_; return $sql =~ s/%s/$table/r };
my $asked = qr/^SELECT path FROM public\.files WHERE \(\(\$1::public\.bloomfilter OPERATOR\(public\.@>\) path\)\)$/;
asks_nodes($in->('files', $found), 3, $asked, 'every partition is asked for the rows that a filter lets through');
like(verbose_plan($asker, $in->('files', $found)), qr/(?:Async Foreign Scan.*){3}/s, '... at the same time');

my $digest = 'SELECT count(*), sum(octet_length(path)), md5(string_agg(path, chr(10) ORDER BY path)) FROM (%s) s';
my $found_here = query($in->($in->('here', $found), $digest));
my ($count, $length) = split /\|/, $found_here;
my ($result, $to, $from) = bytes_of($asker, $in->($in->('files', $found), $digest));
is($result, $found_here, '... and returns the rows that one server finds');
between($to, 3 * $sent, 3 * ($sent + $talk), '... the filter is sent to each of them');
between($from, $length, $length + $row * $count + 3 * $talk, '... which sends what it lets through');
cmp_ok($from, '<', query('SELECT sum(octet_length(path)) FROM here') / 10, '... less than a tenth of all');
is(query("SELECT count(*) FROM wanted WHERE path NOT IN (${\$in->('files', $found)})"), 0, '... and no member is lost');
is(query("SELECT count(*) FROM (SELECT path FROM (${\$in->('files', $found)} OFFSET 0) s WHERE path IN (SELECT path FROM wanted)) s"),
    $rows / 100, '... of which an exact condition leaves the wanted ones');

# One filter is sent for a scan, however often rows are fetched.
my $large = length_of('SELECT f FROM large');
my $batches = $rows / 3 / 10;
($result, $to, $from) = bytes_of($asker, 'SELECT count(*) FROM in_batches WHERE (SELECT f FROM large) @> path');
is($result, $rows / 3, 'all rows are fetched in batches');
between($to, $large, $large + 32 * $batches + $talk, '... and the filter is sent once');

my $here_a = q{(SELECT * FROM here WHERE node = 'a') h};

# One filter more is sent each time a scan is asked for other rows.
my $again = 'SELECT sum((SELECT count(*) FROM %s WHERE (SELECT f FROM large) @> path AND id > x)) FROM generate_series(1, 4) x';
($result, $to) = bytes_of($asker, $in->('files_a', $again));
is($result, query($in->($here_a, $again)), 'a scan is asked again');
between($to, 4 * $large, 4 * ($large + $talk), '... and the filter is sent again');

# For the same rows, a cursor may be rewound.
my $apart = 'SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
my $looped = "SELECT count(*), sum(x * id) FROM generate_series(1, 4) x LEFT JOIN (SELECT * FROM %s WHERE $filter \@> path) s ON x < id % 7 + x * 0";
like(verbose_plan($asker, $in->('in_batches', $looped), $apart), qr/Nested Loop(?!.*Materialize).*Foreign Scan/s, 'a loop over a foreign scan');
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
        is($result, $expected, '... the same filter');
        between($from, length $expected, $talk + length $expected, '... and sends it alone');
    }
}
asks_nodes('SELECT bf_agg((id, path)) FROM files_a', 1, qr/^SELECT id, path FROM/, 'rows as elements are fetched: a limit of postgres_fdw');
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
    asks_nodes($union, 3, qr/public\.bf_agg\(path, ${rows}::double precision\)/, "$name has a filter of each", $settings);
    like(verbose_plan($asker, $union, $settings), qr/(?:Async Foreign Scan.*){3}/s, '... at the same time');
    ($result, $to, $from) = bytes_of($asker, "$settings; $union");
    is($result, $whole, '... and is the filter of all rows');
    between($from, 3 * length $whole, 3 * ($talk + length $whole), '... for one filter from each');
}
for my $settings ('', $partitionwise) {
    asks_nodes("SELECT bf_agg(path, $rows) FROM files", 3, qr/^SELECT path FROM/,
        'bf_agg over all nodes fetches their rows: a limit of PostgreSQL', $settings);
    ($result, $to, $from) = bytes_of($asker, "$settings; SELECT bf_agg(path, $rows) FROM files");
    is($result, $whole, '... and the filter is right');
    cmp_ok($from, '>', query('SELECT sum(octet_length(path)) FROM here'), '... for all of their bytes');
}

# The exact filter of all rows, which sizes itself, is made from a partial state of each node. A
# state has hashes while they take fewer bytes than the bitmap.
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
        ok($result eq $expected, '... are the filter of all rows');
        cmp_ok($from, '<', $most + 3 * $talk, '... for their hashes, or bitmaps');
    }
}
query(q{CREATE TABLE partials(node text, p bf_partial)});
query("INSERT INTO partials SELECT '$_', bf_partial_agg(bf_element_of(path)) FROM files_$_") for @names;
is(query('SELECT bf_merge_agg(p ORDER BY node DESC) FROM partials'), $itself, '... kept here, too');
asks_nodes('SELECT bf_dist_agg(bf_element_of(path)) FROM files_c', 1, qr/^SELECT public\.bf_dist_agg\(/, 'bf_dist_agg of a node is computed there');
is(query('SELECT bf_dist_agg(bf_element_of(path)) FROM files_c'), query('SELECT bf_agg(path) FROM files_c'), '... the same filter');
is(query('SELECT bf_dist_agg(bf_element_of(path)) FROM files'), $itself, '... and of all nodes');

# --- filters that nodes have -----------------------------------------------------------------------

my $stored = length_of('SELECT f FROM filters LIMIT 1');
for my $condition ('f @> 5', '5 <@ f', 'bf_contains(f, 5)', 'f @> item', 'words @> lower(name)', 'f @> (item + 0)',
    q{words @> 'filter 5'}, q{'filter 5'::text <@ words}, q{words @> 'filter 5'::varchar},
    q{bf_contains_hash(words, bf_hash('filter 5'::text))}, 'bf_contains_any(f, ARRAY[5, 5000])') {
    my ($of_nodes, $of_asker) = map { "SELECT name FROM $_ WHERE $condition ORDER BY item" } 'filters', 'bare_filters';
    asks_nodes($of_nodes, 1, qr/ WHERE .*(?:@>|<@|bf_contains)/, "filters are asked where they are: $condition");
    ($result, $to, $from) = bytes_of($asker, $of_nodes);
    is($result, query($of_asker), '... the same rows');
    like($result, qr/^Filter 5$/m, '... with the one that has it');
    cmp_ok($from, '<', 2 * $talk, '... and not fetched');
}
for my $aggregate ('bf_union_agg(f)', 'bf_intersect_agg(f)', 'sum(bf_count(f))') {
    asks_nodes("SELECT $aggregate FROM filters", 1, qr/^SELECT (?:sum\()?public\.\w+\(/, "aggregated there: $aggregate");
    ($result, $to, $from) = bytes_of($asker, "SELECT $aggregate FROM filters");
    is($result, query("SELECT $aggregate FROM bare_filters"), '... the same');
    between($from, length $result, $talk + length $result, '... alone');
}
($result, $to, $from) = bytes_of($asker, 'SELECT name, bf_count(f) FROM filters ORDER BY 1');
cmp_ok($from, '>', 9 * $stored, 'what is selected of filters is computed here: a limit of postgres_fdw');
my $facts;
($facts, $to, $from) = bytes_of($asker, 'SELECT * FROM facts ORDER BY 1');
cmp_ok($from, '<', $talk, '... and there by a view');
is($facts, $result, '... the same');

asks_nodes('SELECT name, id FROM filters JOIN files_a ON f @> id', 1, qr/INNER JOIN.*\.f OPERATOR\(public\.@>\) r\d\.id/,
    'two tables of a node are joined there');
is(query('SELECT name, id FROM filters JOIN files_a ON f @> id ORDER BY 1, 2'),
    query(q{SELECT name, id FROM bare_filters JOIN here ON f @> id WHERE node = 'a' ORDER BY 1, 2}), '... the same rows');

for ([ 'f', 77, 3 ], [ 'words', "'filter 77'", 4 ]) {
    my ($column, $element, $item) = @$_;
    my $update = "UPDATE filters SET $column = $column + $element WHERE item = $item";
    like(verbose_plan($asker, $update), qr/Remote SQL: UPDATE public\.filters SET $column = \($column OPERATOR\(public\.\+\) $element/,
        "an element is added there: $element");
    ($result, $to, $from) = bytes_of($asker, $update);
    cmp_ok($to + $from, '<', 2 * $talk, '... where the filter stays');
    is(query("SELECT item FROM bare_filters WHERE $column \@> $element"), $item, '... and has it');
}
for ('words @> $1', 'words @> $1::text') {
    my ($settings, $value) = ('SET plan_cache_mode = force_generic_plan', "'filter 5'");
    ($result, $to, $from) = bytes_of($asker, "$settings; PREPARE asked AS SELECT name FROM filters WHERE $_; EXECUTE asked($value)");
    is($result, 'Filter 5', "a filter is asked there for a parameter: $_");
    cmp_ok($from, '<', $talk, '... and not fetched');
}

# --- plans -----------------------------------------------------------------------------------------

# On a node, a foreign scan is a cursor, and the node's log shows its plan.
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

# The scans of cursors, each with the number of its rows and of its executions.
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
        'a filter that was sent is asked for many rows at once');
    my $known = query(q{SELECT count(*) FROM here WHERE node = 'a' AND (SELECT bf_agg(path) FROM here WHERE node = 'a' AND id % 100 = 0) @> path});
    is_deeply([ scans_of('SELECT count(*) FROM (SELECT path FROM known OFFSET 0) s') ], [ $known, $known, 1 ], '... and one that is there');
    my ($sums, @scans) = scans_of($apart . $in->('logged', $looped));
    is($sums, query($in->($here_a, $looped)), '... again and again');
    my $times = 0;
    $times += $scans[ 2 * $_ + 1 ] for 0 .. $#scans / 2;
    is($times, 4, '... by the scan');
}

# The estimates for foreign tables are the same as for local tables.
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
    return between($expected, $actual / 2, 2 * $actual, "$name: rows that are expected");
}

my $quarter = '(SELECT bf_agg(id) FROM %s WHERE id < 7500) @> id';
expects($in->('here', "SELECT FROM files_a WHERE $quarter" =~ s{WHERE id}{WHERE node = 'a' AND id}r), 'a filter and a foreign table');
expects($in->('files_a', "SELECT FROM files_a WHERE $quarter"), '... that makes it');
expects($in->("files_$_", "SELECT FROM here WHERE $quarter"), "a filter that node $_ makes") for 'a', 'c';
expects('SELECT FROM here WHERE (SELECT bf_agg(a.id) FROM files_a a JOIN files_a b ON a.id = b.id WHERE a.id < 4000) @> id', '... of two tables');
expects($in->('files', "SELECT FROM here WHERE $quarter"), 'a filter of all nodes');
expects($in->('files', "SELECT FROM here WHERE $quarter"), '... of one after the other', $partitionwise);
expects("SELECT FROM here WHERE (SELECT bf_union_agg(f) FROM (SELECT node, bf_agg(id, $rows) AS f FROM files GROUP BY node) s) \@> id",
    '... a union', $partitionwise);
expects('SELECT FROM here WHERE (SELECT bf_union_agg(f) FROM filters WHERE item < 5) @> id', 'a union of filters that a node has');
expects('SELECT FROM here JOIN filters ON f @> id', 'a foreign table of filters');
expects('SELECT FROM files_a JOIN filters_here ON f @> id', 'filters and a foreign table');

# For a foreign table that was not analyzed, and where a node has to plan for a filter that it does
# not get, a tenth of the rows is expected.
sub expects_a_tenth {
    my ($table, $name) = @_;
    my ($some, $all) = map { query("SELECT expected FROM expected('SELECT FROM $table WHERE $_')") } $in->('here', $quarter), 'true';
    return between($some, $all / 20, $all / 5, $name);
}
expects_a_tenth('in_batches', 'a foreign table that was not analyzed');
query("ALTER FOREIGN TABLE in_batches OPTIONS (use_remote_estimate 'true')");
expects_a_tenth('in_batches', 'use_remote_estimate');

# --- nodes that are not told of the extension ------------------------------------------------------

asks_nodes($in->('bare_files', $found), 1, qr/^SELECT path FROM public\.files$/, 'without `extensions`, rows are fetched');
is(query($in->('bare_files', $found) . ' ORDER BY path'), query($in->('files_a', $found) . ' ORDER BY path'), '... the same ones');
asks_nodes('SELECT bf_agg(path) FROM bare_files', 1, qr/^SELECT path FROM/, '... for filters, too');
is(query('SELECT bf_agg(path) FROM bare_files'), query('SELECT bf_agg(path) FROM files_a'), '... the same ones');

# --- filters that the planner places ----------------------------------------------------------------

# A filter's source is read twice, so a foreign table is none, nor is a table with a foreign part; the
# table that is asked may join one.
my $placing = q{LOAD 'bloomfilter'; SET bloomfilter.join_filter = on; SET cpu_tuple_cost = 10};
for my $keys ('files', 'files_a') {
    my $join = "SELECT h.id FROM here h JOIN $keys f ON h.id = f.id WHERE f.id < 900 ORDER BY 1";
    unlike(query("$placing; EXPLAIN $join"), qr/Bloom Filter/, "no filter of $keys");
    is(query("$placing; $join"), query($join), '... the same rows');
}
my $join = 'SELECT h.id FROM here h JOIN files f ON h.id = f.id JOIN wanted w ON h.path = w.path ORDER BY 1';
like(query("$placing; EXPLAIN $join"), qr/Bloom Filter Scan\) on here/, 'a filter of a table that is here');
is(query("$placing; $join"), query($join), '... the same rows');

# --- encodings -------------------------------------------------------------------------------------

is($nodes{c}->safe_psql('postgres', q{SHOW server_encoding; SELECT octet_length(path) - char_length(path) FROM files LIMIT 1}),
    "LATIN1\n0", 'a node has another encoding');
is(query('SELECT octet_length(path) - char_length(path) FROM files_c LIMIT 1'), 1, '... whose text has other bytes here');
query(q{INSERT INTO filters SELECT 'of c', 99, bf_agg(path, 10000) FROM files_c});
is(query(q{SELECT f = (SELECT bf_agg(path, 10000) FROM here WHERE node = 'c') FROM bare_filters WHERE item = 99}),
    't', 'a filter from there is the same on other nodes');
is(query(q{SELECT count(*) FROM here WHERE node = 'c' AND NOT (SELECT f FROM bare_filters WHERE item = 99) @> path}), 0,
    '... and has all elements');

clean_log($_) for $asker, @nodes{@names};
done_testing();
