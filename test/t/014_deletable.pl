# Removing values from counting and cuckoo filters. Random additions and removals are compared with a
# model. If a cuckoo table has no free slot for a value, a larger table is made, also when its hashes were
# spilled. A change that fails leaves the row as it was. Long statements can be canceled.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('deletable');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Adds and removes random values, and compares the filter f with a model, the array `times`: how often
# each value from 1 to `distinct` is in the filter. After each batch of operations, all members are
# found, with at least their multiplicity, as far as the type can count; `check` must also hold. At
# the end, all values are removed. A value is added at most `most` times. The larger `skew` is, the
# more unequal are the frequencies of values. Returns whether there were many removals, the largest
# multiplicity, and the value of the expression `last`. The generator of random numbers is MINSTD,
# because the numbers of random() differ between versions of PostgreSQL.
sub model {
    my ($prefix, $type, $create, $value, %with) = @_;
    return query(qq{
        CREATE FUNCTION model() RETURNS text LANGUAGE plpgsql AS \$\$
          #variable_conflict use_column
          DECLARE
            f $type := $create;
            times int[] := array_fill(0, array[$with{distinct}]);
            v int;
            random bigint := $with{seed};
            leaving boolean;
            total int := 0;
            removed int := 0;
            most int := 0;
          BEGIN
            FOR batch IN 1 .. 100 LOOP
              FOR operation IN 1 .. 200 LOOP
                random := random * 48271 % 2147483647;
                v := 1 + floor(power(random / 2147483647.0, $with{skew}) * $with{distinct});
                random := random * 48271 % 2147483647;
                leaving := random < $with{leaving} * 2147483647;
                IF times[v] > 0 AND leaving OR total >= $with{total} THEN
                  CONTINUE WHEN times[v] = 0;
                  f := f - ($value);
                  times[v] := times[v] - 1;
                  total := total - 1;
                  removed := removed + 1;
                ELSIF times[v] < $with{most} THEN
                  f := f + ($value);
                  times[v] := times[v] + 1;
                  total := total + 1;
                END IF;
              END LOOP;
              most := greatest(most, (SELECT max(t) FROM unnest(times) t));
              ASSERT (SELECT bool_and(f @> ($value) AND
                  ${prefix}_multiplicity(f, $value) >= least(t, $with{counted}))
                FROM unnest(times) WITH ORDINALITY model(t, v) WHERE t > 0), 'a member is missing';
              ASSERT (SELECT count(*) FILTER (WHERE f @> ($value)) FROM
                generate_series(100001, 101000) v) < 50, 'too many are found';
              ASSERT ${prefix}_check(f) IS NULL, 'not sound';
              ASSERT $with{check}, 'another filter';
            END LOOP;
            FOR v IN 1 .. $with{distinct} LOOP
              FOR i IN 1 .. times[v] LOOP
                f := f - ($value);
              END LOOP;
            END LOOP;
            RETURN concat_ws(' ', removed > 5000, most, $with{last});
          END \$\$;
        SELECT model();
        DROP FUNCTION model});
}

# If no counter of a counting filter ever reached 15, its bytes depend on its members alone. With these
# few values, no counter reaches 15.
my $members = '(SELECT array_agg(%s) FROM unnest(times) WITH ORDINALITY model(t, v),'
  . ' generate_series(1, t))';
for (
    [ 'cbf_create(2000)', 'v', 1 ],
    [ 'cbf_create(2000, 0.0001)', q{'word ' || v}, 2 ],
    [ 'cbf_create(1500, 0.001, 42)', 'v / 7.0', 3 ]) {
    my ($create, $value, $seed) = @$_;
    is( model('cbf', 'countingbloomfilter', $create, $value,
            seed => $seed, distinct => 1500, skew => 1, leaving => 0.6,
            total => 1000, most => 7, counted => 15,
            check => "f = cbf_add_all($create, " . sprintf($members, $value) . ')',
            last => "f = $create"),
        't 7 t', "$create, $value: after each batch of changes, the filter is that of its members");
}
is( model('cbf', 'countingbloomfilter', 'cbf_create(1000)', 'v',
        seed => 4, distinct => 500, skew => 5, leaving => 0.4, total => 5000, most => 40, counted => 15,
        check => 'true',
        last => '(SELECT counters_saturated > 0 AND f @> 1 FROM cbf_info(f))'),
    't 40 t', 'counters that reached their limit stay there, so their members stay after removal');
