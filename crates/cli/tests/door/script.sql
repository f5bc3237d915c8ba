# What both engines are shown, on one connection; ../door.rs reads it.
#
# A statement begins at the beginning of a line and goes on in lines that are indented. Every statement has the same effect at
# each run: nothing here depends on the time, on chance or on another connection. An error is part of
# the script. Before a statement, "#binary 1, 'x'" has it prepared and executed by the binary protocol
# with these values, once for each such line; it is closed after the last.

CREATE DATABASE door;
USE door;

# -- tables of three engines
CREATE TABLE city (
    id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, land CHAR(2) NOT NULL, people INT,
    KEY by_land (land, people), UNIQUE KEY by_name (name)) ENGINE = InnoDB;
CREATE TABLE land (code CHAR(2) NOT NULL PRIMARY KEY, name VARCHAR(40)) ENGINE = InnoDB;
CREATE TABLE river (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), KEY (name)) ENGINE = MyISAM;
CREATE TABLE scratch (id INT, note VARCHAR(100), KEY (id)) ENGINE = MEMORY;
CREATE TABLE child (
    id INT NOT NULL PRIMARY KEY, city INT, CONSTRAINT of_city FOREIGN KEY (city) REFERENCES city (id)
    ON DELETE CASCADE) ENGINE = InnoDB;
CREATE TABLE parts (id INT NOT NULL, n INT, PRIMARY KEY (id)) ENGINE = InnoDB
    PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (100));

# -- rows
INSERT INTO land VALUES ('de', 'Germany'), ('fr', 'France'), ('it', 'Italy'), ('es', 'Spain');
INSERT INTO city VALUES (1, 'Berlin', 'de', 3600), (2, 'Hamburg', 'de', 1800), (3, 'Paris', 'fr', 2100),
    (4, 'Lyon', 'fr', 520), (5, 'Rome', 'it', 2800), (6, 'Milan', 'it', 1400), (7, 'Madrid', 'es', 3300);
INSERT INTO city SELECT id + 100, CONCAT(name, ' II'), land, people DIV 2 FROM city;
INSERT INTO river (name) VALUES ('Elbe'), ('Seine'), ('Po'), ('Tiber'), ('Ebro');
INSERT INTO scratch VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT INTO child VALUES (1, 1), (2, 1), (3, 5);
INSERT INTO parts VALUES (1, 1), (11, 1), (12, 2), (99, 3);
INSERT INTO city VALUES (1, 'Bonn', 'de', 330) ON DUPLICATE KEY UPDATE people = people + 1;
INSERT IGNORE INTO city VALUES (2, 'Hamburg', 'de', 0);
REPLACE INTO land VALUES ('es', 'Spain again');
UPDATE city SET people = people + 10 WHERE land = 'it';
UPDATE city SET people = people - 10 WHERE id = 5;
UPDATE city, land SET city.people = city.people + 1 WHERE city.land = land.code AND land.name = 'France';
DELETE FROM city WHERE id = 107;
DELETE FROM city WHERE name LIKE 'Mi%II';
DELETE river FROM river WHERE name = 'Po';
UPDATE parts SET n = n + 1;
DELETE FROM parts WHERE id = 12;

# -- reading: by key, by range, by index, all, joined, grouped, sorted, in subqueries
SELECT * FROM city WHERE id = 3;
SELECT * FROM city WHERE id = 33;
SELECT name FROM city WHERE id BETWEEN 2 AND 5 ORDER BY id;
SELECT name FROM city WHERE land = 'de' ORDER BY people DESC;
SELECT people FROM city WHERE name = 'Rome';
SELECT COUNT(*) FROM city;
SELECT * FROM city ORDER BY people, name LIMIT 3;
SELECT land.name, SUM(people) FROM city JOIN land ON land.code = city.land GROUP BY land.name ORDER BY 2 DESC;
SELECT c.name, r.name FROM city c, river r WHERE c.people > 2000 AND r.id < 3;
SELECT c.name FROM city c LEFT JOIN child ON child.city = c.id WHERE child.id IS NULL ORDER BY c.name;
SELECT name FROM land WHERE code IN (SELECT land FROM city WHERE people > 3000);
SELECT name FROM city WHERE people = (SELECT MAX(people) FROM city);
SELECT DISTINCT land FROM city ORDER BY land;
SELECT name FROM city WHERE land = 'fr' UNION SELECT name FROM river UNION ALL SELECT note FROM scratch;
SELECT land, COUNT(*), GROUP_CONCAT(name ORDER BY name) FROM city GROUP BY land WITH ROLLUP;
SELECT * FROM scratch WHERE id = 2;
SELECT * FROM river WHERE name = 'Elbe';
SELECT * FROM parts WHERE id < 5;
SELECT * FROM parts;
SELECT 1 + 1, CONCAT('a', 'b'), @x := 5, @x + 1;
SELECT SQL_BIG_RESULT land, AVG(people) FROM city GROUP BY land;
SELECT a.id, b.id FROM city a JOIN city b ON a.people < b.people WHERE a.land = 'de' LIMIT 20;
EXPLAIN SELECT * FROM city WHERE land = 'de';
DO 1, 2, SLEEP(0);
HANDLER city OPEN;
HANDLER city READ FIRST;
HANDLER city READ NEXT LIMIT 3;
HANDLER city CLOSE;

