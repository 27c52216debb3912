# Counts the bytes that pass between servers through unix sockets.
#
#   perl test/byteproxy.pl DIRECTORY LISTEN:TARGET ...
#
# A connection to DIRECTORY/.s.PGSQL.LISTEN is passed on to DIRECTORY/.s.PGSQL.TARGET. The file
# DIRECTORY/bytes.LISTEN appears as soon as one can connect. It has a line "TO FROM": the number of
# bytes sent to the target, and the number of bytes that came from the target. Bytes are counted
# before they are passed on, so when a client has read an answer, the answer is counted. To count the
# bytes of one statement, read the file before and after the statement. The program ends and removes
# its files at SIGTERM, and when the process that started it has ended.

use strict;
use warnings FATAL => 'all';

use Errno qw(EAGAIN EINTR);
use IO::Select;
use IO::Socket::UNIX;

my $usage = "usage: $0 DIRECTORY LISTEN:TARGET ...\n";
my $directory = shift or die $usage;
my %targets = map { /^(\d+):(\d+)$/ ? ($1 => $2) : die $usage } @ARGV or die $usage;
my $parent = getppid;
my $chunk = 1 << 18;

my (%counters, %connections); # by listening socket; by either socket of a connection
my $readers = IO::Select->new;
my $writers = IO::Select->new;
my @made;

$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = $SIG{INT} = sub { exit 0 };
END { unlink @made }

sub listen_on {
    my ($port, $target) = @_;
    my ($path, $bytes) = ("$directory/.s.PGSQL.$port", "$directory/bytes.$port");
    unlink $path, $bytes;
    my $listener = IO::Socket::UNIX->new(Local => $path, Listen => SOMAXCONN) or die "$path: $!\n";
    push @made, $path, $bytes;
    open my $file, '+>', "$bytes.new" or die "$bytes.new: $!\n";
    my $counter = { target => "$directory/.s.PGSQL.$target", file => $file, to => 0, from => 0 };
    write_counter($counter);
    rename "$bytes.new", $bytes or die "$bytes: $!\n";
    $counters{$listener} = $counter;
    $readers->add($listener);
    return;
}

# Writes both counts in one call, and always the same number of bytes, so that a reader never sees a
# part of a number.
sub write_counter {
    my ($counter) = @_;
    sysseek $counter->{file}, 0, 0;
    syswrite $counter->{file}, sprintf "%20d %20d\n", $counter->{to}, $counter->{from};
    return;
}

# Accepts a connection. Each direction of it has a source, a sink, and the bytes that were read from
# the source but not yet written to the sink.
sub connect_to_target {
    my ($listener) = @_;
    my $counter = $counters{$listener};
    my $client = $listener->accept or return;
    my $target = IO::Socket::UNIX->new(Peer => $counter->{target}) or return;
    $_->blocking(0) for $client, $target;
    my %directions = (
        to => { source => $client, sink => $target, unwritten => '' },
        from => { source => $target, sink => $client, unwritten => '' });
    $connections{$_} = { counter => $counter, directions => \%directions } for $client, $target;
    $readers->add($client, $target);
    return;
}

# Reads from a source. The next read waits until all bytes are written to the sink.
sub forward {
    my ($socket) = @_;
    my $connection = $connections{$socket} or return; # closed since select
    my $name = $connection->{directions}{to}{source} == $socket ? 'to' : 'from';
    my $direction = $connection->{directions}{$name};
    my $read = sysread $socket, $direction->{unwritten}, $chunk;
    return if !defined $read && ($! == EAGAIN || $! == EINTR);
    return end($connection, $direction) if !$read;
    $connection->{counter}{$name} += $read;
    write_counter($connection->{counter});
    $readers->remove($socket);
    return flush($connection, $direction);
}

sub flush {
    my ($connection, $direction) = @_;
    my ($source, $sink) = @{$direction}{qw(source sink)};
    my $written = syswrite $sink, $direction->{unwritten};
    return end($connection, $direction) if !defined $written && $! != EAGAIN && $! != EINTR;
    substr $direction->{unwritten}, 0, $written || 0, '';
    if ($direction->{unwritten} eq '') {
        $writers->remove($sink);
        $readers->add($source);
    } else {
        $writers->add($sink);
    }
    return;
}

# Ends one direction of a connection. The other direction stays open until its own source ends.
sub end {
    my ($connection, $direction) = @_;
    my ($source, $sink) = @{$direction}{qw(source sink)};
    $readers->remove($source);
    $writers->remove($sink);
    shutdown $source, 0;
    shutdown $sink, 1;
    $direction->{ended} = 1;
    return if grep { !$_->{ended} } values %{ $connection->{directions} };
    delete @connections{ $source, $sink };
    $_->close for $source, $sink;
    return;
}

listen_on($_, $targets{$_}) for sort keys %targets;
while (getppid == $parent) {
    my ($readable, $writable) = IO::Select->select($readers, $writers, undef, 1);
    for my $sink (@{ $writable || [] }) {
        my $connection = $connections{$sink} or next;
        my @directions = values %{ $connection->{directions} };
        flush($connection, $_) for grep { $_->{sink} == $sink } @directions;
    }
    for my $socket (@{ $readable || [] }) {
        if ($counters{$socket}) { connect_to_target($socket) } else { forward($socket) }
    }
}
