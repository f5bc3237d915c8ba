//! `tare run` of a program that is no MySQL or MariaDB server: libtare_any.so observes its calls of the C
//! library, the commands of Redis, Valkey and memcached, and the statements of PostgreSQL, MySQL and MariaDB.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::getxattr;
use rustix::process::{Gid, Uid, getegid, geteuid};
use tare_image::{
    CommandProtocol, Linkage, PRELOAD, PROGRAM_VARIABLE, command_protocol, imports_tls,
    is_launcher, short_name,
};

use super::{Plan, Requirements, find, inherited_preload_list};

/// What is recorded of each program, and what is not.
const CALLS: &str = "files, sockets, polls, sleeps and threads";
const UNSEEN: &str = "io_uring, calls within the C library such as fwrite's, and child processes";
/// Which child processes are not, of programs whose others are.
const OF_THREADS: &str = "of a process with several threads";

/// Plans the start of a program, or of a script that starts the server of `requirements`. `None`: it starts
/// unchanged, and there is nothing to say about it.
///
/// # Errors
/// Why the program starts unchanged.
pub fn plan(command: &[OsString], requirements: &Requirements) -> Result<Option<Plan>, String> {
    let Some(path) = find::find_on_path(&command[0]) else {
        // The start says so.
        return Ok(None);
    };
    // Names such as /bin/sh are links to a shell.
    let program = path.canonicalize().unwrap_or_else(|_| path.clone());
    if changes_rights(&program, Some((geteuid(), getegid()))) {
        return Err(format!(
            "{} {CHANGES_RIGHTS}; put tare run behind it",
            path.display()
        ));
    }
    let server = requirements.server.as_deref();
    let interpreter = match server {
        None => find::interpreter(&path),
        Some(_) => None,
    };
    if interpreter.as_deref().is_some_and(is_shell) {
        return Err(format!(
            "{} is a shell script: if it starts a server, name the server's program with --server PATH",
            path.display()
        ));
    }
    let starts_another = server.is_none() && (is_launcher(&path) || is_launcher(&program));
    let observed = server.or(interpreter.as_deref()).unwrap_or(&path);
    if !can_preload(observed)? {
        return Ok(None);
    }
    // The library that --library names may be the other one.
    let named = requirements.library.as_deref();
    let named = named.filter(|path| path.file_name() != Some(find::PSI.name.as_ref()));
    let library = match find::library(&find::ANY, named) {
        Ok(library) => library,
        Err(_) if starts_another => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let mut plan = Plan {
        arguments: command[1..].to_vec(),
        environment: vec![(PRELOAD, inherited_preload_list(&library)?)],
        ..Plan::default()
    };
    if let Some(server) = server {
        plan.environment
            .push((PROGRAM_VARIABLE, program_name(server)));
    }
    if !starts_another {
        plan.remarks.push(remark(observed));
        plan.serves = Some(match interpreter {
            Some(_) => format!("{} ({})", file_name(&path), file_name(observed)),
            None => file_name(observed),
        });
    }
    Ok(Some(plan))
}

/// Whether this program executes scripts that start other programs.
fn is_shell(interpreter: &Path) -> bool {
    let program = interpreter.canonicalize();
    is_launcher(interpreter) || program.is_ok_and(|program| is_launcher(&program))
}

/// Whether libtare_any.so can be preloaded into a program. It cannot if the program uses Tare itself or is no
/// program of this machine, such as a script, whose interpreter may be anything.
///
/// # Errors
/// Why a program that could be observed loads no library.
pub fn can_preload(path: &Path) -> Result<bool, String> {
    let name = path.display();
    match Linkage::of(path) {
        Linkage::Gnu => Ok(true),
        Linkage::Tare | Linkage::Unknown => Ok(false),
        Linkage::Static => Err(format!(
            "{name} is linked statically, so that no library can be preloaded"
        )),
        Linkage::OtherLibrary => Err(format!("{name} uses another C library than GNU's")),
    }
}

/// The value of TARE_PROGRAM for a program: the name of its file, also where `path` is a link to it.
pub fn program_name(path: &Path) -> OsString {
    let program = path.canonicalize();
    let program = program.as_deref().unwrap_or(path);
    program.file_name().unwrap_or_default().to_owned()
}

/// What [`changes_rights`] means for the program, which goes before it.
pub const CHANGES_RIGHTS: &str =
    "changes its rights, so that it loads no library of the caller's and passes none on";

/// Whether a program runs with other rights than the caller's, or starts another one with them. The dynamic
/// linker removes LD_PRELOAD then (ld.so(8), secure-execution mode). `caller`: `None` is any user but root.
pub fn changes_rights(program: &Path, caller: Option<(Uid, Gid)>) -> bool {
    let is_other = |file: Metadata| {
        let (mode, executable_group) = (file.mode(), 0o2010);
        let is_user = |(user, _): (Uid, Gid)| file.uid() == user.as_raw();
        let is_group = |(_, group): (Uid, Gid)| file.gid() == group.as_raw();
        mode & 0o4000 != 0 && !caller.is_some_and(is_user)
            || mode & executable_group == executable_group && !caller.is_some_and(is_group)
    };
    let is_root = caller.is_some_and(|(user, _)| user.is_root());
    let has_capabilities = || getxattr(program, "security.capability", &mut [0; 64]).is_ok();
    resets_environment(program)
        || program.metadata().is_ok_and(is_other)
        || !is_root && has_capabilities()
}

/// Whether a program starts another one without LD_PRELOAD.
pub fn resets_environment(program: &Path) -> bool {
    ["sudo", "doas"].contains(&&*file_name(program))
}

/// The name of a program's file.
pub fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// What is recorded of a program, in a line.
pub fn remark(path: &Path) -> String {
    let name = file_name(path);
    // A program with a TLS library of its own within it.
    let unseen_tls = match imports_tls(path) {
        true => "",
        false => "TLS, ",
    };
    match command_protocol(&short_name(path)) {
        Some(CommandProtocol::Redis) => format!(
            "{name}: commands with users and databases, {CALLS} are recorded; not commands within scripts, {unseen_tls}{UNSEEN}"
        ),
        Some(CommandProtocol::Memcached) => {
            format!(
                "{name}: commands, {CALLS} are recorded; not locks unless TARE_OPTIONS has locks=ON, UDP, {unseen_tls}{UNSEEN}"
            )
        }
        Some(CommandProtocol::Postgres) => format!(
            "{name}: statements with users and databases, {CALLS} are recorded; not statements within functions, replication, {unseen_tls}{UNSEEN} {OF_THREADS}"
        ),
        Some(CommandProtocol::Http) => format!(
            "{name}: HTTP/1 requests with users and hosts, {CALLS} are recorded; not requests of HTTP/2 and HTTP/3, {unseen_tls}{UNSEEN} {OF_THREADS}"
        ),
        Some(CommandProtocol::Mysql) => format!(
            "{name}: statements with users and databases, {CALLS} are recorded; not statements within stored programs, compressed connections, {unseen_tls}{UNSEEN}"
        ),
        None => format!("{name}: {CALLS} are recorded; not {UNSEEN} {OF_THREADS}"),
    }
}
