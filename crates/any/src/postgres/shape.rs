//! A statement's normalised text, the digest's: `SELECT * FROM t WHERE id = ?`.
//!
//! Keywords are in upper case, other words in lower case, as PostgreSQL reads them. A literal and a parameter
//! become `?`, so that a statement has one digest in both protocols. Lists fold as in MySQL's digests:
//!
//! | read | written |
//! |---|---|
//! | sign, literal, where an expression starts | `?` |
//! | `?` , `?` | `?, ...` |
//! | ( `?, ...` ) | `(...)` |
//! | `(?)` , `(?)` and `(...)` , `(...)` | the row, then `/* , ... */` |
//! | IN `(?)` and IN `(...)` | `IN (...)` |

use super::tokens::{Token, Tokens};

/// The longest text. Statements that differ only behind it have the same digest.
pub const MAX_SHAPE_BYTES: usize = 1024;

/// Words in upper case: those that PostgreSQL reserves, and what statements begin with.
const KEYWORDS: &[&str] = &[
    "abort",
    "add",
    "all",
    "alter",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "begin",
    "between",
    "binary",
    "both",
    "by",
    "call",
    "cascade",
    "case",
    "cast",
    "check",
    "checkpoint",
    "close",
    "cluster",
    "collate",
    "collation",
    "column",
    "comment",
    "commit",
    "concurrently",
    "conflict",
    "constraint",
    "copy",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "cursor",
    "database",
    "deallocate",
    "declare",
    "default",
    "deferrable",
    "delete",
    "desc",
    "discard",
    "distinct",
    "do",
    "drop",
    "else",
    "end",
    "except",
    "execute",
    "exists",
    "explain",
    "extension",
    "false",
    "fetch",
    "filter",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "function",
    "grant",
    "group",
    "having",
    "if",
    "ilike",
    "in",
    "index",
    "initially",
    "inner",
    "insert",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "key",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "listen",
    "load",
    "localtime",
    "localtimestamp",
    "lock",
    "materialized",
    "merge",
    "move",
    "natural",
    "not",
    "nothing",
    "notify",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "partition",
    "password",
    "placing",
    "prepare",
    "primary",
    "procedure",
    "recursive",
    "references",
    "refresh",
    "reindex",
    "release",
    "reset",
    "returning",
    "revoke",
    "right",
    "role",
    "rollback",
    "savepoint",
    "schema",
    "select",
    "session_user",
    "set",
    "show",
    "similar",
    "some",
    "start",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "transaction",
    "trigger",
    "true",
    "truncate",
    "union",
    "unique",
    "unlisten",
    "update",
    "user",
    "using",
    "vacuum",
    "values",
    "variadic",
    "view",
    "when",
    "where",
    "window",
    "with",
];

/// The longest of them.
const MAX_KEYWORD_BYTES: usize = 17;

/// What a written token is for those that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Keyword,
    /// IN
    In,
    /// IS, NOT or SET: NULL, TRUE and FALSE are no values behind them.
    Test,
    Name,
    /// `?`
    Value,
    /// `?, ...`
    Values,
    /// `(?)`, and several of them
    Row,
    Rows,
    /// `(...)`, and several of them
    WideRow,
    WideRows,
    Sign,
    Comma,
    Open,
    OpenBracket,
    Close,
    /// Nothing separates it from its neighbours: `.` and `::`.
    Joint,
    Operator,
}

/// Appends the normalised text of a statement. `has_passwords`: what follows PASSWORD is a value, also if its
/// quotes are wrong.
pub fn write(text: Tokens, has_passwords: bool, into: &mut String) {
    let mut writer = Writer {
        tokens: Vec::with_capacity(into.capacity() / 2),
        into,
        has_passwords,
    };
    for token in text {
        if !writer.write(token) {
            return;
        }
    }
}

struct Writer<'s> {
    has_passwords: bool,
    into: &'s mut String,
    /// What is written, and where each token begins.
    tokens: Vec<(Kind, usize)>,
}

