//! Hooks: recognises the server, finds its entries, and patches all of them or none.
//!
//! | file | what it does |
//! |---|---|
//! | host | reads what process we are in: its program, its arguments, what it inherited |
//! | targets | finds each entry of a release in it, and checks that it can be overwritten |
//! | confirm | checks that a version that nobody tested has its fields at our offsets |
//! | patch | writes the jumps to our functions |
//! | rules | says which calls need not arrive while what they are for is off |
//! | switch | leads those calls to a return, and back |

mod confirm;
mod host;
mod patch;

mod rules;
mod switch;
mod targets;

use std::io::Write as _;

use tare_image::{CHECK_VARIABLE, REFUSED, REQUIRE_VARIABLE, Recognition};

use crate::releases::entry::ServerHooks;
use crate::{door, releases};
use host::Host;

/// Why a server keeps its own Performance Schema.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// It is not one of those that are known.
    #[error("{0}")]
    Unknown(String),
    /// Its options switch it off.
    #[error("{0} registers no instruments")]
    Off(String),
    /// It looked like one, and something is not as it is there.
    #[error("{0}: {1}")]
    Place(String, targets::PlaceError),
    /// It is a version that nobody has tested, and something is elsewhere.
    #[error("{0}: {1}")]
    Moved(String, confirm::Moved),
    /// Tare's engine did not start.
    #[error(transparent)]
    Engine(#[from] engine::StartError),
    /// The system did not let us write.
    #[error(transparent)]
    Patch(#[from] patch::PatchError),
}

/// Called before `main`, on the only thread.
pub fn open() {
    let Some(host) = Host::look() else {
        return;
    };
    let recognition = host.image.recognise();
    if recognition == Recognition::Other && !host.is_called_like_a_server() {
        // A shell on its way to a server, for one: what it starts shall have us.
        return;
    }
    host.keep_from_children();
    if std::env::var_os(CHECK_VARIABLE).is_some() {
        answer(&host, recognition);
    }
    if host.only_tells_or_initialises() {
        return;
    }
    match enter(&host, recognition) {
        Ok(server) => say(&format!("Tare's engine serves the instruments of {server}")),
        Err(error) => {
            say(&format!(
                "{error}; the server keeps its own Performance Schema"
            ));
            if std::env::var_os(REQUIRE_VARIABLE).is_some_and(|value| value != "0") {
                say("it was required, so the server does not start");
                // SAFETY: ends the process before its `main`; nothing has been begun that would have to end.
                unsafe { libc::_exit(REFUSED.into()) };
            }
        }
    }
}

/// To `tare run`, on standard output: `served` and what, or `refused` and why.
fn answer(host: &Host, recognition: Recognition) -> ! {
    let (text, code) = match prepare(host, recognition) {
        Ok((server, ..)) => (format!("served {server}"), 0),
        Err(error) => (format!("refused {error}"), REFUSED.into()),
    };
    let _ = writeln!(std::io::stdout(), "{text}");
    // SAFETY: ends the process before its `main`; nothing has been begun that would have to end.
    unsafe { libc::_exit(code) }
}

fn enter(host: &Host, recognition: Recognition) -> Result<String, HookError> {
    let options = host.options();
    if let Recognition::Server(server) = &recognition
        && let Some(why) = options.off(server.release)
    {
        // Calls that the server makes all the same find its own functions, as without us.
        return Err(HookError::Off(why));
    }
    let (server, places, release) = prepare(host, recognition)?;
    if let Some(names) = host.image.symbol("error_names_array") {
        let address = host.in_memory(names.address) as usize;
        door::error::set_names(address, names.size as usize);
    }
    (release.start)(&options)?;
    let switches = patch::write(&places, door::does_nothing)?;
    switch::lead(switches);
    Ok(format!("{server} ({} functions)", places.count()))
}

/// Everything but writing.
fn prepare(
    host: &Host,
    recognition: Recognition,
) -> Result<(String, targets::Places, &'static ServerHooks), HookError> {
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
    let places = targets::find(host, release)
        .map_err(|error| HookError::Place(server.to_string(), error))?;
    if server.is_tested() {
        return Ok((server.to_string(), places, release));
    }
    confirm::confirm(host, release, &places)
        .map_err(|moved| HookError::Moved(server.to_string(), moved))?;
    let text = format!("{server}, a version that was not tested and passes every check");
    Ok((text, places, release))
}

/// One line in the server's log, which is standard error this early.
fn say(text: &str) {
    // There is nobody to tell that nobody can be told.
    let _ = writeln!(std::io::stderr(), "tare: {text}");
}
