# bf_agg(value) sizes its filter for the distinct values that it saw. The filter is right whenever
# PostgreSQL stops, repeats or interrupts an aggregate whose hashes are in temporary files. No
# temporary file outlives its query.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('sizing', conf => "synchronize_seqscans = off\n");

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Sizes

my $rows = '(SELECT generate_series(1, 10000000) AS i) rows';
my ($ratio, $missing, $rate) = split /\|/, query(qq{
    WITH made AS (SELECT bf_agg(i % 100000) AS f FROM $rows)
    SELECT bytes / (SELECT bytes::float8 FROM bf_sizing(100000, 0.01)),
      (SELECT count(*) FROM generate_series(0, 99999) i WHERE NOT f @> i),
      (SELECT count(*) / 1e6 FROM generate_series(100000, 1099999) i WHERE f @> i)
    FROM made, bf_info(f)});
cmp_ok($ratio, '>=', 0.98, '10 million rows, 100 000 distinct: at least 98 % of the size for 100 000 values');
cmp_ok($ratio, '<=', 1.10, '... and at most 110 % of it');
is($missing, 0, '... and no false negative');
cmp_ok($rate, '<=', 0.0105, '... and at most 1.05 % false positives, for a rate of 1 %');
cmp_ok($rate, '>=', 0.0080, '... and at least 0.8 %');

is( query(q{
        SELECT count(*) FROM generate_series(1, 700) n,
          LATERAL (SELECT bf_agg(x) AS f, array_agg(x) AS members FROM generate_series(1, n) x) a
        WHERE substr(f::bytea, 37) = substr(bf_add_all(bf_create(n), members)::bytea, 37)}),
    700, 'a self-sized filter of 1 to 700 values is the filter sized for this number');

# Numbers of values around two limits: up to 65 536 distinct values, the number is exact, and above it
# is an estimate; from 131 072 hashes on, a state may spill.
for my $n (65535, 65536, 65537, 131071, 131072, 131073) {
    my ($sql, @ways, %digests);
    for my $work_mem ('64kB', '64MB') {
        for my $source (
            "generate_series(1, $n) i",
            "generate_series($n, 1, -1) i",
            "(SELECT i FROM generate_series(1, $n) i, generate_series(1, 2)"
              . ' ORDER BY hashint4(i)) shuffled',
            "generate_series(1, 2) twice, generate_series(1, $n) i") {
            $sql .= qq{
                SET work_mem = '$work_mem';
                SELECT expected, md5(f::bytea) FROM (SELECT bf_agg(i) AS f FROM $source) made,
                  bf_info(f);};
            push @ways, "$source, $work_mem";
        }
    }
    my @results = split /\n/, query($sql);
    push @{ $digests{ $results[$_] } }, $ways[$_] for 0 .. $#ways;
    is(keys %digests, 1, "$n values: one filter, whatever the order and memory") or diag(explain(\%digests));
    my ($expected) = (keys %digests)[0] =~ /^(\d+)/;
    if ($n <= 65536) {
        is($expected, $n, "$n values: the filter is sized for exactly this number");
    } else {
        cmp_ok(abs($expected / $n - 1.008), '<', 0.013, "$n values: sized for $expected, a good estimate");
        is( query("SELECT count(*) FROM (SELECT bf_agg(i) AS f FROM generate_series(1, $n) i) made,"
                  . " generate_series(1, $n) i WHERE NOT f @> i"),
            0, "$n values: no false negative");
    }
}

# Spilling. 600 000 distinct values in groups of 200 000; a state keeps at least 131 072 in memory.

query(q{
    CREATE TABLE rows AS SELECT i, i % 3 AS g FROM generate_series(1, 600000) i;
    ANALYZE rows});
my $one_file = 8 * 131072;
my $hashed = 'SET enable_sort = off';
my $sorted = 'SET enable_hashagg = off';
my $all = 'SELECT md5(bf_agg(i)::bytea) FROM rows';
my $grouped = 'SELECT g, md5(f::bytea)'
  . ' FROM (SELECT g, bf_agg(i) AS f FROM rows GROUP BY g OFFSET 0) x';
