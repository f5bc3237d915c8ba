SELECT CONCAT('a', 'b', 'c'), CONCAT('a', NULL), CONCAT(1, 2), CONCAT_WS(',', 'a', NULL, 'b'), CONCAT_WS(NULL, 'a');
SELECT LENGTH('abc'), LENGTH('äöü'), CHAR_LENGTH('äöü'), CHARACTER_LENGTH('ab'), OCTET_LENGTH('ä'), BIT_LENGTH('a');
SELECT UPPER('abc'), LOWER('ABC'), UCASE('x'), LCASE('X');
SELECT SUBSTRING('hello', 2), SUBSTRING('hello', 2, 3), SUBSTRING('hello', -3), SUBSTRING('hello', -3, 2), SUBSTR('hello', 0), MID('hello', 2, 2);
SELECT SUBSTRING('hello' FROM 2), SUBSTRING('hello' FROM 2 FOR 2), SUBSTRING('hello', 10);
SELECT LEFT('hello', 2), RIGHT('hello', 2), LEFT('hello', 0), LEFT('hello', -1), LEFT(NULL, 1);
SELECT TRIM('  a  '), LTRIM('  a'), RTRIM('a  '), TRIM(LEADING 'x' FROM 'xxa'), TRIM(TRAILING 'x' FROM 'axx'), TRIM(BOTH 'x' FROM 'xax'), TRIM('x' FROM 'xax');
SELECT TRIM(BOTH FROM " a "), TRIM(LEADING FROM " a "), TRIM(TRAILING FROM " a "), trim(both from concat(" b", " "));
SELECT LPAD('5', 3, '0'), RPAD('a', 3, 'xy'), LPAD('hello', 2, 'x'), RPAD('a', 0, 'x');
SELECT REPEAT('ab', 3), REPEAT('a', 0), REPEAT('a', -1), REVERSE('abc'), SPACE(3), REVERSE('äb');
SELECT REPLACE('aXbX', 'X', 'y'), REPLACE('abc', '', 'x'), INSERT('Quadratic', 3, 4, 'What');
SELECT INSTR('foobar', 'bar'), INSTR('foobar', 'x'), LOCATE('bar', 'foobar'), LOCATE('o', 'foobar', 3), POSITION('b' IN 'foobar');
SELECT ASCII('a'), ASCII(''), ORD('a'), CHAR(65, 66), HEX('abc'), HEX(255), UNHEX('616263');
SELECT FIELD('b', 'a', 'b', 'c'), FIELD('x', 'a'), ELT(2, 'a', 'b'), ELT(3, 'a'), FIND_IN_SET('b', 'a,b,c'), FIND_IN_SET('x', 'a,b');
SELECT SUBSTRING_INDEX('www.mysql.com', '.', 2), SUBSTRING_INDEX('www.mysql.com', '.', -2), SUBSTRING_INDEX('a', 'x', 1);
SELECT STRCMP('a', 'b'), STRCMP('a', 'a'), STRCMP('b', 'a'), STRCMP('a', 'A');
SELECT FORMAT(12332.123456, 4), FORMAT(12332.1, 0), FORMAT(0.5, 2), FORMAT(-1234567.891, 1);
SELECT QUOTE('it''s'), QUOTE(NULL), SOUNDEX('Hello');
-- mariadb: SHA2('a', 1) is bytes there, text in MySQL
SELECT MD5('a'), SHA1('a'), SHA('a'), SHA2('a', 256), SHA2('a', 224), SHA2('a', 1), CRC32('a');
SELECT BIN(12), OCT(12), CONV('a', 16, 2), CONV(10, 10, 16), CONV('zz', 36, 10), CONV(-1, 10, 16);
SELECT TO_BASE64('abc'), FROM_BASE64('YWJj');
SELECT LOWER(CONCAT('A', 'B')) AS l, UPPER(NULL);
SELECT EXPORT_SET(5, 'Y', 'N', ',', 4), MAKE_SET(1 | 4, 'a', 'b', 'c');
-- mariadb: it has no such function
SELECT REGEXP_LIKE('abc', '^A'), REGEXP_REPLACE('abc', 'b', 'X'), REGEXP_SUBSTR('abc', 'b.'), REGEXP_INSTR('abc', 'c');
-- mariadb: it has no a; it has ab
SELECT 'a\nb', 'a\tb', 'a\\b', 'a\'b', 'a\"b', 'a\qb', 'a\%b', 'a\0b';
SELECT "a'b", 'a"b';
SELECT UUID() IS NOT NULL, LENGTH(UUID()), UUID_SHORT() IS NOT NULL;
SELECT INET_ATON('10.0.5.9'), INET_NTOA(167773449), INET_ATON('x'), IS_IPV4('1.2.3.4'), IS_IPV6('::1');
SELECT 'äÄ' LIKE 'ää', 'ß' = 'ss', 'é' = 'e';
SELECT CHARSET('a'), COLLATION('a'), CHARSET(1), COERCIBILITY('a');
SELECT WEIGHT_STRING('a') IS NOT NULL;
SELECT LENGTH(NULL), CONCAT(), 1;
-- mariadb: JSON_EXTRACT('{"a": 1}', '$.a') is text there, json in MySQL, and others
SELECT JSON_EXTRACT('{"a": 1}', '$.a'), JSON_UNQUOTE('"x"'), JSON_OBJECT('a', 1), JSON_ARRAY(1, 'b', NULL), JSON_VALID('{'), JSON_TYPE('[]'), JSON_LENGTH('[1,2]'), JSON_CONTAINS('[1,2]', '1'), JSON_KEYS('{"a":1,"b":2}');
SELECT SUBSTRING('abc', 2, -1), SUBSTRING('abc', NULL);
SELECT GROUP_CONCAT('a'), GROUP_CONCAT(NULL);
SELECT CONCAT('a', 1.50, NULL IS NULL), CONCAT(1e3);
SELECT 'abc' || 'def';
SELECT TRIM(NULL), REPLACE(NULL, 'a', 'b');
SELECT CHAR(65 USING utf8mb4), CHAR(0xC3A9 USING utf8mb4), CHAR(233 USING latin1), CHAR(128 USING latin1);
SELECT CHAR(65, 255, 66, 67, 68 USING utf8mb4);
SHOW WARNINGS;
-- mariadb: it gives a question mark
SELECT CONVERT(x'41c3' USING utf8mb4), CONVERT(x'4142' USING utf8mb4);
-- mariadb: it writes the byte otherwise
SHOW WARNINGS;
SELECT CONVERT('aé€' USING ascii), CONVERT('€ж' USING latin1);
SELECT HEX(CONVERT('é' USING binary)), HEX(CHAR(255 USING binary)), HEX(CHAR(0x4142, 67));
SELECT CHAR(65 USING nosuch);
SET sql_mode = '';
SELECT CHAR(65, 255, 66 USING utf8mb4);
SHOW WARNINGS;
