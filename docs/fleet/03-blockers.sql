-- Who blocked whom, and for how long? A holder that was idle has no sample of its own.
SELECT w.host, w.blocker, b.user AS blocked_by, COALESCE(b.digest, b.text) AS holds, w.user AS waited,
       COALESCE(w.digest, w.text) AS for_statement, w.wait, ROUND(SUM(w.seconds), 0) AS total_seconds
FROM samples w
LEFT JOIN samples b ON b.date = w.date AND b.hour = w.hour AND b.host = w.host AND b.server = w.server
    AND b.sampled_at = w.sampled_at AND b.thread_id = w.blocker
WHERE w.date = '2026-11-22' AND w.blocker IS NOT NULL
GROUP BY w.host, w.blocker, b.user, COALESCE(b.digest, b.text), w.user, COALESCE(w.digest, w.text), w.wait
ORDER BY total_seconds DESC, w.host, w.wait, for_statement
LIMIT 10
