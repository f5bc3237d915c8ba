-- File I/O by user and instrument.
-- time: latency max_latency
SELECT
  IFNULL(USER, 'background') AS user,
  EVENT_NAME AS event_name,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS latency,
  MAX_TIMER_WAIT AS max_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
ORDER BY user, latency DESC
