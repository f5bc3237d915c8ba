-- Normalized statements with errors or warnings.
-- statement: query
SELECT
  DIGEST_TEXT AS query,
  SCHEMA_NAME AS db,
  COUNT_STAR AS exec_count,
  SUM_ERRORS AS errors,
  IFNULL(100 * SUM_ERRORS / NULLIF(COUNT_STAR, 0), 0) AS error_pct,
  SUM_WARNINGS AS warnings,
  IFNULL(100 * SUM_WARNINGS / NULLIF(COUNT_STAR, 0), 0) AS warning_pct,
  FIRST_SEEN AS first_seen,
  LAST_SEEN AS last_seen,
  DIGEST AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE SUM_ERRORS > 0 OR SUM_WARNINGS > 0
ORDER BY errors DESC, warnings DESC