for (
    [ 'cf_create(2000)', 'v', 5 ],
    [ 'cf_create(2000, 0.0001)', q{'word ' || v}, 6 ],
    [ 'cf_create(2000, 0.000000001, 42)', 'v / 7.0', 7 ]) {
    my ($create, $value, $seed) = @$_;
    is( model('cf', 'cuckoofilter', $create, $value,
            seed => $seed, distinct => 1500, skew => 1, leaving => 0.6,
            total => 1700, most => 3, counted => 3,
            check => '(SELECT stored = total FROM cf_info(f))',
            last => '(SELECT stored = 0 AND element_type IS NULL FROM cf_info(f))'),
        't 3 t', "$create, $value: after each batch, the members and their number are those of the model");
}

# A cuckoo table is sized for the number of distinct values, or for `expected` if that is larger.
# Without `expected` the size is rounded up to a size class, which is less than 6.25 % larger.
is( query(q{
        SELECT count(*) FILTER (WHERE pg_column_size(self_sized) / pg_column_size(small)::float8
              BETWEEN 1 AND 1.0625),
          count(*) FILTER (WHERE of_small.expected = n AND of_self_sized.expected = n),
          count(*) FILTER (WHERE small_sizing.bytes = pg_column_size(small)),
          count(*) FILTER (WHERE large_sizing.bytes = pg_column_size(large) AND of_large.expected = 5000)
        FROM unnest(array[1000, 2000, 3000, 4000]) n,
          LATERAL (SELECT cf_agg(i) AS self_sized, cf_agg(i, 10) AS small, cf_agg(i, 5000) AS large
            FROM generate_series(1, n) i, generate_series(1, 3)) made,
          cf_info(self_sized) of_self_sized, cf_info(small) of_small, cf_info(large) of_large,
          cf_sizing(n, 0.01) small_sizing, cf_sizing(5000, 0.01) large_sizing}),
    '4|4|4|4', 'cf_agg is sized for the distinct values, or for `expected` if that is larger');

# Cuckoo tables that have no slots for all values. Ten values have equal fingerprints. They have the
# same buckets in a table for 300 000 values and in a table that is 4 % larger, but not in the next
# table, which is again 4 % larger. (The values were found by inverting XXH3.)
my $crowd = 'unnest(array[-7113230021739882047, 2019421253767538103, 8798796634097928428,'
  . ' 5692960759040496288, -7412310248306328723, 2343390209971626646, 2420574322391470184,'
  . ' -8261548569266616017, 766367965891022034, -8028906028719295863])';
is( query("SELECT count(DISTINCT (h >> 32 & 4294967295) * 78948 >> 32),"
          . " count(DISTINCT (h & 4294967295) * 1023 >> 32) FROM $crowd v, bf_hash(v) h"),
    '1|1', 'the ten values have one fingerprint and one bucket');
query(qq{
    CREATE TABLE crowded AS
      SELECT * FROM (SELECT $crowd v UNION ALL SELECT generate_series(1, 299990)) x
      ORDER BY bf_hash(v, 1)});
is(sqlstate($node, 'SELECT cf_add_all(cf_create(300000), array_agg(v)) FROM crowded'),
    '54000', 'cf_add_all finds no slots for all values in a table for 300 000');
