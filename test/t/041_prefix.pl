# `make install prefix=DIRECTORY` installs the extension outside of the server's directories. From
# version 18 on, a server finds it there if two settings name the directories. This is useful for a
# volume that is mounted into a container.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use Cwd;
use File::Basename;
use File::Find;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

# The directory in which make was run
my $built = $ENV{TESTDIR} || dirname($ENV{TESTDATADIR});
-e "$built/bloomfilter.so" or plan skip_all => 'the extension was not built here';

my $root = PostgreSQL::Test::Utils::tempdir();

# Runs make. The environment has the arguments of the make that runs the tests; they are removed.
sub make {
    my (@arguments) = @_;
    delete local @ENV{qw(MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL)};
    my $makefile = getcwd() . '/Makefile';
    system_or_bail('make', '-s', '-C', $built, '-f', $makefile, 'PG_CONFIG=pg_config', @arguments);
    return;
}

# Returns the files below a directory, one a line.
sub files_below {
    my ($directory) = @_;
    my @files;
    find(sub { push @files, $File::Find::name =~ s|^\Q$directory/||r if -f }, $directory);
    return join "\n", sort @files;
}

# Returns the files that the extension has in these two directories, one a line.
sub files_in {
    my ($share, $lib) = @_;
    my @shared = map { "$share/extension/$_" } glob 'bloomfilter.control bloomfilter--*.sql';
    return join "\n", sort "$lib/bloomfilter.so", "$lib/bloomfilter_handlers.so", @shared;
}

# --- where the files go ----------------------------------------------------------------------------

# The manual of PostgreSQL names these directories.
my $staged = "$root/staged";
make('install', 'prefix=/opt/extras', "DESTDIR=$staged");
is(files_below($staged), files_in('opt/extras/share/postgresql', 'opt/extras/lib/postgresql'),
    'make install puts all files below the prefix');
make('uninstall', 'prefix=/opt/extras', "DESTDIR=$staged");
is(files_below($staged), '', 'make uninstall removes all files');
my $prefix = "$root/postgresql";
make('install', "prefix=$prefix");
is(files_below($prefix), files_in('share', 'lib'),
    'if the prefix has postgres in its name, files are directly in its share and lib');

# --- a server that finds them there ----------------------------------------------------------------

my ($version) = `pg_config --version` =~ /(\d+)/;
if ($version < 18) {
    SKIP: { skip 'the server has no extension_control_path', 1 }
    done_testing();
    exit;
}

# The server's own directories have the extension, too. The settings lack $system and $libdir, so the
# server takes no file from there.
my $node = new_server('prefix', conf => <<"CONF");
extension_control_path = '$prefix/share'
dynamic_library_path = '$prefix/lib'
CONF
sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }
my $libraries = q{SELECT DISTINCT substring(line FROM '/.*')
    FROM regexp_split_to_table(pg_read_file('/proc/self/maps'), '\n') line WHERE line LIKE '%/bloomfilter.so'};
is(query("LOAD 'bloomfilter'; $libraries"), "$prefix/lib/bloomfilter.so",
    'LOAD finds the library below the prefix');

# pg_upgrade loads libraries by the names that functions have for them. Before version 19, it would look
# for $libdir/bloomfilter in the server's own directory alone.
is(query(q{SELECT DISTINCT probin FROM pg_proc WHERE probin LIKE '%bloomfilter%' ORDER BY probin}),
    "bloomfilter\nbloomfilter_handlers", 'functions name the libraries without a directory');

query(q{
    CREATE TABLE rows AS SELECT i FROM generate_series(1, 100000) i;
    CREATE TABLE filters AS SELECT bf_agg(i) AS f FROM rows WHERE i <= 50000;
    VACUUM ANALYZE rows, filters});
my $asked = 'SELECT count(*) FILTER (WHERE i <= 50000), count(*) < 52000 FROM rows'
  . ' WHERE (SELECT f FROM filters) @> i';
is(query($asked), '50000|t', 'a filter that was built contains its values and few others');
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;'
  . ' SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
like(query("$parallel; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $asked"), qr/Workers Launched: [12]/,
    'workers load the library');
is(query("$parallel; $asked"), '50000|t', '... and give the same answer');

$node->command_ok([ 'pg_dump', '-f', "$root/dump.sql", 'postgres' ], 'pg_dump of the database');
query('CREATE DATABASE restored');
$node->command_ok([ qw(psql -Xq -v ON_ERROR_STOP=1 -d restored -f), "$root/dump.sql" ],
    'psql restores the dump');
is($node->safe_psql('restored', $asked), '50000|t', 'the restored filter gives the same answer');

# --- both directories ------------------------------------------------------------------------------

# The settings are as in the manual of PostgreSQL. The server takes a file from the first directory that
# has it, also for shared_preload_libraries.
$node->append_conf('postgresql.conf', <<"CONF");
extension_control_path = '$prefix/share:\$system'
dynamic_library_path = '$prefix/lib:\$libdir'
shared_preload_libraries = 'bloomfilter'
CONF
$node->restart;
is(query($libraries), "$prefix/lib/bloomfilter.so", 'the preloaded library is the one below the prefix');
is(query($asked), '50000|t', '... and functions call it');

clean_log($node);
done_testing();
