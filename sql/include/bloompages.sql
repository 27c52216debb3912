\set ECHO none
-- Returns what a query counts with a bitmap scan and with a sequential scan, and the index that the
-- bitmap scan used. The including file includes plan.sql.
CREATE FUNCTION compared(query text, OUT used text, OUT with_index bigint, OUT with_scan bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL enable_seqscan = off;
  used := substring(string_agg(line, ' ') FROM 'Bitmap Index Scan on \w+')
    FROM explained(query) line;
  EXECUTE query INTO with_index;
  SET LOCAL enable_seqscan = on;
  SET LOCAL enable_bitmapscan = off;
  EXECUTE query INTO with_scan;
  SET LOCAL enable_bitmapscan = on;
END $$;
\set ECHO all
