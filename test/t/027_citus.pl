# Citus: a coordinator and two workers. The filter that shards compute together is, byte for byte, the
# filter that one server makes of all rows. Probes of shards have the same answers as on one server.
# What one server refuses is refused. The bytes between the nodes are counted.
#
# BLOOMFILTER_TEST_PATHS is a file of values, one a line, which replace the generated values.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Nodes;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

chomp(my $share = `pg_config --sharedir`);
plan skip_all => 'the server has no Citus' if !-e "$share/extension/citus.control";

# --- nodes ---------------------------------------------------------------------------------------

# Citus has no activity between statements, and a session has one connection to each worker. One worker
# loads this extension's hooks at its start, after those of Citus. The other loads them at the first
# call.
sub new_node {
    my ($name, $libraries) = @_;
    my $node = new_server($name, conf => <<"CONF");
shared_preload_libraries = '$libraries'
citus.node_conninfo = 'sslmode=disable'
citus.distributed_deadlock_detection_factor = -1
citus.recover_2pc_interval = -1
citus.max_adaptive_executor_pool_size = 1
citus.propagate_set_commands = 'local'
max_connections = 100
max_prepared_transactions = 100
CONF
    # Citus itself must create the extension on the workers.
    $node->safe_psql('postgres', 'DROP EXTENSION bloomfilter; CREATE EXTENSION citus');
    return $node;
}
my $coordinator = new_node('coordinator', 'citus');
my @workers = (new_node('one', 'citus'), new_node('two', 'citus, bloomfilter'));
my ($socket, $port) = ($coordinator->host, $coordinator->port);

sub query { my ($sql) = @_; return $coordinator->safe_psql('postgres', $sql) }

query("SELECT citus_set_coordinator_host('$socket', $port)");
query("SELECT citus_add_node('$socket', $_)") for count_bytes(@workers);
query('CREATE EXTENSION bloomfilter');
my $is_there = q{SELECT extversion = default_version FROM pg_extension
    JOIN pg_available_extensions ON name = extname WHERE name = 'bloomfilter'};
is($_->safe_psql('postgres', $is_there), 't', $_->name . ' has the extension') for @workers;

# --- rows ----------------------------------------------------------------------------------------

my $shards = 8;
query('CREATE TABLE lines (id serial, path text)');
if (my $file = $ENV{BLOOMFILTER_TEST_PATHS}) {
    query("COPY lines (path) FROM '$file' (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')");
} else {
    query(q{INSERT INTO lines (path) SELECT 'usr/share/doc/package-' || i % 997 || '/file-' || i
        FROM generate_series(1, 20000) i});
}
query(q{CREATE TABLE here (id int, bucket int, path text COLLATE "C", package text, item int);
    INSERT INTO here SELECT id, id % 16, path, split_part(path, '/', 4), nullif(id % 5, 0) * id
    FROM lines});
my $rows = query('SELECT count(*) FROM here');

# Makes a distributed table of the same rows.
sub distribute {
    my ($table, $name) = @_;
    query("CREATE TABLE $name (LIKE $table);"
          . " SELECT create_distributed_table('$name', 'id', shard_count => $shards);"
          . " INSERT INTO $name SELECT * FROM $table; ANALYZE $name");
    return;
}
distribute('here', 'files');

# --- the same filters ----------------------------------------------------------------------------

