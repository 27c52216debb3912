# The largest sizes, and damaged input, give a filter or an error, never a crash.
#
# If BLOOMFILTER_TEST_LARGE is set, tests that need gigabytes and a minute also run: they store and
# copy the largest filter, read a text of 1 GB, and combine a partial state of more than 1 GB.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use MIME::Base64;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('limits');
my $dir = PostgreSQL::Test::Utils::tempdir();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Large filters are made, stored, probed, and sent through COPY and back.

sub large {
    my ($create, $payload) = @_;
    query(qq{
        CREATE TABLE large (f bloomfilter);
        INSERT INTO large SELECT bf_add_all($create, array[1, 2, 3]);
        UPDATE large SET f = f + 4});
    is(query('SELECT string_agg((f @> i)::text, NULL) FROM large, generate_series(1, 5) i'),
        'truetruetruetruefalse', "$create: the four members are found, and another value is not");
    is(query('SELECT length(f::bytea), pg_column_size(f) FROM large'),
        "$payload|$payload", "$create: the stored filter has $payload bytes, uncompressed");
    my $digest = query('SELECT md5(f::bytea) FROM large');
    for my $format (qw(text binary)) {
        query(qq{
            COPY large TO '$dir/large' (FORMAT $format);
            TRUNCATE large;
            COPY large FROM '$dir/large' (FORMAT $format)});
        is(query('SELECT md5(f::bytea) FROM large'), $digest,
            "$create: COPY $format and back gives the same bytes");
        unlink "$dir/large";
    }
    is(query('SELECT bf_check(f) IS NULL, round(bf_count(f)) FROM large'), 't|4',
        "$create: sound, with 4 values");
    query('DROP TABLE large');
    return;
}

large('bf_create(40000000)', query('SELECT bytes - 4 FROM bf_sizing(40000000, 0.01)'));
is( query(q{
        SELECT f @> 5, f @> 6, length(f::bytea)
        FROM (SELECT bf_create_by_size(4294967296, 8) + 5 AS f OFFSET 0) largest}),
    't|f|' . (36 + 512 * 1024 * 1024), 'the largest filter, of 512 MiB, finds its member and no other value');
SKIP: {
    skip 'BLOOMFILTER_TEST_LARGE is not set', 5 if !$ENV{BLOOMFILTER_TEST_LARGE};
    large('bf_create_by_size(4294967296, 8)', 36 + 512 * 1024 * 1024);
}

# The largest counting and cuckoo filters, and sizes beyond them
for (
    [ 'cbf', 0.01, 108251015 ], [ 'cbf', 0.0001, 53590628 ], [ 'cbf', 1e-9, 18017616 ],
    [ 'cf', 0.01, 408021891 ], [ 'cf', 0.0001, 240012875 ], [ 'cf', 1e-9, 63753420 ]) {
    my ($type, $rate, $most) = @$_;
    is(query("SELECT bits BETWEEN 4294960000 AND 4294967296, bytes BETWEEN bits / 8 + 40 AND bits / 8 + 49"
              . " FROM ${type}_sizing($most, $rate)"),
        't|t', "${type}_sizing($most, $rate): one filter of nearly 512 MiB");
    my $more = $most + 1;
    is(query("SELECT filters, (${type}_sizing($most, $rate)).filters FROM ${type}_sizing($more, $rate)"),
        '2|1', "${type}_sizing($more, $rate): two filters, one value more than one filter can have");
    for my $call ("${type}_create($more, $rate)",
        "${type}_create(9223372036854775807, $rate)", "${type}_agg(1, $more, $rate)") {
        is(sqlstate($node, "SELECT ($call) IS NULL"), '22023', "$call: an error");
    }
}
is( query(q{
        SELECT f @> 5, f @> 6, f - 5 @> 5, pg_column_size(f) - 4 FROM
          (SELECT cbf_create(108251015) + 5 AS f OFFSET 0) largest
        UNION ALL
        SELECT f @> 5, f @> 6, f - 5 @> 5, pg_column_size(f) - 4 FROM
          (SELECT cf_create(408021891) + 5 AS f OFFSET 0) largest}),
    't|f|f|' . (36 + 512 * 1024 * 1024) . "\nt|f|f|" . (36 + 4 + 512 * 1024 * 1024 - 2),
    'the largest counting and cuckoo filters find, deny and remove a value, and have 512 MiB');

