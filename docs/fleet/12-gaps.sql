-- Which hosts were not recorded all day?
SELECT host, COUNT(DISTINCT hour) AS hours, ROUND(SUM(seconds) / 3600, 2) AS recorded_hours
FROM moments
WHERE date = '2026-11-22'
GROUP BY host
HAVING COUNT(DISTINCT hour) < 24
ORDER BY hours, host
LIMIT 10
