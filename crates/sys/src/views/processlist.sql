-- What each thread is doing, with its last statement and wait.
-- time: statement_latency lock_latency cpu_latency last_statement_latency last_wait_latency trx_latency
-- bytes: current_memory
-- statement: current_statement last_statement
SELECT
  t.THREAD_ID AS thd_id,
  t.PROCESSLIST_ID AS conn_id,
  IF(t.PROCESSLIST_ID IS NULL, REPLACE(t.NAME, 'thread/', ''), CONCAT(t.PROCESSLIST_USER, '@', t.PROCESSLIST_HOST)) AS user,
  t.PROCESSLIST_DB AS db,
  t.PROCESSLIST_COMMAND AS command,
  t.PROCESSLIST_STATE AS state,
  t.PROCESSLIST_TIME AS time,
  t.PROCESSLIST_INFO AS current_statement,
  /*!90704 t.EXECUTION_ENGINE AS execution_engine, */
  IF(s.END_EVENT_ID IS NULL, s.TIMER_WAIT, NULL) AS statement_latency,
  IF(s.END_EVENT_ID IS NULL, ROUND(100 * g.WORK_COMPLETED / NULLIF(g.WORK_ESTIMATED, 0), 2), NULL) AS progress,
  s.LOCK_TIME AS lock_latency,
  /*!90704 s.CPU_TIME AS cpu_latency, */
  s.ROWS_EXAMINED AS rows_examined,
  s.ROWS_SENT AS rows_sent,
  s.ROWS_AFFECTED AS rows_affected,
  s.CREATED_TMP_TABLES AS tmp_tables,
  s.CREATED_TMP_DISK_TABLES AS tmp_disk_tables,
  IF(s.NO_INDEX_USED > 0 OR s.NO_GOOD_INDEX_USED > 0, 'YES', 'NO') AS full_scan,
  IF(s.END_EVENT_ID IS NULL, NULL, s.SQL_TEXT) AS last_statement,
  IF(s.END_EVENT_ID IS NULL, NULL, s.TIMER_WAIT) AS last_statement_latency,
  m.current_allocated AS current_memory,
  w.EVENT_NAME AS last_wait,
  IF(w.EVENT_NAME IS NOT NULL AND w.END_EVENT_ID IS NULL, 'Still Waiting', w.TIMER_WAIT) AS last_wait_latency,
  w.SOURCE AS source,
  x.TIMER_WAIT AS trx_latency,
  x.STATE AS trx_state,
  x.AUTOCOMMIT AS trx_autocommit,
  p.ATTR_VALUE AS pid,
  n.ATTR_VALUE AS program_name
FROM performance_schema.threads AS t
LEFT JOIN performance_schema.events_statements_current AS s
  ON s.THREAD_ID = t.THREAD_ID AND IFNULL(s.NESTING_EVENT_LEVEL, 0) = 0
LEFT JOIN performance_schema.events_stages_current AS g ON g.THREAD_ID = t.THREAD_ID
LEFT JOIN (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY THREAD_ID ORDER BY EVENT_ID DESC) AS age
  FROM performance_schema.events_waits_current
) AS w ON w.THREAD_ID = t.THREAD_ID AND w.age = 1
LEFT JOIN performance_schema.events_transactions_current AS x ON x.THREAD_ID = t.THREAD_ID
LEFT JOIN sys.x$memory_by_thread_by_current_bytes AS m ON m.thread_id = t.THREAD_ID
LEFT JOIN performance_schema.session_connect_attrs AS p
  ON p.PROCESSLIST_ID = t.PROCESSLIST_ID AND p.ATTR_NAME = '_pid'
LEFT JOIN performance_schema.session_connect_attrs AS n
  ON n.PROCESSLIST_ID = t.PROCESSLIST_ID AND n.ATTR_NAME = 'program_name'
ORDER BY t.PROCESSLIST_TIME DESC, w.TIMER_WAIT DESC
