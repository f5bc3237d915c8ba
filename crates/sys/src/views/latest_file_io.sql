-- The most recent file I/O operations, by thread.
-- path: file
-- time: latency
-- bytes: requested
SELECT
  CASE
    WHEN t.THREAD_ID IS NULL THEN CONCAT('thread:', w.THREAD_ID)
    WHEN t.PROCESSLIST_ID IS NULL THEN CONCAT(SUBSTRING_INDEX(t.NAME, '/', -1), ':', t.THREAD_ID)
    ELSE CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST, ':', t.PROCESSLIST_ID)
  END AS thread,
  w.OBJECT_NAME AS file,
  w.TIMER_WAIT AS latency,
  w.OPERATION AS operation,
  w.NUMBER_OF_BYTES AS requested
FROM performance_schema.events_waits_history_long AS w
LEFT JOIN performance_schema.threads AS t ON t.THREAD_ID = w.THREAD_ID
WHERE w.OBJECT_NAME IS NOT NULL AND w.EVENT_NAME LIKE 'wait/io/file/%'
ORDER BY w.TIMER_START
