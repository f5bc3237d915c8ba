-- File I/O by user.
-- time: io_latency
SELECT
  IFNULL(USER, 'background') AS user,
  SUM(COUNT_STAR) AS ios,
  SUM(SUM_TIMER_WAIT) AS io_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%'
GROUP BY IFNULL(USER, 'background')
ORDER BY io_latency DESC
