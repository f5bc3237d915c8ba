-- Which errors are raised most, and where?
SELECT name AS error, host, SUM(count) AS raised
FROM growth
WHERE kind = 'error' AND date = '2026-11-22'
GROUP BY name, host
ORDER BY raised DESC, error, host
LIMIT 10
