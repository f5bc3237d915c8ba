//! Which statements EXPLAIN is sent for. It must execute nothing, lock nothing and change nothing, whoever wrote the
//! statement: a user of the server chooses the text that Tare sends with its own account.

use super::tokens::{Kind, Token, tokenize};

/// A statement that may be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explainable {
    /// It reads only.
    Select,
    /// UPDATE, DELETE, or INSERT ... SELECT.
    Change,
}

/// Words before a parenthesis that are no functions.
const KEYWORDS: &str = "ALL AND ANY AS BETWEEN BY CASE CHAR COLUMNS CROSS DECIMAL DISTINCT DISTINCTROW DIV DUPLICATE ELSE EXCEPT \
    EXISTS FROM GROUP HAVING IN INDEX INNER INTERSECT INTERVAL INTO IS JOIN KEY LATERAL LIKE LIMIT MATCH MOD NOT NUMERIC OF ON OR \
    OVER PARTITION REGEXP RLIKE ROLLUP ROW ROWS SELECT SET SOME STRAIGHT_JOIN THEN UNION USING VALUES WHEN WHERE WITH XOR AGAINST \
    BINARY VARBINARY VARCHAR DATETIME TIME TIMESTAMP FLOAT DOUBLE ORDER RETURN WINDOW ESCAPE NCHAR";

/// Functions of MySQL and MariaDB that only compute. A stored function cannot have such a name, unless it is
/// called with its schema. There are none that wait, lock, read files or have effects, such as SLEEP,
/// GET_LOCK and LOAD_FILE.
const FUNCTIONS: &str = "ABS ACOS ADDDATE ADDTIME AES_DECRYPT AES_ENCRYPT ANY_VALUE ASCII ASIN ATAN ATAN2 AVG BIN BIN_TO_UUID BIT_AND \
    BIT_COUNT BIT_LENGTH BIT_OR BIT_XOR CAST CEIL CEILING CHARACTER_LENGTH CHARSET CHAR_LENGTH COALESCE COERCIBILITY COLLATION \
    COMPRESS CONCAT CONCAT_WS CONNECTION_ID CONV CONVERT CONVERT_TZ COS COT COUNT CRC32 CUME_DIST CURDATE CURRENT_DATE \
    CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURTIME DATABASE DATE DATEDIFF DATE_ADD DATE_FORMAT DATE_SUB DAY DAYNAME \
    DAYOFMONTH DAYOFWEEK DAYOFYEAR DEFAULT DEGREES DENSE_RANK ELT EXP EXPORT_SET EXTRACT FIELD FIND_IN_SET FIRST_VALUE FLOOR \
    FORMAT FORMAT_BYTES FOUND_ROWS FROM_BASE64 FROM_DAYS FROM_UNIXTIME GET_FORMAT GREATEST GROUPING GROUP_CONCAT HEX HOUR IF IFNULL \
    INET6_ATON INET6_NTOA INET_ATON INET_NTOA INSERT INSTR ISNULL IS_IPV4 IS_IPV6 IS_UUID JSON_ARRAY JSON_ARRAYAGG \
    JSON_ARRAY_APPEND JSON_ARRAY_INSERT JSON_COMPACT JSON_CONTAINS JSON_CONTAINS_PATH JSON_DEPTH JSON_EXISTS JSON_EXTRACT JSON_INSERT \
    JSON_KEYS JSON_LENGTH JSON_MERGE JSON_MERGE_PATCH JSON_MERGE_PRESERVE JSON_OBJECT JSON_OBJECTAGG JSON_OVERLAPS JSON_PRETTY \
    JSON_QUERY JSON_QUOTE JSON_REMOVE JSON_REPLACE JSON_SEARCH JSON_SET JSON_TABLE JSON_TYPE JSON_UNQUOTE JSON_VALID JSON_VALUE LAG \
    LAST_DAY LAST_VALUE LCASE LEAD LEAST LEFT LENGTH LN LOCALTIME LOCALTIMESTAMP LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM MAKEDATE \
    MAKETIME MAKE_SET MAX MBRCONTAINS MBRINTERSECTS MBRWITHIN MD5 MEDIAN MICROSECOND MID MIN MINUTE MONTH MONTHNAME NOW NTH_VALUE \
    NTILE NULLIF NVL NVL2 OCT OCTET_LENGTH ORD PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK PERIOD_ADD PERIOD_DIFF PI POINT POSITION \
    POW POWER QUARTER QUOTE RADIANS RAND RANK REGEXP_INSTR REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR REPEAT REPLACE REVERSE RIGHT \
    ROUND ROW_COUNT ROW_NUMBER RPAD RTRIM SCHEMA SECOND SEC_TO_TIME SHA SHA1 SHA2 SIGN SIN SOUNDEX SPACE SQRT STD STDDEV STDDEV_POP \
    STDDEV_SAMP STRCMP STR_TO_DATE ST_ASTEXT ST_CONTAINS ST_DISTANCE ST_DISTANCE_SPHERE ST_GEOMFROMTEXT ST_INTERSECTS ST_WITHIN ST_X \
    ST_Y SUBDATE SUBSTR SUBSTRING SUBSTRING_INDEX SUBTIME SUM SYSDATE TAN TIMEDIFF TIMESTAMPADD TIMESTAMPDIFF TIME_FORMAT \
    TIME_TO_SEC TO_BASE64 TO_DAYS TO_SECONDS TRIM TRUNCATE UCASE UNCOMPRESS UNHEX UNIX_TIMESTAMP UPPER USER UTC_DATE UTC_TIME \
    UTC_TIMESTAMP UUID UUID_SHORT UUID_TO_BIN VALUE VARIANCE VAR_POP VAR_SAMP VERSION WEEK WEEKDAY WEEKOFYEAR WEIGHT_STRING YEAR \
    YEARWEEK";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace()
        .any(|one| one.eq_ignore_ascii_case(word))
}

