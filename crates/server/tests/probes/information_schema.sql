CREATE TABLE p (id INT NOT NULL PRIMARY KEY, name VARCHAR(30) DEFAULT 'n' COMMENT 'why');
CREATE TABLE c (id INT NOT NULL PRIMARY KEY, p_id INT, CONSTRAINT fk_p FOREIGN KEY (p_id) REFERENCES p (id) ON DELETE CASCADE);
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('performance_schema', 'probe_information_schema') ORDER BY 1;
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT table_name, column_name, ordinal_position, is_nullable, data_type, column_key, column_comment FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT Table_Name, CoLuMn_NaMe FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'probe_information_schema' AND TABLE_NAME = 'p' ORDER BY 2;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT constraint_name, unique_constraint_name, update_rule, delete_rule, table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE();
SELECT constraint_name, column_name, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND referenced_table_name IS NOT NULL;
SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = DATABASE();
SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE();
SELECT COUNT(*) FROM information_schema.events WHERE event_schema = DATABASE();
SELECT COUNT(*) FROM information_schema.views WHERE table_schema = DATABASE();
SELECT COUNT(*) FROM information_schema.partitions WHERE table_schema = DATABASE() AND partition_name IS NOT NULL;
-- mariadb: MAXLEN is integer there, unsigned in MySQL
SELECT CHARACTER_SET_NAME, MAXLEN FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME IN ('utf8mb4', 'latin1', 'binary') ORDER BY 1;
-- mariadb: ID is integer there, unsigned in MySQL
SELECT COLLATION_NAME, CHARACTER_SET_NAME, ID FROM information_schema.COLLATIONS WHERE COLLATION_NAME IN ('utf8mb4_bin', 'latin1_swedish_ci') ORDER BY 1;
SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE id = CONNECTION_ID();
-- compare: columns
-- mariadb: it has schema_comment
SELECT * FROM information_schema.schemata;
-- compare: columns
-- mariadb: it has max_index_length, temporary
SELECT * FROM information_schema.tables WHERE table_schema = DATABASE();
-- compare: columns
-- mariadb: it has no srs_id; it has is_generated
SELECT * FROM information_schema.columns WHERE table_schema = DATABASE();
-- compare: columns
-- mariadb: it has no expression, is_visible; it has ignored
SELECT * FROM information_schema.statistics WHERE table_schema = DATABASE();
-- compare: columns
-- mariadb: ORDINAL_POSITION is integer there, unsigned in MySQL, and others
SELECT * FROM information_schema.key_column_usage WHERE table_schema = DATABASE();
-- compare: columns
SELECT * FROM information_schema.table_constraints WHERE table_schema = DATABASE();
-- compare: columns
SELECT * FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE();
-- compare: columns
-- mariadb: NUMERIC_PRECISION is integer there, unsigned in MySQL, and others
SELECT * FROM information_schema.routines WHERE routine_schema = 'none';
-- compare: columns
-- mariadb: it has algorithm
SELECT * FROM information_schema.views WHERE table_schema = 'none';
-- compare: columns
SELECT * FROM information_schema.engines;
-- compare: columns
-- mariadb: it has plugin_auth_version, plugin_maturity
SELECT * FROM information_schema.plugins;
-- compare: columns
-- mariadb: it has examined_rows, info_binary, max_memory_used and others
SELECT * FROM information_schema.processlist;
-- compare: columns
-- mariadb: MAXLEN is integer there, unsigned in MySQL
SELECT * FROM information_schema.character_sets;
-- compare: columns
-- mariadb: it has no pad_attribute
SELECT * FROM information_schema.collations;
-- compare: columns
-- mariadb: it has no status; it has enabled
SELECT * FROM information_schema.innodb_metrics;
-- compare: columns
-- mariadb: it has no trx_adaptive_hash_latched, trx_adaptive_hash_timeout
SELECT * FROM information_schema.innodb_trx;
-- compare: columns
SELECT * FROM information_schema.user_privileges;
-- compare: columns
SELECT * FROM information_schema.schema_privileges;
-- compare: columns
-- mariadb: ACTION_ORDER is integer there, unsigned in MySQL, and others
SELECT * FROM information_schema.triggers WHERE trigger_schema = 'none';
-- compare: columns
-- mariadb: INTERVAL_VALUE is text there, integer in MySQL, and others
SELECT * FROM information_schema.events WHERE event_schema = 'none';
-- compare: columns
-- mariadb: ORDINAL_POSITION is integer there, unsigned in MySQL, and others
SELECT * FROM information_schema.parameters WHERE specific_schema = 'none';
-- compare: columns
-- mariadb: CHECKSUM is unsigned there, integer in MySQL
SELECT * FROM information_schema.partitions WHERE table_schema = 'none';
-- compare: columns
-- mariadb: TABLE_SCHEMA is text there, null in MySQL, and others
SELECT * FROM information_schema.files LIMIT 1;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT table_schema, SUM(data_length + index_length) IS NOT NULL FROM information_schema.tables WHERE table_schema = DATABASE() GROUP BY table_schema;
SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'performance_schema' AND table_name = 'threads' AND column_name = 'THREAD_ID';
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT t.table_name, c.column_name FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name) WHERE t.table_schema = DATABASE() ORDER BY 1, c.ordinal_position;
DROP TABLE c, p;
-- not on mariadb: its words are others
SELECT WORD FROM information_schema.KEYWORDS WHERE RESERVED = 1 ORDER BY SHA2(WORD, 256);
-- not on mariadb: its words are others
SELECT COUNT(*), SUM(RESERVED), MIN(WORD), MAX(WORD) FROM information_schema.KEYWORDS;
