# The golden files of other systems (test/golden). Each file is rebuilt bit for bit from its values.
# It gives the same answers as in the other system, including false positives. It is written as it was
# read. Reading a hostile file is an error.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use JSON::PP;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('interop');
my $golden = "$FindBin::RealBin/../golden";

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Tests that will run in one session: [query, result, name of the test].
my @tests;

sub bytes {
    my ($name) = @_;
    open my $file, '<:raw', "$golden/$name" or die "$name: $!";
    local $/;
    return scalar <$file>;
}
sub hex_literal { my ($bytes) = @_; return q{'\x} . unpack('H*', $bytes) . q{'::bytea} }

sub manifest {
    my ($name) = @_;
    return map { decode_json($_) } split /\n/, bytes($name);
}

# Guava. For each file: the funnel, its layout, the values in the filter, other values to probe for,
# the capacity and the rate.
my $edges = q{unnest('{0, -1, 1, -9223372036854775808, 9223372036854775807, 2147483648, -2147483648,
  4294967296}'::bigint[]) v};
my $integers = 'generate_series(0, 999) v';
my $texts = q{generate_series(0, 999) i, concat('user-', i) v};
my $strangers = 'generate_series(1000, 100999) v';
my $other_texts = q{generate_series(1000, 100999) i, concat('user-', i) v};
my %guava = (
    'long_0_999_fpp0.01_mitz64' => [ 'long', 'guava', $integers, $strangers, 1000, 0.01 ],
    'long_0_999_fpp0.01_mitz32' => [ 'long', 'guava_mitz32', $integers, $strangers, 1000, 0.01 ],
    'int_0_999_fpp0.01_mitz64' => [ 'integer', 'guava_integer', $integers, $strangers, 1000, 0.01 ],
    'utf8_user_0_999_fpp0.01_mitz64' => [ 'string_utf8', 'guava', $texts, $other_texts, 1000, 0.01 ],
    'utf8_user_0_999_fpp0.01_mitz32' =>
      [ 'string_utf8', 'guava_mitz32', $texts, $other_texts, 1000, 0.01 ],
    'unencoded_user_0_999_fpp0.01_mitz64' =>
      [ 'unencoded_chars', 'guava_chars', $texts, $other_texts, 1000, 0.01 ],
    'long_default_fpp0.03_empty' =>
      [ 'long', 'guava', 'generate_series(0, -1) v', 'generate_series(0, 999) v', 1000, 0.03 ],
    'long_n1_fpp0.5' =>
      [ 'long', 'guava', 'generate_series(42, 42) v', 'generate_series(1000, 1999) v', 1, 0.5 ],
    'long_edge_fpp0.001' => [ 'long', 'guava', $edges, $strangers, 100, 0.001 ],
    'bytes_be_ints_0_99_default' => [
        'bytes', 'guava',
        'generate_series(0, 99) i, int4send(i) v',
        'generate_series(100, 20099) i, int4send(i) v', 100, 0.03
    ]);

for my $entry (manifest('guava/manifest.jsonl')) {
    (my $name = $entry->{file}) =~ s/\.guava$//;
    my ($funnel, $layout, $values, $probes, $expected, $rate) = @{ delete $guava{$name} };
    my $bytes = bytes("guava/$entry->{file}");
    my $read = 'bf_from_guava(' . hex_literal($bytes) . ", '$funnel')";

    push @tests, [ "SELECT encode(bf_to_guava(bf_add_all(bf_create($expected, $rate, layout => '$layout'),"
              . " array_agg(v))), 'hex') FROM $values",
        unpack('H*', $bytes), "$name: from its values, the same file is rebuilt" ] if $values !~ /-1\) v$/;
    push @tests, [ "SELECT encode(bf_to_guava(bf_create($expected, $rate, layout => '$layout')), 'hex')",
        unpack('H*', $bytes), "$name: without values, the same file is rebuilt" ] if $values =~ /-1\) v$/;
    push @tests, [ "SELECT encode(bf_to_guava($read), 'hex')", unpack('H*', $bytes),
        "$name: written as it was read" ];
    push @tests, [ "SELECT bits_set, hashes, layout, bf_check($read) FROM bf_info($read)",
        "$entry->{bits_set}|$entry->{k}|$layout|", "$name: bf_info() gives what Guava gives" ];
    push @tests, [ "SELECT count(*) FROM (SELECT $read AS f) x, $values WHERE NOT f @> v", 0,
        "$name: all members are found" ];
    my $found = $probes =~ /^generate_series\(\d+, \d+\) i/ ? ($probes =~ /send/ ? 'i' : 'v') : 'v';
    push @tests, [ "SELECT coalesce(string_agg($found\::text, ' '), '') FROM (SELECT $read AS f OFFSET 0) x,"
              . " $probes WHERE f @> v",
        join(' ', @{ $entry->{false_positives} }), "$name: the same false positives as in Guava" ];
}
results_are($node, splice @tests);
is_deeply(\%guava, {}, 'every file of Guava that this test describes exists');

