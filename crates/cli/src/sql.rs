//! `tare sql`: runs statements and prints their rows.

mod cell;
#[cfg(feature = "tools")]
pub mod history;
pub mod local;
#[cfg(feature = "tools")]
mod prompt;
mod remote;

use std::fmt;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use tare_client::{Dsn, SessionKind};
use tare_dialect::split::{first, is_blank};

use crate::client_options::ServerOptions;
use crate::exit::{FAILED, Failure};
#[cfg(feature = "tools")]
use crate::history::HistoryOptions;
use crate::output::{Format, Rows};
pub use local::Local;
use remote::Remote;

/// Run SQL on a running program, a saved segment or a server
///
/// Without a target, `tare sql` asks the only running program that uses Tare (`tare ps` lists
/// them). Nothing is sent to that program: its segment is read from outside. It answers even
/// while the program hangs, and after it has crashed.
///
/// The schemas are performance_schema, information_schema and sys with MySQL's tables, and tare
/// with what MySQL does not have. Times are in picoseconds, as in MySQL. UPDATE on the setup tables
/// switches instruments and consumers of the running program at once.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    /// Statements to run, separated by ';'; without it, standard input is read
    #[arg(short, long, value_name = "QUERY")]
    execute: Option<String>,

    /// How rows are printed [default: table on a terminal, tsv elsewhere]
    #[arg(long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    target: Target,

    #[cfg(feature = "tools")]
    #[command(flatten)]
    history: HistoryOptions,
}

/// The target of a query; at most one of them.
#[derive(clap::Args, Clone, Debug)]
pub struct Target {
    /// The program with this process id. tare top, record and live also observe one that does not use Tare, with
    /// all processes below it: threads, their states and CPU
    #[arg(long, value_name = "N", conflicts_with = "segment")]
    pid: Option<u32>,

    /// A segment in a file: a running program's, or one that tare run saved
    #[arg(long, value_name = "PATH")]
    segment: Option<PathBuf>,

    #[command(flatten)]
    server: ServerOptions,
}

impl Target {
    /// The same options for a server by its address, its socket or its name in config.toml.
    #[cfg(feature = "tools")]
    pub fn with_server(&self, named: &str) -> Self {
        Self {
            pid: None,
            segment: None,
            server: self.server.with_server(named),
        }
    }

    /// A process by its id.
    #[cfg(feature = "tools")]
    pub fn of_process(pid: u32) -> Self {
        Self {
            pid: Some(pid),
            ..Self::local(None, None)
        }
    }

    /// A server of this machine, by its socket or its port.
    pub fn local(socket: Option<PathBuf>, port: Option<u16>) -> Self {
        Self {
            pid: None,
            segment: None,
            server: ServerOptions::local(socket, port),
        }
    }

    /// The target's name for messages, without a password.
    pub fn name(&self) -> String {
        match (self.server(), self.pid, &self.segment) {
            (Ok(Some(server)), _, _) => server.to_string(),
            (_, Some(pid), _) => format!("process {pid}"),
            (_, None, Some(path)) => path.display().to_string(),
            (_, None, None) => "the running program".to_owned(),
        }
    }

    /// The server; `None` if a segment is read.
    pub fn server(&self) -> Result<Option<Dsn>, Failure> {
        if self.server.is_given() && (self.pid.is_some() || self.segment.is_some()) {
            return Err(Failure::new(
                2,
                "a server or a program: give --dsn, -h, -P, -u, -p, -S and --defaults-file, or --pid, or --segment",
            ));
        }
        self.server.server(None)
    }

    /// The segment, if no server is given.
    pub fn segment(&self) -> tare_reader::Target {
        local::target(self.pid, self.segment.as_deref())
    }

    /// Whether a target is given. Otherwise it is the only running program.
    #[cfg(feature = "tools")]
    pub fn is_named(&self) -> bool {
        self.server.is_given() || self.pid.is_some() || self.segment.is_some()
    }

    /// The value of --host as the host of a history.
    #[cfg(feature = "tools")]
    pub fn history_host(&self) -> Result<Option<&str>, Failure> {
        let named = self.server.only_host();
        named.map_err(|()| {
            Failure::new(
                2,
                "a server or a history: with --history give no option of a server but --host",
            )
        })
    }

    /// Whether a process is named by its id.
    #[cfg(feature = "tools")]
    pub fn is_process(&self) -> bool {
        self.pid.is_some()
    }

    /// The process of --pid, if it runs and has no segment. Its threads are observed through /proc.
    #[cfg(feature = "tools")]
    pub fn process_without_segment(&self) -> Option<u32> {
        let pid = self.pid.filter(|_| !self.server.is_given())?;
        crate::processes::has_no_segment(pid).then_some(pid)
    }

