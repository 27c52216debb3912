# Guava and PostgreSQL exchange filters. Both write the same bytes and give the same answers to
# 100 000 probes. The program for Guava is test/java/GuavaFilters.java.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Cmd 'can_run';
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $guava = '/usr/share/java/guava.jar';
my @missing = ((grep { !can_run($_) } 'javac', 'java'), grep { !-e } $guava);
plan skip_all => 'no Java or Guava: ' . join(', ', @missing) . ' not found' if @missing;

my $node = new_server('guava');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $members = 10_000;
my $probes = 100_000;    # for members and strangers
srand 5;

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Runs are short: threads that compile and collect garbage would take longer than the program itself.
my @short = ('-XX:-UsePerfData', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC');

sub java {
    my (@arguments) = @_;
    run_log([ 'java', @short, '-cp', "$guava:$dir", 'GuavaFilters', @arguments ])
      or die "GuavaFilters @arguments";
    return;
}

run_log([ 'javac', (map { "-J$_" } @short), '-nowarn', '-cp', $guava, '-d', $dir,
    "$FindBin::RealBin/../java/GuavaFilters.java" ]) or die 'javac';

sub write_file {
    my ($name, @bytes) = @_;
    open my $file, '>:raw', "$dir/$name" or die "$dir/$name: $!";
    print $file @bytes;
    close $file or die "$dir/$name: $!";
    return "$dir/$name";
}

sub write_lines { my ($name, @lines) = @_; return write_file($name, map { "$_\n" } @lines) }

# Integers of every magnitude, and strings of all ranges of Unicode
sub random_integer {
    my ($bits) = @_;
    my $value = unpack 'q', pack 'LL', map { int rand 2**32 } 1, 2;
    use integer;
    return $value >> 64 - $bits + int rand $bits;
}

my @scripts = (
    [ 0x01, 0x09 ],
    [ 0x0b, 0x7f ],
    [ 0x80, 0x7ff ],
    [ 0x800, 0xd7ff ],
    [ 0xe000, 0xffff ],
    [ 0x10000, 0x10ffff ]);

sub random_string {
    my $string = join '', map {
        my ($first, $last) = @{ $scripts[ rand @scripts ] };
        chr($first + int rand($last - $first + 1))
    } 1 .. 1 + rand 24;
    return utf8_of($string);
}

sub utf8_of { my ($string) = @_; utf8::encode($string); return $string }

sub random_bytes { return unpack 'H*', pack 'C*', map { int rand 256 } 1 .. 1 + rand 40 }

# For each type: how SQL reads a line, how to make a random line, and the lines that are always used.
my %types = (
    bigint => [
        'line::bigint', sub { random_integer(64) },
        qw(0 1 -1 -128 255 32767 -32768 2147483647 2147483648 -2147483648 -2147483649 4294967295
          4294967296 9223372036854775807 -9223372036854775808)
    ],
    int => [
        'line::int', sub { random_integer(32) },
        qw(0 1 -1 -128 255 32767 -32768 2147483647 -2147483648)
    ],
    text => [
        'line', \&random_string,
        '', ' ', "\t", "a\r", '\.', 'NULL', 'x' x 5000,
        map { utf8_of($_) } "Z\x{fc}rich", "e\x{301}", "\x{d7ff}\x{e000}", "\x{ffff}", "\x{10000}",
        "\x{10ffff}", "\x{1f600}" x 1000
    ],
    bytea => [
        q{decode(line, 'hex')}, \&random_bytes,
        '', '00', '0000', 'ff', '80' x 16, '0a' x 5000
    ]);

for my $type (sort keys %types) {
    my ($of_line, $random, @values) = @{ $types{$type} };
    my %seen = map { $_ => 1 } @values;
    while (@values < $probes) {
        my $value = $random->();
        push @values, $value if !$seen{$value}++;
    }
    write_lines("$type.members", @values[ 0 .. $members - 1 ]);
    write_lines("$type.half", @values[ 0 .. $members / 2 - 1 ]);
    my $file = write_lines("$type.probes", @values);
    query(qq{
        CREATE TABLE of_$type AS SELECT n, $of_line AS value
        FROM unnest(string_to_array(pg_read_file('$file'), E'\\n')) WITH ORDINALITY lines(line, n)
        WHERE n <= $probes});
}

# answers() returns SQL's answers to all probes, and differences() the number of answers that differ.
sub answers {
    my ($type, $filter) = @_;
    return query(qq{
        SELECT string_agg(((SELECT $filter) @> value)::int::text, '' ORDER BY n) FROM of_$type});
}

sub differences { my ($ours, $theirs) = @_; return ($ours ^ $theirs) =~ tr/\0//c }

query('CREATE TABLE filters (name text, f bloomfilter)');
for (
    [ 'long', 'guava', 'bigint', 0.01 ],
    [ 'integer', 'guava_integer', 'int', 0.03 ],
    [ 'string_utf8', 'guava', 'text', 0.001 ],
    [ 'unencoded_chars', 'guava_chars', 'text', 0.2 ],
    [ 'bytes', 'guava', 'bytea', 0.01 ]) {
    for my $strategy (qw(mitz64 mitz32)) {
        my ($funnel, $layout, $type, $rate) = @$_;
        $layout .= '_mitz32' if $strategy eq 'mitz32';
        my $name = "$funnel, $strategy";
        my ($java, $begun, $sql) = map { "$dir/$funnel.$strategy.$_" } qw(java begun sql);
        my $read = sub { return "bf_from_guava(pg_read_binary_file('$_[0]'), '$funnel')" };
        my $from = "FROM of_$type WHERE n <= $members";

        # Both write the same file.
        java('build', $funnel, $strategy, $members, $rate, "$dir/$type.members", $java);
        java('build', $funnel, $strategy, $members, $rate, "$dir/$type.half", $begun);
        query("INSERT INTO filters"
              . " SELECT '$name', bf_agg(value, $members, $rate, '$layout') $from");
        my $stored = "f FROM filters WHERE name = '$name'";
        my $empty = "bf_create($members, $rate, layout => '$layout')";
        for (
            [ 'bf_agg makes the same file as Java', "SELECT $stored" ],
            [ 'bf_add_all makes the same file as Java',
                "SELECT bf_add_all($empty, array_agg(value)) f $from" ],
            [ 'adding the other half of the values to a file of Java makes the same file',
                'SELECT bf_add_all(' . $read->($begun) . ", array_agg(value)) f $from" ]) {
            my ($what, $made) = @$_;
            is( query("SELECT bf_to_guava(f) = pg_read_binary_file('$java') FROM ($made) made"),
                't', "$name: $what");
        }

        # Java reads PostgreSQL's file, and PostgreSQL reads Java's.
        write_file("$funnel.$strategy.sql",
            pack 'H*', query("SELECT encode(bf_to_guava(f), 'hex') FROM (SELECT $stored) made"));
        java('answer', $funnel, $sql, "$dir/$type.probes", "$sql.answers");
        my $theirs = slurp_file("$sql.answers") =~ tr/\n//dr;
        is(length $theirs, $probes, "$name: Java answers all probes");
        is(differences(answers($type, $stored), $theirs),
            0, "$name: Java reads SQL's filter and answers like SQL");
        is(differences(answers($type, $read->($java)), $theirs),
            0, "$name: SQL reads Java's filter and answers like Java");

        # Java's answers are those of a Bloom filter.
        is(substr($theirs, 0, $members) =~ tr/1//, $members, "$name: all members are contained");
        my $found = substr($theirs, $members) =~ tr/1// / ($probes - $members);
        cmp_ok($found, '>', $rate / 2, "$name: the false positive rate $found is at least half of $rate");
        cmp_ok($found, '<', $rate * 2, "$name: the false positive rate $found is at most twice $rate");
    }
}

# Sizes for many numbers of values and rates. Later versions of Guava compute the number of hash
# functions from the rate alone. Pairs for which they would get another number are left out.
my @sizes = map { [ $_, 0.03 ] } 1 .. 100;
while (@sizes < 400) {
    my ($expected, $rate) = (int exp rand log 1e6, sprintf '%.3g', exp rand log 1e-9);
    push @sizes, [ $expected, $rate ] if $rate <= 0.5;
}
@sizes = grep {
    my ($expected, $rate) = @$_;
    my $bits = int(-$expected * log($rate) / log(2)**2);
    int($bits / $expected * log(2) + 0.5) == int(-log($rate) / log(2) + 0.5)
} @sizes;
cmp_ok(@sizes, '>', 300, 'more than 300 pairs of a number and a rate are left');
java('sizes', write_lines('sizes', map { "@$_" } @sizes), "$dir/sizes.answers");
my $rows = join ', ', map { "($_, $sizes[$_][0], $sizes[$_][1]::float8)" } 0 .. $#sizes;
is( query("SELECT hashes || ' ' || bits / 64 FROM (VALUES $rows) s(n, asked, rate),"
          . " bf_info(bf_create(asked, rate, layout => 'guava')) ORDER BY n"),
    slurp_file("$dir/sizes.answers") =~ s/\n\z//r,
    'for each pair, SQL and Guava choose the same size and number of hash functions');

clean_log($node);
done_testing();