/// Whether a statement may be explained. The error says why not.
pub fn check(text: &str) -> Result<Explainable, &'static str> {
    let unclear = "where its texts end depends on sql_mode or on the server's version";
    let tokens = tokenize(text).ok_or(unclear)?;
    let mut tokens: Vec<Token> = tokens
        .into_iter()
        .filter(|token| token.kind != Kind::Comment)
        .collect();
    let is_sign = |token: &Token, sign: &str| token.kind == Kind::Sign && token.text(text) == sign;
    if tokens.last().is_some_and(|last| is_sign(last, ";")) {
        tokens.pop();
    }
    let statement = Statement { text, tokens };
    let kind = statement.kind()?;
    statement.check_tokens()?;
    statement.check_calls(kind)?;
    Ok(kind)
}

struct Statement<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl Statement<'_> {
    fn is_word(&self, at: usize, word: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.is_word(self.text, word))
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.kind == Kind::Sign && token.text(self.text) == sign)
    }

    /// The first token from `from` on, outside of parentheses, that is one of these words.
    fn find_word(&self, from: usize, words: &[&str]) -> Option<usize> {
        let mut depth = 0_usize;
        (from..self.tokens.len()).find(|at| {
            match self.is_sign(*at, "(") {
                true => depth += 1,
                false if self.is_sign(*at, ")") => depth = depth.saturating_sub(1),
                false => {}
            }
            depth == 0 && words.iter().any(|word| self.is_word(*at, word))
        })
    }

    fn kind(&self) -> Result<Explainable, &'static str> {
        let mut first = 0;
        while self.is_sign(first, "(") {
            first += 1;
        }
        let other = Err("it is no SELECT, UPDATE, DELETE or INSERT ... SELECT");
        let is = |at: usize, words: &[&str]| words.iter().any(|word| self.is_word(at, word));
        if is(first, &["WITH"]) {
            return match self.find_word(first, &["SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE"])
            {
                Some(at) if self.is_word(at, "SELECT") => Ok(Explainable::Select),
                Some(at) if is(at, &["UPDATE", "DELETE"]) => Ok(Explainable::Change),
                _ => other,
            };
        }
        if self.is_word(first, "SELECT") {
            return Ok(Explainable::Select);
        }
        if first == 0 && is(0, &["UPDATE", "DELETE"]) {
            return Ok(Explainable::Change);
        }
        if first == 0 && self.is_word(0, "INSERT") {
            let select = (1..self.tokens.len()).find(|at| self.is_word(*at, "SELECT"));
            let values = self.find_word(1, &["VALUES", "VALUE", "SET", "TABLE"]);
            if let Some(select) = select
                && values.is_none_or(|values| values > select)
            {
                return Ok(Explainable::Change);
            }
        }
        other
    }

    /// Refuses what locks, writes files or variables, or has no value here.
    fn check_tokens(&self) -> Result<(), &'static str> {
        let is_insert = self.is_word(0, "INSERT");
        let mut intos = 0;
        for at in 0..self.tokens.len() {
            if self.is_sign(at, ";") {
                return Err("it is more than one statement");
            }
            if self.is_sign(at, "?") {
                return Err("it has placeholders, so it is of a prepared statement");
            }
            let is_next = |words: &[&str]| words.iter().any(|word| self.is_word(at + 1, word));
            if self.is_sign(at, "@")
                && !self.is_sign(at + 1, "@")
                && (at == 0 || !self.is_sign(at - 1, "@"))
            {
                return Err("it uses a variable of its session");
            }
            if self.is_word(at, "INTO") {
                intos += 1;
                if !is_insert || intos > 1 {
                    return Err("it writes its result into a file or a variable");
                }
            }
            let locks = self.is_word(at, "FOR") && is_next(&["UPDATE", "SHARE"])
                || self.is_word(at, "LOCK") && is_next(&["IN"]);
            if locks {
                return Err("it locks the rows that it reads");
            }
            let has_effects =
                self.is_word(at, "PROCEDURE") || self.is_word(at, "VALUE") && is_next(&["FOR"]);
            if has_effects {
                return Err("it may call a stored function, or one that has effects");
            }
        }
        Ok(())
    }

    /// Refuses calls of functions that are stored, or that have effects.
    fn check_calls(&self, kind: Explainable) -> Result<(), &'static str> {
        let is_insert = kind == Explainable::Change && self.is_word(0, "INSERT");
        let mut is_in_hint = false;
        let mut calls = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            is_in_hint ^= token.kind == Kind::HintMark;
            let is_call = !is_in_hint && at > 0 && self.is_sign(at, "(");
            let name = &self.tokens[at.saturating_sub(1)];
            if !is_call || !matches!(name.kind, Kind::Word | Kind::QuotedName | Kind::Text) {
                continue;
            }
            calls += 1;
            // INSERT INTO t (a, b) or INSERT INTO t (SELECT 1)
            if is_insert && calls == 1 && self.is_behind_table(at) {
                continue;
            }
            let word = name.text(self.text);
            let is_qualified = at > 1 && self.is_sign(at - 2, ".");
            let is_harmless = name.kind == Kind::Word
                && !is_qualified
                && (is_in(KEYWORDS, word) || name.end == token.start && is_in(FUNCTIONS, word));
            if !is_harmless {
                return Err("it may call a stored function, or one that has effects");
            }
        }
        Ok(())
    }

    /// Whether a parenthesis is behind the name of the table into which rows are inserted.
    fn is_behind_table(&self, at: usize) -> bool {
        (1..at).all(|before| {
            let is_name = matches!(self.tokens[before].kind, Kind::Word | Kind::QuotedName);
            is_name && !self.is_word(before, "SELECT") || self.is_sign(before, ".")
        })
    }
}

