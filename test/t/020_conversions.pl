# A filter can be probed for values of any type that SQL can compare with its members. The test takes
# every ordered pair of types for which the parser accepts `member = probe` with only immutable
# functions, and probes filters with thousands of values. Equal values are found, and no others, except
# for floats that stand for several integers. All other pairs of types are an error. A value of another
# type can be added if SQL casts it implicitly; then the result of the cast is added.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('conversions');
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

my $seed = $ENV{BLOOMFILTER_TEST_SEED} || int rand 1_000_000;
diag("BLOOMFILTER_TEST_SEED=$seed");
srand $seed;

# Values of each type: the limits of the type, and random values near values of other types.
my %edges = (
    int2 => [qw(0 1 -1 32767 -32768 24)],
    int4 => [qw(0 1 -1 2147483647 -2147483648 86400 65)],
    int8 => [
        qw(0 1 -1 9007199254740991 9007199254740992 9007199254740993 -9007199254740992),
        qw(-9007199254740993 9223372036854775807 -9223372036854775808 4294967295 4294967296),
        qw(2147483648 -4294967295 9223372036854774784 16777216 16777217)
    ],
    float4 => [qw(0 -0 1 -1 0.1 0.5 NaN Infinity -Infinity 16777216 9.223372e18 3.4028235e38 1e-45)],
    float8 => [
        qw(0 -0 1 -1 0.1 0.5 NaN Infinity -Infinity 9007199254740991 9007199254740992),
        qw(-9007199254740991 -9007199254740992 9007199254740994 9223372036854775808),
        qw(-9223372036854775808 9223372036854774784 1.8446744073709552e19 1e300 5e-324 4294967295)
    ],
    numeric => [
        qw(0 0.0 -0 1 1.0 -1 1.5 0.1 NaN 9007199254740993 9223372036854775807 1e400 -1e400 1e-400),
        qw(-9223372036854775808 9223372036854775808 -9223372036854775809 9223372036854775807.5),
        qw(0.1000000000000000055511151231257827021181583404541015625 4294967295 100000000 10000)
    ],
    oid => [qw(0 1 24 65 32768 2147483647 2147483648 4294967295 4294967294)],
    '"char"' => [ '', 'a', 'A', ' ', '0', '\\200', '\\351', '\\377' ],
    text => [ '', 'a', 'A', ' ', 'a ', '0', 'ab', '\\200', '\\351', '\\377', '\\400', '\\000', '\\101', '\\08', 'été' ],
    varchar => [ '', 'a', ' ', 'a ', '0', 'ab', '\\351' ],
    'char(4)' => [ '', 'a', ' ', '0', 'ab', '\\351' ],
    name => [ '', 'a', 'A', ' ', 'ab', '\\200' ],
    date => [
        qw(2000-01-01 1999-12-31 1970-01-01 infinity -infinity 294276-12-31 294277-01-01),
        '4714-11-24 BC', '5874897-12-31', '2024-02-29'
    ],
    timestamp => [
        '2000-01-01', '1999-12-31', '1970-01-01 00:00:00.000001', '1970-01-01', 'infinity', '-infinity',
        '294276-12-31', '294276-12-31 23:59:59.999999', '4714-11-24 BC', '2024-02-29', '2024-02-29 12:00'
    ],
    time => [qw(00:00 24:00 12:34:56.789 23:59:59.999999 00:00:00.000001)],
    interval => [
        '0', '24:00', '1 day', '1 month', '12:34:56.789', '-1 s', '1 day -1 s', '1 month -29 days',
        '00:00:00.000001', '23:59:59.999999', '178000000 years'
    ],
    timestamptz => ['2000-01-01+00'],
    timetz => ['12:34:56.789+00'],
    bool => [qw(t f)],
    uuid => ['00000000-0000-0000-0000-000000000041'],
    bytea => [ 'a', '' ],
    inet => [qw(10.0.0.0/8 10.0.0.1)],
    cidr => [qw(10.0.0.0/8)],
    macaddr => ['08:00:2b:01:02:03'],
    macaddr8 => ['08:00:2b:ff:fe:01:02:03'],
    jsonb => [ '1', '"a"' ],
    'int4[]' => ['{1}'],
    'int8[]' => ['{1}'],
    'text[]' => ['{a}'],
    int4range => ['[1,2)'],
    int8range => ['[1,2)'],
    daterange => ['[2000-01-01,2000-01-02)']);
