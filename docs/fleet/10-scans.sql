-- Which statements read many rows for each that they send? An index may be missing.
SELECT name AS digest, SUM(rows_examined) AS examined, SUM(rows_sent) AS sent,
       ROUND(SUM(rows_examined) / SUM(rows_sent), 1) AS examined_for_one
FROM growth
WHERE kind = 'digest' AND date = '2026-11-22'
GROUP BY name
HAVING SUM(rows_sent) > 0
ORDER BY examined_for_one DESC, digest
LIMIT 10
