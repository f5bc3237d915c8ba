-- Indexes made redundant by another index, with the statement that drops them.
SELECT
  r.table_schema AS table_schema,
  r.table_name AS table_name,
  r.index_name AS redundant_index_name,
  r.index_columns AS redundant_index_columns,
  r.non_unique AS redundant_index_non_unique,
  d.index_name AS dominant_index_name,
  d.index_columns AS dominant_index_columns,
  d.non_unique AS dominant_index_non_unique,
  r.subpart_exists OR d.subpart_exists AS subpart_exists,
  CONCAT('ALTER TABLE ', sys.quote_identifier(r.table_schema), '.', sys.quote_identifier(r.table_name),
         ' DROP INDEX ', sys.quote_identifier(r.index_name)) AS sql_drop_index
FROM sys.x$schema_flattened_keys AS r
JOIN sys.x$schema_flattened_keys AS d
  ON d.table_schema = r.table_schema AND d.table_name = r.table_name AND d.index_name <> r.index_name
WHERE r.index_name <> 'PRIMARY'
  AND CASE
    -- The same columns: the index that forbids more is kept, then PRIMARY, then the first by name.
    WHEN d.index_columns = r.index_columns THEN
      r.non_unique > d.non_unique
      OR (r.non_unique = d.non_unique AND (d.index_name = 'PRIMARY' OR d.index_name < r.index_name))
    -- The first columns of a longer one: superfluous unless it forbids duplicates itself.
    WHEN LEFT(d.index_columns, CHAR_LENGTH(r.index_columns) + 1) = CONCAT(r.index_columns, ',') THEN r.non_unique = 1
    -- More columns behind those of a unique one, which has found the row already.
    ELSE d.non_unique = 0 AND LEFT(r.index_columns, CHAR_LENGTH(d.index_columns) + 1) = CONCAT(d.index_columns, ',')
  END
