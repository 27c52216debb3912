# Filters through the protocol, as client programs use them: parameters without a type, whose values
# are sent as text and as binary; results and filters as text and as binary. Two clients are used:
# pgbench with several connections, and a client in this file, because neither psql nor pgbench sends
# binary values.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('protocol');
$node->safe_psql('postgres', q{
    CREATE TABLE stored (name text, f bloomfilter);
    INSERT INTO stored
      SELECT 'numbers', bf_agg(i) FROM generate_series(1, 5000) i UNION ALL
      SELECT 'words', bf_agg(E'w\u00f6rd ' || i) FROM generate_series(1, 5000) i UNION ALL
      SELECT 'dates', bf_agg(date '2000-01-01' + i) FROM generate_series(1, 10) i UNION ALL
      SELECT 'empty', bf_create(10);
    CREATE TABLE deletable AS
      SELECT 'numbers' AS name, cbf_agg(i) AS counting, cf_agg(i) AS cuckoo
      FROM generate_series(1, 5000) i UNION ALL
      SELECT 'words', cbf_agg(E'w\u00f6rd ' || i), cf_agg(E'w\u00f6rd ' || i)
      FROM generate_series(1, 5000) i UNION ALL
      SELECT 'dates', cbf_agg(date '2000-01-01' + i), cf_agg(date '2000-01-01' + i)
      FROM generate_series(1, 10) i UNION ALL
      SELECT 'empty', cbf_create(10), cf_create(10)});

# In pgbench, a wrong answer is a division by zero, which ends the client with an error.

sub pgbench {
    my ($mode, $what, $script, $status) = @_;
    (my $file = "${mode}_$what") =~ tr/A-Za-z0-9/_/c;
    my @errors = $status ? (qr/division by zero/) : ();
    $node->pgbench("-n -M $mode -c 4 -j 2 -t 100", $status, [], \@errors,
        "pgbench -M $mode: $what", { $file => $script });
    return;
}

for my $mode (qw(simple extended prepared)) {
    pgbench($mode, 'members', <<'SQL', 0);
\set v random(1, 5000)
SELECT 1 / (f @> :v)::int FROM stored WHERE name = 'numbers';
SELECT 1 / (:v <@ f)::int FROM stored WHERE name = 'numbers';
SELECT 1 / bf_contains(f, :v)::int FROM stored WHERE name = 'numbers';
SELECT 1 / (f @> (E'w\u00f6rd ' || :v))::int FROM stored WHERE name = 'words';
SQL
    pgbench($mode, 'a value without a type gives what a bigint gives', <<'SQL', 0);
\set v random(1, 100000)
SELECT 1 / ((f @> :v) = (f @> :v::bigint))::int FROM stored WHERE name = 'numbers';
SELECT 1 / (NOT (bf_clear(f) @> :v))::int FROM stored WHERE name = 'numbers';
SELECT 1 / ((f + :v) @> :v)::int FROM stored WHERE name = 'numbers';
SELECT 1 / (bf_add(f, :v) = bf_add(f, :v::bigint))::int FROM stored WHERE name = 'numbers';
SQL
    for my $type (qw(cbf cf)) {
        my $column = { cbf => 'counting', cf => 'cuckoo' }->{$type};
        pgbench($mode, "$type, members and changes", <<"SQL", 0);
\\set v random(1, 5000)
\\set w random(5001, 1000000)
SELECT 1 / ($column \@> :v AND :v <\@ $column)::int FROM deletable WHERE name = 'numbers';
SELECT 1 / ($column - :v = ${type}_remove($column, :v::bigint))::int FROM deletable
  WHERE name = 'numbers';
SELECT 1 / (($column + :w) \@> :w AND ${type}_multiplicity($column + :v, :v) > 1)::int
  FROM deletable WHERE name = 'numbers';
SELECT 1 / (${type}_add($column, :w) - :w = $column)::int FROM deletable WHERE name = 'empty';
SQL
    }
    pgbench($mode, 'the check itself: a wrong answer is an error', <<'SQL', 2);
\set v random(1, 5000)
SELECT 1 / (f @> :v)::int FROM stored WHERE name = 'empty';
SQL
}
pgbench('prepared', 'the server gives the parameter the type bf_literal', <<'SQL', 0);
\set v random(1, 5000)
SELECT f @> :v FROM stored WHERE name = 'numbers';
SELECT 1 / count(*) FROM pg_prepared_statements
  WHERE NOT from_sql AND parameter_types = '{bf_literal}';
SQL

# A small client that speaks the protocol

my $socket = IO::Socket::UNIX->new($node->host . '/.s.PGSQL.' . $node->port)
  or die "no connection: $!";

sub send_message {
    my ($type, $body) = @_;
    $socket->syswrite($type . pack('N', 4 + length $body) . $body);
    return;
}

