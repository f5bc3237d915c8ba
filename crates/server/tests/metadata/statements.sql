# Statements whose column definitions are compared with MySQL's, one on each line.
#
# `!` is a statement that prepares: its answer is not compared. `?` is compared as it is prepared: the
# parameters' definitions and the columns'. {col} stands for each column of table `a`, {one} for a column or a
# literal of each kind, {left} and {right} for each pair of kinds.

!CREATE TABLE a (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED NOT NULL, bo BOOL, si SMALLINT, su SMALLINT UNSIGNED, mi MEDIUMINT, mu MEDIUMINT UNSIGNED NOT NULL DEFAULT 3, i INT, iu INT UNSIGNED NOT NULL, b BIGINT, bu BIGINT UNSIGNED, y YEAR, bt BIT(10), b1 BIT NOT NULL, f FLOAT, fu FLOAT UNSIGNED, f7 FLOAT(7,3), d DOUBLE NOT NULL, d2 DOUBLE(8,2), dc DECIMAL(10,2), du DECIMAL(12,0) UNSIGNED NOT NULL, d65 DECIMAL(65,30), c CHAR(5), v VARCHAR(20) NOT NULL, vb VARCHAR(300) COLLATE utf8mb4_bin, bi BINARY(4), vn VARBINARY(16), tt TINYTEXT, x TEXT, mt MEDIUMTEXT, lt LONGTEXT NOT NULL, tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB, e ENUM('a','bcd') NOT NULL DEFAULT 'a', s SET('x','yz'), da DATE, tm TIME, t3 TIME(3), dt DATETIME NOT NULL, d6 DATETIME(6), ts TIMESTAMP NULL, t2 TIMESTAMP(2) NOT NULL DEFAULT CURRENT_TIMESTAMP(2) ON UPDATE CURRENT_TIMESTAMP(2), j JSON, UNIQUE KEY k_i (i), KEY k_v (v), KEY k_bc (b, c), UNIQUE KEY k_ys (y, si))
!CREATE TABLE p (k INT NOT NULL, n VARCHAR(10) NOT NULL, w INT DEFAULT 5, PRIMARY KEY (k, n), UNIQUE KEY u_w (w))
!CREATE TABLE q (k INT, z INT, FOREIGN KEY (z) REFERENCES p (w))
!CREATE TABLE u_only (m INT NOT NULL, o VARCHAR(5) NOT NULL, UNIQUE KEY (m), UNIQUE KEY (o))
!CREATE TABLE now (d1 DATETIME DEFAULT CURRENT_TIMESTAMP, d2 DATETIME NULL ON UPDATE CURRENT_TIMESTAMP, t1 TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, t2 TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, n INT NOT NULL DEFAULT 0)
!INSERT INTO a (id, tu, iu, b1, d, du, v, lt, dt) VALUES (1, 2, 3, b'1', 4, 5, 'a', 'b', NOW()), (2, 3, 4, b'1', 5, 6, 'b', 'c', NOW())
!INSERT INTO p VALUES (1, 'a', 2), (2, 'b', 3)
!INSERT INTO q VALUES (1, 2), (2, 3)
!CREATE VIEW va AS SELECT id, ti, iu, dc, v, x, e, ts FROM a
!CREATE VIEW vx AS SELECT id + 1 AS n, CONCAT(v, 'x') AS t, SUM(i) AS s, NOW() AS w FROM a GROUP BY id, v
!CREATE VIEW vw AS SELECT * FROM va

# Columns of tables, and of what names them otherwise.
SELECT * FROM a
SELECT * FROM p
SELECT * FROM q
SELECT * FROM u_only
SELECT * FROM now
SELECT id, v AS name, z.ts FROM a AS z
SELECT test.a.id, a.v FROM a
SELECT (id), (v) FROM a
SELECT * FROM p LEFT JOIN q ON p.k = q.k
SELECT q.* FROM p LEFT JOIN q ON p.k = q.k
SELECT * FROM p RIGHT JOIN q ON p.k = q.k
SELECT * FROM p JOIN q USING (k)
SELECT * FROM p LEFT JOIN q USING (k)
SELECT * FROM p NATURAL JOIN q
SELECT * FROM va
SELECT * FROM vx
SELECT * FROM vw
SELECT va.v, va.id + 1 FROM va
SELECT * FROM (SELECT * FROM a) AS d
SELECT * FROM (SELECT id, v, 1 AS one, 'x' AS t, NULL AS n, i + 1 AS i1, dc, NOW() AS w FROM a) AS d
SELECT * FROM (SELECT id, v, 1 AS one, 'x' AS t, NULL AS n, i + 1 AS i1, dc, NOW() AS w FROM a LIMIT 3) AS d
SELECT d.v, d.id + 1 FROM (SELECT id, v FROM a) AS d
SELECT * FROM (SELECT k, COUNT(*) AS n, MAX(n) AS m FROM p GROUP BY k) AS d
SELECT * FROM (SELECT 1 AS x UNION SELECT 2) AS d
WITH w AS (SELECT id, v, ts FROM a) SELECT * FROM w
WITH w AS (SELECT id, v, ts FROM a) SELECT w.id, w.v AS n FROM w JOIN w AS x ON x.id = w.id
WITH w (m, n) AS (SELECT id, CONCAT(v, 'x') FROM a) SELECT * FROM w
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
WITH RECURSIVE r (n, t) AS (SELECT 1, CAST('a' AS CHAR(20)) UNION ALL SELECT n + 1, CONCAT(t, 'b') FROM r WHERE n < 5) SELECT * FROM r
SELECT (SELECT id FROM a LIMIT 1), (SELECT v FROM a LIMIT 1), (SELECT MAX(i) FROM a), (SELECT 1), (SELECT COUNT(*) FROM a)
SELECT id, (SELECT n FROM p WHERE p.k = a.id) AS sub, EXISTS (SELECT 1 FROM p) AS ex, id IN (SELECT k FROM p) AS inn FROM a
SELECT DISTINCT v, i, dc, x, ts FROM a
SELECT v, i FROM a GROUP BY v, i
SELECT v, COUNT(*) FROM a GROUP BY v WITH ROLLUP
SELECT v, i, SUM(d) AS s FROM a GROUP BY v, i ORDER BY s
SELECT id FROM a ORDER BY v LIMIT 5
SELECT id, v FROM a FOR UPDATE
SELECT SQL_CALC_FOUND_ROWS id FROM a LIMIT 1
VALUES ROW(1, 'a', NULL), ROW(2, 'bcd', 3)
TABLE p
SELECT * FROM p UNION SELECT * FROM p
SELECT k FROM p UNION ALL SELECT z FROM q
SELECT k, n FROM p UNION SELECT 1, 'x'
SELECT 1 UNION SELECT 2
SELECT 1 UNION ALL SELECT 'a'
SELECT NULL UNION SELECT 1
SELECT 'a' UNION SELECT 'bcde' UNION SELECT NULL
SELECT 1.5 UNION SELECT 2.125 UNION SELECT 1e0
SELECT id FROM a UNION SELECT NULL
SELECT {col} FROM a UNION SELECT {col} FROM a

