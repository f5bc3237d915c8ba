-- The indexes of user tables, each with its columns in one list.
SELECT
  TABLE_SCHEMA AS table_schema,
  TABLE_NAME AS table_name,
  INDEX_NAME AS index_name,
  MAX(NON_UNIQUE) AS non_unique,
  MAX(SUB_PART IS NOT NULL) AS subpart_exists,
  GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) AS index_columns
FROM information_schema.STATISTICS
WHERE INDEX_TYPE = 'BTREE'
  AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema', 'tare')
GROUP BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME
