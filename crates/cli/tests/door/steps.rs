//! The script, parsed into steps.

use mysql::prelude::Queryable;
use mysql::{Conn, Row, Value};

const SCRIPT: &str = include_str!("script.sql");

/// A statement to send as text, or to prepare and execute with each list of values.
#[derive(Debug, PartialEq)]
enum Step {
    Text(String),
    Binary(String, Vec<Vec<Value>>),
}

fn parse_steps(script: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut values = Vec::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(list) = line.strip_prefix("#binary") {
            values.push(
                list.split(',')
                    .map(str::trim)
                    .filter(|v| !v.is_empty())
                    .map(value)
                    .collect(),
            );
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut statement = line.to_owned();
        while let Some(more) = lines.next_if(|next| next.starts_with(' ')) {
            statement.push('\n');
            statement.push_str(more);
        }
        let statement = statement
            .strip_suffix(';')
            .expect("ends with a semicolon")
            .to_owned();
        if let Some(repeated) = statement.strip_prefix("@repeat ") {
            let (times, text) = repeated.split_once(' ').expect("times and text");
            for n in 0..times.parse::<u32>().expect("a number") {
                steps.push(Step::Text(text.replace(":n", &n.to_string())));
            }
        } else if values.is_empty() {
            steps.push(Step::Text(statement));
        } else {
            steps.push(Step::Binary(statement, std::mem::take(&mut values)));
        }
    }
    steps
}

fn value(text: &str) -> Value {
    match text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        Some(text) => text.into(),
        None => text
            .parse::<i64>()
            .expect("a number or a quoted text")
            .into(),
    }
}

/// How many steps the script has.
pub fn length() -> usize {
    parse_steps(SCRIPT).len()
}

/// Runs the script and returns the outcome of each step, which is compared too.
pub fn play(connection: &mut Conn) -> Vec<String> {
    let outcome = |result: mysql::Result<usize>| match result {
        Ok(rows) => format!("{rows} rows"),
        Err(mysql::Error::MySqlError(error)) => format!("error {}", error.code),
        Err(error) => panic!("the connection broke: {error}"),
    };
    let mut outcomes = Vec::new();
    for step in parse_steps(SCRIPT) {
        match step {
            Step::Text(text) => outcomes.push(outcome(count_rows(connection, &text))),
            Step::Binary(text, executions) => match connection.prep(&text) {
                Ok(statement) => {
                    for values in executions {
                        let rows: mysql::Result<Vec<Row>> = connection.exec(&statement, values);
                        outcomes.push(outcome(rows.map(|rows| rows.len())));
                    }
                    connection.close(statement).expect("closed");
                }
                Err(error) => outcomes.push(outcome(Err(error))),
            },
        }
    }
    outcomes
}

fn count_rows(connection: &mut Conn, text: &str) -> mysql::Result<usize> {
    let mut result = connection.query_iter(text)?;
    let mut rows = 0;
    while let Some(set) = result.iter() {
        for row in set {
            row?;
            rows += 1;
        }
    }
    Ok(rows)
}

#[test]
fn the_script_is_parsed_into_steps() {
    let script = "# a comment\nBEGIN;\n#binary 1, 'x'\n#binary 2, 'y'\nSELECT ?,\n    ?;\n@repeat 2 DO :n;\n";
    let both = vec![vec![1.into(), "x".into()], vec![2.into(), "y".into()]];
    let expected = [
        Step::Text("BEGIN".into()),
        Step::Binary("SELECT ?,\n    ?".into(), both),
        Step::Text("DO 0".into()),
        Step::Text("DO 1".into()),
    ];
    assert_eq!(parse_steps(script), expected);
}
