//! Decides which of a test's statements go to Tare's tables, and which to the server.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// The destination of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Server,
    Tare,
    /// Both. The server executes it as part of its load; the client gets Tare's answer.
    Both,
}

/// Names of tables and views that were created from Tare's tables, by any connection.
#[derive(Debug, Default)]
pub struct Copies(Mutex<HashSet<String>>);

/// State of a connection that affects the routing of its statements.
#[derive(Debug, Default)]
pub struct RoutingState {
    database: String,
    /// Prepared statements for Tare, with the variables that each has.
    prepared: HashMap<String, Vec<String>>,
    /// Variables that save an sql_mode. They are not copied, because the server's mode differs from Tare's.
    modes: HashSet<String>,
    last: Option<To>,
}

/// Whether a schema is in Tare's tables.
fn is_tare_schema(schema: &str) -> bool {
    matches!(schema, "performance_schema" | "sys")
}

/// Statements that the server also executes on its own Performance Schema, so that they are counted.
const LOAD: [&str; 16] = [
    "select",
    "with",
    "insert",
    "update",
    "delete",
    "truncate",
    "explain",
    "show",
    "prepare",
    "execute",
    "deallocate",
    "create",
    "drop",
    "lock",
    "unlock",
    "flush",
];

impl RoutingState {
    /// The database that a USE statement selects.
    pub fn used_database(sql: &str) -> Option<String> {
        let lower = sql.to_lowercase();
        let mut words = words(&lower);
        (words.next()? == "use").then(|| words.next().unwrap_or_default())
    }

    pub fn set_database(&mut self, database: String) {
        self.database = database;
    }

    /// Routes a statement. `value` reads a user variable of the server.
    pub fn route(
        &mut self,
        sql: &str,
        copies: &Copies,
        value: impl FnOnce(&str) -> Option<String>,
    ) -> To {
        let lower = sql.to_lowercase();
        let mut words = words(&lower);
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        let is_about_the_last = first == "show" && matches!(&*second, "warnings" | "errors");
        if is_about_the_last {
            return self.last.map_or(To::Server, |to| match to {
                To::Both => To::Tare,
                to => to,
            });
        }
        let is_tare_schema = match &*first {
            // The sql_mode applies to both.
            "set" if lower.contains("sql_mode") => {
                if lower.contains("@@") {
                    let assigned = lower.split_once('=').map_or("", |(before, _)| before);
                    self.modes.extend(variables(assigned));
                }
                true
            }
            // Resets counters of losses.
            "flush" if second == "status" => true,
            "grant" | "revoke" | "use" | "flush" | "rename" => false,
            // Variables of the server.
            "set" if !lower.contains("performance_schema.") && !lower.contains("sys.") => false,
            "create" | "drop" | "alter" if is_server_object(&lower) => false,
            "update" if second.starts_with("mysql.") => false,
            // Comments on columns, which differ between servers.
            "select" if selects_comments(&lower) => false,
            "execute" | "deallocate" => {
                let name = if first == "execute" {
                    second.clone()
                } else {
                    words.next().unwrap_or_default()
                };
                self.prepared.contains_key(&name)
            }
            "prepare" => {
                let of = lower
                    .split_once('@')
                    .map(|(_, name)| format!("@{}", word(name)));
                let text = match of.filter(|_| !lower.contains(['\'', '"'])) {
                    Some(variable) => value(&variable).unwrap_or_default().to_lowercase(),
                    None => lower.clone(),
                };
                let is_tare_schema = self.reads_tare_tables(&text, copies);
                if is_tare_schema {
                    self.prepared.insert(second.clone(), variables(&text));
                }
                is_tare_schema
            }
            _ => self.reads_tare_tables(&lower, copies),
        };
        let to = match is_tare_schema {
            false => To::Server,
            true if LOAD.contains(&&*first) || lower.contains("sql_mode") => To::Both,
            true => To::Tare,
        };
        if first == "create" && is_tare_schema {
            copies.add(&lower);
        }
        self.last = Some(to);
        to
    }