# Groups, distinct rows, windows and sorting.
SELECT v, COUNT(*), SUM(i), MAX(id), i+1, CONCAT(v,'x'), UPPER(v) FROM a GROUP BY v, i
SELECT v, COUNT(*) AS n, SUM(i) AS s, MAX(id) AS m, AVG(dc) AS av FROM a GROUP BY v ORDER BY n
SELECT v, COUNT(*) AS n, SUM(i)+1 AS s, MAX(id) AS m, AVG(dc) AS av FROM a GROUP BY v ORDER BY n DESC LIMIT 2
SELECT v, COUNT(*) AS n, SUM(i) AS s FROM a GROUP BY v ORDER BY v
SELECT v, COUNT(*) AS n FROM a GROUP BY v HAVING n > 1
SELECT v, COUNT(*) AS n FROM a GROUP BY v HAVING n > 1 ORDER BY n
SELECT i, COUNT(*) AS n FROM a GROUP BY i
SELECT i, COUNT(*) AS n FROM a GROUP BY i ORDER BY n
SELECT id, COUNT(*) AS n FROM a GROUP BY id
SELECT id, v, COUNT(*) AS n FROM a GROUP BY id ORDER BY n
SELECT i+1 AS g, COUNT(*) FROM a GROUP BY g
SELECT UPPER(v) AS g, COUNT(*) FROM a GROUP BY g ORDER BY g
SELECT UPPER(v) AS g, COUNT(*) c FROM a GROUP BY g ORDER BY c
SELECT DISTINCT i+1, UPPER(v), 1, NOW() FROM a
SELECT DISTINCT v FROM a ORDER BY v
SELECT DISTINCT i FROM a
SELECT DISTINCT id FROM a
SELECT COUNT(DISTINCT v) FROM a
SELECT a.v, COUNT(*) FROM a JOIN p ON p.k = a.id GROUP BY a.v
SELECT a.v, p.w, i + w AS q FROM a JOIN p ON p.k = a.id ORDER BY q
SELECT a.v, p.w, i + w AS q FROM a JOIN p ON p.k = a.id ORDER BY p.w
SELECT v, i + 1 AS q, NOW() AS n, 1 AS o FROM a ORDER BY q
SELECT v, i + 1 AS q FROM a ORDER BY v
SELECT e, COUNT(*) FROM a GROUP BY e
SELECT e, COUNT(*) n, GROUP_CONCAT(v) FROM a GROUP BY e ORDER BY n
SELECT a.v, p.w FROM a LEFT JOIN p ON p.k = a.id
SELECT a.v, p.k, p.w, p.w+1, IFNULL(p.k, 0) FROM a LEFT JOIN p ON p.k = a.id
SELECT a.v, p.k, p.w FROM p RIGHT JOIN a ON p.k = a.id ORDER BY p.w
SELECT * FROM a JOIN p ON p.k = a.id ORDER BY v
SELECT COUNT(*) AS n FROM (SELECT v, COUNT(*) FROM a GROUP BY v) AS d
SELECT ROW_NUMBER() OVER (ORDER BY id) + 1 AS n, v, i+1 FROM a
SELECT v, i, RANK() OVER (PARTITION BY v ORDER BY i) AS r FROM a
SELECT CASE WHEN i > 1 THEN 'yes' ELSE 'no' END AS c, COUNT(*) FROM a GROUP BY c
SELECT IFNULL(i, 0) AS c, SUM(d) FROM a GROUP BY c ORDER BY 2 DESC
SELECT v, (SELECT MAX(w) FROM p WHERE k = a.id) AS m FROM a ORDER BY m
SELECT v, (SELECT MAX(w) FROM p) AS m, i IN (SELECT k FROM p) AS z FROM a GROUP BY v, i, id
SELECT SUM(i)/COUNT(*) FROM a
SELECT v FROM a UNION SELECT v FROM a ORDER BY 1
SELECT v, dc, i, x, id FROM a UNION ALL SELECT v, dc, i, x, id FROM a
SELECT v COLLATE utf8mb4_bin AS q, LENGTH(v) FROM a
SELECT REPLACE(v,'ab','x'), REPLACE(v,'a','xyz'), REPLACE(v, '', 'abc'), REPLACE('abcdef','b','cccc'), REPLACE(x,'a','xyz') FROM a
SELECT UNIX_TIMESTAMP('2026-01-01'), UNIX_TIMESTAMP('2026-01-01 00:00:00.5'), TIMEDIFF('10:00:00','09:00:00'), DATE_ADD('2026-01-01', INTERVAL 1 DAY), ADDTIME('10:00','1:00'), TIMESTAMP('2026-01-01')
SELECT NOW() + INTERVAL 1.5 SECOND, NOW() - INTERVAL i SECOND, NOW() + INTERVAL '1' SECOND, CURDATE() - INTERVAL 1 DAY, DATE_SUB(NOW(), INTERVAL 30 MINUTE) FROM a
SELECT 0x41 + 0, -TRUE, TRUE + 1, 1 = 1, i IS NULL, 1 BETWEEN 0 AND 2, 5 DIV 2, 5 % 2, 1/3 FROM a
SELECT SUM(data_length) / 1024 / 1024 AS mb, ROUND(SUM(data_length) / 1024 / 1024, 2) AS r FROM information_schema.tables
SELECT JSON_OBJECT('a', 1), JSON_EXTRACT('{"a":1}', '$.a'), JSON_UNQUOTE(JSON_EXTRACT('{"a":1}', '$.a'))
SELECT VERSION(), @@version, @@version_comment, @@hostname