impl Writer<'_> {
    /// Writes a token. False: the text is as long as it may be.
    fn write(&mut self, token: Token) -> bool {
        let start = self.into.len();
        match token {
            Token::Word(_) | Token::Quoted(_) if self.is_behind_password() => self.value(),
            Token::Word(word) => self.word(word),
            Token::Quoted(name) => {
                let plain = name[1..].trim_end_matches('"');
                match is_plain_name(plain) && name.starts_with('"') {
                    true => self.push(Kind::Name, plain),
                    false => self.push(Kind::Name, name),
                }
            }
            Token::Literal | Token::Parameter => self.value(),
            Token::Symbol(symbol) => self.push(kind_of_symbol(symbol), symbol),
        }
        self.fold();
        if self.into.len() <= MAX_SHAPE_BYTES {
            return true;
        }
        self.into.truncate(start.min(self.into.len()));
        self.into.push_str("...");
        false
    }

    fn is_behind_password(&self) -> bool {
        self.has_passwords
            && self.tokens.last().is_some_and(|&(kind, start)| {
                kind == Kind::Keyword && self.into[start..] == *"PASSWORD"
            })
    }

    fn last(&self) -> Option<Kind> {
        self.tokens.last().map(|&(kind, _)| kind)
    }

    fn push(&mut self, kind: Kind, text: &str) {
        if self.needs_space(kind) {
            self.into.push(' ');
        }
        self.tokens.push((kind, self.into.len()));
        self.into.push_str(text);
    }

    fn needs_space(&self, kind: Kind) -> bool {
        let Some(last) = self.last() else {
            return false;
        };
        !matches!(
            (last, kind),
            (Kind::Open | Kind::OpenBracket | Kind::Joint, _)
                | (
                    _,
                    Kind::Comma | Kind::Close | Kind::Joint | Kind::OpenBracket
                )
                | (Kind::Name, Kind::Open)
        )
    }

    fn word(&mut self, word: &str) {
        let mut lower = [0; MAX_KEYWORD_BYTES];
        let keyword = lower.get_mut(..word.len()).and_then(|lower| {
            lower.copy_from_slice(word.as_bytes());
            lower.make_ascii_lowercase();
            let compare = |keyword: &&str| keyword.as_bytes().cmp(lower);
            KEYWORDS.binary_search_by(compare).ok()
        });
        let Some(keyword) = keyword.map(|at| KEYWORDS[at]) else {
            self.push(Kind::Name, "");
            return self
                .into
                .extend(word.chars().map(|char| char.to_ascii_lowercase()));
        };
        // A column's name may be a keyword.
        let kind = match keyword {
            _ if self.last() == Some(Kind::Joint) => Kind::Name,
            "null" | "true" | "false" if self.last() != Some(Kind::Test) => return self.value(),
            "in" => Kind::In,
            "is" | "not" | "set" => Kind::Test,
            _ => Kind::Keyword,
        };
        let start = self.into.len();
        self.push(kind, keyword);
        if kind != Kind::Name {
            self.into[start..].make_ascii_uppercase();
        }
    }

    /// A value, which takes the sign before it where an expression starts.
    fn value(&mut self) {
        if let Some(&(Kind::Sign, start)) = self.tokens.last() {
            let before = self.tokens.iter().rev().nth(1);
            let ends_expression = |&(kind, _): &(Kind, usize)| {
                !matches!(
                    kind,
                    Kind::Keyword
                        | Kind::In
                        | Kind::Test
                        | Kind::Comma
                        | Kind::Open
                        | Kind::OpenBracket
                        | Kind::Operator
                )
            };
            if !before.is_some_and(ends_expression) {
                self.tokens.pop();
                self.into.truncate(start);
                self.into.truncate(self.into.trim_end().len());
            }
        }
        self.push(Kind::Value, "?");
    }

    /// Folds a list that the last token continues or ends.
    fn fold(&mut self) {
        use Kind::*;
        let mut last = [None; 4];
        for (place, &token) in last.iter_mut().zip(self.tokens.iter().rev()) {
            *place = Some(token);
        }
        let kinds = last.map(|token| token.map(|(kind, _)| kind));
        let start = |back: usize| last[back].map_or(0, |(_, start)| start);
        match kinds {
            [Some(Value), Some(Comma), Some(Value | Values), _] => {
                self.replace(3, start(2), Values, "?, ...");
            }
            [Some(Close), Some(Value | Values), Some(Open), Some(In)] => {
                self.replace(3, start(2), Operator, "(...)");
            }
            [Some(Close), Some(Value), Some(Open), _] => {
                self.replace(3, start(2), Row, "(?)");
                self.fold();
            }
            [Some(Close), Some(Values), Some(Open), _] => {
                self.replace(3, start(2), WideRow, "(...)");
                self.fold();
            }
            [Some(Row), Some(Comma), Some(Row | Rows), _] => {
                self.replace(3, start(2), Rows, "(?) /* , ... */");
            }
            [Some(WideRow), Some(Comma), Some(WideRow | WideRows), _] => {
                self.replace(3, start(2), WideRows, "(...) /* , ... */");
            }
            _ => {}
        }
    }

    /// Replaces the last tokens, which begin at `start`, by one.
    fn replace(&mut self, count: usize, start: usize, kind: Kind, text: &str) {
        self.tokens.truncate(self.tokens.len() - count);
        self.into.truncate(start);
        self.into.push_str(text);
        self.tokens.push((kind, start));
    }
}

