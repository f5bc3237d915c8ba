-- Who blocked whom, for how long, and what did the holder run, or run last if it was idle?
SELECT b.host, b.blocker, b.blocker_user AS blocked_by, b.blocker_state,
    COALESCE(b.blocker_digest, b.blocker_text) AS holder_ran, b.user AS waited,
    COALESCE(b.digest, b.text) AS for_statement, b.kind, b.object, ROUND(SUM(b.seconds), 0) AS total_seconds
FROM blocks b
WHERE b.date = '2026-11-22'
GROUP BY b.host, b.blocker, b.blocker_user, b.blocker_state, COALESCE(b.blocker_digest, b.blocker_text),
    b.user, COALESCE(b.digest, b.text), b.kind, b.object
ORDER BY total_seconds DESC, b.host, b.kind, for_statement
LIMIT 10
