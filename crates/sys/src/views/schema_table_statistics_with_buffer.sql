-- Row operations, file I/O and buffer pool pages by table.
-- time: fetch_latency insert_latency update_latency delete_latency io_read_latency io_write_latency io_misc_latency
-- bytes: io_read io_write innodb_buffer_allocated innodb_buffer_data innodb_buffer_free
SELECT
  t.OBJECT_SCHEMA AS table_schema,
  t.OBJECT_NAME AS table_name,
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
  f.sum_timer_misc AS io_misc_latency,
  b.allocated AS innodb_buffer_allocated,
  b.data AS innodb_buffer_data,
  b.allocated - b.data AS innodb_buffer_free,
  b.pages AS innodb_buffer_pages,
  b.pages_hashed AS innodb_buffer_pages_hashed,
  b.pages_old AS innodb_buffer_pages_old,
  b.rows_cached AS innodb_buffer_rows_cached
FROM performance_schema.table_io_waits_summary_by_table AS t
LEFT JOIN sys.x$ps_schema_table_statistics_io AS f
  ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME
LEFT JOIN sys.x$innodb_buffer_stats_by_table AS b
  ON b.object_schema = t.OBJECT_SCHEMA AND b.object_name = t.OBJECT_NAME
ORDER BY t.SUM_TIMER_WAIT DESC