    /// Whether no server is queried, but a segment or a process.
    pub fn is_segment(&self) -> bool {
        !self.server.is_given()
    }
}

const HELP: &str = "\
Examples:
  tare sql -e 'SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT
               FROM performance_schema.events_waits_summary_global_by_event_name
               ORDER BY SUM_TIMER_WAIT DESC LIMIT 10'
  tare sql -e 'SELECT * FROM sys.statement_analysis LIMIT 1\\G'
  tare sql --segment tare-4711.segment -e 'SELECT * FROM performance_schema.threads' --format json
  tare sql --pid 4711 -e \"UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'\"
  MYSQL_PWD=$(cat secret) tare sql --dsn mysql://root@127.0.0.1:3307/performance_schema
  tare sql --history DIR --from 14:00 --host db1 -e 'SELECT wait, SUM(seconds) FROM samples GROUP BY wait'
  tare sql -h db1 -u monitor -p --ssl-mode=VERIFY_IDENTITY --ssl-ca=ca.pem -e 'SELECT 1'

Exit code: 1 when a statement failed (later ones are not run), 3 when there is no segment, or more
than one to choose from.";

/// A result of a statement.
pub enum Answer {
    /// A result set.
    Rows(Rows),
    /// No result set; this many rows were changed.
    Changed(u64),
}

/// An error of one statement, printed as the mysql client prints it.
#[derive(Debug)]
pub struct SqlError {
    errno: u16,
    sqlstate: String,
    message: String,
}

impl SqlError {
    /// MySQL's error number. Numbers from 2000 on are the client's.
    pub fn errno(&self) -> u16 {
        self.errno
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ERROR {} ({}): {}",
            self.errno, self.sqlstate, self.message
        )
    }
}

/// A session on a segment, a server or a history.
pub enum SqlSession {
    /// A segment, evaluated in this process.
    Local(Box<Local>),
    /// A server, over the MySQL protocol.
    Remote(Box<Remote>),
    /// A history, evaluated in this process.
    #[cfg(feature = "tools")]
    History(Box<history::HistorySession>),
}

impl SqlSession {
    /// Attaches, or connects.
    pub fn open(target: &Target, kind: SessionKind) -> Result<Self, Failure> {
        match target.server()? {
            Some(dsn) => Ok(Self::Remote(Box::new(Remote::connect(&dsn, kind, None)?))),
            None => Ok(Self::Local(Box::new(Local::open(target.segment())?))),
        }
    }

    /// Connects to the server of a target. The session is lost when it gets no answer in this time.
    pub fn open_with_timeout(target: &Target, timeout: Duration) -> Result<Self, Failure> {
        match target.server()? {
            Some(dsn) => {
                let session = Remote::connect(&dsn, SessionKind::Tool, Some(timeout))?;
                Ok(Self::Remote(Box::new(session)))
            }
            None => Err(Failure::new(FAILED, "a segment takes no statements")),
        }
    }

    /// Runs one statement, and calls `take` with each of its results: a CALL may have several.
    pub fn run(&mut self, statement: &str, take: &mut dyn FnMut(Answer)) -> Result<(), SqlError> {
        match self {
            Self::Local(session) => session.run(statement, take),
            Self::Remote(session) => session.run(statement, take),
            #[cfg(feature = "tools")]
            Self::History(session) => session.run(statement, take),
        }
    }

    /// The first result of a statement.
    pub fn query(&mut self, statement: &str) -> Result<Answer, SqlError> {
        let mut first = None;
        self.run(statement, &mut |answer| {
            first.get_or_insert(answer);
        })?;
        Ok(first.unwrap_or(Answer::Changed(0)))
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    let mut session = open(args)?;
    let format = args.format.unwrap_or_else(Format::by_default);
    let mut run = |statement: &Statement| {
        let format = if statement.is_vertical {
            Format::Vertical
        } else {
            format
        };
        run_one(&mut session, statement.text.trim(), format)
    };
    match &args.execute {
        Some(text) => run_all(text.as_bytes(), &mut run),
        #[cfg(feature = "tools")]
        None if std::io::IsTerminal::is_terminal(&std::io::stdin()) => {
            prompt::run_prompt(&mut run)?;
            Ok(ExitCode::SUCCESS)
        }
        None => run_all(std::io::stdin().lock(), &mut run),
    }
}

#[cfg(not(feature = "tools"))]
fn open(args: &Args) -> Result<SqlSession, Failure> {
    SqlSession::open(&args.target, SessionKind::User)
}

#[cfg(feature = "tools")]
fn open(args: &Args) -> Result<SqlSession, Failure> {
    if !args.history.is_given() {
        return SqlSession::open(&args.target, SessionKind::User);
    }
    let past = args.history.open(args.target.history_host()?)?;
    Ok(SqlSession::History(Box::new(
        history::HistorySession::open(past)?,
    )))
}

/// Whether the next statement runs.
enum Step {
    Done,
    Failed,
    /// The output is closed, so there is nothing more to do.
    OutputClosed,
}

fn run_one(session: &mut SqlSession, statement: &str, format: Format) -> Step {
    let mut step = Step::Done;
    let mut last = None;
    let ran = session.run(statement, &mut |answer| {
        // Results without rows are printed once, at the statement's end.
        match answer {
            Answer::Changed(rows) => last = Some(rows),
            Answer::Rows(_) if matches!(step, Step::OutputClosed) => {}
            Answer::Rows(rows) => {
                last = None;
                step = print(&rows.to_text(format));
            }
        }
    });
    if let Err(error) = ran {
        eprintln!("{error}");
        return Step::Failed;
    }
    match (step, last) {
        // Scripts get nothing but rows.
        (Step::Done, Some(rows)) if format == Format::Table => print(&match rows {
            0 => "OK\n".to_owned(),
            1 => "1 row changed\n".to_owned(),
            n => format!("{n} rows changed\n"),
        }),
        (step, _) => step,
    }
}

fn print(text: &str) -> Step {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => Step::Done,
        Err(_) => Step::OutputClosed,
    }
}

