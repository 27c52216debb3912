#!/usr/bin/perl
# Checks that the pages are true: runs the SQL of Markdown pages and compares its output with what
# they show:  test/documentation.pl [--write] PAGE...
#
# A page is run from top to bottom as one psql session, in an empty database of the server that the
# environment names. The database has the extension already, unless the page has a CREATE EXTENSION
# of its own. On a page
#
#   ```sql                      is run,
#   ```                         the next fence without a language, is its output: all of it, except
#                               that command tags (CREATE TABLE, INSERT 0 1, lo_import 16385) may be
#                               left out. Without such a fence, nothing but tags may be printed;
#   STATEMENT; -- → VALUE       as a line of a ```sql fence shows what the statement prints. In such a
#                               fence, this is done for every line that is printed;
#   -- Sketch: why              as the first line of a ```sql fence says that it is not run;
#   <!-- varies: numbers -->    above an output says that its numbers, and so the widths of columns,
#                               may differ;
#   <!-- varies: plan -->       above an output says that it is a plan, of which only the nodes and
#                               their conditions are compared, without their numbers;
#   `STATEMENT;` → `VALUE`      in the text is run: a whole statement, so that readers can paste it.
#                               A line may end on either side of the arrow.
#
# Start this program in the root of the repository: psql runs in the same directory, and psql commands
# such as \lo_import name files below it. If such a command names a file in /tmp, the file is placed
# in a temporary directory instead, which is removed when the program ends.
#
# A link within the repository must lead to a file, and to a heading if it names one.
#
# Prints a line for each thing that is wrong. With --write, the pages get what was printed instead.

use strict;
use warnings;
use File::Temp qw(tempdir tempfile);

my $write = @ARGV && $ARGV[0] eq '--write' && shift;
my $database = 'documentation';
my $mark = '=== part ';
my $tag = qr/^(?:You\ are\ now\ connected\ |
    (?:ALTER|ANALYZE|BEGIN|CALL|CLUSTER|COMMENT|COMMIT|COPY|CREATE|DEALLOCATE|DELETE|DO|DROP|
    EXECUTE|GRANT|IMPORT|INSERT|LISTEN|LOAD|LOCK|MERGE|PREPARE|REFRESH|REINDEX|RESET|REVOKE|
    ROLLBACK|SAVEPOINT|SELECT|SET|TRUNCATE|UPDATE|VACUUM)(?:\ [A-Z\d ]+)?$|
    lo_(?:import|export|unlink)(?:\ \d+)?$)/x;
my $arrow = qr/\s+→\s+/;
my $comment = qr/-- → (.*)$/m; # a value that is shown beside its statement
my $own_tmp = tempdir(CLEANUP => 1);
my $other_name = qr/^(?:postgres(?:ql)?|psql|plpgsql|sql)$/i;
my $statement = qr/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|EXPLAIN|PREPARE)\s/;

