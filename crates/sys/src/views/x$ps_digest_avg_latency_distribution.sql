-- The distribution of the average latencies of normalized statements, in microseconds.
SELECT COUNT(*) AS cnt, ROUND(AVG_TIMER_WAIT / 1000000) AS avg_us
FROM performance_schema.events_statements_summary_by_digest
GROUP BY ROUND(AVG_TIMER_WAIT / 1000000)
