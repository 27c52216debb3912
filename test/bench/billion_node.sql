-- Section billion: the values of node number :number of three, which have :values together, and the
-- peak memory of the session that asks for it. Groups are hashed because of work_mem, and because
-- the statistics tell how many groups there are.

CREATE UNLOGGED TABLE ids AS SELECT generate_series(:number, :values::bigint, 3) AS id;
CREATE STATISTICS ids_shard ON bf_shard(id, :shards) FROM ids;
VACUUM ANALYZE ids;
ALTER DATABASE postgres SET work_mem = '1GB';
CREATE VIEW visits AS SELECT :number AS node, id FROM ids;
CREATE VIEW peak AS
SELECT :number AS node, substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::float8 * 1024 AS bytes;
CREATE VIEW occupied AS SELECT :number AS node, pg_table_size('ids') AS bytes;
