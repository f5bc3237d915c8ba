SELECT @@autocommit, @@session.autocommit, @@global.autocommit;
SELECT @@SQL_MODE = @@sql_mode, @@Autocommit;
SELECT @@version_comment IS NOT NULL, @@hostname IS NOT NULL, @@port >= 0;
SET @a = 1, @b = 'text', @c = 1.5, @d = NULL;
SELECT @a, @b, @c, @d, @A;
SET @x := 5, @y = @x + 1;
SELECT @y, @y := @y + 1, @y;
SELECT 7 INTO @into;
SELECT @into;
SET SESSION wait_timeout = 100;
SELECT @@wait_timeout, @@session.wait_timeout;
SET wait_timeout = DEFAULT;
SELECT @@wait_timeout;
SET autocommit = 0;
SELECT @@autocommit;
SET autocommit = ON;
SELECT @@autocommit;
SET NAMES utf8mb4;
SET NAMES utf8mb4 COLLATE utf8mb4_bin;
SELECT @@collation_connection, @@character_set_client;
SET NAMES 'utf8';
-- mariadb: its utf8 is called utf8mb3
SELECT @@character_set_client, @@character_set_results;
SET CHARACTER SET utf8mb4;
SET NAMES utf8mb4;
SET sql_mode = '';
SELECT @@sql_mode;
SET sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES';
SELECT @@sql_mode;
SET SESSION sql_mode = DEFAULT;
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SET SESSION TRANSACTION READ ONLY;
SET SESSION TRANSACTION READ WRITE;
SET @@session.sql_select_limit = 2;
SELECT @@sql_select_limit;
SET sql_select_limit = DEFAULT;
SET SQL_SAFE_UPDATES = 1, SQL_SAFE_UPDATES = 0;
SET foreign_key_checks = 0, unique_checks = 0;
SELECT @@foreign_key_checks, @@unique_checks;
SET foreign_key_checks = 1, unique_checks = 1;
SET group_concat_max_len = 2048;
SELECT @@group_concat_max_len;
-- mariadb: it has no such variable
SET max_execution_time = 1000;
SET time_zone = '+00:00';
SELECT @@time_zone;
SET @@time_zone = 'SYSTEM';
SET LOCAL lock_wait_timeout = 5;
SELECT @@lock_wait_timeout, @@LOCAL.lock_wait_timeout;
-- mariadb: it allows this
SELECT @@session.tx_isolation;
-- mariadb: it has no such variable
-- tare: every transaction is serializable, and the variable says what is done
SELECT @@transaction_isolation;
SELECT DATABASE(), SCHEMA(), USER() = CURRENT_USER(), SESSION_USER() IS NOT NULL, CURRENT_USER IS NOT NULL;
PREPARE s FROM 'SELECT ? + 1 AS r, ? AS t';
SET @p = 41, @q = 'x';
EXECUTE s USING @p, @q;
DEALLOCATE PREPARE s;
DROP PREPARE IF EXISTS s;
PREPARE s FROM 'SELECT 1';
EXECUTE s;
DROP PREPARE s;
BEGIN;
START TRANSACTION;
COMMIT;
START TRANSACTION READ ONLY;
ROLLBACK;
START TRANSACTION WITH CONSISTENT SNAPSHOT;
COMMIT WORK;
SAVEPOINT a;
FLUSH STATUS;
FLUSH TABLES;
FLUSH PRIVILEGES;
FLUSH LOGS;
SELECT @@max_allowed_packet >= 1024, @@net_buffer_length, @@lower_case_table_names;
SELECT @@character_set_server, @@character_set_database;
SELECT @@performance_schema, @@read_only, @@log_bin IS NOT NULL, @@server_id;
-- mariadb: it has no such table
SELECT VARIABLE_NAME FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'autocommit';
-- mariadb: it has no such table
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME IN ('autocommit', 'sql_notes') ORDER BY 1;
-- mariadb: it has no such variable
SELECT @@enforce_gtid_consistency;
