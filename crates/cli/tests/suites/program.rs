//! Stored procedures of tests that read Tare's tables. Within the server they would read its own
//! tables, so the relay executes their statements one by one, and the server executes the procedure as
//! part of its load.
//!
//! Only DECLARE, SET, IF and plain statements are supported. Other procedures run only on the server.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// Procedures by name.
#[derive(Debug, Default)]
pub struct Programs(Mutex<HashMap<String, Program>>);

/// A procedure's parameters and steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub parameters: Vec<String>,
    pub body: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Declare(Vec<String>),
    Set(String, String),
    If {
        condition: String,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Statement(String),
}

impl Programs {
    /// Stores a procedure if all of its steps are supported.
    pub fn create(&self, sql: &str) {
        if let Some((name, program)) = parse(sql) {
            self.0
                .lock()
                .expect("no one panicked")
                .insert(name, program);
        }
    }

    /// The procedure that a statement calls, with its arguments, if it only reads Tare's tables.
    pub fn called(&self, sql: &str) -> Option<(Program, Vec<String>)> {
        let call = self.find(sql)?;
        self.is_reader(&call.0.body, 0).then_some(call)
    }

    fn is_reader(&self, steps: &[Step], depth: usize) -> bool {
        steps.iter().all(|step| match step {
            Step::Declare(_) | Step::Set(..) => true,
            Step::If {
                then, otherwise, ..
            } => self.is_reader(then, depth) && self.is_reader(otherwise, depth),
            Step::Statement(sql) => {
                let lower = sql.to_ascii_lowercase();
                let called = || {
                    self.find(sql)
                        .is_some_and(|(inner, _)| self.is_reader(&inner.body, depth + 1))
                };
                lower.contains("performance_schema")
                    || lower.starts_with("select") && !lower.contains("from")
                    || depth < 8 && called()
            }
        })
    }

    fn find(&self, sql: &str) -> Option<(Program, Vec<String>)> {
        let sql = sql.trim();
        let rest = sql
            .get(..5)
            .filter(|start| start.eq_ignore_ascii_case("call "))
            .map(|_| &sql[5..])?;
        let (name, arguments) = match rest.split_once('(') {
            Some((name, after)) => (name, after.rsplit_once(')')?.0),
            None => (rest, ""),
        };
        let programs = self.0.lock().expect("no one panicked");
        let program = programs.get(&bare_name(name))?.clone();
        let arguments = split(arguments, ',');
        (arguments.len() == program.parameters.len()).then_some((program, arguments))
    }
}

fn bare_name(name: &str) -> String {
    let name = name
        .trim()
        .trim_end_matches(';')
        .replace('`', "")
        .to_lowercase();
    name.rsplit('.')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Parses CREATE PROCEDURE name (parameters) BEGIN ... END.
fn parse(sql: &str) -> Option<(String, Program)> {
    let sql = sql.trim().trim_end_matches(';').trim();
    let lower = sql.to_ascii_lowercase();
    let rest = lower.strip_prefix("create procedure ")?;
    let start = sql.len() - rest.len();
    let open = start + rest.find('(')?;
    let close = open + closing_parenthesis(&sql[open..])?;
    let name = bare_name(&sql[start..open]);
    let parameters = split(&sql[open + 1..close], ',')
        .iter()
        .map(|parameter| {
            let mut words = parameter.split_whitespace();
            let first = words.next()?;
            match first.to_ascii_lowercase().as_str() {
                "in" => words.next().map(str::to_owned),
                "out" | "inout" => None,
                _ => Some(first.to_owned()),
            }
        })
        .collect::<Option<Vec<_>>>()?;
    let body = sql[close + 1..].trim();
    let lower = body.to_ascii_lowercase();
    let inner = lower.strip_prefix("begin")?.strip_suffix("end")?;
    let body = &body["begin".len().."begin".len() + inner.len()];
    let mut statements = split(body, ';').into();
    let body = parse_steps(&mut statements, false)?;
    Some((name, Program { parameters, body }))
}

/// The statements of a body that are not yet parsed.
type Statements = VecDeque<String>;

/// Parses steps up to the END or ELSE of a block.
fn parse_steps(statements: &mut Statements, is_a_block: bool) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    loop {
        let Some(statement) = statements.front().cloned() else {
            return (!is_a_block).then_some(steps);
        };
        let lower = statement.to_ascii_lowercase();
        let first = lower.split(|c: char| !c.is_alphanumeric()).next()?;
        match first {
            "end" | "else" | "elseif" => return is_a_block.then_some(steps),
            "declare" => {
                statements.pop_front();
                let words: Vec<&str> = statement
                    .split([' ', ',', '\n'])
                    .filter(|w| !w.is_empty())
                    .collect();
                if words.len() != 3 {
                    return None;
                }
                steps.push(Step::Declare(vec![words[1].to_owned()]));
            }
            "set" if !lower.contains('@') => {
                statements.pop_front();
                let (name, value) = statement[3..].split_once('=')?;
                let name = name.trim().trim_end_matches(':').trim();
                steps.push(Step::Set(name.to_owned(), value.trim().to_owned()));
            }
            "if" => {
                statements.pop_front();
                let at = lower.find("then")?;
                let condition = statement[2..at].trim().to_owned();
                let then = parse_block(&statement[at + "then".len()..], statements)?;
                let otherwise = match statements.front() {
                    Some(next) if next.to_ascii_lowercase().starts_with("else") => {
                        let next = statements.pop_front()?;
                        parse_block(&next["else".len()..], statements)?
                    }
                    _ => Vec::new(),
                };
                let end = statements.pop_front()?.to_ascii_lowercase();
                if end.split_whitespace().collect::<Vec<_>>() != ["end", "if"] {
                    return None;
                }
                steps.push(Step::If {
                    condition,
                    then,
                    otherwise,
                });
            }
            "begin" => {
                statements.pop_front();
                steps.extend(parse_block(&statement["begin".len()..], statements)?);
                if !statements.pop_front()?.trim().eq_ignore_ascii_case("end") {
                    return None;
                }
            }
            "while" | "repeat" | "loop" | "case" | "open" | "fetch" | "close" | "leave"
            | "return" => {
                return None;
            }
            _ => {
                statements.pop_front();
                steps.push(Step::Statement(statement));
            }
        }
    }
}

