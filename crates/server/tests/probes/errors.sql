CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL);
INSERT INTO t VALUES (1, 'a'), (2, 'b');
SELEC 1;
SELECT;
SELECT 1 FROM;
SELECT * FROM;
SELECT 1 +;
SELECT (1;
SELECT 'abc;
SELECT * FROM nope;
-- mariadb: its error is 1146
SELECT * FROM nodb.t;
SELECT nope FROM t;
SELECT t.nope FROM t;
SELECT x.id FROM t;
SELECT id FROM t WHERE nope = 1;
SELECT id FROM t ORDER BY nope;
SELECT id FROM t GROUP BY nope;
SELECT id FROM t HAVING nope = 1;
SELECT id FROM t a, t b;
SELECT NOPE(1);
SELECT probe_errors.nope(1);
SELECT CONCAT();
SELECT SUBSTRING('a');
SELECT COUNT(*) FROM t WHERE COUNT(*) > 1;
SELECT SUM(SUM(id)) FROM t;
SELECT id, (SELECT id, name FROM t LIMIT 1) FROM t;
SELECT (SELECT id FROM t);
SELECT id FROM t WHERE id = (SELECT id FROM t);
SELECT 1 UNION SELECT 1, 2;
SELECT * FROM t, t;
-- mariadb: it does not parse this
SELECT * FROM (SELECT 1);
SELECT * FROM (SELECT 1 AS a, 2 AS a) x;
SELECT id FROM t LIMIT -1;
SELECT id FROM t LIMIT 'a';
SELECT @@nope;
SELECT @@global.nope;
SET nope = 1;
SET GLOBAL nope = 1;
SET @@session.nope = 1;
SET version = 'x';
SET GLOBAL autocommit = 'maybe';
SET SESSION max_connections = 5;
SET GLOBAL last_insert_id = 5;
SET sql_mode = 'NONSENSE';
SET NAMES nonsense;
SET wait_timeout = 'abc';
USE nodb;
INSERT INTO t VALUES (1, 'dup');
INSERT INTO t VALUES (3);
INSERT INTO t VALUES (3, NULL);
INSERT INTO t (id) VALUES (3);
INSERT INTO nope VALUES (1);
INSERT INTO t (id, id) VALUES (3, 3);
UPDATE t SET nope = 1;
UPDATE nope SET id = 1;
UPDATE t SET id = 1 WHERE id = 2;
UPDATE t SET name = NULL WHERE id = 1;
DELETE FROM nope;
DELETE FROM t WHERE nope = 1;
CREATE TABLE t (id INT);
CREATE TABLE bad (id INT, id INT);
-- mariadb: its error is 4161
CREATE TABLE bad (id NONSENSE);
CREATE TABLE bad (id INT PRIMARY KEY, x INT PRIMARY KEY);
CREATE TABLE bad ();
CREATE TABLE nodb.t (id INT);
CREATE DATABASE probe_errors;
DROP DATABASE nodb;
DROP TABLE nope;
-- mariadb: its error is 4092
DROP VIEW nope;
DROP INDEX nope ON t;
ALTER TABLE nope ADD COLUMN x INT;
ALTER TABLE t ADD COLUMN name INT;
ALTER TABLE t DROP COLUMN nope;
ALTER TABLE t ADD KEY (nope);
TRUNCATE TABLE nope;
SHOW TABLES FROM nodb;
SHOW COLUMNS FROM nope;
SHOW CREATE TABLE nope;
SHOW INDEX FROM nope;
SHOW CREATE DATABASE nodb;
SHOW NONSENSE;
DESCRIBE nope;
EXPLAIN SELECT * FROM nope;
KILL 99999999;
PREPARE s FROM 'SELEC 1';
EXECUTE nope;
DEALLOCATE PREPARE nope;
PREPARE s FROM 'SELECT ?';
EXECUTE s;
EXECUTE s USING @a, @b;
DEALLOCATE PREPARE s;
ROLLBACK TO SAVEPOINT nope;
RELEASE SAVEPOINT nope;
CALL nope();
CALL nodb.nope();
SELECT * FROM information_schema.nope;
SELECT * FROM performance_schema.nope;
SELECT nope FROM performance_schema.threads;
INSERT INTO performance_schema.threads (thread_id) VALUES (1);
DELETE FROM performance_schema.threads;
UPDATE performance_schema.threads SET name = 'x';
UPDATE performance_schema.setup_instruments SET name = 'x';
-- mariadb: its error is 1142
CREATE TABLE performance_schema.x (id INT);
-- mariadb: its error is 1051
DROP TABLE performance_schema.threads;
ALTER TABLE performance_schema.threads ADD COLUMN x INT;
DELETE FROM performance_schema.events_waits_history;
-- mariadb: its error is 1683
TRUNCATE TABLE performance_schema.threads;
-- mariadb: its error is 1683
TRUNCATE TABLE performance_schema.mutex_instances;
INSERT INTO information_schema.tables VALUES (1);
CREATE TABLE information_schema.x (id INT);
DELETE FROM information_schema.tables;
INSERT INTO performance_schema.setup_actors VALUES ('h', 'u', '%', 'MAYBE', 'NO');
-- mariadb: its error is 1133
GRANT ALL ON *.* TO nobody@nowhere;
LOCK TABLES nope READ;
UNLOCK TABLES;
-- mariadb: it gives other rows
SHOW WARNINGS;
SELECT 1/0;
SHOW WARNINGS;
SHOW COUNT(*) WARNINGS;
DROP TABLE IF EXISTS nope;
SHOW WARNINGS;
-- mariadb: its error is 1139
SELECT id FROM t WHERE id REGEXP '(';
SELECT CAST('abc' AS SIGNED);
SHOW WARNINGS;
SELECT GROUP_CONCAT(id) FROM nope;
-- mariadb: it allows this
SELECT id, COUNT(*) FROM t;
-- mariadb: it allows this
SELECT name, id FROM t GROUP BY name;
-- mariadb: it allows this
SELECT DISTINCT id FROM t ORDER BY name;
SELECT f.id FROM t AS f GROUP BY f.id HAVING f.name = 'a';
DROP TABLE t;