my $one_filter = '';
for my $expected ('NULL', 300000) {
    my %digests;
    for my $settings ("SET work_mem = '64MB'", "SET work_mem = '64kB'") {
        my ($result, $bytes) = temp_bytes($node, qq{
            $settings;
            SELECT element_type, stored, buckets > 78948, buckets < 90000, md5(f::bytea),
              (SELECT count(*) FROM crowded WHERE NOT f @> v), cf_check(f) IS NULL
            FROM (SELECT cf_agg(v, $expected) AS f FROM crowded OFFSET 0) made, cf_info(f);
            SELECT count(*) FROM pg_ls_tmpdir()});
        like($result, qr/^integer\|300000\|t\|t\|\w+\|0\|t\n0$/,
            "expected $expected, $settings: cf_agg makes a larger table of all values and leaves no file");
        $digests{$result}++;
        cmp_ok($bytes, $settings =~ /kB/ ? '>' : '==', $settings =~ /kB/ ? 8 * 299990 - 300_000 : 0,
            "... and hashes are in temporary files only with little memory: $bytes bytes");
    }
    is(keys %digests, 1, "expected $expected: the same filter with much and with little memory");
}
# A table is made at most twice as large as it should be. Nine other values have the same buckets in
# every table; they were found in the same way. The ten values alone have the same buckets in all small
# tables.
for my $chosen ($crowd, 'unnest(array[8352356555183542290, -8091485436496643850, 5962563313312787887,'
    . ' 189304583598969739, -8966758242736939787, -2915662558947549947, -8627989032170101608,'
    . ' -6156009419085989080, 8735742999761356582])') {
    is(sqlstate($node, "SELECT cf_agg(v) FROM $chosen v"), '54000',
        'values that fit into no table of twice the size are an error for cf_agg');
    is(query("SELECT sum(cbf_multiplicity(f, v)) >= count(*) FROM $chosen v, (SELECT cbf_agg(v) AS f FROM $chosen v) s"),
        't', '... but not for cbf_agg');
}

# Temporary files contain values several times, but the filter stores each value once.
for my $rows ('generate_series(1, 3) n, generate_series(1, 300000) i',
    'generate_series(1, 900000) n, LATERAL (SELECT n / 3 * 3 AS i) x') {
    my ($result, $bytes) = temp_bytes($node, qq{
        SET work_mem = '64kB';
        SELECT expected, stored, fill > 0.9,
          (SELECT count(*) FROM generate_series(0, 899999) i WHERE f @> i AND i % 3 = 0) >= 100000
        FROM (SELECT cf_agg(i) AS f FROM $rows) made, cf_info(f);
        SELECT count(*) FROM pg_ls_tmpdir()});
    my $distinct = $rows =~ /LATERAL/ ? 300001 : 300000;
    is($result, "$distinct|$distinct|t|t\n0", "$rows: cf_agg stores each value once, and no file is left");
    cmp_ok($bytes, '>', 8 * 200000, "... although it spilled $bytes bytes");
}

# A statement that fails leaves the row as it was.
query(q{
    CREATE TABLE kept (id int PRIMARY KEY, counting countingbloomfilter, cuckoo cuckoofilter);
    INSERT INTO kept SELECT n, cbf_create(size) + 1, cf_create(size) + 1
      FROM unnest(array[10, 100000]) WITH ORDINALITY sizes(size, n);
    CREATE VIEW state AS SELECT string_agg(md5(counting::bytea || cuckoo::bytea) || xmin, ' '
      ORDER BY id) FROM kept});
