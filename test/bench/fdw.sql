-- Section nodes, on the server that queries three nodes through postgres_fdw: foreign tables of the
-- nodes, and local tables.

CREATE EXTENSION postgres_fdw;
\ir path.sql
SELECT format($$CREATE SERVER node_%s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port '%s',
    dbname 'postgres', extensions 'bloomfilter', async_capable 'true', fetch_size '10000')$$,
    node, current_setting('unix_socket_directories'), 6432 + node),
  format('CREATE USER MAPPING FOR postgres SERVER node_%s', node)
FROM generate_series(1, 3) node \gexec

CREATE TABLE files (node int, id bigint, path text) PARTITION BY LIST (node);
SELECT format('CREATE FOREIGN TABLE files_%s PARTITION OF files FOR VALUES IN (%1$s) SERVER node_%1$s OPTIONS (table_name %L)',
  node, 'files')
FROM generate_series(1, 3) node \gexec
CREATE FOREIGN TABLE estimated (path text) SERVER node_1 OPTIONS (table_name 'files', use_remote_estimate 'true');
CREATE FOREIGN TABLE remote_filters (name text, filter bloomfilter) SERVER node_1 OPTIONS (table_name 'filters');
CREATE FOREIGN TABLE remote_counts (name text, count float8) SERVER node_1 OPTIONS (table_name 'counts');

CREATE TABLE wanted AS SELECT path(i) AS path FROM generate_series(100, 600000, 100::bigint) i;
CREATE TABLE guards AS
SELECT name, bf_agg(path, expected) AS filter
FROM (SELECT path, row_number() OVER () AS n FROM wanted) w
  JOIN (VALUES ('1.9 KB', 1500), ('120 KB', 100000), ('1.2 MB', 1000000), ('12 MB', 10000000)) sizes (name, expected)
    ON n <= expected
GROUP BY name;
ANALYZE wanted, guards;

-- The same server subscribes to four tables of node 1. It changes these tables there, through a
-- connection whose bytes are not counted. Neither side sends keepalive messages.
ALTER SYSTEM SET wal_receiver_status_interval = 0;
SELECT pg_reload_conf();
SELECT format($$CREATE SERVER publisher FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port '5433',
  dbname 'postgres', extensions 'bloomfilter')$$, current_setting('unix_socket_directories')) \gexec
CREATE USER MAPPING FOR postgres SERVER publisher;
SELECT format('CREATE TABLE %s (n bigint, filter bloomfilter, id int PRIMARY KEY)', name),
  format('CREATE FOREIGN TABLE %s_there (n bigint, filter bloomfilter) SERVER publisher OPTIONS (table_name %1$L)', name)
FROM unnest(ARRAY['shard', 'filter', 'filter_binary', 'filter_full']) name \gexec
SELECT format('CREATE SUBSCRIPTION %s CONNECTION %L PUBLICATION %1$s WITH (binary = %3$s)', name,
    format('host=%s port=6433 dbname=postgres', current_setting('unix_socket_directories')), is_binary)
FROM (VALUES ('as_text', 'off'), ('as_binary', 'on')) forms (name, is_binary) \gexec
CREATE PROCEDURE bench.catch_up(name text) LANGUAGE plpgsql AS $$
DECLARE
  same boolean;
BEGIN
  LOOP
    EXECUTE format('SELECT (SELECT n FROM %I) = (SELECT n FROM %I)', name, name || '_there') INTO same;
    EXIT WHEN same;
    COMMIT;
    PERFORM pg_sleep(0.01);
  END LOOP;
END $$;
SELECT format('CALL bench.catch_up(%L)', name) FROM unnest(ARRAY['shard', 'filter', 'filter_binary', 'filter_full']) name \gexec
