-- Which statements take most time in the fleet?
WITH texts AS (SELECT digest, MAX(text) AS text FROM digests GROUP BY digest)
SELECT g.name AS digest, t.text AS statement, SUM(g.count) AS calls, ROUND(SUM(g.time_ns) / 1e9, 3) AS total_seconds
FROM growth g LEFT JOIN texts t ON t.digest = g.name
WHERE g.kind = 'digest' AND g.date = '2026-11-22'
GROUP BY g.name, t.text
ORDER BY total_seconds DESC, digest
LIMIT 10