my $state = query('TABLE state');
for (
    [ 'cuckoo = cf_add_all(cuckoo, array(SELECT generate_series(2, 200000)))', '54000' ],
    [ 'cuckoo = cf_add_all(cuckoo, array_fill(1, array[8]))', '54000' ],
    [ 'cuckoo = cf_union(cuckoo, cf_add_all(cf_create(10), array_fill(1, array[8])))', '54000' ],
    [ 'cuckoo = cf_union(cf_create(10), cuckoo)', '22023' ],
    [ 'cuckoo = cuckoo + 2 + 3 - 2 - 2 - 3 - 3', '22023' ],
    [ 'cuckoo = cuckoo - 1 - 1', '22023' ],
    [ 'counting = counting - 1 - 1', '22023' ],
    [ q{counting = counting + 'a'::text}, '42804' ],
    [ q{cuckoo = cuckoo + 'a'}, '22P02' ]) {
    my ($change, $sqlstate) = @$_;
    is(sqlstate($node, "UPDATE kept SET $change"), $sqlstate, "$change is an error");
    is(query('TABLE state'), $state, '... that leaves the rows as they were');
}
is( query(q{
        CREATE FUNCTION fill(OUT added int, OUT error text) LANGUAGE plpgsql AS $$
          BEGIN
            FOR i IN 2 .. 100 LOOP
              UPDATE kept SET cuckoo = cuckoo + i WHERE id = 1;
              added := i;
            END LOOP;
          EXCEPTION WHEN program_limit_exceeded THEN
            error := SQLSTATE;
          END $$;
        CREATE FUNCTION fill_one_by_one(OUT added int, OUT refused int) LANGUAGE plpgsql AS $$
          BEGIN
            added := 0;
            refused := 0;
            FOR i IN 2 .. 100 LOOP
              BEGIN
                UPDATE kept SET cuckoo = cuckoo + i WHERE id = 1;
                added := added + 1;
              EXCEPTION WHEN program_limit_exceeded THEN
                refused := refused + 1;
                ASSERT (SELECT stored = added + 1 FROM kept, cf_info(cuckoo) WHERE id = 1), 'changed';
              END;
            END LOOP;
          END $$;
        SELECT error FROM fill();
        SELECT (SELECT string_agg FROM state) = '} . $state . q{';
        SELECT added > 9, refused > 80, added + refused FROM fill_one_by_one();
        SELECT stored BETWEEN 11 AND 16, cuckoo @> 1, cf_check(cuckoo) IS NULL FROM kept, cf_info(cuckoo)
        WHERE id = 1}),
    "54000\nt\nt|t|99\nt|t|t", 'a full cuckoo filter refuses further values and keeps its values');

# Long statements are canceled by statement_timeout.
query(q{
    CREATE TABLE large AS SELECT cf_agg(i, 3000000) AS cuckoo, cbf_agg(i, 3000000) AS counting
      FROM generate_series(1, 1000000) i});
my $forever = '(SELECT generate_series(1, 1000000000::bigint) AS i) s';
for my $work ("SELECT cbf_agg(i) FROM $forever", "SELECT cbf_agg(i, 1000000) FROM $forever",
    "SELECT cbf_agg(i % 100000) FROM $forever", "SELECT cf_agg(i) FROM $forever",
    "SELECT cf_agg(i % 1000, 1000000) FROM $forever",
    "SELECT count(f) FROM (SELECT cbf_agg(i) OVER (ORDER BY i ROWS 999 PRECEDING) AS f"
      . ' FROM generate_series(1, 1000000) i) x',
    "SELECT count(f) FROM (SELECT cbf_agg(i, 100000) OVER (ORDER BY i ROWS 9 PRECEDING) AS f"
      . ' FROM generate_series(1, 1000000) i) x',
    'SELECT count(cf_union(cuckoo, cuckoo)) FROM large, generate_series(1, 1000)',
    'SELECT count(cbf_union(counting, counting)) FROM large, generate_series(1, 1000)',
    'SELECT cf_add_all(cf_create(100000000), array_agg(i)) FROM large, generate_series(1, 5000000) i') {
    for my $work_mem ('64kB', '16MB') {
        is(sqlstate($node, "SET work_mem = '$work_mem'; SET statement_timeout = '150ms'; $work"),
            '57014', "$work, $work_mem: statement_timeout cancels it");
    }
}
is(query('SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'canceled statements leave no temporary file');

# A union that ignored the cancellation would end with another error.
query('CREATE TABLE half AS SELECT cf_agg(i, 1700000) AS f FROM generate_series(1, 1000000) i');
my $union = 'SELECT cf_union(f, f) IS NULL FROM half';
is(sqlstate($node, $union), '54000', 'a union of two cuckoo filters that do not fit into one is an error');
is(sqlstate($node, "SET statement_timeout = '20ms'; $union"), '57014', '... and a timeout cancels it before');

clean_log($node);
done_testing();
