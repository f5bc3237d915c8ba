//! Exit codes: one per kind of failure, the same for every subcommand.

use std::fmt;

/// The statement, the server or the measurement failed.
pub const FAILED: u8 = 1;
/// There is no segment, there is more than one, or this tare cannot attach to it.
pub const NO_SEGMENT: u8 = 3;
/// `tare run --require`: the server cannot be instrumented. The library in the server exits with this code, too.
pub const NOT_SERVED: u8 = tare_image::REFUSED;
/// `tare run` itself failed; the command was not started.
pub const RUN_FAILED: u8 = 125;
/// `tare run`: the command exists and cannot be executed.
pub const CANNOT_EXECUTE: u8 = 126;
/// `tare run`: there is no such command.
pub const NOT_FOUND: u8 = 127;
/// `tare run`: added to the number of the signal that killed the command.
pub const KILLED: u8 = 128;

/// Printed under `tare --help`.
pub const HELP: &str = "\
Exit codes:
  0    done
  1    the statement, the server or the connection failed; the message is on stderr
  2    the command line is wrong
  3    there is no segment, more than one to choose from, or it cannot be read
  4    tare run --require: Tare cannot instrument this server; it was not started
  125  tare run: could not start or watch the command
  126  tare run: the command cannot be executed
  127  tare run: the command was not found
  128+N  tare run: the command was killed by signal N
  Otherwise tare run returns its command's own exit code.";

/// A message for stderr and the code to exit with.
#[derive(Debug)]
pub struct Failure {
    /// One of the constants above.
    pub code: u8,
    /// What happened and what to do about it; printed after `tare: `. Empty if it has been printed already.
    pub message: String,
}

impl Failure {
    /// A failure of the given kind.
    pub fn new(code: u8, message: impl fmt::Display) -> Self {
        Self {
            code,
            message: message.to_string(),
        }
    }
}
