-- What became slower or faster with the deployment at 12:00?
WITH calls AS (
    SELECT name AS digest,
           SUM(CASE WHEN hour < 12 THEN time_ns ELSE 0 END) AS time_before,
           SUM(CASE WHEN hour < 12 THEN count ELSE 0 END) AS calls_before,
           SUM(CASE WHEN hour >= 12 THEN time_ns ELSE 0 END) AS time_after,
           SUM(CASE WHEN hour >= 12 THEN count ELSE 0 END) AS calls_after
    FROM growth
    WHERE kind = 'digest' AND date = '2026-11-22'
    GROUP BY name
)
SELECT digest,
       ROUND(time_before / calls_before / 1e6, 3) AS ms_before,
       ROUND(time_after / calls_after / 1e6, 3) AS ms_after,
       ROUND((time_after / calls_after) / (time_before / calls_before), 2) AS times
FROM calls
WHERE calls_before > 0 AND calls_after > 0
ORDER BY times DESC, digest
LIMIT 10
