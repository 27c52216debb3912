# A stored filter of any type keeps its bytes, and therefore its answers, through everything that
# PostgreSQL does with tables: dumps of both formats, COPY as text and binary, restarts, crashes,
# standbys, and a dump into a database of another encoding.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('primary', init => { allows_streaming => 1 });
my $dir = PostgreSQL::Test::Utils::tempdir();

# A value of every element family, made from the integer i.
my %value_of = (
    integer => 'i',
    floating => 'i / 7.0::float8',
    numeric => 'i / 7.0',
    text => q{'word ' || chr(945 + i % 20) || i},
    bytea => 'int4send(i)',
    uuid => 'md5(i::text)::uuid',
    boolean => 'i % 2 = 0',
    char => '(i % 100)::"char"',
    oid => 'i::oid',
    date => q{date '2000-01-01' + i},
    timestamp => q{timestamp '2000-01-01' + make_interval(secs => i)},
    timestamptz => 'to_timestamp(i)',
    time => q{time '00:00' + make_interval(secs => i)},
    timetz => q{(time '00:00' + make_interval(secs => i) || '+02')::timetz},
    interval => 'make_interval(secs => i)',
    inet => q{inet '10.0.0.0' + i},
    macaddr => q{lpad(to_hex(i), 12, '0')::macaddr},
    macaddr8 => q{lpad(to_hex(i), 16, '0')::macaddr8},
    jsonb => q{jsonb_build_object('number', i, 'list', array[i, NULL])},
    enum => '(enum_range(NULL::mood))[1 + i % 3]',
    array => 'array[i, NULL, i + 1]',
    range => 'int4range(i, i + 5)',
    multirange => 'int4multirange(int4range(i, i + 5), int4range(i + 10, i + 15))',
    row => q{ROW(i, 'word ' || i)::pair});

# Creates a table and a view in a new database. Each row of the table `filters` has a name, a number
# of members and a filter of each type. The view `missing` lists members that their filters deny, or
# that a counting filter does not count. `more` is SQL that adds filters with members from `value_of`.
sub populate {
    my ($db, $types, $value_of, $more) = @_;
    my $sql = "CREATE EXTENSION bloomfilter; $types;"
      . 'CREATE TABLE filters (name text, members int, filter bloomfilter,'
      . ' counting countingbloomfilter, cuckoo cuckoofilter);';
    my @missing;
    for my $name (sort keys %$value_of) {
        my $value = $value_of->{$name};
        for my $agg ([ 10, "$value, 10" ], [ 3000, $value ]) {
            $sql .= "INSERT INTO filters SELECT '$name', $agg->[0], "
              . join(', ', map { "${_}_agg($agg->[1])" } qw(bf cbf cf))
              . " FROM generate_series(1, $agg->[0]) i;";
        }
        # One filter at a time, because large filters would evict each other from the cache.
        push @missing, map { "SELECT name, members, i FROM filters, generate_series(1, members) i"
              . " WHERE name = '$name' AND NOT $_" } "filter @> ($value)", "cuckoo @> ($value)",
          "(counting @> ($value) AND cbf_multiplicity(counting, $value) > 0)";
    }
    $sql .= 'CREATE VIEW missing AS ' . join(' UNION ALL ', @missing) . ";$more";
    $node->safe_psql($db, $sql);
    return;
}

# Returns the lengths and digests of all filters, which must never change.
sub bytes_of {
    my ($server, $db) = @_;
    return $server->safe_psql($db, q{
        SELECT name, members, length(filter::bytea), md5(filter::bytea),
          length(counting::bytea), md5(counting::bytea), length(cuckoo::bytea), md5(cuckoo::bytea)
        FROM filters
        ORDER BY 1, 2, 3, 4});
}

sub check {
    my ($server, $db, $bytes, $what) = @_;
    is(bytes_of($server, $db), $bytes, "$what: all filters have the same bytes as before");
    is($server->safe_psql($db, 'SELECT * FROM missing'), '', "$what: every filter contains its members");
    my $absent = $server->safe_psql($db, q{
        SELECT count(*) FROM filters, generate_series(10001, 20000) i
        WHERE name = 'text' AND members = 3000
          AND (filter @> ('absent ' || i) OR cuckoo @> ('absent ' || i))});
    cmp_ok($absent, '<', 400, "$what: fewer than 2 % of probes for other values are false positives");
    return;
}

sub run_on {
    my ($what, @command) = @_;
    $node->command_ok(\@command, $what);
    return;
}

sub psql_file {
    my ($db, $file) = @_;
    run_on("psql into $db", 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $db, '-f', $file);
    return;
}

# Filters of all element types, of 104 bytes to 12 MB, some of them toasted and compressed.
$node->safe_psql('postgres', 'CREATE DATABASE origin');
populate('origin', <<'TYPES', \%value_of, <<'MORE');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad');
CREATE TYPE pair AS (a int, b text)
TYPES
INSERT INTO filters SELECT 'integer', 0, bf_create(10);
INSERT INTO filters SELECT 'integer', 1000, bf_agg(i, 10000000), cbf_agg(i, 3000000),
  cf_agg(i, 10000000) FROM generate_series(1, 1000) i, generate_series(1, 1 + i % 20);
