# A set of bf_create_set() is dumped and restored with its functions, without the extension's help.
# Eight writers lose no value and have no deadlock, and each value is certainly new to one of them at
# most. Filters stay inline, and updated rows stay on their page.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Utils;
use Support;
use Test::More;

my $node = new_server('sets');
my $dir = PostgreSQL::Test::Utils::tempdir();

sub query { my ($sql, $database) = @_; return $node->safe_psql($database || 'postgres', $sql) }

# --- eight writers ---------------------------------------------------------------------------------

query(q{
    SELECT bf_create_set('seen', 'int', 100000);
    CREATE TABLE singly (v int);
    CREATE TABLE batches (first int, were_new int)});
my $has = q{SELECT 1 / count(*) FROM generate_series(:v, :v) v WHERE seen_has(v);};
my $batch = q{INSERT INTO batches VALUES (:v, seen_add_all(array(SELECT generate_series(%s))));};
$node->pgbench('-n -c 8 -j 2 -t 400', 0, [qr{actually processed: 3200/3200}], [qr/^$/],
    'eight writers of single values and batches, in which every reader finds what was added',
    {
        'single@8' => '\set v random(1, 50000)' . "\n"
          . "INSERT INTO singly SELECT :v WHERE seen_add(:v);\n$has\n",
        'up@1' => '\set v random(1, 50000)' . "\n"
          . sprintf($batch, ':v, :v + 200') . "\n$has\n",
        'down@1' => '\set v random(1, 50000)' . "\n"
          . sprintf($batch, ':v + 200, :v, -1') . "\n$has\n",
    });
query('CREATE VIEW added AS SELECT v FROM singly'
      . ' UNION SELECT first + i FROM batches, generate_series(0, 200) i');
is(query('SELECT sum(deadlocks) FROM pg_stat_database'), 0, 'they have no deadlock');
is(query('SELECT count(*) FROM added WHERE NOT seen_has(v)'), 0, 'no value is lost');
is(query('SELECT count(*) - count(DISTINCT v) FROM singly'),
    0, 'no value is certainly new to two of them');
my ($new, $added) = split /\|/, query(q{
    SELECT (SELECT count(*) FROM singly) + (SELECT sum(were_new) FROM batches), count(*) FROM added});
cmp_ok($new, '<=', $added, 'a batch counts no value that another session added');
cmp_ok($new, '>', 0.995 * $added, 'and it counts nearly all values that it adds');
my $count = query('SELECT round(estimated_count) FROM seen_info()');
cmp_ok(abs($count - $added), '<', 0.02 * $added, 'seen_info() estimates the number of values');

# The same while shards are made
query('TRUNCATE seen, singly, batches');
$node->pgbench('-n -c 8 -j 2 -t 50', 0, [qr{actually processed: 400/400}], [qr/^$/],
    'eight writers to an empty table',
    {
        'first_single@8' => '\set v random(1, 1000)' . "\n"
          . "INSERT INTO singly SELECT :v WHERE seen_add(:v);\n$has\n",
        'first_batch@2' => '\set v random(1, 1000)' . "\n" . sprintf($batch, ':v, :v + 200') . "\n$has\n"
    });
is(query('SELECT sum(deadlocks) FROM pg_stat_database'), 0, 'these have no deadlock either');
is(query('SELECT count(*) FROM added WHERE NOT seen_has(v)'), 0, 'no value of theirs is lost');
is(query('SELECT count(*) - count(DISTINCT v) FROM singly'),
    0, 'no value is certainly new to two of these');

# --- rows ------------------------------------------------------------------------------------------

query("SELECT bf_create_set('long', 'bigint', 1000000)");
my $pages_before = query("SELECT pg_relation_size('long') / 8192");
query('DO $$ BEGIN FOR v IN 1 .. 20000 LOOP PERFORM long_add(v); COMMIT; END LOOP; END $$');
sub updates {
    my ($at_least) = @_;
    $node->poll_query_until('postgres', # statistics may come late
        "SELECT n_tup_upd >= $at_least FROM pg_stat_user_tables WHERE relname = 'long'")
      or die 'too few updates';
    return split /\|/, query(q{
        SELECT n_tup_upd, n_tup_hot_upd, pg_relation_size(reltoastrelid),
          pg_relation_size(c.oid) / 8192
        FROM pg_stat_all_tables JOIN pg_class c ON c.oid = relid WHERE c.relname = 'long'});
}
is(query('SELECT count(*) FROM generate_series(1, 20000) v WHERE NOT long_has(v)'),
    0, 'all values of single additions are there');
my ($updates, $hot, $toast, $pages) = updates(19900);
is($hot, $updates, 'all updates of single additions are HOT: rows stay on their page');
is($toast, 0, 'no filter is out of line');
is($pages, $pages_before, 'the table has not grown');
query('DO $$ BEGIN FOR n IN 1 .. 20 LOOP PERFORM long_add_all(array(SELECT i + 20000 + n * 1000'
      . ' FROM generate_series(1, 1000) i)); COMMIT; END LOOP; END $$');
is(query('SELECT count(*) FROM generate_series(21001, 41000) v WHERE NOT long_has(v)'),
    0, 'all values of batches are there');
($updates, $hot, $toast, $pages) = updates($updates + 10000);
cmp_ok($hot, '>', 0.97 * $updates, 'nearly all updates of batches are HOT');
is($toast, 0, 'batches leave no filter out of line');
cmp_ok($pages, '<', 1.05 * $pages_before, 'the table has hardly grown');

# --- dump and restore ------------------------------------------------------------------------------

