-- Waits by event, without idle time, longest total latency first.
-- time: total_latency avg_latency max_latency
SELECT
  EVENT_NAME AS events,
  COUNT_STAR AS total,
  SUM_TIMER_WAIT AS total_latency,
  AVG_TIMER_WAIT AS avg_latency,
  MAX_TIMER_WAIT AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0
ORDER BY total_latency DESC