# The results that Guava's own tests publish: filters of a million even numbers as text at 3 %.
for (
    [ 'guava_chars_mitz32', 29824, 'ed0bdb71b4c0a349c4d5e2aa6f8d69566a7da15201a92fc627c339d7ccc6bf76' ],
    [ 'guava_chars', 30104, 'a5f4d036ec3b8996cb912a001791001fc998ec0afac26b956ddc5b8fed7e3ab2' ],
    [ 'guava', 29763, 'eafec71084722081047321a8caa309416f70ae7d279b8c98987e92ed86d15483' ]) {
    my ($layout, $count, $digest) = @$_;
    is( query("CREATE TEMP TABLE even AS SELECT bf_agg((2 * i)::text, 1000000, 0.03, '$layout') AS f"
              . ' FROM generate_series(0, 999999) i; SELECT encode(sha256(bf_to_guava(f)), \'hex\'),'
              . ' (SELECT count(*) FROM generate_series(1, 1999999, 2) i WHERE f @> i::text) FROM even'),
        "$digest|$count", "$layout: the digest and the number of false positives of Guava's own test");
}

# Spark: both versions, with seeds. The README beside the files describes the items in the files and
# the strangers, which are other values to probe for.
my %spark = (
    'long'   => [ 'long', 'i' ],
    'neg'    => [ 'long', 'i::bigint * -1000003' ],
    'big'    => [ 'long', 'spark_big(i)' ],
    'string' => [ 'string', q{concat('user-', i)} ],
    'binary' => [
        'binary',
        q{(SELECT coalesce(string_agg(decode(lpad(to_hex((7 * i + 13 * j + (i >> 5)) & 255), 2, '0'), 'hex'), ''}
          . q{ ORDER BY j), '') FROM generate_series(0, i % 41 - 1) j)}
    ]);
