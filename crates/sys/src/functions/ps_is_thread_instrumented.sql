SELECT IF(MAX(a.id) IS NULL, NULL, IFNULL(MAX(t.INSTRUMENTED), 'UNKNOWN')) AS answer
FROM (SELECT ? AS id) AS a
LEFT JOIN performance_schema.threads AS t ON t.PROCESSLIST_ID = a.id
