# Triggers, checks, views and generated columns that compare filters are restored from a dump if they
# are written as doc/production.md says. Others may be lost: pg_dump writes the operators of IS DISTINCT
# FROM, NULLIF, CASE f WHEN g, JOIN USING and of some comparisons of rows without their schema, and the
# search_path is empty while a dump is restored. Newer servers may restore these as well.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('dump');
my $dir = PostgreSQL::Test::Utils::tempdir();

# Each view has two forms: the first is always restored, and the second may be lost. Both give the same
# answers.
my %views = (
    is_distinct => [
        'SELECT id, f::bytea IS DISTINCT FROM g::bytea AS answer FROM filters',
        'SELECT id, f IS DISTINCT FROM g AS answer FROM filters' ],
    null_if => [
        'SELECT id, or_null::bytea AS answer FROM filters',
        'SELECT id, NULLIF(f, g)::bytea AS answer FROM filters' ],
    case_when => [
        q{SELECT id, CASE WHEN f = g THEN 'g' ELSE 'other' END AS answer FROM filters},
        q{SELECT id, CASE f WHEN g THEN 'g' ELSE 'other' END AS answer FROM filters} ],
    joined => [
        'SELECT a.id, b.id AS answer FROM filters a JOIN filters b ON a.f = b.f',
        'SELECT a.id, b.id AS answer FROM filters a JOIN filters b USING (f)' ],
    natural_join => [
        'SELECT a.id, b.id AS answer FROM filters a JOIN filters b ON a.f = b.f',
        'SELECT id, answer FROM (SELECT id, f FROM filters) a
           NATURAL JOIN (SELECT id AS answer, f FROM filters) b' ],
    less => [
        'SELECT id, (id % 2, f::bytea) < (1, g::bytea) AS answer FROM filters',
        'SELECT id, (id % 2, f) < (1, g) AS answer FROM filters' ],
    first_less => [
        'SELECT id, (f::bytea, id) < (g::bytea, 4) AS answer FROM filters',
        'SELECT id, (f, id) < (g, 4) AS answer FROM filters' ],
    first_in => [
        'SELECT id, (f::bytea, id) IN (SELECT g::bytea, id FROM filters) AS answer FROM filters',
        'SELECT id, (f, id) IN (SELECT g, id FROM filters) AS answer FROM filters' ],
    first_equal => [
        'SELECT id, (f::bytea, id) = (SELECT g::bytea, id FROM filters WHERE id = 4) AS answer
           FROM filters',
        'SELECT id, (f, id) = (SELECT g, id FROM filters WHERE id = 4) AS answer FROM filters' ]);

# Objects that are always restored. TYPE is a type of filter, and FILTER_n is a filter of the number n.
my $kept = <<'SQL' . join '', map { "CREATE VIEW $_ AS $views{$_}[0];\n" } sort keys %views;
CREATE FUNCTION has_no_7(f TYPE) RETURNS boolean LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
  SELECT NOT f @> 7;
END;
CREATE FUNCTION has_no_8(f TYPE) RETURNS boolean LANGUAGE sql IMMUTABLE
SET search_path FROM CURRENT AS 'SELECT NOT $1 @> 8';
CREATE TABLE filters (id int PRIMARY KEY, f TYPE CHECK (has_no_7(f)) CHECK (has_no_8(f)), g TYPE,
  or_null TYPE GENERATED ALWAYS AS (CASE WHEN f = g THEN NULL ELSE f END) STORED,
  no_8 boolean GENERATED ALWAYS AS (has_no_8(f)) STORED);
INSERT INTO filters VALUES (1, NULL, NULL), (2, FILTER_1, NULL), (3, NULL, FILTER_1),
  (4, FILTER_1, FILTER_1), (5, FILTER_1, FILTER_2), (6, FILTER_2, FILTER_1);
CREATE INDEX ON filters (has_no_8(f));
CREATE INDEX filters_pages ON filters USING bloompages (id) WITH (pages_per_range = 4);
CREATE MATERIALIZED VIEW no_8 AS SELECT id, has_no_8(f) FROM filters;
CREATE TABLE checked (f TYPE, g TYPE, CHECK (f::bytea IS DISTINCT FROM g::bytea));
CREATE TABLE excluded (f TYPE, EXCLUDE (f WITH =));
CREATE TABLE fired (name text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN INSERT INTO public.fired VALUES (TG_NAME); RETURN NULL; END';
CREATE TRIGGER bytes AFTER UPDATE ON filters FOR EACH ROW
  WHEN (OLD.f::bytea IS DISTINCT FROM NEW.f::bytea) EXECUTE FUNCTION note();
CREATE TRIGGER whole_row AFTER UPDATE ON filters FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION note();
CREATE TRIGGER unequal AFTER UPDATE ON filters FOR EACH ROW
  WHEN (OLD.f <> NEW.f) EXECUTE FUNCTION note();
CREATE VIEW others AS
  SELECT id, f IN (g, g) AS "IN", f IN (SELECT g FROM filters) AS "IN SELECT",
    f = ANY (ARRAY[g]) AS "ANY", GREATEST(f, g)::bytea AS "GREATEST", f = g AS "=",
    (f, id) = (g, id) AS "= of rows"
  FROM filters;
CREATE VIEW first AS SELECT DISTINCT ON (f) f::bytea AS filter, id FROM filters ORDER BY f, id;
SQL

# Objects that may be lost. For each, the statement that creates it, and a condition that it exists.
my %lost = (
    lost_check => [ 'CREATE TABLE lost_check (f TYPE, g TYPE, CHECK (f IS DISTINCT FROM g))',
        q{to_regclass('lost_check') IS NOT NULL} ],
    lost_column => [ 'CREATE TABLE lost_column (f TYPE, g TYPE,'
          . ' or_null TYPE GENERATED ALWAYS AS (NULLIF(f, g)) STORED)',
        q{to_regclass('lost_column') IS NOT NULL} ],
    lost_trigger => [ 'CREATE TRIGGER lost_trigger AFTER UPDATE ON filters FOR EACH ROW'
          . ' WHEN (OLD.f IS DISTINCT FROM NEW.f) EXECUTE FUNCTION note()',
        q{EXISTS (SELECT FROM pg_trigger WHERE tgname = 'lost_trigger')} ],
    lost_row => [ q{
        CREATE FUNCTION has_no_9(f TYPE) RETURNS boolean LANGUAGE sql IMMUTABLE
        AS 'SELECT NOT $1 @> 9';
        CREATE TABLE lost_row (f TYPE CHECK (has_no_9(f)));
        INSERT INTO lost_row VALUES (FILTER_1)},
        'EXISTS (SELECT FROM lost_row)' ]);
$lost{"lost_$_"} = [ "CREATE VIEW lost_$_ AS $views{$_}[1]", "to_regclass('lost_$_') IS NOT NULL" ]
  for keys %views;

# Changes of the rows of $kept, one after the other: the statement, its SQLSTATE and the triggers that
# fire, and the name of the test.
my @life = (
    [ 'UPDATE filters SET f = f',
        '00000', 'if an UPDATE changes no filter, no trigger fires' ],
    [ 'UPDATE filters SET f = FILTER_2 WHERE id = 2',
        '00000 bytes unequal whole_row', 'if a filter changes, all triggers fire' ],
    [ 'UPDATE filters SET f = NULL WHERE id = 2',
        '00000 bytes whole_row', 'if a filter becomes NULL, the triggers with IS DISTINCT FROM fire' ],
    [ 'UPDATE filters SET f = FILTER_2 WHERE id = 2',
        '00000 bytes whole_row', 'if a filter was NULL, the triggers with IS DISTINCT FROM fire' ],
    [ 'UPDATE filters SET id = 7 WHERE id = 2',
        '00000 whole_row', 'if another column changes, the trigger of the whole row fires' ],
    [ 'UPDATE filters SET f = FILTER_7 WHERE id = 3',
        '23514', 'a CHECK that calls a function rejects a row' ],
    [ 'UPDATE filters SET f = FILTER_8 WHERE id = 3',
        '23514', 'a CHECK that calls a function with a search_path rejects a row' ],
    [ 'INSERT INTO checked VALUES (FILTER_1, FILTER_2), (FILTER_1, NULL), (NULL, FILTER_1)',
        '00000', 'a CHECK with IS DISTINCT FROM accepts filters that differ' ],
    [ 'INSERT INTO checked VALUES (FILTER_1, FILTER_1)',
        '23514', '... rejects equal filters' ],
    [ 'INSERT INTO checked VALUES (NULL, NULL)',
        '23514', '... and rejects two NULLs' ],
    [ 'INSERT INTO excluded VALUES (FILTER_1), (FILTER_2)',
        '00000', 'EXCLUDE accepts filters that differ' ],
    [ 'INSERT INTO excluded VALUES (FILTER_2)',
        '23P01', '... and rejects an equal filter' ]);

# --- databases -----------------------------------------------------------------------------------

sub new_database {
    my ($db) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE template0");
    return $db;
}

# Statements for one type of filter, in a session that finds the extension.
sub sql_of {
    my ($prefix, $sql) = @_;
    my %type = (bf => 'bloomfilter', cbf => 'countingbloomfilter', cf => 'cuckoofilter');
    $sql =~ s/\bTYPE\b/$type{$prefix}/g;
    $sql =~ s/\bFILTER_(\d)/(${prefix}_create(10, 1e-9) + $1)/g;
    return "SET search_path = public, ext; $sql";
}

# Returns the rows of all views.
sub answers_of {
    my ($db) = @_;
    return $node->safe_psql($db, join ';', map { "SELECT '$_', v.* FROM $_ v ORDER BY 2, 3" }
          sort(keys %views), qw(others first no_8));
}

# Checks that the views of a database have the same rows as before, and makes the changes of @life.
sub lives {
    my ($db, $prefix, $answers) = @_;
    is(answers_of($db), $answers, "$db: all views have the same rows");
    is($node->safe_psql($db, sql_of($prefix, q{SELECT bf_index_check('filters_pages'), pages_per_range
            FROM bf_index_info('filters_pages')})),
        '|4', "$db: the index of pages has all values, and its options");
    my $script = join '', map { <<"SQL" } @life;
$_->[0];
SELECT concat_ws(' ', :'SQLSTATE', string_agg(DISTINCT name, ' ' ORDER BY name)) FROM fired;
TRUNCATE fired;
SQL
    my (undef, $printed) = $node->psql($db, "\\set ON_ERROR_STOP off\n" . sql_of($prefix, $script));
    my @said = split /\n/, $printed;
    is($said[$_], $life[$_][1], "$db: $life[$_][2]") for 0 .. $#life;
    return;
}

sub dump_of {
    my ($db, @options) = @_;
    IPC::Run::run([ 'pg_dump', @options, '-d', $node->connstr($db) ], '>', \my $dump)
      or die 'pg_dump';
    return $dump;
}

# Restores a dump, and returns the errors.
sub errors_of {
    my ($db, $dump) = @_;
    my $errors = '';
    IPC::Run::run([ 'psql', '-Xqo', '/dev/null', '-d', $node->connstr($db) ], '<', \$dump,
        '2>', \$errors);
    return $errors;
}

# Returns the names of the objects that a database has lost.
sub lost_in {
    my ($db) = @_;
    return split /\n/, $node->safe_psql($db,
        join ';', map { "SELECT '$_' WHERE NOT ($lost{$_}[1])" } sort keys %lost);
}

# Restores a dump. Each object that is lost raises the error that doc/production.md describes.
sub restored_partly {
    my ($db, $dump) = @_;
    my $errors = errors_of(new_database($db), $dump);
    my @errors = $errors =~ /ERROR:  (.*)/g;
    is(join("\n", grep { !/^operator does not exist: / } @errors), '',
        "$db: all errors say that an operator does not exist");
    is(scalar(@errors), scalar(lost_in($db)), "$db: there is one error for each object that is lost");
    return;
}

for ([ 'bf', 'public' ], [ 'bf', 'ext' ], [ 'cbf', 'ext' ], [ 'cf', 'public' ]) {
    my ($prefix, $schema) = @$_;
    my $db = new_database("${prefix}_$schema");
    $node->safe_psql($db, "CREATE SCHEMA ext; CREATE EXTENSION bloomfilter SCHEMA $schema");
    $node->safe_psql($db, sql_of($prefix, $kept));
    my $answers = answers_of($db);
    my $lost = "${db}_lost";
    $node->safe_psql('postgres', "CREATE DATABASE $lost TEMPLATE $db");

    is(errors_of(new_database("${db}_plain"), dump_of($db)), '', "$db: psql restores a dump without errors");
    append_to_file("$dir/$db.dump", dump_of($db, '-Fc'));
    my $to = $node->connstr(new_database("${db}_custom"));
    command_ok([ 'pg_restore', '-e', '-d', $to, "$dir/$db.dump" ], "$db: pg_restore restores a dump");
    lives($_, $prefix, $answers) for $db, "${db}_plain", "${db}_custom";

    # The forms that may be lost. With --inserts, a lost table raises no second error for its rows.
    $node->safe_psql($lost, sql_of($prefix, join '; ', map { $lost{$_}[0] } sort keys %lost));
    is( $node->safe_psql($lost, sql_of($prefix, "SELECT count(*)
          FROM ((TABLE $_ EXCEPT TABLE lost_$_) UNION ALL (TABLE lost_$_ EXCEPT TABLE $_)) d")),
        0, "$lost: both forms of the view $_ have the same rows") for sort keys %views;
    my $dump = dump_of($lost, '--inserts', '--no-owner');
    restored_partly("${lost}_as_is", $dump);
    is(answers_of("${lost}_as_is"), $answers, "$lost: the other objects are restored");

    # With the extension's schema in the search_path, only comparisons of rows that begin with a filter
    # are lost: pg_dump writes the schema of the first field's operator for all fields.
    is($dump =~ s/set_config\('search_path', '',/set_config('search_path', '$schema',/,
        1, "$lost: the dump sets an empty search_path");
    restored_partly("${lost}_path", $dump);
    is(join(' ', grep { !/^lost_first_/ } lost_in("${lost}_path")), '',
        "$lost: with a search_path, only rows that begin with a filter are lost");
}

clean_log($node);
done_testing();
