# The extension through drivers of other languages. The programs in test/drivers print a line for each
# fact, and the code of doc/languages.md and doc/tutorials/guard.md is run. A driver that is not
# installed is skipped.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $programs = "$FindBin::RealBin/../drivers";
my $doc = "$FindBin::RealBin/../../doc";
my $dir = PostgreSQL::Test::Utils::tempdir();
my $pgjdbc = '/usr/share/java/postgresql.jar';

# All drivers but pgjdbc find the server through libpq's variables. The time zone matters for what
# drivers send for dates, so it is not UTC.
my $node = new_server('drivers', conf => "listen_addresses = '127.0.0.1'\n");
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGUSER} = getpwuid $<;
$ENV{PGDATABASE} = 'postgres';
$ENV{TZ} = 'Asia/Kolkata';
my $url = "jdbc:postgresql://127.0.0.1:$ENV{PGPORT}/postgres?user=$ENV{PGUSER}";

# At this rate, no other value is a false positive.
$node->safe_psql('postgres', q{
    CREATE TABLE filters (family text PRIMARY KEY, f bloomfilter);
    INSERT INTO filters
    SELECT 'text', bf_agg(E'Z\u00fcrich'::text, 10, 1e-9) UNION ALL
    SELECT 'integer', bf_agg(4711, 10, 1e-9) UNION ALL
    SELECT 'float', bf_agg(v, 10, 1e-9) FROM unnest('{3.5, 7}'::float8[]) v UNION ALL
    SELECT 'numeric', bf_agg(v, 10, 1e-9) FROM unnest('{12.5, 7}'::numeric[]) v UNION ALL
    SELECT 'date', bf_agg(date '2024-01-08', 10, 1e-9) UNION ALL
    SELECT 'timestamp', bf_agg(timestamp '2024-01-08 12:30:15.25', 10, 1e-9) UNION ALL
    SELECT 'timestamptz', bf_agg(timestamptz '2024-01-08 12:30:15.25+02', 10, 1e-9) UNION ALL
    SELECT 'time', bf_agg(v, 10, 1e-9) FROM unnest('{12:30:15.25, 12:30:16}'::time[]) v UNION ALL
    SELECT 'uuid', bf_agg(uuid '6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001', 10, 1e-9) UNION ALL
    SELECT 'boolean', bf_agg(true, 10, 1e-9) UNION ALL
    SELECT 'bytea', bf_agg('\xdead00ff'::bytea, 10, 1e-9);
    CREATE TABLE copies (f bloomfilter)});

# Returns whether a command is installed and succeeds.
sub works { my (@command) = @_; return eval { run_log(\@command) } }

# The commands that run a driver's programs. The list is empty if the driver is not installed.
sub python_with {
    my ($module) = @_;
    return (grep { works($_, '-c', "import $module") } 'python3', '/usr/bin/python3')[0];
}
my $java = -e $pgjdbc && works('javac', '-version');
# These programs end soon, so a virtual machine that compiles little is faster.
my @java = ('java', '-XX:-UsePerfData', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC',
    '-Dfile.encoding=UTF-8', '-cp', $pgjdbc);