/// Parses a block, whose first statement follows THEN, ELSE or BEGIN.
fn parse_block(first: &str, rest: &mut Statements) -> Option<Vec<Step>> {
    rest.push_front(first.trim().to_owned());
    parse_steps(rest, true)
}

/// The position of the parenthesis that closes the one at the start of the text.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(at)
    })
}

/// Splits at separators outside of quotes, comments and parentheses, and drops comments.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut part, mut depth, mut quote) = (Vec::new(), String::new(), 0, None);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let comment = match quote {
            None if rest.starts_with("-- ") || c == '#' => rest.find('\n').or(Some(rest.len())),
            None if rest.starts_with("/*") => rest.find("*/").map(|at| at + 2),
            _ => None,
        };
        if let Some(end) = comment {
            rest = &rest[end..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"' | '`', None) => quote = Some(c),
            ('(', None) => depth += 1,
            (')', None) => depth -= 1,
            _ => {}
        }
        if c == separator && quote.is_none() && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Replaces a procedure's variables in a statement by their values.
pub fn insert_values(sql: &str, values: &HashMap<String, String>) -> String {
    let is_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '.');
    let (mut out, mut rest, mut quote) = (String::new(), sql, None);
    while let Some(c) = rest.chars().next() {
        let end = match quote.is_none() && is_of_a_name(c) {
            true => rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len()),
            false => c.len_utf8(),
        };
        let token = &rest[..end];
        rest = &rest[end..];
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"' | '`', None) => quote = Some(c),
            _ => {}
        }
        match values.get(&token.to_lowercase()) {
            // The variable's name stays the heading of a column.
            Some(value) if is_a_column(&out, rest) => {
                out.push_str(&format!("{value} AS {token}"));
            }
            Some(value) => out.push_str(value),
            None => out.push_str(token),
        }
    }
    out
}

/// Whether the text between these is a column of a SELECT's list.
fn is_a_column(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    let is_first = before.len() >= 6 && before[before.len() - 6..].eq_ignore_ascii_case("select");
    is_first && after.trim_start().starts_with(',')
}

#[test]
fn a_procedure_with_a_branch_is_parsed() {
    let programs = Programs::default();
    programs.create(
        "create procedure one(in name varchar(64))\nbegin\n  declare id int;\n  set id = (select thread_id from \
         performance_schema.threads where processlist_user=name);\n  if (id is not null) then\n    select name, \
         count(*) from performance_schema.threads where thread_id = id;\n  else\n    select name, \"not found\" as \
         status;\n  end if;\nend",
    );
    let (program, arguments) = programs
        .called("CALL one('user1')")
        .expect("a stored procedure");
    assert_eq!(
        (program.parameters.as_slice(), arguments.as_slice()),
        (&["name".to_owned()][..], &["'user1'".to_owned()][..])
    );
    assert_eq!(program.body.len(), 3);
    let Step::If {
        then, otherwise, ..
    } = &program.body[2]
    else {
        panic!("{:?}", program.body);
    };
    assert_eq!((then.len(), otherwise.len()), (1, 1));
    let values = HashMap::from([("name".to_owned(), "'user1'".to_owned())]);
    assert_eq!(
        insert_values("select name, \"name\" from t where u.name = name", &values),
        "select 'user1' AS name, \"name\" from t where u.name = 'user1'"
    );
}
