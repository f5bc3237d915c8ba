//! `tare run`: recognises a MySQL or MariaDB server, and starts it with Tare's engine behind its Performance
//! Schema. Other programs start with a library that observes them from outside.
//!
//! | file | contents |
//! |---|---|
//! | options | options that switch the server's instruments on and size its own buffers to zero |
//! | install | `tare door`: files that load the engine into a server that systemd starts |
//! | find | programs on PATH, the server of mysqld_safe, the libraries |
//! | any | other programs |

mod any;
mod find;
pub mod install;
mod options;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tare_image::{
    CHECK_VARIABLE, Image, PRELOAD, REQUIRE_VARIABLE, Recognition, command_protocol,
    has_server_name, is_short_lived, short_name,
};

use crate::exit::{Failure, NOT_SERVED};

/// Options of `tare run` about servers.
#[derive(Debug, Default)]
pub struct Requirements {
    /// Whether the command must be a server that Tare's engine supports.
    pub require: bool,
    /// The server that a script starts.
    pub server: Option<PathBuf>,
    /// The path of the library.
    pub library: Option<PathBuf>,
    /// Whether MySQL and MariaDB are observed from outside, as other programs are.
    pub no_door: bool,
}

/// Why a server does not get the engine behind its Performance Schema.
enum Refusal {
    /// Tare does not know this server, or was told to leave the door out.
    Door(String),
    /// It starts unchanged: the user has switched instruments off, or the library does not load.
    Any(String),
}

impl Refusal {
    fn why(self) -> String {
        match self {
            Self::Door(why) | Self::Any(why) => why,
        }
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Any(why)
    }
}

/// What the door would add.
const MISSING: &str = "its stages, transactions, tables, locks, memory, rows examined and asynchronous I/O are not recorded";

