# Logical replication of filters, in text and binary format: the subscriber gets the same filters, and
# as many bytes are sent as the documentation says. If BLOOMFILTER_TEST_OTHER_PG_CONFIG names the
# pg_config of another server that has the extension, the same is tested between the two versions, in
# both directions. Then postgres_fdw also connects the two servers in both directions.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Nodes;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my %conf = (init => { allows_streaming => 'logical' });
my $one = new_server('one', %conf);
my $two = new_server('two', %conf);
my ($other, $path);
if (my $pg_config = $ENV{BLOOMFILTER_TEST_OTHER_PG_CONFIG}) {
    chomp($path = `$pg_config --bindir`);
    $path =~ s|/bin$||;
    $other = new_server('other', %conf, install_path => $path);
}
my @servers = grep { $_ } $one, $two, $other;
my %port;
@port{ map { $_->name } @servers } = count_bytes(@servers);

my $talk = 4096; # the most bytes that servers send about themselves and their positions

# --- replication -----------------------------------------------------------------------------------

my $definitions = q{
    CREATE TABLE seen(shard int PRIMARY KEY, filter bloomfilter NOT NULL);
    CREATE TABLE filters(id int PRIMARY KEY, note text, f bloomfilter);
    CREATE TABLE counted(id int PRIMARY KEY, c countingbloomfilter);
    CREATE TABLE cuckoos(id int PRIMARY KEY, k cuckoofilter);
    CREATE TABLE whole(note text, f bloomfilter);
    ALTER TABLE whole REPLICA IDENTITY FULL;
    SELECT bf_create_set('grown', 'int', 100), bf_create_set('lately', 'int', 1000, keep => '40 days');
    TRUNCATE grown, lately;
};
my $contents = join ' UNION ALL ', map { "SELECT '$_', count(*), md5(string_agg(${_}::text, chr(10) ORDER BY ${_}::text)) FROM $_" }
  qw(seen filters counted cuckoos whole grown lately);
my $stream = q{INSERT INTO seen AS s SELECT bf_shard(i, 7), bf_agg(i, 1000) FROM generate_series(%d, %d) i GROUP BY 1
    ON CONFLICT (shard) DO UPDATE SET filter = s.filter | excluded.filter};

# Changes: a name, the statement, and a query of the filters that are sent for it.
my @changes = (
    [ 'a batch of additions', sprintf($stream, 500, 1500), 'SELECT filter FROM seen' ],
    [ 'an addition to a large filter', 'UPDATE filters SET f = f + 50001 WHERE id = 1',
        'SELECT f FROM filters WHERE id = 1' ],
    [ 'an update of another column', q{UPDATE filters SET note = 'new' WHERE id = 1}, '' ],
    [ 'the same with REPLICA IDENTITY FULL', q{UPDATE whole SET note = 'new'}, 'SELECT f FROM whole' ],
    [ 'an addition to a counting filter', 'UPDATE counted SET c = c + 5', 'SELECT c FROM counted' ],
    [ 'an addition to a cuckoo filter', 'UPDATE cuckoos SET k = k + 5', 'SELECT k FROM cuckoos' ],
    [ 'a DELETE', 'DELETE FROM filters WHERE id = 2', '' ]);

