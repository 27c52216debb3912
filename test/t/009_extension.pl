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
is(sqlstate($node, 'CREATE TABLE kept (f bloomfilter)'), '42704', 'without the extension: no type');
is(sqlstate($node, 'SELECT bf_agg(1)'), '42883', '... and no function');
as('plain', q{
    CREATE SCHEMA first; CREATE SCHEMA second;
    CREATE EXTENSION bloomfilter SCHEMA first;
    CREATE TABLE second.kept AS SELECT first.bf_agg(i) AS f FROM generate_series(1, 1000) i});
my $asks = q{SELECT f OPERATOR(%s.@>) 7, f OPERATOR(%s.@>) '7', f OPERATOR(%s.@>) 1000000,
    (%s.bf_info(f)).expected FROM second.kept};
is(as('plain', $asks =~ s/%s/first/gr), 't|t|f|1000', 'it works in the schema asked for');
is(sqlstate($node, "SELECT $_->[0] FROM second.kept"), $_->[1], "no search_path: $_->[0]")
  for [ 'f @> 7', '42883' ], [ 'bf_count(f)', '42883' ], [ 'NULL::bloomfilter', '42704' ];
is( as('plain', q{SET search_path = "$user", public, first;
        SELECT f @> 7, NULL::bloomfilter FROM second.kept}),
    't|', '... and with one');
$node->safe_psql('postgres', 'ALTER EXTENSION bloomfilter SET SCHEMA second');
is(as('plain', $asks =~ s/%s/second/gr), 't|t|f|1000', 'and in the one it is moved to');
as('plain', 'DROP TABLE second.kept; DROP EXTENSION bloomfilter; CREATE EXTENSION bloomfilter'
      . ' SCHEMA second; DROP EXTENSION bloomfilter');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_type WHERE typname LIKE '%bloomfilter'}),
    0, 'nothing is left behind');

# --- a limit for a role ------------------------------------------------------------------------------

# Where the library is loaded late, a client's option takes the place of what a superuser has set for
# the role, until it is rejected: doc/production.md says so. Loaded when the server starts, it refuses
# the connection.
$node->safe_psql('postgres', q{CREATE EXTENSION bloomfilter; CREATE ROLE limited LOGIN; ALTER ROLE limited SET bloomfilter.max_size = '1MB'});
sub as_limited {
    my ($options) = @_;
    local $ENV{PGOPTIONS} = $options;
    my ($status, $out, $errors) = $node->psql('postgres', q{SELECT current_setting('bloomfilter.max_size') FROM bf_create(1)},
        extra_params => [ '-U', 'limited' ]);
    return ($status, $out, $errors);
}
my $larger = '-c bloomfilter.max_size=300MB';
is((as_limited(''))[1], '1MB', 'a limit of a role');
my ($status, $size, $said) = as_limited($larger);
is($size, '512MB', 'an option of a client takes its place');
like($said, qr/permission denied to set parameter "bloomfilter\.max_size"/, '... and is rejected');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bloomfilter'");
$node->restart;
is((as_limited(''))[1], '1MB', 'with the library loaded first: a limit of a role');
($status, $size, $said) = as_limited($larger);
is($size, '', '... which an option of a client does not change');
like($said, qr/permission denied to set parameter "bloomfilter\.max_size"/, '... but is refused');

clean_log($node);
done_testing();
