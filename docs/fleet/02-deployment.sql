-- Which statements are new or slower since a deployment, and how much time do they add?
WITH ranges AS (
    -- Any two intervals: from started to deployed, and from there to ended.
    SELECT CAST('2026-11-22 00:00:00' AS TIMESTAMP) AS started,
           CAST('2026-11-22 12:00:00' AS TIMESTAMP) AS deployed,
           CAST('2026-11-23 00:00:00' AS TIMESTAMP) AS ended
), calls AS (
    SELECT g.name AS digest,
           SUM(CASE WHEN g.sampled_at < r.deployed THEN g.time_ns ELSE 0 END) AS time_before,
           SUM(CASE WHEN g.sampled_at < r.deployed THEN g.count ELSE 0 END) AS calls_before,
           SUM(CASE WHEN g.sampled_at >= r.deployed THEN g.time_ns ELSE 0 END) AS time_after,
           SUM(CASE WHEN g.sampled_at >= r.deployed THEN g.count ELSE 0 END) AS calls_after
    FROM growth g CROSS JOIN ranges r
    WHERE g.kind = 'digest' AND g.date BETWEEN '2026-11-22' AND '2026-11-23'
      AND g.sampled_at >= r.started AND g.sampled_at < r.ended
    GROUP BY g.name
), added AS (
    SELECT digest, calls_before, calls_after, time_after,
           time_before / NULLIF(calls_before, 0) AS ns_before,
           ROUND((time_after - calls_after * COALESCE(time_before / NULLIF(calls_before, 0), 0)) / 1e9, 1)
               AS added_seconds
    FROM calls
    WHERE calls_after > 0
)
SELECT digest,
       CASE WHEN calls_before = 0 THEN 'new' ELSE 'slower' END AS what,
       ROUND(ns_before / 1e6, 3) AS ms_before,
       ROUND(time_after / calls_after / 1e6, 3) AS ms_after,
       calls_after,
       added_seconds
FROM added
WHERE added_seconds > 0
ORDER BY added_seconds DESC, digest
LIMIT 10
