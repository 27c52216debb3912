# cbf_agg in a window whose frame moves: each row enters once and leaves once, however large the
# frame is, and the bytes are those of the plain aggregate over the rows of the frame.
#
# Work is counted in calls, not in time. The server counts calls of C functions for
# pg_stat_user_functions only where it wraps them, and it wraps those that are SECURITY DEFINER.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('window');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

my $version = query('SHOW server_version_num');

# Work

query(q{
    SELECT format('ALTER FUNCTION %s SECURITY DEFINER', oid::regprocedure) FROM pg_proc
    WHERE proname ~ '^countingbloomfilter_agg_(trans|window|inverse|window_final)$' \gexec
    ALTER DATABASE postgres SET track_functions = 'all'});

# How often a query calls the transition function, the inverse and the final function of a moving
# frame, and the transition function of any other frame.
sub calls {
    my ($sql) = @_;
    my $counts = query(qq{
        SET work_mem = '64MB';
        SELECT pg_stat_reset() \\g /dev/null
        $sql \\g /dev/null
        SELECT pg_stat_force_next_flush() \\g /dev/null
        SELECT funcname, sum(calls) FROM pg_stat_user_functions WHERE funcname ~ '^countingbloomfilter_agg_'
        GROUP BY funcname});
    my %calls = map { split /\|/ } split /\n/, $counts;
    return map { $calls{"countingbloomfilter_agg_$_"} || 0 } qw(window inverse window_final trans);
}

my $preceding = 'ROWS BETWEEN 999 PRECEDING AND CURRENT ROW';
for my $form ('cbf_agg(i, 1000)', 'cbf_agg(i, 1000, 0.0001)', 'cbf_agg(i / 100)') {
    my $rows = $form eq 'cbf_agg(i / 100)' ? 100000 : 10000;
    is_deeply(
        [ calls("SELECT count(f) FROM (SELECT $form OVER (ORDER BY i $preceding) AS f"
                  . " FROM generate_series(1, $rows) i) w") ],
        [ $rows, $rows - 1000, $rows, 0 ],
        "$form: $rows rows of a sliding frame are $rows additions and as many removals");
}
is_deeply(
    [ calls('SELECT count(f) FROM (SELECT cbf_agg(i, 1000) OVER'
              . ' (ORDER BY i ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING) AS f'
              . ' FROM generate_series(1, 1000) i) w') ],
    [ 1000, 1000 - 6, 1000, 0 ], 'a frame around the row');
is_deeply(
    [ calls('SELECT count(f) FROM (SELECT cbf_agg(i, 1000) OVER (PARTITION BY i % 4 ORDER BY i'
              . ' ROWS 9 PRECEDING) AS f FROM generate_series(1, 4000) i) w') ],
    [ 4000, 4000 - 40, 4000, 0 ], 'each partition begins anew');
SKIP: {
    skip 'PostgreSQL 16 takes every frame for one that moves', 1 if int($version / 10000) == 16;
    my (@growing) = calls('SELECT count(f) FROM (SELECT cbf_agg(i, 1000) OVER (ORDER BY i) AS f'
          . ' FROM generate_series(1, 1000) i) w');
    is("@growing[0, 1, 3]", '0 0 1000', 'a frame that only grows is none of this');
}

# More copies of a value than 16 bits can count: no frame starts anew.
for my $form ('cbf_agg(1, 10)', 'cbf_agg(i % 2, 10, 0.0001)', 'cbf_agg(1)') {
    for my $frame (65533, 65534, 65535, 65600, 140000) {
        my $rows = $frame + 21;
        is_deeply(
            [ calls("SELECT count(f) FROM (SELECT $form OVER (ORDER BY i ROWS $frame PRECEDING) AS f"
                      . " FROM generate_series(1, $rows) i) w WHERE f IS NOT NULL") ],
            [ $rows, 20, $rows, 0 ], "$form, $frame rows of few values: no more work");
    }
}

query(q{
    ALTER DATABASE postgres RESET track_functions;
    SELECT format('ALTER FUNCTION %s SECURITY INVOKER', oid::regprocedure) FROM pg_proc
    WHERE proname ~ '^cbf_agg_' \gexec});