# Literals.
SELECT 1
SELECT 0
SELECT -1
SELECT +1
SELECT - 1
SELECT 127
SELECT 99999
SELECT 2147483648
SELECT 9223372036854775807
SELECT -9223372036854775808
SELECT 9223372036854775808
SELECT 18446744073709551615
SELECT 18446744073709551616
SELECT 1.5
SELECT -1.5
SELECT .5
SELECT 1.
SELECT 0.00
SELECT 00012.50
SELECT 123456789.123456789
SELECT 1e0
SELECT -1.5e10
SELECT 'abc'
SELECT ''
SELECT 'ä€'
SELECT "dq"
SELECT 'a' 'b'
SELECT N'abc'
SELECT _utf8mb4'abc'
SELECT _utf8mb4'abc' COLLATE utf8mb4_bin
SELECT _binary'abc'
SELECT 'abc' COLLATE utf8mb4_bin
SELECT x'41'
SELECT 0x4142
SELECT b'101'
SELECT 0b101
SELECT TRUE
SELECT FALSE
SELECT NULL
SELECT DATE'2026-01-02'
SELECT TIME'10:11:12'
SELECT TIME'10:11:12.5'
SELECT TIMESTAMP'2026-01-02 10:11:12'
SELECT TIMESTAMP'2026-01-02 10:11:12.123'
SELECT 1 AS `a b`, 2 AS 'c', 3 "d", 4 e
SELECT (1), ((2)), (1 + 1), 1+1,  1  +  1

