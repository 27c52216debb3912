#!/usr/bin/perl
# Do the pages say what is true? Runs the SQL of Markdown pages and compares what it prints with
# what they show:  test/documentation.pl [--write] PAGE...
#
# A page is run from top to bottom as one psql session in an empty database, of the server that the
# environment names; without a CREATE EXTENSION of its own it has the extension already. On a page
#
#   ```sql                      is run,
#   ```                         the next fence without a language, is what it printed: all of it, but
#                               for command tags (CREATE TABLE, INSERT 0 1), which may be left out.
#                               Without such a fence nothing but tags may be printed;
#   -- Sketch: why              as the first line of a ```sql fence: it is not run;
#   <!-- varies: numbers -->    above an output: its numbers, and so the widths of columns, differ;
#   <!-- varies: plan -->       above an output: it is a plan, of which only the conditions are
#                               compared, without their numbers;
#   `EXPRESSION` → `VALUE`      in the text is run as SELECT EXPRESSION.
#
# A link within the repository must lead to a file, and to a heading if it names one.
#
# Prints a line for each thing that is not so. With --write the pages get what was printed instead.

use strict;
use warnings;

my $write = @ARGV && $ARGV[0] eq '--write' && shift;
my $database = 'documentation';
my $mark = '=== part ';
my $tag = qr/^(?:You\ are\ now\ connected\ |
	(?:ALTER|ANALYZE|BEGIN|CALL|CLUSTER|COMMENT|COMMIT|COPY|CREATE|DEALLOCATE|DELETE|DO|DROP|EXECUTE|
	GRANT|IMPORT|INSERT|LISTEN|LOAD|LOCK|MERGE|PREPARE|REFRESH|REINDEX|RESET|REVOKE|ROLLBACK|SAVEPOINT|
	SELECT|SET|TRUNCATE|UPDATE|VACUUM)(?:\ [A-Z\d ]+)?$)/x;
my $sql_begins = qr/^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|EXPLAIN|PREPARE|COPY)\s/;

# A page as parts: text, SQL that is run, and the output below it.
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
			$fence = { text => '', line => $., indent => length $1, fence => $2, varies => $varies };
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

