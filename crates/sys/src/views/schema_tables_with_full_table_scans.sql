-- Tables that were read by full scans.
-- time: latency
SELECT
  OBJECT_SCHEMA AS object_schema,
  OBJECT_NAME AS object_name,
  COUNT_READ AS rows_full_scanned,
  SUM_TIMER_WAIT AS latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE INDEX_NAME IS NULL AND COUNT_READ > 0
ORDER BY rows_full_scanned DESC
