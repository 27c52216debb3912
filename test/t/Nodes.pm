# What tests of several servers share: counts of the bytes between the servers, and the SQL that a
# plan sends to other servers.
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

# Starts to count the bytes that pass through the sockets of nodes. Returns the ports to which clients
# must connect to be counted, in the order of the nodes.
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

# Returns the bytes counted until now at the given ports, or at all ports if none is given: first the
# bytes sent to the nodes, then the bytes from the nodes.
sub counted {
    my @counted = (0, 0);
    for my $port (@_ ? @_ : @ports) {
        my @of_port = split ' ', slurp_file("$directory/bytes.$port");
        $counted[$_] += $of_port[$_] for 0, 1;
    }
    return @counted;
}

# Returns the result of a script in a new session, the bytes sent to the nodes, and the bytes from them.
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

# Returns the text of EXPLAIN VERBOSE. The settings are statements that run before it.
sub verbose_plan {
    my ($node, $query, $settings) = @_;
    $settings //= '';
    return $node->safe_psql('postgres', "$settings; EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# Returns the SQL that a query sends to other nodes, with a line for each foreign scan.
sub remote_sql {
    my $plan = verbose_plan(@_);
    return join "\n", $plan =~ /Remote SQL: (.*)/g;
}

1;
