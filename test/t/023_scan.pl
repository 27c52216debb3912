# A Bloom Filter Scan, which probes a filter for many rows at once, returns what a sequential scan
# returns. Generated queries over generated tables run with bloomfilter.scan off and on. Both give the
# same rows, SQLSTATEs and notices. No condition of a user sees a row that a policy or a security
# barrier hides.
#
# BLOOMFILTER_TEST_SEED repeats a run, and BLOOMFILTER_TEST_ROUNDS sets its length. The first
# differences of a run are printed with their statements.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $seed = $ENV{BLOOMFILTER_TEST_SEED} || int rand 1_000_000;
my $rounds = $ENV{BLOOMFILTER_TEST_ROUNDS} || 20;
diag("BLOOMFILTER_TEST_SEED=$seed");

my $node = new_server('scan', conf => "max_worker_processes = 16\n");
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }
my $version = query('SHOW server_version_num');

my $compiled = compile_library('copied_heap');
note('no table access method but heap: no compiler') if !$compiled;
query(qq{CREATE FUNCTION copied_heap(internal) RETURNS table_am_handler LANGUAGE C AS '$compiled';
    CREATE ACCESS METHOD copied_heap TYPE TABLE HANDLER copied_heap}) if $compiled;
query(q{
    CREATE ROLE reader;
    -- Functions for policies and conditions that report each row that they see.
    CREATE FUNCTION policy_sees(id int) RETURNS boolean LANGUAGE plpgsql COST 1 AS $$
      BEGIN RAISE NOTICE 'policy %', id; RETURN id % 3 <> 0; END $$;
    CREATE FUNCTION user_sees(id int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
      BEGIN RAISE NOTICE 'user %', id; RETURN true; END $$;
    CREATE FUNCTION user_sees_dearly(id int) RETURNS boolean LANGUAGE plpgsql COST 1000 AS $$
      BEGIN RAISE NOTICE 'user %', id; RETURN true; END $$;
    -- A value that reports the row to which it belongs.
    CREATE FUNCTION told(id int, item bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
      BEGIN RAISE NOTICE 'user %', id; RETURN item; END $$;
});
# The parameters of EXECUTE cannot be subqueries, so functions return the filters. These functions are
# not compiled by JIT, even if the statement is.
query("CREATE FUNCTION filter_of(from_table text, name text, number int, OUT f $_) STABLE LANGUAGE plpgsql SET jit = off AS \$\$"
      . " BEGIN EXECUTE format('SELECT %s FROM %s WHERE g = %s', name, from_table, number) INTO f; END \$\$;"
      . " ALTER FUNCTION filter_of RENAME TO ${_}_of")
  for qw(bloomfilter countingbloomfilter cuckoofilter);

# --- backward ------------------------------------------------------------------------------------

# The scan reads sixteen rows of such a table at a time. A cursor changes its direction within them, at
# both of their ends, and after the last row.
if ($compiled) {
    query('CREATE TABLE slots USING copied_heap AS SELECT i AS id FROM generate_series(1, 100) i; ANALYZE slots');
    my $declare = 'DECLARE c SCROLL CURSOR FOR SELECT id FROM slots'
      . ' WHERE (SELECT bf_agg(id) FROM slots WHERE id % 9 > 0) @> id';
    my $turns = join '; ', 'BEGIN', 'SET LOCAL cursor_tuple_fraction = 1', "EXPLAIN $declare", $declare,
      map({ "FETCH $_ FROM c" } 5, 'BACKWARD 3', 6, 'BACKWARD 1', 1, 8, 'BACKWARD 8', 'ALL', 'BACKWARD 2', 'ALL', 'BACKWARD ALL', 87, 'BACKWARD 2', 3),
      'ROLLBACK';
    my ($plan, $rows) = query($turns) =~ /^(.*\D)\n(\d.*)$/s;
    my ($plain, $same) = query("SET bloomfilter.scan = off; $turns") =~ /^(.*\D)\n(\d.*)$/s;
    like($plan, qr/Bloom Filter Scan/, 'a table of another access method is read by a Bloom Filter Scan');
    unlike($plain, qr/Bloom Filter Scan/, '… and by a sequential scan with bloomfilter.scan off');
    is($rows, $same, '… a cursor that moves forward and backward returns the same rows for both');
    my $built = 'SELECT md5(bf_agg(id)::text), md5(cf_agg(id / 2) FILTER (WHERE id > 50)::text) FROM slots WHERE id % 7 > 0';
    like(plan_of($node, 'SELECT 1', $built), qr/Bloom Filter Build/, '… and the table is read by a build');
    is(query($built), query("SET bloomfilter.scan = off; $built"), '… which makes the same filters');
}

# --- chance --------------------------------------------------------------------------------------

sub chance { my ($of_hundred) = @_; return rand(100) < $of_hundred }
sub pick { return $_[ int rand @_ ] }
sub some { my ($count, @of) = @_; my @left = @of; return map { splice @left, int(rand @left), 1 } 1 .. $count }
sub between { my ($low, $high) = @_; return $low + int rand($high - $low + 1) }

# --- tables --------------------------------------------------------------------------------------

# The values of columns, as expressions of a row's number i.
my %values = (
    item => 'CASE WHEN i % 13 = 0 THEN NULL ELSE i * 7919 % 10007 END',
    n => 'nullif(i % 7, 0)',
    word => q{CASE WHEN i % 11 = 0 THEN NULL ELSE 'word ' || i % 500 END},
    code => q{'c' || i % 300},
    price => '(i % 2000)::numeric / 4',
    num => '(i % 900) / 8.0::float8',
    at => q{timestamptz '2024-01-01 00:00+00' + i % 800 * interval '1 hour'},
    tags => 'ARRAY[i % 30, i % 20]',
    span => 'int4range(i % 50, i % 50 + 3)',
    key => 'md5((i % 700)::text)::uuid');
my %types = (
    item => 'bigint', n => 'int', word => 'text', code => 'varchar', price => 'numeric',
    num => 'float8', at => 'timestamptz', tags => 'int[]', span => 'int4range', key => 'uuid');
my @kinds = ('plain', 'narrow', 'wide', 'temporary', 'unlogged', 'range', 'list', 'hash', 'parent', 'view');
push @kinds, 'copied', 'copied' if $compiled;

my %is_indexed; # names of tables

# Generates a table. Returns its description and, as `sql`, the statements that create it. If
# is_changed is true, statements may change the table.
sub new_table {
    my ($name, $kind) = @_;
    my $rows = pick(between(2, 30), between(30, 300), between(300, 3000), chance(15) ? between(3000, 20000) : 100);
    my @columns = $kind eq 'narrow' ? qw(item n) : ('item', 'n', grep { chance(60) } sort grep { !/^(item|n)$/ } keys %values);
    my $wide = $kind eq 'wide' || $kind eq 'copied' && chance(50);
    $rows = between(2, 60) if $wide;
    my $length = pick(10, 2500, 9000, 200_000);
    my $wide_value = pick(
        "repeat(md5(i::text), 1 + $length / 32)",
        "(SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 1 + $length / 32) j)");
    my $definition = join ', ', 'id int', 'gone int', map { "$_ $types{$_}" } @columns;
    $definition .= ', wide text' if $wide;
    my $select = join ', ', 'i', 'i', map { $values{$_} } @columns;
    $select .= ", $wide_value" if $wide;
    my $sql = '';
    my $create = sub { my ($what, $more) = @_; return "CREATE $what TABLE $name ($definition) $more;\n" };
    if ($kind eq 'range') {
        $sql .= $create->('', 'PARTITION BY RANGE (id)');
        $sql .= "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES FROM (" . $_ * 50 . ') TO (' . ($_ + 1) * 50 . ");\n"
          for 0 .. between(1, 3);
        $sql .= "CREATE TABLE ${name}_rest PARTITION OF $name DEFAULT;\n";
    } elsif ($kind eq 'list') {
        $sql .= $create->('', 'PARTITION BY LIST (n)');
        $sql .= "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES IN ($_);\n" for 1 .. 3;
        $sql .= "CREATE TABLE ${name}_rest PARTITION OF $name DEFAULT;\n";
    } elsif ($kind eq 'hash') {
        $sql .= $create->('', 'PARTITION BY HASH (id)');
        $sql .= "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES WITH (MODULUS 3, REMAINDER $_);\n" for 0 .. 2;
    } else {
        $sql .= $create->(
            $kind eq 'temporary' ? 'TEMPORARY' : $kind eq 'unlogged' ? 'UNLOGGED' : '',
            $kind eq 'copied' ? 'USING copied_heap' : chance(30) ? 'WITH (fillfactor = 60)' : '');
    }
    $sql .= "ALTER TABLE $name ALTER wide SET STORAGE " . pick('external', 'extended', 'main') . ";\n" if $wide;
    my $insert = sub { my ($into, $from, $to) = @_; return "INSERT INTO $into SELECT $select FROM generate_series($from, $to) i;\n" };
    $sql .= $insert->($name, 1, $rows);
    if ($kind eq 'parent') {
        $sql .= "CREATE TABLE ${name}_$_ (mine text) INHERITS ($name);\n"
          . "INSERT INTO ${name}_$_ SELECT p.*, 'mine' FROM $name p WHERE id % 3 = $_;\n" for 1, 2;
    }
    $sql .= "ALTER TABLE $name DROP COLUMN gone;\n";
    if (chance(70)) {
        $sql .= "ALTER TABLE $name ADD COLUMN added int DEFAULT 77, ADD COLUMN later text DEFAULT 'later', ADD COLUMN empty bigint;\n";
        push @columns, qw(added later empty);
    }
    $sql .= "UPDATE $name SET n = n WHERE id % 3 = 0;\n" if chance(60);
    $sql .= "UPDATE $name SET item = item + 1 WHERE id % 5 = 0;\n" if chance(60);
    $sql .= "DELETE FROM $name WHERE id % 4 = 1;\n" if chance(40);
    $sql .= "BEGIN; UPDATE $name SET item = 0; DELETE FROM $name WHERE id % 2 = 0; ROLLBACK;\n" if chance(30);
    $sql .= "VACUUM $name;\n" if chance(40) && $kind ne 'view';
    my $changed = $kind ne 'view';
    if (!$changed) {
        $sql .= "CREATE MATERIALIZED VIEW ${name}_view AS SELECT * FROM $name;\n";
        $name = "${name}_view";
    }
    my $indexed = $changed && $kind ne 'copied' && chance(20); # only heap can build one
    $sql .= "CREATE INDEX ON $name (id);\n" if $indexed;
    $is_indexed{$name} = $indexed;
    $sql .= "ANALYZE $name;\n" if chance(80);
    return { name => $name, kind => $kind, rows => $rows, columns => [ @columns, ($wide ? 'wide' : ()) ],
        is_changed => $changed, is_indexed => $indexed, is_wide => $wide, sql => $sql };
}

# --- filters -------------------------------------------------------------------------------------

# Each table has a second table with filters of its columns and of expressions of its columns. The
# second table is not temporary: the server gives workers the result of an InitPlan as it is stored,
# and workers cannot read temporary tables.
my %expressions = (
    item => [ 'item + 1', 'item * 2', 'abs(item)', '(item)::int4', 'coalesce(item, 3)', 'item - n' ],
    n => ['n + 1'], word => [ 'upper(word)', q{word || '!'}, 'left(word, 6)' ], code => ['code::text'],
    price => [ 'round(price)', 'price * 2' ], num => [ '-num', 'num::numeric(10, 3)' ], at => [], tags => ['tags || 1'],
    span => ['upper(span)'], key => ['key::text'], added => ['added % 5'], later => ['later || id'], empty => [],
    wide => [ 'md5(wide)', 'upper(wide)', 'length(wide)' ]);

sub filters_of {
    my ($table) = @_;
    my ($name, @filters, @selected) = ($table->{name});
    for my $column (@{ $table->{columns} }) {
        for my $value ($column, some(int(rand 2), @{ $expressions{$column} })) {
            my $plain = $value eq $column && $column =~ /^(item|word)$/;
            my $expected = pick(10, 100, 1000, 100_000);
            my $made = pick(
                "bf_agg(V)", "bf_agg(V)", "bf_agg(V, $expected)", 'bf_agg(V, 500, 0.0001)', 'cbf_agg(V)', 'cf_agg(V)',
                "bf_add_all(bf_create(4, grow => true), array_agg(V))",
                ($plain ? (map { "bf_agg(V, 500, 0.01, '$_')" } qw(guava parquet datasketches hive)) : ()));
            my $type = $made =~ /^(bf|cbf|cf)/ ? { bf => 'bloomfilter', cbf => 'countingbloomfilter', cf => 'cuckoofilter' }->{$1} : '';
            my $f = 'f' . @filters;
            (my $sql = $made) =~ s/V/$value/;
            push @selected, "$sql FILTER (WHERE chosen) AS $f" if $sql !~ /add_all/;
            push @selected, ($sql =~ s/array_agg\((.*)\)\)$/array_agg($1) FILTER (WHERE chosen))/r) . " AS $f" if $sql =~ /add_all/;
            push @filters, { name => $f, value => $value, type => $type, of => "${name}_filters" };
        }
    }
    $table->{filters} = \@filters;
    my $part = pick(2, 5, 20);
    return "CREATE TABLE ${name}_filters AS SELECT " . join(', ', 'g', @selected)
      . " FROM generate_series(0, 2) g, LATERAL (SELECT *, id % $part = g AS chosen FROM $name) t GROUP BY g;\n";
}