INSERT INTO filters SELECT 'text', 30000, bf_agg('word ' || chr(945 + i % 20) || i)
  FROM generate_series(1, 30000) i;
INSERT INTO filters SELECT 'hashes', 0, bf_add_hash(bf_create(10), 42);
ALTER TABLE filters ALTER filter SET STORAGE EXTENDED, ALTER counting SET STORAGE EXTENDED,
  ALTER cuckoo SET STORAGE EXTENDED;
INSERT INTO filters SELECT 'integer', 1001, bf_agg(i, 9000000), cbf_agg(i, 1000000),
  cf_agg(i, 1000000) FROM generate_series(1, 1001) i;
MORE
is( $node->safe_psql('origin', q{
        SELECT min(pg_column_size(filter)), max(pg_column_size(filter)) > 12000000,
          bool_or(pg_column_size(filter) < length(filter::bytea) / 10),
          max(pg_column_size(counting)) > 14000000, max(pg_column_size(cuckoo)) > 13000000,
          bool_or(pg_column_size(counting) < length(counting::bytea) / 10),
          bool_or(pg_column_size(cuckoo) < length(cuckoo::bytea) / 10)
        FROM filters}),
    '101|t|t|t|t|t|t', 'filters of each type are small and large, and some are compressed');
my $bytes = bytes_of($node, 'origin');
check($node, 'origin', $bytes, 'as built');
is( $node->safe_psql('origin', q{
        BEGIN;
        UPDATE filters SET filter = bf_clear(filter);
        SELECT count(DISTINCT name) FROM missing;
        ROLLBACK;
        BEGIN;
        UPDATE filters SET counting = cbf_create(10);
        SELECT count(DISTINCT name) FROM missing;
        ROLLBACK;
        BEGIN;
        UPDATE filters SET cuckoo = cf_create(10);
        SELECT count(DISTINCT name) FROM missing;
        ROLLBACK}),
    join("\n", (scalar keys %value_of) x 3), 'the view of missing members lists them if filters are empty');

# Dumps
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(plain custom);
run_on('pg_dump', 'pg_dump', '-d', 'origin', '-f', "$dir/plain.sql");
psql_file('plain', "$dir/plain.sql");
check($node, 'plain', $bytes, 'pg_dump and psql');
run_on('pg_dump -Fc', 'pg_dump', '-Fc', '-d', 'origin', '-f', "$dir/custom.dump");
run_on('pg_restore', 'pg_restore', '-e', '-d', 'custom', "$dir/custom.dump");
check($node, 'custom', $bytes, 'pg_dump -Fc and pg_restore');

# COPY
for my $format (qw(text csv binary)) {
    $node->safe_psql('plain', qq{
        COPY filters TO '$dir/$format' (FORMAT $format);
        TRUNCATE filters;
        COPY filters FROM '$dir/$format' (FORMAT $format)});
    check($node, 'plain', $bytes, "COPY $format");
}

# Restarts
$node->restart;
check($node, 'origin', $bytes, 'restart');
$node->safe_psql('origin', q{
    INSERT INTO filters SELECT 'late', 0, bf_agg(i) FROM generate_series(1, 500000) i});
$bytes = bytes_of($node, 'origin');
$node->stop('immediate');
$node->start;
check($node, 'origin', $bytes, 'crash');

# A standby has the filters of the base backup and the changes that come by WAL. After its promotion,
# it adds to filters.
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->safe_psql('origin', q{
    INSERT INTO filters SELECT 'streamed', 0, bf_agg(i) FROM generate_series(1, 500000) i;
    UPDATE filters SET filter = bf_add(filter, 4711) WHERE name = 'late';
    UPDATE filters SET counting = counting + 5000 - 5000 + 5001, cuckoo = cuckoo + 5000
      WHERE name = 'integer' AND members = 3000});
$bytes = bytes_of($node, 'origin');
$node->wait_for_catchup($standby);
check($standby, 'origin', $bytes, 'standby');
is( $standby->safe_psql('origin', q{
        SELECT bf_agg(i) = (SELECT filter FROM filters WHERE name = 'streamed')
        FROM generate_series(1, 500000) i}),
    't', 'a query on a standby builds the same filter as the primary stored');
is( $standby->safe_psql('origin', q{
        SELECT bool_and(cbf_remove(counting, v) + v = counting AND cuckoo + v - v @> v)
        FROM filters, (SELECT 'word ' || chr(946) || 1 AS v) value WHERE name = 'text'
          AND members = 3000}),
    't', 'a query on a standby removes a value from filters and adds it again');
$standby->promote;
check($standby, 'origin', $bytes, 'promoted standby');
$standby->safe_psql('origin', q{
    UPDATE filters SET filter = bf_add(filter, 'new'::text) WHERE name = 'text';
    UPDATE filters SET counting = counting + 'new'::text, cuckoo = cuckoo + 'new'::text
    WHERE name = 'text' AND members <= 3000});
