-- Row operations and latency by index.
-- time: select_latency insert_latency update_latency delete_latency
SELECT
  OBJECT_SCHEMA AS table_schema,
  OBJECT_NAME AS table_name,
  INDEX_NAME AS index_name,
  COUNT_FETCH AS rows_selected,
  SUM_TIMER_FETCH AS select_latency,
  COUNT_INSERT AS rows_inserted,
  SUM_TIMER_INSERT AS insert_latency,
  COUNT_UPDATE AS rows_updated,
  SUM_TIMER_UPDATE AS update_latency,
  COUNT_DELETE AS rows_deleted,
  SUM_TIMER_DELETE AS delete_latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE INDEX_NAME IS NOT NULL
ORDER BY SUM_TIMER_WAIT DESC