query(<<'SQL');
-- i * 0x9E3779B97F4A7C15 as a signed number of 64 bits.
CREATE FUNCTION spark_big(i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (CASE WHEN m >= 9223372036854775808 THEN m - 18446744073709551616 ELSE m END)::bigint
  FROM mod(i * 11400714819323198485, 18446744073709551616) m $$;
SQL
for my $entry (manifest('spark/manifest.jsonl')) {
    (my $name = $entry->{file}) =~ s/\.spark$//;
    my ($type, $value) = @{ $spark{ $entry->{values} } };
    my $layout = $entry->{version} == 1 ? 'spark' : 'spark_v2';
    my $bytes = bytes("spark/$entry->{file}");
    my $head = $entry->{version} == 1 ? 12 : 16;
    my $empty = substr($bytes, 0, $head) . "\0" x (length($bytes) - $head);
    my ($read, $made) = map { 'bf_from_spark(' . hex_literal($_) . ", '$type')" } $bytes, $empty;
    my $members = "generate_series(0, $entry->{n} - 1) i";
    push @tests, [ "SELECT bits_set, hashes, layout, seed, bf_check($read) FROM bf_info($read)",
        "$entry->{bits_set}|$entry->{k}|$layout|$entry->{seed}|", "$name: bf_info() gives what Spark gives" ];
    push @tests, [ "SELECT encode(bf_to_spark($read), 'hex')", unpack('H*', $bytes),
        "$name: written as it was read" ];
    push @tests, [ "SELECT encode(bf_to_spark(bf_add_all($made, (SELECT coalesce(array_agg($value), '{}') FROM $members))), 'hex')",
        unpack('H*', $bytes), "$name: from its values, the same file is rebuilt" ];
    push @tests, [ "SELECT count(*) FROM (SELECT $read AS f OFFSET 0) x, $members WHERE NOT f @> $value",
        0, "$name: all members are found" ];
    my $strangers = "generate_series($entry->{from}, $entry->{from} + $entry->{count} - 1) i";
    my $found = $entry->{values} eq 'binary' ? 'count(*)::text' : q{string_agg(i::text, ' ' ORDER BY i)};
    push @tests, [ "SELECT $found FROM (SELECT $read AS f OFFSET 0) x, $strangers WHERE f @> $value",
        join(' ', @{ $entry->{false_positives} }), "$name: the same false positives as in Spark" ];
    my ($rate) = grep { int(-$entry->{expected} * log($_) / log(2)**2) == $entry->{asked_bits} } 0.01, 0.03;
    next unless defined $rate;
    push @tests, [ "SELECT encode(bf_to_spark(bf_create($entry->{expected}, $rate, '$layout', $entry->{seed})), 'hex')",
        unpack('H*', $empty), "$name: bf_create() makes the same empty file" ];
    next if $entry->{seed} != 0 || $entry->{n} == 0;
    push @tests, [ "SELECT encode(bf_to_spark(bf_agg($value, $entry->{expected}, $rate, '$layout')), 'hex') FROM $members",
        unpack('H*', $bytes), "$name: bf_agg() makes the same file" ];
}
results_are($node, splice @tests);

# DataSketches: the README beside the files describes items and strangers. A value is an expression
# over i, or an item of a list.
my %items = (
    'int64' => 'i::bigint * 1000003 - 500',
    'double' => '0.25::float8 * i - 10',
    'string' => q{concat('user-', i)},
    'bytes' =>
      q{(SELECT string_agg(set_byte('\x00', 0, (7 * i + 13 * j + (i >> 5)) & 255), '' ORDER BY j)}
      . q{ FROM generate_series(0, i % 40) j)},
    'edges' => q<('{0,1,-1,127,-128,32767,-32768,2147483647,-2147483648,2147483648,4294967296,>
      . q<9223372036854775807,-9223372036854775808}'::bigint[])[i + 1]>,
    'double_edges' => q<('{0,nan,inf,-inf,4.9406564584124654e-324,-4.9406564584124654e-324,>
      . q<1.7976931348623157e308,-1.7976931348623157e308,0.1,0.3333333333333333}'::float8[])[i + 1]>,
    'minus_zero' => q{'-0'::float8},
    'unicode' => q{(ARRAY['','a','ab','abc','abcd','abcde','abcdefg','abcdefgh','naïve','日本語','😀',}
      . q{'Zażółć','ÿþ',repeat('x', 1000)])[i + 1]});
my %types = (
    (map { ($_ => 'long') } qw(int64 edges)),
    (map { ($_ => 'double') } qw(double double_edges minus_zero)),
    (map { ($_ => 'string') } qw(string unicode)), 'bytes' => 'bytes');

# Returns the tests of a file whose items the manifest lists: it is read, written, cleared, rebuilt and
# probed. `describes` names further columns of bf_info(), and `described` has their expected values.
sub listed_tests {
    my ($system, $entry, $name, $describes, $described) = @_;
    my $bytes = bytes("$system/$entry->{file}");
    my ($value, $others) = @items{ @{$entry}{qw(values strangers)} };
    my $read = "bf_from_$system(" . hex_literal($bytes) . ", '$types{ $entry->{values} }')";
    my $members = "generate_series(0, $entry->{n} - 1) i";
    my $strangers = "generate_series($entry->{from}, $entry->{from} + $entry->{count} - 1) i";
    my $all = "coalesce((SELECT array_agg(v) FROM (SELECT $value AS v FROM $members) s), '{}')";
    return (
        [ "SELECT bits_set, hashes, bits, layout, bf_check($read), $describes FROM bf_info($read)",
            "$entry->{bits_set}|$entry->{k}|$entry->{bits}|$system||$described",
            "$name: bf_info() gives what $system gives" ],
        [ "SELECT encode(bf_to_$system($read), 'hex')", unpack('H*', $bytes),
            "$name: written as it was read" ],
        [ "SELECT encode(bf_to_$system(bf_add_all(bf_clear($read), $all)), 'hex')",
            unpack('H*', $bytes), "$name: from its values, the same file is rebuilt" ],
        [ "SELECT count(*) FROM (SELECT $read AS f OFFSET 0) x, $members WHERE NOT f @> $value",
            0, "$name: all members are found" ],
        [ "SELECT coalesce(string_agg(i::text, ' ' ORDER BY i), '') FROM (SELECT $read AS f OFFSET 0) x,"
              . " $strangers WHERE f @> $others",
            join(' ', @{ $entry->{false_positives} }), "$name: the same false positives as in $system" ]);
}

for my $entry (manifest('datasketches/manifest.jsonl')) {
    (my $name = $entry->{file}) =~ s/\.ds$//;
    my $layout = q{layout => 'datasketches'};
    my @listed = listed_tests('datasketches', $entry, $name, 'seed', $entry->{seed});
    # Java adds -0 as a value that differs from 0. SQL has one zero, which is added as in C++.
    @listed = grep { $_->[2] !~ /rebuilt$/ } @listed if $name =~ /^java_minus_zero/;
    push @tests, @listed;
    if (my ($expected, $rate) = $name =~ /_acc(\d+)_([\d.]+)_/) {
        push @tests, [ "SELECT hashes, bits FROM bf_info(bf_create($expected, $rate, $layout))",
            "$entry->{k}|$entry->{bits}", "$name: bf_create() chooses the same size" ];
        my $bytes = bytes("datasketches/$entry->{file}");
        my $members = "generate_series(0, $entry->{n} - 1) i";
        push @tests, [ "SELECT encode(bf_to_datasketches(bf_agg($items{ $entry->{values} }, $expected, $rate,"
              . " 'datasketches')), 'hex') FROM $members", unpack('H*', $bytes),
              "$name: bf_agg() makes the same file" ]
          if $entry->{seed} == 0 && $entry->{counted};
    }
}
results_are($node, splice @tests);

# Hive: the manifest lists items as for DataSketches. Hive sizes its filters for 5 %.
for my $entry (manifest('hive/manifest.jsonl')) {
    (my $name = $entry->{file}) =~ s/\.hive$//;
    push @tests, listed_tests('hive', $entry, $name, 'seed', 0);
    next if $entry->{expected} == 0;
    my $bytes = bytes("hive/$entry->{file}");
    my $members = "generate_series(0, $entry->{n} - 1) i";
    push @tests, [ "SELECT encode(bf_to_hive(bf_agg($items{ $entry->{values} }, $entry->{expected}, 0.05,"
          . " 'hive')), 'hex') FROM $members", unpack('H*', $bytes), "$name: bf_agg() makes the same file" ];
}
results_are($node, splice @tests);

# Parquet. For each file: the physical type, the values in the filter, and values that the filter
# denies. The values are added to an empty filter of the same size.
my @sentence = map { "'$_'" } 'Hello', 'This is', 'a', 'test', 'How', 'are you', 'doing ', 'today',
  'the quick', 'brown fox', 'jumps', 'over', 'the lazy', 'dog';
my $sentence = 'ARRAY[' . join(', ', @sentence) . ']';
my %parquet = (
    'bloom_filter.xxhash.bin' =>
      [ 'BYTE_ARRAY', q{ARRAY['hello', 'parquet', 'bloom', 'filter']}, q{ARRAY['Hello', 'x', '']} ],
    'data_index_bloom_encoding_stats.sbbf' =>
      [ 'BYTE_ARRAY', $sentence, q{ARRAY['b', 'c', 'd', 'NOT_EXISTS']} ],
    'data_index_bloom_encoding_with_length.sbbf' =>
      [ 'BYTE_ARRAY', $sentence, q{ARRAY['b', 'c', 'd', 'NOT_EXISTS']} ],
    'hyparquet_bloom_filter.rg0.sbbf' => [
        'INT32', 'ARRAY[10, 90]',
        'ARRAY(SELECT v FROM generate_series(0, 199) v WHERE v NOT IN (10, 90))'
    ],
    'duckdb_multi_bloom_a.sbbf' =>
      [ 'INT32', 'ARRAY[1]', 'ARRAY(SELECT v FROM generate_series(0, 1999) v WHERE v <> 1)' ],
    'duckdb_multi_bloom_b.sbbf' =>
      [ 'INT32', 'ARRAY[2]', 'ARRAY(SELECT v FROM generate_series(0, 1999) v WHERE v <> 2)' ],
    'arrowrs_fixture_a0_a9.sbbf' =>
      [ 'BYTE_ARRAY', q{ARRAY(SELECT 'a' || v FROM generate_series(0, 9) v)}, q{ARRAY['b0', 'b1']} ]);
for my $name (sort keys %parquet) {
    my ($type, $values, $absent) = @{ $parquet{$name} };
    my $bytes = bytes("parquet/$name");
    my $head = length($bytes) % 32;
    my $empty = substr($bytes, 0, $head) . "\0" x (length($bytes) - $head);
    my $read = 'bf_from_parquet(' . hex_literal($bytes) . ", '$type')";
    push @tests, [ 'SELECT encode(bf_to_parquet(bf_add_all(bf_from_parquet(' . hex_literal($empty)
              . ", '$type'), $values)), 'hex')",
        unpack('H*', $bytes), "$name: from its values, the same file is rebuilt" ];
    push @tests, [ "SELECT encode(bf_to_parquet($read), 'hex')", unpack('H*', $bytes),
        "$name: written as it was read" ];
    push @tests, [ "SELECT bf_contains_all($read, $values), bf_contains_any($read, $absent), bf_check($read)",
        't|f|', "$name: all members are found, other values are not, and the filter is sound" ];
}
results_are($node, splice @tests);
is(query('SELECT bf_contains_any(bf_from_parquet(' . hex_literal(bytes('parquet/duckdb_multi_bloom_a.sbbf'))
          . q{, 'INT64'), ARRAY(SELECT generate_series(0, 1999)))}),
    'f', 'a filter of INT32 that is read as INT64 contains none of its values');
