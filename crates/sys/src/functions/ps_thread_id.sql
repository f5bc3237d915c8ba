SELECT MAX(t.THREAD_ID) AS answer
FROM (SELECT ? AS id) AS a
JOIN performance_schema.threads AS t ON t.PROCESSLIST_ID = IFNULL(a.id, CONNECTION_ID())
