# The extension is trusted: a user who may create objects in the database can install and drop it. It
# is relocatable: a superuser, who owns its objects, can move it to another schema.

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
        't', 'the loaded library reports the version of the extension');
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
    '42501', 'a user without the right CREATE on the database cannot install the extension');
is(sqlstate($node, 'CREATE TABLE kept (f bloomfilter)'), '42704',
    'without the extension, the type does not exist');
is(sqlstate($node, 'SELECT bf_agg(1)'), '42883', '... and the function does not exist');
as('plain', q{
    CREATE SCHEMA first; CREATE SCHEMA second;
    CREATE EXTENSION bloomfilter SCHEMA first;
    CREATE TABLE second.kept AS SELECT first.bf_agg(i) AS f FROM generate_series(1, 1000) i});
my $asks = q{SELECT f OPERATOR(%s.@>) 7, f OPERATOR(%s.@>) '7', f OPERATOR(%s.@>) 1000000,
    (%s.bf_info(f)).expected FROM second.kept};
is(as('plain', $asks =~ s/%s/first/gr), 't|t|f|1000',
    'the extension works in the schema of CREATE EXTENSION');
is(sqlstate($node, "SELECT $_->[0] FROM second.kept"), $_->[1],
    "without this schema in the search_path, an error: $_->[0]")
  for [ 'f @> 7', '42883' ], [ 'bf_count(f)', '42883' ], [ 'NULL::bloomfilter', '42704' ];
is( as('plain', q{SET search_path = "$user", public, first;
        SELECT f @> 7, NULL::bloomfilter FROM second.kept}),
    't|', '... and with the schema in the search_path, no error');
$node->safe_psql('postgres', 'ALTER EXTENSION bloomfilter SET SCHEMA second');
is(as('plain', $asks =~ s/%s/second/gr), 't|t|f|1000',
    'the extension works in the schema to which it was moved');
as('plain', 'DROP TABLE second.kept; DROP EXTENSION bloomfilter; CREATE EXTENSION bloomfilter'
      . ' SCHEMA second; DROP EXTENSION bloomfilter');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_type WHERE typname LIKE '%bloomfilter'}),
    0, 'DROP EXTENSION leaves no type');

# --- a limit for a role ------------------------------------------------------------------------------

# If the library is loaded during a session, an option of the client replaces the limit that a
# superuser has set for the role, until loading the library rejects the option. doc/production.md says
# so. If the library is loaded when the server starts, the connection is refused.
$node->safe_psql('postgres', q{CREATE EXTENSION bloomfilter; CREATE ROLE limited LOGIN; ALTER ROLE limited SET bloomfilter.max_size = '1MB'});
sub as_limited {
    my ($options) = @_;
    local $ENV{PGOPTIONS} = $options;
    my ($status, $out, $errors) = $node->psql('postgres', q{SELECT current_setting('bloomfilter.max_size') FROM bf_create(1)},
        extra_params => [ '-U', 'limited' ]);
    return ($status, $out, $errors);
}
my $larger = '-c bloomfilter.max_size=300MB';
is((as_limited(''))[1], '1MB', 'a limit of a role holds for its sessions');
my ($status, $size, $said) = as_limited($larger);
is($size, '512MB', 'with the library loaded late, an option of a client replaces the limit by the default');
like($said, qr/permission denied to set parameter "bloomfilter\.max_size"/,
    '... and the option itself is rejected');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bloomfilter'");
$node->restart;
is((as_limited(''))[1], '1MB',
    'with the library loaded at the start, a limit of a role holds for its sessions');
($status, $size, $said) = as_limited($larger);
is($size, '', '... and a client with an option gets no session');
like($said, qr/permission denied to set parameter "bloomfilter\.max_size"/,
    '... because the option is refused');

clean_log($node);
done_testing();
