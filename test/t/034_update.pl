# ALTER EXTENSION UPDATE. A database of the first release is updated to the current version, and then
# has the same objects as a new installation. It is also updated to a pretended next version, whose
# files a copy of the server gets while it runs. Stored filters, views, indexes and prepared statements
# go on working. So do sessions that were open before, which still have the old library.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my %path = copied_server();
my $root = $path{root};
my ($extension, $library) = ("$path{sharedir}/extension/bloomfilter", "$path{pkglibdir}/bloomfilter.so");
system_or_bail('cp', $library, "$path{pkglibdir}/bloomfilter-released.so");
my $next_library = compile_library('next_release', "$path{pkglibdir}/bloomfilter-released.so")
  or plan skip_all => "nothing compiles with the server's headers";
my $node = new_server('update', install_path => $path{bindir} =~ s|/bin$||r);

# A query of the extension's objects. Each line has an object, a tab, and the object's properties.
my $objects = q{
    SELECT pg_describe_object(d.classid, d.objid, 0) || E'\t' || regexp_replace(concat_ws(' ',
        CASE WHEN p.prokind = 'a' THEN concat_ws(' ', aggtransfn, aggfinalfn, aggcombinefn, aggserialfn,
            aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn, aggtranstype::regtype, agginitval, proparallel)
          WHEN p.oid IS NOT NULL THEN pg_get_functiondef(p.oid) END,
        CASE WHEN o.oid IS NOT NULL THEN concat_ws(' ', oprcode, oprrest, oprjoin, oprcom::regoperator,
            oprnegate::regoperator, oprcanmerge, oprcanhash) END,
        CASE WHEN t.oid IS NOT NULL THEN concat_ws(' ', typlen, typalign, typstorage, typcategory, typinput,
            typoutput, typreceive, typsend, typanalyze) END,
        obj_description(d.objid, d.classid::regclass::name)), '\s+', ' ', 'g') AS object
    FROM pg_depend d
      LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
      LEFT JOIN pg_aggregate a ON aggfnoid = p.oid
      LEFT JOIN pg_operator o ON d.classid = 'pg_operator'::regclass AND o.oid = d.objid
      LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
    WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
      AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bloomfilter')
    ORDER BY 1};

sub objects_of {
    my ($db) = @_;
    return $node->safe_psql($db, $objects);
}

# Returns the lines of the first list that the second lacks.
sub only_in {
    my ($list, $other) = @_;
    my %there = map { $_ => 1 } split /\n/, $other;
    return grep { !$there{$_} } split /\n/, $list;
}

