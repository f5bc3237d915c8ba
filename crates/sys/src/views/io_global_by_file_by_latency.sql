-- File I/O by file, longest total latency first.
-- path: file
-- time: total_latency read_latency write_latency misc_latency
SELECT
  FILE_NAME AS file,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  COUNT_READ AS count_read,
  SUM_TIMER_READ AS read_latency,
  COUNT_WRITE AS count_write,
  SUM_TIMER_WRITE AS write_latency,
  COUNT_MISC AS count_misc,
  SUM_TIMER_MISC AS misc_latency
FROM performance_schema.file_summary_by_instance
ORDER BY total_latency DESC
