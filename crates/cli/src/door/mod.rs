//! `tare run` of a MySQL or MariaDB server: whether a command is one, and how it is started so that
//! Tare's engine stands behind its Performance Schema.
//!
//! | file | what it knows |
//! |---|---|
//! | options | what turns the server's instruments on, with its own buffers sized to nothing |
//! | install | `tare door`: the files that bring the engine into a server that systemd starts |
//! | find | programs on PATH, the server behind mysqld_safe, our library |

mod find;
pub mod install;
mod options;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tare_image::{
    CHECK_VARIABLE, Image, PRELOAD, REQUIRE_VARIABLE, Recognition, has_server_name, is_short_lived,
};

use crate::exit::{Failure, NOT_SERVED};

/// What the user said about it.
#[derive(Debug, Default)]
pub struct Wishes {
    /// The command must be a server that can be served.
    pub require: bool,
    /// The server that a script starts.
    pub server: Option<PathBuf>,
    /// Our library.
    pub library: Option<PathBuf>,
}

/// How to start the command.
#[derive(Debug, Default)]
pub struct Plan {
    /// Its arguments, the program's name not among them.
    pub arguments: Vec<OsString>,
    /// Variables to set for it.
    pub environment: Vec<(&'static str, OsString)>,
    /// What it will be, once it runs: "MySQL 5.7.22".
    pub serves: Option<String>,
    /// What to say before it starts.
    pub remarks: Vec<String>,
}

/// Looks at a command. A program that is no server is started as it is.
pub fn plan(command: &[OsString], wishes: &Wishes) -> Result<Plan, Failure> {
    let arguments = command[1..].to_vec();
    match prepare(command, wishes) {
        Ok(Some(plan)) => Ok(plan),
        Ok(None) if wishes.require => Err(Failure::new(
            NOT_SERVED,
            format!(
                "{} is not a MySQL or MariaDB server; if it is a script that starts one, name the server with --server PATH",
                command[0].to_string_lossy()
            ),
        )),
        Ok(None) => Ok(Plan {
            arguments,
            ..Plan::default()
        }),
        Err(why) if wishes.require => Err(Failure::new(NOT_SERVED, why)),
        Err(why) => Ok(Plan {
            arguments,
            remarks: vec![format!("{why}; it starts unchanged")],
            ..Plan::default()
        }),
    }
}

/// `None` if the command is no server. The error says why a server is left as it is.
fn prepare(command: &[OsString], wishes: &Wishes) -> Result<Option<Plan>, String> {
    let Some((path, is_script)) = find::server(command, wishes.server.as_deref()) else {
        return Ok(None);
    };
    let called = path.display();
    let image = match Image::open(&path) {
        Ok(image) => image,
        Err(_) if wishes.server.is_none() && !is_script => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let server = match image.recognise() {
        Recognition::Server(server) => server,
        Recognition::Unknown(why) => return Err(format!("{called}: {why}")),
        Recognition::Other if is_script || has_server_name(&path) => {
            return Err(format!(
                "{called} exports no Performance Schema: it was stripped, or built without"
            ));
        }
        Recognition::Other => return Ok(None),
    };
    let mut plan = Plan {
        arguments: command[1..].to_vec(),
        ..Plan::default()
    };
    // The library itself does nothing in a server that only tells something, and no data
    // directory needs it.
    if is_short_lived(&plan.arguments) {
        return Ok(Some(plan));
    }
    let users = tare_image::options::read_user_options(&path, &plan.arguments);
    if let Some(off) = users.off_switch() {
        return Err(format!(
            "{called}: its options contain {off}, so it registers no instruments"
        ));
    }
    let library = find::library(wishes.library.as_deref())?;
    let preload = preload(&library)?;
    check(&path, &preload)?;
    // A script of the user's own may take other arguments than the server does.
    if !is_script || find::is_mysqld_safe(Path::new(&command[0])) {
        options::insert(&mut plan.arguments, server.release, &users);
    }
    plan.environment.push((PRELOAD, preload));
    if wishes.require {
        plan.environment.push((REQUIRE_VARIABLE, "1".into()));
    }
    plan.serves = Some(server.to_string());
    Ok(Some(plan))
}

/// Asks the library itself, inside the server's program, before anything is changed for it: it
/// looks at all that it would write to, and ends.
fn check(program: &Path, preload: &OsString) -> Result<(), String> {
    let called = program.display();
    let output = Command::new(program)
        // What it does if the library cannot be loaded at all.
        .arg("--version")
        .env(PRELOAD, preload)
        .env(CHECK_VARIABLE, "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{called}: {error}"))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    match answer.trim().split_once(' ') {
        Some(("served", _)) => Ok(()),
        Some(("refused", why)) => Err(format!("{called}: {why}")),
        _ => Err(format!(
            "{called} does not load {}: {}",
            preload.to_string_lossy(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

/// Our library before those that the user preloads.
fn preload(library: &Path) -> Result<OsString, String> {
    let mut list = library.as_os_str().to_owned();
    // ld.so(8) parts the list at spaces and colons and knows no way around that.
    if list.to_string_lossy().contains([' ', ':']) {
        return Err(format!(
            "{} cannot be preloaded, because of the space or colon in its path",
            library.display()
        ));
    }
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    Ok(list)
}