    fn reads_tare_tables(&self, lower: &str, copies: &Copies) -> bool {
        let of_the_database = is_tare_schema(&self.database) && !lower.contains("test.");
        of_the_database
            || lower.contains("performance_schema")
            || lower.contains("sys.")
            || lower.contains("`sys`.")
            || copies.is_named_in(lower)
    }

    /// The user variables that a statement reads or sets.
    pub fn variables(&self, sql: &str) -> Vec<String> {
        let lower = sql.to_lowercase();
        let mut all = variables(&lower);
        let mut words = words(&lower);
        if words.next().as_deref() == Some("execute") {
            let name = words.next().unwrap_or_default();
            all.extend(self.prepared.get(&name).into_iter().flatten().cloned());
        }
        all.retain(|name| !self.modes.contains(name));
        all.sort();
        all.dedup();
        all
    }
}

/// Whether CREATE, DROP or ALTER is about programs, users or databases, which only the server has.
fn is_server_object(lower: &str) -> bool {
    let kinds = [
        "user",
        "role",
        "procedure",
        "function",
        "trigger",
        "event",
        "database",
        "schema",
    ];
    words(lower)
        .skip(1)
        .take(6)
        .any(|word| kinds.contains(&&*word))
}

fn selects_comments(lower: &str) -> bool {
    lower.contains("column_comment") && lower.contains("information_schema.columns")
}

impl Copies {
    fn add(&self, lower: &str) {
        let name = words(lower).skip(1).find(|word| {
            !matches!(
                &**word,
                "temporary" | "table" | "view" | "if" | "not" | "exists" | "or" | "replace"
            )
        });
        if let Some(name) = name {
            let name = name.rsplit('.').next().unwrap_or(&name).to_owned();
            self.0.lock().expect("no one panicked").insert(name);
        }
    }

    fn is_named_in(&self, lower: &str) -> bool {
        let copies = self.0.lock().expect("no one panicked");
        if copies.is_empty() {
            return false;
        }
        words(lower).any(|word| word.split('.').any(|part| copies.contains(part)))
    }
}

/// The words of a statement without comments. A qualified name is one word.
fn words(sql: &str) -> impl Iterator<Item = String> + use<'_> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|c: char| !is_word_char(c) && c != '/' && c != '#');
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/").map_or("", |(_, after)| after);
            } else if rest.starts_with('#') {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
            } else if let Some(after) = rest.strip_prefix('/') {
                rest = after;
            } else {
                break;
            }
        }
        let first = word(rest);
        rest = &rest[first.len()..];
        let bare = first.replace('`', "");
        (!bare.is_empty()).then_some(bare)
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '`')
}

fn word(text: &str) -> &str {
    &text[..text.find(|c| !is_word_char(c)).unwrap_or(text.len())]
}

/// The user variables, `@name`, in a statement, without `@@name` and hosts of accounts.
fn variables(lower: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in lower.match_indices('@') {
        let before = lower[..at].chars().next_back();
        let name = word(&lower[at + 1..]);
        let is_an_account =
            before.is_some_and(|c| is_word_char(c) || matches!(c, '\'' | '"' | '@'));
        if !is_an_account && !name.is_empty() {
            names.push(format!("@{name}"));
        }
    }
    names
}

/// Inserts the id of the server's connection into a statement, because Tare's tables see another connection.
pub fn with_connection_id(sql: &str, connection: u32) -> String {
    let mut text = sql.to_owned();
    for (call, with) in [
        ("connection_id()", format!("{connection}")),
        (
            "ps_current_thread_id()",
            format!("ps_thread_id({connection})"),
        ),
        ("ps_thread_id(null)", format!("ps_thread_id({connection})")),
    ] {
        while let Some(at) = text.to_ascii_lowercase().find(call) {
            text.replace_range(at..at + call.len(), &with);
        }
    }
    text
}
