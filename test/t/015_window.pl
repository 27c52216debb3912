# cbf_agg and cf_agg as window functions: for every frame, the filter has the bytes that the plain
# aggregate makes of the rows of the frame.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('window');

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# In each test, array_agg collects the values of a frame for the plain aggregate.
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

# Returns a query of two numbers: of the rows, and of the rows whose filter differs from the filter
# that the plain aggregate makes of their frame.
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
            '600|0', "$form of $value, $_: each filter is that of its frame" ] } sort keys %frames);
    }
}

# Larger frames are checked only at some of the rows n, because each check reads all rows of a frame.
# work_mem is large, because the server is slow to find rows in its temporary files.
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
        push @tests, [ at_some("cbf_agg($value, $parameters)", 999, 2000, 'n % 100 = 0'),
            '20|0', "cbf_agg($value, $parameters), frames of 1000 rows: each filter is that of its frame" ];
    }
}
is( query(q{
        SELECT count(*), count(*) FILTER (WHERE
          f = (SELECT cbf_agg(i) FROM generate_series(greatest(n - 33000, 1), n + 32999) i))
        FROM (SELECT i AS n, cbf_agg(i) OVER (ORDER BY i / 33000 GROUPS 1 PRECEDING) AS f
          FROM generate_series(1, 131999) i) frames
        WHERE n % 33000 = 0}),
    '3|3', 'frames with more distinct values than are counted exactly: each filter is that of its frame');

results_are($node, @tests);

# All rows of a frame must have the same parameters.
is( query(q{
        SELECT count(*) FILTER (WHERE f = cbf_create(i) + i), count(*)
        FROM (SELECT i, cbf_agg(i, i) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS f
          FROM generate_series(1, 100) i) frames}),
    '100|100', 'frames may have parameters that differ from those of other frames');
for my $form ('cbf_agg(i, 100 + i % 2)', 'cbf_agg(i, 100, 0.01 + i % 2 / 100.0)',
    'cbf_agg(i, CASE WHEN i % 2 = 0 THEN 100 END)') {
    is( sqlstate($node, "SELECT $form OVER (ORDER BY i ROWS 5 PRECEDING)"
              . ' FROM generate_series(1, 100) i'),
        '22023', "$form: parameters that differ within a frame are an error");
}
for my $form ('cbf_agg(i, 0)', 'cbf_agg(i, -1)', 'cbf_agg(i, 100, 2)', 'cbf_agg(i, 110000000)') {
    is(sqlstate($node, "SELECT $form OVER (ORDER BY i ROWS 5 PRECEDING) FROM generate_series(1, 9) i"),
        '22023', "$form: parameters out of range are an error");
}

# Memory does not grow with the number of rows: a frame leaves nothing in memory for the next one.
for my $form ('cbf_agg(i, 100)', q{cbf_agg('word ' || i)}) {
    my ($few, $many) = map {
        my ($peak, $count) = peak_memory($node, "SET work_mem = '1MB'; SELECT count(f) FROM"
              . " (SELECT $form OVER (ORDER BY i ROWS 9 PRECEDING) AS f"
              . " FROM (SELECT generate_series(1, $_) AS i) s OFFSET 0) frames");
        is($count, $_, "$form: each of $_ frames has a filter");
        $peak } 10000, 100000;
    cmp_ok($many - $few, '<', 2 * 1024 * 1024,
        "$form: ten times as many frames take hardly more memory, $few and $many bytes");
}

clean_log($node);
done_testing();
