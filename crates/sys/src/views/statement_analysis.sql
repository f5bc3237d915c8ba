-- All normalized statements, longest total latency first.
-- statement: query
-- time: total_latency max_latency avg_latency lock_latency cpu_latency
-- bytes: max_controlled_memory max_total_memory
SELECT
  DIGEST_TEXT AS query,
  SCHEMA_NAME AS db,
  IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
  COUNT_STAR AS exec_count,
  /*!90704 COUNT_SECONDARY AS exec_secondary_count, */
  SUM_ERRORS AS err_count,
  SUM_WARNINGS AS warn_count,
  SUM_TIMER_WAIT AS total_latency,
  MAX_TIMER_WAIT AS max_latency,
  AVG_TIMER_WAIT AS avg_latency,
  SUM_LOCK_TIME AS lock_latency,
  /*!90704 SUM_CPU_TIME AS cpu_latency, */
  SUM_ROWS_SENT AS rows_sent,
  ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
  SUM_ROWS_EXAMINED AS rows_examined,
  ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
  SUM_ROWS_AFFECTED AS rows_affected,
  ROUND(IFNULL(SUM_ROWS_AFFECTED / NULLIF(COUNT_STAR, 0), 0)) AS rows_affected_avg,
  SUM_CREATED_TMP_TABLES AS tmp_tables,
  SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
  SUM_SORT_ROWS AS rows_sorted,
  SUM_SORT_MERGE_PASSES AS sort_merge_passes,
  /*!90704 MAX_CONTROLLED_MEMORY AS max_controlled_memory, MAX_TOTAL_MEMORY AS max_total_memory, */
  DIGEST AS digest,
  FIRST_SEEN AS first_seen,
  LAST_SEEN AS last_seen
FROM performance_schema.events_statements_summary_by_digest
ORDER BY SUM_TIMER_WAIT DESC
