# What the TAP tests share: a server with the extension, and short ways to query it.
package Support;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_server copied_server results_are sqlstate sqlstates_are temp_bytes plan_of peak_memory clean_log
  compile_library pgbench_command);

# Starts a server in UTF8 and the C locale, whatever the environment says. Its database "postgres"
# has the extension. A difference in bytes must come from the extension, so JIT, parallel query and
# autovacuum are off unless a test asks for them. No checkpoint starts because of elapsed time: after
# a checkpoint, WAL has whole pages. install_path: the directory of another installation of PostgreSQL.
sub new_server {
    my ($name, %options) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name,
        own_host => 0, install_path => $options{install_path});
    $node->init(extra => [ '--encoding=UTF8', '--no-locale' ], %{ $options{init} || {} });
    leave_out_settings($node) if $options{install_path};
    $node->append_conf('postgresql.conf', <<"CONF" . ($options{conf} || ''));
log_statement = none
shared_buffers = 128MB
max_wal_size = 4GB
checkpoint_timeout = 1d
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
CONF
    $node->start;
    $node->safe_psql('postgres', 'CREATE EXTENSION bloomfilter');
    return $node;
}

# Copies the server to a new directory. PostgreSQL finds its files relative to its programs. So a test
# can change files of the copy, and no other test sees the changes. Returns the paths of the copy by
# their names in pg_config, and of its `root`. Skips the test if the server cannot be copied.
sub copied_server {
    my %path = (root => PostgreSQL::Test::Utils::tempdir());
    for my $name (qw(bindir pkglibdir sharedir)) {
        chomp(my $path = `pg_config --$name`);
        $path{$name} = "$path{root}$path";
        system_or_bail('mkdir', '-p', $path{$name});
        system_or_bail('cp', '-R', "$path/.", $path{$name});
    }
    for my $name (qw(pkglibdir sharedir)) {
        chomp(my $path = `$path{bindir}/pg_config --$name`);
        plan skip_all => "a copy of this server has $path" if $path ne $path{$name};
    }
    return %path;
}

# Removes settings that PostgreSQL::Test writes for its own version of PostgreSQL. Another version
# may not know them.
sub leave_out_settings {
    my ($node) = @_;
    my $file = $node->data_dir . '/postgresql.conf';
    my $conf = slurp_file($file) =~ s/^(?:stats_temp_directory|autovacuum_worker_slots)\b.*\n//mgr;
    unlink $file;
    append_to_file($file, $conf);
    return;
}

# Compares the results of many queries, each [query, result, name of the test]. All queries run in one
# session, because starting a session takes longer than most queries.
sub results_are {
    my ($node, @tests) = @_;
    my $end = '-- the end of a result';
    my $all = $node->safe_psql('postgres', join '', map { "$_->[0];\n\\echo '$end'\n" } @tests);
    my @results = map { s/\n\z//r } split /^$end(?:\n|\z)/m, $all, -1;
    is($results[$_], $tests[$_][1], $tests[$_][2]) for 0 .. $#tests;
    return;
}

# Compares the SQLSTATEs of many statements, each [statement, SQLSTATE, name of the test].
sub sqlstates_are {
    my ($node, @tests) = @_;
    my ($status, $all) = $node->psql('postgres', "\\set ON_ERROR_STOP off\n" . join '',
        map { "$_->[0] \\g /dev/null\n\\echo :SQLSTATE\n" } @tests);
    is($status, 0, 'the connection survives all statements');
    my @sqlstates = split /\n/, $all;
    is($sqlstates[$_], $tests[$_][1], $tests[$_][2]) for 0 .. $#tests;
    return;
}

# Returns the SQLSTATE of a statement, which is 00000 if the statement succeeds.
sub sqlstate {
    my ($node, $sql) = @_;
    my ($status, undef, $errors) =
      $node->psql('postgres', $sql, extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
    return $errors =~ /(?:ERROR|FATAL): +(\w{5})/ ? $1 : $status == 0 ? '00000' : $errors;
}

# Returns the result of a script, and the number of bytes of temporary files that the script used.
sub temp_bytes {
    my ($node, $sql) = @_;
    my ($status, $result, $log) = $node->psql('postgres',
        "SET log_temp_files = 0; SET client_min_messages = log; $sql");
    die "$sql: $log" if $status != 0;
    my $bytes = 0;
    $bytes += $1 while $log =~ /temporary file: .* size (\d+)/g;
    return ($result, $bytes);
}

# Returns the text of EXPLAIN. The settings are statements that run before it.
sub plan_of {
    my ($node, $settings, $query) = @_;
    return $node->safe_psql('postgres', "$settings; EXPLAIN (COSTS OFF) $query");
}

# Runs a script in a new backend. Returns the largest resident set of the backend in bytes, the
# script's result, and the number of bytes of temporary files.
sub peak_memory {
    my ($node, $sql) = @_;
    my ($result, $files) = temp_bytes($node, "$sql; SELECT pg_read_file('/proc/self/status')");
    $result =~ s/^Name:.*^VmHWM:\s+(\d+) kB.*//ms or die "no VmHWM: $result";
    my $peak = 1024 * $1;
    chomp $result;
    return ($peak, $result, $files);
}

# Compiles test/t/NAME.c, which is no part of the extension, as a library. The library is linked with
# the given files. Returns its path without ".so", or undef if there is no compiler that can use the
# server's headers.
sub compile_library {
    my ($name, @linked) = @_;
    my $library = PostgreSQL::Test::Utils::tempdir() . "/$name";
    chomp(my ($cc, $include) = map { scalar `pg_config --$_` } qw(cc includedir-server));
    my $compile = "$cc -Werror -I'$include' -x c";
    return if system("echo '#include \"postgres.h\"' | $compile -fsyntax-only -") != 0;
    system_or_bail("$compile -shared -fPIC -o '$library.so' '$FindBin::RealBin/$name.c' -x none @linked");
    return $library;
}

# Checks that the server is running, and that its log reports neither a crash nor a leaked resource.
sub clean_log {
    my ($node) = @_;
    is($node->safe_psql('postgres', 'SELECT 1'), 1, 'the server still runs at the end of the tests');
    my $log = slurp_file($node->logfile);
    my @bad = grep { /PANIC:|TRAP:|terminated by signal|WARNING:.*(?:leak|not closed)/ }
      split /\n/, $log;
    is("@bad", '', "the server's log reports no crash and no leaked resource");
    return;
}

# A command that runs statements in many sessions. Each statement has a weight, by which it is chosen.
# `variables` are commands of pgbench that set what the statements use.
sub pgbench_command {
    my ($node, $variables, $script, @options) = @_;
    my $dir = PostgreSQL::Test::Utils::tempdir();
    append_to_file("$dir/$_", "$variables\n$script->{$_}[1];\n") for sort keys %$script;
    return ('pgbench', '-n', '-h', $node->host, '-p', $node->port, '-c', '4', '-j', '2',
        (map { ('-f', "$dir/$_\@$script->{$_}[0]") } sort keys %$script), @options, 'postgres');
}

1;