# --- conditions ----------------------------------------------------------------------------------

# Returns a condition that probes a filter: the result of an InitPlan, or the given expression.
sub ask {
    my ($filter, $value, $given) = @_;
    my $f = $given || initplan($filter);
    my ($contains) = map { { bloomfilter => 'bf', countingbloomfilter => 'cbf', cuckoofilter => 'cf' }->{$_} } $filter->{type};
    return pick("$f \@> ($value)", "($value) <\@ $f", "${contains}_contains($f, $value)");
}

sub initplan {
    my ($filter) = @_;
    return "NULL::$filter->{type}" if chance(2);
    return "(SELECT $filter->{name} FROM $filter->{of} WHERE g = " . pick(0, 1, 2, chance(10) ? 9 : 0) . ')';
}

# Returns a condition without a filter.
sub beside {
    my ($table) = @_;
    return pick(
        'id % 2 = 0', 'n IS NOT NULL', 'n < 5', 'id > ' . between(0, $table->{rows}), 'id < ' . between(1, $table->{rows}),
        'item IS NOT NULL', 'item > 100', '(n = 1 OR item < 4000)', 'n <> 0 AND 10 / n > 1', 'true', 'user_sees(id)',
        'user_sees_dearly(id)', 'id IN (SELECT g FROM generate_series(1, 50) g)', 'length(id::text) < 4', '(SELECT true)',
        'ctid IS NOT NULL', 'id % (SELECT 3) = 1', 'random() < 2');
}