/// The names in a statement that may be tables, with their schemas if it has these.
pub fn possible_tables(text: &str) -> Vec<(Option<String>, String)> {
    let tokens: Vec<Token> = (tokenize(text).unwrap_or_default().into_iter())
        .filter(|token| token.kind != Kind::Comment)
        .collect();
    let name = |token: &Token| match token.kind {
        Kind::Word => Some(token.text(text).to_owned()),
        Kind::QuotedName | Kind::Text => {
            let quoted = token.text(text);
            let quote = &quoted[..1];
            Some(quoted[1..quoted.len() - 1].replace(&quote.repeat(2), quote))
        }
        _ => None,
    };
    let is_dot = |token: &Token| token.text(text) == ".";
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(table) = name(token) else { continue };
        if is_in(KEYWORDS, &table) {
            continue;
        }
        let schema = match at.checked_sub(2) {
            Some(before) if is_dot(&tokens[at - 1]) => name(&tokens[before]),
            _ => None,
        };
        if !names.contains(&(schema.clone(), table.clone())) {
            names.push((schema, table));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_only_read_or_change_tables_are_explained() {
        for text in [
            "SELECT * FROM t WHERE a IN (1, 2) AND (b = 'x' OR NOT (c)) ORDER BY d LIMIT 3;",
            "(SELECT 1) UNION (SELECT COUNT(*) FROM `a b`.t)",
            "select max(a), date_format(b, '%Y') from t use index (i) group by b having (max(a) > 1)",
            "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
            "SELECT /*+ JOIN_ORDER(a, b) */ 1 FROM a JOIN b USING (id)",
            "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t",
            "SELECT @@version, CAST(a AS DECIMAL(10, 2)) FROM t /* c */",
        ] {
            assert_eq!(check(text), Ok(Explainable::Select), "{text}");
        }
        for text in [
            "UPDATE t SET a = 1 WHERE b IN (SELECT c FROM u)",
            "DELETE t FROM t JOIN u USING (a)",
            "INSERT INTO t (a, `b`) SELECT a, b FROM u ON DUPLICATE KEY UPDATE a = VALUES(a)",
            "INSERT IGNORE INTO db.t SELECT * FROM u",
            "INSERT t (SELECT * FROM u)",
            "WITH c AS (SELECT 1) DELETE FROM t",
        ] {
            assert_eq!(check(text), Ok(Explainable::Change), "{text}");
        }
    }

    #[test]
    fn all_others_are_not() {
        for text in [
            "",
            "CREATE TABLE t (a INT)",
            "DROP TABLE t",
            "ALTER TABLE t ADD a INT",
            "CREATE TABLE t SELECT 1",
            "CALL p()",
            "SET a = 1",
            "EXPLAIN SELECT 1",
            "ANALYZE SELECT 1",
            "INSERT INTO t VALUES (1, (SELECT 1))",
            "INSERT INTO t SET a = 1",
            "REPLACE INTO t SELECT 1",
            "TABLE t",
            "VALUES ROW(1)",
            "DO 1",
            "LOAD DATA INFILE 'x' INTO TABLE t",
            "SHOW TABLES",
            "WITH c AS (SELECT 1) INSERT INTO t SELECT 1",
            "HANDLER t OPEN",
            "(UPDATE t SET a = 1)",
            "BEGIN",
            "EXECUTE s",
            "GRANT SELECT ON t TO u",
            "CREATE VIEW v AS SELECT 1",
            "TRUNCATE t",
            "OPTIMIZE TABLE t",
        ] {
            assert_eq!(
                check(text),
                Err("it is no SELECT, UPDATE, DELETE or INSERT ... SELECT"),
                "{text}"
            );
        }
        for text in [
            "SELECT f(a) FROM t",
            "SELECT db.abs(a) FROM t",
            "SELECT `f`(1)",
            "SELECT \"f\"(1)",
            "SELECT SLEEP(1)",
            "SELECT GET_LOCK('a', 1)",
            "SELECT BENCHMARK(1, 1)",
            "SELECT COUNT (a) FROM t",
            "SELECT NEXT VALUE FOR s",
            "SELECT NEXTVAL(s)",
            "SELECT LOAD_FILE('x')",
            "SELECT LAST_INSERT_ID(5)",
            "UPDATE t SET a = f(1)",
            "INSERT INTO t (a) SELECT f(1)",
            "INSERT INTO t (f(1)) SELECT 1",
            "SELECT 1 FROM t PROCEDURE ANALYSE()",
            "SELECT abs /* c */ (1)",
        ] {
            let why = "it may call a stored function, or one that has effects";
            assert_eq!(check(text), Err(why), "{text}");
        }
        for (text, why) in [
            (
                "SELECT * FROM t FOR UPDATE",
                "it locks the rows that it reads",
            ),
            (
                "SELECT * FROM t LOCK IN SHARE MODE",
                "it locks the rows that it reads",
            ),
            (
                "SELECT * FROM t FOR SHARE SKIP LOCKED",
                "it locks the rows that it reads",
            ),
            (
                "SELECT * INTO OUTFILE 'x' FROM t",
                "it writes its result into a file or a variable",
            ),
            ("SELECT 1 INTO @a", "it uses a variable of its session"),
            ("SELECT @a := 1", "it uses a variable of its session"),
            ("SELECT 1; DROP TABLE t", "it is more than one statement"),
            (
                "SELECT a FROM t WHERE b = ?",
                "it has placeholders, so it is of a prepared statement",
            ),
        ] {
            let refused = check(text);
            assert!(refused.is_err(), "{text}");
            assert!(
                refused == Err(why) || text.contains("INTO @"),
                "{text}: {refused:?}"
            );
        }
        // With NO_BACKSLASH_ESCAPES the second statement would not be in a text.
        assert!(check("SELECT 'a\\' ; DROP TABLE t; -- '").is_err());
        assert!(check("SELECT /*! 1 */").is_err());
    }

    #[test]
    fn names_of_tables_are_listed() {
        let one = |schema: Option<&str>, name: &str| (schema.map(str::to_owned), name.to_owned());
        let names = possible_tables("UPDATE `a``b`.t JOIN u SET t.x = 1 /* v */");
        for expected in [one(Some("a`b"), "t"), one(None, "u"), one(Some("t"), "x")] {
            assert!(names.contains(&expected), "{names:?}");
        }
        assert!(!names.contains(&one(None, "v")));
    }
}
