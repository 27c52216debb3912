\set ECHO none
-- Returns the error of a statement, or NULLs.
CREATE FUNCTION error_of(statement text, OUT code text, OUT message text, OUT detail text,
  OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
    detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  detail := nullif(detail, '');
  hint := nullif(hint, '');
END $$;
-- Returns how a statement ends, as a value: 'ok' or its SQLSTATE. The words of the server's own
-- errors differ between versions; their codes do not.
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE sql AS
  $$SELECT coalesce(code, 'ok') FROM error_of(statement)$$;
\set ECHO all