# Sizes beyond the largest
for (
    [ 'bf_create_by_size(4294967297, 8)', '22023' ],
    [ 'bf_create_by_size(9223372036854775807, 8)', '22023' ],
    [ 'bf_create(440000000)', '22023' ],
    [ 'bf_create(9223372036854775807, 0.000000001)', '22023' ],
    [ 'bf_agg(1, 440000000)', '22023' ],
    [ '(bf_create_by_size(4294967296, 8) + 1) | bf_create(10)', '54000' ],
    [ '((bf_create_by_size(3000000000, 1) + 1) | bf_create(10, grow => true)) + 2', '54000' ]) {
    my ($expression, $sqlstate) = @$_;
    is(sqlstate($node, "SELECT length(($expression)::bytea)"), $sqlstate, "$expression: an error");
}
SKIP: {
    skip 'BLOOMFILTER_TEST_LARGE is not set', 3 if !$ENV{BLOOMFILTER_TEST_LARGE};
    is(sqlstate($node, q{SELECT repeat('A', 1000000000)::bloomfilter}), '22P02',
        'a text of 1 GB is an error');

    # One worker gets all rows, because the leader does not take part.
    my $huge = 'SET parallel_setup_cost = 0;'
      . ' SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 1;'
      . ' PREPARE huge AS SELECT md5(bf_agg(j)::bytea) FROM thousand,'
      . ' LATERAL generate_series((i - 1) * 135000::bigint, i * 135000::bigint - 1) j';
    query('CREATE TABLE thousand AS SELECT generate_series(1, 1000) AS i; ANALYZE thousand');
    like(plan_of($node, $huge, 'EXECUTE huge'), qr/Partial Aggregate/, 'the plan has a partial aggregate');
    is( query("$huge; SET parallel_leader_participation = off; EXECUTE huge"),
        query('SELECT md5(bf_agg(j)::bytea) FROM generate_series(0, 134999999::bigint) j'),
        'a partial state of more than 1 GB gives the same filter as a serial plan');
}

# Damaged input: thousands of valid values are mutated, as text and as binary. Each is the only row
# of a COPY. A value that COPY accepts must be a sound filter.

srand 20;

sub bytes_of { my ($sql) = @_; return map { pack 'H*', $_ } split /\n/, query($sql) }

my @bloom = bytes_of(q{
    SELECT encode(f::bytea, 'hex') FROM (
      SELECT bf_create(10) AS f UNION ALL
      SELECT bf_create_by_size(1000, 16, 99) UNION ALL
      SELECT bf_add_hash(bf_create(10), 42) UNION ALL
      SELECT bf_agg(i) FROM generate_series(1, 10) i UNION ALL
      SELECT bf_agg(i / 7.0, 100, 0.0001) FROM generate_series(1, 100) i UNION ALL
      SELECT bf_agg('word ' || i, 1000, 0.00001) FROM generate_series(1, 1000) i UNION ALL
      SELECT bf_agg(array[i]) FROM generate_series(1, 100) i UNION ALL
      SELECT bf_agg(i) | (bf_create(20) + 5) | bf_create(100, 0.0001) FROM generate_series(1, 10) i UNION ALL
      SELECT bf_add_all(bf_create(10, grow => true), array_agg(i)) FROM generate_series(1, 200) i) valid});
