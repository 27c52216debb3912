-- Section citus, on the coordinator of two workers: distributed tables, and local ones.

\ir path.sql
CREATE TABLE files (id bigint, bucket int, path text);
SELECT create_distributed_table('files', 'id', shard_count => 16);
INSERT INTO files SELECT i, i % 64, path(i) FROM generate_series(1, 600000::bigint) i;
CREATE TABLE packages (id bigint, path text);
SELECT create_distributed_table('packages', 'id', shard_count => 16, colocate_with => 'none');
INSERT INTO packages SELECT i, path(16 * i) FROM generate_series(1, 40000::bigint) i;
CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL) WITH (fillfactor = 50);
SELECT create_distributed_table('seen', 'shard', shard_count => 16, colocate_with => 'none');
INSERT INTO seen SELECT i, bf_create(1495) FROM generate_series(0, 668) i;

CREATE TABLE wanted AS SELECT path(i) AS path FROM generate_series(100, 600000, 100::bigint) i;
CREATE TABLE guard AS SELECT bf_agg(path, 10000000) AS filter FROM wanted;
CREATE TABLE guard_everywhere (filter bloomfilter);
SELECT create_reference_table('guard_everywhere');
INSERT INTO guard_everywhere SELECT filter FROM guard;
ANALYZE files, packages, seen, wanted, guard, guard_everywhere;
