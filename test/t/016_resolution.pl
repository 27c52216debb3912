# Installing the extension does not change other expressions: PostgreSQL resolves them to the same
# operators as before.
#
# Two databases are compared, one with the extension and one without. The expressions have every
# operator name of the extension and every type of the server. The other operand is a literal, an
# untyped parameter, or a value of the same type.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('resolution');
$node->safe_psql('postgres', 'CREATE DATABASE without');

# Known exceptions: expressions that fail with the extension although they work without it. PostgreSQL
# casts values of these types to text. With the extension, it cannot choose between the operator - of
# jsonb and text and the operators - of filters. Nobody stores values of these types.
my @lost = split /\n/, $node->safe_psql('postgres', q{
    SELECT format(form, oid::regtype) AS lost
    FROM pg_type, unnest(array['NULL - NULL::%s', '$1 - NULL::%s']) form
    WHERE typcategory <> 'S' AND oid = ANY (array['"char"', 'pg_dependencies', 'pg_mcv_list',
      'pg_ndistinct', 'pg_node_tree']::regtype[])});

# Types of users: a domain has the operators of its base type. An enum, a row type and a range type are
# new types.
my $types = q{
    CREATE SCHEMA own;
    CREATE DOMAIN own.number AS numeric;
    CREATE DOMAIN own.string AS varchar(10) CHECK (value <> '');
    CREATE DOMAIN own.list AS text[];
    CREATE DOMAIN own.document AS jsonb;
    CREATE TYPE own.enumeration AS ENUM ('a', 'b');
    CREATE TYPE own.pair AS (a int, b text);
    CREATE TYPE own.span AS RANGE (subtype = numeric)};

# Returns each expression and its operator. If an expression has a parameter, its tree cannot be seen,
# so the type of the parameter is returned. (In both cases, the parser looks for an operator of the
# type `unknown`.)
my $resolve = <<'SQL';
    CREATE FUNCTION works(expression text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE 'PREPARE tried AS SELECT ' || expression;
        DEALLOCATE tried;
        RETURN true;
      EXCEPTION WHEN OTHERS THEN
        RETURN false;
      END $$;
    CREATE FUNCTION operators(expressions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE 'CREATE TEMP VIEW resolved AS SELECT 1 WHERE ('
          || array_to_string(expressions, ') IS NULL OR (') || ') IS NULL';
        RETURN QUERY SELECT opno[1]::oid::regoperator::text
          FROM pg_rewrite, regexp_matches(ev_action::text,
            '{NULLTEST :arg {OPEXPR :opno (\d+)', 'g') WITH ORDINALITY m(opno, n)
          WHERE ev_class = 'resolved'::regclass ORDER BY n;
        DROP VIEW resolved;
      END $$;
    CREATE FUNCTION parameters(expressions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
      BEGIN
        EXECUTE 'PREPARE resolved AS SELECT ' || string_agg(replace(e, '$1', '$' || n), ', ' ORDER BY n)
          FROM unnest(expressions) WITH ORDINALITY u(e, n);
        RETURN QUERY SELECT unnest(parameter_types)::text FROM pg_prepared_statements
          WHERE name = 'resolved';
        DEALLOCATE resolved;
      END $$;
    CREATE TABLE tried AS
      SELECT row_number() OVER () AS n, expression, position('$1' IN expression) > 0 AS parameter
      FROM pg_type t, unnest(string_to_array('%OPERATORS%', ' ')) operator,
        unnest(array['%1$s %2$s NULL', 'NULL %2$s %1$s', '%1$s %2$s $1', '$1 %2$s %1$s', '%1$s %2$s %1$s'])
          form,
        format(form, 'NULL::' || t.oid::regtype, operator) expression
      WHERE typnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace,
        'own'::regnamespace) AND works(expression);
    CREATE TABLE batches AS
      SELECT parameter, array_agg(expression ORDER BY n) AS expressions
      FROM tried GROUP BY parameter, n / 1000;
    SELECT expression, resolution FROM batches,
      ROWS FROM (unnest(expressions), operators(expressions)) r(expression, resolution)
    WHERE NOT parameter
    UNION ALL
    SELECT expression, resolution FROM batches,
      ROWS FROM (unnest(expressions), parameters(expressions)) r(expression, resolution)
    WHERE parameter;
SQL

my $operators = $node->safe_psql('postgres', q{
    SELECT string_agg(DISTINCT oprname::text, ' ' ORDER BY oprname::text) FROM pg_operator o JOIN pg_depend d ON d.objid = o.oid
    WHERE d.classid = 'pg_operator'::regclass AND deptype = 'e'});
is($operators, '& && + - < <= <> <@ = > >= @> @>> |', 'the extension has operators of these names');
$resolve =~ s/%OPERATORS%/$operators/;

sub resolutions {
    my ($database) = @_;
    return map { my ($expression, $resolution) = split /\|/; $expression => $resolution }
      split /\n/, $node->safe_psql($database, "$types; $resolve");
}
my %before = resolutions('without');
my %after = resolutions('postgres');

cmp_ok(scalar keys %before, '>', 15000, keys(%before) . ' expressions work without the extension');
ok(!grep({ !defined } values %before, values %after), 'the operator or type of each expression is found');
is($before{$_->[0]}, $_->[1], "$_->[0] is resolved to $_->[1]")
  for ['NULL - NULL::character varying[]', '-(jsonb,text[])'], ['NULL::jsonb @> NULL', '@>(jsonb,jsonb)'],
  ['NULL::date - $1', 'date'], ['NULL::own.list <@ NULL', '<@(anyarray,anyarray)'];

is(join("\n", grep { !exists $after{$_} } sort keys %before), join("\n", sort @lost),
    'with the extension, all expressions still work, except the known ones');
is(join("\n", grep { exists $after{$_} && $after{$_} ne $before{$_} } sort keys %before),
    '', 'with the extension, no expression is resolved to another operator');

clean_log($node);
done_testing();
