CREATE TABLE s1 (id SERIAL PRIMARY KEY, x INT);
INSERT INTO s1(x) VALUES (5), (6);
SELECT * FROM s1;
CREATE TABLE s2 (id SERIAL, x INT);
INSERT INTO s2(x) VALUES (5);
SELECT * FROM s2;
CREATE TABLE s3 (id BIGINT UNSIGNED SERIAL DEFAULT VALUE, x INT);
INSERT INTO s3(x) VALUES (7);
SELECT * FROM s3;
CREATE TABLE s4 (id INT);
ALTER TABLE s4 ADD COLUMN k SERIAL;
-- mariadb: a SERIAL that is the primary key has no unique key
SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'probe_tables' ORDER BY 1, 2;
SELECT TABLE_NAME, COLUMN_NAME, IS_NULLABLE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'probe_tables' ORDER BY 1, ORDINAL_POSITION;
CREATE TABLE refused (id INT AUTO_INCREMENT, b INT);
CREATE TABLE refused (id INT AUTO_INCREMENT, b INT, KEY bid (b, id));
CREATE TABLE refused (id INT AUTO_INCREMENT UNIQUE, b SERIAL);
ALTER TABLE s4 ADD COLUMN another SERIAL;
ALTER TABLE s4 DROP INDEX k;
CREATE TABLE parent (id INT PRIMARY KEY, code INT, KEY code (code, id), UNIQUE KEY unique_code (code));
CREATE TABLE child (a INT, b INT, CONSTRAINT to_parent FOREIGN KEY (a) REFERENCES parent(id), KEY ab (a, b));
CREATE TABLE second_child (code INT, FOREIGN KEY (code) REFERENCES parent(code));
DROP INDEX to_parent ON child;
DROP INDEX ab ON child;
ALTER TABLE child DROP INDEX ab;
ALTER TABLE child DROP INDEX ab, ADD INDEX ba (b, a);
ALTER TABLE child DROP INDEX ab, ADD INDEX only_a (a);
DROP INDEX only_a ON child;
-- mariadb: its error is 1025
ALTER TABLE parent DROP PRIMARY KEY;
DROP INDEX code ON parent;
DROP INDEX unique_code ON parent;
ALTER TABLE child DROP FOREIGN KEY to_parent, DROP INDEX only_a;
ALTER TABLE parent DROP PRIMARY KEY;
CREATE TABLE given (a VARCHAR(3) NOT NULL, b INT NOT NULL, e ENUM('x') NOT NULL);
-- mariadb: it looks for missing values first
INSERT INTO given (a) VALUES ('too long');
-- mariadb: it looks for missing values first
INSERT INTO given (a, e) VALUES ('a', 'PINK');
-- mariadb: it looks for missing values first
INSERT INTO given (b) VALUES ('q');
-- mariadb: it looks for missing values first
INSERT INTO given (b) VALUES (NULL);
INSERT INTO given (b, a) SELECT 1, 'too long';
INSERT INTO given (a) VALUES ('abc'), ('too long');
-- mariadb: it looks for missing values first
INSERT INTO given (b) SELECT 1 FROM given WHERE a = 'none';
-- mariadb: it looks for missing values first
REPLACE INTO given (a) VALUES ('too long');
REPLACE INTO given (a) VALUES ('a');
-- not on mariadb: it stores the row
INSERT INTO given (a) VALUES ('a') ON DUPLICATE KEY UPDATE b = 1;
INSERT INTO given () VALUES ();
CREATE TABLE numbered (id INT PRIMARY KEY, a VARCHAR(3));
INSERT INTO numbered (a) VALUES ('a');
INSERT INTO given VALUES ('a', 1, 'x');
SELECT a AS n FROM given UNION SELECT b FROM given ORDER BY n;
SELECT a FROM given UNION SELECT b FROM given ORDER BY n;
SELECT a FROM given UNION SELECT b FROM given ORDER BY b;
SELECT a FROM given UNION SELECT b FROM given ORDER BY given.a;
SELECT a FROM given UNION SELECT b FROM given ORDER BY 2;
(SELECT a FROM given) UNION ALL (SELECT b FROM given) ORDER BY zz LIMIT 1;
SET autocommit = 0;
CREATE TABLE copied AS SELECT a, b FROM given;
SELECT * FROM copied;
CREATE TABLE counted AS SELECT 1 AS a;
SELECT * FROM counted;
SET autocommit = 1;
