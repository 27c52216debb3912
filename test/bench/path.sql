-- Paths of 55 bytes.
CREATE FUNCTION path(i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'usr/share/doc/package-' || i % 9973 || '/' || left(md5(i::text), (8 + i % 17)::int) || '/file-' || i;
$$;
