-- What does instrumentation cost, host by host, in percent of one processor?
WITH recorded AS (
    SELECT host, SUM(seconds) AS seconds FROM moments WHERE date = '2026-11-22' GROUP BY host
),
cost AS (
    SELECT host, SUM(time_ns) / 1e9 AS seconds FROM growth WHERE kind = 'cost' AND date = '2026-11-22' GROUP BY host
)
SELECT c.host, ROUND(c.seconds, 1) AS cost_seconds, ROUND(100 * c.seconds / r.seconds, 3) AS percent
FROM cost c JOIN recorded r ON r.host = c.host
ORDER BY percent DESC, c.host
LIMIT 10
