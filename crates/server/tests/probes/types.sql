-- Types as tables have them.
CREATE TABLE k (ti TINYINT, si SMALLINT, mi MEDIUMINT, i INT, bi BIGINT, uti TINYINT UNSIGNED, ui INT UNSIGNED, ubi BIGINT UNSIGNED, de DECIMAL(10,3), fl FLOAT, db DOUBLE, c CHAR(5), v VARCHAR(10), tx TEXT, mt MEDIUMTEXT, b BINARY(4), vb VARBINARY(10), bl BLOB, d DATE, t TIME, dt DATETIME, dt6 DATETIME(6), ts TIMESTAMP NULL, y YEAR, e ENUM('a','b'), se SET('x','y'), bo BOOLEAN, j JSON, bt BIT(8));
INSERT INTO k (ti, si, mi, i, bi, uti, ui, ubi, de, fl, db, c, v, tx, mt, d, t, dt, dt6, ts, y, e, se, bo, j) VALUES (-128, -32768, -8388608, -2147483648, -9223372036854775808, 255, 4294967295, 18446744073709551615, 12.5, 1.5, 2.25, 'abc', 'def', 'text', 'medium', '2024-02-29', '12:13:14', '2024-02-29 12:13:14', '2024-02-29 12:13:14.123456', '2024-02-29 12:13:14', 2024, 'b', 'x,y', TRUE, '{"a": 1}');
SELECT ti, si, mi, i, bi, uti, ui, ubi FROM k;
SELECT de, fl, db FROM k;
SELECT c, v, tx, mt, e, se FROM k;
SELECT d, t, dt, dt6, ts, y FROM k;
-- mariadb: j is text there, json in MySQL
SELECT bo, j FROM k;
SELECT b, vb, bl, bt FROM k;
SELECT MAX(ti), SUM(ti), AVG(ti), MAX(d), MIN(t), MAX(y), MAX(de), SUM(de), AVG(de), SUM(fl), MAX(v) FROM k;
SELECT ti + 1, ubi - 1, de * 2, fl + db, i / 2, i DIV 2, y + 1 FROM k;
-- mariadb: e + 0 is integer there, double in MySQL, and others
SELECT CONCAT(c, v), LENGTH(c), UPPER(v), e + 0, se + 0 FROM k;
-- mariadb: its json is longtext
SHOW COLUMNS FROM k;
-- mariadb: integers have a display width there, and other defaults
SELECT column_name, ordinal_position, column_default, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_scale, datetime_precision, column_type, column_key, extra FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'k' ORDER BY ordinal_position;
CREATE TABLE w (id INT UNSIGNED NOT NULL AUTO_INCREMENT, a VARCHAR(10) NOT NULL DEFAULT 'x', b INT NOT NULL, c TIMESTAMP DEFAULT CURRENT_TIMESTAMP, d DECIMAL(5,2) DEFAULT 1.5, PRIMARY KEY (id), UNIQUE KEY ua (a), KEY bc (b, c));
-- mariadb: it writes current_timestamp() and has no DEFAULT_GENERATED
SHOW COLUMNS FROM w;
SHOW FIELDS FROM w LIKE 'a%';
-- mariadb: it writes current_timestamp() and has no DEFAULT_GENERATED
DESCRIBE w;
DESC w a;
-- mariadb: it writes current_timestamp() and has no DEFAULT_GENERATED
EXPLAIN w;
-- mariadb: it has no expression, visible; it has ignored
SHOW INDEX FROM w;
-- mariadb: it has no expression, visible; it has ignored
SHOW KEYS FROM w;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT table_name, index_name, seq_in_index, column_name, non_unique, nullable FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index;
-- mariadb: ordinal_position is integer there, unsigned in MySQL
SELECT constraint_name, table_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_schema = DATABASE() ORDER BY constraint_name, ordinal_position;
-- mariadb: it gives other rows
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = DATABASE() ORDER BY constraint_name;
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name;
CREATE VIEW vw AS SELECT i, v FROM k;
SELECT * FROM vw;
SHOW FULL TABLES;
SHOW TABLES LIKE 'v%';
-- mariadb: MySQL 8.0 names columns of information_schema in capitals, however they are written
SELECT table_name FROM information_schema.views WHERE table_schema = DATABASE();
INSERT INTO w (b) VALUES (300), ('12');
INSERT INTO w (a, b) VALUES ('y', 300);
SELECT id, a, b, d, c IS NOT NULL FROM w ORDER BY id;
INSERT INTO w (a) VALUES ('z');
INSERT INTO w (a, b) VALUES (NULL, 1);
INSERT INTO w (a, b) VALUES ('12345678901', 1);
-- mariadb: its SQL state is another
INSERT INTO w (a, b) VALUES ('q', 'abc');
INSERT INTO k (ti) VALUES (128);
INSERT INTO k (uti) VALUES (-1);
INSERT INTO k (e) VALUES ('c');
INSERT INTO k (d) VALUES ('2024-02-30');
INSERT INTO k (nope) VALUES (1);
INSERT INTO k (ti, si) VALUES (1);
ALTER TABLE w ADD COLUMN z INT DEFAULT 7, ADD KEY kz (z);
SHOW COLUMNS FROM w LIKE 'z';
ALTER TABLE w DROP COLUMN z;
ALTER TABLE w RENAME TO w2;
RENAME TABLE w2 TO w;
CREATE TABLE w (id INT);
CREATE TABLE IF NOT EXISTS w (id INT);
CREATE INDEX kd ON w (d);
DROP INDEX kd ON w;
CREATE TABLE copy AS SELECT id, a FROM w;
CREATE TABLE likew LIKE w;
DROP TABLE copy, likew;
DROP VIEW vw;
DROP TABLE k, w;
