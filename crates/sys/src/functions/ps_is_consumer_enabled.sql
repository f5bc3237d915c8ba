SELECT CASE
    WHEN SUM(c.NAME = a.name) = 0 THEN sys.tare_no_consumer(a.name)
    WHEN MIN(c.ENABLED = 'YES') THEN 'YES'
    ELSE 'NO'
  END AS answer
FROM (SELECT ? AS name) AS a
JOIN performance_schema.setup_consumers AS c
  ON c.NAME = a.name
  OR c.NAME = 'global_instrumentation'
  OR (c.NAME = 'thread_instrumentation' AND a.name LIKE 'events%')
  OR (a.name LIKE '%history' AND c.NAME = REPLACE(a.name, '_history', '_current'))
  OR (a.name LIKE '%history_long' AND c.NAME = REPLACE(a.name, '_history_long', '_current'))
