-- File I/O by instrument, longest total latency first.
-- time: total_latency avg_latency max_latency read_latency write_latency misc_latency
-- bytes: total_read avg_read total_written avg_written
SELECT
  SUBSTRING_INDEX(EVENT_NAME, '/', -2) AS event_name,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  AVG_TIMER_WAIT AS avg_latency,
  MAX_TIMER_WAIT AS max_latency,
  SUM_TIMER_READ AS read_latency,
  SUM_TIMER_WRITE AS write_latency,
  SUM_TIMER_MISC AS misc_latency,
  COUNT_READ AS count_read,
  SUM_NUMBER_OF_BYTES_READ AS total_read,
  IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read,
  COUNT_WRITE AS count_write,
  SUM_NUMBER_OF_BYTES_WRITE AS total_written,
  IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_written
FROM performance_schema.file_summary_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
ORDER BY total_latency DESC
