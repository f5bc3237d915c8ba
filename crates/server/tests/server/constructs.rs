//! Every recursive construct of the grammar. `tare sql` is tested with the same.

/// A construct with this number of levels.
pub fn nested(construct: &str, levels: usize) -> String {
    let mut text = String::new();
    for (i, part) in construct.split(['{', '}']).enumerate() {
        match i % 2 {
            0 => text.push_str(part),
            _ => text.push_str(&part.repeat(levels)),
        }
    }
    text
}

/// Every recursive construct of the grammar, with the number of levels that must be answered. The text in
/// braces is repeated: `{before}inner{behind}` nests, and a single `{link}` chains.
pub const CONSTRUCTS: [(&str, usize); 48] = [
    ("SELECT 1{ UNION ALL SELECT 1}", 10_000),
    ("SELECT 1{ UNION SELECT 1}", 10_000),
    ("SELECT n FROM t{ UNION ALL SELECT n FROM t}", 10_000),
    ("{(}SELECT 1{ UNION SELECT 1)}", 10),
    ("SELECT 1{+1}", 10_000),
    ("SELECT 1{-1}", 10_000),
    ("SELECT n{+1} FROM t", 10_000),
    ("SELECT 1{*1}", 1000),
    ("SELECT 1{/1}", 1000),
    ("SELECT 1{%2}", 1000),
    ("SELECT 1{ DIV 1}", 1000),
    ("SELECT 1{=1}", 1000),
    ("SELECT 1{<=>1}", 1000),
    ("SELECT 1{ LIKE 1}", 10),
    ("SELECT 1{ IS NULL}", 10),
    ("SELECT 1{ XOR 1}", 1000),
    ("SELECT 1{^1}", 1000),
    ("SELECT 1{<<0}", 1000),
    ("SELECT 'a'{ COLLATE utf8mb4_bin}", 0),
    ("SELECT JSON_OBJECT(){->'$'}", 0),
    ("SELECT 1{ AND 1}", 10_000),
    ("SELECT 1{ OR 1}", 10_000),
    ("SELECT 1{||1}", 1000),
    ("SELECT n FROM t WHERE n=1{ AND n=1}", 10_000),
    ("SELECT n FROM t WHERE n=1{ OR n=2}", 10_000),
    ("DELETE FROM t WHERE n=7{ OR n=8}", 10_000),
    ("UPDATE t SET n=n{+0}", 1000),
    ("SELECT {(}1{)}", 100),
    ("{(}SELECT 1{)}", 100),
    ("INSERT INTO t VALUES ({(}1{)})", 100),
    ("SELECT {(SELECT }1{)}", 50),
    ("SELECT {EXISTS (SELECT }1{)}", 50),
    ("SELECT {1 IN (}1{)}", 50),
    ("SELECT {1 IN (SELECT }1{)}", 50),
    ("SELECT {CASE WHEN }1{ THEN 1 END}", 50),
    ("SELECT {CASE WHEN 0 THEN 1 ELSE }1{ END}", 50),
    ("SELECT {ABS(}1{)}", 100),
    ("SELECT {CONCAT('', }1{)}", 100),
    ("SELECT {CAST(}1{ AS SIGNED)}", 50),
    ("SELECT {NOT }1{}", 100),
    ("SELECT {- }1{}", 100),
    ("SELECT {! }1{}", 100),
    ("SELECT '2020-01-01'{ + INTERVAL 1 DAY}", 100),
    ("SELECT COUNT(*) FROM {(}t{)}", 0),
    ("SELECT COUNT(*) FROM t{ CROSS JOIN (SELECT 1) d}", 0),
    ("SELECT 1 FROM {t JOIN }t{ ON 1}", 0),
    ("SELECT * FROM {(SELECT * FROM }t{) d}", 50),
    ("{WITH c AS (}SELECT 1{) SELECT * FROM c}", 50),
];

/// The permitted results: an answer, or one of these errors.
pub const REFUSED: [u16; 8] = [0, 1064, 1066, 1116, 1436, 1248, 1690, 1292];
