-- Memory in use by user.
-- bytes: current_allocated current_avg_alloc current_max_alloc total_allocated
SELECT
  IFNULL(USER, 'background') AS user,
  SUM(CURRENT_COUNT_USED) AS current_count_used,
  SUM(CURRENT_NUMBER_OF_BYTES_USED) AS current_allocated,
  IFNULL(SUM(CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(CURRENT_COUNT_USED), 0), 0) AS current_avg_alloc,
  MAX(CURRENT_NUMBER_OF_BYTES_USED) AS current_max_alloc,
  SUM(SUM_NUMBER_OF_BYTES_ALLOC) AS total_allocated
FROM performance_schema.memory_summary_by_user_by_event_name
GROUP BY IFNULL(USER, 'background')
ORDER BY current_allocated DESC
