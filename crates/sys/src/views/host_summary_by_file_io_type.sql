-- File I/O by host and instrument.
-- time: total_latency max_latency
SELECT
  IFNULL(HOST, 'background') AS host,
  EVENT_NAME AS event_name,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  MAX_TIMER_WAIT AS max_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%' AND COUNT_STAR > 0
ORDER BY host, total_latency DESC
