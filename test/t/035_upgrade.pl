# pg_upgrade brings a database that stores every kind of filter (test/matrix/state) to another cluster.
# Its stored values and its answers are the same as before. Later changes give the same as without the
# upgrade.
#
# If BLOOMFILTER_TEST_OTHER_PG_CONFIG names the pg_config of another, older server that has the
# extension, the database is upgraded from that server, in several encodings. It is also brought over by
# dumps and by logical replication, and replicated in the other direction.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $pg_config = $ENV{BLOOMFILTER_TEST_OTHER_PG_CONFIG};
my %bindir = map { $_ => bindir_of($_) } 'pg_config', $pg_config // ();
my @encodings = $pg_config ? qw(UTF8 LATIN1 EUC_JP SQL_ASCII) : 'UTF8';
my (%before, %after); # what dump.sql prints before and after changes, by encoding

sub bindir_of {
    my ($program) = @_;
    chomp(my $bindir = `$program --bindir`);
    return $bindir;
}

# Either both ends of an upgrade have checksums, which is the default in 18, or neither has.
my @init = (extra => [ '--encoding=UTF8', '--no-locale', '--data-checksums' ]);

# --- states ----------------------------------------------------------------------------------------

# Runs a script of test/matrix/state, or another file, in a database. Returns what it prints.
sub output_of {
    my ($node, $db, $file) = @_;
    $file = "$FindBin::RealBin/../matrix/state/$file" if $file !~ m|/|;
    my $status = IPC::Run::run([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db), '-f', $file ],
        '>', \my $output, '2>', \my $errors);
    die $node->name . ", $db, $file: $errors" if !$status;
    return $output;
}

