-- File I/O by instrument, most bytes first.
-- time: total_latency min_latency avg_latency max_latency
-- bytes: total_read avg_read total_written avg_written total_requested
SELECT
  SUBSTRING_INDEX(EVENT_NAME, '/', -2) AS event_name,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  MIN_TIMER_WAIT AS min_latency,
  AVG_TIMER_WAIT AS avg_latency,
  MAX_TIMER_WAIT AS max_latency,
  COUNT_READ AS count_read,
  SUM_NUMBER_OF_BYTES_READ AS total_read,
  IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read,
  COUNT_WRITE AS count_write,
  SUM_NUMBER_OF_BYTES_WRITE AS total_written,
  IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_written,
  SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE AS total_requested
FROM performance_schema.file_summary_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
ORDER BY total_requested DESC