for my $name ('bloom_filter.bin', 'hostile_numbytes_10000_actual_32.sbbf') {
    for my $type ('INT32', 'BYTE_ARRAY') {
        is(sqlstate($node, 'SELECT bf_from_parquet(' . hex_literal(bytes("parquet/$name")) . ", '$type')"),
            '22P03', "$name as $type is an error");
    }
}

# Files whose metadata lie about the place of their filter: at no position is there a filter.
for my $name (map { "duckdb_bloom_filter_$_.parquet" } qw(bad_numbytes bad_length_range short_numbytes)) {
    my $bytes = bytes("parquet/$name");
    for my $at (0, 4, map { $_ * 97 } 1 .. 10) {
        for my $length (64, length $bytes) {
            push @tests, [ 'SELECT bf_from_parquet(' . hex_literal(substr $bytes, $at, $length) . ", 'INT32')",
                '22P03', "$name from position $at, $length bytes, is an error" ];
        }
    }
}
sqlstates_are($node, splice @tests);

# DuckDB wrote Parquet filters of columns of many types, which are read as types of SQL.
my %sql_type = (d => 'DATE', ts => 'TIMESTAMP', tstz => 'TIMESTAMPTZ', t => 'TIME');
my %number = (t => '1000000 + i * 1000001::bigint'); # for values that SQL's type cannot have
my %file_of =
  map { my (undef, $column, undef, $file) = split /[,\n]/; ($column => pack('H*', substr $file, 2)) }
  split /^/, bytes('duckdb/filters.csv');
