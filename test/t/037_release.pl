# What a release stored is read by every later one, with the same answers, and goes on living.
#
# test/golden/release-* has, for each release, a dump of the database that stores every kind of filter
# (test/matrix/state), its scripts as they were then, and what they printed before and after changes.
# The dump has each value in its text form, which is that of its bytes.
#
# BLOOMFILTER_TEST_RECORD=X.Y writes test/golden/release-X.Y in place of that. It is done once, when the
# release is made; the files never change afterwards.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IO::Compress::Gzip qw(gzip $GzipError);
use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $golden = "$FindBin::RealBin/../golden";
my $scripts = "$FindBin::RealBin/../matrix/state";
my $node = new_server('release');

# What psql prints in a database for a script, which may be a packed file.
sub output_of {
    my ($db, $file) = @_;
    my $script;
    gunzip($file => \$script, Transparent => 1) or die "$file: $GunzipError";
    my $status = IPC::Run::run([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($db) ], '<', \$script,
        '>', \my $output, '2>', \my $errors);
    die "$file: $errors" if !$status;
    return $output;
}

sub new_database {
    my ($db) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $db ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    return;
}

sub pack_into {
    my ($file, $content) = @_;
    gzip(\$content => $file, -Level => 9, -Minimal => 1) or die "$file: $GzipError";
    return;
}

sub record {
    my ($directory) = @_;
    mkdir $directory or die "$directory: $!";
    system_or_bail('cp', map({ "$scripts/$_.sql" } qw(dump live)), $directory);
    new_database('state');
    output_of('state', "$scripts/populate.sql");
    IPC::Run::run([ 'pg_dump', '--no-owner', '-d', $node->connstr('state') ], '>', \my $dump) or die 'pg_dump';
    # Some minor releases write these, which not every server reads.
    $dump =~ s/^(?:.*\bpg_attver\b|\\(?:un)?restrict ).*\n//mg;
    pack_into("$directory/state.sql.gz", $dump);
    pack_into("$directory/before.gz", output_of('state', "$directory/dump.sql"));
    output_of('state', "$directory/live.sql");
    pack_into("$directory/after.gz", output_of('state', "$directory/dump.sql"));
    return;
}

# Compares line by line, for a difference to be seen.
sub is_output {
    my ($db, $directory, $expected, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    gunzip("$directory/$expected.gz" => \my $before) or die $GunzipError;
    my $now = output_of($db, "$directory/dump.sql");
    my %there = map { $_ => 1 } split /\n/, $before;
    cmp_ok(scalar(keys %there), '>', 500, "$what: there are answers");
    is(join("\n", grep { !$there{$_} } split /\n/, $now), '', "$what: no other answers");
    ok($now eq $before, "$what: all answers");
    return;
}

if (my $version = $ENV{BLOOMFILTER_TEST_RECORD}) {
    record("$golden/release-$version");
}
my @releases = sort glob "$golden/release-*";
cmp_ok(scalar @releases, '>', 0, 'there is a release');
for my $directory (@releases) {
    my ($version) = $directory =~ /release-(.*)/;
    my $db = "release_$version" =~ s/\W/_/gr;
    new_database($db);
    output_of($db, "$directory/state.sql.gz");
    is_output($db, $directory, 'before', "what $version stored");
    output_of($db, "$directory/live.sql");
    is_output($db, $directory, 'after', "what $version stored, changed");
}
clean_log($node);
done_testing();