my @counting = bytes_of(q{
    SELECT encode(f::bytea, 'hex') FROM (
      SELECT cbf_create(10) AS f UNION ALL
      SELECT cbf_create(30, 0.5, 99) + 5 UNION ALL
      SELECT cbf_agg(i % 10) FROM generate_series(1, 1000) i UNION ALL
      SELECT cbf_agg(i / 7.0, 100, 0.0001) FROM generate_series(1, 100) i UNION ALL
      SELECT cbf_agg('word ' || i, 500, 0.00001) FROM generate_series(1, 500) i UNION ALL
      SELECT cbf_agg(array[i]) FROM generate_series(1, 100) i) valid});
my @cuckoo = bytes_of(q{
    SELECT encode(f::bytea, 'hex') FROM (
      SELECT cf_create(10) AS f UNION ALL
      SELECT cf_create(1, 0.5, 99) + 5 UNION ALL
      SELECT cf_agg(i % 10) FROM generate_series(1, 1000) i UNION ALL
      SELECT cf_agg(i / 7.0, 101, 0.0001) FROM generate_series(1, 100) i UNION ALL
      SELECT cf_agg('word ' || i, 500, 0.000000001) FROM generate_series(1, 500) i UNION ALL
      SELECT cf_agg(array[i]) FROM generate_series(1, 100) i) valid});

sub noise {
    my ($length) = @_;
    return join '', map { chr int rand 256 } 1 .. $length;
}

sub mutate {
    my ($bytes) = @_;
    my ($units, $flags) = unpack 'x28 V C', $bytes;
    my $header = $flags & 1 ? 36 + 24 * $units : 36;
    my $what = int rand 7;
    if ($what == 0) {
        return substr $bytes, 0, int rand length $bytes;
    } elsif ($what == 1) {
        return $bytes . noise(1 + int rand 100);
    } elsif ($what == 2) {
        return noise(int rand 200);
    } elsif ($what == 3) {
        return substr($bytes, 0, $header) . noise(length($bytes) - $header);
    } elsif ($what == 4) {
        substr($bytes, 4 * int(rand $header / 4), 4) = ("\0" x 4, "\xff" x 4, noise(4))[ rand 3 ];
    } elsif ($what == 5) {
        substr($bytes, rand $header, 1) = noise(1);
    } else {
        vec($bytes, rand 8 * $header, 1) ^= 1;
    }
    return $bytes;
}

