\set ECHO none
-- Conditions on what is inside values. The including file includes plan.sql and bloompages.sql.

-- Conditions on a table for which the index gives another number of rows than a sequential scan, or
-- is not used. No row: all is well.
CREATE FUNCTION differences(of_table regclass, conditions text[])
RETURNS TABLE (condition text, used text, with_index bigint, with_scan bigint) LANGUAGE plpgsql AS
$$ BEGIN
  FOREACH condition IN ARRAY conditions LOOP
    SELECT c.used, c.with_index, c.with_scan INTO used, with_index, with_scan
    FROM compared(format('SELECT count(*) FROM %s WHERE %s', of_table, condition)) c;
    IF used IS NULL OR with_index IS DISTINCT FROM with_scan THEN
      condition := left(condition, 200);
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
-- The share of its pages that a query reads with the index: "none", "few", "some" or "all". One
-- process reads them, because EXPLAIN does not show all pages that workers read.
CREATE FUNCTION pages_read(of_table regclass, condition text) RETURNS text LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
  found int;
  blocks bigint;
BEGIN
  SET LOCAL enable_seqscan = off;
  found := jsonb_path_query_first(plan_of(format('SELECT FROM %s WHERE %s', of_table, condition),
    'ANALYZE, TIMING OFF'), '$.**."Lossy Heap Blocks"');
  SET LOCAL enable_seqscan = on;
  blocks := pg_relation_size(of_table) / current_setting('block_size')::int;
  RETURN CASE WHEN coalesce(found, 0) = 0 THEN 'none' WHEN found > blocks * 0.9 THEN 'all'
    WHEN found < blocks / 4 THEN 'few' ELSE 'some' END;
END $$;
\set ECHO all
