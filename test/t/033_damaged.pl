# A stored filter with a damaged header gives an error or the right answer, as the section "Damage" of
# doc/format.md promises. Each bit of the header is flipped, and some bytes get every value. The test
# has filters of all types, layouts and kinds of links, inline and toasted, in memory and on disk. Every
# function gives an answer or an error of a few kinds, and never crashes.
#
# doc/format.md promises nothing about the length that PostgreSQL stores before a value, which is not
# part of the header, nor about the bitmap, which has no redundancy.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Faults;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

# With checksums, the server would find all damage itself.
my $no_checksums = `initdb --help` =~ /--no-data-checksums/ ? ['--no-data-checksums'] : [];
my $node = new_server('damaged', init => { extra => [ '--encoding=UTF8', '--no-locale', @$no_checksums ] });
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# --- filters ---------------------------------------------------------------------------------------

# Each entry has a name, a type of filter, the type of its values, and an expression of a filter, which
# is made for %d values and contains the values of the array m.
my @kinds = (
    [ 'lines', 'bloomfilter', 'int', 'bf_add_all(bf_create(%d), m)' ],
    [ 'pages', 'bloomfilter', 'int', 'bf_add_all(bf_create(%d, 0.0001), m)' ],
    [ 'seeded', 'bloomfilter', 'int', 'bf_add_all(bf_create(%d, 0.01, seed => 4711), m)' ],
    [ 'by size', 'bloomfilter', 'int', 'bf_add_all(bf_create_by_size(10 * %d, 5), m)' ],
    [ 'own', 'bloomfilter', 'int', '(SELECT bf_agg(i) FROM generate_series(1, greatest(20, %d / 2)) i)' ],
    [ 'links', 'bloomfilter', 'int', 'bf_add_all(bf_create(%d), m[:10]) | bf_add_all(bf_create(2 * %1$d), m[11:])' ],
    [ 'growing', 'bloomfilter', 'int', 'bf_add_all(bf_create(10, 0.01, grow => true), m) | bf_create(%d)' ],
    [ 'intersection', 'bloomfilter', 'int', 'bf_add_all(bf_create(%d), m) & bf_add_all(bf_create(%1$d), m || 99)' ],
    [ 'text', 'bloomfilter', 'text', 'bf_add_all(bf_create(%d), m::text[])' ],
    [ 'array', 'bloomfilter', 'int[]', '(SELECT bf_agg(array[i], %d) FROM unnest(m) i)' ],
    (map { [ $_, 'bloomfilter', 'int', "bf_add_all(bf_create(\%d, layout => '$_'), m)" ] }
        qw(guava guava_integer guava_mitz32 parquet parquet_int32 redis spark datasketches hive)),
    [ 'spark_v2', 'bloomfilter', 'int', q{bf_add_all(bf_create(%d, 0.01, 'spark_v2', 4711), m)} ],
    [ 'guava links', 'bloomfilter', 'int',
        q{bf_add_all(bf_create(%d, layout => 'guava'), m[:10]) | bf_add_all(bf_create(2 * %1$d, layout => 'guava'), m[11:])} ],
    [ 'counting', 'countingbloomfilter', 'int', 'cbf_add_all(cbf_create(%d), m)' ],
    [ 'counting pages', 'countingbloomfilter', 'int', 'cbf_add_all(cbf_create(%d, 0.0001), m)' ],
    [ 'cuckoo', 'cuckoofilter', 'int', 'cf_add_all(cf_create(%d), m)' ]);

