-- Row operations and file I/O by table; file I/O only where a table has a file of its own.
-- time: total_latency fetch_latency insert_latency update_latency delete_latency io_read_latency io_write_latency io_misc_latency
-- bytes: io_read io_write
SELECT
  t.OBJECT_SCHEMA AS table_schema,
  t.OBJECT_NAME AS table_name,
  t.SUM_TIMER_WAIT AS total_latency,
  t.COUNT_FETCH AS rows_fetched,
  t.SUM_TIMER_FETCH AS fetch_latency,
  t.COUNT_INSERT AS rows_inserted,
  t.SUM_TIMER_INSERT AS insert_latency,
  t.COUNT_UPDATE AS rows_updated,
  t.SUM_TIMER_UPDATE AS update_latency,
  t.COUNT_DELETE AS rows_deleted,
  t.SUM_TIMER_DELETE AS delete_latency,
  f.count_read AS io_read_requests,
  f.sum_number_of_bytes_read AS io_read,
  f.sum_timer_read AS io_read_latency,
  f.count_write AS io_write_requests,
  f.sum_number_of_bytes_write AS io_write,
  f.sum_timer_write AS io_write_latency,
  f.count_misc AS io_misc_requests,
  f.sum_timer_misc AS io_misc_latency
FROM performance_schema.table_io_waits_summary_by_table AS t
LEFT JOIN sys.x$ps_schema_table_statistics_io AS f
  ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME
ORDER BY t.SUM_TIMER_WAIT DESC
