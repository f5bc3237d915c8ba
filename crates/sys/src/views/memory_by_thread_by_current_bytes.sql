-- Memory in use by thread.
-- bytes: current_allocated current_avg_alloc current_max_alloc total_allocated
SELECT
  m.thread_id AS thread_id,
  IF(t.PROCESSLIST_ID IS NULL, REPLACE(t.NAME, 'thread/', ''), CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST)) AS user,
  m.used AS current_count_used,
  m.bytes AS current_allocated,
  IFNULL(m.bytes / NULLIF(m.used, 0), 0) AS current_avg_alloc,
  m.largest AS current_max_alloc,
  m.ever AS total_allocated
FROM (
  SELECT
    THREAD_ID AS thread_id,
    SUM(CURRENT_COUNT_USED) AS used,
    SUM(CURRENT_NUMBER_OF_BYTES_USED) AS bytes,
    MAX(CURRENT_NUMBER_OF_BYTES_USED) AS largest,
    SUM(SUM_NUMBER_OF_BYTES_ALLOC) AS ever
  FROM performance_schema.memory_summary_by_thread_by_event_name
  GROUP BY THREAD_ID
) AS m
JOIN performance_schema.threads AS t ON t.THREAD_ID = m.thread_id
ORDER BY m.bytes DESC