my $truth = query("SET work_mem = '64MB'; $all");
my @of_group = map { query("SET work_mem = '64MB'; $all WHERE g = $_") } 0 .. 2;

# Returns the result of a script. The script must write at least the given number of temporary files,
# and must leave none.
sub spilled {
    my ($what, $files, $sql) = @_;
    my ($result, $bytes) = temp_bytes($node, "SET work_mem = '64kB'; $sql;"
          . q{ SELECT count(*) || ' files left' FROM pg_ls_tmpdir()});
    cmp_ok($bytes, '>=', $files * $one_file, "$what: hashes are spilled");
    ok($result =~ s/\n?0 files left$//, "$what: no temporary file is left") or diag($result);
    return $result;
}

sub groups { return join "\n", map { "$_|$of_group[$_]" } @_ }

# Returns rows in the order of their groups, in whatever order the plan returned them.
sub in_order { return join "\n", sort split /\n/, $_[0] }

is(spilled('a plain query', 1, $all), $truth, 'a plain query that spills: the same bytes as in memory');
for my $strategy ($hashed, $sorted) {
    is(in_order(spilled("groups, $strategy", 3, "$strategy; $grouped")),
        groups(0 .. 2), "groups that spill, $strategy: the same bytes as in memory");

    # LIMIT: the executor stops before the aggregate has returned all groups.
    my $first = spilled("LIMIT, $strategy", 1, "$strategy; $grouped LIMIT 1");
    is($first, groups(substr($first, 0, 1)), 'LIMIT: the same bytes');

    # A nested loop executes its inner side three times.
    my $loop = "$strategy; SET enable_hashjoin = off; SET enable_mergejoin = off;"
      . ' SET enable_material = off; SET enable_memoize = off';
    my $join = "SELECT k, d FROM generate_series(0, 2) k LEFT JOIN"
      . ' (SELECT g, md5(bf_agg(i)::bytea) AS d FROM rows GROUP BY g) x ON g = k';
    like(plan_of($node, $loop, $join), qr/^Nested Loop Left Join.*Aggregate/s, 'the plan is a nested loop');
    is(in_order(spilled("nested loop, $strategy", 3, "$loop; $join")),
        groups(0 .. 2), 'nested loop: the same bytes');

    # A subquery that is stopped before its end and executed again
    my $known = "array['" . join("', '", @of_group) . "']";
    my $again = "SELECT k, (SELECT md5(f::bytea) = ($known)[g + 1]"
      . ' FROM (SELECT g, bf_agg(i) AS f FROM rows WHERE i <> k GROUP BY g) x LIMIT 1)'
      . ' FROM generate_series(-2, 0) k';
    is(spilled("subquery, $strategy", 3, "$strategy; $again"),
        "-2|t\n-1|t\n0|t", 'a subquery that is executed again: the same bytes');
}

# LATERAL: the parameter changes between executions.
is( spilled('LATERAL', 3, 'SELECT k, d FROM generate_series(1, 3) k,'
          . ' LATERAL (SELECT md5(bf_agg(i + k)::bytea) AS d FROM rows) x'),
    join("\n", map { "$_|" . query("SELECT md5(bf_agg(i + $_)::bytea) FROM rows") } 1 .. 3),
    'LATERAL: each execution has the filter of its parameter');

# Errors that PL/pgSQL catches, and errors after a savepoint
my $error = 'bf_agg(i + 1 / (600000 - i))';
my $cancel =
  'bf_agg(CASE WHEN i < 500000 THEN i ELSE pg_cancel_backend(pg_backend_pid())::int END)';
is( spilled('EXCEPTION', 4, qq{
        DO \$\$
          DECLARE digest text;
          BEGIN
            FOR n IN 1 .. 3 LOOP
              BEGIN
                PERFORM $error FROM rows;
                RAISE 'expected an error';
              EXCEPTION WHEN division_by_zero THEN
                ASSERT NOT EXISTS (SELECT FROM pg_ls_tmpdir()), 'a file is left';
              END;
            END LOOP;
            SELECT md5(bf_agg(i)::bytea) FROM rows INTO digest;
            ASSERT digest = '$truth', 'other bytes';
          END
        \$\$;
        $all}),
    $truth, 'EXCEPTION: queries after the caught errors give the same bytes');
for (
    [ 'an error', '1GB', $error, '22012' ],
    [ 'a query cancel', '1GB', $cancel, '57014' ],
    [ 'temp_file_limit', '2MB', 'bf_agg(i)', '53400' ]) {
    my ($what, $limit, $aggregate, $sqlstate) = @$_;
    is( spilled($what, 2, "\\set ON_ERROR_STOP off\nBEGIN; SAVEPOINT s;"
              . " SET LOCAL temp_file_limit = '$limit';\n"
              . "SELECT length($aggregate\::bytea) FROM rows;\n\\echo :LAST_ERROR_SQLSTATE\n"
              . 'ROLLBACK TO s; SELECT count(*) FROM pg_ls_tmpdir();'
              . "\n\\set ON_ERROR_STOP on\n$all; COMMIT"),
        "$sqlstate\n0\n$truth", "$what: no file is left, and the next query gives the same bytes");
}

# A cursor's temporary files belong to its portal. Subtransactions end before the cursor does.
for my $strategy ($hashed, $sorted) {
    my $declare = "$strategy; BEGIN; DECLARE c CURSOR FOR $grouped";
    my $rest = 'FETCH ALL FROM c; CLOSE c; COMMIT';
    my %scripts = (
        'FETCH in a subtransaction that fails' =>
          "$declare; FETCH c; SAVEPOINT s; FETCH c; ROLLBACK TO s; $rest",
        'the first FETCH in a subtransaction that fails' =>
          "$declare; SAVEPOINT s; FETCH c; ROLLBACK TO s; $rest",
        'an error in a subtransaction' =>
          "$declare; FETCH c; SAVEPOINT s;\n\\set ON_ERROR_STOP off\nSELECT 1 / 0;\n"
          . "\\set ON_ERROR_STOP on\nROLLBACK TO s; $rest",
        'FETCH in a subtransaction that commits' =>
          "$declare; SAVEPOINT s; FETCH c; RELEASE s; $rest",
        'a cursor WITH HOLD' => "$strategy; BEGIN; DECLARE c CURSOR WITH HOLD FOR $grouped;"
          . ' FETCH c; COMMIT; FETCH ALL FROM c; CLOSE c');
    for my $what (sort keys %scripts) {
        is(in_order(spilled("$what, $strategy", 3, $scripts{$what})),
            groups(0 .. 2), "$what: the same bytes");
    }
    for my $end ('COMMIT', 'ROLLBACK') {
        is(spilled("$end, $strategy", 1, "$declare; MOVE c; $end"), '',
            "$end with an open cursor, $strategy: nothing is printed");
    }
    is( spilled("a cursor of a failed subtransaction, $strategy", 2,
            "$strategy; BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR $grouped; MOVE c; ROLLBACK TO s;"
              . " SELECT count(*) FROM pg_ls_tmpdir(); $all; COMMIT"),
        "0\n$truth", 'a cursor of a failed subtransaction leaves no file');
}

# A state uses a set of hashes to recognise repeated values. With little and with much memory, in one
# process and in three, the filter is the filter of the distinct values. The distinct values of a
# stream are the numbers v up to 1 400 000 for which a condition holds.
query(q{
    CREATE TABLE streams AS SELECT i,
      i % 200000 AS round_after_round, i / 4 AS in_a_row, i % 1000 AS few,
      CASE WHEN i <= 400000 THEN i % 1000 ELSE i END AS few_then_many,
      CASE WHEN i <= 400000 THEN i ELSE i % 1000 END AS many_then_few,
      CASE WHEN i BETWEEN 200000 AND 800000 THEN i % 1000 ELSE i END AS many_few_many,
      CASE WHEN i % 100000 < 50000 THEN i % 1000 ELSE i END AS by_turns,
      CASE WHEN i % 50 = 0 THEN i ELSE 0 END AS mostly_one
    FROM generate_series(1, 1400000) i;
    ALTER TABLE streams SET (parallel_workers = 2);
    ANALYZE streams});
for (
    [ round_after_round => 2, 'v < 200000' ],
    [ in_a_row => 2, 'v <= 350000' ],
    [ few => 0, 'v < 1000' ],
    [ few_then_many => 1, 'v < 1000 OR v > 400000' ],
    [ many_then_few => 1, 'v <= 400000' ],
    [ many_few_many => 1, 'v < 200000 OR v > 800000' ],
    [ by_turns => 1, 'v < 1000 OR v % 100000 >= 50000' ],
    [ mostly_one => 0, 'v % 50 = 0' ]) {
    my ($stream, $files, $values) = @$_;
    my $distinct = query("SET work_mem = '256MB'; SELECT md5(bf_agg(v)::bytea)"
          . " FROM (SELECT generate_series(0, 1400000) AS v) x WHERE $values");
    for my $work_mem ('64kB', '64MB') {
        my ($result, $bytes) = temp_bytes($node,
            "SET work_mem = '$work_mem'; SELECT md5(bf_agg($stream)::bytea) FROM streams");
        is($result, $distinct, "$stream, $work_mem: the filter of the distinct values");
        # A value is written once, unless it comes again after the set of hashes was emptied.
        my $expected = $work_mem eq '64kB' ? $files : 0;
        cmp_ok($bytes, $expected ? '>=' : '==', $expected && $one_file,
            "$stream, $work_mem: $bytes bytes written, as many as expected");
        is( query("SET work_mem = '$work_mem'; SET max_parallel_workers_per_gather = 2;"
                  . ' SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
                  . " SELECT md5(bf_agg($stream)::bytea) FROM streams"),
            $distinct, "$stream, $work_mem, parallel: the filter of the distinct values");
    }
}

# A state samples its hashes to decide whether values are repeated. No hash of these values is in the
# sample, so the state takes them for repetitions of a few values.
my $chosen = 'FROM generate_series(1::bigint, 600000) i WHERE (bf_hash(i) >> 32) & 511 <> 0';
is( query("SET work_mem = '64kB'; SELECT md5(bf_agg(i)::bytea) $chosen"),
    query("SET work_mem = '256MB'; SELECT md5(bf_agg(i)::bytea) $chosen"),
    'values that mislead the sample: the same bytes with little and with much memory');

# Window frames: the final function runs repeatedly on a state to which further values are added.

my @windows;
for my $form ('bf_agg(%s)', 'bf_agg(%s, 50)', 'bf_agg(%s, NULL, 0.001)') {
    for my $value ('i', 'i / 4') {
        my ($windowed, $plain) = map { sprintf $form, $_ } $value, $value =~ s/i/x/r;
        for (
            [ growing => 'ORDER BY i', 'generate_series(1, i) x' ],
            [ sliding => 'ORDER BY i ROWS 9 PRECEDING',
                'generate_series(greatest(1, i - 9), i) x' ],
            [ shrinking => 'ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
                'generate_series(i, 700) x' ],
            [ whole => '', 'generate_series(1, 700) x' ]) {
            my ($frame, $window, $source) = @$_;
            push @windows, [ qq{
                    SELECT count(*) FROM
                      (SELECT i, $windowed OVER ($window) AS f FROM generate_series(1, 700) i) w
                    WHERE f = (SELECT $plain FROM $source)},
                700, "$frame frame, $windowed: each row has the filter of its frame" ];
        }
    }
}
results_are($node, @windows);
is( query(qq{
        SET work_mem = '64kB';
        SELECT g, md5(f::bytea)
        FROM (SELECT i, g, bf_agg(i) OVER (ORDER BY g) AS f FROM rows OFFSET 0) w
        WHERE i IN (100, 200, 300) ORDER BY g}),
    join("\n", map { "$_|" . query("SET work_mem = '64MB'; $all WHERE g <= $_") } 0 .. 2),
    'a large growing frame: each row has the filter of its frame');
is( in_order(query(qq{
        SET work_mem = '64kB';
        SELECT g, md5(f::bytea)
        FROM (SELECT i, g, bf_agg(i) OVER (PARTITION BY g) AS f FROM rows OFFSET 0) w
        WHERE i IN (100, 200, 300)})),
    groups(0 .. 2), 'large window partitions: each row has the filter of its partition');
is(query('SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');

clean_log($node);
done_testing();
