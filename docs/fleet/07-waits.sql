-- What do active sessions wait for? Those without a wait run.
SELECT COALESCE(wait, 'runs') AS waits_for, ROUND(100 * SUM(seconds) / SUM(SUM(seconds)) OVER (), 1) AS percent
FROM samples
WHERE date = '2026-11-22'
GROUP BY wait
ORDER BY percent DESC, waits_for
LIMIT 10