# The extension has a schema of its own. The names of the sets' schemas come before and after it. One
# set belongs to another role.
my $kept = "'" . join(' ', 1 .. 9) . "'";
query('CREATE ROLE owner; CREATE DATABASE kept');
query(q{
    CREATE SCHEMA middle;
    CREATE EXTENSION bloomfilter SCHEMA middle;
    CREATE SCHEMA before AUTHORIZATION owner;
    CREATE SCHEMA "The last";
    GRANT USAGE ON SCHEMA middle TO owner;
    CREATE TYPE "The last".mood AS ENUM ('sad', 'happy', 'angry');
    SET search_path = middle;
    SELECT bf_create_set('"The last"."Of moods"', '"The last".mood', 5000, 0.001);
    SELECT "The last"."Of moods_add"('sad');
    SET ROLE owner;
    SELECT bf_create_set('before.seen', 'text', 10000);
    SELECT before.seen_add_all(array(SELECT 'url ' || generate_series(1, 1000)));
    SELECT bf_create_set('before.grown', 'int', 100);
    SELECT before.grown_add_all(array(SELECT generate_series(1, 3000)));
    SELECT bf_create_set('before.lately', 'int', 1000, keep => '40 days');
    SELECT before.lately_add_all(array(SELECT generate_series(1, 1000)));
    RESET ROLE;
    CREATE TABLE before.pages (url text CHECK (NOT before.seen_has(url)));
    CREATE VIEW before.new_pages AS SELECT * FROM before.pages WHERE NOT before.seen_has(url)},
    'kept');

# The state of the sets, which is the same in every copy of the database.
sub state_of {
    my ($database) = @_;
    return query(q{
        SELECT proname, pg_get_functiondef(p.oid), pg_get_userbyid(proowner), obj_description(p.oid)
        FROM pg_proc p WHERE pronamespace::regnamespace::text ~ 'before|last' ORDER BY 1;
        SELECT relname, reloptions, pg_get_userbyid(relowner), obj_description(oid)
        FROM pg_class WHERE relname ~ '^(seen|grown|lately|Of moods)$' ORDER BY 1;
        SELECT s::text FROM before.seen s ORDER BY 1;
        SELECT s::text FROM before.grown s ORDER BY 1;
        SELECT s::text FROM before.lately s ORDER BY 1;
        SELECT * FROM "The last"."Of moods" ORDER BY 1}, $database);
}
my $state = state_of('kept');
like($state, qr/middle\.bf_add/, 'the functions name the schema of the extension');

sub works_in {
    my ($database, $what) = @_;
    is(state_of($database), $state, "$what: the sets are the same");
    is(query(q{
        SELECT before.seen_has('url 7'), before.seen_add('url 7'), before.seen_add('another'),
          before.seen_add_all(ARRAY['url 8', 'another', 'one more']);
        SELECT before.seen_has('one more'), "The last"."Of moods_has"('sad'),
          "The last"."Of moods_has"('happy'), "The last"."Of moods_add_all"('{sad,happy}'),
          (SELECT shards FROM before.seen_info()), (SELECT target_fpr FROM "The last"."Of moods_info"());
        SELECT count(*) FILTER (WHERE before.grown_has(i)), count(*) FILTER (WHERE before.grown_add(i)),
          count(*) FILTER (WHERE before.lately_has(i)), count(*) FILTER (WHERE before.lately_add(i))
        FROM generate_series(1, 1000) i;
        SELECT rows > shards, (SELECT keep FROM before.lately_info()) FROM before.grown_info()},
        $database), "t|f|t|1\nt|t|f|1|8|0.001\n1000|0|1000|0\nt|40 days", "$what: the functions work");
    is(query(q{
        DROP TABLE before.pages CASCADE;
        SELECT middle.bf_drop_set('before.seen'), middle.bf_drop_set('"The last"."Of moods"');
        SELECT middle.bf_drop_set('before.grown'), middle.bf_drop_set('before.lately');
        SELECT count(*) FROM pg_proc WHERE pronamespace::regnamespace::text ~ 'before|last'},
        $database), "|\n|\n0", "$what: the sets can be dropped");
    return;
}

my @to = ('--host', $node->host, '--port', $node->port);
command_ok([ 'pg_dump', @to, '--file', "$dir/plain", 'kept' ], 'a plain dump is made');
command_ok([ 'pg_dump', @to, '--format', 'custom', '--file', "$dir/custom", 'kept' ],
    'a dump in custom format is made');
query('CREATE DATABASE plain');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain", '-d', $node->connstr('plain') ],
    'the plain dump is restored');
query('CREATE DATABASE custom');
command_ok([ 'pg_restore', @to, '--exit-on-error', '--jobs', 2, '--dbname', 'custom', "$dir/custom" ],
    'the dump in custom format is restored');
works_in('plain', 'plain dump');
works_in('custom', 'custom dump');

# The rows of a set do not fit into a set with another number of shards, where nothing would be found.
command_ok([ 'pg_dump', @to, '--data-only', '--table', 'before.seen', '--file', "$dir/rows", 'kept' ],
    'the rows of a set are dumped');
query(q{
    CREATE SCHEMA middle; CREATE SCHEMA before; CREATE EXTENSION bloomfilter SCHEMA middle;
    SELECT middle.bf_create_set('before.seen', 'text', 20000)}, $_)
  for map { query("CREATE DATABASE $_"); $_ } 'larger';
my ($status, undef, $errors) =
  $node->psql('larger', slurp_file("$dir/rows"), extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
like($errors, qr/ERROR: +42703/, 'they are not restored into a larger set');

clean_log($node);
done_testing();
