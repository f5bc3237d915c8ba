-- Normalized statements whose average latency is in the top 5 %.
-- statement: query
-- time: total_latency max_latency avg_latency
SELECT
  DIGEST_TEXT AS query,
  SCHEMA_NAME AS db,
  IF(SUM_NO_GOOD_INDEX_USED > 0 OR SUM_NO_INDEX_USED > 0, '*', '') AS full_scan,
  COUNT_STAR AS exec_count,
  SUM_ERRORS AS err_count,
  SUM_WARNINGS AS warn_count,
  SUM_TIMER_WAIT AS total_latency,
  MAX_TIMER_WAIT AS max_latency,
  AVG_TIMER_WAIT AS avg_latency,
  SUM_ROWS_SENT AS rows_sent,
  ROUND(IFNULL(SUM_ROWS_SENT / NULLIF(COUNT_STAR, 0), 0)) AS rows_sent_avg,
  SUM_ROWS_EXAMINED AS rows_examined,
  ROUND(IFNULL(SUM_ROWS_EXAMINED / NULLIF(COUNT_STAR, 0), 0)) AS rows_examined_avg,
  FIRST_SEEN AS first_seen,
  LAST_SEEN AS last_seen,
  DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE ROUND(AVG_TIMER_WAIT / 1000000) >= (SELECT avg_us FROM sys.x$ps_digest_95th_percentile_by_avg_us)
ORDER BY AVG_TIMER_WAIT DESC