sub replicate {
    my ($from, $to, $is_binary) = @_;
    my $name = join '_', 'from', $from->name, 'to', $to->name, $is_binary eq 'true' ? 'binary' : 'text';
    $_->safe_psql('postgres', "CREATE DATABASE $name") for $from, $to;
    $_->safe_psql($name, "CREATE EXTENSION bloomfilter; $definitions") for $from, $to;
    $from->safe_psql($name, sprintf($stream, 1, 1000) . qq{;
        INSERT INTO filters SELECT 1, 'large', bf_agg(i, 60000) FROM generate_series(1, 50000) i;
        INSERT INTO filters SELECT 2, 'small', bf_agg(i) FROM generate_series(1, 500) i;
        INSERT INTO counted SELECT 1, cbf_agg(i) FROM generate_series(1, 10000) i;
        INSERT INTO cuckoos SELECT 1, cf_agg(i) FROM generate_series(1, 10000) i;
        INSERT INTO whole SELECT 'large', bf_agg(i) FROM generate_series(1, 50000) i;
        SELECT grown_add_all(array(SELECT generate_series(1, 3000))), lately_add_all(array(SELECT generate_series(1, 500)));
        CREATE PUBLICATION $name FOR ALL TABLES});
    my $host = $from->host;
    $to->safe_psql($name, qq{
        CREATE SUBSCRIPTION $name CONNECTION 'host=$host port=$port{$from->name} dbname=$name'
          PUBLICATION $name WITH (binary = $is_binary)});
    $to->poll_query_until($name, q{SELECT count(*) = 7 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel})
      or die "$name: not copied";
    $from->wait_for_catchup($name);
    is($to->safe_psql($name, $contents), $from->safe_psql($name, $contents),
        "$name: the initial copy is the same");
    for my $change (@changes) {
        my ($about, $sql, $sent) = @$change;
        my (undef, $before) = counted($port{ $from->name });
        $from->safe_psql($name, $sql);
        $from->wait_for_catchup($name);
        my (undef, $after) = counted($port{ $from->name });
        is($to->safe_psql($name, $contents), $from->safe_psql($name, $contents),
            "$name: the same after $about");
        my $filters = $is_binary eq 'true' ? 'octet_length(f::bytea)' : 'length(f::text)';
        my $length = $sent && $from->safe_psql($name, "SELECT sum($filters) FROM ($sent) s (f)") || 0;
        between($after - $before, $length, $length + $talk, '... and only the changed filters are sent');
    }
    $from->safe_psql($name, 'SELECT grown_add_all(array(SELECT generate_series(3001, 5000))), lately_add_all(array(SELECT generate_series(501, 900)))');
    $from->wait_for_catchup($name);
    is($to->safe_psql($name, $contents), $from->safe_psql($name, $contents), "$name: the same after additions to sets");
    is($to->safe_psql($name, 'SELECT count(*) FILTER (WHERE grown_has(i)), count(*) FILTER (WHERE i <= 900 AND lately_has(i)) FROM generate_series(1, 5000) i'),
        '5000|900', '... and the subscriber can ask them');
    $to->safe_psql($name, "DROP SUBSCRIPTION $name");
    return;
}

replicate($one, $two, 'false');
replicate($one, $two, 'true');

# --- two versions ----------------------------------------------------------------------------------

# One server queries another for rows and for filters, and compares the results with its own. In one
# query, a foreign scan runs repeatedly, because postgres_fdw may rewind its cursor.
sub ask {
    my ($asker, $node) = @_;
    my $name = $asker->name . ' asks ' . $node->name;
    my $rows = q{SELECT i AS id, 'path ' || i AS path FROM generate_series(1, 3000) i};
    $node->safe_psql('postgres', "CREATE TABLE there AS $rows");
    my $host = $node->host;
    $asker->safe_psql('postgres', qq{
        CREATE EXTENSION IF NOT EXISTS postgres_fdw;
        CREATE TABLE here AS $rows;
        CREATE SERVER node FOREIGN DATA WRAPPER postgres_fdw
          OPTIONS (host '$host', port '$port{$node->name}', dbname 'postgres', extensions 'bloomfilter', fetch_size '10');
        CREATE USER MAPPING FOR CURRENT_USER SERVER node;
        CREATE FOREIGN TABLE asked(id int, path text) SERVER node OPTIONS (table_name 'there')});
    for my $query (
        'SELECT bf_agg(path, 5000) FROM %s', 'SELECT bf_agg(path) FROM %s', 'SELECT cbf_agg(id) FROM %s', 'SELECT cf_agg(id) FROM %s',
        'SELECT string_agg(path, chr(10) ORDER BY id) FROM %s WHERE (SELECT bf_agg(path) FROM here WHERE id % 10 = 0) @> path',
        'SELECT count(*), sum(x * id) FROM generate_series(1, 4) x
           LEFT JOIN (SELECT * FROM %s WHERE (SELECT bf_agg(path) FROM here WHERE id % 10 = 0) @> path) s ON x < id % 7 + x * 0') {
        my $of = sub { my ($table) = @_; return 'SET enable_material = off; ' . $query =~ s/%s/$table/r };
        is($asker->safe_psql('postgres', $of->('asked')), $asker->safe_psql('postgres', $of->('here')),
            "$name: the same as here: $query");
    }
    return;
}

if ($other) {
    note(join ' and ', map { $_->safe_psql('postgres', 'SHOW server_version') } $one, $other);
    for my $is_binary ('false', 'true') {
        replicate($one, $other, $is_binary);
        replicate($other, $one, $is_binary);
    }
    ask($one, $other);
    ask($other, $one);
} else {
  SKIP: {
        skip 'BLOOMFILTER_TEST_OTHER_PG_CONFIG names no other server', 1;
    }
}

clean_log($_) for @servers;
done_testing();
