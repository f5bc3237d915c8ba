//! Calls of tools.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::Args;
use super::arguments::Given;
use super::tools::{Subject, Tool};
use crate::diff::{self, Start};
use crate::exit::{FAILED, Failure, NO_SEGMENT};
use crate::explain;
use crate::history::parse_time;
use crate::top::reading::{Query, Reading, Source, open_history, open_live, read_load, read_page};
use crate::top::replay::ReplayOptions;

/// The default lengths of intervals, and the longest for which a call waits.
const LIVE: Duration = Duration::from_secs(3);
const OF_HISTORY: Duration = Duration::from_secs(60);
const OF_EXPLAIN: Duration = Duration::from_secs(5);
const MAX_LIVE: Duration = Duration::from_secs(60);

/// An answer with more bytes would fill the model's context.
const MAX_ANSWER_BYTES: usize = 200_000;

/// Activities of a statement in the answer of `diff`.
const MAX_ACTIVITIES: usize = 5;

/// Calls a tool. Whatever fails is a result for the model, which says what to do.
pub fn call(tool: &Tool, arguments: &Json, args: &Args) -> Json {
    let answer = Given::check(tool.arguments, arguments).map_err(|why| Failure::new(FAILED, why));
    let answer = answer.and_then(|given| limit(read(tool, &given, args)?));
    match answer {
        Ok((object, text)) => json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": object,
            "isError": false,
        }),
        Err(failure) => json!({
            "content": [{ "type": "text", "text": explain_failure(&failure) }],
            "isError": true,
        }),
    }
}

fn explain_failure(failure: &Failure) -> String {
    let advice = match failure.code {
        NO_SEGMENT => {
            ". Name the program or the server where tare mcp is configured: --pid N, or --dsn URL"
        }
        _ => "",
    };
    format!("{}{advice}", failure.message)
}

/// Refuses an answer that is too long.
fn limit(answer: Reading) -> Result<Reading, Failure> {
    let bytes = answer.0.to_string().len() + answer.1.len();
    match bytes > MAX_ANSWER_BYTES {
        true => {
            let message = format!(
                "the answer has {bytes} bytes, more than {MAX_ANSWER_BYTES}: give a smaller number as \
                    'rows', or a 'filter'"
            );
            Err(Failure::new(FAILED, message))
        }
        false => Ok(answer),
    }
}

fn read(tool: &Tool, given: &Given<'_>, args: &Args) -> Result<Reading, Failure> {
    let query = |page| {
        move |length| Query {
            page,
            length,
            is_by_count: given.text("sort") == Some("count"),
            filter: given.text("filter").unwrap_or_default().to_owned(),
            rows: given.count("rows"),
            has_only_blocked: tool.subject == Subject::Blockers,
        }
    };
    match tool.subject {
        Subject::Load => {
            let (mut source, length) = open(given, args)?;
            read_load(&mut source, length)
        }
        Subject::Page(page) => {
            let (mut source, length) = open(given, args)?;
            read_page(&mut source, &query(page)(length))
        }
        Subject::Blockers => {
            let (mut source, length) = open(given, args)?;
            read_page(&mut source, &query("threads")(length))
        }
        Subject::Diff => compare(given, args),
        Subject::Explain => {
            let Some(target) = args.live() else {
                return Err(needs(
                    "explain needs a running server",
                    "--dsn URL or --pid N",
                ));
            };
            let length = given.seconds("seconds").unwrap_or(OF_EXPLAIN);
            let report = explain::measure(target, length)?;
            Ok((report.json(), report.text()))
        }
    }
}

fn needs(what: &str, option: &str) -> Failure {
    let message =
        format!("{what}. Give tare mcp {option} where it is configured, and start it again");
    Failure::new(FAILED, message)
}

/// Opens what is read: the history if a time is given or there is nothing else, or the live server. Also
/// returns for how long it is read.
fn open(given: &Given<'_>, args: &Args) -> Result<(Source, Duration), Failure> {
    let (at, seconds) = (given.text("at"), given.seconds("seconds"));
    if let (Some(target), None) = (args.live(), at) {
        let length = seconds.unwrap_or(LIVE);
        if length > MAX_LIVE {
            let message = "a live interval has at most 60 s: give fewer 'seconds', or a time of a \
                history as 'at'";
            return Err(Failure::new(FAILED, message));
        }
        return Ok((open_live(target)?, length));
    }
    let Some(directory) = &args.history else {
        return Err(needs(
            "'at' needs a history, which tare record writes",
            "--history DIR",
        ));
    };
    let at = at.map(parse_time).transpose();
    let at = at.map_err(|why| Failure::new(FAILED, why))?;
    let length = seconds.unwrap_or(OF_HISTORY);
    let options = ReplayOptions::new(directory.clone(), args.server.clone(), at);
    Ok((open_history(&options, args.host_name.as_deref())?, length))
}

fn compare(given: &Given<'_>, args: &Args) -> Result<Reading, Failure> {
    let Some(directory) = &args.history else {
        return Err(needs(
            "diff needs a history, which tare record writes",
            "--history DIR",
        ));
    };
    let window = |name| {
        let start = given.text(name).map(Start::parse).transpose();
        start.map_err(|why| Failure::new(FAILED, format!("'{name}': {why}")))
    };
    let rows = given.count("rows");
    let windows = [window("deploy")?, window("before")?, window("after")?];
    let [deploy, before, after] = match windows {
        [Some(_), None, None] | [None, Some(_), Some(_)] => windows,
        _ => {
            let message =
                "give 'deploy', or 'before' and 'after', each as '2026-11-27 14:00/1h' in UTC";
            return Err(Failure::new(FAILED, message));
        }
    };
    let report = diff::compare(&diff::Args {
        history: directory.clone(),
        with: None,
        before,
        after,
        deploy,
        host: args.host_name.clone(),
        server: args.server.clone(),
        control: i64::try_from(given.count("control_days")).unwrap_or(0),
        rows,
        format: diff::Format::Json,
    })?;
    Ok((report.json(rows, MAX_ACTIVITIES), report.text(rows)))
}
