-- How many sessions are active on average, hour by hour, in the whole fleet?
WITH recorded AS (
    SELECT hour, SUM(seconds) / COUNT(DISTINCT host) AS seconds FROM moments WHERE date = '2026-11-22' GROUP BY hour
),
active AS (
    SELECT hour, SUM(seconds) AS seconds FROM samples WHERE date = '2026-11-22' GROUP BY hour
)
SELECT a.hour, ROUND(a.seconds / r.seconds, 2) AS active_sessions
FROM active a JOIN recorded r ON r.hour = a.hour
ORDER BY a.hour