# -- transactions
START TRANSACTION;
INSERT INTO land VALUES ('pt', 'Portugal');
UPDATE land SET name = 'Portugal!' WHERE code = 'pt';
COMMIT;
BEGIN;
DELETE FROM land WHERE code = 'pt';
SELECT * FROM land;
ROLLBACK;
START TRANSACTION READ ONLY;
SELECT COUNT(*) FROM land;
COMMIT;
START TRANSACTION WITH CONSISTENT SNAPSHOT;
SELECT COUNT(*) FROM city;
SAVEPOINT one;
INSERT INTO city VALUES (200, 'Porto', 'pt', 230);
SAVEPOINT two;
INSERT INTO city VALUES (201, 'Lisbon', 'pt', 500);
ROLLBACK TO SAVEPOINT two;
RELEASE SAVEPOINT one;
COMMIT;
SET autocommit = 0;
UPDATE land SET name = 'Portugal' WHERE code = 'pt';
COMMIT;
SELECT name FROM land WHERE code = 'pt' FOR UPDATE;
ROLLBACK;
SET autocommit = 1;
SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE;
BEGIN;
SELECT * FROM land WHERE code = 'de';
COMMIT;
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ;
XA START 'x', 'y', 3;
INSERT INTO land VALUES ('xa', 'Two phases');
XA END 'x', 'y', 3;
XA PREPARE 'x', 'y', 3;
XA COMMIT 'x', 'y', 3;
XA START 'z';
DELETE FROM land WHERE code = 'xa';
XA END 'z';
XA ROLLBACK 'z';

# -- errors
SELEC 1;
SELECT * FROM nowhere;
SELECT nothing FROM city;
INSERT INTO city VALUES (1, 'Again', 'de', 1);
INSERT INTO city VALUES (300, 'Berlin', 'de', 1);
INSERT INTO child VALUES (9, 999);
CREATE TABLE city (id INT);
DROP TABLE nowhere;
USE nowhere;
INSERT INTO city (id) VALUES (1, 2);
SELECT * FROM city WHERE id = (SELECT id FROM land);
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'on purpose';
SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no such error', MYSQL_ERRNO = 30001;
SIGNAL SQLSTATE '42S02' SET MESSAGE_TEXT = 'another error', MYSQL_ERRNO = 1051;
SELECT 1 / 0, CAST('x' AS SIGNED);
SHOW WARNINGS;
DROP TABLE IF EXISTS nowhere;

# -- prepared statements, in SQL and by the binary protocol
PREPARE one FROM 'SELECT name FROM city WHERE id = ?';
SET @id = 1;
EXECUTE one USING @id;
SET @id = 2;
EXECUTE one USING @id;
DEALLOCATE PREPARE one;
PREPARE two FROM 'UPDATE scratch SET note = ? WHERE id = ?';
SET @note = 'changed';
EXECUTE two USING @note, @id;
DEALLOCATE PREPARE two;
PREPARE three FROM 'SELECT * FROM nowhere';
EXECUTE three;
#binary 1
#binary 2
#binary 77
SELECT name, people FROM city WHERE id = ?;
#binary 5000, 'Ohio'
#binary 5001, 'Ems'
INSERT INTO river (id, name) VALUES (?, ?);
#binary 'de', 1000
SELECT COUNT(*) FROM city WHERE land = ? AND people > ?;
#binary
SELECT broken FROM;

# -- programs
CREATE PROCEDURE grow(IN by_how_much INT)
    BEGIN
        DECLARE done INT DEFAULT 0;
        DECLARE which INT;
        DECLARE all_of_them CURSOR FOR SELECT id FROM city WHERE land = 'de';
        DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
        OPEN all_of_them;
        again: LOOP
            FETCH all_of_them INTO which;
            IF done THEN LEAVE again; END IF;
            UPDATE city SET people = people + by_how_much WHERE id = which;
        END LOOP;
        CLOSE all_of_them;
    END;
CREATE PROCEDURE fails()
    BEGIN
        DECLARE EXIT HANDLER FOR 1062 SELECT 'twice';
        INSERT INTO land VALUES ('de', 'Germany');
    END;