/// Runs statement after statement until one fails. The last one needs no `;`.
fn run_all(
    input: impl BufRead,
    run: &mut impl FnMut(&Statement) -> Step,
) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    let mut lines = input.lines();
    loop {
        let last = match lines.next() {
            Some(line) => {
                let line = line.map_err(|error| {
                    Failure::new(FAILED, format!("cannot read the statements: {error}"))
                })?;
                text.push_str(&line);
                text.push('\n');
                None
            }
            None => Some(Statement::default()),
        };
        let is_last = last.is_some();
        let mut last = last;
        while let Some(statement) = take_statement(&mut text).or_else(|| {
            let mut rest = last.take()?;
            rest.text = std::mem::take(&mut text);
            Some(rest)
        }) {
            if is_blank(&statement.text) {
                continue;
            }
            match run(&statement) {
                Step::Done => {}
                Step::Failed => return Ok(ExitCode::from(FAILED)),
                Step::OutputClosed => return Ok(ExitCode::SUCCESS),
            }
        }
        if is_last {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// A statement of the user.
#[derive(Debug, Default, PartialEq)]
struct Statement {
    text: String,
    /// Whether it ends with `\G`: each column on a line of its own.
    is_vertical: bool,
}

/// Removes the first complete statement from the front of `text` and returns it without its `;`, `\g` or `\G`.
/// `None` if there is none of these yet.
fn take_statement(text: &mut String) -> Option<Statement> {
    let (mut end, mut next) = first(text);
    let mut is_vertical = false;
    let is_mark = |at: usize| matches!(text.as_bytes().get(at + 1), Some(b'g' | b'G'));
    // Where a `;` would not end the statement, it is quoted, or in a comment.
    let is_quoted = |at: usize| first(&format!("{};", &text[..at])).0 != at;
    let mut marks = text[..end].match_indices('\\').map(|(at, _)| at);
    if let Some(at) = marks.find(|at| is_mark(*at) && !is_quoted(*at)) {
        (end, next) = (at, at + 2);
        is_vertical = text.as_bytes()[at + 1] == b'G';
    }
    if end == next {
        return None;
    }
    let rest = text.split_off(next);
    let mut statement = std::mem::replace(text, rest);
    statement.truncate(end);
    Some(Statement {
        text: statement,
        is_vertical,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_statements_are_removed_one_by_one() {
        let mut text = "SELECT ';' -- a; b\n; SELECT `;`;é'open; ".to_owned();
        let mut next = || take_statement(&mut text).map(|statement| statement.text);
        assert_eq!(next().as_deref(), Some("SELECT ';' -- a; b\n"));
        assert_eq!(next().as_deref(), Some(" SELECT `;`"));
        assert_eq!(next(), None);
        assert_eq!(text, "é'open; ");
        let mut backslash = "SELECT 'a\\".to_owned();
        assert_eq!(take_statement(&mut backslash), None);
    }

    #[test]
    fn a_backslash_and_g_end_a_statement_outside_of_quotes() {
        let mut text = "SELECT '\\G', 1\\G SELECT 2\\g -- \\G\nSELECT 3; ".to_owned();
        let mut next = || take_statement(&mut text).map(|one| (one.text, one.is_vertical));
        let of = |text: &str, is_vertical| Some((text.to_owned(), is_vertical));
        assert_eq!(next(), of("SELECT '\\G', 1", true));
        assert_eq!(next(), of(" SELECT 2", false));
        assert_eq!(next(), of(" -- \\G\nSELECT 3", false));
        assert_eq!(next(), None);
    }
}
