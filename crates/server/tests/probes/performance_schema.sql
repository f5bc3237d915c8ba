-- What is asked of performance_schema: columns here; the rows are the servers' own affair.
SELECT COUNT(*) > 0 FROM performance_schema.threads;
-- mariadb: its consumers are off at first
SELECT NAME, ENABLED FROM performance_schema.setup_consumers ORDER BY NAME;
SELECT * FROM performance_schema.setup_actors;
SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, ENABLED, TIMED FROM performance_schema.setup_objects ORDER BY 1, 2, 3;
UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_waits_current';
UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_waits_current';
UPDATE performance_schema.setup_instruments SET ENABLED = 'MAYBE' WHERE NAME LIKE 'stage/%';
INSERT INTO performance_schema.setup_actors (HOST, USER, ROLE) VALUES ('probe', 'probe', '%');
DELETE FROM performance_schema.setup_actors WHERE USER = 'probe';
-- compare: columns
-- mariadb: it has no resource_group
SELECT * FROM performance_schema.threads;
-- compare: columns
-- mariadb: it has no quantile_95, quantile_99, quantile_999 and others
SELECT * FROM performance_schema.events_statements_summary_by_digest LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.events_waits_summary_global_by_event_name LIMIT 1;
-- compare: columns
-- mariadb: it has no statement_id
SELECT * FROM performance_schema.events_statements_current LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.file_summary_by_instance LIMIT 1;
-- compare: columns
-- mariadb: it has no column_name
SELECT * FROM performance_schema.metadata_locks LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.table_io_waits_summary_by_table LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.memory_summary_global_by_event_name LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.host_cache LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.session_status LIMIT 1;
-- compare: columns
-- mariadb: it has no such table
SELECT * FROM performance_schema.variables_info LIMIT 1;
-- compare: columns
SELECT * FROM performance_schema.user_variables_by_thread LIMIT 1;
-- compare: columns
-- mariadb: it has no such table
SELECT * FROM performance_schema.replication_connection_status LIMIT 1;
-- compare: columns
-- mariadb: it has no such table
SELECT * FROM performance_schema.data_locks LIMIT 1;
SET @probe_a = 1, @probe_b = 'text', @probe_c = NULL;
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread WHERE VARIABLE_NAME LIKE 'probe%' ORDER BY 1;
SELECT COUNT(*) > 2 FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID();
SELECT ATTR_NAME FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() ORDER BY ATTR_NAME;
SELECT SUM(VARIABLE_VALUE) > 0 FROM performance_schema.global_status WHERE VARIABLE_NAME IN ('Questions', 'Connections');
SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME = 'nothing';
SELECT t.THREAD_ID IS NOT NULL FROM performance_schema.threads t WHERE t.PROCESSLIST_ID = CONNECTION_ID();
SELECT IFNULL(SCHEMA_NAME, 'NONE') AS SCHEMA_NAME, DIGEST, DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST = 'nothing';
TRUNCATE TABLE performance_schema.events_waits_history_long;
TRUNCATE performance_schema.events_statements_summary_by_digest;