sub receive {
    my ($length) = @_;
    my $bytes = '';
    while (length $bytes < $length) {
        $socket->sysread($bytes, $length - length $bytes, length $bytes) or die 'connection lost';
    }
    return $bytes;
}

# Reads messages until the server is ready for the next query. Returns a list of [type, body].
sub messages {
    my @messages;
    do {
        my ($type, $length) = unpack 'a N', receive(5);
        push @messages, [ $type, receive($length - 4) ];
    } until $messages[-1][0] eq 'Z';
    return @messages;
}

sub body_of {
    my ($type, @messages) = @_;
    my ($found) = grep { $_->[0] eq $type } @messages;
    return $found ? $found->[1] : undef;
}

# Runs a statement with untyped parameters, all in one format (0 text, 1 binary). Returns the first
# field of the first row and the types of the parameters, or the SQLSTATE of an error.
sub ask {
    my ($sql, $format, @values) = @_;
    my $parameters = join '',
      map { defined $_ ? pack('N', length $_) . $_ : pack('N', 0xFFFFFFFF) } @values;
    send_message('P', "\0$sql\0" . pack('n', 0));
    send_message('D', "S\0");
    send_message('B', "\0\0" . pack('n n n', 1, $format, scalar @values) . $parameters
          . pack('n n', 1, $format));
    send_message('E', "\0" . pack('N', 0));
    send_message('S', '');
    my @answer = messages();
    if (defined(my $error = body_of('E', @answer))) {
        return ($error =~ /(?:^|\0)C(\w{5})\0/);
    }
    my (undef, @types) = unpack 'n N*', body_of('t', @answer);
    my ($fields, $length, $rest) = unpack 'n N a*', body_of('D', @answer);
    return ($length == 0xFFFFFFFF ? undef : substr($rest, 0, $length), @types);
}

my $startup = pack('N', 196608) . 'user' . "\0" . getpwuid($<) . "\0database\0postgres\0\0";
$socket->syswrite(pack('N', 4 + length $startup) . $startup);
is(body_of('R', messages()), pack('N', 0), 'the client connects without a password');

my $literal = $node->safe_psql('postgres', q{SELECT 'bf_literal'::regtype::oid});
my $absent = $node->safe_psql('postgres', q{
    SELECT min(i) FROM generate_series(5001, 6000) i, stored
    WHERE name = 'numbers' AND NOT f @> i});
my $word = "w\xc3\xb6rd";
my ($false, $true) = ('f', 't');

for my $format (0, 1) {
    my $name = $format ? 'binary' : 'text';
    my @cases = (
        [ 'f @> $1', 'numbers', ['4711'], $true ],
        [ 'f @> $1', 'numbers', [$absent], $false ],
        [ '$1 <@ f', 'numbers', [' 5000 '], $true ],
        [ 'bf_contains(f, $1)', 'numbers', [$absent], $false ],
        [ 'bf_contained($1, f)', 'words', ["$word 4711"], $true ],
        [ 'f @> $1', 'words', ["$word 0"], $false ],
        [ 'f @> $1', 'empty', ['anything'], $false ],
        [ 'bf_add(f, $1) @> $2', 'empty', [ $word, $word ], $true ],
        [ 'f + $1 @> $2', 'numbers', [ $absent, $absent ], $true ],
        [ '(bf_put(f, $1)).was_new', 'numbers', [$absent], $true ],
        [ 'f @> $1', 'words', [''], $false ],
        [ 'f @> $1', 'dates', ['2000-01-02'], $true ],
        [ 'f @> $1', 'dates', ['2000-01-02 +02'], $true ],
        [ 'f @> $1', 'numbers', [undef], undef ]);
    for (@cases) {
        my ($expression, $filter, $values, $expected) = @$_;
        my ($answer, @types) =
          ask("SELECT $expression FROM stored WHERE name = '$filter'", $format, @$values);
        $answer =~ tr/\0\1/ft/ if $format && defined $answer;
        is($answer, $expected, "$name: $expression, $filter");
        is("@types", join(' ', ($literal) x @$values), '... and each parameter has the type bf_literal');
    }
    for (
        [ 'f @> $1', 'numbers', ['word'], '22P02' ],
        [ 'f @> $1', 'numbers', ['99999999999999999999'], '22003' ],
        [ 'f @> $1', 'words', ["\xc3"], '22021' ],
        [ 'f @> $1', 'dates', ['1/2/2000'], '42804' ]) {
        my ($expression, $filter, $values, $expected) = @$_;
        my ($answer) =
          ask("SELECT $expression FROM stored WHERE name = '$filter'", $format, @$values);
        is($answer, $expected, "$name: $expression, $filter: an error");
    }
}

