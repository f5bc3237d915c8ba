//! A process of `--pid` that has no segment, which is observed through /proc (docs/processes.md).

use tare_reader::{AttachError, ProcessError, ProcessTree, Segment, Target};

use crate::exit::{FAILED, Failure};

/// Whether a process runs, and records into no segment.
pub fn has_no_segment(pid: u32) -> bool {
    let attached = Segment::attach(Target::Pid(pid));
    matches!(attached, Err(AttachError::NoSegment { .. }))
}

/// The failure of a process that cannot be observed.
pub fn failure(error: ProcessError) -> Failure {
    Failure::new(FAILED, error)
}

/// The name of observed processes.
pub fn name(tree: &ProcessTree) -> String {
    let (pid, program) = tree.root();
    format!("{program} ({pid})")
}

/// What is observed of processes, and what is not, in one line.
pub fn describe(tree: &ProcessTree) -> String {
    let calls = match tree.has_system_calls() {
        true => "system calls",
        false => "kernel functions (system calls need root here)",
    };
    format!(
        "{} does not use Tare: observed are its threads and those of the processes below it, with states, CPU, \
         {calls} and I/O, but no statements, named waits or files: they need a start with tare run",
        name(tree)
    )
}
