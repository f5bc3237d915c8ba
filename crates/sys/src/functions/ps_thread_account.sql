SELECT MAX(IF(t.TYPE = 'FOREGROUND', CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST), t.NAME)) AS answer
FROM (SELECT ? AS id) AS a
JOIN performance_schema.threads AS t ON t.THREAD_ID = a.id
