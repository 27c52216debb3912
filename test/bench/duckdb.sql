-- Reads the times of the semi joins of test/bench/duckdb.cjs, each as another case of a workload. A
-- line has the workload's name, the round, and milliseconds.

CREATE TEMP TABLE measured (workload text, round int, value float8);
\copy measured FROM pstdin

INSERT INTO bench.cases (workload, expression, settings)
SELECT DISTINCT workload, 'DuckDB ' || :'version' || ', in memory', 'threads=1' FROM measured ORDER BY 1;

INSERT INTO bench.samples (number, round, value)
SELECT number, round, value FROM measured JOIN bench.cases USING (workload)
WHERE expression LIKE 'DuckDB %';