CREATE PROCEDURE breaks() SELECT * FROM nowhere;
CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC RETURN n * 2;
CREATE TRIGGER noted AFTER INSERT ON land FOR EACH ROW INSERT INTO scratch VALUES (NEW.code + 0, NEW.name);
CREATE TRIGGER kept BEFORE UPDATE ON land FOR EACH ROW SET NEW.name = CONCAT(NEW.name, '.');
CALL grow(1);
CALL grow(2);
CALL fails();
CALL breaks();
CALL nothing();
SELECT doubled(people) FROM city WHERE land = 'fr';
INSERT INTO land VALUES ('nl', 'Netherlands');
UPDATE land SET name = 'Nederland' WHERE code = 'nl';
CASE 1 WHEN 1 THEN SELECT 1; END CASE;
DROP PROCEDURE breaks;

# -- views
CREATE VIEW large AS SELECT name, people FROM city WHERE people > 2000;
SELECT * FROM large ORDER BY people;
SELECT COUNT(*) FROM large JOIN river ON river.id < 3;
ALTER VIEW large AS SELECT name, people FROM city WHERE people > 3000;
SELECT * FROM large;
DROP VIEW large;

# -- changes of tables
ALTER TABLE city ADD COLUMN mayor VARCHAR(20);
ALTER TABLE city ADD KEY by_people (people);
SELECT name FROM city WHERE people > 3000;
UPDATE city SET mayor = 'nobody' WHERE id < 3;
ALTER TABLE city DROP COLUMN mayor;
ALTER TABLE river ENGINE = InnoDB;
SELECT COUNT(*) FROM river;
CREATE TABLE copy LIKE city;
INSERT INTO copy SELECT * FROM city;
# How many rows statistics find decides between a scan and the index, and how far purging has come decides what they find.
CREATE TABLE selected AS SELECT id, name FROM city FORCE INDEX (by_land) WHERE land = 'de';
RENAME TABLE selected TO chosen;
SELECT * FROM chosen;
CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY, note TEXT) ENGINE = InnoDB;
INSERT INTO mine VALUES (1, 'a'), (2, 'b');
SELECT * FROM mine WHERE id = 2;
DROP TEMPORARY TABLE mine;
TRUNCATE TABLE copy;
SELECT COUNT(*) FROM copy;
CREATE INDEX late ON copy (people);
DROP INDEX late ON copy;
ANALYZE TABLE city;
CHECK TABLE city, river;
OPTIMIZE TABLE scratch;
FLUSH TABLES;
SELECT COUNT(*) FROM city;
LOCK TABLES city WRITE, land READ;
UPDATE city SET people = 1 WHERE id = 4;
SELECT COUNT(*) FROM land;
SELECT COUNT(*) FROM river;
UNLOCK TABLES;

# -- what clients ask
SHOW TABLES;
SHOW CREATE TABLE city;
SHOW COLUMNS FROM city;
SHOW KEYS FROM city;
SHOW VARIABLES LIKE 'version';
SHOW STATUS LIKE 'Threads_connected';
SHOW DATABASES;
SHOW GRANTS;
SHOW PROCEDURE STATUS WHERE Db = 'door';
SELECT table_name FROM information_schema.tables WHERE table_schema = 'door' ORDER BY table_name;
SET NAMES utf8;
SET @@session.sort_buffer_size = 262144;
SELECT GET_LOCK('door', 0), RELEASE_LOCK('door');
CREATE USER 'guest'@'localhost' IDENTIFIED BY 'secret';
GRANT SELECT ON door.* TO 'guest'@'localhost';
REVOKE SELECT ON door.* FROM 'guest'@'localhost';
DROP USER 'guest'@'localhost';

# -- some load of each kind, so that the counts are not all small
BEGIN;
@repeat 200 INSERT INTO copy VALUES (1000 + :n, CONCAT('city ', :n), 'xx', :n);
COMMIT;
@repeat 200 SELECT name FROM copy WHERE id = 1000 + :n;
@repeat 100 UPDATE copy SET people = people + 1 WHERE id = 1000 + :n;
@repeat 20 SELECT COUNT(*) FROM copy IGNORE INDEX (by_land) WHERE land = 'xx' AND people > :n;
@repeat 100 DELETE FROM copy WHERE id = 1000 + :n;
SELECT COUNT(*) FROM copy;
DROP TABLE chosen, copy;

# -- what stays until somebody looks
PREPARE stays FROM 'SELECT COUNT(*) FROM river WHERE id > ?';
SET @id = 2;
EXECUTE stays USING @id;
EXECUTE stays USING @id;
BEGIN;
SELECT * FROM land WHERE code = 'de';