# Each function of one argument over each column.
SELECT {col} FROM a
SELECT -{col} FROM a
SELECT ~{one} FROM a
SELECT NOT {one} FROM a
SELECT !{one} FROM a
SELECT ({col}) FROM a
SELECT {col} IS NULL FROM a
SELECT {one} IS NOT NULL FROM a
SELECT {one} IS TRUE FROM a
SELECT {col} + 1 FROM a
SELECT {col} * 1.5 FROM a
SELECT {col} / 3 FROM a
SELECT {col} DIV 3 FROM a
SELECT {col} % 3 FROM a
SELECT 7 - {col} FROM a
SELECT {one} = 1 FROM a
SELECT {one} <=> NULL FROM a
SELECT {one} LIKE 'a%' FROM a
SELECT {one} REGEXP 'a' FROM a
SELECT {one} BETWEEN 1 AND 2 FROM a
SELECT {one} IN (1, 2) FROM a
SELECT {one} & 1 FROM a
SELECT {one} | {one} FROM a
SELECT {one} << 2 FROM a
SELECT {one} AND 1 FROM a
SELECT {one} XOR 1 FROM a
SELECT MIN({col}) FROM a
SELECT MAX({col}) FROM a
SELECT SUM({col}) FROM a
SELECT SUM(DISTINCT {one}) FROM a
SELECT AVG({col}) FROM a
SELECT COUNT({one}) FROM a
SELECT COUNT(DISTINCT {one}) FROM a
SELECT GROUP_CONCAT({col}) FROM a
SELECT GROUP_CONCAT(DISTINCT {one} ORDER BY 1 SEPARATOR '; ') FROM a
SELECT STD({one}) FROM a
SELECT VAR_SAMP({one}) FROM a
SELECT BIT_AND({one}) FROM a
SELECT BIT_XOR({one}) FROM a
SELECT ANY_VALUE({col}) FROM a
SELECT JSON_ARRAYAGG({one}) FROM a
SELECT JSON_OBJECTAGG('k', {one}) FROM a
SELECT MIN({col}) OVER () FROM a
SELECT SUM({one}) OVER (ORDER BY id) FROM a
SELECT AVG({one}) OVER (ORDER BY id) FROM a
SELECT LAG({col}) OVER (ORDER BY id) FROM a
SELECT LEAD({one}, 1, 0) OVER (ORDER BY id) FROM a
SELECT FIRST_VALUE({col}) OVER (ORDER BY id) FROM a
SELECT LAST_VALUE({one}) OVER (ORDER BY id) FROM a
SELECT NTH_VALUE({col}, 2) OVER (ORDER BY id) FROM a
SELECT COALESCE({col}) FROM a
SELECT COALESCE({col}, NULL) FROM a
SELECT COALESCE(NULL, {col}) FROM a
SELECT IFNULL({col}, 0) FROM a
SELECT IFNULL({col}, '') FROM a
SELECT NULLIF({col}, 1) FROM a
SELECT NULLIF({col}, 'a') FROM a
SELECT IF(1, {col}, NULL) FROM a
SELECT IF(id > 3, {col}, {col}) FROM a
SELECT IF(id, {one}, 7) FROM a
SELECT GREATEST({one}, 7) FROM a
SELECT {one} * {one} FROM a
SELECT CASE WHEN id > 3 THEN {col} END FROM a
SELECT CASE id WHEN 1 THEN {col} ELSE 'x' END FROM a
SELECT CASE id WHEN 1 THEN {col} ELSE 0 END FROM a
SELECT (SELECT {col} FROM a LIMIT 1)
SELECT * FROM (SELECT {col} FROM a LIMIT 1) AS t
SELECT * FROM (SELECT MAX({col}) AS m FROM a) AS t
SELECT * FROM (SELECT {col} + 0 AS m FROM a LIMIT 2) AS t
SELECT * FROM (SELECT CONCAT({col}, 'x') AS m FROM a LIMIT 2) AS t
SELECT * FROM (SELECT COALESCE({col}, {col}) AS m FROM a LIMIT 2) AS t
SELECT NAME_CONST('nm', 5)
SELECT CAST({col} AS CHAR) FROM a
SELECT CAST({one} AS CHAR(7)) FROM a
SELECT CAST({col} AS BINARY) FROM a
SELECT CAST({one} AS BINARY(7)) FROM a
SELECT CAST({one} AS SIGNED) FROM a
SELECT CAST({one} AS UNSIGNED) FROM a
SELECT CAST({one} AS DECIMAL) FROM a
SELECT CAST({one} AS DECIMAL(12,3)) FROM a
SELECT CAST({one} AS DOUBLE) FROM a
SELECT CAST({one} AS FLOAT) FROM a
SELECT CAST({one} AS DATE) FROM a
SELECT CAST({one} AS TIME) FROM a
SELECT CAST({one} AS TIME(2)) FROM a
SELECT CAST({one} AS DATETIME) FROM a
SELECT CAST({one} AS DATETIME(3)) FROM a
SELECT CAST({one} AS YEAR) FROM a
SELECT CAST({one} AS JSON) FROM a
SELECT CONVERT({one}, CHAR) FROM a
SELECT CONVERT({one} USING utf8mb4) FROM a
SELECT CONVERT({one} USING binary) FROM a
SELECT BINARY {one} FROM a
SELECT {col} COLLATE utf8mb4_bin FROM a
SELECT ABS({col}) FROM a
SELECT CEIL({col}) FROM a
SELECT FLOOR({col}) FROM a
SELECT ROUND({col}) FROM a
SELECT ROUND({col}, 1) FROM a
SELECT ROUND({one}, -1) FROM a
SELECT ROUND({one}, i) FROM a
SELECT TRUNCATE({col}, 1) FROM a
SELECT TRUNCATE({one}, 0) FROM a
SELECT MOD({one}, 7) FROM a
SELECT SIGN({one}) FROM a
SELECT SQRT({one}) FROM a
SELECT EXP({one}) FROM a
SELECT LN({one}) FROM a
SELECT LOG({one}) FROM a
SELECT LOG(2, {one}) FROM a
SELECT LOG2({one}) FROM a
SELECT LOG10({one}) FROM a
SELECT SIN({one}) FROM a
SELECT ATAN({one}) FROM a
SELECT ATAN2({one}, 1) FROM a
SELECT POW({one}, 2) FROM a
SELECT DEGREES({one}) FROM a
SELECT RADIANS({one}) FROM a
SELECT RAND({one}) FROM a
SELECT CONV({one}, 10, 2) FROM a
SELECT BIN({one}) FROM a
SELECT OCT({one}) FROM a
SELECT HEX({col}) FROM a
SELECT UNHEX({one}) FROM a
SELECT CRC32({one}) FROM a
SELECT BIT_COUNT({one}) FROM a
SELECT FORMAT({one}, 2) FROM a
SELECT FORMAT_BYTES({one}) FROM a
SELECT FORMAT_PICO_TIME({one}) FROM a
SELECT ASCII({one}) FROM a
SELECT ORD({one}) FROM a
SELECT CHAR({one}) FROM a
SELECT CHAR({one}, 65 USING utf8mb4) FROM a
SELECT LENGTH({one}) FROM a
SELECT CHAR_LENGTH({one}) FROM a
SELECT BIT_LENGTH({one}) FROM a
SELECT UPPER({col}) FROM a
SELECT LOWER({one}) FROM a
SELECT REVERSE({one}) FROM a
SELECT TRIM({col}) FROM a
SELECT LTRIM({one}) FROM a
SELECT RTRIM({one}) FROM a
SELECT TRIM(BOTH 'x' FROM {one}) FROM a
SELECT LEFT({col}, 3) FROM a
SELECT RIGHT({one}, 3) FROM a
SELECT LEFT({one}, i) FROM a
SELECT SUBSTRING({col}, 2) FROM a
SELECT SUBSTRING({one}, 2, 3) FROM a
SELECT SUBSTRING({one} FROM 2 FOR 3) FROM a
SELECT SUBSTRING({one}, i) FROM a
SELECT SUBSTRING_INDEX({one}, ',', 1) FROM a
SELECT MID({one}, 1, 2) FROM a
SELECT LPAD({one}, 10, 'x') FROM a
SELECT RPAD({one}, i, 'x') FROM a
SELECT REPEAT({one}, 3) FROM a
SELECT REPEAT({one}, i) FROM a
SELECT SPACE({one}) FROM a
SELECT SPACE(5)
SELECT REPLACE({one}, 'a', 'bc') FROM a
SELECT INSERT({one}, 1, 2, 'xyz') FROM a
SELECT CONCAT({col}) FROM a
SELECT CONCAT({col}, 'abc') FROM a
SELECT CONCAT_WS(', ', {col}, 'abc', v) FROM a
SELECT ELT(2, {one}, 'abc') FROM a
SELECT FIELD({one}, 1, 2) FROM a
SELECT FIND_IN_SET({one}, 'a,b') FROM a
SELECT INSTR({one}, 'a') FROM a
SELECT LOCATE('a', {one}) FROM a
SELECT POSITION('a' IN {one}) FROM a
SELECT STRCMP({one}, 'a') FROM a
SELECT SOUNDEX({one}) FROM a
SELECT QUOTE({col}) FROM a
SELECT MAKE_SET(3, {one}, 'b') FROM a
SELECT EXPORT_SET({one}, 'Y', 'N') FROM a
SELECT WEIGHT_STRING({one}) FROM a
SELECT CHARSET({one}) FROM a
SELECT COLLATION({one}) FROM a
SELECT COERCIBILITY({one}) FROM a
SELECT TO_BASE64({one}) FROM a
SELECT FROM_BASE64({one}) FROM a
SELECT SHA2({one}, 256) FROM a
SELECT REGEXP_LIKE({one}, 'a') FROM a
SELECT REGEXP_REPLACE({one}, 'a', 'b') FROM a
SELECT REGEXP_SUBSTR({one}, 'a') FROM a
SELECT REGEXP_INSTR({one}, 'a') FROM a
SELECT INET_ATON({one}) FROM a
SELECT INET_NTOA({one}) FROM a
SELECT INET6_ATON({one}) FROM a
SELECT INET6_NTOA({one}) FROM a
SELECT IS_IPV4({one}) FROM a
SELECT IS_UUID({one}) FROM a
SELECT BIN_TO_UUID({one}) FROM a
SELECT UUID_TO_BIN({one}) FROM a
SELECT ISNULL({one}) FROM a
SELECT INTERVAL({one}, 1, 2) FROM a
SELECT DATE({one}) FROM a
SELECT TIME({col}) FROM a
SELECT TIMESTAMP({col}) FROM a
SELECT TIMESTAMP({one}, '10:00') FROM a
SELECT YEAR({one}) FROM a
SELECT QUARTER({one}) FROM a
SELECT MONTH({one}) FROM a
SELECT DAY({one}) FROM a
SELECT DAYOFWEEK({one}) FROM a
SELECT DAYOFYEAR({one}) FROM a
SELECT WEEK({one}) FROM a
SELECT WEEKDAY({one}) FROM a
SELECT WEEKOFYEAR({one}) FROM a
SELECT YEARWEEK({one}) FROM a
SELECT HOUR({one}) FROM a
SELECT MINUTE({one}) FROM a
SELECT SECOND({one}) FROM a
SELECT MICROSECOND({one}) FROM a
SELECT EXTRACT(DAY FROM {one}) FROM a
SELECT EXTRACT(YEAR_MONTH FROM da), EXTRACT(HOUR FROM da), EXTRACT(DAY_MICROSECOND FROM da), EXTRACT(MICROSECOND FROM da), EXTRACT(DAY_HOUR FROM da), EXTRACT(MINUTE_SECOND FROM da), EXTRACT(SECOND_MICROSECOND FROM da), EXTRACT(QUARTER FROM da), EXTRACT(WEEK FROM da), EXTRACT(YEAR FROM da), EXTRACT(MONTH FROM da), EXTRACT(MINUTE FROM da), EXTRACT(SECOND FROM da), EXTRACT(DAY_MINUTE FROM da), EXTRACT(DAY_SECOND FROM da), EXTRACT(HOUR_MINUTE FROM da), EXTRACT(HOUR_SECOND FROM da), EXTRACT(HOUR_MICROSECOND FROM da), EXTRACT(MINUTE_MICROSECOND FROM da) FROM a
SELECT DAYNAME({one}) FROM a
SELECT MONTHNAME({one}) FROM a
SELECT LAST_DAY({one}) FROM a
SELECT TO_DAYS({one}) FROM a
SELECT TO_SECONDS({one}) FROM a
SELECT FROM_DAYS({one}) FROM a
SELECT TIME_TO_SEC({one}) FROM a
SELECT SEC_TO_TIME({col}) FROM a
SELECT UNIX_TIMESTAMP({col}) FROM a
SELECT FROM_UNIXTIME({col}) FROM a
SELECT FROM_UNIXTIME({one}, '%Y') FROM a
SELECT DATE_FORMAT({one}, '%Y-%m-%d') FROM a
SELECT DATE_FORMAT(da, '%W %M %Y'), DATE_FORMAT(da, '%H:%i:%s.%f'), DATE_FORMAT(da, v), DATE_FORMAT(da, ''), DATE_FORMAT(da, '%a%b%c%D%d%e%j%k%l%p%r%T%U%u%V%v%w%X%x%y%%%q') FROM a
SELECT TIME_FORMAT({one}, '%H') FROM a
SELECT STR_TO_DATE({one}, '%Y-%m-%d') FROM a
SELECT STR_TO_DATE(v, '%H:%i'), STR_TO_DATE(v, '%Y %H'), STR_TO_DATE(v, '%f'), STR_TO_DATE(v, '%Y %f'), STR_TO_DATE(v, v), STR_TO_DATE(v, '') FROM a
SELECT {col} + INTERVAL 1 DAY FROM a
SELECT {col} + INTERVAL 1 HOUR FROM a
SELECT {one} - INTERVAL 1 MICROSECOND FROM a
SELECT {one} + INTERVAL '1.5' SECOND FROM a
SELECT DATE_ADD({one}, INTERVAL 1 DAY_SECOND) FROM a
SELECT DATE_SUB({one}, INTERVAL id MONTH) FROM a
SELECT ADDDATE({one}, 3) FROM a
SELECT SUBDATE({one}, INTERVAL 1 WEEK) FROM a
SELECT ADDTIME({col}, '01:00') FROM a
SELECT SUBTIME({one}, '01:00:00.5') FROM a
SELECT TIMEDIFF({one}, tm) FROM a
SELECT TIMESTAMPADD(DAY, 1, {one}) FROM a
SELECT TIMESTAMPADD(SECOND, 1, {one}) FROM a
SELECT TIMESTAMPADD(MICROSECOND, 1, {one}) FROM a
SELECT TIMESTAMPDIFF(DAY, {one}, dt) FROM a
SELECT DATEDIFF({one}, dt) FROM a
SELECT MAKEDATE({one}, 3) FROM a
SELECT MAKETIME(1, 2, {one}) FROM a
SELECT PERIOD_ADD({one}, 1) FROM a
SELECT PERIOD_DIFF({one}, 1) FROM a
SELECT CONVERT_TZ({one}, '+00:00', '+01:00') FROM a
SELECT JSON_TYPE({one}) FROM a
SELECT JSON_VALID({one}) FROM a
SELECT JSON_QUOTE(v), JSON_QUOTE('a'), JSON_QUOTE(x) FROM a
SELECT JSON_UNQUOTE(v), JSON_UNQUOTE('a'), JSON_UNQUOTE(j), JSON_UNQUOTE(x) FROM a
SELECT JSON_ARRAY({one}), JSON_OBJECT('a', {one}) FROM a
SELECT JSON_EXTRACT(j, '$.a'), j -> '$.a', j ->> '$.a', JSON_LENGTH(j), JSON_DEPTH(j), JSON_KEYS(j), JSON_CONTAINS(j, '1'), JSON_CONTAINS_PATH(j, 'one', '$.a'), JSON_SET(j, '$.a', 1), JSON_INSERT(j, '$.a', 1), JSON_REPLACE(j, '$.a', 1), JSON_REMOVE(j, '$.a'), JSON_MERGE_PATCH(j, j), JSON_MERGE_PRESERVE(j, j), JSON_PRETTY(j), JSON_STORAGE_SIZE(j), JSON_ARRAY_APPEND(j, '$', 1) FROM a
SELECT 1 MEMBER OF ('[1]')
SELECT BENCHMARK(1, {one}) FROM a
SELECT SLEEP(0)
SELECT LOAD_FILE('/x')