my %run = (
    'psycopg 3' => [ python_with('psycopg') // () ],
    'clients/python' => [ python_with('psycopg, xxhash') // () ],
    'clients/javascript' =>
      [ works('node', '-e', "require('pg'); require('hash-wasm')") ? 'node' : () ],
    'psycopg2' => [ python_with('psycopg2') // () ],
    'asyncpg' => [ python_with('asyncpg') // () ],
    'Java: pgjdbc' => [ $java ? @java : () ],
    'Node: node-postgres' => [ works('node', '-e', "require('pg')") ? 'node' : () ],
    'Ruby: pg' => [ works('ruby', '-e', "require 'pg'") ? 'ruby' : () ]);

# Each fact that a driver's program prints becomes a test.
sub facts {
    my ($driver, $what, $program, @arguments) = @_;
  SKIP: {
        skip "$driver is not installed", 1 if !@{ $run{$driver} };
        my $ended = IPC::Run::run([ @{ $run{$driver} }, "$programs/$program", @arguments ],
            '>', \my $printed);
        my @facts = split /\n/, $printed;
        for (@facts) {
            my ($ok, $fact) = /^(ok|not ok) (.*)/ or die "$driver: $_";
            ok($ok eq 'ok', "$what, $fact");
        }
        ok($ended && @facts > 0, "$what: the program prints facts and ends without an error");
    }
    return;
}

# Returns the statements that the documentation prepares with a parameter of type text. Through
# node-postgres, they work without this type.
sub recipes {
    my @recipes = map { slurp_file($_) =~ /^ *PREPARE \w+\(text\) AS\s+(.*?);$/msg }
      "$doc/../README.md", glob "$doc/*.md";
    die 'no recipes' if !@recipes;
    return @recipes;
}
$node->safe_psql('postgres', q{
    CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL);
    INSERT INTO seen SELECT i, bf_create(1495) FROM generate_series(0, 668) i});

facts('psycopg 3', 'psycopg 3', 'psycopg_facts.py');
facts('Java: pgjdbc', "pgjdbc, $_", 'PgjdbcFacts.java', "$url&$_")
  for 'prepareThreshold=0', 'prepareThreshold=-1&binaryTransfer=true';
facts('Node: node-postgres', 'node-postgres', 'node_postgres_facts.js', recipes());

# The code of doc/languages.md prints true, true and false, and stores the filter a second time.
my $page = slurp_file("$doc/languages.md");
my ($table) = $page =~ /^```sql\n(.*?)^```$/ms or die 'no table';

sub code_below {
    my ($heading) = @_;
    $page =~ /^#+ \Q$heading\E\n(?:(?!^#).)*?^```(?!sh\n)\w+\n(.*?)^```$/ms or die "no code: $heading";
    return $1;
}

sub page_runs {
    my ($driver, $name, $code, @arguments) = @_;
  SKIP: {
        skip "$driver is not installed", 2 if !@{ $run{$driver} };
        append_to_file("$dir/$name", $code);
        $node->safe_psql('postgres', "DROP TABLE IF EXISTS visited; $table");
        IPC::Run::run([ @{ $run{$driver} }, "$dir/$name", @arguments ], '>', \my $printed);
        my @answers = map { lc substr $_, 0, 1 } $printed =~ /\b(?:true|false|t|f)\b/gi;
        is("@answers", 't t f', "$driver: the page's code prints true, true, false");
        is( $node->safe_psql('postgres', q{
                SELECT count(*), count(DISTINCT urls), bool_and(urls @> 'https://example.com/7')
                FROM visited}),
            '2|1|t', "$driver: the page's code stores the same filter twice, with its values");
    }
    return;
}

page_runs($_, "page of $_.py", code_below($_)) for 'psycopg 3', 'psycopg2', 'asyncpg';
page_runs($_, 'page.js', code_below($_)) for 'Node: node-postgres';
page_runs($_, 'page.rb', code_below($_)) for 'Ruby: pg';
page_runs($_, 'Page.java', sprintf(<<'JAVA', code_below($_)), $url) for 'Java: pgjdbc';
import java.sql.*;

class Page {
  public static void main(String[] arguments) throws SQLException {
    Connection db = DriverManager.getConnection(arguments[0]);
%s
  }
}
JAVA

# Both pages' programs use the libraries in clients as if they were installed.
$ENV{PYTHONPATH} = "$FindBin::RealBin/../../clients/python";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
mkdir "$dir/node_modules" or die $!;
symlink "$FindBin::RealBin/../../clients/javascript", "$dir/node_modules/postgresql-bloomfilter"
  or die $!;

sub in_the_program {
    my ($library, $name, $code, $answers) = @_;
  SKIP: {
        skip "$library is not installed", 1 if !@{ $run{$library} };
        append_to_file("$dir/$name", $code);
        IPC::Run::run([ @{ $run{$library} }, "$dir/$name" ], '>', \my $printed);
        is(lc($printed =~ s/\s+/ /gr), "$answers ", "$library: the code of $name");
    }
    return;
}

$node->safe_psql('postgres', qq{
    DROP TABLE IF EXISTS visited;
    $table;
    UPDATE visited SET urls = urls + 'https://example.com/7'});
in_the_program('clients/python', 'in the program.py', code_below('In Python'),
    'true [true, false]');
in_the_program('clients/javascript', 'in the program.js', code_below('In JavaScript'),
    'true [ true, false ]');
my ($first) = slurp_file("$doc/../README.md") =~ /^```python\n(.*?)^```$/ms or die 'no program';
in_the_program('clients/python', 'README.py', $first, 'true');

# The program of the tutorial fetches a filter, and fetches it again when it has changed.
$page = slurp_file("$doc/tutorials/guard.md");
my ($offered) = $page =~ /^```sql\n(CREATE TABLE offered .*?)^```$/ms or die 'no table';
my ($guard) = $page =~ /^```python\n(.*?)^```$/ms or die 'no program';
$node->safe_psql('postgres', qq{
    CREATE TABLE product AS SELECT i * 10 AS id, i AS price FROM generate_series(1, 1000) i;
    $offered});
in_the_program('clients/python', 'guard.py', <<"PYTHON", '(1,) none none (7,)');
$guard
import time
guard = Guard()
print(guard.price(10), guard.price(5), guard.price(10000010))
guard.db.execute("UPDATE offered SET ids = ids + 10000010")
guard.db.execute("INSERT INTO product VALUES (10000010, 7)")
for _ in range(1800):
    if guard.version == 2:
        break
    time.sleep(0.1)
print(guard.price(10000010))
PYTHON

clean_log($node);
done_testing();