is( $standby->safe_psql('origin', q{
        SELECT bool_and(filter @> 'new'), bool_and(counting @> 'new' AND cuckoo @> 'new') FROM filters
        WHERE name = 'text' AND members <= 3000}),
    't|t', 'a promoted standby finds a value that was added to its filters');
clean_log($standby);
$standby->stop;

# Databases of two encodings build equal filters from the same text. So a filter that is dumped from
# one and restored into the other keeps its answers, also on the way back.
sub of_word {
    my ($word) = @_;
    return (
        text => $word,
        name => "($word)::name",
        bpchar => "($word)::char(30)",
        array => "array[$word, NULL]",
        row => "ROW(i, $word)::pair",
        range => "textrange($word, NULL)",
        jsonb => "jsonb_build_object($word, $word)",
        enum => '(enum_range(NULL::mood))[1 + i % 3]');
}

sub across_encodings {
    my ($encoding, $word, $label) = @_;
    my $types = qq{
        CREATE TYPE pair AS (a int, b text);
        CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
        CREATE TYPE mood AS ENUM ('sad', 'ok', $label)};
    my %of_word = of_word($word);
    my ($there, $here, $back) = map { lc "${encoding}_$_" } qw(there here back);
    for ([ $there, $encoding ], [ $here, 'UTF8' ], [ "${here}_built", 'UTF8' ],
        [ $back, $encoding ]) {
        $node->safe_psql('postgres', "CREATE DATABASE $_->[0] ENCODING '$_->[1]'"
              . q{ TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
    }
    populate($there, $types, \%of_word, '');
    populate("${here}_built", $types, \%of_word, '');
    my $length = "SELECT sum(octet_length($word)) FROM generate_series(1, 3000) i";
    isnt(
        $node->safe_psql($there, $length),
        $node->safe_psql("${here}_built", $length),
        "the test's words have other bytes in $encoding than in UTF8");

    my $bytes = bytes_of($node, $there);
    is(bytes_of($node, "${here}_built"), $bytes, "$encoding and UTF8 build filters of the same bytes");
    for ([ $there, $here ], [ $here, $back ]) {
        run_on("pg_dump $_->[0]", 'pg_dump', '-d', $_->[0], '-f', "$dir/$_->[0].sql");
        psql_file($_->[1], "$dir/$_->[0].sql");
        check($node, $_->[1], $bytes, "from $_->[0] to $_->[1]");
    }
    return;
}

across_encodings('LATIN1', q{'w' || chr(128 + i % 128) || chr(192 + i % 64) || i}, q{E'\u00fcber'});
across_encodings('EUC_JP', q{E'\u65e5\u672c\u8a9e' || i}, q{E'\u65e5\u672c'});
# A "char" may be a byte that is no valid text in the encoding. Since PostgreSQL 15, its text is an
# octal escape.
is( $node->safe_psql('euc_jp_there', q{SELECT bf_create(9, 1e-9) + '\351'::text @> (-23)::"char"}),
    't', 'a filter of the text \351 contains the "char" that is printed as \351');

# WIN1252 has characters that UTF-8 lacks. A value with one is an error, but not in a row that another
# condition leaves out.
$node->safe_psql('postgres',
    q{CREATE DATABASE win ENCODING 'WIN1252' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
$node->safe_psql('win', q{CREATE EXTENSION bloomfilter;
    DO $$BEGIN EXECUTE 'CREATE TYPE mood AS ENUM (''sad'', ''' || chr(129) || ''')'; END$$;
    CREATE TABLE felt AS SELECT i, (enum_range(NULL::mood))[1 + i % 2] AS mood, i % 2 AS kind
      FROM generate_series(1, 20000) i;
    ANALYZE felt});
is( $node->safe_psql('win',
        q{SELECT count(*) FROM felt WHERE kind = 0 AND (SELECT bf_agg(mood) FROM felt WHERE i = 2) @> mood}),
    10000, 'an enum label that cannot be converted to UTF-8 is an error only for rows that are probed');

# In a database in SQL_ASCII, which is no encoding, text is a sequence of bytes.
$node->safe_psql('postgres',
    q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
populate('bytes', '', { text => q{E'\xe9\xff' || i}, ascii => q{'word ' || i} }, '');
$bytes = bytes_of($node, 'bytes');
check($node, 'bytes', $bytes, 'SQL_ASCII');
my $ascii = q{SELECT bf_agg('word ' || i) FROM generate_series(1, 9) i};
is( $node->safe_psql('bytes', $ascii),
    $node->safe_psql('origin', $ascii),
    'ASCII text builds the same filter in SQL_ASCII and UTF8');
$node->safe_psql('postgres', 'CREATE DATABASE bytes_restored TEMPLATE template0'
      . q{ ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'});
run_on('pg_dump bytes', 'pg_dump', '-d', 'bytes', '-f', "$dir/bytes.sql");
psql_file('bytes_restored', "$dir/bytes.sql");
check($node, 'bytes_restored', $bytes, 'SQL_ASCII, restored');

clean_log($node);
done_testing();