for my $entry (manifest('duckdb/manifest.jsonl')) {
    my ($column, $bytes) = ($entry->{column}, delete $file_of{ $entry->{column} });
    parquet_column($column, $bytes, $sql_type{$column} || $entry->{type}, $entry);
    my $strangers = "generate_series($entry->{strangers_first}, $entry->{strangers_first} + $entry->{strangers} - 1) i";
    my $type = $number{$column} ? $entry->{type} : $sql_type{$column} || $entry->{type};
    my $read = 'bf_from_parquet(' . hex_literal($bytes) . ", '$type')";
    my $value = $number{$column} || $entry->{values_sql};
    push @tests, [ "SELECT string_agg(i::text, ' ' ORDER BY i) FROM (SELECT $read AS f OFFSET 0) x, $strangers WHERE f @> ($value)",
        join(' ', @{ $entry->{false_positives} }), "$column: the same false positives as in hyparquet" ];
}
is_deeply(\%file_of, {}, 'the manifest of DuckDB lists every column');
%file_of =
  map { my (undef, $column, undef, $file) = split /[,\n]/; ($column => pack('H*', substr $file, 2)) }
  split /^/, bytes('duckdb/types.csv');
parquet_column("$_->{column} as $_->{as}", delete $file_of{ $_->{column} }, $_->{as}, $_)
  for manifest('duckdb/types.jsonl');
