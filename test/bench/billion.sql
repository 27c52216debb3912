-- Section billion, on the server that runs the statement: foreign tables of the three nodes, and
-- the table of shards.

SELECT format('CREATE TABLE %s (node int, %s) PARTITION BY LIST (node)', name, columns)
FROM (VALUES ('visits', 'id bigint'), ('peak', 'bytes float8'), ('occupied', 'bytes bigint')) tables (name, columns) \gexec
SELECT format('CREATE FOREIGN TABLE %s_%s PARTITION OF %1$s FOR VALUES IN (%2$s) SERVER node_%2$s OPTIONS (table_name %1$L)',
  name, node)
FROM unnest(ARRAY['visits', 'peak', 'occupied']) name, generate_series(1, 3) node \gexec
CREATE TABLE seen (shard int PRIMARY KEY, filter bloomfilter NOT NULL);

-- Replication stops, so that only the bytes of the statement are counted.
ALTER SUBSCRIPTION as_text DISABLE;
ALTER SUBSCRIPTION as_binary DISABLE;
