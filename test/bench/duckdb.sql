-- Reads the times that test/bench/duckdb.cjs prints, and adds DuckDB as a case to the workloads. A
-- line has the workload's name, its part, the round, and milliseconds.

CREATE TEMP TABLE measured (workload text, part text, round int, value float8);
\copy measured FROM pstdin

INSERT INTO bench.cases (workload, part, expression, label, settings)
SELECT DISTINCT workload, part, 'DuckDB', concat_ws(', ', part, 'DuckDB ' || :'version', 'in memory'),
  'threads=1'
FROM measured ORDER BY 1, 2;

INSERT INTO bench.samples (number, round, value)
SELECT number, round, value
FROM measured JOIN bench.cases c USING (workload)
WHERE c.expression = 'DuckDB' AND c.part IS NOT DISTINCT FROM measured.part;
