-- Statement statistics by host and statement type.
-- time: total_latency max_latency lock_latency cpu_latency
SELECT
  IFNULL(HOST, 'background') AS host,
  SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS statement,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  MAX_TIMER_WAIT AS max_latency,
  SUM_LOCK_TIME AS lock_latency,
  /*!90704 SUM_CPU_TIME AS cpu_latency, */
  SUM_ROWS_SENT AS rows_sent,
  SUM_ROWS_EXAMINED AS rows_examined,
  SUM_ROWS_AFFECTED AS rows_affected,
  SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name
WHERE SUM_TIMER_WAIT > 0
ORDER BY host, total_latency DESC
