-- Which files are read and written most?
SELECT name AS file, ROUND(SUM(bytes_read) / 1e6, 1) AS mb_read, ROUND(SUM(bytes_written) / 1e6, 1) AS mb_written,
       COUNT(DISTINCT host) AS hosts
FROM growth
WHERE kind = 'file' AND date = '2026-11-22'
GROUP BY name
ORDER BY mb_read + mb_written DESC, file
LIMIT 10
