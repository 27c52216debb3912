\set ECHO none
-- Returns how a statement ends, as a value: 'ok' or its SQLSTATE. The words of the server's own
-- errors differ between versions; their codes do not.
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
\set ECHO all