# Functions without arguments, and those of the session.
SELECT NOW(), NOW(3), NOW(6), SYSDATE(), SYSDATE(2), CURDATE(), CURTIME(), CURTIME(4), UTC_DATE(), UTC_TIME(), UTC_TIME(1), UTC_TIMESTAMP(), UTC_TIMESTAMP(6), UNIX_TIMESTAMP(), CURRENT_DATE, CURRENT_TIME, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(2), LOCALTIME, LOCALTIMESTAMP
SELECT PI(), RAND(), UUID(), UUID_SHORT(), VERSION(), DATABASE(), SCHEMA(), USER(), CURRENT_USER(), CURRENT_USER, SESSION_USER(), SYSTEM_USER(), CONNECTION_ID(), LAST_INSERT_ID(), LAST_INSERT_ID(5), ROW_COUNT(), FOUND_ROWS(), CURRENT_ROLE()
SELECT ICU_VERSION()
SELECT GET_LOCK('a', 0), RELEASE_LOCK('a'), IS_FREE_LOCK('a'), IS_USED_LOCK('a'), RELEASE_ALL_LOCKS()
SELECT ROW_NUMBER() OVER (), RANK() OVER (), DENSE_RANK() OVER (), PERCENT_RANK() OVER (), CUME_DIST() OVER (), NTILE(3) OVER () FROM a
SELECT COUNT(*) FROM a
SELECT COUNT(*), COUNT(1), SUM(1), SUM(1.5), AVG(2), MAX('abc'), MIN(NULL) FROM a
SELECT GROUPING(v) FROM a GROUP BY v WITH ROLLUP
SELECT RANDOM_BYTES(8)
SELECT PS_CURRENT_THREAD_ID(), PS_THREAD_ID(1)
SELECT STATEMENT_DIGEST('SELECT 1'), STATEMENT_DIGEST_TEXT('SELECT 1')
SELECT GET_FORMAT(DATE, 'ISO')
SELECT COMPRESS('a'), UNCOMPRESS('a'), UNCOMPRESSED_LENGTH('a')

