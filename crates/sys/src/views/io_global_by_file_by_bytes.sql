-- File I/O by file, most bytes first.
-- path: file
-- bytes: total_read avg_read total_written avg_write total
SELECT
  FILE_NAME AS file,
  COUNT_READ AS count_read,
  SUM_NUMBER_OF_BYTES_READ AS total_read,
  IFNULL(SUM_NUMBER_OF_BYTES_READ / NULLIF(COUNT_READ, 0), 0) AS avg_read,
  COUNT_WRITE AS count_write,
  SUM_NUMBER_OF_BYTES_WRITE AS total_written,
  IFNULL(SUM_NUMBER_OF_BYTES_WRITE / NULLIF(COUNT_WRITE, 0), 0) AS avg_write,
  SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE AS total,
  IFNULL(ROUND(100 * SUM_NUMBER_OF_BYTES_WRITE / NULLIF(SUM_NUMBER_OF_BYTES_READ + SUM_NUMBER_OF_BYTES_WRITE, 0), 2), 0) AS write_pct
FROM performance_schema.file_summary_by_instance
ORDER BY total DESC
