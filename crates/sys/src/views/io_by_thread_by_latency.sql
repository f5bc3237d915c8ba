-- File I/O latency by thread.
-- time: total_latency min_latency avg_latency max_latency
SELECT
  IF(t.PROCESSLIST_ID IS NULL, SUBSTRING_INDEX(t.NAME, '/', -1), CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST)) AS user,
  w.total AS total,
  w.total_latency AS total_latency,
  w.min_latency AS min_latency,
  w.total_latency / NULLIF(w.total, 0) AS avg_latency,
  w.max_latency AS max_latency,
  w.thread_id AS thread_id,
  t.PROCESSLIST_ID AS processlist_id
FROM (
  SELECT
    THREAD_ID AS thread_id,
    SUM(COUNT_STAR) AS total,
    SUM(SUM_TIMER_WAIT) AS total_latency,
    MIN(MIN_TIMER_WAIT) AS min_latency,
    MAX(MAX_TIMER_WAIT) AS max_latency
  FROM performance_schema.events_waits_summary_by_thread_by_event_name
  WHERE EVENT_NAME LIKE 'wait/io/file/%' AND SUM_TIMER_WAIT > 0
  GROUP BY THREAD_ID
) AS w
LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = w.thread_id
ORDER BY w.total_latency DESC