# Pairs of kinds.
SELECT {left} + {right} FROM a
SELECT {left} / {right} FROM a
SELECT {left} DIV {right} FROM a
SELECT {left} % {right} FROM a
SELECT COALESCE({left}, {right}) FROM a
SELECT {left} AS u FROM a UNION SELECT {right} FROM a
SELECT CONCAT({left}, {right}) FROM a

# Variables.
!SET @i = 5, @d = 1.5, @r = 1e0, @t = 'abc', @n = NULL, @b = x'4142'
SELECT @i
SELECT @d
SELECT @r
SELECT @t
SELECT @n
SELECT @b
SELECT @unset
SELECT @i + 1, @t = 'x', CONCAT(@t, 'x'), @d * 2
SELECT @v := 5
SELECT @v := 'abc'
SELECT @@version
SELECT @@autocommit
SELECT @@GLOBAL.max_connections
SELECT @@session.sql_mode
SELECT @@sql_mode AS m
SELECT @@version_comment LIMIT 1
SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
SELECT @@tx_isolation
SELECT @@long_query_time, @@timestamp, @@secure_file_priv, @@ssl_ca, @@innodb_buffer_pool_size
SELECT @@transaction_read_only, @@hostname, @@port, @@socket, @@datadir, @@version_compile_os, @@lower_case_file_system, @@long_query_time, @@timestamp, @@insert_id, @@identity, @@last_insert_id, @@pseudo_thread_id, @@error_count, @@warning_count, @@unique_checks, @@foreign_key_checks, @@sql_select_limit, @@default_storage_engine, @@innodb_version, @@server_id, @@server_uuid, @@read_only, @@super_read_only, @@event_scheduler, @@log_bin, @@gtid_mode

