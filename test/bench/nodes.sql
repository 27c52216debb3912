-- Sections nodes, billion and citus: functions that count the bytes sent to the nodes and received
-- from them. All bytes pass through test/byteproxy.pl, which keeps the sums in files beside the
-- sockets.

CREATE FUNCTION bench.travelled(OUT "to" float8, OUT "from" float8) LANGUAGE sql AS $$
  SELECT sum(counted[1]::float8), sum(counted[2]::float8)
  FROM current_setting('unix_socket_directories') directory, pg_ls_dir(directory) file,
    regexp_match(pg_read_file(directory || '/' || file), '(\d+) +(\d+)') counted
  WHERE file LIKE 'bytes.%';
$$;

CREATE FUNCTION bench.start_counting() RETURNS void LANGUAGE sql AS $$
  SELECT set_config('bench.to', "to"::text, false), set_config('bench.from', "from"::text, false)
  FROM bench.travelled();
$$;

-- The bytes that a case has sent and received since start_counting(), for the tables of bytes.
CREATE TABLE bench.counted (label text PRIMARY KEY, "to" float8, "from" float8);
CREATE FUNCTION bench.stop_counting(label text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO bench.counted AS c
  SELECT label, "to" - current_setting('bench.to')::float8, "from" - current_setting('bench.from')::float8
  FROM bench.travelled()
  ON CONFLICT ON CONSTRAINT counted_pkey DO UPDATE SET "to" = excluded."to", "from" = excluded."from";
$$;
