//! The one binary, `tare`. Each subcommand is a file of its own.

#![forbid(unsafe_code)]

#[macro_use]
mod print;

mod client_options;
mod config;
mod defaults;
#[cfg(feature = "tools")]
mod diff;
mod door;
#[cfg(feature = "tools")]
mod exact;
mod exit;
mod explain;
#[cfg(feature = "tools")]
mod history;
#[cfg(feature = "tools")]
mod live;
#[cfg(feature = "tools")]
mod manual;
#[cfg(feature = "tools")]
mod mcp;
#[cfg(feature = "tools")]
mod metrics_source;
mod observe;
#[cfg(feature = "tools")]
mod option_values;
#[cfg(feature = "tools")]
mod otlp;
mod output;
#[cfg(feature = "tools")]
mod plans;
#[cfg(feature = "tools")]
mod processes;
mod ps;
mod querystat;
#[cfg(feature = "tools")]
mod record;
mod run;
mod save;
mod serve;
mod serve_options;
mod sql;
#[cfg(feature = "tools")]
mod statistics;
#[cfg(feature = "tools")]
mod top;
mod weigh;
mod weigh_compare;
mod weigh_locks;
mod weigh_results;

use std::alloc::System;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Failure;
use tare_mysql::memory::CountingAllocator;

tare::classes! {
    /// The server's own allocations. SQLite's have a class of their own.
    static HEAP: Memory = "memory/tare/heap", enabled;
}

#[global_allocator]
static ALLOCATOR: CountingAllocator<tare::memory::Tracked<System>> =
    CountingAllocator(tare::memory::Tracked::new(System, &HEAP));

/// A Performance Schema for any server.
///
/// `tare top` and `tare querystat` watch any performance_schema live: Tare's, MySQL's, MariaDB's.
/// `tare weigh` measures what instrumentation costs; `tare explain` computes it on a running
/// server. `tare run` starts a program that uses Tare, or puts Tare's engine into one that does not (MySQL,
/// MariaDB, Redis, memcached, PostgreSQL and others), and saves its data if it crashes. `tare sql` and `tare
/// ps` query running programs and saved segments. `tare serve` is a small MySQL-protocol server that answers
/// about itself and about other programs. `tare record` records what sessions do over time; `tare live` shows
/// it in a browser; `tare diff` compares two time windows of a recording. `tare mcp` lets assistants read
/// these figures.
#[derive(Parser)]
#[command(name = "tare", version = env!("TARE_VERSION"), after_help = exit::HELP, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    Run(run::Args),
    Door(door::install::Args),
    Sql(sql::Args),
    Ps(ps::Args),
    #[cfg(feature = "tools")]
    Top(Box<top::Args>),
    Querystat(querystat::Args),
    #[cfg(feature = "tools")]
    Record(Box<record::Args>),
    #[cfg(feature = "tools")]
    Live(Box<live::Args>),
    #[cfg(feature = "tools")]
    Diff(diff::Args),
    #[cfg(feature = "tools")]
    Mcp(Box<mcp::Args>),
    Explain(explain::Args),
    Weigh(Box<weigh::Args>),
    #[cfg(feature = "tools")]
    Manual(manual::Args),
    #[command(hide = true)]
    WeighLocks(weigh_locks::Args),
}

fn main() -> ExitCode {
    let arguments = serve_options::normalise_option_names(std::env::args_os());
    let arguments = client_options::expand_password_option(arguments);
    let hidden = client_options::hide_password(&arguments);
    let expanded = hidden
        .and_then(|()| defaults::expand(arguments, &<Cli as clap::CommandFactory>::command()));
    let result = expanded.and_then(|arguments| match Cli::parse_from(arguments).command {
        Command::Serve(args) => serve::main(*args),
        Command::Run(args) => run::main(&args),
        Command::Door(args) => door::install::main(&args),
        Command::Sql(args) => sql::main(&args),
        Command::Ps(args) => ps::main(&args),
        #[cfg(feature = "tools")]
        Command::Top(args) => top::main(&args),
        Command::Querystat(args) => querystat::main(&args),
        #[cfg(feature = "tools")]
        Command::Record(args) => record::main(&args),
        #[cfg(feature = "tools")]
        Command::Live(args) => live::main(&args),
        #[cfg(feature = "tools")]
        Command::Diff(args) => diff::main(&args),
        #[cfg(feature = "tools")]
        Command::Mcp(args) => mcp::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::Weigh(args) => weigh::main(*args),
        #[cfg(feature = "tools")]
        Command::Manual(args) => manual::main(&args, <Cli as clap::CommandFactory>::command()),
        Command::WeighLocks(args) => weigh_locks::main(args),
    });
    match result {
        Ok(code) => code,
        Err(Failure { code, message }) => {
            if !message.is_empty() {
                eprintln!("tare: {message}");
            }
            ExitCode::from(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
