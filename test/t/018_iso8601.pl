# Literals without a type as dates and times. If a literal follows the grammar of ISO 8601, it gives
# the same as SQL's cast, a value or an error, whatever the settings are. All others are refused.
#
# Literals are generated at the limits of the valid ranges, and some of them are damaged. A regular
# expression decides which literals follow the grammar.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $literals = 2000;
my $seed = 8601;
my @settings = (
    q{SET DateStyle = 'ISO, MDY'; SET TimeZone = 'UTC'},
    q{SET DateStyle = 'German, DMY'; SET TimeZone = 'Europe/Berlin'; SET timezone_abbreviations = 'India'},
    q{SET DateStyle = 'SQL, YMD'; SET TimeZone = 'America/St_Johns'; SET timezone_abbreviations = 'Australia'},
    q{SET DateStyle = 'Postgres, DMY'; SET TimeZone = 'XYZ-14:59'; SET IntervalStyle = 'iso_8601'});

my $offset = qr/[ ]?(?<offset>Z|[+-]\d\d(?::?\d\d(?::\d\d)?)?)?/a;
my $time = qr/\d\d:\d\d(?::\d\d(?:\.\d+)?)?/a;
my $dated = qr/\A\d{4,}-\d\d-\d\d(?:[T ]$time)?$offset\z/a;
my $timed = qr/\A$time$offset\z/a;

sub one_of { return $_[ rand @_ ] }

# A number of two digits; near() rarely returns one that is out of range.
sub pair { my ($least, $most) = @_; return sprintf '%02d', $least + rand($most - $least + 1) }
sub near { my ($least, $most) = @_; return one_of((pair($least, $most)) x 30, pair($most, $most + 2), '00') }

sub some_time {
    my $text = near(0, 23) . ':' . near(0, 59);
    return $text if rand() < 0.3;
    $text .= ':' . near(0, 59);
    return $text if rand() < 0.3;
    return $text . '.' . one_of('9' x (1 + rand 9), join('', map { int rand 10 } 1 .. 1 + rand 9),
        sprintf('%06d5', rand 1e6));
}

sub some_offset {
    return one_of('', ' ') if rand() < 0.2;
    return one_of('', ' ') . one_of('Z', one_of('+', '-') . near(0, 15)
          . one_of('', near(0, 59), ':' . near(0, 59), ':' . near(0, 59) . ':' . near(0, 59)));
}

sub some_date {
    my $year = one_of((sprintf '%04d', 1900 + rand 200) x 10, sprintf('%06d', rand 300_000),
        qw(0000 0001 0099 1999 2000 00002024 4714 9999 10000 294276 294277 5874897 5874898 99999999999));
    return "$year-" . near(1, 12) . '-' . near(1, 28 + rand 4);
}

sub some_literal {
    my $timed = rand();
    return some_time() . some_offset() if $timed < 0.25;
    return some_date() . one_of('T', ' ') . some_time() . some_offset() if $timed < 0.8;
    return some_date() . some_offset();
}

# Returns the literal with a character inserted, removed or replaced.
sub damaged {
    my ($literal) = @_;
    my $new = one_of('', split //, '0123456789:.-+TZtz /,');
    substr $literal, rand 1 + length $literal, int rand 2, $new;
    return $literal;
}

srand $seed;
my %literals = map { $_ => 1 } map { my $literal = some_literal(); ($literal, damaged($literal)) }
  1 .. $literals / 2;
my @rows;
for my $literal (sort keys %literals) {
    my @kinds = $literal =~ $timed ? 'time' : $literal =~ $dated ? qw(date timestamp) : ();
    push @kinds, 'timestamptz' if @kinds == 2 && defined $+{offset};
    push @rows, sprintf q{('%s', '{%s}'::kind[])}, $literal, join ',', @kinds;
}

my $node = new_server('iso8601');
$node->safe_psql('postgres', q{
    CREATE TYPE kind AS ENUM ('date', 'time', 'timestamp', 'timestamptz');
    CREATE TABLE literals (literal text, kind kind, reads boolean, outcome text);
    CREATE TABLE filters AS
      SELECT bf_create(10) + current_date AS date, bf_create(10) + localtime AS time,
        bf_create(10) + localtimestamp AS timestamp, bf_create(10) + now() AS timestamptz;
    DO $body$
    DECLARE
      kind kind;
    BEGIN
      FOREACH kind IN ARRAY enum_range(NULL::kind) LOOP
        EXECUTE format($sql$
          CREATE FUNCTION cast_to_%1$s(filter bloomfilter, literal text) RETURNS text
          LANGUAGE plpgsql AS $$
          BEGIN
            RETURN bf_add(bf_clear(filter), literal::%1$s);
          EXCEPTION WHEN OTHERS THEN
            RETURN SQLSTATE;
          END $$ $sql$, kind);
      END LOOP;
    END $body$;
    CREATE FUNCTION bare(filter bloomfilter, literal text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      filter := bf_add(bf_clear(filter), literal::bf_literal);
      RETURN CASE WHEN bf_contains(filter, literal::bf_literal) THEN filter::text ELSE 'lost' END;
    EXCEPTION WHEN OTHERS THEN
      RETURN SQLSTATE;
    END $$;
    INSERT INTO literals SELECT literal, kind, kind = ANY (kinds)
    FROM (VALUES } . join(', ', @rows) . q{) v(literal, kinds), unnest(enum_range(NULL::kind)) kind;
    UPDATE literals SET outcome = CASE WHEN NOT reads THEN '42804' ELSE CASE kind
        WHEN 'date' THEN cast_to_date(date, literal)
        WHEN 'time' THEN cast_to_time(time, literal)
        WHEN 'timestamp' THEN cast_to_timestamp(timestamp, literal)
        WHEN 'timestamptz' THEN cast_to_timestamptz(timestamptz, literal) END END
      FROM filters});

# The comparison below needs literals of each kind of outcome.
my ($values, $errors, $refused) = map { $node->safe_psql('postgres', "SELECT count(*) FROM literals WHERE $_") }
  'reads AND length(outcome) > 5', 'reads AND length(outcome) = 5', 'NOT reads';
cmp_ok($values, '>', $literals / 2, "SQL's cast gives a value for many literals: $values");
cmp_ok($errors, '>', $literals / 5, "SQL's cast raises an error for many literals: $errors");
cmp_ok($refused, '>', $literals, "many literals do not follow the grammar: $refused");

for my $setting (@settings) {
    is($node->safe_psql('postgres', "$setting;" . q{
        SELECT kind, literal, outcome, bare FROM literals, filters, bare(CASE kind
          WHEN 'date' THEN date WHEN 'time' THEN time
          WHEN 'timestamp' THEN timestamp WHEN 'timestamptz' THEN timestamptz END, literal) bare
        WHERE bare <> outcome ORDER BY 1, 2 LIMIT 10}), '',
            "$setting: every literal gives what SQL's cast gives");
}

clean_log($node);
done_testing();
