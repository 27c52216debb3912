-- What is on node number :number of the three that section nodes asks through postgres_fdw.

CREATE EXTENSION bloomfilter;
\ir path.sql
CREATE UNLOGGED TABLE files AS
SELECT :number AS node, i AS id, path(i) AS path FROM generate_series(:number, 600000, 3::bigint) i;
CREATE UNLOGGED TABLE filters AS
SELECT 'filter ' || n AS name, bf_create(1000000) + ($$in filter $$ || n) AS filter FROM generate_series(1, 10) n;
VACUUM ANALYZE files, filters;
