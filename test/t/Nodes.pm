# What tests of several servers share: counting the bytes between them, and the SQL that plans send.
package Nodes;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use FindBin;
use POSIX qw(WNOHANG);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(count_bytes counted bytes_of between verbose_plan remote_sql);

my ($directory, @ports, $counter);

# Starts to count what passes through the sockets of nodes. Returns the ports to connect to instead.
sub count_bytes {
    my @nodes = @_;
    $directory = $nodes[0]->host;
    @ports = map { PostgreSQL::Test::Cluster::get_free_port() } @nodes;
    my @pairs = map { "$ports[$_]:" . $nodes[$_]->port } 0 .. $#nodes;
    $counter = fork // die "fork: $!";
    if (!$counter) {
        exec($^X, "$FindBin::RealBin/../byteproxy.pl", $directory, @pairs) or POSIX::_exit(1);
    }
    for my $port (@ports) {
        usleep(10_000) until -e "$directory/bytes.$port" || waitpid $counter, WNOHANG;
    }
    return @ports;
}

END {
    my $status = $?;
    kill TERM => $counter and waitpid $counter, 0 if $counter;
    $? = $status;
}

# The bytes counted until now at some ports, or at all: those to the nodes, and those from them.
sub counted {
    my @counted = (0, 0);
    for my $port (@_ ? @_ : @ports) {
        my @of_port = split ' ', slurp_file("$directory/bytes.$port");
        $counted[$_] += $of_port[$_] for 0, 1;
    }
    return @counted;
}

# The result of a script in a new session, and the bytes that it sent and received.
sub bytes_of {
    my ($node, $sql) = @_;
    my @before = counted();
    my $result = $node->safe_psql('postgres', $sql);
    my @after = counted();
    return ($result, map { $after[$_] - $before[$_] } 0, 1);
}

sub between {
    my ($number, $low, $high, $name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok($low <= $number && $number <= $high, $name)
      || diag("$number is not between $low and $high");
}

# EXPLAIN's text. The settings are statements before the query.
sub verbose_plan {
    my ($node, $query, $settings) = @_;
    $settings //= '';
    return $node->safe_psql('postgres', "$settings; EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# The SQL that a query sends to other nodes, a line for each foreign scan.
sub remote_sql {
    my $plan = verbose_plan(@_);
    return join "\n", $plan =~ /Remote SQL: (.*)/g;
}

1;
