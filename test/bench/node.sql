-- Section nodes, on node number :number of three: tables that another server queries through
-- postgres_fdw.

CREATE EXTENSION bloomfilter;
\ir path.sql
CREATE UNLOGGED TABLE files AS
SELECT :number AS node, i AS id, path(i) AS path FROM generate_series(:number, 600000, 3::bigint) i;
CREATE UNLOGGED TABLE filters AS
SELECT 'filter ' || n AS name, bf_create(1000000) + ($$in filter $$ || n) AS filter FROM generate_series(1, 10) n;
CREATE VIEW counts AS SELECT name, bf_count(filter) AS count FROM filters;
VACUUM ANALYZE files, filters;

-- The published tables. Subscribers get filters as text or in binary.
SELECT format('CREATE TABLE %s (n bigint, filter bloomfilter, id int PRIMARY KEY DEFAULT 1)', name),
  format('INSERT INTO %s VALUES (0, bf_create(%s))', name, expected)
FROM (VALUES ('shard', 1495), ('filter', 1000000), ('filter_binary', 1000000), ('filter_full', 1000000)) published (name, expected) \gexec
ALTER TABLE filter_full REPLICA IDENTITY FULL;
CREATE PUBLICATION as_text FOR TABLE shard, filter, filter_full;
CREATE PUBLICATION as_binary FOR TABLE filter_binary;
