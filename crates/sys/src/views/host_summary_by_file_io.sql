-- File I/O by host.
-- time: io_latency
SELECT
  IFNULL(HOST, 'background') AS host,
  SUM(COUNT_STAR) AS ios,
  SUM(SUM_TIMER_WAIT) AS io_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE EVENT_NAME LIKE 'wait/io/file/%'
GROUP BY IFNULL(HOST, 'background')
ORDER BY io_latency DESC
