# postgres_fdw sends probes of filters and additions to a remote server, with a literal or a parameter.
# Here, the remote server is the same server. A foreign table gives the same answers as the local
# table, also if an expression cannot be sent.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('shipped');
my $database = 'postgres';
sub query { my ($sql) = @_; return $node->safe_psql($database, $sql) }

if (query("SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") == 0) {
    plan skip_all => 'the server has no postgres_fdw';
}

my $columns = 'id int, word text, f bloomfilter, n bloomfilter, d bloomfilter, c countingbloomfilter, k cuckoofilter';
my $rows = q{SELECT i, 'v' || i, bf_create(100) + ('v' || i), bf_create(100) + i,
    bf_create(100) + (date '2024-01-01' + i), cbf_create(100) + ('v' || i), cf_create(100) + ('v' || i)
    FROM generate_series(1, 9) i};
my $host = $node->host;
my $port = $node->port;

# Makes a table, and a foreign table for the same table.
sub make_tables {
    query(qq{
        CREATE EXTENSION postgres_fdw;
        CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
          OPTIONS (host '$host', port '$port', dbname '$database', extensions 'bloomfilter');
        CREATE USER MAPPING FOR CURRENT_USER SERVER far;
        CREATE TABLE near ($columns);
        INSERT INTO near $rows;
        CREATE FOREIGN TABLE away ($columns) SERVER far OPTIONS (table_name 'near')});
    return;
}
make_tables();
my $has_icu = sqlstate($node,
    q{CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) eq '00000';

sub explained {
    my ($settings, $statement) = @_;
    return query("$settings; EXPLAIN (VERBOSE, COSTS OFF) $statement");
}
sub sent { my ($plan) = @_; return join "\n", $plan =~ /Remote SQL: (.*)/g }
sub is_all_sent { my ($plan) = @_; return $plan =~ /Remote SQL: .*WHERE/ && $plan !~ /^ *(?:Join )?Filter:/m }

# --- conditions ----------------------------------------------------------------------------------

# Each entry has the type and the value of a statement's parameter, the value in the condition, and the
# value as it is sent by a generic plan and by a custom plan.
my $literal = 'public.bf_literal';
my @values = (
    [ '', '', q{'v3'}, "'v3'::$literal" ],
    [ '', '', q{'v3'::text}, q{'v3'::text} ],
    [ '', '', q{('v3' COLLATE "C")}, "'v3'::$literal" ],
    [ '', '', q{'v3'::varchar}, q{'v3'::character varying} ],
    [ '', '', q{'v3'::char(3)}, q{'v3 '::character(3)} ],
    [ '', '', q{'v3'::name}, q{'v3'::name} ],
    [ '', '', q{lower('V3'::text)}, q{'v3'::text} ],
    [ '(unknown)', q{('v3')}, '$1', "\$1::$literal", "'v3'::$literal" ],
    [ '(unknown)', q{('v3')}, '($1 COLLATE "C")', "\$1::$literal", "'v3'::$literal" ],
    [ '(text)', q{('v3')}, '$1', '$1::text', q{'v3'::text} ],
    [ '(text)', q{('v3')}, '($1 COLLATE "C")', '$1::text', q{'v3'::text} ],
    [ '(varchar)', q{('v3')}, '$1', '$1::character varying', q{'v3'::character varying} ],
    [ '(varchar)', q{('v3 ')}, '$1::text', '$1::character varying::text', q{'v3 '::text} ],
    [ '(name)', q{('v3')}, '$1', '$1::name', q{'v3'::name} ],
    [ '(text)', q{('absent')}, '$1', '$1::text', q{'absent'::text} ],
);
my @conditions = (
    [ 'f @> VALUE', 'f OPERATOR(public.@>) VALUE' ],
    [ 'VALUE <@ f', 'VALUE OPERATOR(public.<@) f' ],
    [ 'bf_contains(f, VALUE)', 'f OPERATOR(public.@>) VALUE' ],
    [ 'bf_contained(VALUE, f)', 'VALUE OPERATOR(public.<@) f' ],
    [ 'bf_contains(value => VALUE, filter => f)', 'f OPERATOR(public.@>) VALUE' ],
    [ 'NOT f @> VALUE', 'NOT (f OPERATOR(public.@>) VALUE)' ],
    [ 'f + VALUE = f', '(f OPERATOR(public.+) VALUE) OPERATOR(public.=) f' ],
    [ q{(word = 'v5' OR f @> VALUE) AND id > 1}, 'f OPERATOR(public.@>) VALUE' ],
    [ 'c @> VALUE', 'c OPERATOR(public.@>) VALUE' ],
    [ 'VALUE <@ c', 'VALUE OPERATOR(public.<@) c' ],
    [ 'cbf_multiplicity(c, VALUE) > 0', 'public.cbf_multiplicity(c, VALUE)' ],
    [ 'c + VALUE @> VALUE', '(c OPERATOR(public.+) VALUE) OPERATOR(public.@>) VALUE' ],
    [ '(c + VALUE) - VALUE = c', '(c OPERATOR(public.+) VALUE) OPERATOR(public.-) VALUE' ],
    [ 'cbf_remove(c, VALUE, true) = c', 'public.cbf_remove(c, VALUE, true)' ],
    [ 'k @> VALUE', 'k OPERATOR(public.@>) VALUE' ],
    [ 'VALUE <@ k', 'VALUE OPERATOR(public.<@) k' ],
    [ 'cf_multiplicity(k, VALUE) > 0', 'public.cf_multiplicity(k, VALUE)' ],
    [ 'cf_remove(k + VALUE, VALUE) = k', '(k OPERATOR(public.+) VALUE)' ],
);
# Returns the answers to many statements, which run in one session.
sub answers {
    my (@statements) = @_;
    my $script = join '', map { "\\echo =====\n$_;\n" } @statements;
    return (split /^=====\n?/m, query($script) . "\n", -1)[ 1 .. @statements ];
}

# Prepares a statement for each condition, on the local and on the foreign table. Returns what is
# wrong: a remote statement that lacks the expected part, or an answer that differs.
sub wrongs {
    my ($types, $arguments, $mode, @asked) = @_;
    my $select = "PREPARE %s$types AS SELECT id, word FROM %s WHERE %s ORDER BY id";
    my $n = 0;
    my @prepared = map { $n++; sprintf("$select; $select", "near$n", 'near', $_->[0], "away$n", 'away', $_->[0]) } @asked;
    my @answers = answers("SET plan_cache_mode = force_${mode}_plan; " . join('; ', @prepared),
        map { ("EXPLAIN (VERBOSE, COSTS OFF) EXECUTE away$_$arguments", "EXECUTE near$_$arguments", "EXECUTE away$_$arguments") } 1 .. @asked);
    shift @answers;
    my @wrongs;
    for (@asked) {
        my ($condition, $part) = @$_;
        my ($plan, $near, $away) = splice @answers, 0, 3;
        push @wrongs, "$condition: not sent as $part:\n$plan" if !is_all_sent($plan) || index(sent($plan), $part) < 0;
        push @wrongs, "$condition: $near is answered with $away" if $near ne $away;
    }
    return join "\n", @wrongs;
}

for my $value (@values) {
    my ($types, $arguments, $local, $generic, $custom) = @$value;
    for my $mode ($custom ? qw(generic custom) : 'generic') {
        my $sent = $mode eq 'generic' ? $generic : $custom;
        my @asked = map { [ $_->[0] =~ s/VALUE/$local/gr, $_->[1] =~ s/VALUE/$sent/gr ] } @conditions;
        is(wrongs($types, $arguments, $mode, @asked), '',
            "all conditions are sent with the right answers: $local of $types$arguments, $mode plan");
    }
}

# Filters of numbers and dates read a literal on the remote server as they do here. Arrays and hashes
# are sent, too.
for (
    [ '', '', q{n @> '3'}, "'3'::$literal" ],
    [ '', '', q{d @> '2024-01-04'}, "'2024-01-04'::$literal" ],
    [ '(unknown)', q{('3')}, 'n @> $1', "\$1::$literal" ],
    [ '', '', q{bf_contains_any(f, ARRAY['v3', 'v4'])}, q{'{v3,v4}'::text[]} ],
    [ '(text[])', q{('{v3,v4}')}, 'bf_contains_any(f, $1)', '$1::text[]' ],
    [ '(text[])', q{('{v3,v3}')}, 'bf_contains_all(f, $1)', '$1::text[]' ],
    [ '(text)', q{('v3')}, 'bf_contains_hash(f, bf_hash($1))', 'public.bf_hash($1::text' ],
    [ '(text)', q{('v3')}, 'id = bf_shard($1, 1) + 3', 'public.bf_shard($1::text' ],
  )
{
    my ($types, $arguments, @asked) = @$_;
    is(wrongs($types, $arguments, 'generic', \@asked), '', "sent with the right answers: $asked[0]");
}
is(query(q{SELECT id FROM away WHERE n @> '3' AND d @> '2024-01-04' AND f @> 'v3'}), 3,
    'probes of filters of numbers, dates and texts find row 3');

# The same parameter is also compared with a column.
is(wrongs('(text)', q{('v3')}, 'generic', [ 'word = $1 AND f @> $1 AND c @> $1', '(word = $1::text)' ]),
    '', 'sent with the right answers: a parameter that is probed and also compared with a column');

# --- where conditions are written ----------------------------------------------------------------

query(q{
    CREATE FUNCTION inlined(f bloomfilter, x text) RETURNS boolean LANGUAGE sql IMMUTABLE
      AS 'SELECT f @> x';
    CREATE FUNCTION planned(x text) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN
      RETURN QUERY EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM away WHERE f @> x; END $$;
    CREATE FUNCTION found(x text) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN
      RETURN QUERY SELECT id FROM away WHERE f @> x; END $$;
    CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM away WHERE id > 1;
    CREATE TABLE parted (LIKE near) PARTITION BY LIST (id);
    CREATE FOREIGN TABLE parted_away PARTITION OF parted FOR VALUES IN (1, 2, 3, 4, 5) SERVER far
      OPTIONS (table_name 'near_few');
    CREATE TABLE near_few AS SELECT * FROM near WHERE id < 6;
    CREATE TABLE parted_here PARTITION OF parted DEFAULT;
    INSERT INTO parted_here SELECT * FROM near WHERE id > 5});
my $asks = qr/OPERATOR\(public\.@>\) 'v3'::/;
for (
    [ 'a function that is inlined', q{SELECT id FROM away WHERE inlined(f, 'v3')} ],
    [ 'partitions', q{SELECT id FROM parted WHERE f @> 'v3'} ],
    [ 'HAVING', q{SELECT id FROM away GROUP BY id HAVING bf_union_agg(f) @> 'v3'} ],
    [ 'an aggregate', q{SELECT max(id) FILTER (WHERE f @> 'v3') FROM away} ],
    [ 'a join of remote tables', q{SELECT a.id FROM away a JOIN away b USING (id) WHERE a.f @> 'v3' AND b.k @> 'v3'} ],
  )
{
    my ($what, $statement) = @$_;
    like(sent(explained('', $statement)), $asks, "sent: $what");
    is(query($statement), 3, "... and row 3 is found: $what");
}
is_deeply([ map { query("SELECT * FROM found('$_')") } qw(v3 v4 absent) ], [ 3, 4, '' ],
    'a query with a variable of PL/pgSQL finds the right rows');
like(sent(query(q{SELECT planned('v3')})),
    qr/OPERATOR\(public\.@>\) (?:\$1|'v3')::text/, 'sent: a variable of PL/pgSQL');
for my $condition (
    q{CASE WHEN f @> 'v3' THEN true ELSE id < 2 END}, q{coalesce(f @> 'v3', true)},
    q{f @> CASE WHEN id = 3 THEN 'v3' ELSE 'v4' END}, q{f @> coalesce(word, 'v3')},
    q{f @> (SELECT 'v3'::text)}, q{f @> ANY (SELECT 'v3'::text UNION SELECT 'v4')},
    q{f @> (word COLLATE "C")}, q{bf_contains_each(f, ARRAY['v3', 'v4']) = '{t,f}'})
{
    my ($near, $away) = map { query("SELECT id FROM $_ WHERE $condition ORDER BY id") } qw(near away);
    is($away, $near, "the same answer as the local table, sent or not: $condition");
}
is(query(q{SELECT id FROM barrier WHERE f @> 'v3'}), 3, 'a query of a security_barrier view finds row 3');

# --- changes -------------------------------------------------------------------------------------

for (
    [ 'SET f = f + VALUE', 'f = (f OPERATOR(public.+) SENT)' ],
    [ 'SET f = bf_add(f, VALUE), k = k + VALUE', 'f = (f OPERATOR(public.+) SENT), k = (k OPERATOR(public.+) SENT)' ],
    [ q{SET c = c + VALUE - 'v1' WHERE c @> 'v1'}, qq{c = ((c OPERATOR(public.+) SENT) OPERATOR(public.-) 'v1'::$literal)} ],
    [ 'SET k = cf_remove(k + VALUE, VALUE, true)', 'k = public.cf_remove((k OPERATOR(public.+) SENT), SENT, true)' ],
    [ q{SET f = bf_add_all(f, ARRAY[VALUE, 'b'])}, q{f = public.bf_add_all(f, '{new,b}'::text[])} ],
  )
{
    my ($change, $expected) = @$_;
    for ([ q{'new'}, "'new'::$literal" ], [ q{'new'::text}, q{'new'::text} ]) {
        my ($value, $sent) = @$_;
        my ($here, $there) = ($change =~ s/VALUE/$value/gr, $expected =~ s/SENT/$sent/gr);
        my $plan = explained('', "UPDATE away $here");
        ok($plan =~ /Foreign Update/ && index(sent($plan), $there) >= 0, "sent: $here")
          or diag("expected $there in\n$plan");
        my ($near, $away) = map {
            query("BEGIN; UPDATE $_ $here; SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM $_ t; ROLLBACK")
              =~ /(\w{32})/
        } qw(near away);
        is($away, $near, "... and makes the same bytes as on the local table: $here");
    }
}

# --- what is not sent ----------------------------------------------------------------------------

SKIP: {
    skip 'the server has no ICU', 6 if !$has_icu;
    for my $value (q{'v3' COLLATE any_case}, q{'v3'::text COLLATE any_case}) {
        my $condition = "f @> ($value)";
        unlike(sent(explained('', "SELECT id FROM away WHERE $condition")), qr/WHERE/, "not sent: $condition");
        is(sqlstate($node, "SELECT id FROM $_ WHERE $condition"), '0A000',
            "a nondeterministic collation is refused: $condition, $_") for qw(near away);
    }
}

# --- another schema ------------------------------------------------------------------------------

# A user has created operators and a function that the search_path would find first. What is sent names
# the schema of the extension.
$database = 'elsewhere';
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
query(qq{
    ALTER DATABASE elsewhere SET search_path = planted, public, "The Filters";
    CREATE SCHEMA planted; CREATE SCHEMA "The Filters";
    CREATE EXTENSION bloomfilter SCHEMA "The Filters"});
make_tables();
query(q{
    CREATE FUNCTION planted.never("The Filters".bloomfilter, "The Filters".bf_literal) RETURNS boolean
      LANGUAGE sql IMMUTABLE AS 'SELECT false';
    CREATE FUNCTION planted.never("The Filters".bloomfilter, text) RETURNS boolean
      LANGUAGE sql IMMUTABLE AS 'SELECT false';
    CREATE OPERATOR planted.@> (FUNCTION = planted.never, LEFTARG = bloomfilter, RIGHTARG = bf_literal);
    CREATE OPERATOR planted.@> (FUNCTION = planted.never, LEFTARG = bloomfilter, RIGHTARG = text)});
for my $condition (q{bf_contains(f, 'v3')}, q{f OPERATOR("The Filters".@>) 'v3'}, q{bf_contains(f, 'v3'::text)}) {
    like(sent(explained('', "SELECT id FROM away WHERE $condition")),
        qr/f OPERATOR\("The Filters"\.@>\) 'v3'::/, "sent from another schema: $condition");
    is(query("SELECT id FROM away WHERE $condition"), 3, "... and row 3 is found: $condition");
}

# A superuser may drop an operator. Then the function is sent.
query(q{
    ALTER EXTENSION bloomfilter DROP OPERATOR "The Filters".@> (bloomfilter, bf_literal);
    DROP OPERATOR "The Filters".@> (bloomfilter, bf_literal)});
like(sent(explained('', q{SELECT id FROM away WHERE bf_contains(f, 'v3')})),
    qr/"The Filters"\.bf_contains\(f, 'v3'::/, 'without the operator, a call of bf_contains is sent');
is(query(q{SELECT id FROM away WHERE bf_contains(f, 'v3')}), 3, '... and row 3 is found');

clean_log($node);
done_testing();