sub new_database {
    my ($node, $db, $encoding) = @_;
    $node->safe_psql('postgres', qq{
        CREATE DATABASE $db ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
    return;
}

sub is_state {
    my ($node, $db, $expected, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $state = output_of($node, $db, 'dump.sql');
    my @differ = ok($state eq $expected, $what) ? () : differences($state, $expected);
    diag(join "\n", scalar(@differ) . ' lines differ:', splice @differ, 0, 20) if @differ;
    return;
}

sub differences {
    my @lines = map { [ split /\n/ ] } @_;
    my %in = map { my $side = $_; $side => { map { $_ => 1 } @{ $lines[$side] } } } 0, 1;
    return ((map { "  is $_" } grep { !$in{1}{$_} } @{ $lines[0] }),
        (map { " was $_" } grep { !$in{0}{$_} } @{ $lines[1] }));
}

# Dumps and restores with this server's programs.
sub dump_and_restore {
    my ($from, $from_db, $to, $db, $encoding) = @_;
    new_database($to, $db, $encoding);
    command_ok([ 'pg_dump', '-d', $from->connstr($from_db), '-f', "$dir/dump.sql" ], "pg_dump of $from_db");
    output_of($to, $db, "$dir/dump.sql");
    return;
}

# --- the old server --------------------------------------------------------------------------------

my %options = (init => { @init, allows_streaming => 'logical' });
my $old = new_server('old', %options, install_path => $pg_config && $bindir{$pg_config} =~ s|/bin$||r);
my $new = $pg_config && new_server('new', %options);

if ($pg_config) {
    my @major = map { $_->safe_psql('postgres', q{SELECT current_setting('server_version_num')::int / 10000}) } $old, $new;
    plan skip_all => 'the other server is newer' if $major[0] > $major[1];
    $old->safe_psql('postgres', 'CREATE TABLE probe (i int)'); # Debian's 15.20 stores pg_attver for i
    plan skip_all => 'the older server writes pg_attver into dumps, which no other major release reads'
      if $major[0] < $major[1] && $old->safe_psql('postgres', q{
        SELECT count(*) FROM pg_attribute
        WHERE attrelid = 'probe'::regclass AND attoptions::text LIKE '%pg_attver%'});
}

for my $encoding (@encodings) {
    my $db = lc $encoding;
    new_database($old, $db, $encoding);
    output_of($old, $db, 'populate.sql');
    is(output_of($old, $db, 'complete.sql'), '',
        "$encoding: the database has every family, layout and kind of partial state in the code");
    $before{$encoding} = output_of($old, $db, 'dump.sql');
    $old->safe_psql('postgres', "CREATE DATABASE lived TEMPLATE $db");
    output_of($old, 'lived', 'live.sql');
    $after{$encoding} = output_of($old, 'lived', 'dump.sql');
    $old->safe_psql('postgres', 'DROP DATABASE lived');
    isnt($after{$encoding}, $before{$encoding},
        "$encoding: the changes of live.sql change what dump.sql prints");
}

# --- dumps and replication -------------------------------------------------------------------------

# The new server's programs dump the old server's database. Text of every encoding can be restored in
# UTF8, and dumped and restored back from there. SQL_ASCII does not say which character a byte is, so
# its text is restored only in SQL_ASCII.
sub dump_of_old {
    my ($encoding) = @_;
    my $db = lc $encoding;
    my $wide = $encoding eq 'SQL_ASCII' ? $encoding : 'UTF8';
    dump_and_restore($old, $db, $new, "${db}_there", $wide);
    is_state($new, "${db}_there", $before{$encoding}, "$encoding: the same after dump and restore in $wide");
    return if $wide eq $encoding;
    dump_and_restore($new, "${db}_there", $new, "${db}_back", $encoding);
    is_state($new, "${db}_back", $before{$encoding},
        "$encoding: the same after dump and restore back in $encoding");
    return;
}

# Logical replication brings all tables of one database, and later changes, to another.
sub replicate {
    my ($from, $to) = @_;
    my $what = join ' ', 'from', $from->name, 'to', $to->name;
    my ($db, $host, $port) = ('replicated', $from->host, $from->port);
    new_database($_, $db, 'UTF8') for $from, $to;
    output_of($from, $db, 'populate.sql');
    $from->safe_psql($db, q{
        ALTER TABLE keyed REPLICA IDENTITY FULL; -- which are compared then
        CREATE PUBLICATION everything FOR ALL TABLES});
    # Only the newer server's pg_dump reads both servers. It may write settings that the older server
    # does not know.
    command_ok([ 'pg_dump', '--schema-only', '--no-publications', '-d', $old->connstr('utf8'),
        '-f', "$dir/schema.sql" ], "$what: pg_dump of the schema");
    my $schema = slurp_file("$dir/schema.sql") =~ s/^SET transaction_timeout.*\n//mr;
    unlink "$dir/schema.sql";
    append_to_file("$dir/schema.sql", $schema);
    output_of($to, $db, "$dir/schema.sql");
    $to->safe_psql($db, "CREATE SUBSCRIPTION everything CONNECTION 'host=$host port=$port dbname=$db' PUBLICATION everything");
    $to->poll_query_until($db, q{SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel})
      or die "$what: not copied";
    for my $state ([ 'the copy', $before{UTF8} ], [ 'the changes', $after{UTF8} ]) {
        output_of($from, $db, 'live.sql') if $state->[0] eq 'the changes';
        $from->wait_for_catchup('everything');
        $to->safe_psql($db, 'REFRESH MATERIALIZED VIEW materialised');
        is_state($to, $db, $state->[1], "$what, $state->[0]: the subscriber has the same");
    }
    $to->safe_psql($db, 'DROP SUBSCRIPTION everything');
    $_->safe_psql('postgres', "DROP DATABASE $db") for $from, $to;
    return;
}

if ($pg_config) {
    note(join ' and ', map { $_->safe_psql('postgres', 'SHOW server_version') } $old, $new);
    new_database($new, 'built', 'UTF8');
    output_of($new, 'built', 'populate.sql');
    is_state($new, 'built', $before{UTF8}, 'the new server builds the same filters from the same statements');
    dump_of_old($_) for @encodings;
    new_database($new, 'narrow', 'LATIN1');
    command_ok([ 'pg_dump', '-d', $old->connstr('utf8'), '-f', "$dir/dump.sql" ], 'pg_dump of utf8');
    command_fails_like([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $new->connstr('narrow'), '-f', "$dir/dump.sql" ],
        qr/has no equivalent in encoding "LATIN1"/, 'restoring UTF8 text that LATIN1 lacks is an error');
    replicate($old, $new);
    replicate($new, $old);
} else {
  SKIP: {
        skip 'BLOOMFILTER_TEST_OTHER_PG_CONFIG names no other server', 1;
    }
}

# --- pg_upgrade ------------------------------------------------------------------------------------

# After `pg_upgrade --link`, the old cluster must not be started again, so this comes last.
sub upgraded {
    my (@options) = @_;
    my $node = PostgreSQL::Test::Cluster->new(@options ? 'linked' : 'copied');
    $node->init(@init);
    chdir $dir or die "$dir: $!"; # older versions of pg_upgrade write files here
    command_ok([ 'pg_upgrade', '-b', $bindir{ $pg_config // 'pg_config' }, '-B', $bindir{pg_config},
        '-d', $old->data_dir, '-D', $node->data_dir, '-s', $old->host, '-p', $old->port, '-P', $node->port,
        @options ], join ' ', 'pg_upgrade', @options);
    $node->append_conf('postgresql.conf', "autovacuum = off\njit = off");
    $node->start;
    is_state($node, lc, $before{$_}, "$_: the same after pg_upgrade @options") for @encodings;
    return $node;
}

clean_log($old);
$old->stop;
if ($pg_config) {
    upgraded()->stop;
}
my $linked = upgraded('--link');
for my $encoding (@encodings) {
    my $db = lc $encoding;
    output_of($linked, $db, 'live.sql');
    is_state($linked, $db, $after{$encoding},
        "$encoding: after pg_upgrade, changes give the same as without it");
    dump_and_restore($linked, $db, $linked, "${db}_restored", $encoding);
    is_state($linked, "${db}_restored", $after{$encoding},
        "$encoding: ... and so do dump and restore of them");
}

clean_log($_) for grep { $_ } $new, $linked;
done_testing();
