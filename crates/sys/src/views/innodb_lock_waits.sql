-- Transactions that wait for a row lock, and the transactions that block them, of a MySQL 9.7 behind the door. Empty otherwise: SQLite has no row locks.
-- statement: waiting_query blocking_query
SELECT
  r.trx_wait_started AS wait_started,
  SEC_TO_TIME(TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW())) AS wait_age,
  TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()) AS wait_age_secs,
  /*!80000
  CONCAT(sys.quote_identifier(wanted.OBJECT_SCHEMA), '.', sys.quote_identifier(wanted.OBJECT_NAME)) AS locked_table,
  wanted.OBJECT_SCHEMA AS locked_table_schema,
  wanted.OBJECT_NAME AS locked_table_name,
  wanted.PARTITION_NAME AS locked_table_partition,
  wanted.SUBPARTITION_NAME AS locked_table_subpartition,
  wanted.INDEX_NAME AS locked_index,
  wanted.LOCK_TYPE AS locked_type,
  w.REQUESTING_ENGINE_TRANSACTION_ID AS waiting_trx_id,
  */
  /*M!100000
  wanted.lock_table AS locked_table,
  wanted.lock_index AS locked_index,
  wanted.lock_type AS locked_type,
  w.requesting_trx_id AS waiting_trx_id,
  */
  r.trx_started AS waiting_trx_started,
  SEC_TO_TIME(TIMESTAMPDIFF(SECOND, r.trx_started, NOW())) AS waiting_trx_age,
  r.trx_rows_locked AS waiting_trx_rows_locked,
  r.trx_rows_modified AS waiting_trx_rows_modified,
  rt.PROCESSLIST_ID AS waiting_pid,
  rt.PROCESSLIST_INFO AS waiting_query,
  /*!80000
  wanted.ENGINE_LOCK_ID AS waiting_lock_id,
  wanted.LOCK_MODE AS waiting_lock_mode,
  w.BLOCKING_ENGINE_TRANSACTION_ID AS blocking_trx_id,
  */
  /*M!100000
  wanted.lock_id AS waiting_lock_id,
  wanted.lock_mode AS waiting_lock_mode,
  w.blocking_trx_id AS blocking_trx_id,
  */
  bt.PROCESSLIST_ID AS blocking_pid,
  bt.PROCESSLIST_INFO AS blocking_query,
  /*!80000 held.ENGINE_LOCK_ID AS blocking_lock_id, held.LOCK_MODE AS blocking_lock_mode, */
  /*M!100000 held.lock_id AS blocking_lock_id, held.lock_mode AS blocking_lock_mode, */
  b.trx_started AS blocking_trx_started,
  SEC_TO_TIME(TIMESTAMPDIFF(SECOND, b.trx_started, NOW())) AS blocking_trx_age,
  b.trx_rows_locked AS blocking_trx_rows_locked,
  b.trx_rows_modified AS blocking_trx_rows_modified,
  CONCAT('KILL QUERY ', bt.PROCESSLIST_ID) AS sql_kill_blocking_query,
  CONCAT('KILL ', bt.PROCESSLIST_ID) AS sql_kill_blocking_connection
/*!80000
FROM performance_schema.data_lock_waits AS w
JOIN performance_schema.data_locks AS wanted ON wanted.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
JOIN performance_schema.data_locks AS held ON held.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID
LEFT JOIN performance_schema.threads AS rt ON rt.THREAD_ID = w.REQUESTING_THREAD_ID
LEFT JOIN performance_schema.threads AS bt ON bt.THREAD_ID = w.BLOCKING_THREAD_ID
LEFT JOIN information_schema.INNODB_TRX AS r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
LEFT JOIN information_schema.INNODB_TRX AS b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
*/
/*M!100000
FROM information_schema.INNODB_LOCK_WAITS AS w
JOIN information_schema.INNODB_LOCKS AS wanted ON wanted.lock_id = w.requested_lock_id
JOIN information_schema.INNODB_LOCKS AS held ON held.lock_id = w.blocking_lock_id
JOIN information_schema.INNODB_TRX AS r ON r.trx_id = w.requesting_trx_id
JOIN information_schema.INNODB_TRX AS b ON b.trx_id = w.blocking_trx_id
LEFT JOIN performance_schema.threads AS rt ON rt.PROCESSLIST_ID = r.trx_mysql_thread_id
LEFT JOIN performance_schema.threads AS bt ON bt.PROCESSLIST_ID = b.trx_mysql_thread_id
*/
ORDER BY r.trx_wait_started
