-- Buffer pool pages by table. Always empty: SQLite has a page cache for each connection instead.
-- bytes: allocated data
SELECT
  NULL AS object_schema,
  NULL AS object_name,
  0 AS allocated,
  0 AS data,
  0 AS pages,
  0 AS pages_hashed,
  0 AS pages_old,
  0 AS rows_cached
FROM DUAL
WHERE FALSE