# Returns conditions of the table named t. At least one of them probes a filter. @given are expressions
# of filters.
sub conditions {
    my ($table, $filters, @given) = @_;
    my @asks = map { ask($filters->[$_], $filters->[$_]{value}, $given[$_]) } 0 .. $#$filters;
    my @others = chance(50) ? map { beside($table) } 1 .. between(1, 2) : ();
    return join ' AND ', map { "($_)" } (chance(50) ? (@asks, @others) : (@others, @asks));
}

# --- queries -------------------------------------------------------------------------------------

my ($round, @checks);

# Adds statements that will run with bloomfilter.scan off and on. Keys: sql (a list), planned (the
# statement for EXPLAIN), settings, in_order (the query orders its rows), reader (the user who runs it
# may not see all rows), before and after (statements around it). Starting workers and compiling take
# long. So the sequential scan rarely uses them; its rows are the same without them.
sub check {
    my (%check) = @_;
    my @settings = @{ $check{settings} };
    my @plain = chance(20) ? @settings : grep { !/parallel|jit/ } @settings;
    push @checks, { round => $round, %check, settings => { off => \@plain, on => \@settings } };
    return;
}

sub settings {
    my (%options) = @_;
    my @settings;
    push @settings, 'cpu_operator_cost = 0.1' if chance(60);
    push @settings, "enable_$_ = off" for some(int(rand 3), qw(hashjoin mergejoin nestloop
        hashagg sort material indexscan bitmapscan parallel_append memoize));
    push @settings, 'enable_partitionwise_join = on' if chance(10);
    if (chance(40)) {
        push @settings, 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
          'max_parallel_workers_per_gather = ' . between(0, 2), 'parallel_leader_participation = ' . pick('on', 'off');
    }
    push @settings, ($version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on' if chance(4);
    push @settings, 'jit = on', 'jit_above_cost = 0' if chance(3);
    push @settings, 'work_mem = 64kB' if chance(10);
    return \@settings;
}

# Returns what a query selects from a row of table t. Wide columns are selected as digests.
sub targets {
    my ($table, $t) = @_;
    my @targets = ("$t.id");
    push @targets, "md5($t.wide)" if $table->{is_wide};
    push @targets, map { "$t.$_" } some(1, 'ctid', 'tableoid::regclass', 'xmin IS NOT NULL', 'cmin') if chance(40) && $table->{kind} ne 'view';
    push @targets, "$t.item" if chance(50);
    return $t . '.*' if chance(30) && !$table->{is_wide} && $table->{rows} < 1000;
    return join ', ', @targets;
}

# Returns a query in which one table has conditions, and true if the query orders its rows.
sub select_of {
    my ($table, $other, $where) = @_;
    my $name = $table->{name};
    my $scanned = "(SELECT * FROM $name WHERE $where)";
    my $targets = targets($table, 't');
    my $kind = int rand 17;
    return ("SELECT $targets FROM $name t WHERE $where") if $kind <= 2;
    return ("SELECT count(*), count(t.item), sum(t.item), min(t.n) FROM $name t WHERE $where") if $kind == 3;
    return ("SELECT n, count(*), max(item) FROM $name WHERE $where GROUP BY n HAVING count(*) > 0") if $kind == 4;
    return ("SELECT id, row_number() OVER (PARTITION BY n ORDER BY id, tableoid), sum(item) OVER () FROM $name WHERE $where") if $kind == 5;
    return ("SELECT id, item FROM $name WHERE $where ORDER BY id, item LIMIT " . between(1, 40) . pick('', ' OFFSET 3'), 1) if $kind == 6;
    return ("SELECT t.id, o.id FROM $scanned t JOIN $other->{name} o ON o.id = t.id") if $kind == 7;
    return ("SELECT t.id, o.id FROM $scanned t LEFT JOIN $other->{name} o ON o.id = t.item AND o.n = 2") if $kind == 8;
    return ("SELECT o.id FROM $other->{name} o WHERE " . pick('', 'NOT ') . "EXISTS (SELECT FROM $scanned t WHERE t.id = o.id)") if $kind == 9;
    return ("SELECT id FROM $name WHERE $where UNION ALL SELECT item FROM $name WHERE $where") if $kind == 10;
    return ('WITH c AS ' . pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "$scanned SELECT a.id, b.n FROM c a, c b WHERE a.id = b.id") if $kind == 11;
    return ("SELECT o.id, s.* FROM (SELECT * FROM $other->{name} ORDER BY id, item LIMIT 5) o, LATERAL (SELECT count(*), sum(t.id) FROM $scanned t WHERE t.id > o.id) s") if $kind == 12;
    return ("SELECT DISTINCT n FROM $name WHERE $where") if $kind == 13;
    return ("SELECT o.id FROM $other->{name} o WHERE o.id IN (SELECT item FROM $scanned t)") if $kind == 14;
    return ("SELECT (SELECT max(t.id) FROM $scanned t WHERE t.id < o.id + 3) FROM (SELECT * FROM $other->{name} ORDER BY id, item LIMIT 6) o") if $kind == 15;
    return ("SELECT t.id, o.n FROM $scanned t FULL JOIN (SELECT * FROM $other->{name} WHERE id < 20) o ON o.id = t.id");
}

# Returns an aggregate of a table's column or of an expression. One in four has a FILTER.
sub built {
    my ($table) = @_;
    my $column = pick(@{ $table->{columns} });
    my $value = pick($column, $column, @{ $expressions{$column} });
    my $expected = pick(1, 50, 3000, 100_000);
    my $call = pick(
        "bf_agg($value)", "bf_agg($value, $expected)", "bf_agg($value, NULL, 0.001)", "cbf_agg($value)", "cbf_agg($value, $expected)",
        "cf_agg($value)", "cf_agg($value, $expected, 0.001)", "bf_dist_agg(bf_element_of($value))",
        "bf_dist_agg(bf_element_of($value), $expected)", "bf_partial_agg(bf_element_of($value))",
        "bf_partial_agg(bf_element_of($value), $expected)", "bf_agg($value, $expected, 0.01, 'parquet')", "bf_agg($value, (SELECT 70))");
    $call .= ' FILTER (WHERE ' . beside($table) . ')' if chance(25);
    return $call;
}

# Queries that build filters of rows, with and without conditions
sub add_build {
    my ($table, $where) = @_;
    my $sql = 'SELECT ' . join(', ', map { 'md5((' . built($table) . ')::text)' } 1 .. between(1, 3)) . " FROM $table->{name} t";
    $sql .= ' WHERE ' . pick($where, beside($table), beside($table) . ' AND ' . beside($table)) if chance(70);
    $sql .= ' HAVING ' . pick('bf_count(bf_agg(item)) >= 2', 'bf_agg(n) @> 3', 'count(*) > 1') if chance(15);
    $sql = pick($sql, $sql, $sql, "SELECT o.g, ($sql LIMIT 1) IS NULL FROM generate_series(1, 3) o(g)",
        "WITH c AS MATERIALIZED ($sql) SELECT * FROM c, generate_series(1, 2)", "SELECT * FROM generate_series(1, 3) o(g), LATERAL ($sql "
          . ($sql =~ /HAVING/ ? 'AND' : 'HAVING') . ' g <> 2) s');
    check(sql => [$sql], planned => $sql, settings => settings());
    return;
}

sub add_select {
    my ($table, $other, $where) = @_;
    my ($sql, $ordered) = select_of($table, $other, $where);
    check(sql => [$sql], planned => $sql, settings => settings(), in_order => $ordered);
    return;
}

# A filter in a statement's parameter, or in a plpgsql variable
sub add_prepared {
    my ($table, $other) = @_;
    my @filters = some(pick(1, 1, 2), @{ $table->{filters} });
    my ($sql) = select_of($table, $other, conditions($table, \@filters, map { "\$$_" } 1 .. @filters));
    $sql =~ s/ORDER BY.*//s if $sql =~ /LIMIT/;
    my $types = join ', ', map { $_->{type} } @filters;
    my $arguments = sub { my ($g) = @_; return join ', ', map { $g == 9 ? 'NULL' : "$_->{type}_of('$_->{of}', '$_->{name}', $g)" } @filters };
    check(
        before => ["PREPARE p ($types) AS $sql"],
        sql => [ map { 'EXECUTE p(' . $arguments->($_) . ')' } pick([ 0, 1, 9 ], [ 2, 2 ], [0])->@* ],
        planned => 'EXECUTE p(' . $arguments->(0) . ')',
        after => ['DEALLOCATE p'],
        settings => [ @{ settings() }, 'plan_cache_mode = ' . pick('force_custom_plan', 'force_generic_plan') ]);
    return;
}

sub add_plpgsql {
    my ($table) = @_;
    my $filter = pick(@{ $table->{filters} });
    my $where = conditions($table, [$filter], 'v');
    my $loop = pick(
        "RETURN QUERY SELECT t.id FROM $table->{name} t WHERE $where;",
        "FOR r IN SELECT * FROM $table->{name} t WHERE $where LOOP BEGIN IF r.id % 5 = 0 THEN RAISE division_by_zero; END IF; RETURN NEXT r.id; EXCEPTION WHEN division_by_zero THEN RETURN NEXT -r.id; END; END LOOP;",
        "FOR r IN EXECUTE \$q\$SELECT * FROM $table->{name} t WHERE " . ($where =~ s/\bv\b/\$1/gr) . '$q$ USING v LOOP RETURN NEXT r.id; END LOOP;');
    check(
        before => ["CREATE FUNCTION rows_of(v $filter->{type}) RETURNS SETOF int LANGUAGE plpgsql AS \$f\$ #variable_conflict use_column\nDECLARE r record; BEGIN $loop END \$f\$"],
        sql => [ map { "SELECT * FROM rows_of((SELECT $filter->{name} FROM $filter->{of} WHERE g = $_))" } 0, 1, 9, 0 ],
        after => ["DROP FUNCTION rows_of($filter->{type})"],
        settings => settings());
    return;
}

# The filter comes from the row of an outer query: rescans with changed and unchanged parameters
sub add_outer {
    my ($table) = @_;
    my $filter = pick(@{ $table->{filters} });
    my $where = conditions($table, [$filter], "o.$filter->{name}");
    my $name = $table->{name};
    my $outer = pick("$filter->{of} o", "(SELECT f.* FROM $filter->{of} f, generate_series(1, 2) ORDER BY f.g) o");
    my $sql = pick(
        "SELECT o.g, s.* FROM $outer, LATERAL (SELECT count(*), sum(t.id) FROM $name t WHERE $where) s",
        "SELECT o.g, (SELECT max(id) FROM $name WHERE $where) FROM $outer",
        "SELECT o.g, s.id FROM $outer, LATERAL (SELECT * FROM $name t WHERE $where ORDER BY id, item LIMIT 5) s",
        "SELECT o.g FROM $outer WHERE EXISTS (SELECT FROM $name WHERE $where OFFSET 1)",
        "SELECT o.g, x, (SELECT count(*) FROM $name WHERE $where AND id > x) FROM $outer, generate_series(1, 3) x",
        "SELECT o.g, ARRAY(SELECT id FROM $name WHERE $where ORDER BY 1) FROM $outer");
    check(sql => [$sql], planned => $sql, settings => settings());
    return;
}

sub add_constant {
    my ($table) = @_;
    my $sql = "SELECT id FROM $table->{name} WHERE ";
    my $f = pick('bf_create(9) + 5::bigint + 77::bigint + 7919::bigint', 'bf_create(4, grow => true) + 7919::bigint + 5831::bigint', 'bf_create(5)',
        'cbf_create(9) + 7919::bigint', 'cf_create(9) + 5831::bigint', 'NULL::bloomfilter', q{bf_create(9, layout => 'parquet') + 7919::bigint});
    $sql .= pick("($f) \@> item", "item <\@ ($f)", "($f) \@> (item + 5)", "($f) \@> item AND " . beside($table), "($f) \@> (n + 5)",
        "n <> 2 AND ($f) \@> (item / (n - 2))", "($f) \@> item AND ($f) \@> item");
    check(sql => [$sql], planned => $sql, settings => settings());
    return;
}

# Probes with a type that the filter does not have, and values whose expression raises an error
sub add_error {
    my ($table) = @_;
    my ($one, $other) = some(2, grep { $_->{value} =~ /^\w+$/ } @{ $table->{filters} });
    my $sql = "SELECT count(*) FROM $table->{name} WHERE "
      . pick(initplan($one) . " \@> $other->{value}", '(bf_create(9) + 1::bigint) @> (item / (n - 3))');
    check(sql => [$sql], settings => settings());
    return;
}

sub transaction {
    my (@sql) = @_;
    my $level = pick('', '', ' ISOLATION LEVEL REPEATABLE READ', ' ISOLATION LEVEL SERIALIZABLE');
    return [ "BEGIN$level", @sql, 'ROLLBACK' ];
}

sub add_change {
    my ($table, $other, $where) = @_;
    my $name = $table->{name};
    my $update = "UPDATE $name SET item = item + 1 WHERE $where RETURNING id, item";
    my $delete = "DELETE FROM $name WHERE $where RETURNING id, n";
    my $count = "SELECT count(*), sum(item), sum(id) FROM $name";
    my $again = "SELECT id, item FROM $name WHERE $where";
    my @statements = (
        $update, $delete,
        "INSERT INTO $name (id, item, n) SELECT -id, item, 1 FROM $name WHERE $where RETURNING id, item",
        "UPDATE $name SET n = 5 FROM (SELECT id AS number FROM $other->{name}) o WHERE number = id AND $where RETURNING id, n",
        "SELECT id, item FROM $name WHERE $where FOR " . pick('UPDATE', 'SHARE', 'NO KEY UPDATE'),
        "WITH changed AS ($update) SELECT count(*), sum(item) FROM changed",
        "DELETE FROM $name WHERE id IN (SELECT id FROM $name WHERE $where) RETURNING id");
    push @statements, "MERGE INTO $name t USING (SELECT DISTINCT ON (id) id AS number, item AS new FROM $name WHERE $where ORDER BY id, item) s ON number = t.id + 1"
      . ' WHEN MATCHED AND number % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET item = new WHEN NOT MATCHED THEN INSERT (id, item, n) VALUES (-number, new, 3)';
    my $first = pick(@statements);
    my @more = some(between(0, 2), @statements);
    check(sql => transaction($first, @more, $again, $count), planned => $first, settings => settings());
    return;
}

sub add_cursor {
    my ($table, $where) = @_;
    return if $where =~ /IN \(SELECT/; # a join returns rows in the order of its plan
    my $name = $table->{name};
    my $ordered = $table->{is_indexed} || chance(30) ? 'ORDER BY id, item' : '';
    my $query = "SELECT id, item FROM $name t WHERE $where $ordered";
    my @settings = grep { !/parallel|jit/ } @{ settings() };
    my $kind = pick(qw(forward scroll hold current));
    my @fetches = map { "FETCH $_ FROM c" } map { between(1, 60) } 1 .. 4;
    my $sql;
    if ($kind eq 'forward') {
        $sql = [ 'BEGIN', "DECLARE c NO SCROLL CURSOR FOR $query", @fetches, 'MOVE 5 c', 'FETCH ALL FROM c', 'FETCH 1 FROM c', 'ROLLBACK' ];
    } elsif ($kind eq 'scroll') {
        my @back = map { 'FETCH ' . pick('BACKWARD ' . between(1, 30), 'FIRST', 'LAST', 'ABSOLUTE ' . between(-5, 20), 'RELATIVE ' . between(-5, 5), 'PRIOR', between(1, 40)) . ' FROM c' } 1 .. 8;
        $sql = [ 'BEGIN', "DECLARE c SCROLL CURSOR FOR $query", @fetches, @back, 'FETCH BACKWARD ALL FROM c', 'FETCH ALL FROM c', 'ROLLBACK' ];
    } elsif ($kind eq 'hold') {
        $sql = [ 'BEGIN', 'DECLARE c ' . pick('', 'SCROLL ') . "CURSOR WITH HOLD FOR $query", $fetches[0], 'COMMIT', @fetches[ 1, 2 ], 'FETCH ALL FROM c', 'CLOSE c' ];
    } else {
        $sql = [ 'BEGIN', "DECLARE c CURSOR FOR SELECT id, item FROM $name WHERE $where" . pick('', ' FOR UPDATE'), map { ($_,
            'UPDATE ' . $name . ' SET n = 3 WHERE CURRENT OF c RETURNING id, n', 'FETCH 1 FROM c', "DELETE FROM $name WHERE CURRENT OF c RETURNING id") } @fetches[ 0, 1 ] ];
        push @$sql, "SELECT count(*), sum(n) FROM $name", 'ROLLBACK';
        @settings = (@settings, 'enable_indexscan = off', 'enable_bitmapscan = off');
        $query = "SELECT id FROM $name WHERE $where";
    }
    check(sql => $sql, planned => $query, settings => \@settings, in_order => 1);
    return;
}

# Queries of a user who may not see all rows, because of a policy, a security barrier, or both. The
# policy reports what it sees.
sub add_hidden {
    my ($table, $other, $guard) = @_;
    my $filter = pick(@{ $table->{filters} });
    my $value = chance(30) && $filter->{value} eq 'item' ? 'told(id, item)' : $filter->{value};
    my $where = join ' AND ', map { "($_)" } some(2, ask($filter, $value), pick('user_sees(id)', 'user_sees_dearly(id)', 'id > 0', 'n < 6 AND user_sees(id)'));
    my $built = pick('bf_agg(told(id, item))', 'cf_agg(item)', 'bf_dist_agg(bf_element_of(item)) FILTER (WHERE user_sees(id))');
    my ($sql) = chance(30) ? "SELECT md5(($built)::text) FROM $guard WHERE $where" : select_of({ %$table, name => $guard }, { name => $guard }, $where);
    check(sql => [$sql], planned => $sql, settings => [ grep { !/jit/ } @{ settings() } ], reader => 1);
    return;
}

# --- running -------------------------------------------------------------------------------------

sub script_of {
    my ($number, $check) = @_;
    my $script = '';
    for my $scan ('off', 'on') {
        my $mark = sub { my ($what) = @_; return "\\echo \@\@ $number $scan $what\n\\warn \@\@ $number $scan $what\n" };
        $script .= $mark->('before') . "RESET ALL;\nSET statement_timeout = '10min';\nSET bloomfilter.scan = $scan;\n";
        $script .= "SET $_;\n" for @{ $check->{settings}{$scan} };
        $script .= "SET ROLE reader;\n" if $check->{reader};
        $script .= "$_;\n" for @{ $check->{before} || [] };
        $script .= $mark->('plan') . "EXPLAIN (COSTS off) $check->{planned};\n" if $check->{planned};
        $script .= $mark->('rows') . join '', map { "$_;\n\\echo ## :SQLSTATE\n" } @{ $check->{sql} };
        $script .= $mark->('after') . join '', map { "$_;\n" } @{ $check->{after} || [] };
        $script .= "RESET ROLE;\n" if $check->{reader};
    }
    return $script;
}

# Returns the output of a script as a hash. A key has the number of the check, the setting and the part.
sub parts_of {
    my ($text) = @_;
    my (%parts, $part);
    for my $line (split /\n/, $text) {
        if ($line =~ /^@@ (.*)/) {
            $part = $parts{$1} = [];
        } elsif ($part) {
            push @$part, $line;
        }
    }
    return \%parts;
}

# Returns the rows of statements. They are sorted within each statement, unless the query orders them.
sub normal_rows {
    my ($check, $lines) = @_;
    return join "\n", @$lines if $check->{in_order};
    my (@all, @rows);
    for my $line (@$lines) {
        push @rows, $line;
        if ($line =~ /^##/) {
            push @all, sort @rows;
            @rows = ();
        }
    }
    return join "\n", @all, @rows;
}

# Notices tell which rows the conditions have seen. The scan probes filters first, and stops if a
# filter is NULL, so other conditions see fewer rows than in a sequential scan. sees_more() counts the
# notices that only the scan raises. It does not if the plan decides how many rows are read: when a
# query does not need all rows, when there is an error, and when an index is used.
sub notices_of {
    my ($lines) = @_;
    my %notices = map { $_ => 1 } grep { /^(NOTICE|WARNING|ERROR)/ } map { s/^psql:\S+:\d+: //r } @$lines;
    return \%notices;
}

my $looks_at_some = qr/LIMIT|EXISTS|FETCH|JOIN|LATERAL|MERGE|o\.|IN \(SELECT|OFFSET|, c b/;

sub sees_more {
    my ($check, $off, $on) = @_;
    my $sql = join ' ', @{ $check->{before} || [] }, @{ $check->{sql} };
    my $by_index = $off->{plan} ? $off->{plan} =~ /Index|Bitmap/ : grep { $is_indexed{$_} } $sql =~ /\w+/g;
    return if $sql =~ $looks_at_some || $off->{rows} =~ /^## (?!00000)/m || $by_index;
    return scalar grep { !$off->{notices}{$_} } grep { !/^ERROR/ } keys %{ $on->{notices} };
}

my ($offered, $scanned, $compared, @differences, @leaks) = (0, 0, 0);
my (%scanned_in, %states, %features);

sub note_features {
    my ($plan) = @_;
    $features{$_}++ for grep { $plan =~ /$_/ } 'Parallel Custom Scan', 'Append', 'Parallel Append', 'Filter Before', 'Nested Loop', 'Hash Join', 'Merge Join',
      'SubPlan', 'LockRows', 'Materialize', 'Memoize', 'WindowAgg', 'Update', 'Delete', 'Merge on';
    return;
}

sub compare {
    my ($number, $check, $rows, $notices) = @_;
    my ($off, $on) = map { my $scan = $_; {
        rows => normal_rows($check, $rows->{"$number $scan rows"} || ['missing ' . $scan]),
        notices => notices_of($notices->{"$number $scan rows"} || []),
        plan => join "\n", @{ $rows->{"$number $scan plan"} || [] } } } 'off', 'on';
    $compared++;
    $states{$_}++ for $on->{rows} =~ /^## (\w+)/mg;
    $states{'with rows'}++ if $on->{rows} =~ /^(?!##)./m;
    if ($check->{planned}) {
        $offered++;
        my $used = $on->{plan} =~ /Bloom Filter (?:Scan|Build)/;
        $scanned += $used;
        $scanned_in{ $check->{what} } += $used;
        note_features($on->{plan}) if $used;
    }
    my $is_wrong = $off->{rows} ne $on->{rows} ? 'rows' : sees_more($check, $off, $on) ? 'notices'
      : $off->{plan} =~ /Bloom Filter (?:Scan|Build)/ ? 'plan' : '';
    push @differences, { check => $check, what => $is_wrong, off => $off, on => $on } if $is_wrong;
    return if !$check->{reader};
    for my $scan ('off', 'on') {
        my @seen = map { /NOTICE:  user (\d+)/ ? $1 : () } keys %{ ($scan eq 'on' ? $on : $off)->{notices} };
        push @leaks, { check => $check, what => "leak, $scan", off => $off, on => $on } if grep { $_ % 3 == 0 } @seen;
    }
    return;
}

for (1 .. $rounds) {
    $round = $_;
    srand $seed + $round;
    @checks = ();
    my $setup = 'SELECT setseed(0.5);';
    my (@tables, @guards);
    for my $kind (some(5, @kinds)) {
        my $table = new_table("t$round" . '_' . @tables, $kind);
        push @tables, $table;
        $setup .= $table->{sql} . filters_of($table);
    }
    # Only queries of add_hidden() use the table with policies, because queries of its owner would raise
    # the same notices.
    my $guarded = new_table("guarded$round", pick('plain', 'narrow', 'range', 'parent', $compiled ? 'copied' : 'plain'));
    my $name = $guarded->{name};
    $setup .= $guarded->{sql} . filters_of($guarded) . "ALTER TABLE $name ENABLE ROW LEVEL SECURITY;\n"
      . "CREATE POLICY p ON $name USING (" . pick('policy_sees(id)', 'policy_sees(id) AND n IS NOT NULL', 'EXISTS (SELECT WHERE id % 3 <> 0) AND policy_sees(id)') . ");\n"
      . "CREATE VIEW barrier$round WITH (security_barrier) AS SELECT " . join(', ', 'tableoid, id', @{ $guarded->{columns} }) . " FROM $name WHERE id % 3 <> 0 AND length(id::text) > 0;\n"
      . "GRANT SELECT ON $name, barrier$round, ${name}_filters TO reader;\n";
    for my $number (1 .. 70) {
        my $table = pick(@tables);
        my $other = pick(@tables);
        my $where = conditions($table, [ some(pick(1, 1, 1, 2, 3), @{ $table->{filters} }) ]);
        my $what = pick(qw(select select select select prepared plpgsql outer constant error hidden hidden), $table->{is_changed} ? qw(change change cursor cursor) : (), qw(build build build build));
        my $before = @checks;
        add_select($table, $other, $where) if $what eq 'select';
        add_prepared($table, $other) if $what eq 'prepared';
        add_plpgsql($table) if $what eq 'plpgsql';
        add_outer($table) if $what eq 'outer';
        add_constant($table) if $what eq 'constant';
        add_build($table, $where) if $what eq 'build';
        add_error($table) if $what eq 'error';
        add_hidden($guarded, $other, pick($name, $name, "barrier$round")) if $what eq 'hidden';
        add_change($table, $other, $where) if $what eq 'change';
        add_cursor($table, $where) if $what eq 'cursor';
        $_->{what} = $what for @checks[ $before .. $#checks ];
    }
    my $script = "$setup\n\\echo \@\@ ready\n" . join '', map { script_of($_, $checks[$_]) } 0 .. $#checks;
    my ($status, $rows, $notices) = $node->psql('postgres', "\\set VERBOSITY terse\n$script\\echo \@\@ done\n", on_error_stop => 0, timeout => 3600);
    my ($rows_by, $notices_by) = (parts_of($rows), parts_of($notices));
    ok(exists $rows_by->{done}, "round $round: the script ran to its end");
    my ($at_first) = $notices =~ /^(.*?)(?:^@@|\z)/ms;
    unlike($at_first, qr/ERROR/, "round $round: all tables were created without an error");
    compare($_, $checks[$_], $rows_by, $notices_by) for 0 .. $#checks;
    last if !exists $rows_by->{done};
    query("SET client_min_messages = error; DROP VIEW barrier$round; " . join ' ', map { my $n = $_->{name} =~ s/_view$//r; "DROP TABLE IF EXISTS $n, $_->{name}_filters CASCADE;" } @tables, $guarded);
}

for my $difference ((@leaks, @differences)[ 0 .. 4 ]) {
    last if !$difference;
    my $check = $difference->{check};
    diag(join "\n", "$difference->{what}, round $check->{round}, $check->{what}", (map { "SET $_;" } @{ $check->{settings}{on} }),
        (map { "$_;" } @{ $check->{before} || [] }, @{ $check->{sql} }),
        map { my $scan = $_; (map { substr "$scan $_: $difference->{$scan}{$_}", 0, 800 } qw(plan rows)),
              substr "$scan notices: " . join(', ', sort keys %{ $difference->{$scan}{notices} }), 0, 800 } qw(off on));
}
is(scalar @leaks, 0, 'no condition of a user sees a row that a policy or a barrier hides');
is(scalar @differences, 0, "$compared scripts give the same with bloomfilter.scan off and on");
for my $counts (\%scanned_in, \%features, \%states) {
    note(join ', ', map { "$_: $counts->{$_}" } sort keys %$counts);
}
diag("$compared compared, $offered planned, $scanned by a Bloom Filter Scan");
# With few tables, the scan may be chosen for none of them.
cmp_ok($scanned, '>', $offered / 3,
    'a third of the plans have a Bloom Filter Scan or Build') if $rounds >= 10;

clean_log($node);
done_testing();