# Counting and cuckoo filters
for my $format (0, 1) {
    for ([ cbf => 'counting' ], [ cf => 'cuckoo' ]) {
        my ($prefix, $f) = @$_;
        my $row = sub { ask("SELECT $_[0] FROM deletable WHERE name = '$_[1]'", $format, @{ $_[2] }) };
        my @cases = (
            [ "$f @> \$1", 'numbers', ['4711'], $true ],
            [ "$f @> \$1", 'words', ["$word 0"], $false ],
            [ "\$1 <@ $f", 'numbers', [' 5000 '], $true ],
            [ "${prefix}_contains($f, \$1)", 'words', ["$word 4711"], $true ],
            [ "${prefix}_contained(\$1, $f)", 'empty', ['anything'], $false ],
            [ "${prefix}_add($f, \$1) @> \$2", 'empty', [ $word, $word ], $true ],
            [ "$f + \$1 @> \$2", 'numbers', [ $absent, $absent ], $true ],
            [ "${prefix}_remove($f, \$1) = $f - 4711", 'numbers', ['4711'], $true ],
            [ "$f + \$1 - \$2 = $f", 'words', [ 'new', 'new' ], $true ],
            [ "${prefix}_remove($f, \$1, true) = $f", 'empty', ['anything'], $true ],
            [ "${prefix}_multiplicity($f + \$1, \$2) = 1", 'empty', [ $word, $word ], $true ],
            [ "$f + \$1 - \$2 = $f", 'dates', [ '2000-01-02', '2000-01-02T00:00Z' ], $true ],
            [ "$f - \$1 = $f", 'numbers', [undef], $true ],
            [ "$f @> \$1", 'numbers', [undef], undef ]);
        push @cases, [ '(cf_put(cuckoo, $1)).was_new', 'empty', ['x'], $true ] if $prefix eq 'cf';
        for (@cases) {
            my ($expression, $name, $values, $expected) = @$_;
            my ($answer, @types) = $row->($expression, $name, $values);
            $answer =~ tr/\0\1/ft/ if $format && defined $answer;
            is($answer, $expected, "format $format: $expression, $name");
            is("@types", join(' ', ($literal) x @$values), '... and each parameter is a bf_literal');
        }
        for (
            [ "$f @> \$1", 'numbers', ['word'], '22P02' ],
            [ "$f + \$1", 'numbers', ['99999999999999999999'], '22003' ],
            [ "$f - \$1", 'words', ['absent'], '22023' ],
            [ "${prefix}_remove($f, \$1)", 'words', ["\xc3"], '22021' ],
            [ "$f - \$1", 'dates', ['1/2/2000'], '42804' ]) {
            my ($expression, $name, $values, $expected) = @$_;
            is(($row->($expression, $name, $values))[0],
                $expected, "format $format: $expression, $name: an error");
        }
        # A literal with a trailing blank may be text or char(n), so it is added and removed as both.
        # A literal of more than 63 bytes cannot be a name.
        my $one = "${prefix}_create(10) + 'word'::text";
        is(($row->("($one + \$1 - \$2 = $one AND $one + \$3 <> $one + \$4::text)::text", 'words',
                [ ('blank ') x 4 ]))[0],
            'true', "format $format: $f, a literal with a trailing blank is added as text and as char(n)");
        is(($row->("($one + \$1 - \$2 = $one AND $one + \$3 = $one + \$4::text)::text", 'words',
                [ ('x' x 70) x 4 ]))[0],
            'true', "format $format: $f, a long literal is added as text alone, and removed");
        my $type = $f eq 'cuckoo' ? 'cuckoofilter' : 'countingbloomfilter';
        my ($value) = $row->($f, 'numbers', []);
        is((ask("SELECT \$1::$type = $f FROM deletable WHERE name = 'numbers'", $format, $value))[0],
            $format ? "\1" : 't', "format $format: a $type as a parameter is the same");
        is((ask("SELECT \$1::$type", $format, substr $value, 4))[0],
            $format ? '22P03' : '22P02', '... and a damaged one is an error');
    }
}

# A filter as a binary result and a binary parameter
my ($numbers) = ask(q{SELECT f FROM stored WHERE name = 'numbers'}, 1);
is( unpack('H*', $numbers),
    $node->safe_psql('postgres', q{
        SELECT encode(f::bytea, 'hex') FROM stored WHERE name = 'numbers'}),
    'the binary form of a filter is its bytes');
is((ask(q{SELECT f = $1 FROM stored WHERE name = 'numbers'}, 1, $numbers))[0],
    "\1", 'a filter as a binary parameter is the same filter');
is((ask(q{SELECT $1::bloomfilter @> 4711}, 1, $numbers))[0],
    "\1", 'a filter as a binary parameter has its members');
is((ask(q{SELECT $1::bloomfilter}, 1, substr $numbers, 1))[0],
    '22P03', 'a damaged filter as a binary parameter is an error');
is((ask(q{SELECT $1::bloomfilter}, 0, 'word'))[0], '22P02', 'text that is no filter is an error');
is((ask('SELECT 1::text', 0))[0], 1, 'the connection survives these errors');

send_message('X', '');
clean_log($node);
done_testing();
