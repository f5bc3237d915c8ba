-- Waits by host and event, without idle time.
-- time: total_latency avg_latency max_latency
SELECT
  IFNULL(HOST, 'background') AS host,
  EVENT_NAME AS event,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  AVG_TIMER_WAIT AS avg_latency,
  MAX_TIMER_WAIT AS max_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0
ORDER BY host, total_latency DESC