sub mutate_text {
    my ($text) = @_;
    my $what = int rand 4;
    if ($what == 0) {
        return substr $text, 0, int rand length $text;
    } elsif ($what == 1) {
        my @characters = ('A' .. 'Z', 'a' .. 'z', split //, q{0+/=-_ .,{}'"});
        substr($text, rand length $text, 1) = $characters[ rand @characters ];
    } elsif ($what == 2) {
        substr($text, rand length $text, 0) = ('=', '==', ' ', 'A', 'AAAA', '~')[ rand 6 ];
    } else {
        return encode_base64(mutate(decode_base64($text)), '');
    }
    return $text;
}

# Copies each content into a table by a COPY of its own. Returns the number of statements that ended
# with each SQLSTATE.
sub copy_all {
    my ($table, $format, @contents) = @_;
    my $script = "\\set ON_ERROR_STOP off\n";
    for my $i (0 .. $#contents) {
        open my $file, '>:raw', "$dir/$format$i" or die $!;
        print $file $contents[$i];
        close $file;
        $script .= "COPY $table FROM '$dir/$format$i' (FORMAT $format);\n\\echo :SQLSTATE\n";
    }
    my ($status, $codes) = $node->psql('postgres', $script, on_error_stop => 0);
    is($status, 0, "COPY $format into $table: the connection survives all statements");
    my %count;
    $count{$_}++ for split /\n/, $codes;
    return \%count;
}

sub binary_copy {
    my ($bytes) = @_;
    return "PGCOPY\n\xff\r\n\0" . pack('N N n N', 0, 0, 1, length $bytes) . $bytes . "\xff\xff";
}

for (
    [ 'bf', 'bloomfilter', 2000, \@bloom ],
    [ 'cbf', 'countingbloomfilter', 800, \@counting ],
    [ 'cf', 'cuckoofilter', 800, \@cuckoo ]) {
    my ($prefix, $type, $mutations, $valid) = @$_;
    my $table = "fed_$type";
    query("CREATE TABLE $table (f $type)");
    my $copies = copy_all($table, 'binary', map { binary_copy($_) } @$valid);
    is_deeply($copies, { '00000' => scalar @$valid }, "COPY binary of $type accepts all valid values");
    $copies = copy_all($table, 'text', map { encode_base64($_, '') . "\n" } @$valid);
    is_deeply($copies, { '00000' => scalar @$valid }, "COPY text of $type accepts all valid values");
    if ($prefix ne 'bf') {
        $copies = copy_all($table, 'binary', map { binary_copy($_) } @bloom);
        is_deeply($copies, { '22P03' => scalar @bloom },
            "COPY binary of $type rejects values of bloomfilter");
    }

    for (
        [ 'binary', '22P03', sub { binary_copy(mutate($_[0])) } ],
        [ 'text', '22P02', sub { mutate_text(encode_base64($_[0], '')) . "\n" } ]) {
        my ($format, $sqlstate, $mutation) = @$_;
        my $count =
          copy_all($table, $format, map { $mutation->($valid->[ rand @$valid ]) } 1 .. $mutations);
        my ($rejected, $accepted) = @$count{ $sqlstate, '00000' };
        cmp_ok($rejected, '>', $mutations / 2,
            "COPY $format of $type: $rejected of $mutations mutated values are rejected, most of them");
        cmp_ok($accepted, '>', $mutations / 40,
            "COPY $format of $type: $accepted are accepted, some of them");
        delete @$count{ $sqlstate, '00000' };
        is_deeply($count, {}, "COPY $format of $type: all errors are $sqlstate");
    }
}
is( query(q{
        SELECT count(*) > 300, count(bf_check(f)) FROM fed_bloomfilter
        UNION ALL
        SELECT bool_and(bf_fpr(f) BETWEEN 0 AND 1 AND bf_count(f) >= 0
            AND f::text::bloomfilter = f),
          count(*) - count(bf_contains_hash(f, 4711)) FROM fed_bloomfilter, bf_info(f)}),
    "t|0\nt|0", 'mutated values that are accepted are sound filters');
is( query(q{
        SELECT count(*) > 50, count(cbf_check(f)), bool_and(f::text::countingbloomfilter = f
            AND cbf_union(f, f)::bloomfilter = f::bloomfilter AND fill BETWEEN 0 AND 1)
        FROM fed_countingbloomfilter, cbf_info(f)
        UNION ALL
        SELECT count(*) > 50, count(cf_check(f)), bool_and(f::text::cuckoofilter = f
            AND fill BETWEEN 0 AND 1 AND stored <= 4 * buckets AND estimated_fpr BETWEEN 0 AND 1)
        FROM fed_cuckoofilter, cf_info(f)}),
    "t|0|t\nt|0|t", 'mutated values that are accepted are sound counting and cuckoo filters');

# A mutated cuckoo filter can be added to and removed from: the result is sound, or there is an error.
is( query(q{
        CREATE FUNCTION used(f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
          DECLARE g cuckoofilter := f;
          BEGIN
            FOR i IN 1 .. 50 LOOP
              g := cf_remove(g, i::text::bf_literal, true);
              g := g + i::text::bf_literal;
            END LOOP;
            RETURN coalesce(cf_check(g), 'sound');
          EXCEPTION WHEN program_limit_exceeded OR datatype_mismatch OR invalid_text_representation
            THEN RETURN 'sound';
          END $$;
        SELECT DISTINCT used(f) FROM fed_cuckoofilter}),
    'sound', 'a mutated cuckoo filter that is accepted stays sound while values are removed and added');

clean_log($node);
done_testing();