# Reads a page as a list of parts: texts, and fences with SQL or output.
sub read_page {
    my ($page) = @_;
    my @parts = ({ text => '' });
    my ($fence, $varies);
    open my $file, '<', $page or die "$page: $!\n";
    while (my $line = <$file>) {
        if ($fence) {
            if ($line =~ /^\s*```\s*$/) {
                push @parts, { text => $line };
                undef $fence;
            } else {
                $parts[-1]{text} .= $line;
            }
        } elsif ($line =~ /^(\s*)```\s*(\S*)\s*$/) {
            $parts[-1]{text} .= $line;
            $fence = { text => '', line => $., indent => length $1, fence => $2 };
            $fence->{varies} = $varies;
            push @parts, $fence;
            undef $varies;
        } else {
            $parts[-1]{text} .= $line;
            $parts[-1]{line} //= $.;
            if ($line =~ /^\s*<!-- varies: (\w+) -->$/) { $varies = $1 }
            elsif ($line =~ /\S/) { undef $varies }
        }
    }
    die "$page: a fence is not closed\n" if $fence;
    return @parts;
}

# Returns SQL whose results are printed as values alone.
sub tersely {
    my ($sql) = @_;
    return "\\set QUIET on\n\\pset format unaligned\n\\pset tuples_only on\n\\pset null NULL\n"
        . "$sql\\pset format aligned\n\\pset tuples_only off\n\\pset null ''\n\\set QUIET off\n";
}

# Makes the script for psql: each fence and each example that runs, in the order of the page. A line
# with a mark and a number precedes each of them.
sub script_of {
    my (@parts) = @_;
    my ($script, $n) = ('', 0);
    for my $part (@parts) {
        if (defined $part->{fence}) {
            next if $part->{fence} ne 'sql' || plain($part) =~ /\A-- Sketch: /;
            $part->{runs} = ++$n;
            my $sql = plain($part);
            $script .= "\\echo $mark$n\n" . ($sql =~ $comment ? tersely($sql) : $sql);
            next;
        }
        for my $example (examples($part->{text})) {
            $part->{runs} //= $n + 1;
            $n++;
            $script .= "\\echo $mark$n\n" . tersely("$example->[0]\n");
        }
    }
    return $script;
}

# Runs a script. Returns the output of each fence and example, by number.
sub printed_by {
    my ($script) = @_;
    return unless $script ne '';
    system('createdb', $database) == 0 or die "createdb failed\n";
    system('psql', '-Xqd', $database, '-c', 'CREATE EXTENSION bloomfilter')
        unless $script =~ /^CREATE EXTENSION (?:IF NOT EXISTS )?bloomfilter/m;
    my ($file, $name) = tempfile(UNLINK => 1);
    $script =~ s{^(\\.*)}{$1 =~ s|/tmp/|$own_tmp/|gr}gme;
    print $file "\\set QUIET on\n\\pset footer off\n\\set QUIET off\n$script";
    close $file;
    # Output is not buffered, so that errors and other output are in the order in which they happened.
    open my $psql, '-|', "stdbuf -o0 psql -Xd $database <'$name' 2>&1" or die "psql: $!\n";
    my @printed = ('');
    while (<$psql>) {
        if (/^$mark(\d+)$/) { $printed[$1] = '' }
        else { $printed[-1] .= s|\Q$own_tmp\E/|/tmp/|gr }
    }
    close $psql;
    system('dropdb', '--force', $database) == 0 or die "dropdb failed\n";
    return @printed;
}

# Returns the text of a fence without the indentation of the fence.
sub plain {
    my ($part) = @_;
    return $part->{text} =~ s/^ {0,$part->{indent}}//gmr;
}

# Returns [STATEMENT, VALUE] for each example in a text. In the cell of a table, \| stands for |.
sub examples {
    my @examples;
    while ($_[0] =~ /`([^`]+)`$arrow`([^`]*)`/g) {
        my @example = ($1, $2);
        s/\\\|/|/g for @example;
        push @examples, \@example;
    }
    return @examples;
}

# Returns the lines of a text that are not blank. Command tags are left out, except those in `keep`.
sub lines {
    my ($text, $keep) = @_;
    my @lines = grep { $_ ne '' } map { s/\s+$//r } split /\n/, $text;
    return grep { $_ !~ $tag || $keep->{$_} } @lines;
}

sub masked {
    my ($line) = @_;
    $line =~ s/^(Time: .* ms) \(.*\)$/$1/;
    $line =~ s/\d[\d,.]*/#/g;
    $line =~ s/(?<=\S)\s+/ /g;
    $line =~ s/-{2,}/-/g;
    $line =~ s/\(InitPlan [\w#]+\)\.col#/\$#/g; # as PostgreSQL 17 and later write $0
    $line =~ s/(Init|Sub)Plan [\w#]+(?: \(returns \$#\))?/$1Plan #/g; # PostgreSQL 19 gives a name
    return $line =~ s/^\s+//r;
}

# Returns the lines of plans that say which nodes they have, and on which conditions.
sub nodes_of {
    my (@lines) = @_;
    my $first = 0; # is this the first node of a plan?
    my @nodes;
    for my $line (@lines) {
        push @nodes, $line
            if $first || $line =~ /^(?:->|InitPlan|SubPlan|CTE) ?/ || $line =~ /(?:Cond|Filter): /;
        $first = $line =~ /^-+$/;
    }
    return @nodes;
}

# Returns the first difference between the output that a page shows and the output that was printed,
# or nothing if there is none.
sub difference {
    my ($shown_text, $printed_text, $varies) = @_;
    my %shown = map { s/\s+$//r => 1 } split /\n/, $shown_text;
    my @shown = lines($shown_text, \%shown);
    my @printed = lines($printed_text, \%shown);
    if ($varies) { $_ = masked($_) for @shown, @printed }
    if (($varies // '') eq 'plan') {
        return 'shows no plan' unless grep { /QUERY PLAN/ } @printed;
        @shown = nodes_of(@shown);
        @printed = nodes_of(@printed);
    }
    for my $line (@printed) {
        return "does not show: $line" unless @shown;
        return "does not show: $line (but: $shown[0])" if $line ne $shown[0];
        shift @shown;
    }
    return @shown ? "shows what is not printed: $shown[0]" : undef;
}

# Returns the anchors of a page, in the form that code hosts give to headings.
sub anchors {
    my ($page) = @_;
    my (%anchors, $fenced);
    open my $file, '<:encoding(UTF-8)', $page or die "$page: $!\n";
    while (<$file>) {
        $fenced = !$fenced if /^\s*```/;
        next if $fenced || !/^#+ (.*)/;
        (my $anchor = lc $1) =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
        $anchor =~ s/[^\w\- ]//g;
        $anchor =~ tr/ /-/;
        $anchors{ $anchors{$anchor} ? "$anchor-" . $anchors{$anchor}++ : $anchor }++;
    }
    return \%anchors;
}

# Returns the links of a text that lead to no file or to no heading.
sub broken_links {
    my ($page, $text) = @_;
    my @broken;
    while ($text =~ /\]\(([^)\s]+)\)/g) {
        my $link = $1;
        next if $link =~ /^[a-z]+:/;
        my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
        my $target = $path eq '' ? $page : ($page =~ m{^(.*/)} ? $1 : '') . $path;
        push @broken, $link if !-e $target || defined $anchor && !anchors($target)->{$anchor};
    }
    return @broken;
}

my $bad = 0;
sub complain {
    my ($page, $line, $what) = @_;
    print "$page:$line $what\n";
    $bad = 1;
}

# Returns an output in the form of a page. Of the command tags, those that the page had before stay.
sub as_shown {
    my ($output, $part) = @_;
    my %had = map { s/^\s+|\s+$//gr => 1 } split /\n/, $part->{text};
    my $text = join '', map { "$_\n" } grep { $_ !~ $tag || $had{$_} } split /\n/, $output;
    $text =~ s/\A\n+|\n+\z/\n/g;
    $text =~ s/\A\n|[ \t]+$//gm;
    my $indent = ' ' x $part->{indent};
    return $text =~ s/^(?=.)/$indent/gmr;
}

# Compares the output of a fence with the page, or writes it into the page.
sub check_output {
    my ($page, $part, $output) = @_;
    if ($write) {
        $part->{text} = as_shown($output, $part);
    } elsif (my $what = difference(plain($part), $output, $part->{varies})) {
        complain($page, $part->{line}, $what);
    }
}

# Compares the values of a text's examples with the page, or writes them into the page.
sub check_examples {
    my ($page, $part, @values) = @_;
    $part->{text} =~ s{(`[^`]+`$arrow`)([^`]*)(?=`)}{
        my ($example, $shown) = ($1, $2);
        (my $value = shift @values // '') =~ s/\n\z//;
        $value =~ s/\|/\\|/g;
        complain($page, $part->{line}, "$example$shown` is: $value" =~ s|\n\s*| |gr)
            if !$write && $shown ne $value;
        complain($page, $part->{line}, "$example is no statement that can be pasted")
            if $example !~ /^`(?:SELECT|WITH)\s.*;`$arrow`$/s;
        $example . ($write ? $value : $shown)
    }ge;
}

# Compares the values that a fence shows in comments with the output, or writes them into the page.
sub check_comments {
    my ($page, $part, $output) = @_;
    my $shown = join '', map { "$_\n" } $part->{text} =~ /$comment/g;
    my @printed = lines($output, {});
    if ($write) {
        $part->{text} =~ s{$comment}{'-- → ' . (shift @printed // '')}ge;
    } elsif (my $what = difference($shown, $output)) {
        complain($page, $part->{line}, $what);
    }
}

sub check_page {
    my ($page, @parts) = @_;
    my @printed = printed_by(script_of(@parts));
    my $ran; # the fence of SQL whose output has not been seen yet
    for my $part (@parts, { fence => 'sql' }) {
        my $fence = $part->{fence};
        if (!defined $fence) {
            complain($page, $part->{line}, "leads nowhere: $_")
                for broken_links($page, $part->{text});
            check_examples($page, $part, @printed[ $part->{runs} .. $#printed ])
                if $part->{runs};
        } elsif ($fence eq '' && $ran) {
            check_output($page, $part, $printed[ $ran->{runs} ] // '');
            undef $ran;
        } elsif ($fence eq '') {
            complain($page, $part->{line}, 'SQL that is neither run nor said to be a sketch')
                if $part->{text} =~ $statement;
        } elsif ($fence eq 'sql') { # prose may stand between SQL and its output, but no other SQL
            my $what = $ran && difference('', $printed[ $ran->{runs} ] // '');
            complain($page, $ran->{line}, $what) if $what;
            $ran = $part->{runs} ? $part : undef;
            if ($ran && $part->{text} =~ $comment) {
                check_comments($page, $part, $printed[ $part->{runs} ]);
                undef $ran;
            }
        } elsif ($fence =~ $other_name) {
            complain($page, $part->{line}, "a fence of SQL is named sql, not $fence");
        }
    }
}

# Checks two rules. README.md, the first page, has at most 180 lines. Only CONTRIBUTING.md may contain
# the placeholder for the address of a public repository, because the project has no address yet.
sub check_text {
    my ($page, @parts) = @_;
    my @lines = split /^/m, join '', map { $_->{text} } @parts;
    complain($page, scalar @lines, 'is longer than 180 lines')
        if $page =~ m{(?:^|/)README\.md$} && @lines > 180;
    for my $n (grep { $lines[$_] =~ m{github\.com/bloomfilter} } 0 .. $#lines) {
        complain($page, $n + 1, 'names an address that nobody has reserved')
            unless $page =~ /CONTRIBUTING\.md$/;
    }
}

for my $page (@ARGV) {
    my @parts = read_page($page);
    check_text($page, @parts);
    check_page($page, @parts);
    next unless $write;
    open my $file, '>', $page or die "$page: $!\n";
    print $file map { $_->{text} } @parts;
    close $file;
}
exit $bad;
