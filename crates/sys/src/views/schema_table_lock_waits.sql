-- Connections that wait for a table's metadata lock, and the connections that block them.
-- statement: waiting_query
SELECT
  g.OBJECT_SCHEMA AS object_schema,
  g.OBJECT_NAME AS object_name,
  p.OWNER_THREAD_ID AS waiting_thread_id,
  w.PROCESSLIST_ID AS waiting_pid,
  sys.ps_thread_account(p.OWNER_THREAD_ID) AS waiting_account,
  p.LOCK_TYPE AS waiting_lock_type,
  p.LOCK_DURATION AS waiting_lock_duration,
  w.PROCESSLIST_INFO AS waiting_query,
  w.PROCESSLIST_TIME AS waiting_query_secs,
  s.ROWS_AFFECTED AS waiting_query_rows_affected,
  s.ROWS_EXAMINED AS waiting_query_rows_examined,
  g.OWNER_THREAD_ID AS blocking_thread_id,
  b.PROCESSLIST_ID AS blocking_pid,
  sys.ps_thread_account(g.OWNER_THREAD_ID) AS blocking_account,
  g.LOCK_TYPE AS blocking_lock_type,
  g.LOCK_DURATION AS blocking_lock_duration,
  CONCAT('KILL QUERY ', b.PROCESSLIST_ID) AS sql_kill_blocking_query,
  CONCAT('KILL ', b.PROCESSLIST_ID) AS sql_kill_blocking_connection
FROM performance_schema.metadata_locks AS p
JOIN performance_schema.metadata_locks AS g
  ON g.OBJECT_TYPE = p.OBJECT_TYPE AND g.OBJECT_SCHEMA = p.OBJECT_SCHEMA AND g.OBJECT_NAME = p.OBJECT_NAME
  AND g.OWNER_THREAD_ID <> p.OWNER_THREAD_ID
JOIN performance_schema.threads AS w ON w.THREAD_ID = p.OWNER_THREAD_ID
JOIN performance_schema.threads AS b ON b.THREAD_ID = g.OWNER_THREAD_ID
LEFT JOIN performance_schema.events_statements_current AS s
  ON s.THREAD_ID = p.OWNER_THREAD_ID AND IFNULL(s.NESTING_EVENT_LEVEL, 0) = 0
WHERE p.OBJECT_TYPE = 'TABLE' AND p.LOCK_STATUS = 'PENDING' AND g.LOCK_STATUS = 'GRANTED'
