-- The 95th percentile of the average latencies of normalized statements, in microseconds.
SELECT c.avg_us AS avg_us, c.percentile AS percentile
FROM (
  SELECT
    d.avg_us AS avg_us,
    IFNULL(SUM(d.cnt) OVER (ORDER BY d.avg_us) / SUM(d.cnt) OVER (), 0) AS percentile
  FROM sys.x$ps_digest_avg_latency_distribution AS d
) AS c
WHERE c.percentile >= 0.95
ORDER BY c.percentile
LIMIT 1