fn kind_of_symbol(symbol: &str) -> Kind {
    match symbol {
        "," => Kind::Comma,
        "(" => Kind::Open,
        "[" => Kind::OpenBracket,
        ")" | "]" | ";" => Kind::Close,
        "." | "::" => Kind::Joint,
        "+" | "-" => Kind::Sign,
        _ => Kind::Operator,
    }
}

/// Whether a quoted name is the same without quotes.
fn is_plain_name(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_lowercase() || char == '_')
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && KEYWORDS.binary_search(&name).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        let mut shape = String::new();
        write(Tokens::new(text, false), false, &mut shape);
        shape
    }

    #[test]
    fn passwords_without_quotes_are_values() {
        for password in ["geheim", "\"geheim\"", "'geheim'", "geheim'"] {
            let mut shape = String::new();
            let text = format!("ALTER ROLE a ENCRYPTED PASSWORD {password}");
            write(Tokens::new(&text, false), true, &mut shape);
            let expected = "ALTER ROLE a encrypted PASSWORD ?";
            assert_eq!(
                shape.trim_end_matches(" ?"),
                expected.trim_end_matches(" ?")
            );
        }
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
        assert!(KEYWORDS.iter().all(|word| word.len() <= MAX_KEYWORD_BYTES));
    }

    #[test]
    fn values_names_and_lists_are_normalised() {
        for (text, expected) in [
            ("select 1", "SELECT ?"),
            (
                "SELECT  abalance\nFROM pgbench_accounts WHERE aid = $1;",
                "SELECT abalance FROM pgbench_accounts WHERE aid = ?;",
            ),
            (
                "SELECT T.\"id\", t.\"Id\", t.USER FROM \"t\" AS T",
                "SELECT t.id, t.\"Id\", t.user FROM t AS t",
            ),
            (
                "select count(*), max ( x ) from s.t",
                "SELECT count(*), max(x) FROM s.t",
            ),
            (
                "SELECT a FROM t WHERE b IN (1,2,$3) AND c in ('x')",
                "SELECT a FROM t WHERE b IN (...) AND c IN (...)",
            ),
            (
                "INSERT INTO t(a, b) VALUES (1, 'x'), (2, E'\\'y'), (-3, NULL)",
                "INSERT INTO t(a, b) VALUES (...) /* , ... */",
            ),
            (
                "INSERT INTO t VALUES (1), (2)",
                "INSERT INTO t VALUES (?) /* , ... */",
            ),
            (
                "SELECT a-1, -1, a = -1, a -$1::int, (-5)",
                "SELECT a - ?, ..., a = ?, a - ?::int, (?)",
            ),
            (
                "SELECT '1'::int, CAST('2' AS date), interval '1 day'",
                "SELECT ?::int, CAST (? AS date), interval ?",
            ),
            (
                "SELECT x FROM t WHERE a IS NULL AND b IS NOT TRUE AND c = NULL",
                "SELECT x FROM t WHERE a IS NULL AND b IS NOT TRUE AND c = ?",
            ),
            (
                "SELECT array[1,2,3][1], x[2]",
                "SELECT ARRAY[?, ...][?], x[?]",
            ),
            (
                "SELECT $f$ secret $f$, U&'d' /* x /* y */ */",
                "SELECT ?, ...",
            ),
            ("ALTER ROLE x PASSWORD 'geheim'", "ALTER ROLE x PASSWORD ?"),
            ("select 'no end", "SELECT ?"),
            (
                "SELECT data->>'k' FROM t WHERE data @> '{}'",
                "SELECT data ->> ? FROM t WHERE data @> ?",
            ),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_long_lists_are_not() {
        let columns = shape(&format!("SELECT {}", vec!["a_column"; 1000].join(", ")));
        assert!(columns.ends_with("a_column,..."), "{columns}");
        assert!(columns.len() <= MAX_SHAPE_BYTES + 3);
        let values = shape(&format!("SELECT x IN ({})", vec!["12"; 1000].join(", ")));
        assert_eq!(values, "SELECT x IN (...)");
    }
}