# What psql is given: each part that runs, behind a mark. Of text that is its examples.
sub run_page {
	my ($page, @parts) = @_;
	my $script = '';
	my $n = 0;
	for my $part (@parts) {
		if (($part->{fence} // '') eq 'sql') {
			my $code = plain($part);
			next if $code =~ /\A-- Sketch: /;
			$part->{runs} = ++$n;
			$script .= "\\echo $mark$n\n$code\n;\n";
			$script =~ s/;\n;\n\z/;\n/;
		} elsif (!$part->{fence}) {
			for my $example (examples($part->{text})) {
				$part->{runs} //= $n + 1;
				$n++;
				$script .= "\\echo $mark$n\n\\set QUIET on\n\\pset format unaligned\n\\pset tuples_only on\n"
					. "\\pset null NULL\nSELECT $example->[0];\n\\pset format aligned\n"
					. "\\pset tuples_only off\n\\pset null ''\n\\set QUIET off\n";
			}
		}
	}
	return unless $n;

	system('createdb', $database) == 0 or die "createdb failed\n";
	system('psql', '-Xqd', $database, '-c', 'CREATE EXTENSION bloomfilter') unless $script =~ /^CREATE EXTENSION (?:IF NOT EXISTS )?bloomfilter/m;
	my ($input, $output) = ("$page.$$.in", "$page.$$.out");
	s{/}{_}g, s{^}{($ENV{TMPDIR} // '/tmp') . '/'}e for $input, $output;
	open my $file, '>', $input or die "$input: $!\n";
	print $file "\\set QUIET on\n\\pset footer off\n\\set QUIET off\n$script";
	close $file;
	# Without buffers, so that errors stand where they happened.
	system("stdbuf -o0 psql -Xd $database <'$input' >'$output' 2>&1");
	my @printed = ('');
	open $file, '<', $output or die "$output: $!\n";
	while (<$file>) {
		if (/^$mark(\d+)$/) { $printed[$1] = '' }
		else { $printed[-1] .= $_ }
	}
	unlink $input, $output;
	system('dropdb', '--force', $database) == 0 or die "dropdb failed\n";
	return @printed;
}

# What a fence holds, without the indentation of the fence.
sub plain {
	my ($part) = @_;
	return $part->{text} =~ s/^ {0,$part->{indent}}//gmr;
}

# [EXPRESSION, VALUE] of each example in a text; a bar in a cell of a table is written \|.
sub examples {
	my @examples;
	while ($_[0] =~ /`([^`]+)` → `([^`]*)`/g) {
		my @example = ($1, $2);
		s/\\\|/|/g for @example;
		push @examples, \@example;
	}
	return @examples;
}

# The lines of a text that are not blank, and of command tags those that are to be kept.
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
	$line =~ s/\(InitPlan #\)\.col#/\$#/g; # as PostgreSQL 17 writes $0
	return $line =~ s/^\s+//r;
}

# What differs between what a page shows and what was printed, or nothing.
sub difference {
	my ($shown_text, $printed_text, $varies) = @_;
	my %shown = map { s/\s+$//r => 1 } split /\n/, $shown_text;
	my @shown = lines($shown_text, \%shown);
	my @printed = lines($printed_text, \%shown);
	if ($varies) { $_ = masked($_) for @shown, @printed }
	if (($varies // '') eq 'plan') {
		return 'shows no plan' unless grep { /QUERY PLAN/ } @printed;
		my %printed = map { $_ => 1 } @printed;
		my ($missing) = grep { /(?:Cond|Filter): / && !$printed{$_} } @shown;
		return $missing && "shows a condition that the plan has not: $missing";
	}
	for my $line (@printed) {
		return "does not show: $line" unless @shown;
		return "does not show: $line (but: $shown[0])" if $line ne $shown[0];
		shift @shown;
	}
	return @shown ? "shows what is not printed: $shown[0]" : undef;
}

# The anchors of a page, as the usual hosts make them of its headings.
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

# The links of a text that lead nowhere.
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

for my $page (@ARGV) {
	my @parts = read_page($page);
	for my $part (grep { !defined $_->{fence} } @parts) {
		complain($page, $part->{line} // 1, "leads nowhere: $_") for broken_links($page, $part->{text});
	}
	my @printed = run_page($page, @parts);
	my $ran; # the block whose output has not been seen
	for my $i (0 .. $#parts, undef) {
		my $part = defined $i ? $parts[$i] : undef;
		if ($part && ($part->{fence} // '') =~ /^(?!sql$)(?:p(?:ost)?gre(?:s|sql)|p(?:g|l|lpg)?sql|sql)$/i) {
			complain($page, $part->{line}, "a fence of SQL is named sql, not $part->{fence}");
		}
		if ($part && defined $part->{fence} && $part->{fence} eq '') {
			if ($ran) {
				my $output = $printed[ $ran->{runs} ] // '';
				if ($write) {
					my @kept = grep { $_ !~ $tag || $part->{text} =~ /^\s*\Q$_\E\s*$/m } split /\n/, $output;
					shift @kept while @kept && $kept[0] eq '';
					pop @kept while @kept && $kept[-1] eq '';
					my $indent = ' ' x $part->{indent};
					$part->{text} = join '', map { s/\s+$//; $_ eq '' ? "\n" : "$indent$_\n" } @kept;
				} elsif (my $what = difference(plain($part), $output, $part->{varies})) {
					complain($page, $part->{line}, $what);
				}
				undef $ran;
			} elsif ($part->{text} =~ $sql_begins) {
				complain($page, $part->{line}, 'SQL that is neither run nor said to be a sketch');
			}
			next;
		}
		# Prose may stand between SQL and its output; the next SQL may not.
		if ($ran && (!$part || ($part->{fence} // '') eq 'sql')) {
			my $what = difference('', $printed[ $ran->{runs} ] // '', undef);
			complain($page, $ran->{line}, $what) if $what;
			undef $ran;
		}
		next unless $part && $part->{runs};
		if ($part->{fence}) { $ran = $part; next }
		my $n = $part->{runs};
		$part->{text} =~ s{(`[^`]+` → `)([^`]*)(?=`)}{
			my ($expression, $shown) = ($1, $2);
			(my $value = $printed[$n++] // '') =~ s/\n\z//;
			(my $plain = $shown) =~ s/\\\|/|/g;
			complain($page, $part->{line}, "$expression$shown` is: $value") if !$write && $plain ne $value;
			$value =~ s/\|/\\|/g;
			$expression . ($write ? $value : $shown)
		}ge;
	}
	if ($write) {
		open my $file, '>', $page or die "$page: $!\n";
		print $file map { $_->{text} } @parts;
		close $file;
	}
}
exit $bad;
