-- Whose sessions make the load?
SELECT user, ROUND(SUM(seconds) / 3600, 2) AS active_hours, COUNT(DISTINCT host) AS hosts
FROM samples
WHERE date = '2026-11-22' AND user IS NOT NULL
GROUP BY user
ORDER BY active_hours DESC, user
LIMIT 10