/// How to start the command.
#[derive(Debug, Default)]
pub struct Plan {
    /// Its arguments, without the program's name.
    pub arguments: Vec<OsString>,
    /// Variables to set for it.
    pub environment: Vec<(&'static str, OsString)>,
    /// The server that it starts, such as "MySQL 5.7.22".
    pub serves: Option<String>,
    /// Messages to print before it starts.
    pub remarks: Vec<String>,
}

impl Plan {
    /// Whether the command, or the program that it starts, gets one of Tare's libraries.
    pub fn preloads(&self) -> bool {
        self.environment.iter().any(|(name, _)| *name == PRELOAD)
    }
}

/// The path of libtare_any.so.
///
/// # Errors
/// Why there is none.
pub fn library_of_any() -> Result<PathBuf, String> {
    find::library(&find::ANY, None)
}

/// Plans the start of a command.
pub fn plan(command: &[OsString], requirements: &Requirements) -> Result<Plan, Failure> {
    let arguments = command[1..].to_vec();
    let server = requirements.server.as_deref();
    let server = server.unwrap_or(Path::new(&command[0]));
    match prepare(command, requirements) {
        Ok(Some(plan)) => Ok(plan),
        Ok(None) if requirements.require && !has_read_protocol(server) => Err(Failure::new(
            NOT_SERVED,
            format!(
                "{} is not a MySQL, MariaDB, Redis, Valkey, memcached or PostgreSQL server; if it is a script that starts one, name the server with --server PATH",
                server.display()
            ),
        )),
        Ok(None) => match any::plan(command, requirements) {
            Ok(Some(plan)) => Ok(plan),
            Ok(None) if requirements.require => Err(Failure::new(
                NOT_SERVED,
                format!(
                    "{} is no program that Tare can observe",
                    command[0].to_string_lossy()
                ),
            )),
            Ok(None) => Ok(Plan {
                arguments,
                ..Plan::default()
            }),
            Err(why) if requirements.require => Err(Failure::new(NOT_SERVED, why)),
            Err(why) => Ok(unchanged(arguments, &why)),
        },
        Err(refusal) if requirements.require => Err(Failure::new(NOT_SERVED, refusal.why())),
        Err(Refusal::Door(why)) if !is_short_lived(&arguments) => {
            Ok(plan_outside(command, requirements, &why))
        }
        Err(refusal) => Ok(unchanged(arguments, &refusal.why())),
    }
}

/// The plan of a MySQL or MariaDB server that is observed from outside, as other programs are. `why`: there is
/// no door.
fn plan_outside(command: &[OsString], requirements: &Requirements, why: &str) -> Plan {
    let script = find::server(command, requirements.server.as_deref())
        .and_then(|(path, is_script)| is_script.then_some(path));
    let requirements = Requirements {
        require: false,
        server: script,
        library: requirements.library.clone(),
        no_door: true,
    };
    match any::plan(command, &requirements) {
        Ok(Some(mut plan)) => {
            plan.remarks.insert(0, format!("{why}; {MISSING}"));
            plan
        }
        Ok(None) => unchanged(command[1..].to_vec(), why),
        Err(also) => unchanged(command[1..].to_vec(), &format!("{why}; {also}")),
    }
}

/// The plan of a program that Tare does not instrument.
fn unchanged(arguments: Vec<OsString>, why: &str) -> Plan {
    Plan {
        arguments,
        remarks: vec![format!("{why}; it starts unchanged")],
        ..Plan::default()
    }
}

/// Whether a program has the name of a server whose protocol libtare_any.so reads.
fn has_read_protocol(program: &Path) -> bool {
    command_protocol(&short_name(program)).is_some()
}

/// `None` if the command is no server. The error says why a server starts unchanged.
fn prepare(command: &[OsString], requirements: &Requirements) -> Result<Option<Plan>, Refusal> {
    let Some((path, is_script)) = find::server(command, requirements.server.as_deref()) else {
        return Ok(None);
    };
    let name = path.display();
    let image = match Image::open(&path) {
        Ok(image) => image,
        Err(_) if requirements.server.is_none() && !is_script => return Ok(None),
        Err(error) => return Err(error.to_string().into()),
    };
    let server = match image.recognise() {
        Recognition::Server(server) => server,
        Recognition::Unknown(why) => return Err(Refusal::Door(format!("{name}: {why}"))),
        Recognition::Other if has_server_name(&path) => {
            return Err(Refusal::Door(format!(
                "{name} exports no Performance Schema: it was stripped, or built without"
            )));
        }
        Recognition::Other => return Ok(None),
    };
    let mut plan = Plan {
        arguments: command[1..].to_vec(),
        ..Plan::default()
    };
    // The library does nothing in a server that only prints its version, or initialises a data directory.
    if is_short_lived(&plan.arguments) {
        return Ok(Some(plan));
    }
    if requirements.no_door {
        return Err(Refusal::Door(format!("{name} runs with --no-door")));
    }
    let users = tare_image::options::read_user_options(&path, &plan.arguments);
    if let Some(off) = users.off_switch() {
        return Err(Refusal::Any(format!(
            "{name}: its options contain {off}, so it registers no instruments"
        )));
    }
    let library = find::library(&find::PSI, requirements.library.as_deref())?;
    let preload = inherited_preload_list(&library)?;
    check_library(&path, &preload)?;
    // A script of the user's own may not accept the server's options.
    if !is_script || find::is_mysqld_safe(Path::new(&command[0])) {
        options::insert(&mut plan.arguments, server.release, &users);
    }
    plan.environment.push((PRELOAD, preload));
    if requirements.require {
        plan.environment.push((REQUIRE_VARIABLE, "1".into()));
    }
    plan.serves = Some(server.to_string());
    Ok(Some(plan))
}

/// Runs the library's own check inside the server's program: it examines everything that it would
/// patch, and exits.
fn check_library(program: &Path, preload: &OsString) -> Result<(), Refusal> {
    let name = program.display();
    let output = Command::new(program)
        // So that it exits if the library cannot be loaded.
        .arg("--version")
        .env(PRELOAD, preload)
        .env(CHECK_VARIABLE, "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    match answer.trim().split_once(' ') {
        Some(("served", _)) => Ok(()),
        Some(("refused", why)) => Err(Refusal::Door(format!("{name}: {why}"))),
        _ => Err(Refusal::Any(format!(
            "{name} does not load {}: {}",
            preload.to_string_lossy(),
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// The value of LD_PRELOAD for a command: Tare's library before those that the caller preloads.
fn inherited_preload_list(library: &Path) -> Result<OsString, String> {
    preload_list(library, std::env::var_os(PRELOAD))
}

/// The value of LD_PRELOAD: Tare's library before others.
fn preload_list(library: &Path, others: Option<OsString>) -> Result<OsString, String> {
    let mut list = library.as_os_str().to_owned();
    // ld.so(8) splits the list at spaces and colons, which cannot be escaped.
    if list.to_string_lossy().contains([' ', ':']) {
        return Err(format!(
            "{} cannot be preloaded, because of the space or colon in its path",
            library.display()
        ));
    }
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    Ok(list)
}