# SHOW and its kin.
SHOW DATABASES
SHOW SCHEMAS LIKE 't%'
SHOW TABLES
SHOW TABLES LIKE 'a%'
SHOW FULL TABLES
SHOW TABLES FROM mysql
SHOW TABLE STATUS
SHOW TABLE STATUS LIKE 'a'
SHOW OPEN TABLES
SHOW COLUMNS FROM a
SHOW FULL COLUMNS FROM a
SHOW COLUMNS FROM a LIKE 'i%'
SHOW FIELDS FROM a FROM test
DESCRIBE a
DESCRIBE a id
EXPLAIN a
SHOW INDEX FROM a
SHOW KEYS FROM a WHERE Key_name = 'PRIMARY'
SHOW CREATE TABLE a
SHOW CREATE VIEW va
SHOW CREATE DATABASE test
SHOW VARIABLES
SHOW GLOBAL VARIABLES LIKE 'max%'
SHOW SESSION VARIABLES WHERE Variable_name = 'autocommit'
SHOW STATUS
SHOW GLOBAL STATUS LIKE 'Threads%'
SHOW PROCESSLIST
SHOW FULL PROCESSLIST
SHOW WARNINGS
SHOW ERRORS
SHOW COUNT(*) WARNINGS
SHOW COUNT(*) ERRORS
SHOW ENGINES
SHOW STORAGE ENGINES
SHOW PLUGINS
SHOW CHARACTER SET
SHOW CHARSET LIKE 'utf8%'
SHOW COLLATION
SHOW COLLATION WHERE Charset = 'utf8mb4'
SHOW GRANTS
SHOW GRANTS FOR CURRENT_USER()
SHOW PRIVILEGES
SHOW TRIGGERS
SHOW EVENTS
SHOW PROCEDURE STATUS
SHOW FUNCTION STATUS
SHOW ENGINE INNODB STATUS
SHOW ENGINE PERFORMANCE_SCHEMA STATUS
SHOW ENGINE INNODB MUTEX
SHOW BINARY LOGS
SHOW BINARY LOG STATUS
SHOW REPLICAS
SHOW REPLICA STATUS
SHOW PROFILES
SHOW PROFILE
SHOW CREATE USER CURRENT_USER()
SHOW CREATE PROCEDURE sys.ps_setup_save
SHOW CREATE FUNCTION sys.format_time
CHECK TABLE a
ANALYZE TABLE a
OPTIMIZE TABLE p
EXPLAIN SELECT * FROM a
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM a
EXPLAIN FORMAT=JSON SELECT * FROM a
EXPLAIN FORMAT=TREE SELECT * FROM a
EXPLAIN UPDATE a SET i = 1
EXPLAIN INSERT INTO p VALUES (1, 'a', 3)
EXPLAIN DELETE FROM p
KILL QUERY 99999999
HELP 'SELECT'

# Every table of the system schemas.
SELECT * FROM {table}

