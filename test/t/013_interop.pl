# The golden files of other systems (test/golden): each is rebuilt bit for bit from the values that it
# lists, gives the answers that the system itself gave, false positives included, and comes out as it
# went in. Hostile ones are errors.

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

# Guava: funnel, its layout, the values of the filter and of the probes, capacity and rate.
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

    is( query("SELECT encode(bf_to_guava(bf_add_all(bf_create($expected, $rate, layout => '$layout'),"
              . " array_agg(v))), 'hex') FROM $values"),
        unpack('H*', $bytes), "$name: rebuilt") if $values !~ /-1\) v$/;
    is(query("SELECT encode(bf_to_guava(bf_create($expected, $rate, layout => '$layout')), 'hex')"),
        unpack('H*', $bytes), "$name: rebuilt") if $values =~ /-1\) v$/;
    is(query("SELECT encode(bf_to_guava($read), 'hex')"), unpack('H*', $bytes), "$name: read and written");
    is(query("SELECT bits_set, hashes, layout, bf_check($read) FROM bf_info($read)"),
        "$entry->{bits_set}|$entry->{k}|$layout|", "$name: as Guava describes it");
    is(query("SELECT count(*) FROM (SELECT $read AS f) x, $values WHERE NOT f @> v"), 0,
        "$name: all members");
    my $found = $probes =~ /^generate_series\(\d+, \d+\) i/ ? ($probes =~ /send/ ? 'i' : 'v') : 'v';
    is( query("SELECT coalesce(string_agg($found\::text, ' '), '') FROM (SELECT $read AS f OFFSET 0) x,"
              . " $probes WHERE f @> v"),
        join(' ', @{ $entry->{false_positives} }), "$name: the false positives that Guava has");
}
is_deeply(\%guava, {}, 'every file');

# Guava's own published numbers: a million even numbers as text at 3 %.
for (
    [ 'guava_chars_mitz32', 29824, 'ed0bdb71b4c0a349c4d5e2aa6f8d69566a7da15201a92fc627c339d7ccc6bf76' ],
    [ 'guava_chars', 30104, 'a5f4d036ec3b8996cb912a001791001fc998ec0afac26b956ddc5b8fed7e3ab2' ],
    [ 'guava', 29763, 'eafec71084722081047321a8caa309416f70ae7d279b8c98987e92ed86d15483' ]) {
    my ($layout, $count, $digest) = @$_;
    is( query("CREATE TEMP TABLE even AS SELECT bf_agg((2 * i)::text, 1000000, 0.03, '$layout') AS f"
              . ' FROM generate_series(0, 999999) i; SELECT encode(sha256(bf_to_guava(f)), \'hex\'),'
              . ' (SELECT count(*) FROM generate_series(1, 1999999, 2) i WHERE f @> i::text) FROM even'),
        "$digest|$count", "$layout: Guava's own test");
}

# Parquet: physical type and values. An empty filter of the same size, with the values added.
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
    is( query('SELECT encode(bf_to_parquet(bf_add_all(bf_from_parquet(' . hex_literal($empty)
              . ", '$type'), $values)), 'hex')"),
        unpack('H*', $bytes), "$name: rebuilt");
    is(query("SELECT encode(bf_to_parquet($read), 'hex')"), unpack('H*', $bytes), "$name: read and written");
    is(query("SELECT bf_contains_all($read, $values), bf_contains_any($read, $absent), bf_check($read)"),
        't|f|', "$name: members, and no others");
}
is(query('SELECT bf_contains_any(bf_from_parquet(' . hex_literal(bytes('parquet/duckdb_multi_bloom_a.sbbf'))
          . q{, 'INT64'), ARRAY(SELECT generate_series(0, 1999)))}),
    'f', 'INT32 is not INT64');
for my $name ('bloom_filter.bin', 'hostile_numbytes_10000_actual_32.sbbf') {
    for my $type ('INT32', 'BYTE_ARRAY') {
        is(sqlstate($node, 'SELECT bf_from_parquet(' . hex_literal(bytes("parquet/$name")) . ", '$type')"),
            '22P03', "$name as $type: an error");
    }
}

# Files whose metadata lie about their filter: nowhere in them is one.
for my $name (map { "duckdb_bloom_filter_$_.parquet" } qw(bad_numbytes bad_length_range short_numbytes)) {
    my $bytes = bytes("parquet/$name");
    for my $at (0, 4, map { $_ * 97 } 1 .. 10) {
        for my $length (64, length $bytes) {
            is(sqlstate($node, 'SELECT bf_from_parquet(' . hex_literal(substr $bytes, $at, $length) . ", 'INT32')"),
                '22P03', "$name from $at, $length bytes: an error");
        }
    }
}

# RedisBloom: chunks may be cut anywhere.
for my $entry (manifest('redisbloom/manifest.jsonl')) {
    my $name = $entry->{name};
    my ($header, $chunks) = map { bytes("redisbloom/$name.$_") } qw(header chunks);
    my $value = $entry->{pattern} eq '%d' ? 'i' : q{concat('user-', i)};
    my $read = 'bf_from_redis(' . hex_literal($header) . ', ARRAY[' . hex_literal($chunks) . '])';
    my $cut = 'bf_from_redis(' . hex_literal($header) . ', ARRAY['
      . join(', ', map { hex_literal($_) } unpack '(a100)*', $chunks) . '])';
    query("DROP TABLE IF EXISTS redis; CREATE TABLE redis AS SELECT $read AS f");
    is(query('SELECT layout, element_type, links, bf_check(f) FROM redis, bf_info(f)'),
        "redis|byte string|$entry->{nfilters}|", "$name: links");
    is(query("SELECT f = $cut FROM redis"), 't', "$name: cut otherwise");
    is(query("SELECT count(*) FROM redis, generate_series(0, $entry->{items} - 1) i WHERE NOT f @> $value"),
        0, "$name: all members");
    my $others = "redis, generate_series($entry->{items}, $entry->{items} + 99999) i WHERE f @> $value";
    is(query("SELECT count(*) FROM $others"), $entry->{fp_in_next_100000}, "$name: false positives");
    is( query("SELECT string_agg(i::text, ' ') FROM (SELECT i FROM $others LIMIT 10) x"),
        join(' ', @{ $entry->{first_fp} }), "$name: the same ones");
    is(query('SELECT f::bytea::bloomfilter = f AND f | f = f FROM redis'), 't', "$name: in and out");
    is( sqlstate($node, 'SELECT bf_from_redis(' . hex_literal($header) . ', ARRAY['
              . hex_literal(substr $chunks, 8) . '])'),
        '22P03', "$name: too few chunks");
    is(sqlstate($node, 'SELECT bf_from_redis(' . hex_literal(substr $header, 1) . ', ARRAY['
              . hex_literal($chunks) . '])'),
        '22P03', "$name: a header cut off");
    (my $narrow = $header) =~ s/^(.{12})./$1\x01/s;
    is(sqlstate($node, 'SELECT bf_from_redis(' . hex_literal($narrow) . ', ARRAY[' . hex_literal($chunks) . '])'),
        '22P03', "$name: 32-bit hashes");
    my $too_few = int(length($chunks) / 1024);
    is(sqlstate($node, "SET bloomfilter.max_size = '${too_few}kB'; SELECT $read"), '54000',
        "$name: more than $too_few kB");
}

clean_log($node);
done_testing();