# Queries have the form `agg(column, arguments) ... FROM rows`. in_shards() makes queries of a
# distributed table, and at_one() makes queries of a local table.
sub in_shards {
    my ($sql, $table) = @_;
    $table ||= 'files';
    return $sql =~ s/\bagg\((\w+)/bf_dist_agg(bf_element_of($1)/gr =~ s/\brows\b/$table/gr;
}

sub at_one {
    my ($sql, $table) = @_;
    $table ||= 'here';
    return $sql =~ s/\bagg\(/bf_agg(/gr =~ s/\brows\b/$table/gr;
}

# Filters are compared by a digest, so that they need not be sent to the test.
sub digest { my ($filter) = @_; return "encode(sha256(($filter)::bytea), 'hex')" }

sub plan_is {
    my ($pattern, $sql, $what) = @_;
    like(verbose_plan($coordinator, $sql), $pattern, "$what: the plan is as expected");
    return;
}

sub same {
    my ($pattern, $what, $sql) = @_;
    plan_is($pattern, in_shards($sql), $what);
    is(query(in_shards($sql)), query(at_one($sql)), "$what: the filter is that of one server");
    return;
}

my $all = 'SELECT ' . digest('agg(path)') . ' FROM rows';
my $groups = 'SELECT bucket, ' . digest('agg(path)') . ' FROM rows';
sub sized { my ($arguments) = @_; return 'SELECT ' . digest("agg(path, $arguments)") . ' FROM rows' }
sub both { my ($column) = @_; return 'SELECT ' . digest("agg($column)") . ', ' . digest("agg($column, 5000)") . ' FROM rows' }

$ENV{PGOPTIONS} = '-c bloomfilter.overfill=ignore'; # the setting is local to the coordinator
for (
    [ 'self-sized' => $all ],
    [ 'self-sized at a rate' => sized('NULL, 0.001') ],
    [ 'sized' => sized($rows) ],
    [ 'sized at a rate' => sized("$rows, 0.0001") ],
    [ 'sized for more' => sized(10_000_000) ],
    [ 'sized for less' => sized(100) ],
    [ 'repeated values' => both('package') ],
    [ 'some NULL' => both('item') ],
    [ 'only NULL' => both('item') . ' WHERE item IS NULL' ],
    [ 'WHERE' => "$all WHERE bucket < 3" ],
    [ 'FILTER' => 'SELECT ' . digest('agg(path) FILTER (WHERE id % 3 = 0)') . ' FROM rows' ],
    [ 'several' => 'SELECT ' . join(', ', map { digest($_) } 'agg(path)', "agg(path, $rows)", 'agg(id)') . ', count(*) FROM rows' ],
    [ 'GROUP BY another column' => "$groups GROUP BY 1 ORDER BY 1" ],
    [ 'GROUP BY an expression' => 'SELECT id % 3, ' . digest('agg(path, 10000)') . ' FROM rows GROUP BY 1 ORDER BY 1' ],
    [ 'HAVING' => "$groups GROUP BY 1 HAVING bf_count(agg(id)) > 0 AND agg(id) \@> 33 ORDER BY 1" ],
    [ 'empty shards' => "$all WHERE id IN (1, 2)" ],
    [ 'no rows' => "$all WHERE bucket < 0" ],
    [ 'no rows, sized' => 'SELECT bf_count(agg(path, 1000)) FROM rows WHERE bucket < 0' ],
    [ 'no groups' => "$groups WHERE bucket < 0 GROUP BY 1" ]) {
    same(qr/worker_partial_agg\('(?:public\.)?bf_dist_agg/, @$_);
}

# If all rows of a group are in one shard, the shard makes the filter. If the call orders its rows,
# which Citus cannot do in shards, the coordinator pulls the rows.
for (
    [ 'one shard' => "$all WHERE id = 17" ],
    [ 'no shard' => "$all WHERE false" ],
    [ 'GROUP BY the distribution column' => 'SELECT id, ' . digest('agg(path)') . ' FROM rows WHERE id < 50 GROUP BY 1 ORDER BY 1' ]) {
    same(qr/Query: SELECT (?!.*worker_partial_agg).*bf_dist_agg/, @$_);
}
same(qr/Query: SELECT (?!.*bf_dist_agg)/, 'ORDER BY in the call' => sized("$rows ORDER BY path"));

is(query("SELECT count(*) FROM $_ WHERE (SELECT bf_dist_agg(bf_element_of(path)) FROM files) \@> path"),
    $rows, "a filter of all shards contains all values of $_")
  for 'here', 'files';
is($workers[0]->safe_psql('postgres', in_shards($all)), query(at_one($all)),
    'a query that is sent to a worker: the filter is that of one server');

# --- every element type --------------------------------------------------------------------------

my %values = (
    smallint => '(i % 300)::int2', int => 'i', bigint => 'i * 10000000000',
    real => 'i / 8.0', float8 => 'i / 10.0', numeric => 'i * 1.10',
    text => "'v' || i % 90", varchar => "'v' || i % 90 || repeat(' ', i % 3)",
    'char(9)' => "'c' || i", name => "'n' || i", '"char"' => 'chr(33 + i % 90)',
    bytea => "decode(md5(i::text), 'hex')", uuid => 'md5(i::text)::uuid', boolean => 'i % 2 = 0',
    oid => 'i::oid', date => "date '2024-01-01' + i", time => "time '01:00' + i * interval '1 s'",
    timetz => "timetz '01:00+02' + i * interval '1 s'",
    timestamp => "timestamp '2024-01-01' + i * interval '1 h'",
    timestamptz => "timestamptz '2024-01-01 00:00+00' + i * interval '1 h'",
    interval => "i * interval '1 h'", inet => "inet '10.0.0.0/8' + i",
    cidr => "('10.0.' || i % 256 || '.0/24')::cidr",
    macaddr => "('08002b01' || lpad(to_hex(i), 4, '0'))::macaddr",
    macaddr8 => "('08002b01020' || lpad(to_hex(i), 5, '0'))::macaddr8",
    jsonb => "jsonb_build_object('a', i, 'b', ARRAY[i % 7])",
    mood => "(ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood",
    'int[]' => 'ARRAY[i, i % 5]', 'text[]' => "ARRAY['v' || i, NULL]", int4range => 'int4range(i, i + 3)',
    int4multirange => 'int4multirange(int4range(i, i + 3), int4range(i + 9, i + 10))',
    pair => "ROW(i, 'v' || i)::pair");
my @types = sort keys %values;
my @columns = map { "c$_" } 0 .. $#types;
query("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy'); CREATE TYPE pair AS (a int, b text);"
      . ' CREATE TABLE kinds_here (id int, ' . join(', ', map { "$columns[$_] $types[$_]" } 0 .. $#types) . ');'
      . ' INSERT INTO kinds_here SELECT i, ' . join(', ', map { "CASE WHEN i % 11 > 0 THEN $values{$_} END" } @types)
      . ' FROM generate_series(1, 400) i');
distribute('kinds_here', 'kinds');
for my $arguments ('', ', 400') {
    my $sql = 'SELECT ' . join(', ', map { digest("agg($_$arguments)") } @columns) . ' FROM rows';
    my @got = split /\|/, query(in_shards($sql, 'kinds'));
    my @wanted = split /\|/, query(at_one($sql, 'kinds_here'));
    is($got[$_], $wanted[$_], "$types[$_]$arguments: the filter is that of one server") for 0 .. $#types;
}
my ($text) = grep { $types[ s/c//r ] eq 'text' } @columns;
is(query('SELECT ' . digest("bf_dist_agg(bf_element_of(ROW($text, id)))") . ' FROM kinds'),
    query('SELECT ' . digest("bf_agg(ROW($text, id))") . ' FROM kinds_here'),
    'ROW values: the filter is that of one server');

# --- bytes ---------------------------------------------------------------------------------------

# Returns the result of a statement, and the bytes that it sends to the workers and from them. The
# bytes for connecting, which a session's first statement causes, are subtracted.
sub bytes_beside_connecting {
    my ($sql) = @_;
    my $first = 'SELECT count(*) FROM files';
    my (undef, @connecting) = bytes_of($coordinator, $first);
    my ($result, @bytes) = bytes_of($coordinator, "$first; $sql");
    $result =~ s/^$rows\n//;
    return ($result, map { $bytes[$_] - $connecting[$_] } 0, 1);
}

# Returns the most bytes that workers may send. A state is sent as base64. It has 8 bytes for each
# distinct value of its shard, but at most as many bytes as the filter. $head is for the state's head
# and for messages.
my $head = 200;
sub most_bytes {
    my ($column, $expected) = @_;
    my $filter = $expected ? query("SELECT octet_length(bf_create($expected)::bytea)") : 1 << 40;
    return query("SELECT ceil(sum(least(8 * result::bigint, $filter) * 4 / 3.0 + $head))"
          . " FROM run_command_on_shards('files', 'SELECT count(DISTINCT $column) FROM %s')");
}

for ([ path => 0 ], [ path => $rows ], [ path => 1000 ], [ path => 10_000_000 ],
    [ package => 0 ], [ package => 997 ], [ package => 1_000_000 ]) {
    my ($column, $expected) = @$_;
    my $sql = 'SELECT ' . digest("agg($column" . ($expected ? ", $expected)" : ')')) . ' FROM rows';
    my $what = $expected ? "$column for $expected" : "$column, self-sized";
    my ($filter, $to, $from) = bytes_beside_connecting(in_shards($sql));
    my $most = most_bytes($column, $expected);
    note("$what: $from bytes, at most $most");
    is($filter, query(at_one($sql)), "$what: the filter is that of one server");
    cmp_ok($from, '<=', $most, "$what: workers send no more than their states");
    cmp_ok($to, '<=', 1000 * $shards, "$what: at most 1000 bytes a shard are sent to the workers");
}
{
    my $sql = 'SELECT ' . digest("bf_agg(path, $rows)") . ' FROM ';
    my ($filter, undef, $from) = bytes_beside_connecting($sql . 'files');
    is($filter, query($sql . 'here'), 'bf_agg of a distributed table: the filter is that of one server');
    cmp_ok($from, '>', query('SELECT sum(length(path)) FROM here'), '... and all rows are pulled');
}

# --- states that are kept ------------------------------------------------------------------------

query(q{CREATE TABLE kept (bucket int, of_path bf_partial, sized bf_partial, of_item bf_partial);
    SELECT create_distributed_table('kept', 'bucket', shard_count => 4, colocate_with => 'none');
    INSERT INTO kept SELECT bucket, bf_partial_agg(bf_element_of(path)),
      bf_partial_agg(bf_element_of(path), 20000, 0.001), bf_partial_agg(bf_element_of(item))
    FROM files GROUP BY 1});
my $merged = 'SELECT ' . join(', ', map { digest("bf_merge_agg($_)") } qw(of_path sized of_item)) . ' FROM kept';
my $at_once = 'SELECT '
  . join(', ', map { digest("bf_agg($_)") } 'path', 'path, 20000, 0.001', 'item') . ' FROM here';
plan_is(qr/worker_partial_agg\('(?:public\.)?bf_merge_agg/, $merged, 'kept states');
for my $where ('true', 'bucket < 5', 'bucket = 5') {
    is(query("$merged WHERE $where"), query("$at_once WHERE $where"),
        "kept states, $where: merged, they are the filters of one server");
}
is(query('SELECT ' . digest('bf_merge_agg(result::bf_partial)')
          . q{ FROM run_command_on_shards('files', 'SELECT bf_partial_agg(bf_element_of(path)) FROM %s')}),
    query(at_one($all)), 'states of run_command_on_shards: merged, they are the filter of one server');

# --- probing -------------------------------------------------------------------------------------

query(q{CREATE TABLE wanted (path text COLLATE "C");
    INSERT INTO wanted SELECT path FROM here WHERE id % 100 = 3;
    CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);
    SELECT create_reference_table('filters');
    INSERT INTO filters SELECT 'large', bf_agg(path, 1000000) FROM wanted;
    INSERT INTO filters SELECT 'small', bf_agg(path) FROM wanted;
    ANALYZE wanted, filters;
    CREATE TABLE by_path (number int, path text COLLATE "C");
    SELECT create_distributed_table('by_path', 'path', shard_count => 4, colocate_with => 'none');
    INSERT INTO by_path SELECT id, path FROM here WHERE id % 7 = 3;
    ANALYZE by_path});

my $large = query(q{SELECT octet_length(f::bytea) FROM filters WHERE name = 'large'});
my $messages = 500 * $shards;
for (
    [ 'an intermediate result, as it is to each worker', '(SELECT bf_agg(path, 1000000) FROM wanted)', $large * @workers ],
    [ 'a reference table', q{(SELECT f FROM filters WHERE name = 'large')}, 0 ]) {
    my ($what, $filter, $most) = @$_;
    my $sql = "SELECT count(*) FROM rows WHERE $filter \@> path";
    plan_is(qr/Bloom Filter Scan\) on public\.files_\d+/, in_shards($sql), "a filter of $what");
    my ($found, $to, $from) = bytes_beside_connecting(in_shards($sql));
    note("$what: $to bytes to the workers, $from from them");
    is($found, query(at_one($sql)), "a filter of $what: the number of rows is that of one server");
    cmp_ok($to, '<=', $most + $messages,
        "a filter of $what: at most $most bytes and messages to the workers");
    cmp_ok($from, '<=', $messages, "a filter of $what: only messages from the workers");
}

# The answers with the scan are the same as without. SET LOCAL sets bloomfilter.scan on the workers, too.
my $asked = q{(SELECT f FROM filters WHERE name = 'small') @>};
for my $sql (
    "SELECT count(*), sum(id) FROM files WHERE $asked path",
    "SELECT count(*) FROM files WHERE NOT $asked path",
    "SELECT id, path FROM files WHERE $asked path ORDER BY id LIMIT 10",
    "SELECT bucket, count(*) FROM files WHERE $asked path AND item > 100 GROUP BY 1 ORDER BY 1",
    "SELECT count(*) FROM files WHERE $asked path AND id = 103",
    "SELECT count(*) FROM files JOIN filters ON name = 'small' AND f \@> path",
    'SELECT count(*) FROM files WHERE EXISTS (SELECT FROM filters WHERE f @> files.path)',
    "SELECT count(*) FROM files f JOIN files g USING (id) WHERE $asked f.path AND g.bucket = 3",
    "SELECT count(*) FROM (SELECT path FROM files WHERE $asked path OFFSET 0) f JOIN by_path USING (path)",
    "WITH u AS (UPDATE files SET item = item WHERE $asked path RETURNING id) SELECT count(*) FROM u",
    "DECLARE c CURSOR FOR SELECT id FROM files WHERE $asked path ORDER BY id; FETCH 3 FROM c; MOVE 10 IN c; FETCH 2 FROM c",
    'PREPARE p (text) AS SELECT count(*) FROM files WHERE (SELECT f FROM filters WHERE name = $1) @> path;'
      . join(';', map { "EXECUTE p('$_')" } ('small', 'large') x 4, 'none'),
    'PREPARE p (int) AS SELECT count(*) FROM files'
      . " WHERE id = \$1 AND $asked path;" . join(';', map { "EXECUTE p($_)" } 3, 4, 103, 104, 203, 204, 303, 304)) {
    my ($with, $without) = map {
        query('BEGIN; SET LOCAL citus.enable_repartition_joins = on;'
              . " SET LOCAL bloomfilter.scan = $_; $sql; COMMIT")
    } qw(on off);
    is($with, $without, "the same answer with and without the scan: $sql");
}
unlike(verbose_plan($coordinator, "SELECT FROM files WHERE $asked path", 'BEGIN; SET LOCAL bloomfilter.scan = off'),
    qr/Bloom Filter Scan/, 'SET LOCAL bloomfilter.scan = off holds on the workers');

# --- streaming sets ------------------------------------------------------------------------------

query(q{CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL) WITH (fillfactor = 50);
    SELECT create_distributed_table('seen', 'shard', shard_count => 8, colocate_with => 'none')});
my $has = q{SELECT FROM seen WHERE shard = bf_shard('v'::text, 97) AND filter @> 'v'};
my $add = q{INSERT INTO seen AS s VALUES (bf_shard('v'::text, 97), bf_create(400) + 'v')
    ON CONFLICT (shard) DO UPDATE SET filter = s.filter + 'v'};
my $update = q{UPDATE seen SET filter = filter + 'v' WHERE shard = bf_shard('v'::text, 97)};
plan_is(qr/Task Count: 1$/m, $_, "sent to one shard: $_") for $has, $add, $update;
is(query("SELECT EXISTS ($has); $add; SELECT EXISTS ($has); $add; $update; SELECT count(*) FROM seen"),
    "f\nt\n1", 'a value is found after it was added, and there is one filter');

my $batch = q{INSERT INTO seen AS s SELECT bf_shard(path, 97), bf_dist_agg(bf_element_of(path), 400)
    FROM files WHERE id % 2 = %d GROUP BY 1
    ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter};
plan_is(qr/worker_partial_agg/, sprintf($batch =~ s/id %/id %%/r, 0),
    'a batch of additions, computed by workers');
query('TRUNCATE seen;' . join(';', map { sprintf($batch =~ s/id %/id %%/r, $_) } 0, 1));
is(query('SELECT shard, ' . digest('filter') . ' FROM seen ORDER BY 1'),
    query('SELECT bf_shard(path, 97), ' . digest('bf_agg(path, 400)') . ' FROM here GROUP BY 1 ORDER BY 1'),
    'batches of additions: the filters are those of one server');

# --- the page ------------------------------------------------------------------------------------

# The statements that doc/distributed.md shows run in a new schema. Rows are added to their tables.
my @shown = slurp_file("$FindBin::RealBin/../../doc/distributed.md") =~ /^```sql\n-- Sketch: needs Citus\.\n(.*?)^```/gms;
my %filled = (
    files => 'SELECT id, bucket, path FROM here',
    visits => 'SELECT bf_shard(path, 669), path FROM here WHERE id % 3 = 0');
for my $statements (@shown) {
    $statements =~ s/^(SELECT create_distributed_table\('$_'.*;\n)/$1INSERT INTO $_ $filled{$_};\n/m for keys %filled;
}
my $page = query('CREATE SCHEMA page; SET search_path = page, public; CREATE TABLE packages (number int, path text);'
      . " SELECT create_distributed_table('packages', 'number'); INSERT INTO packages SELECT id, path FROM here WHERE id % 50 = 0;"
      . join '', @shown);
cmp_ok(scalar @shown, '>', 4, 'doc/distributed.md shows statements that need Citus');
like($page, qr/\nt\n(?:.*\n)*0\z/,
    'its statements run: an added value is found, and the last statement finds no new value');

# --- other tables --------------------------------------------------------------------------------

# Shards on the coordinator are probed without a connection.
query("SELECT citus_set_node_property('$socket', $port, 'shouldhaveshards', true)");
query("CREATE TABLE near (LIKE here);
    SELECT create_distributed_table('near', 'id', shard_count => 6, colocate_with => 'none');
    INSERT INTO near SELECT * FROM here");
for my $sql ($all, $groups . ' GROUP BY 1 ORDER BY 1', "SELECT count(*) FROM rows WHERE $asked path") {
    is(query(in_shards($sql, 'near')), query(at_one($sql)),
        "with shards on the coordinator, the same answer: $sql");
}

# Columnar tables of Citus. The scan of Citus reads only the columns that are needed, and probes filters
# row by row. If it is switched off, the Bloom Filter Scan reads rows from chunks, whose numbers of rows
# are no multiples of 16.
SKIP: {
    skip 'no citus_columnar', 4 if !-e "$share/extension/citus_columnar.control";
    query(q{CREATE EXTENSION IF NOT EXISTS citus_columnar; CREATE TABLE columns (LIKE here) USING columnar;
        SELECT alter_columnar_table_set('columns', chunk_group_row_limit => 1001, stripe_row_limit => 5001);
        SELECT create_distributed_table('columns', 'id', shard_count => 2, colocate_with => 'none');
        INSERT INTO columns SELECT * FROM here});
    is(query(in_shards($all, 'columns')), query(at_one($all)), 'columnar: the filter is that of one server');
    my $sql = "SELECT count(*), sum(hashtext(path)) FROM rows WHERE $asked path";
    plan_is(qr/ColumnarScan\) on public\.columns_\d+/, in_shards($sql, 'columns'), 'columnar');
    for my $setting ('on', 'off') {
        is(query("BEGIN; SET LOCAL columnar.enable_custom_scan = $setting; " . in_shards($sql, 'columns') . '; COMMIT'),
            query(at_one($sql)), "columnar.enable_custom_scan = $setting: the answer is that of one server");
    }
}

# --- wrong use -----------------------------------------------------------------------------------

for (
    [ 'a number that differs' => '22023', 'SELECT agg(path, id) FROM rows' ],
    [ 'a negative number' => '22023', 'SELECT agg(path, -1) FROM rows' ],
    [ 'a rate out of range' => '22023', 'SELECT agg(path, 100, 2) FROM rows' ]) {
    my ($what, $state, $sql) = @$_;
    is(sqlstate($coordinator, in_shards($sql)), $state, "$what is refused");
    is(sqlstate($coordinator, at_one($sql)), $state, "... by one server, too");
}

# If all states of a shard are alike but differ from those of other shards, only the coordinator can
# see this.
query(q{CREATE TABLE mixed (number int, state bf_partial);
    SELECT create_distributed_table('mixed', 'number', shard_count => 4, colocate_with => 'none')});
for (
    [ 'two sizes' => '22023', 'bf_element_of(path), 1000', 'bf_element_of(path), 2000' ],
    [ 'a size and none' => '22023', 'bf_element_of(path), 1000', 'bf_element_of(path)' ],
    [ 'two element types' => '42804', 'bf_element_of(path)', 'bf_element_of(id)' ]) {
    my ($what, $state, @arguments) = @$_;
    my @states = map { "INSERT INTO mixed SELECT $_, bf_partial_agg($arguments[$_ % 2]) FROM here" } 0 .. 7;
    is(sqlstate($coordinator, join(';', 'TRUNCATE mixed', @states, 'SELECT bf_merge_agg(state) FROM mixed')),
        $state, "merging states of $what is an error");
}

clean_log($_) for $coordinator, @workers;
done_testing();
