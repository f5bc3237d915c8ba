//! `tare mcp`: read-only tools over the Model Context Protocol, for assistants. docs/mcp.md describes it.

mod arguments;
mod calls;
mod protocol;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::exit::{FAILED, Failure};
use crate::sql::Target;

/// Let an assistant read figures: tools over the Model Context Protocol
///
/// Speaks the protocol on standard input and output; the assistant's client starts it. The tools read the
/// load, the statements and waits with the most time, who blocks whom, what changed between two windows of a
/// history, and what instrumentation costs. No tool changes anything: none takes SQL, and none switches,
/// writes or ends anything.
///
/// Reads a program's segment or a server now, and with --history what tare record wrote. It connects
/// for each call, and holds no connection in between.
#[derive(clap::Args)]
#[command(after_help = HELP, disable_help_flag = true)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Read what tare record has written here, too; only that if no server is named
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,

    /// Only the history of this host
    #[arg(long, value_name = "NAME", requires = "history")]
    host_name: Option<String>,

    /// Only the history of this server
    #[arg(long, value_name = "NAME", requires = "history")]
    server: Option<String>,
}

const HELP: &str = "\
Examples:
  tare mcp --dsn /run/mysqld/mysqld.sock
  tare mcp --history /var/lib/tare/history
  tare mcp --dsn prod1 --history /var/lib/tare/history --host-name db1
  claude mcp add tare -- tare mcp --dsn prod1       an assistant's client starts it

The account needs SELECT on performance_schema.* and nothing else. The end of standard input ends it.";

impl Args {
    /// What is read now; `None` if only a history is given.
    fn live(&self) -> Option<&Target> {
        (self.history.is_none() || self.target.is_named()).then_some(&self.target)
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Failure> {
    // Prompt for a password and report a wrong address before the protocol begins.
    args.target.server()?;
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let served = protocol::serve(input, output, args);
    // A client that closed its end needs no message.
    match served {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(
            FAILED,
            format!("standard input or output: {error}"),
        )),
        _ => Ok(ExitCode::SUCCESS),
    }
}
