-- What each connection is doing, with its last statement and wait.
-- time: statement_latency lock_latency cpu_latency last_statement_latency last_wait_latency trx_latency
-- bytes: current_memory
-- statement: current_statement last_statement
SELECT *
FROM sys.x$processlist
WHERE conn_id IS NOT NULL AND command <> 'Daemon'
