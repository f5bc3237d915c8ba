CREATE TABLE a (id INT NOT NULL PRIMARY KEY, x VARCHAR(10));
SHOW TABLES;
SHOW TABLES FROM probe_show;
SHOW TABLES IN probe_show LIKE 'a%';
SHOW TABLES WHERE Tables_in_probe_show = 'a';
SHOW FULL TABLES;
SHOW FULL TABLES FROM probe_show LIKE 'zzz';
SHOW DATABASES LIKE 'performance%';
SHOW SCHEMAS LIKE 'probe_show';
-- compare: columns
SHOW DATABASES;
-- mariadb: its collation is utf8mb4_general_ci
SHOW FULL COLUMNS FROM a;
-- compare: columns
-- mariadb: it has max_index_length, temporary
SHOW TABLE STATUS;
-- compare: columns
-- mariadb: it has max_index_length, temporary
SHOW TABLE STATUS LIKE 'a';
-- mariadb: its collation is utf8mb4_general_ci
SHOW CREATE DATABASE probe_show;
-- compare: columns
SHOW CREATE TABLE a;
-- compare: columns
SHOW CREATE TABLE performance_schema.threads;
-- compare: columns
SHOW STATUS;
-- compare: rows
SHOW STATUS LIKE 'Uptime';
-- compare: rows
SHOW GLOBAL STATUS LIKE 'Threads_%';
-- compare: rows
SHOW SESSION STATUS WHERE Variable_name IN ('Com_select', 'Questions');
-- compare: columns
SHOW VARIABLES;
SHOW VARIABLES LIKE 'autocommit';
SHOW SESSION VARIABLES LIKE 'sql_auto_is_null';
SHOW GLOBAL VARIABLES WHERE Variable_name = 'autocommit';
SHOW VARIABLES WHERE Value = 'nothing has this';
-- compare: columns
-- mariadb: it has progress
SHOW PROCESSLIST;
-- compare: columns
-- mariadb: it has progress
SHOW FULL PROCESSLIST;
-- compare: columns
SHOW ENGINES;
-- compare: columns
SHOW STORAGE ENGINES;
-- compare: columns
SHOW ENGINE PERFORMANCE_SCHEMA STATUS;
-- compare: columns
SHOW ENGINE INNODB STATUS;
-- compare: columns
SHOW GRANTS;
-- compare: columns
SHOW GRANTS FOR CURRENT_USER();
-- compare: columns
SHOW PLUGINS;
-- compare: columns
SHOW PRIVILEGES;
-- mariadb: Maxlen is integer there, unsigned in MySQL
SHOW CHARACTER SET LIKE 'utf8mb4';
-- mariadb: Maxlen is integer there, unsigned in MySQL
SHOW CHARSET LIKE 'latin1';
-- mariadb: it has no pad_attribute
SHOW COLLATION LIKE 'utf8mb4_general_ci';
-- mariadb: it has no pad_attribute
SHOW COLLATION WHERE Charset = 'utf8mb4' AND Collation = 'utf8mb4_bin';
SHOW WARNINGS;
SHOW ERRORS;
SHOW COUNT(*) ERRORS;
SHOW TRIGGERS;
-- mariadb: Interval value is text there, integer in MySQL, and others
SHOW EVENTS;
SHOW PROCEDURE STATUS LIKE 'nothing%';
SHOW FUNCTION STATUS LIKE 'nothing%';
SHOW OPEN TABLES LIKE 'nothing%';
-- mariadb: it has no auto_position, channel_name, executed_gtid_set and others; it has gtid_io_pos, parallel_mode, replicate_do_domain_ids and others
SHOW SLAVE STATUS;
-- compare: columns
-- mariadb: it has no slave_uuid
SHOW SLAVE HOSTS;
-- compare: columns
-- mariadb: it has no executed_gtid_set
SHOW MASTER STATUS;
SHOW PROFILES;
-- mariadb: it has no expression, visible; it has ignored
SHOW INDEX FROM a;
-- mariadb: it has no expression, visible; it has ignored
SHOW INDEXES IN a;
-- mariadb: it has no expression, visible; it has ignored
SHOW KEYS FROM a FROM probe_show;
SHOW COLUMNS FROM a IN probe_show;
-- mariadb: it does not parse this
SHOW EXTENDED COLUMNS FROM a WHERE Field = 'x';
-- compare: columns
-- mariadb: it has no filtered, partitions
EXPLAIN SELECT * FROM a;
-- compare: columns
EXPLAIN FORMAT=JSON SELECT * FROM a;
-- compare: columns
DESCRIBE performance_schema.threads;
DROP TABLE a;
