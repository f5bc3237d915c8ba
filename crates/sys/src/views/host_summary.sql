-- Statements, file I/O, connections and memory by host.
-- time: statement_latency statement_avg_latency file_io_latency
-- bytes: current_memory total_memory_allocated
SELECT
  c.host AS host,
  s.total AS statements,
  s.total_latency AS statement_latency,
  s.total_latency / NULLIF(s.total, 0) AS statement_avg_latency,
  s.full_scans AS table_scans,
  f.ios AS file_ios,
  f.io_latency AS file_io_latency,
  c.present AS current_connections,
  c.ever AS total_connections,
  c.users AS unique_users,
  m.current_allocated AS current_memory,
  m.total_allocated AS total_memory_allocated
FROM (
  SELECT
    IFNULL(HOST, 'background') AS host,
    SUM(CURRENT_CONNECTIONS) AS present,
    SUM(TOTAL_CONNECTIONS) AS ever,
    COUNT(DISTINCT USER) AS users
  FROM performance_schema.accounts
  GROUP BY IFNULL(HOST, 'background')
) AS c
LEFT JOIN sys.x$host_summary_by_statement_latency AS s ON s.host = c.host
LEFT JOIN sys.x$host_summary_by_file_io AS f ON f.host = c.host
LEFT JOIN sys.x$memory_by_host_by_current_bytes AS m ON m.host = c.host
ORDER BY s.total_latency DESC