# Returns the names of objects, one a line, without their properties.
sub names_of {
    return join "\n", map { s/\t.*//r } map { split /\n/ } @_;
}

sub has_objects {
    my ($db, $expected, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $own = objects_of($db);
    return is(join("\n", only_in($own, $expected), 'lacks', only_in($expected, $own)), 'lacks', $what);
}

sub new_database {
    my ($db, $version) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $db OWNER plain");
    $node->safe_psql($db, "SET ROLE plain; CREATE EXTENSION bloomfilter $version");
    return;
}

sub version_of {
    my ($db) = @_;
    return $node->safe_psql($db, q{SELECT extversion FROM pg_extension WHERE extname = 'bloomfilter'});
}

# --- released versions -----------------------------------------------------------------------------

$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE ROLE guest LOGIN; GRANT plain TO CURRENT_USER');
new_database('walked', q{VERSION '1.0'});
my $released = objects_of('walked');
$node->safe_psql('walked', 'SET ROLE plain; ALTER EXTENSION bloomfilter UPDATE');
is(version_of('walked'), version_of('postgres'),
    'ALTER EXTENSION UPDATE leads from the first release to the current version');
cmp_ok(scalar(split /\n/, objects_of('walked')), '>', 300, 'an installation has more than 300 objects');
has_objects('walked', objects_of('postgres'),
    'an updated database has the same objects as a new installation');
is(join('; ', only_in(names_of($released), names_of(objects_of('walked')))), '',
    'the update removes no object of the first release');

# --- the next version ------------------------------------------------------------------------------

new_database('site', '');
$node->safe_psql('site', q{
    SET ROLE plain;
    CREATE TABLE filters (id int PRIMARY KEY, f bloomfilter UNIQUE, c countingbloomfilter, k cuckoofilter,
      n float8 GENERATED ALWAYS AS (bf_count(f)) STORED, late bloomfilter DEFAULT bf_create(10), CHECK (f @> 1));
    INSERT INTO filters SELECT n, bf_agg(i), cbf_agg(i), cf_agg(i)
      FROM generate_series(10, 100, 10) n, generate_series(1, n) i GROUP BY n;
    CREATE INDEX counts ON filters (bf_count(f));
    CREATE INDEX held ON filters USING bloomfilter (f);
    CREATE VIEW asked AS SELECT id, f @> 50 AND c @> 50 AND k @> '50' AS found FROM filters;
    CREATE MATERIALIZED VIEW united AS SELECT bf_union_agg(f) AS f FROM filters;
    CREATE FUNCTION finds(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT f @> $1 FROM united); END$$;
    CREATE FUNCTION next_is() RETURNS text LANGUAGE plpgsql AS
      $$BEGIN RETURN (SELECT bf_next(f) = bf_count(f) FROM united); EXCEPTION WHEN undefined_function THEN RETURN SQLERRM; END$$});
my $contents = q{
    SELECT md5(string_agg(filters::text, ',' ORDER BY id)) FROM filters;
    SELECT string_agg(id || ' ' || found, ',' ORDER BY id), finds(100), finds(1000000) FROM asked;
    SELECT md5(f::text) FROM united;
    SET enable_seqscan = off;
    SELECT bf_index_check('held'), string_agg(id::text, ',' ORDER BY id) FROM filters WHERE f @> 77};
my $before = $node->safe_psql('site', $contents);
my $old_objects = objects_of('site');

# Files are replaced while the server runs, as packages do.
my $version = version_of('site');
append_to_file("$extension--$version--next.sql", <<'SQL');
\echo Use "ALTER EXTENSION bloomfilter UPDATE TO 'next'" to load this file. \quit
CREATE FUNCTION bf_next(filter bloomfilter) RETURNS float8
  AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bf_next(bloomfilter) IS 'added by the next version';
COMMENT ON FUNCTION bf_count(bloomfilter) IS 'changed by the next version';
CREATE AGGREGATE bf_next_agg(filter bloomfilter) (sfunc = bf_union, stype = bloomfilter);
SQL
my $control = slurp_file("$extension.control") =~ s/^(default_version = )'.*'/$1'next'/mr;
append_to_file("$extension.control.new", $control);
system_or_bail('cp', "$next_library.so", "$library.new");
my $replace = join '; ', map { "mv '$_.new' '$_'" } "$extension.control", $library;

# Two sessions execute prepared statements, in a transaction and outside, while a third session updates
# the extension. One of the two began before the files were replaced, so it has the old library. The
# other has the new library and, at first, the old version of the extension.
my $connection = $node->connstr('site');
my $asks = 'EXECUTE asked(50); EXECUTE literal; EXECUTE agg; SELECT count(*) FROM asked WHERE found; SELECT finds(7);';
my $prepares = q{
    PREPARE asked(int) AS SELECT count(*) FROM filters WHERE f @> $1 AND c @> $1 AND k @> $1;
    PREPARE literal AS SELECT bool_and('7' <@ f) FROM filters;
    PREPARE agg AS SELECT bf_agg(i) @> 7 FROM generate_series(1, 9) i;};
append_to_file("$root/contents.sql", $contents);
append_to_file("$root/new.sql", qq{
    $prepares
    BEGIN;
    $asks
    \\! psql -Xq "$connection" -c "SET ROLE plain; ALTER EXTENSION bloomfilter UPDATE"
    $asks
    COMMIT;
    $asks
    SELECT next_is()});
is( $node->safe_psql('site', qq{
        $prepares
        $asks
        \\! $replace
        $asks
        BEGIN;
        $asks
        \\! psql -XAtq "$connection" -f "$root/contents.sql" >"$root/contents" 2>&1
        \\! psql -XAtq "$connection" -f "$root/new.sql" >"$root/new" 2>&1
        $asks
        COMMIT;
        $asks
        INSERT INTO filters (id, f) VALUES (2, bf_create(10) + 1 + 3000);
        SELECT id FROM filters WHERE f @> 3000;
        DELETE FROM filters WHERE id = 2;
        SELECT next_is()}) =~ s/\n/ /gr,
    join(' ', ('6 t t 6 t') x 5, 2, qq{could not find function "bf_next" in file "$library"}),
    'a session with the old library goes on, and the new function is an error there');
is(slurp_file("$root/contents"), "$before\n",
    'a new session with the new library and the old version has the same answers');
is(slurp_file("$root/new") =~ s/\n/ /gr, join(' ', ('6 t t 6 t') x 3, 'true '),
    'prepared statements of such a session go on during the update, and then it has the new function');
is(sqlstate($node, 'SET ROLE guest; ALTER EXTENSION bloomfilter UPDATE'), '42501',
    'a role that does not own the extension cannot update it');
is(version_of('site'), 'next', 'after the update, the version is the next one');
is($node->safe_psql('site', $contents), $before,
    'after the update, stored filters, views, functions and indexes have the same answers');
is( $node->safe_psql('site', q{
        SET enable_seqscan = off;
        INSERT INTO filters (id, f) VALUES (1, bf_create(10) + 1);
        UPDATE filters SET f = f + 2000 WHERE id = 1;
        SELECT id FROM filters WHERE f = bf_create(10) + 1 + 2000;
        SELECT id FROM filters WHERE bf_count(f) < 3;
        DELETE FROM filters WHERE id = 1;
        REFRESH MATERIALIZED VIEW united;
        REINDEX TABLE filters;
        CREATE VIEW next AS SELECT bf_next(bf_next_agg(f)) FROM filters}),
    "1\n1", 'after the update, rows can be changed and are found by indexes');

# --- what a version has ----------------------------------------------------------------------------

my $new_objects = objects_of('site');
is(names_of(only_in($old_objects, $new_objects)), 'function bf_count(bloomfilter)',
    'the update changes one object');
is(names_of(only_in($new_objects, $old_objects)),
    "function bf_count(bloomfilter)\nfunction bf_next(bloomfilter)\nfunction bf_next_agg(bloomfilter)",
    '... and adds two');
new_database('fresh', '');
is(version_of('fresh'), 'next', 'a new installation has the next version');
has_objects('fresh', $new_objects, '... and the same objects as an updated database');

# --- dumps -----------------------------------------------------------------------------------------

command_ok([ 'pg_dump', '-d', $connection, '-f', "$root/site.sql" ], 'pg_dump of an updated database');
unlike(slurp_file("$root/site.sql"), qr/CREATE (?:FUNCTION|AGGREGATE) \S*bf_next/,
    'the dump has no functions of the extension');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$root/site.sql" ],
    'psql restores it');
is($node->safe_psql('restored', $contents), $before, 'the restored database has the same answers');
has_objects('restored', $new_objects, '... and the objects of the next version');

# --- updates to other versions ---------------------------------------------------------------------

is(sqlstate($node, "ALTER EXTENSION bloomfilter UPDATE TO $_->[0]"), $_->[1], "UPDATE $_->[2]")
  for [ "'0.9'", '22023', 'to an older version that never existed is an error' ],
  [ "'7.0'", '22023', 'to an unknown version is an error' ],
  [ "'../1.0'", '22023', 'to a path is an error' ], [ 'next', '00000', 'to the next version succeeds' ],
  [ 'next', '00000', 'to the same version succeeds' ],
  [ "'$version'", '22023', 'from the next version back is an error' ];
is(sqlstate($node, "DROP EXTENSION bloomfilter; CREATE EXTENSION bloomfilter VERSION '7.0'"), '22023',
    'CREATE EXTENSION with an unknown version is an error');

clean_log($node);
done_testing();
