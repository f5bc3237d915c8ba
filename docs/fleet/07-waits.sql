-- What do active sessions do? They run, wait for a CPU, wait for something named, or sleep elsewhere. A thread in
-- a wait may run. If the state is not known, a session without a wait is unknown.
SELECT activity, ROUND(100 * SUM(seconds) / SUM(SUM(seconds)) OVER (), 1) AS percent
FROM (
    SELECT CASE WHEN state IN ('on cpu', 'waiting for cpu', 'blocked elsewhere') THEN state
                ELSE COALESCE(wait, 'unknown') END AS activity,
           seconds
    FROM samples
    WHERE date = '2026-11-22'
) activities
GROUP BY activity
ORDER BY percent DESC, activity
LIMIT 10