is_deeply(\%file_of, {}, 'the manifest of DuckDB lists every column that has another type');
results_are($node, splice @tests);

sub parquet_column {
    my ($name, $bytes, $type, $entry) = @_;
    my $head = length($bytes) % 32;
    my $empty = substr($bytes, 0, $head) . "\0" x (length($bytes) - $head);
    my ($read, $made) = map { 'bf_from_parquet(' . hex_literal($_) . ", '$type')" } $bytes, $empty;
    my $values = "generate_series($entry->{first}, $entry->{first} + $entry->{count} - 1) i";
    push @tests, [ "SELECT encode(bf_to_parquet(bf_add_all($made, array_agg($entry->{values_sql}))), 'hex') FROM $values",
        unpack('H*', $bytes), "$name: from its values, the same file is rebuilt" ];
    push @tests, [ "SELECT count(*) FROM (SELECT $read AS f OFFSET 0) x, $values WHERE NOT f @> ($entry->{values_sql})",
        0, "$name: all members are found" ];
    return;
}

# RedisBloom: a dump has a header, followed by chunks. Each link has one chunk or several.
sub redis_sql {
    my ($header, @chunks) = @_;
    return 'bf_from_redis(' . hex_literal($header) . ', ARRAY[' . join(', ', map { hex_literal($_) } @chunks)
      . ']::bytea[])';
}
for my $entry (manifest('redisbloom/manifest.jsonl')) {
    my $name = $entry->{name};
    my ($header, $bitmaps) = map { bytes("redisbloom/$name.$_") } qw(header chunks);
    my @lengths = map { unpack 'Q<', substr($header, 20 + 53 * $_, 8) } 0 .. $entry->{nfilters} - 1;
    my @chunks = unpack join(' ', map { "a$_" } @lengths), $bitmaps;
    my $value = $entry->{pattern} eq '%d' ? 'i' : q{concat('user-', i)};
    query('DROP TABLE IF EXISTS redis; CREATE TABLE redis AS SELECT ' . redis_sql($header, @chunks) . ' AS f');
    push @tests, [ 'SELECT layout, element_type, links, bf_check(f) FROM redis, bf_info(f)',
        "redis|byte string|$entry->{nfilters}|",
        "$name: bf_info() gives the layout and the number of links" ];
    push @tests, [ 'SELECT f = ' . redis_sql($header, map { unpack '(a100)*', $_ } @chunks) . ' FROM redis',
        't', "$name: the same filter is read from chunks of 100 bytes" ];
    push @tests, [ "SELECT count(*) FROM redis, generate_series(0, $entry->{items} - 1) i WHERE NOT f @> $value",
        0, "$name: all members are found" ];
    my $others = "redis, generate_series($entry->{items}, $entry->{items} + 99999) i WHERE f @> $value";
    push @tests, [ "SELECT count(*) FROM $others", $entry->{fp_in_next_100000},
        "$name: as many false positives as in RedisBloom" ];
    push @tests, [ "SELECT string_agg(i::text, ' ') FROM (SELECT i FROM $others LIMIT 10) x",
        join(' ', @{ $entry->{first_fp} }), "$name: the first ten false positives are the same" ];
    push @tests, [ 'SELECT f::bytea::bloomfilter = f AND f | f = f FROM redis', 't',
        "$name: a cast to bytea and back, and a union with itself, give the same filter" ];
    results_are($node, splice @tests);

    my $short = substr $chunks[-1], 8;
    (my $narrow = $header) =~ s/^(.{12})./$1\x01/s;
    my %hostile = (
        'too few bytes' => [ $header, @chunks[ 0 .. $#chunks - 1 ], $short ],
        'too few chunks' => [ $header, @chunks[ 0 .. $#chunks - 1 ] ],
        'too many chunks' => [ $header, @chunks, $chunks[-1] ],
        'an empty chunk' => [ $header, '', @chunks ],
        'a header cut off' => [ substr($header, 1), @chunks ],
        '32-bit hashes' => [ $narrow, @chunks ]);
    $hostile{'cut across links'} = [ $header, unpack '(a100)*', $bitmaps ] if @chunks > 1;
    $hostile{'not cut'} = [ $header, $bitmaps ] if @chunks > 1;
    $hostile{'in another order'} = [ $header, reverse @chunks ] if @chunks > 1;
    sqlstates_are($node,
        map { [ 'SELECT ' . redis_sql(@{ $hostile{$_} }), '22P03', "$name, $_: error" ] } sort keys %hostile);
    my $too_few = int(length($bitmaps) / 1024);
    is( sqlstate($node, "SET bloomfilter.max_size = '${too_few}kB'; SELECT " . redis_sql($header, @chunks)),
        '54000', "$name: with max_size of $too_few kB, which is too little, an error");
}

# Dumps for which a running RedisBloom gave answers, for members and strangers
query(<<'SQL');
CREATE TABLE items AS
SELECT i, concat('user-', i) AS text, i AS int, i * -7919::bigint AS neg, (
    SELECT decode(string_agg(lpad(to_hex(CASE WHEN j < 4 THEN i >> 8 * j & 255 ELSE 31 * i + 7 * j & 255 END),
      2, '0'), '' ORDER BY j), 'hex')
    FROM generate_series(0, 3 + i % 37) j) AS bytes
FROM (SELECT generate_series(0, 2999) UNION ALL SELECT generate_series(5000000, 5099999)) s(i)
SQL
sub dump_of { return map { pack 'H*', $_ } @{ decode_json(bytes("redisbloom_server/$_[0]")) } }
for my $entry (manifest('redisbloom_server/manifest.jsonl')) {
    my $file = $entry->{file};
    my @dump = dump_of($file);
    my $read = redis_sql(@dump);
    if ($entry->{must} eq 'error') {
        my (undef, undef, $errors) = $node->psql('postgres', "SELECT $read");
        like($errors, qr/made by RedisBloom before 2\.2/, "$file: a dump of an old version is refused");
        next;
    }
    query("DROP TABLE redis; CREATE TABLE redis AS SELECT $read AS f");
    push @tests, [ 'SELECT layout, links, bf_check(f) FROM redis, bf_info(f)', "redis|$entry->{links}|",
        "$file: the filter that is read is sound and has as many links" ];
    push @tests, [ "SELECT count(*) FROM redis, items WHERE i < $entry->{items} AND NOT f @> items.$entry->{values}",
        0, "$file: all members are found" ];
    push @tests, [ "SELECT encode(sha256(string_agg((f @> items.$entry->{values})::int::text, '' ORDER BY i)::bytea), 'hex')"
              . ' FROM redis, items WHERE i >= 5000000',
        $entry->{answers_sha256}, "$file: other values have the same answers as in RedisBloom" ];
    push @tests, [ 'SELECT chunks FROM redis, bf_to_redis(f)', array_of(@dump[ 1 .. $#dump ]),
        "$file: the same chunks are written" ];
    results_are($node, splice @tests);
}
sub array_of { return '{' . join(',', map { '"\\\\x' . unpack('H*', $_) . '"' } @_) . '}' }

# A non-scaling filter of RedisBloom is made here from the same values, by bf_agg and by bf_add_all.
# The header has the number of values twice. Here it is the estimate of bf_count.
for my $entry (manifest('redisbloom_nonscaling/manifest.jsonl')) {
    my $file = "redisbloom_nonscaling/$entry->{file}";
    my ($header, @chunks) = map { pack 'H*', $_ } @{ decode_json(bytes($file)) };
    my ($capacity, $error, $value) = ($entry->{capacity}, $entry->{error}, "items.$entry->{values}");
    my $empty = "bf_create($capacity, $error, layout => 'redis')";
    my $members = "FROM items WHERE i < $entry->{items}";
    query('DROP TABLE redis; CREATE TABLE redis AS '
          . "SELECT bf_add_all($empty, ARRAY(SELECT $value $members)) AS f, $empty | bf_agg($value, $capacity, $error, 'redis') AS g"
          . " $members");
    push @tests, [ 'SELECT f = g FROM redis', 't', "$file: bf_agg and bf_add_all make the same filter" ];
    push @tests, [ 'SELECT chunks FROM redis, bf_to_redis(f)', array_of(@chunks),
        "$file: from its values, the same chunks are made" ];
    my $count = query("SELECT least(round(bf_count(f)), $capacity) FROM redis");
    my $counted = $header =~ s/^.{8}(.{28}).{8}/pack('Q<', $count) . $1 . pack('Q<', $count)/sre;
    push @tests, [ q{SELECT encode(header, 'hex') FROM redis, bf_to_redis(f)}, unpack('H*', $counted),
        "$file: the header is the same, except for the number of values" ];
    push @tests, [ "SELECT bf_contains_all(bf_from_redis(header, chunks), ARRAY(SELECT $value $members)) FROM redis, bf_to_redis(f)",
        't', "$file: the dump that is written can be read and contains all values" ];
    results_are($node, splice @tests);
}

# A dump that RedisBloom refuses is refused. Two kinds of dumps that RedisBloom loads are refused as
# well. One is a header without chunks, which is no complete dump. The other has a number of bits that
# differs from the power of two in its header; RedisBloom never makes such a filter.
my @hostile = dump_of('hostile_chunks.json');
my @sqlstates;
for my $entry (manifest('redisbloom_server/hostile.jsonl')) {
    my ($name, $header) = ($entry->{name}, pack 'H*', $entry->{header});
    my %chunks = (
        'no chunks' => [],
        'a chunk twice' => [ @hostile, $hostile[-1] ],
        'header as chunk' => [ $header, @hostile ]);
    my $read = redis_sql($header, @{ $chunks{ $entry->{chunks} } || \@hostile });
    my $loaded = $entry->{'redisbloom_2.8.20'} eq 'accepted' && $name !~ /^(?:no chunks|n2 [16])$/;
    push @sqlstates,
      [ "SELECT $read", $loaded ? '00000' : '22P03',
        "hostile, $name: loaded or refused as expected (RedisBloom: $entry->{'redisbloom_2.8.20'})" ];
    push @tests, [ "SELECT count(*) FROM (SELECT $read AS f OFFSET 0) x, generate_series(0, 999) i WHERE NOT f @> concat('user-', i)",
        0, "hostile, $name: all members are found" ] if $loaded;
}
sqlstates_are($node, @sqlstates);
results_are($node, splice @tests);

# A table has the chunks of a dump in the reverse order.
my ($header, @chunks) = dump_of('default_add.dump.json');
query('CREATE TABLE dump (number int, chunk bytea)');
query("INSERT INTO dump VALUES ($_, " . hex_literal($chunks[ $_ - 1 ]) . ')') for reverse 1 .. @chunks;
is(sqlstate($node, 'SELECT bf_from_redis(' . hex_literal($header) . ', array_agg(chunk)) FROM dump'),
    '22P03', 'array_agg without ORDER BY gives chunks in another order, which is an error');
is(query('SELECT bf_from_redis(' . hex_literal($header) . ', array_agg(chunk ORDER BY number)) = '
          . redis_sql($header, @chunks) . ' FROM dump'), 't',
          'array_agg with ORDER BY gives the filter of the dump');

clean_log($node);
done_testing();
