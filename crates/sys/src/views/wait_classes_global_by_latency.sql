-- Waits by class, longest total latency first.
-- time: total_latency min_latency avg_latency max_latency
SELECT
  SUBSTRING_INDEX(EVENT_NAME, '/', 3) AS event_class,
  SUM(COUNT_STAR) AS total,
  SUM(SUM_TIMER_WAIT) AS total_latency,
  MIN(MIN_TIMER_WAIT) AS min_latency,
  IFNULL(SUM(SUM_TIMER_WAIT) / NULLIF(SUM(COUNT_STAR), 0), 0) AS avg_latency,
  MAX(MAX_TIMER_WAIT) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE EVENT_NAME <> 'idle' AND SUM_TIMER_WAIT > 0
GROUP BY SUBSTRING_INDEX(EVENT_NAME, '/', 3)
ORDER BY total_latency DESC
