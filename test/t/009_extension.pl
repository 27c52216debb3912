# The extension is trusted and relocatable: a user who may create objects in the database installs
# and drops it; a superuser, who owns its contents, moves it to another schema.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('extension');

SKIP: {
    skip 'the server does not tell the versions of libraries', 1
      if $node->safe_psql('postgres', 'SHOW server_version_num') < 180000;
    is($node->safe_psql('postgres', q{
        LOAD 'bloomfilter';
        SELECT version = extversion FROM pg_get_loaded_modules(), pg_extension
        WHERE module_name = 'bloomfilter' AND extname = 'bloomfilter'}),
        't', 'the library has the version of the extension');
}

$node->safe_psql('postgres', q{
    DROP EXTENSION bloomfilter;
    CREATE ROLE plain LOGIN NOSUPERUSER;
    CREATE ROLE guest LOGIN NOSUPERUSER;
    GRANT CREATE ON DATABASE postgres TO plain});

sub as {
    my ($role, $sql) = @_;
    return $node->safe_psql('postgres', "SET ROLE $role; $sql");
}

is(sqlstate($node, 'SET ROLE guest; CREATE EXTENSION bloomfilter'),
    '42501', 'CREATE on the database is needed');
as('plain', q{
    CREATE SCHEMA first; CREATE SCHEMA second;
    CREATE EXTENSION bloomfilter SCHEMA first;
    CREATE TABLE second.kept AS SELECT first.bf_agg(i) AS f FROM generate_series(1, 1000) i});
my $asks = q{SELECT f OPERATOR(%s.@>) 7, f OPERATOR(%s.@>) '7', f OPERATOR(%s.@>) 1000000,
    (%s.bf_info(f)).expected FROM second.kept};
is(as('plain', $asks =~ s/%s/first/gr), 't|t|f|1000', 'it works in the schema asked for');
$node->safe_psql('postgres', 'ALTER EXTENSION bloomfilter SET SCHEMA second');
is(as('plain', $asks =~ s/%s/second/gr), 't|t|f|1000', 'and in the one it is moved to');
as('plain', 'DROP TABLE second.kept; DROP EXTENSION bloomfilter; CREATE EXTENSION bloomfilter'
      . ' SCHEMA second; DROP EXTENSION bloomfilter');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_type WHERE typname LIKE '%bloomfilter'}),
    0, 'nothing is left behind');

clean_log($node);
done_testing();
