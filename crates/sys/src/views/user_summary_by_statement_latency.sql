-- Statement statistics by user.
-- time: total_latency max_latency lock_latency cpu_latency
SELECT
  IFNULL(USER, 'background') AS user,
  SUM(COUNT_STAR) AS total,
  SUM(SUM_TIMER_WAIT) AS total_latency,
  MAX(MAX_TIMER_WAIT) AS max_latency,
  SUM(SUM_LOCK_TIME) AS lock_latency,
  /*!90704 SUM(SUM_CPU_TIME) AS cpu_latency, */
  SUM(SUM_ROWS_SENT) AS rows_sent,
  SUM(SUM_ROWS_EXAMINED) AS rows_examined,
  SUM(SUM_ROWS_AFFECTED) AS rows_affected,
  SUM(SUM_NO_INDEX_USED + SUM_NO_GOOD_INDEX_USED) AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name
GROUP BY IFNULL(USER, 'background')
ORDER BY total_latency DESC
