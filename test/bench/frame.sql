-- The frame of the benchmark: tables for workloads, cases and samples, functions that measure, and
-- the summary.
--
-- A workload is one table of the report. Its cases do the same work and are measured in one unit.
-- The first case is the floor. A case is an expression, which is put into the workload's template.
--
-- bench.script() writes the psql script of a section. Each round runs each case once, so that other
-- work on the machine slows all cases equally. A case is compared with the floor of the same round.
-- The floor is the first case of the workload, or of a part of the workload. Round 0 warms up,
-- unless there is only one round. Several databases have different builds of the extension. A case
-- runs in all of them, each time in a new session, before the next case runs.

CREATE SCHEMA bench;

CREATE TABLE bench.workloads (
  workload text PRIMARY KEY,
  section text NOT NULL,
  number serial,                      -- order in the report
  title text NOT NULL,                -- '': only for a figure, not in the report
  -- ms, µs, ns and GB/s: time, of the statement or per operation; WAL bytes: per operation;
  -- MB: peak memory of a new session; other units: the statement passes the value to bench.report()
  unit text NOT NULL,
  compare text CHECK (compare IN ('ratio', 'difference')),  -- with the floor; NULL: not compared
  against text,                       -- name of what cases are compared with, if no floor
  template text NOT NULL DEFAULT '{}', -- {}: the expression; {filter}, {operations}: columns
  before text                         -- SQL that runs before every case, not measured
);

CREATE TABLE bench.cases (
  workload text NOT NULL REFERENCES bench.workloads,
  expression text NOT NULL,
  settings text NOT NULL DEFAULT '',  -- like 'work_mem=4MB jit=off'
  filter text,                        -- name of the filter in table filters
  operations float8 NOT NULL DEFAULT 1,
  label text,                         -- name in the report; default: the expression
  statement text,                     -- replaces the template
  requires text,                      -- an extension; without it, the case is skipped
  part text,                          -- part of the workload with a floor of its own
  number serial PRIMARY KEY           -- order in the workload
);

CREATE TABLE bench.samples (
  number int NOT NULL REFERENCES bench.cases,
  round int NOT NULL,
  value float8 NOT NULL,
  base float8                         -- replaces the floor's value
);

CREATE TABLE bench.other_samples (LIKE bench.samples);  -- samples of another build

-- --- measuring -----------------------------------------------------------------------------------

-- Settings of the session keep the start, or the value that the statement reports by itself.
CREATE FUNCTION bench.start() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('bench.base', '', false),
          set_config('bench.wal', pg_current_wal_insert_lsn()::text, false),
          set_config('bench.clock', clock_timestamp()::text, false);
END $$;

