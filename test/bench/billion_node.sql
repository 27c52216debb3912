-- Section billion, on node number :number of three: its values, and a view of the session's own
-- peak memory. The three nodes together have :values values. Because of work_mem, and because
-- statistics give the number of groups, the planner hashes the groups.

CREATE UNLOGGED TABLE ids AS SELECT generate_series(:number, :values::bigint, 3) AS id;
CREATE STATISTICS ids_shard ON bf_shard(id, :shards) FROM ids;
VACUUM ANALYZE ids;
ALTER DATABASE postgres SET work_mem = '1GB';
CREATE VIEW visits AS SELECT :number AS node, id FROM ids;
CREATE VIEW peak AS
SELECT :number AS node, substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::float8 * 1024 AS bytes;
CREATE VIEW occupied AS SELECT :number AS node, pg_table_size('ids') AS bytes;