my $more = q{(random() * 2 - 1) * 10 ^ (random() * 18.96)}; # an int8 has less than 10 ^ 18.965
my %random = (
    int2 => 'round((random() * 2 - 1) * 300)',
    int4 => 'round((random() * 2 - 1) * 1000)',
    int8 => "trunc(($more)::numeric)",
    float4 => "CASE WHEN i % 2 = 0 THEN round(($more)::numeric) ELSE (round(random() * 1000) / 8)::numeric END",
    float8 => "CASE WHEN i % 2 = 0 THEN round(($more)::numeric) ELSE (round(random() * 1000) / 8)::numeric END",
    numeric => "CASE WHEN i % 2 = 0 THEN round(($more)::numeric) ELSE (round(random() * 1000) / 8)::numeric END",
    oid => '(CASE WHEN i % 2 = 0 THEN round(random() * 1000) ELSE round(random() * 4294967295) END)::bigint',
    date => q{date '2000-01-01' + (random() * 20)::int},
    timestamp => q{timestamp '2000-01-01' + interval '12 hours' * (random() * 40)::int},
    time => q{time '00:00' + interval '1 hour' * (random() * 24)::int},
    interval => q{interval '1 hour' * (random() * 30)::int});

query(slurp_file("$FindBin::RealBin/../../sql/include/outcome.sql"));
query(q{
    CREATE TABLE types (type text, number serial);
    CREATE TABLE pool (type text, value text, of_another boolean DEFAULT false);
    -- An error becomes false: values that SQL cannot compare are not equal.
    CREATE FUNCTION is_true(expression text) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      result boolean;
    BEGIN
      EXECUTE 'SELECT ' || expression INTO result;
      RETURN coalesce(result, false);
    EXCEPTION WHEN data_exception THEN
      RETURN false;
    END $$;
    CREATE FUNCTION is_immutable(a text, b text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('CREATE TABLE two (a %s, b %s)', a, b);
      CREATE INDEX ON two ((a = b));
      DROP TABLE two;
      RETURN true;
    EXCEPTION WHEN OTHERS THEN
      RETURN false;
    END $$;
    CREATE FUNCTION casts(a text, b text) RETURNS boolean LANGUAGE sql AS $$
      SELECT EXISTS (SELECT FROM pg_cast LEFT JOIN pg_proc ON pg_proc.oid = castfunc
        WHERE castsource = a::regtype AND casttarget = b::regtype AND castcontext = 'i'
          AND (castfunc = 0 OR provolatile = 'i')) $$;
});
my $filling = '';
for my $type (sort keys %edges) {
    my $values = join ', ', map { my $value = $_; $value =~ s/'/''/g; "('$value')" } @{ $edges{$type} };
    $filling .= "INSERT INTO types (type) VALUES (\$\$$type\$\$);"
      . " INSERT INTO pool (type, value) SELECT \$\$$type\$\$, v::$type\::text FROM (VALUES $values) x(v);\n";
    $filling .= "SELECT setseed(" . ($seed / 1_000_000) . "); INSERT INTO pool (type, value)"
      . " SELECT \$\$$type\$\$, ($random{$type})::$type\::text FROM generate_series(1, 60) i;\n"
      if $random{$type};
}
query($filling);
# Adds values of other types whose text is also valid for this type.
query(q{
    DO $$
    DECLARE
      p record;
      known text[];
    BEGIN
      FOR p IN SELECT DISTINCT t.type, o.value FROM types t, pool o WHERE o.type <> t.type LOOP
        BEGIN
          EXECUTE format('INSERT INTO pool VALUES (%L, (%L::%s)::text, true)', p.type, p.value, p.type);
        EXCEPTION WHEN data_exception THEN NULL;
        END;
      END LOOP;
    END $$;
    CREATE TABLE values AS
    SELECT type, value FROM (SELECT type, value, row_number() OVER (PARTITION BY type
        ORDER BY bool_and(of_another), random()) AS number
      FROM pool GROUP BY type, value) x WHERE number <= 200;
});
note(query(q{SELECT string_agg(type || ' ' || count, ', ' ORDER BY type)
  FROM (SELECT type, count(*) FROM values GROUP BY type) x}));

# The families of types, as bf_info() names them. Types of one family have the same hashes.
query(q{
    CREATE FUNCTION family(type text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      result text;
    BEGIN
      EXECUTE format('SELECT (bf_info(bf_create(1) + (SELECT value FROM values WHERE type = %L LIMIT 1)::%s)).element_type',
        type, type) INTO result;
      RETURN result;
    END $$;
    CREATE TABLE families AS SELECT type, family(type) FROM types;
    CREATE TABLE pairs AS
    SELECT a.type AS member, b.type AS probe, is_immutable(a.type, b.type) AS comparable,
      -- The type of the family to which SQL casts values of the other type, if there is one.
      (SELECT c.type FROM families c WHERE c.family = a.family AND casts(b.type, c.type)
        AND is_immutable(c.type, b.type) AND c.type <> 'float4') AS target
    FROM families a, families b WHERE a.family <> b.family});

# Returns a condition for the cases in which an unequal value may be found: a float that stands for
# several integers; an oid, which equals a negative integer but no negative bigint; and a varchar with
# trailing blanks, which is also added without them, as char(n).
sub several {
    my ($member, $probe) = @_;
    return "abs(probe::$probe\::float8) BETWEEN 2 ^ 53 AND 2 ^ 63"
      if $member =~ /^int\d/ && $probe =~ /^float/;
    return 'member::int8 < 0' if $member eq 'int8' && $probe eq 'oid';
    return "member LIKE '% '" if $member eq 'varchar';
    return 'false';
}

my %kinds = (bf => 'bf_create(1, 1e-9)', cbf => 'cbf_create(1, 1e-9)', cf => 'cf_create(1, 1e-9)');
my @kinds = sort keys %kinds;
my ($asked, $equal) = (0, 0);
for my $pair (split /\n/, query(q{SELECT member, probe FROM pairs WHERE comparable ORDER BY 1, 2})) {
    my ($member, $probe) = split /\|/, $pair;
    if ($member eq 'numeric' && $probe =~ /^float/) {
        is(sqlstate($node, "SELECT bf_create(1) + 1.5 \@> 0.5::$probe"), '42804',
            "$member filter, $probe: an error, because a float equals many numerics");
        next;
    }
    my $from = "FROM values m, values p WHERE m.type = \$\$$member\$\$ AND p.type = \$\$$probe\$\$";
    my $careful = "is_true(format('%L::$member = %L::$probe', m.value, p.value))";
    my $several = several($member, $probe);
    my $filters = join ', ', map { "$kinds{$_} + member::$member AS $_" } @kinds;
    my $script = qq{
        CREATE TEMPORARY TABLE compared (member text, probe text, equal boolean);
        DO \$do\$ BEGIN
          INSERT INTO compared SELECT m.value, p.value, m.value::$member = p.value::$probe $from;
        EXCEPTION WHEN OTHERS THEN
          INSERT INTO compared SELECT m.value, p.value, $careful $from;
        END \$do\$;
        CREATE TEMPORARY TABLE filters AS
          SELECT member, $filters FROM (SELECT DISTINCT member FROM compared) members;
        SELECT count(*), count(*) FILTER (WHERE equal) FROM compared;};
    $script .= qq{
        SELECT count(*) FILTER (WHERE equal AND NOT found),
          count(*) FILTER (WHERE found AND NOT equal AND NOT coalesce($several, false))
        FROM (SELECT *, $_ \@> probe::$probe AS found FROM compared JOIN filters USING (member)) x;} for @kinds;
    $script .= qq{
        SELECT count(*) FROM (
          SELECT member, array_agg(probe::$probe ORDER BY probe) AS probes,
            array_agg(bf \@> probe::$probe ORDER BY probe) AS found
          FROM compared JOIN filters USING (member) GROUP BY member) x
        WHERE bf_contains_each(bf_create(1, 1e-9) + member::$member, probes) <> found;};
    my ($counts, @of_kinds) = split /\n/, query($script);
    my $differ = pop @of_kinds;
    my ($count, $true) = split /\|/, $counts;
    for my $kind (@kinds) {
        my ($missed, $wrong) = split /\|/, shift @of_kinds;
        is($missed, 0, "$member filter, $probe, $kind: all of $true equal values are found");
        is($wrong, 0, "$member filter, $probe, $kind: none of the unequal values is found, of $count");
        $asked += $count;
        $equal += $true;
    }
    is($differ, 0, "$member filter, $probe: bf_contains_each has the answers of single probes");
}
note("$asked asked, $equal equal");
cmp_ok($equal, '>', 1000, 'more than 1000 of the compared pairs of values were equal');

# All other pairs are an error.
is(query(q{
    SELECT string_agg(member || ' ' || probe || ' ' || outcome, ', ') FROM (
      SELECT member, probe, outcome(format('SELECT bf_create(1) + %L::%s @> %L::%s',
          (SELECT min(value) FROM values WHERE type = member), member,
          (SELECT min(value) FROM values WHERE type = probe), probe)) AS outcome
      FROM pairs WHERE NOT comparable) x WHERE outcome <> '42804'}),
    '', 'a probe with a type that SQL does not compare, or not by immutable functions, is an error');
note(query(q{SELECT string_agg(member || ' = ' || probe, ', ') FROM pairs WHERE NOT comparable}));

# Values are added and removed if SQL has an implicit cast.
my @probes; # each is a query of one value, the expected value, and the name of the test
for my $pair (split /\n/, query(q{SELECT member, probe, target FROM pairs ORDER BY 1, 2})) {
    my ($member, $probe, $target) = split /\|/, $pair;
    my $one = "(SELECT min(value) FROM values WHERE type = \$\$$member\$\$)::$member";
    if (!$target) {
        my $added = "(SELECT min(value) FROM values WHERE type = \$\$$probe\$\$)::$probe";
        push @probes, [ "SELECT outcome(\$q\$SELECT bf_create(1) + $one + $added\$q\$)",
            '42804', "$member filter + $probe: an error, because there is no implicit cast" ];
        next;
    }
    push @probes, [ qq{
        SELECT count(*) FROM (
          SELECT value, outcome(format('SELECT %L::$probe\::$target', value)) AS casts,
            outcome(format('SELECT bf_create(9) + $one + %L::$probe', value)) AS added
          FROM values WHERE type = \$\$$probe\$\$) x WHERE (casts = 'ok') <> (added = 'ok')},
        0, "$member filter + $probe: a value can be added if SQL can cast it, and otherwise not" ];
    push @probes, [ qq{
        SELECT count(*) FILTER (WHERE NOT is_true(format(
            'bf_create(9) + $one + %1\$L::$probe = bf_create(9) + $one + %1\$L::$probe\::$target '
            'AND cbf_create(9) + $one + %1\$L::$probe - %1\$L::$probe = cbf_create(9) + $one', value)))
        FROM values WHERE type = \$\$$probe\$\$
          AND outcome(format('SELECT %L::$probe\::$target', value)) = 'ok'},
        0, "$member filter + $probe: the result of the cast is added and removed" ];
}
my @answers = split /\n/, query(join ";\n", map { $_->[0] } @probes);
is(shift @answers, $_->[1], $_->[2]) for @probes;

done_testing();
