# Installing the extension changes no other expression: what PostgreSQL resolves to an operator of
# its own before, it resolves to the very same operator afterwards.
#
# Two databases are compared, one with the extension. For every operator name that the extension
# uses and every type of the server, they are asked for the operator with an operand of the type
# beside a literal, beside an untyped parameter, and beside another operand of the type.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('resolution');
$node->safe_psql('postgres', 'CREATE DATABASE without');

# Expressions that fail although they worked before. Nobody stores these types, but they are as near
# to the operator - of jsonb and text as a filter is.
my @lost = split /\n/, $node->safe_psql('postgres', q{
    SELECT format(form, oid::regtype) AS lost
    FROM pg_type, unnest(array['NULL - NULL::%s', '$1 - NULL::%s']) form
    WHERE typcategory <> 'S' AND oid = ANY (array['"char"', 'pg_dependencies', 'pg_mcv_list',
      'pg_ndistinct', 'pg_node_tree']::regtype[])});

# Users' types: values of a domain are values of its base type; those of an enum and of a row type
# are new.
my $types = q{
    CREATE SCHEMA own;
    CREATE DOMAIN own.number AS numeric;
    CREATE DOMAIN own.string AS varchar(10) CHECK (value <> '');
    CREATE DOMAIN own.list AS text[];
    CREATE DOMAIN own.document AS jsonb;
    CREATE TYPE own.enumeration AS ENUM ('a', 'b');
    CREATE TYPE own.pair AS (a int, b text);
    CREATE TYPE own.span AS RANGE (subtype = numeric)};

# The expression and its operator; or its type, if it has a parameter, because then its tree cannot
# be seen. (The parser looks for an operator of `unknown` in both cases.)
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
is($operators, '& && + - < <= <> <@ = > >= @> @>> |', 'the operators of the extension');
$resolve =~ s/%OPERATORS%/$operators/;

sub resolutions {
    my ($database) = @_;
    return map { my ($expression, $resolution) = split /\|/; $expression => $resolution }
      split /\n/, $node->safe_psql($database, "$types; $resolve");
}
my %before = resolutions('without');
my %after = resolutions('postgres');

cmp_ok(scalar keys %before, '>', 15000, keys(%before) . ' expressions have an operator');
ok(!grep({ !defined } values %before, values %after), 'each has been found');
is($before{$_->[0]}, $_->[1], "$_->[0]: $_->[1]")
  for ['NULL - NULL::character varying[]', '-(jsonb,text[])'], ['NULL::jsonb @> NULL', '@>(jsonb,jsonb)'],
  ['NULL::date - $1', 'date'], ['NULL::own.list <@ NULL', '<@(anyarray,anyarray)'];

is(join("\n", grep { !exists $after{$_} } sort keys %before), join("\n", sort @lost), 'what works no longer');
is(join("\n", grep { exists $after{$_} && $after{$_} ne $before{$_} } sort keys %before),
    '', 'what works in another way');

clean_log($node);
done_testing();