# Bytes. They are compared with the plain aggregate over the rows of the frame, which array_agg
# lists.

query(q{
    CREATE TABLE rows AS
      SELECT i, i % 7 AS few, i / 4 AS groups, CASE WHEN i % 50 < 25 THEN i % 5 END AS gaps,
        'value ' || i % 90 AS word, ('v' || i % 20 || repeat(' ', i % 3))::varchar AS blanks,
        ROW(i % 3, 'a')::text AS pair, i % 3 AS partition
      FROM generate_series(1, 600) i});
my %frames = (
    'ROWS 9 PRECEDING' => 'ORDER BY i',
    'ROWS BETWEEN 40 PRECEDING AND 20 PRECEDING' => 'ORDER BY i',
    'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING' => 'ORDER BY i',
    'ROWS BETWEEN 3 FOLLOWING AND 90 FOLLOWING' => 'ORDER BY i DESC',
    'ROWS BETWEEN CURRENT ROW AND CURRENT ROW' => 'ORDER BY i',
    'RANGE BETWEEN 12 PRECEDING AND 3 FOLLOWING' => 'ORDER BY groups',
    'GROUPS BETWEEN 2 PRECEDING AND 1 FOLLOWING' => 'ORDER BY groups',
    'ROWS 25 PRECEDING EXCLUDE CURRENT ROW' => 'ORDER BY i',
    'ROWS 30 PRECEDING' => 'PARTITION BY partition ORDER BY i',
    'ROWS UNBOUNDED PRECEDING' => 'PARTITION BY partition ORDER BY i');

# Asks for the number of rows, and of those for whose frame the bytes differ from the plain
# aggregate's.
sub differing {
    my ($form, $value, $window, $frame, $from) = @_;
    my ($windowed, $plain) = map { sprintf $form, $_ } $value, 'm';
    return qq{
        SELECT count(*), count(*) FILTER (WHERE
          f IS DISTINCT FROM (SELECT $plain FROM unnest(members) m))
        FROM (SELECT $windowed OVER w AS f, array_agg($value) OVER w AS members FROM $from
          WINDOW w AS ($window $frame)) frames};
}

for my $form ('cbf_agg(%s)', 'cbf_agg(%s, 50)', 'cbf_agg(%s, 1000, 0.0001)',
    'cbf_agg(%s, NULL, 0.0001)', 'cf_agg(%s)') {
    for my $value (qw(i gaps word blanks)) {
        next if $form =~ /^cf/ && $value eq 'blanks';
        results_are($node, map { [ differing($form, $value, $frames{$_}, $_, 'rows'),
            '600|0', "$form of $value, $_: the bytes of its rows" ] } sort keys %frames);
    }
}

# Larger frames are checked at some of the rows n, since each check takes as many rows as a frame
# has. They are in memory, because the server is slow to find rows in its own files.
sub at_some {
    my ($aggregate, $frame, $rows, $some) = @_;
    return qq{
        SET work_mem = '64MB';
        SELECT count(*), count(*) FILTER (WHERE
          f IS DISTINCT FROM (SELECT $aggregate FROM generate_series(greatest(1, n - $frame), n) i))
        FROM (SELECT i AS n, $aggregate OVER (ORDER BY i ROWS $frame PRECEDING) AS f
          FROM generate_series(1, $rows) i) frames
        WHERE $some};
}
my @tests;
for my $parameters ('1000', '1000, 0.0001', 'NULL', 'NULL, 0.0001') {
    for my $value ('i', 'i / 3', 'i % 20') {
        push @tests, [ at_some("cbf_agg($value, $parameters)", 999, 10000, 'n % 500 = 0'),
            '20|0', "cbf_agg($value, $parameters), frames of 1000 rows: the bytes of their rows" ];
    }
}
is( query(q{
        SELECT count(*), count(*) FILTER (WHERE
          f = (SELECT cbf_agg(i) FROM generate_series(greatest(n - 33000, 1), n + 32999) i))
        FROM (SELECT i AS n, cbf_agg(i) OVER (ORDER BY i / 33000 GROUPS 1 PRECEDING) AS f
          FROM generate_series(1, 131999) i) frames
        WHERE n % 33000 = 0}),
    '3|3', 'more distinct values than are counted exactly: the bytes of their rows');

