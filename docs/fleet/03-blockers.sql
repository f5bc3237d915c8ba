-- Who blocked whom, and for how long?
SELECT w.host, b.user AS blocked_by, b.digest AS holds, w.user AS waited, w.digest AS for_statement,
       w.wait, ROUND(SUM(w.seconds), 0) AS total_seconds
FROM samples w
JOIN samples b ON b.host = w.host AND b.server = w.server AND b.at = w.at AND b.thread_id = w.blocker
WHERE w.date = '2026-11-22' AND b.date = '2026-11-22' AND w.blocker IS NOT NULL
GROUP BY w.host, b.user, b.digest, w.user, w.digest, w.wait
ORDER BY total_seconds DESC, w.host, for_statement
LIMIT 10