CREATE FUNCTION bench.report(value float8, base float8 DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('bench.value', value::text, false),
         set_config('bench.base', coalesce(base::text, ''), false);
$$;

CREATE FUNCTION bench.stop(case_number int, round int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ms float8 := 1000 * extract(epoch FROM clock_timestamp() - current_setting('bench.clock')::timestamptz);
  wal float8 := pg_current_wal_insert_lsn() - current_setting('bench.wal')::pg_lsn;
BEGIN
  INSERT INTO bench.samples
  SELECT c.number, round,
    CASE w.unit
      WHEN 'ms' THEN ms / operations
      WHEN 'µs' THEN ms / operations * 1e3
      WHEN 'ns' THEN ms / operations * 1e6
      WHEN 'GB/s' THEN operations * f.bytes / ms / 1e6
      WHEN 'WAL bytes' THEN wal / operations
      WHEN 'MB' THEN substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')::float8 / 1024
      ELSE current_setting('bench.value')::float8
    END,
    nullif(current_setting('bench.base'), '')::float8
  FROM bench.cases c JOIN bench.workloads w USING (workload)
    LEFT JOIN filters f ON f.name = c.filter
  WHERE c.number = case_number;
END $$;

-- Drops a table from the operating system's page cache. For a table larger than a quarter of
-- shared_buffers, that is enough: scans do not leave it in the server's buffers.
CREATE FUNCTION bench.forget(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY (SELECT) TO PROGRAM %L', format('cat; for file in %s/%s*; do '
    'dd "of=$file" oflag=nocache conv=notrunc,fdatasync count=0 status=none; done',
    current_setting('data_directory'), pg_relation_filepath(relation)));
END $$;

-- Returns the number of buffers that a query touches, by EXPLAIN.
CREATE FUNCTION bench.buffers(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT json) ' || query INTO plan;
  plan := plan -> 0 -> 'Plan';
  RETURN (plan ->> 'Shared Hit Blocks')::float8 + (plan ->> 'Shared Read Blocks')::float8;
END $$;

-- Runs a query `times` times, with a random number as $1 and `name` as $2. All runs share one
-- transaction, or each run has its own.
CREATE PROCEDURE bench.repeat(times int, query text, name text, own_transactions boolean)
LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. times LOOP
    EXECUTE query USING (random() * 1e15)::bigint, name;
    IF own_transactions THEN
      COMMIT;
    END IF;
  END LOOP;
END $$;

-- Runs a script in several sessions of pgbench, each time with another random number as :v. The csv
-- options keep COPY from quoting the script.
CREATE FUNCTION bench.write(sessions int, transactions int, script text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($copy$COPY (SELECT unnest(ARRAY['\set v random(1, 1000000000000000)', %L]))
      TO PROGRAM %L (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')$copy$,
    regexp_replace(script, '\s+', ' ', 'g'),
    format('"%s/pgbench" -n -M prepared -c %s -j 2 -t %s -f - -h "%s" -p %s %s >/dev/null',
      (SELECT setting FROM pg_config() WHERE name = 'BINDIR'), sessions, transactions,
      current_setting('unix_socket_directories'), current_setting('port'), current_database()));
END $$;

-- Plans a condition, but never executes it. $1 is a filter in memory, as a driver would send it.
CREATE PROCEDURE bench.plan(times int, relation text, condition text, name text)
LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT FROM %s WHERE pg_backend_pid() = 0 AND %s', relation, condition);
  f bloomfilter := (SELECT filter | bf_clear(filter) FROM filters WHERE filters.name = plan.name);
BEGIN
  PERFORM bench.start();
  FOR i IN 1 .. times LOOP
    EXECUTE query USING f;
  END LOOP;
END $$;

-- Returns the psql script of a section. A case that fails in another database than the first one is
-- left out there in later rounds.
CREATE FUNCTION bench.script(of_section text, rounds int, databases text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
  c record;
  database text;
  cannot text;
BEGIN
  FOR round IN CASE rounds WHEN 1 THEN 1 ELSE 0 END .. rounds LOOP
    RETURN NEXT format('\echo %L', format('%s: %s', of_section,
      CASE round WHEN 0 THEN 'warming up' ELSE format('round %s of %s', round, rounds) END));
    FOR c IN
      SELECT cases.*, unit, before, coalesce(statement,
          replace(replace(replace(template, '{}', expression), '{filter}', coalesce(filter, '')),
            '{operations}', operations::text)) AS sql,
        requires IS NULL OR EXISTS (SELECT FROM pg_extension WHERE extname = requires) AS possible
      FROM bench.cases JOIN bench.workloads w USING (workload)
      WHERE section = of_section AND (title <> '' OR cardinality(databases) = 1)
      ORDER BY w.number, cases.number
    LOOP
      IF NOT c.possible THEN
        IF round = 0 THEN
          RETURN NEXT format('\echo %L', format('skipped, no extension %s: %s', c.requires, c.expression));
        END IF;
        CONTINUE;
      END IF;
      FOR database IN SELECT name FROM unnest(databases) WITH ORDINALITY AS d (name, n)
        ORDER BY CASE round % 2 WHEN 0 THEN n ELSE -n END
      LOOP
        cannot := format('%s_cannot_%s', database, c.number);
        RETURN NEXT format('\if :{?%s}', cannot);
        RETURN NEXT '\else';
        IF cardinality(databases) > 1 THEN
          RETURN NEXT format('\connect %I', database);
          RETURN NEXT format('\set ON_ERROR_STOP %s', database = databases[1]);
          RETURN NEXT 'SELECT bf_create(1), bench.start(), bench.stop(NULL, NULL);';
        ELSE
          RETURN NEXT CASE c.unit WHEN 'MB' THEN '\connect' ELSE 'RESET ALL;' END;
        END IF;
        RETURN QUERY SELECT format('SET %I = %L;', split_part(setting, '=', 1), split_part(setting, '=', 2))
          FROM regexp_split_to_table(nullif(c.settings, ''), ' ') setting;
        RETURN NEXT coalesce(c.before || ';', '');
        RETURN NEXT 'SELECT bench.start();';
        RETURN NEXT c.sql || ';';
        RETURN NEXT '\if :ERROR';
        RETURN NEXT format('\set %s yes', cannot);
        RETURN NEXT format('\echo %L', format('skipped, %s cannot: %s', database, coalesce(c.label, c.expression)));
        RETURN NEXT '\else';
        RETURN NEXT format('SELECT bench.stop(%s, %s);', c.number, round);
        RETURN NEXT '\endif';
        RETURN NEXT '\endif';
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

-- Probes a filter for many values, in many transactions. The values are in an array, $1 or $2,
-- which is in memory, as a driver would send it. $3 is the filter's name.
CREATE PROCEDURE bench.ask(times int, query text, name text, items int) LANGUAGE plpgsql AS $$
DECLARE
  known asked := (SELECT a FROM asked a WHERE a.items = ask.items);
BEGIN
  PERFORM bench.start();
  FOR i IN 1 .. times LOOP
    EXECUTE query USING known.bigints, known.texts, name;
    COMMIT;
  END LOOP;
END $$;

-- --- summing up ----------------------------------------------------------------------------------

CREATE FUNCTION bench.rounded(value float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT round(value::numeric,
    CASE value WHEN 0 THEN 0 ELSE greatest(0, 2 - floor(log(abs(value)))::int) END);
$$;

CREATE VIEW bench.summary AS
SELECT section, workload, coalesce(label, expression) AS "case", settings,
  bytes AS filter_bytes, unit, median, min, max, compare, compared, compared_min, compared_max,
  coalesce(against, first_value(coalesce(label, expression))
    OVER (PARTITION BY workload ORDER BY c.number)) AS against, title
FROM bench.workloads w JOIN bench.cases c USING (workload) LEFT JOIN filters f ON f.name = c.filter
  JOIN LATERAL (
    SELECT bench.rounded(percentile_cont(0.5) WITHIN GROUP (ORDER BY s.value)) AS median,
      bench.rounded(min(s.value)) AS min, bench.rounded(max(s.value)) AS max,
      bench.rounded(percentile_cont(0.5) WITHIN GROUP (ORDER BY a.compared)) AS compared,
      bench.rounded(min(a.compared)) AS compared_min, bench.rounded(max(a.compared)) AS compared_max
    FROM bench.samples s
      JOIN bench.samples floor USING (round)
      CROSS JOIN coalesce(s.base, floor.value) AS beside
      CROSS JOIN LATERAL (SELECT
        CASE compare WHEN 'ratio' THEN s.value / nullif(beside, 0) WHEN 'difference' THEN s.value - beside END) a(compared)
    WHERE s.round > 0 AND s.number = c.number
      AND floor.number = (SELECT min(number) FROM bench.cases f
        WHERE f.workload = c.workload AND f.part IS NOT DISTINCT FROM c.part)
  ) numbers ON median IS NOT NULL
ORDER BY w.number, c.number;

-- Compares each case with the other build: both medians, and the ratio of the two builds within a
-- round. A ratio above 1 means that this build is slower or needs more. NULL if the case fails in
-- the other build.
CREATE FUNCTION bench.comparison(of_section text) RETURNS TABLE (workload text, "case" text,
  settings text, unit text, other numeric, this numeric, ratio numeric, ratio_min numeric, ratio_max numeric)
LANGUAGE sql AS $$
  SELECT w.workload, coalesce(label, expression), c.settings, w.unit,
    bench.rounded(percentile_cont(0.5) WITHIN GROUP (ORDER BY b.value)),
    bench.rounded(percentile_cont(0.5) WITHIN GROUP (ORDER BY s.value)),
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY r.ratio)::numeric, 3),
    round(min(r.ratio)::numeric, 3), round(max(r.ratio)::numeric, 3)
  FROM bench.workloads w JOIN bench.cases c USING (workload)
    JOIN bench.samples s ON s.number = c.number
    LEFT JOIN bench.other_samples b ON (b.number, b.round) = (s.number, s.round)
    CROSS JOIN LATERAL (SELECT CASE w.unit WHEN 'GB/s' THEN b.value / nullif(s.value, 0)
      ELSE s.value / nullif(b.value, 0) END) r (ratio)
  WHERE section = of_section AND s.round > 0
  GROUP BY w.workload, c.number ORDER BY w.number, c.number;
$$;
