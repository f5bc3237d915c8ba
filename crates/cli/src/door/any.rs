//! `tare run` of a program that is no MySQL or MariaDB server: libtare_any.so observes its calls of the C
//! library, the commands of Redis, Valkey and memcached, and the statements of PostgreSQL.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::getxattr;
use rustix::process::{getegid, geteuid};
use tare_image::{CommandProtocol, Linkage, PRELOAD, command_protocol, is_launcher, short_name};

use super::{Plan, Requirements, find, preload_list};

/// What is recorded of each program, and what is not.
const CALLS: &str = "files, sockets, polls, sleeps and threads";
const UNSEEN: &str = "io_uring, calls within the C library such as fwrite's, and child processes";
/// Which child processes are not, of programs whose others are.
const OF_THREADS: &str = "of a process with several threads";

/// Plans the start of a program. `None`: it starts unchanged, and there is nothing to say about it.
///
/// # Errors
/// Why the program starts unchanged.
pub fn plan(command: &[OsString], requirements: &Requirements) -> Result<Option<Plan>, String> {
    let Some(path) = find::find_on_path(&command[0]) else {
        // The start says so.
        return Ok(None);
    };
    let name = path.display();
    // Names such as /bin/sh are links to a shell.
    let program = path.canonicalize().unwrap_or_else(|_| path.clone());
    let starts_another = is_launcher(&path) || is_launcher(&program);
    if has_other_rights(&program) || ["sudo", "doas"].contains(&&*file_name(&program)) {
        return Err(format!(
            "{name} changes its rights, so that it loads no library of the caller's and passes none on; put tare run behind it"
        ));
    }
    match Linkage::of(&program) {
        Linkage::Gnu => {}
        // A script's interpreter may be anything.
        Linkage::Tare | Linkage::Unknown => return Ok(None),
        Linkage::Static => {
            return Err(format!(
                "{name} is linked statically, so that no library can be preloaded"
            ));
        }
        Linkage::OtherLibrary => {
            return Err(format!("{name} uses another C library than GNU's"));
        }
    }
    // The library that --library names may be the other one.
    let named = requirements.library.as_deref();
    let named = named.filter(|path| path.file_name() != Some(find::PSI.name.as_ref()));
    let library = match find::library(&find::ANY, named) {
        Ok(library) => library,
        Err(_) if starts_another => return Ok(None),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    let mut plan = Plan {
        arguments: command[1..].to_vec(),
        environment: vec![(PRELOAD, preload_list(&library)?)],
        ..Plan::default()
    };
    if !starts_another {
        plan.remarks.push(remark(&path));
        plan.serves = Some(file_name(&path));
    }
    Ok(Some(plan))
}

/// Whether a program runs with other rights than the caller's. The dynamic linker removes LD_PRELOAD then
/// (ld.so(8), secure-execution mode).
fn has_other_rights(program: &Path) -> bool {
    let (user, group) = (geteuid(), getegid());
    let is_other = |file: Metadata| {
        let (mode, executable_group) = (file.mode(), 0o2010);
        mode & 0o4000 != 0 && file.uid() != user.as_raw()
            || mode & executable_group == executable_group && file.gid() != group.as_raw()
    };
    let has_capabilities = || getxattr(program, "security.capability", &mut [0; 64]).is_ok();
    program.metadata().is_ok_and(is_other) || !user.is_root() && has_capabilities()
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// What is recorded of a program, in a line.
fn remark(path: &Path) -> String {
    let name = file_name(path);
    match command_protocol(&short_name(path)) {
        Some(CommandProtocol::Redis) => format!(
            "{name}: commands with users and databases, {CALLS} are recorded; not commands within scripts, TLS, {UNSEEN}"
        ),
        Some(CommandProtocol::Memcached) => {
            format!("{name}: commands, {CALLS} are recorded; not locks, UDP, TLS, {UNSEEN}")
        }
        Some(CommandProtocol::Postgres) => format!(
            "{name}: statements with users and databases, {CALLS} are recorded; not statements within functions, replication, TLS, {UNSEEN} {OF_THREADS}"
        ),
        None => format!("{name}: {CALLS} are recorded; not {UNSEEN} {OF_THREADS}"),
    }
}
