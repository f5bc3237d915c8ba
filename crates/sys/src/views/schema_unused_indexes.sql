-- Indexes not used since the server started.
SELECT OBJECT_SCHEMA AS object_schema, OBJECT_NAME AS object_name, INDEX_NAME AS index_name
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE INDEX_NAME IS NOT NULL AND INDEX_NAME <> 'PRIMARY' AND COUNT_STAR = 0 AND OBJECT_SCHEMA <> 'mysql'
ORDER BY object_schema, object_name