# Expressions with a damaged filter f, a member v, another value u, and the undamaged filter g. %asked
# has expressions with one right answer, which they give for g; %rest has the others.
my @asked = ('f @> v', 'v <@ f', 'f @> v::text::bf_literal', '(f + u) @> v', '(f + v) @> v');
my %asked = (
    bloomfilter => [ @asked, 'bf_contains_any(f, ARRAY[v])', 'bf_contains_all(f, ARRAY[v, v])',
        '(bf_contains_each(f, ARRAY[u, v]))[2]', '(f | g) @> v', '(g | f) @> v',
        'bf_add_all(f, ARRAY[u, v]) @> v', 'f::bytea::bloomfilter @> v', 'f::text::bloomfilter @> v',
        '(SELECT bf_union_agg(x) @> v FROM unnest(ARRAY[g, f]) x)', '(bf_put(f, v)).filter @> v' ],
    countingbloomfilter => [ @asked, '(f + u - u) @> v', '(f + v - v) @> v', 'cbf_multiplicity(f, v) > 0',
        'cbf_union(f, g) @> v', 'cbf_union(g, f) @> v', 'f::bloomfilter @> v',
        'f::bytea::countingbloomfilter @> v' ],
    cuckoofilter => [ @asked, '(f + u - u) @> v', 'cf_multiplicity(f, v) > 0', 'cf_union(f, g) @> v',
        'cf_union(g, f) @> v', 'f::bytea::cuckoofilter @> v', '(cf_put(f, u)).filter @> v' ]);
my @rest = ('f = g', 'f < g', 'f @> u');
my %rest = (
    bloomfilter => [ @rest, map({ "bf_$_(f)" } qw(count fpr info describe clear growable)),
        map({ "bf_$_(f, g)" } qw(compatible intersect union_count intersect_count jaccard)),
        'bf_fold(f, 600)', 'bf_add_hash(f, 7)', 'bf_contains_hash(f, 7)',
        'bloomfilter_hash_extended(f, 5)', map { "bf_to_$_(f)" } qw(guava parquet redis spark datasketches hive) ],
    countingbloomfilter => [ @rest, map { "cbf_$_(f)" } qw(count fpr info describe clear) ],
    cuckoofilter => [ @rest, 'f - v', map { "cf_$_(f)" } qw(count fpr info describe clear) ]);
my %check = (bloomfilter => 'bf_check', countingbloomfilter => 'cbf_check', cuckoofilter => 'cf_check');

# Casts from bytea without checks replace those of the extension.
query("UPDATE pg_cast SET castmethod = 'b', castfunc = 0 WHERE castsource = 'bytea'::regtype AND casttarget = '$_'::regtype")
  for sort keys %asked;

sub outcomes {
    my ($into, @expressions) = @_;
    return join '', map { "BEGIN r := ($_)::text; EXCEPTION WHEN OTHERS THEN r := 'error ' || SQLSTATE; END;"
          . " $into := $into || coalesce(r, 'null');\n" } @expressions;
}

# Returns the name of a function that evaluates all expressions, for a type of filters and a type of
# values. Creates the function at the first call.
my %made;
sub function_of {
    my ($type, $value) = @_;
    my $name = "asked_$type" . ($value =~ s/\W+/_/gr);
    return $name if $made{$name}++;
    my @asked = grep { $value ne 'int[]' || !/ARRAY\[/ } @{ $asked{$type} }; # no array has arrays as elements
    my ($answers, $rest) = (outcomes('answers', @asked), outcomes('rest', @{ $rest{$type} }));
    query(qq{
        CREATE FUNCTION $name(f $type, g $type, v $value, u $value,
          OUT answers text[], OUT rest text[], OUT finding text)
        LANGUAGE plpgsql SET client_min_messages = error AS \$\$
        DECLARE r text;
        BEGIN
          $answers
          $rest
          finding := $check{$type}(f);
        END \$\$});
    return $name;
}

# --- in memory -------------------------------------------------------------------------------------

# The answers of a filter that is damaged in a byte of its header, and of the undamaged filter
query(q{
    CREATE TABLE outcomes (kind text, bytes int, at int, byte int, answers text[], sound text[], rest text[], finding text)});

# Damages a filter of a kind in every byte of its header. `bytes` is a query of the values that a byte
# gets; in the query, b is the filter and `at` the position of the byte.
sub damage {
    my ($kind, $expected, $bytes) = @_;
    my ($name, $type, $value, $filter) = @$kind;
    $filter = sprintf $filter, $expected;
    my ($v, $u) = map { $value eq 'int[]' ? "ARRAY[$_]" : "$_\::$value" } 7, 100000;
    my $function = function_of($type, $value);
    query(qq{
        CREATE TABLE sound AS
          SELECT $filter AS g FROM (SELECT array_agg(i) AS m FROM generate_series(1, 20) i) members;
        CREATE TABLE damaged AS
          SELECT DISTINCT at, byte, set_byte(b, at, byte)::$type AS f
          FROM (SELECT g::bytea AS b FROM sound) s,
            generate_series(0, 35 + (get_byte(b, 32) & 1) * 24 * get_byte(b, 28)) at,
            LATERAL ($bytes) v (byte)
          WHERE get_byte(b, at) <> byte;
        INSERT INTO outcomes
          SELECT '$name', pg_column_size(f), at, byte, damaged.answers, sound.answers, damaged.rest, damaged.finding
          FROM (SELECT g, answers FROM sound, LATERAL $function(g, g, $v, $u)) sound,
            (SELECT at, byte, f, r.* FROM damaged, sound, LATERAL $function(f, g, $v, $u) r) damaged;
        DROP TABLE sound, damaged});
    return;
}
my $each_bit = 'SELECT get_byte(b, at) # (1 << bit) FROM generate_series(0, 7) bit';
my $each_value = 'SELECT * FROM generate_series(0, 255) WHERE at BETWEEN 1 AND 3';
while (another_round('damage')) {
    damage($_, int between_numbers(50, 150), "$each_bit UNION $each_value") for @kinds;
    my $bit = 1 << int rand 8;
    damage($_, int between_numbers(12000, 18000), "SELECT get_byte(b, at) # $bit") for @kinds;
}

# For each kind of field: its positions in a header, where positions in the entry of a link count from
# 100 on, and the outcomes that are allowed besides the right answer.
my %promised = (
    'version, units' => [ [ 0, 28 .. 31, 116 .. 119, 122, 123 ], 'error XX001' ],
    'shape' => [ [ 33 .. 35 ], 'error XX001', 'error 42804' ],
    'expected, rate, flags' => [ [ 12 .. 27, 32, 100 .. 115, 121 ], 'error XX001' ],
    'layout, family, k, seed' =>
      [ [ 1 .. 11, 120 ], 'false', map { "error $_" } qw(XX001 42804 22023 22P02) ]);
for my $name (sort keys %promised) {
    my ($places, @outcomes) = @{ $promised{$name} };
    my $list = join ', ', map { "'$_'" } @outcomes;
    my $of_field = 'FROM outcomes WHERE CASE WHEN at < 36 THEN at ELSE 100 + (at - 36) % 24 END'
      . ' IN (' . join(', ', @$places) . ')';
    cmp_ok(query("SELECT count(*) $of_field"), '>', 500, "$name: more than 500 filters are damaged there");
    is( query("SELECT kind, bytes, at, byte, a, s FROM (SELECT * $of_field) o, unnest(answers, sound) AS u (a, s)"
              . " WHERE a <> s AND a NOT IN ($list) LIMIT 20"),
        '', "$name: damaged filters give the right answer or $list");
}
is(query(q{SELECT kind, bytes, at, byte FROM outcomes WHERE at IN (0, 28, 29, 30, 31) AND (finding IS NULL OR 'true' = ANY (answers)) LIMIT 20}),
    '', 'bf_check() finds every damaged version or size, and no probe of such a filter is true');
is(query(q{SELECT kind, bytes, at, byte FROM outcomes WHERE 'error XX001' = ANY (answers || rest) AND finding IS NULL LIMIT 20}),
    '', 'if using a filter raises XX001, the function that checks its type finds the damage');
is( query(q{SELECT string_agg(DISTINCT r, ' ') FROM outcomes, unnest(answers || rest) r
            WHERE r LIKE 'error %' AND r NOT IN ('error XX001', 'error 42804', 'error 22023', 'error 22P02', 'error 0A000')}),
    '', 'damaged filters raise no other errors than XX001, 42804, 22023, 22P02 and 0A000');
is( query(q{SELECT count(DISTINCT kind), min(bytes) < 500, max(bytes) > 16384,
              bool_or('error XX001' = ANY (answers)), bool_or('false' = ANY (answers)), bool_or('true' = ANY (answers)) FROM outcomes}),
    @kinds . '|t|t|t|t|t', 'the outcomes cover all kinds, inline and toasted, and errors, true and false');

# --- on the disk -----------------------------------------------------------------------------------

# All rows of a table have the same filter with different seeds. A filter is found on disk by its seed.
my $mark = 7_000_000_000_000;
my %on_disk = (
    disk_lines => [ 'bloomfilter', 'bf_create(100, 0.01, seed => %s + id) + 7' ],
    disk_large => [ 'bloomfilter', 'bf_create(15000, 0.01, seed => %s + id) + 7' ],
    disk_links => [ 'bloomfilter', '(bf_create(100, 0.01, seed => %s + id) + 7) | bf_create(300, 0.01, seed => %1$s + id)' ],
    disk_counting => [ 'countingbloomfilter', 'cbf_create(3000, 0.01, %s + id) + 7' ],
    disk_cuckoo => [ 'cuckoofilter', 'cf_create(15000, 0.01, %s + id) + 7' ]);
my @flips = map { my $at = $_; map { [ $at, $_ ] } 0 .. 7 } 0 .. 3, 12 .. 35; # all bits but the seed's
for my $table (sort keys %on_disk) {
    my ($type, $filter) = @{ $on_disk{$table} };
    $filter = sprintf $filter, $mark;
    query("CREATE TABLE $table AS SELECT id, $filter AS f FROM generate_series(0, $#flips) id");
}
query('CHECKPOINT');
my %file_of = map {
    my $table = $_;
    $table => [ split /\n/, query("SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid = '$table'::regclass"
              . " UNION ALL SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = '$table'::regclass") ]
} sort keys %on_disk;
$node->stop;
for my $table (sort keys %on_disk) {
    my $flipped = 0;
    for my $file (map { $node->data_dir . "/$_" } @{ $file_of{$table} }) {
        my $pages = slurp_file($file);
        for my $id (0 .. $#flips) {
            my ($at, $bit) = @{ $flips[$id] };
            my $seed = index $pages, pack('Q<', $mark + $id);
            next if $seed < 4 || ord(substr $pages, $seed - 4, 1) != 1; # the version, which is 1, comes first
            vec($pages, 8 * ($seed - 4 + $at) + $bit, 1) ^= 1;
            $flipped++;
        }
        open my $out, '>:raw', $file or die "$file: $!";
        print $out $pages;
        close $out or die "$file: $!";
    }
    is($flipped, scalar @flips, "$table: each row is damaged in its file");
}
$node->start;
for my $table (sort keys %on_disk) {
    my ($type, $filter) = @{ $on_disk{$table} };
    my $function = function_of($type, 'int');
    my $sound = sprintf $filter, $mark;
    query(qq{
        TRUNCATE outcomes;
        INSERT INTO outcomes SELECT '$table', pg_column_size(f), 0, id, d.answers, s.answers, d.rest, d.finding
        FROM $table, LATERAL (SELECT $sound AS g OFFSET 0) s0, LATERAL $function(g, g, 7, 100000) s, LATERAL $function(f, g, 7, 100000) d});
    my @may_differ = grep { $flips[$_][0] < 4 && $flips[$_][0] > 0 } 0 .. $#flips;
    is( query('SELECT byte, a, s FROM outcomes, unnest(answers, sound) AS u (a, s) WHERE a <> s'
              . " AND a NOT IN ('error XX001', 'error 42804') AND byte NOT IN (" . join(', ', @may_differ) . ')'),
        '', "$table: filters that are damaged on disk give the right answer or an error");
    cmp_ok(query('SELECT count(finding) FROM outcomes'), '>', @flips / 3,
        '... and a check reports over a third of them');
    is(query("SET bloomfilter.scan = on; ANALYZE $table; SELECT count(*) FROM pg_stats WHERE tablename = '$table' AND attname = 'id'"),
        1, '... and ANALYZE of the table works');
}

clean_log($node);
done_testing();