# What drivers and tools ask of the system schemas.
SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, TABLE_NAME, CASE WHEN TABLE_TYPE = 'BASE TABLE' THEN CASE WHEN TABLE_SCHEMA = 'mysql' OR TABLE_SCHEMA = 'performance_schema' THEN 'SYSTEM TABLE' ELSE 'TABLE' END WHEN TABLE_TYPE = 'TEMPORARY' THEN 'LOCAL_TEMPORARY' ELSE TABLE_TYPE END AS TABLE_TYPE, TABLE_COMMENT AS REMARKS FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'test'
SELECT table_name, table_rows, data_length + index_length AS size FROM information_schema.tables WHERE table_schema = DATABASE()
SELECT column_name, data_type, character_maximum_length, is_nullable = 'YES' AS nullable FROM information_schema.columns WHERE table_name = 'a'
SELECT SUM(data_length) FROM information_schema.TABLES
SELECT COUNT(*), table_type FROM information_schema.TABLES GROUP BY table_type
SELECT DISTINCT table_schema FROM information_schema.TABLES
SELECT x.id FROM (SELECT u.id FROM a u) x
SELECT x.k FROM (SELECT u.id AS k FROM a u) x
SELECT x.id FROM (SELECT DISTINCT u.id FROM a u) x
SELECT y.id FROM (SELECT x.id FROM (SELECT u.id FROM a u) x) y
WITH x AS (SELECT u.id FROM a u) SELECT z.id FROM x z
SELECT x.p, x.q FROM (SELECT u.id, u.v FROM a u) AS x (p, q)
?SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position
?SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ?
?SELECT v, COUNT(*) AS n, SUM(i) AS s, MAX(v) AS m FROM a GROUP BY v HAVING n >= ? ORDER BY n DESC
?SELECT DISTINCT v, i FROM a WHERE v = ?
?SELECT id FROM a WHERE (id, i) IN ((?, ?), (?, ?)) AND (v, b) = (?, ?)
?UPDATE a SET iu = iu + ?, i = i - ? WHERE id = ?
SELECT t.* FROM (SELECT table_name, engine FROM information_schema.TABLES) AS t
SELECT table_name FROM information_schema.tables WHERE table_schema = COALESCE(NULL, DATABASE()) AND table_type != 'VIEW' ORDER BY table_name
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE() ORDER BY table_name
SELECT column_name, is_nullable, data_type, column_default, column_type, extra FROM information_schema.columns WHERE table_name = 'a' AND table_schema = DATABASE() ORDER BY ordinal_position
SELECT column_name, referenced_column_name, referenced_table_name FROM information_schema.key_column_usage WHERE table_name = 'a' AND table_schema = DATABASE() AND referenced_table_name IS NOT NULL
SELECT kc.`constraint_name`, kc.`column_name`, kc.`referenced_table_name`, c.`constraint_type` FROM information_schema.key_column_usage AS kc, information_schema.table_constraints AS c WHERE kc.table_schema = DATABASE() AND c.table_schema = kc.table_schema AND c.constraint_name = kc.constraint_name AND kc.table_name = 'a' ORDER BY kc.`ordinal_position`
SELECT cc.constraint_name, cc.check_clause FROM information_schema.check_constraints AS cc, information_schema.table_constraints AS tc WHERE cc.constraint_schema = DATABASE() AND cc.constraint_name = tc.constraint_name
SELECT index_name, column_name, non_unique, seq_in_index FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'a' ORDER BY index_name, seq_in_index
SELECT constraint_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = DATABASE()
SELECT rc.delete_rule, rc.update_rule, kcu.column_name FROM information_schema.key_column_usage AS kcu JOIN information_schema.referential_constraints AS rc ON rc.constraint_schema = kcu.constraint_schema AND rc.constraint_name = kcu.constraint_name WHERE kcu.table_name = 'a'
SELECT schema_name, default_collation_name FROM information_schema.schemata ORDER BY schema_name
SELECT DISTINCT table_name, engine FROM information_schema.tables
SELECT table_name AS a, UPPER(table_name), CONCAT(table_name, 'x') FROM information_schema.tables ORDER BY a
SELECT routine_name, routine_type, dtd_identifier FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY routine_name
SELECT trigger_name, event_manipulation FROM information_schema.triggers WHERE event_object_schema = DATABASE()
SELECT privilege_type FROM information_schema.user_privileges ORDER BY 1
SELECT plugin_name, plugin_status FROM information_schema.plugins ORDER BY 1
SELECT t.table_name, c.column_name FROM information_schema.tables t JOIN information_schema.columns c ON c.table_name = t.table_name ORDER BY c.ordinal_position
SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT / 1000000000000 AS s FROM performance_schema.events_waits_summary_global_by_event_name ORDER BY 3 DESC
SELECT DIGEST_TEXT, COUNT_STAR, AVG_TIMER_WAIT FROM performance_schema.events_statements_summary_by_digest
SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'
SELECT THREAD_ID, PROCESSLIST_ID, PROCESSLIST_USER FROM performance_schema.threads
SELECT t.THREAD_ID, s.SQL_TEXT FROM performance_schema.threads t JOIN performance_schema.events_statements_current s USING (THREAD_ID)
SELECT query, exec_count, total_latency FROM sys.statement_analysis
SELECT sys.format_time(1), sys.format_bytes(1), sys.format_statement('a'), sys.version_major(), sys.ps_is_account_enabled('a', 'b'), sys.quote_identifier('a'), sys.list_add('a', 'b')
SELECT * FROM mysql.user
SELECT User, Host, plugin FROM mysql.user
SELECT * FROM mysql.db

# As they are prepared.
?SELECT ?
?SELECT ? + 1
?SELECT ? + i FROM a
?SELECT CONCAT(?, 'a')
?SELECT ?, ?
?SELECT IF(?, ?, 1)
?SELECT COALESCE(?, 'a')
?SELECT UPPER(?), ABS(?), LENGTH(?)
?SELECT DATE_FORMAT(?, '%Y'), DATE_ADD(?, INTERVAL ? DAY)
?SELECT CAST(? AS SIGNED), CAST(? AS CHAR), CAST(? AS DECIMAL(10,2)), CAST(? AS DATETIME)
?SELECT 1 FROM a WHERE {col} = ?
?SELECT 1 FROM a WHERE {one} > ?
?SELECT 1 FROM a WHERE {one} IN (?, ?)
?SELECT 1 FROM a WHERE {one} BETWEEN ? AND ?
?SELECT 1 FROM a WHERE {one} LIKE ?
?SELECT id FROM a WHERE ? = id AND v = ? LIMIT ?
?SELECT id FROM a LIMIT ? OFFSET ?
?INSERT INTO p VALUES (?, ?, ?)
?INSERT INTO p (n, k) VALUES (?, ?), (?, ?)
?INSERT INTO a ({col}) VALUES (?)
?INSERT INTO p VALUES (1, 'a', ?) ON DUPLICATE KEY UPDATE w = ?
?INSERT INTO p SELECT ?, ?, w FROM p
?UPDATE a SET {col} = ? WHERE id = ?
?UPDATE p SET w = w + ? WHERE k = ? LIMIT 1
?DELETE FROM p WHERE k = ? AND n = ?
?SELECT id, v FROM a
?SELECT COUNT(*) FROM a WHERE v LIKE ?
?SELECT * FROM p WHERE k = ? OR w IS NULL AND n <> ?
?SELECT SUM(?) FROM a
?SELECT id FROM a WHERE id = ? + 1
?SELECT id FROM a WHERE YEAR(da) = ?
?SELECT NOW() > ?
?SELECT ? IS NULL
?SELECT (SELECT v FROM a WHERE id = ?)
?SELECT * FROM (SELECT ? AS x) AS t
?SELECT * FROM performance_schema.threads WHERE THREAD_ID = ?
?SHOW VARIABLES LIKE 'a%'
?SHOW TABLES
?DO ?
?SET @x = ?
?CALL sys.ps_setup_show_enabled(?, ?)
