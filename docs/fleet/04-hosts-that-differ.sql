-- Which hosts run a statement much slower than the fleet does?
WITH of_host AS (
    SELECT host, name AS digest, SUM(time_ns) / SUM(count) AS ns
    FROM growth
    WHERE kind = 'digest' AND date = '2026-11-22'
    GROUP BY host, name
    HAVING SUM(count) > 0
),
of_fleet AS (SELECT digest, MIN(ns) AS best FROM of_host GROUP BY digest)
SELECT h.host, h.digest, ROUND(h.ns / 1e6, 3) AS ms, ROUND(f.best / 1e6, 3) AS best_ms, ROUND(h.ns / f.best, 2) AS times
FROM of_host h JOIN of_fleet f ON f.digest = h.digest
WHERE h.ns > 1.5 * f.best
ORDER BY times DESC, h.host, h.digest
LIMIT 10
