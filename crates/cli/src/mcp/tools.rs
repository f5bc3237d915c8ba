//! The tools, as clients list them.

use serde_json::{Map, Value as Json, json};

use super::arguments::{Argument, Kind, schema};
use crate::top::reading::page_schema;

/// What a tool reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The load of an interval.
    Load,
    /// A page of `tare top`.
    Page(&'static str),
    /// The sessions on page `threads` that wait for others, and these.
    Blockers,
    /// Two windows of a history.
    Diff,
    /// The cost of instrumentation.
    Explain,
}

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    title: &'static str,
    /// A description for the model.
    description: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
    /// What it reads.
    pub subject: Subject,
}

const fn argument(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument {
        name,
        kind,
        description,
    }
}

const SECONDS: Argument = argument(
    "seconds",
    Kind::Number(0.5, 3600.0),
    "Length of the interval: live 3 by default and at most 60, for which the call waits; of a history \
        60 by default.",
);
const AT: Argument = argument(
    "at",
    Kind::Text,
    "Read the history instead of the live server: the end of the interval, as '2026-11-22 14:03' or \
        '14:03' in UTC, or '30m', '2h', '7d' ago.",
);
const FILTER: Argument = argument(
    "filter",
    Kind::Text,
    "Only rows that contain this text, in any case.",
);
const SORT: Argument = argument(
    "sort",
    Kind::Choice(&["time", "count"]),
    "Which rows come first: those with the most time, or with the largest count.",
);
const ROWS: Argument = argument("rows", Kind::Count(1, 50, 10), "The most rows.");

const OF_A_PAGE: &[Argument] = &[SECONDS, AT, SORT, FILTER, ROWS];

/// The tools, in the order in which an assistant needs them.
static TOOLS: [Tool; 6] = [
    Tool {
        name: "load",
        title: "Load of the server",
        description: "How busy the server is: average active sessions with a 95 % interval, statements \
            per second, and the wait with the most time. Begin here.",
        arguments: &[SECONDS, AT],
        subject: Subject::Load,
    },
    Tool {
        name: "top_statements",
        title: "Statements with the most time",
        description: "Which statements take the time: normalised statements with time, share, calls per \
            second, average time, rows sent and examined, and errors in an interval.",
        arguments: OF_A_PAGE,
        subject: Subject::Page("statements"),
    },
    Tool {
        name: "waits",
        title: "Waits with the most time",
        description: "What sessions wait for: instruments with time, share, number and average. \
            count_error_pct is half the 95 % interval of an estimated number.",
        arguments: OF_A_PAGE,
        subject: Subject::Page("waits"),
    },
    Tool {
        name: "blockers",
        title: "Who blocks whom",
        description: "Which sessions wait for a lock and who holds it: waiting sessions first, with \
            blocked_by (a connection), then those that block others, with their statements and how long \
            their transaction is open. Of a history also the deadlocks. No rows: nobody waited for \
            another session.",
        arguments: &[SECONDS, AT, ROWS],
        subject: Subject::Blockers,
    },
    Tool {
        name: "diff",
        title: "What changed between two windows",
        description: "What changed between two windows of a history, such as before and after a \
            deployment: load, calls, time per call, rows, errors and waits of each statement, each \
            change with a 95 % interval. Give deploy, or before and after. A change counts only if \
            is_changed is true.",
        arguments: &[
            argument(
                "deploy",
                Kind::Text,
                "Compare equal windows before and after this time: TIME/LENGTH, as '2026-11-27 \
                    14:00/1h' in UTC, or '2h/30m' ago.",
            ),
            argument("before", Kind::Text, "The earlier window, as TIME/LENGTH."),
            argument("after", Kind::Text, "The later window, as TIME/LENGTH."),
            argument(
                "control_days",
                Kind::Count(0, 90, 7),
                "Subtract what changes between the same hours on up to so many days before.",
            ),
            argument("rows", Kind::Count(1, 20, 5), "The most statements."),
        ],
        subject: Subject::Diff,
    },
    Tool {
        name: "explain",
        title: "Cost of instrumentation",
        description: "What the server's instrumentation costs in CPU, by instrument, and which \
            statements would save it. Executes none of them. Computed from unit costs, not measured.",
        arguments: &[argument(
            "seconds",
            Kind::Number(0.5, 60.0),
            "Length of the interval, for which the call waits: 5 by default.",
        )],
        subject: Subject::Explain,
    },
];

/// A tool by its name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The names of all.
pub fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.name).collect()
}

/// A schema of docs/schemas, without what only documents need.
fn stored(text: &str) -> Json {
    let mut schema: Map<String, Json> = serde_json::from_str(text).unwrap_or_default();
    schema.remove("$schema");
    schema.remove("title");
    Json::Object(schema)
}

fn output_schema(subject: Subject) -> Json {
    match subject {
        Subject::Load => stored(include_str!("../../../../docs/schemas/mcp-load.json")),
        Subject::Page(page) => page_schema(page),
        Subject::Blockers => page_schema("threads"),
        Subject::Diff => stored(include_str!("../../../../docs/schemas/diff.json")),
        Subject::Explain => stored(include_str!("../../../../docs/schemas/explain.json")),
    }
}

/// All tools, as the protocol lists them.
pub fn list() -> Vec<Json> {
    let tool = |tool: &Tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": schema(tool.arguments),
            "outputSchema": output_schema(tool.subject),
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    };
    TOOLS.iter().map(tool).collect()
}
