# Values that a release stored are read by every later release. They give the same answers, and later
# changes give the same results.
#
# test/golden/release-* has files of each release: a dump of the database that stores every kind of
# filter (test/matrix/state), the scripts of that time, and what they printed before and after changes.
# The dump has each value in its text form. For filters and partial states, this form is the base64 of
# the bytes in a data directory, as is tested here. Elements are stored in the byte order of the
# machine. elements.gz has their bytes as little-endian machines store them.
#
# BLOOMFILTER_TEST_RECORD=X.Y first writes test/golden/release-X.Y. That is done once, when the release
# is made. The files never change afterwards.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IO::Compress::Gzip qw(gzip $GzipError);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $golden = "$FindBin::RealBin/../golden";
my $scripts = "$FindBin::RealBin/../matrix/state";
my $node = new_server('release');
my $library = compile_library('stored');

# A query of the stored bytes of elements
my $elements = q{SELECT name, i, encode(stored_bytes(e), 'hex') FROM elements ORDER BY name COLLATE "C", i};

# Runs a script, which may be compressed, in a database. Returns what psql prints.
sub output_of {
    my ($db, $file) = @_;
    my $script;
    gunzip($file => \$script, Transparent => 1) or die "$file: $GunzipError";
    my $status = IPC::Run::run([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db) ], '<', \$script,
        '>', \my $output, '2>', \my $errors);
    die "$file: $errors" if !$status;
    return $output;
}

sub new_database {
    my ($db) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $db ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    return;
}

sub pack_into {
    my ($file, $content) = @_;
    gzip(\$content => $file, -Level => 9, -Minimal => 1) or die "$file: $GzipError";
    return;
}

sub record {
    my ($directory) = @_;
    $library or die 'no compiler';
    mkdir $directory or die "$directory: $!";
    system_or_bail('cp', map({ "$scripts/$_.sql" } qw(dump live)), $directory);
    new_database('state');
    output_of('state', "$scripts/populate.sql");
    IPC::Run::run([ 'pg_dump', '--no-owner', '-d', $node->connstr('state') ], '>', \my $dump) or die 'pg_dump';
    # Some minor releases of pg_dump write such lines, which not every server reads.
    $dump =~ s/^(?:.*\bpg_attver\b|\\(?:un)?restrict ).*\n//mg;
    pack_into("$directory/state.sql.gz", $dump);
    pack_into("$directory/before.gz", output_of('state', "$directory/dump.sql"));
    pack_into("$directory/elements.gz", look_at_bytes('state', $elements));
    output_of('state', "$directory/live.sql");
    pack_into("$directory/after.gz", output_of('state', "$directory/dump.sql"));
    return;
}

# Runs SQL that looks at stored bytes by functions of test/t/stored.c. Drops these functions afterwards.
sub look_at_bytes {
    my ($db, $sql) = @_;
    return $node->safe_psql($db, qq{
        CREATE SCHEMA bytes;
        SET search_path = public, ext, bytes;
        CREATE FUNCTION bytes.stored_bytes(anyelement) RETURNS bytea LANGUAGE c STRICT AS '$library';
        CREATE FUNCTION bytes.value_of(bytea, anyelement) RETURNS anyelement LANGUAGE c STRICT AS '$library';
        $sql;
        SET client_min_messages = error;
        DROP SCHEMA bytes CASCADE});
}

# Compares the answers of a database with those of a release, line by line, so that a difference shows.
sub is_output {
    my ($db, $directory, $expected, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    gunzip("$directory/$expected.gz" => \my $before) or die $GunzipError;
    my $now = output_of($db, "$directory/dump.sql");
    my %there = map { $_ => 1 } split /\n/, $before;
    cmp_ok(scalar(keys %there), '>', 500, "$what: the release recorded more than 500 answers");
    is(join("\n", grep { !$there{$_} } split /\n/, $now), '',
        "$what: each answer is one of the recorded answers");
    ok($now eq $before, "$what: all recorded answers are given, in the same order");
    return;
}

# Checks that tables store the same bytes as in the release.
sub has_stored {
    my ($db, $directory) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is(look_at_bytes($db, q{
            CREATE FUNCTION bytes.others(of regclass, name, OUT there bigint, OUT other bigint) LANGUAGE plpgsql AS $$BEGIN
              EXECUTE format('SELECT count(%1$I), count(*) FILTER (WHERE stored_bytes(%1$I) <> bytes OR
                value_of(bytes, %1$I)::text <> text) FROM %2$s, CAST(%1$I AS text) text, decode(text, %3$L) bytes',
                $2, of, 'base64') INTO there, other;
            END$$;
            SELECT atttypid::regtype::text COLLATE "C", sum(there) > 20, sum(other) FROM pg_class c, pg_attribute a, others(c.oid, attname)
            WHERE attrelid = c.oid AND relkind IN ('r', 'm') AND NOT attisdropped AND atttypid = ANY
              ('{bloomfilter,countingbloomfilter,cuckoofilter,bf_partial}'::regtype[])
            GROUP BY 1 ORDER BY 1}),
        join("\n", map { "$_|t|0" } qw(bf_partial bloomfilter countingbloomfilter cuckoofilter)),
        'stored bytes of filters and partial states are the base64 of their text form');
  SKIP: {
        skip 'this machine has the other byte order', 2 if unpack('L', pack 'N', 1) == 1;
        gunzip("$directory/elements.gz" => \my $stored) or die $GunzipError;
        is(look_at_bytes($db, $elements), $stored,
            'elements have the stored bytes that the release recorded');
        my $values = join ', ', map { my ($name, $i, $bytes) = split /\|/; "('$name', $i, '\\x$bytes'::bytea)" } split /\n/, $stored;
        is(look_at_bytes($db, qq{
                SELECT count(*) > 100, count(*) FILTER (WHERE e IS DISTINCT FROM value_of(bytes, bf_element_of(1)))
                FROM (VALUES $values) s (name, i, bytes) LEFT JOIN elements USING (name, i)}),
            't|0', '... and these bytes are read as the same elements');
    }
    return;
}

if (my $version = $ENV{BLOOMFILTER_TEST_RECORD}) {
    record("$golden/release-$version");
}
my @releases = sort glob "$golden/release-*";
cmp_ok(scalar @releases, '>', 0, 'test/golden has files of a release');
for my $directory (@releases) {
    my ($version) = $directory =~ /release-(.*)/;
    my $db = "release_$version" =~ s/\W/_/gr;
    new_database($db);
    output_of($db, "$directory/state.sql.gz");
    is_output($db, $directory, 'before', "values that $version stored");
  SKIP: {
        $library or skip "nothing compiles with the server's headers", 3;
        has_stored($db, $directory);
    }
    output_of($db, "$directory/live.sql");
    is_output($db, $directory, 'after', "values that $version stored, after changes");
}
clean_log($node);
done_testing();
