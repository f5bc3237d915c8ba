-- Stages by host.
-- time: total_latency avg_latency
SELECT
  IFNULL(HOST, 'background') AS host,
  EVENT_NAME AS event_name,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  AVG_TIMER_WAIT AS avg_latency
FROM performance_schema.events_stages_summary_by_host_by_event_name
WHERE SUM_TIMER_WAIT > 0
ORDER BY host, total_latency DESC
