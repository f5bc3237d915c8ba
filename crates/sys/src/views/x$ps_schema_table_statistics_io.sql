-- File I/O by table, or by database where a database is one file.
SELECT
  sys.extract_schema_from_file_name(FILE_NAME) AS table_schema,
  sys.extract_table_from_file_name(FILE_NAME) AS table_name,
  SUM(COUNT_READ) AS count_read,
  SUM(SUM_NUMBER_OF_BYTES_READ) AS sum_number_of_bytes_read,
  SUM(SUM_TIMER_READ) AS sum_timer_read,
  SUM(COUNT_WRITE) AS count_write,
  SUM(SUM_NUMBER_OF_BYTES_WRITE) AS sum_number_of_bytes_write,
  SUM(SUM_TIMER_WRITE) AS sum_timer_write,
  SUM(COUNT_MISC) AS count_misc,
  SUM(SUM_TIMER_MISC) AS sum_timer_misc
FROM performance_schema.file_summary_by_instance
GROUP BY sys.extract_schema_from_file_name(FILE_NAME), sys.extract_table_from_file_name(FILE_NAME)
