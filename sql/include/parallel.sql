\set ECHO none
-- Makes the server plan two workers for small tables, until the transaction ends.
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
\set ECHO all