# More than 65 535 equal values in the frame are replaced one by one by other values, until none is
# left; the same with two such values.
my $ones = 'CASE WHEN i <= 65540 THEN 1 ELSE 2 + i % 7 END';
for my $parameters ('100', '100, 0.0001', 'NULL') {
    push @tests, [ at_some("cbf_agg($ones, $parameters)", 65539, 65552, 'n >= 65533'),
        '20|0', "more than 65 535 equal values, $parameters: the bytes of their rows" ];
    push @tests, [ at_some("cbf_agg($ones, $parameters)", 65537, 131090, 'n >= 131071'),
        '20|0', "... until they have left, $parameters: the bytes of their rows" ];
    push @tests, [ at_some("cbf_agg(i % 2, $parameters)", 139999, 140010, 'n >= 140001'),
        '10|0', "two values more than 65 535 times each, $parameters: the bytes of their rows" ];
}
results_are($node, @tests);

# A row's parameters hold for the frames that the row is in.
is( query(q{
        SELECT count(*) FILTER (WHERE f = cbf_create(i) + i), count(*)
        FROM (SELECT i, cbf_agg(i, i) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS f
          FROM generate_series(1, 100) i) frames}),
    '100|100', 'other parameters in each frame');
for my $form ('cbf_agg(i, 100 + i % 2)', 'cbf_agg(i, 100, 0.01 + i % 2 / 100.0)',
    'cbf_agg(i, CASE WHEN i % 2 = 0 THEN 100 END)') {
    is( sqlstate($node, "SELECT $form OVER (ORDER BY i ROWS 5 PRECEDING)"
              . ' FROM generate_series(1, 100) i'),
        '22023', "$form: parameters differ in a frame");
}
for my $form ('cbf_agg(i, 0)', 'cbf_agg(i, -1)', 'cbf_agg(i, 100, 2)', 'cbf_agg(i, 110000000)') {
    is(sqlstate($node, "SELECT $form OVER (ORDER BY i ROWS 5 PRECEDING) FROM generate_series(1, 9) i"),
        '22023', "$form: bad parameters");
}

# The values that leave need not be those that entered: a function says falsely that it is
# immutable.
query(q{
    CREATE SEQUENCE next;
    CREATE FUNCTION lie(i int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
      $$ BEGIN RETURN nextval('next'); END $$;
    CREATE FUNCTION half_a_lie(i int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
      $$ BEGIN RETURN nullif(nextval('next') % 3, 0); END $$});
for my $form ('cbf_agg(%s)', 'cbf_agg(%s, 100)', 'cbf_agg(%s, 3, 0.0001)') {
    for my $lie (qw(lie half_a_lie)) {
        my $lying = sprintf $form, "$lie(i)";
        is( query(qq{
                SELECT count(f), count(cbf_check(f)) FROM
                  (SELECT $lying OVER (ORDER BY i ROWS 9 PRECEDING) AS f
                  FROM generate_series(1, 500) i) frames}),
            '500|0', "$lying: sound filters");
    }
}

# Memory does not grow with the number of rows: rows that left leave nothing behind.
for my $form ('cbf_agg(i, 100)', 'cbf_agg(i, 100, 0.0001)', 'cbf_agg(i)',
    q{cbf_agg('word ' || i)}) {
    my ($few, $many) = map {
        my ($peak, $count) = peak_memory($node, "SET work_mem = '1MB'; SELECT count(f) FROM"
              . " (SELECT $form OVER (ORDER BY i ROWS 99 PRECEDING) AS f"
              . " FROM (SELECT generate_series(1, $_) AS i) s OFFSET 0) frames");
        is($count, $_, "$form: $_ frames");
        $peak } 10000, 100000;
    cmp_ok($many - $few, '<', 2 * 1024 * 1024,
        "... ten times as many take $few and $many bytes");
}

clean_log($node);
done_testing();
