-- Statements, file I/O, connections and memory by user.
-- time: statement_latency statement_avg_latency file_io_latency
-- bytes: current_memory total_memory_allocated
SELECT
  c.user AS user,
  s.total AS statements,
  s.total_latency AS statement_latency,
  IFNULL(s.total_latency / NULLIF(s.total, 0), 0) AS statement_avg_latency,
  s.full_scans AS table_scans,
  f.ios AS file_ios,
  f.io_latency AS file_io_latency,
  c.present AS current_connections,
  c.ever AS total_connections,
  c.hosts AS unique_hosts,
  m.current_allocated AS current_memory,
  m.total_allocated AS total_memory_allocated
FROM (
  SELECT
    IFNULL(USER, 'background') AS user,
    SUM(CURRENT_CONNECTIONS) AS present,
    SUM(TOTAL_CONNECTIONS) AS ever,
    COUNT(DISTINCT HOST) AS hosts
  FROM performance_schema.accounts
  GROUP BY IFNULL(USER, 'background')
) AS c
LEFT JOIN sys.x$user_summary_by_statement_latency AS s ON s.user = c.user
LEFT JOIN sys.x$user_summary_by_file_io AS f ON f.user = c.user
LEFT JOIN sys.x$memory_by_user_by_current_bytes AS m ON m.user = c.user
ORDER BY s.total_latency DESC
