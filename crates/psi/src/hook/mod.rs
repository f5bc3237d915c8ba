//! Recognises the server, finds its entries, and patches all of them or none.
//!
//! | file | what it does |
//! |---|---|
//! | host | reads the process that has loaded the library: its program, arguments and environment |
//! | targets | finds each entry of a release in it, and checks that it can be overwritten |
//! | confirm | checks that an untested version has its fields at our offsets |
//! | pages | changes the protection of pages |
//! | patch | writes the jumps to our functions |
//! | rules | lists the calls that rest while their kinds of events are off |
//! | switch | leads those calls to a return, and back |

mod confirm;
mod host;
mod pages;
mod patch;

mod rules;
mod switch;
mod targets;

use std::io::Write as _;

use tare_image::{CHECK_VARIABLE, REFUSED, REQUIRE_VARIABLE, Recognition};

use crate::releases::entry::ServerHooks;
use crate::{door, releases};
use host::Host;

/// Why a server runs with its own Performance Schema.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// Tare does not serve it.
    #[error("{0}")]
    Unknown(String),
    /// Its options switch it off.
    #[error("{0} registers no instruments")]
    Off(String),
    /// An entry cannot be overwritten.
    #[error("{0}: {1}")]
    Location(String, targets::TargetError),
    /// The version is untested, and a field has another offset.
    #[error("{0}: {1}")]
    Moved(String, confirm::MovedField),
    /// Tare's engine did not start.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// The system did not let us write.
    #[error(transparent)]
    Patch(#[from] patch::PatchError),
}

/// Called before `main`, on the only thread.
pub fn open() {
    let Some(host) = Host::open() else {
        return;
    };
    let recognition = host.image.recognise();
    if recognition == Recognition::Other && !host.has_server_name() {
        // The program may be a shell that starts a server, and the server shall inherit the library.
        return;
    }
    host.unset_preload_for_children();
    if std::env::var_os(CHECK_VARIABLE).is_some() {
        report_to_tare_run(&host, recognition);
    }
    if host.is_short_lived() {
        return;
    }
    match install(&host, recognition) {
        Ok(server) => log(&format!("Tare's engine serves the instruments of {server}")),
        Err(error) => {
            log(&format!(
                "{error}; the server keeps its own Performance Schema"
            ));
            if std::env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value != "0") {
                log("it was required, so the server does not start");
                // SAFETY: ends the process before its `main`; nothing has been begun that would have to end.
                unsafe { libc::_exit(REFUSED.into()) };
            }
        }
    }
}

/// Answers `tare run` on standard output, with `served` and the server, or `refused` and the reason, and
/// exits.
fn report_to_tare_run(host: &Host, recognition: Recognition) -> ! {
    let (text, code) = match find_checked_targets(host, recognition) {
        Ok((server, ..)) => (format!("served {server}"), 0),
        Err(error) => (format!("refused {error}"), REFUSED.into()),
    };
    let _ = writeln!(std::io::stdout(), "{text}");
    // SAFETY: ends the process before its `main`; nothing has been begun that would have to end.
    unsafe { libc::_exit(code) }
}

fn install(host: &Host, recognition: Recognition) -> Result<String, HookError> {
    let options = host.options();
    if let Recognition::Server(server) = &recognition
        && let Some(why) = options.off_reason(server.release)
    {
        // The server calls some functions all the same: it finds its own, as without the library.
        return Err(HookError::Off(why));
    }
    let (server, targets, release) = find_checked_targets(host, recognition)?;
    if let Some(names) = host.image.symbol("error_names_array") {
        let address = host.in_memory(names.address) as usize;
        door::error::set_names(address, names.size as usize);
    }
    (release.start)(&options)?;
    let switches = patch::write(&targets, door::does_nothing)?;
    switch::lead(switches);
    Ok(format!("{server} ({} functions)", targets.len()))
}

/// Recognises the server, finds its entries and checks them: everything but writing.
fn find_checked_targets(
    host: &Host,
    recognition: Recognition,
) -> Result<(String, Vec<targets::Target>, &'static ServerHooks), HookError> {
    let server = match recognition {
        Recognition::Server(server) => server,
        Recognition::Unknown(why) => return Err(HookError::Unknown(why)),
        Recognition::Other => {
            return Err(HookError::Unknown(
                "this program exports no Performance Schema: it was stripped, or built without"
                    .into(),
            ));
        }
    };
    let release = releases::hooks(server.release);
    let targets = targets::find_targets(host, release)
        .map_err(|error| HookError::Location(server.to_string(), error))?;
    if server.is_tested() {
        return Ok((server.to_string(), targets, release));
    }
    confirm::check_fields(host, release, &targets)
        .map_err(|moved| HookError::Moved(server.to_string(), moved))?;
    let text = format!("{server}, a version that was not tested and passes every check");
    Ok((text, targets, release))
}

/// Writes a line to the server's log, which is standard error this early.
fn log(text: &str) {
    // An error cannot be reported anywhere else.
    let _ = writeln!(std::io::stderr(), "tare: {text}");
}
