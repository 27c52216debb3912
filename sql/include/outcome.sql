\set ECHO none
-- Runs a statement and returns its error, or NULLs.
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
-- Runs a statement and returns 'ok' or its SQLSTATE. The wording of the server's own errors differs
-- between versions, but the codes do not.
CREATE FUNCTION outcome(statement text) RETURNS text LANGUAGE sql AS
  $$SELECT coalesce(code, 'ok') FROM error_of(statement)$$;
\set ECHO all
