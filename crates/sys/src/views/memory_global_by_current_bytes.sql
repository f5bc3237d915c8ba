-- Memory in use by instrument.
-- bytes: current_alloc current_avg_alloc high_alloc high_avg_alloc
SELECT
  EVENT_NAME AS event_name,
  CURRENT_COUNT_USED AS current_count,
  CURRENT_NUMBER_OF_BYTES_USED AS current_alloc,
  IFNULL(CURRENT_NUMBER_OF_BYTES_USED / NULLIF(CURRENT_COUNT_USED, 0), 0) AS current_avg_alloc,
  HIGH_COUNT_USED AS high_count,
  HIGH_NUMBER_OF_BYTES_USED AS high_alloc,
  IFNULL(HIGH_NUMBER_OF_BYTES_USED / NULLIF(HIGH_COUNT_USED, 0), 0) AS high_avg_alloc
FROM performance_schema.memory_summary_global_by_event_name
WHERE CURRENT_NUMBER_OF_BYTES_USED > 0
ORDER BY current_alloc DESC
