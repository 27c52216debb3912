# What the tests of faults share: random choices that can be repeated, the number of rounds, and
# sessions that a test can watch, interrupt and kill while they work.
#
# BLOOMFILTER_TEST_SEED repeats the random choices. BLOOMFILTER_TEST_MINUTES is the time for which
# each part of a test file is repeated; without it, each part runs once. test/matrix/faults sets both.
package Faults;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use File::Find;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

our @EXPORT = qw(another_round chosen between_numbers cpu_of private_bytes children_of temporary_files
    wait_until);

my $seed = $ENV{BLOOMFILTER_TEST_SEED} // int(time) % 1_000_000;
srand $seed;
note("BLOOMFILTER_TEST_SEED=$seed");

my %end;

# Returns whether the named part of a test file has another round. Each part has at least one.
sub another_round {
    my ($name) = @_;
    return time < $end{$name} if $end{$name};
    $end{$name} = time + 60 * ($ENV{BLOOMFILTER_TEST_MINUTES} // 0);
    return 1;
}

# Returns a random element of a list.
sub chosen { return $_[ rand @_ ] }

sub between_numbers {
    my ($low, $high) = @_;
    return $low + rand($high - $low);
}

# Returns the seconds of processor time that a process has used, to about a hundredth of a second, or
# undef if the process is gone.
sub cpu_of {
    my ($pid) = @_;
    open my $stat, '<', "/proc/$pid/stat" or return;
    my @fields = split ' ', (<$stat> // return) =~ s/.*\)//sr;
    return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK);
}

# Returns the bytes of memory that a process shares with no other process.
sub private_bytes {
    my ($pid) = @_;
    return 1024 * (slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m)[0];
}

sub children_of {
    my ($parent) = @_;
    my @children;
    for my $file (glob '/proc/[0-9]*/stat') {
        open my $stat, '<', $file or next; # the process has ended
        my $line = <$stat> // next;
        push @children, $file =~ /(\d+)/ if $line =~ /\) \S $parent /;
    }
    return @children;
}

# Returns the names of temporary files, and of directories of temporary files, below the given
# directories.
sub temporary_files {
    my @directories = @_;
    my @found;
    find(sub { push @found, $File::Find::name if /^pgsql_tmp\d/ }, @directories);
    return "@found";
}

# Waits until a condition holds. Dies when the tests' time limit is over.
sub wait_until {
    my ($name, $condition) = @_;
    my $limit = time + $PostgreSQL::Test::Utils::timeout_default;
    until ($condition->()) {
        die "timed out: $name" if time > $limit;
        usleep(5_000);
    }
    return;
}

# --- a session -------------------------------------------------------------------------------------

my $asked = 0;

# Starts a psql that stays open. Statements run in it one after the other.
sub session {
    my ($class, $node, $settings) = @_;
    my $self = bless { in => '', out => '', err => '' }, $class;
    $self->{psql} = IPC::Run::start(
        [ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres') ],
        '<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err},
        IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
    $self->ask($settings) if $settings;
    ($self->{pid}) = $self->ask('SELECT pg_backend_pid()');
    return $self;
}

sub pid { return $_[0]{pid} }

# Sends statements without waiting; wait_for_answer() returns their answer.
sub begin {
    my ($self, $sql) = @_;
    $self->{mark} = '-- answered ' . ++$asked;
    $self->{out} = $self->{err} = '';
    $self->{in} .= "$sql;\n\\echo :SQLSTATE $self->{mark}\n";
    $self->{psql}->pump_nb;
    return;
}

sub has_answered {
    my ($self) = @_;
    $self->{psql}->pump_nb;
    return $self->{out} =~ /\Q$self->{mark}\E/ || !$self->{psql}->pumpable;
}

# Returns the output, and the last statement's SQLSTATE, which is 08006 if the connection was lost.
sub wait_for_answer {
    my ($self) = @_;
    wait_until('an answer', sub { $self->has_answered });
    my ($printed, $state) = $self->{out} =~ /\A(.*?)(\w{5}) \Q$self->{mark}\E/s or return ('', '08006');
    chomp $printed;
    return ($printed, $state);
}

sub ask {
    my ($self, $sql) = @_;
    $self->begin($sql);
    return $self->wait_for_answer;
}

sub end {
    my ($self) = @_;
    $self->{in} .= "\\q\n";
    eval { $self->{psql}->finish };
    return;
}

1;
