//! Options that MySQL's clients have, for every tool that asks a server: `-h -P -u -p -S`, `--ssl-mode`,
//! and what `~/.my.cnf` or `--defaults-file` says.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use tare_client::secrets::{HIDDEN_PASSWORD, HIDDEN_PASSWORDS};
use tare_client::{Address, Dsn, InvalidSslMode, SslMode, Tls, default_socket, without_password};

use crate::config;
use crate::defaults::{each_option, unknown_file};
use crate::exit::{FAILED, Failure};

/// The command line is wrong.
const WRONG: u8 = 2;

/// Where a password comes from that is given nowhere else: what MySQL's own clients read.
const PASSWORD: &str = "MYSQL_PWD";

/// The groups of an option file that are read.
const GROUPS: [&str; 3] = ["client", "client-server", "tare-client"];

/// The subcommands that have these options.
const COMMANDS: [&str; 6] = ["sql", "top", "querystat", "record", "explain", "weigh"];

/// Options whose value is the next word, whatever that looks like.
const VALUED: [&str; 8] = [
    "-e",
    "--execute",
    "-u",
    "--user",
    "-h",
    "--host",
    "-S",
    "-P",
];

/// A server to ask.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "A server to ask")]
pub struct ServerOptions {
    /// A server: mysql://USER@HOST:PORT/DATABASE?ssl-mode=MODE&ssl-ca=FILE, the path of its socket, or its
    /// name in ~/.config/tare/config.toml. The password comes from the environment variable MYSQL_PWD,
    /// where other users cannot see it
    #[arg(long, value_name = "URL", conflicts_with_all = ["host", "port", "user", "password", "socket", "defaults_file"])]
    pub dsn: Option<String>,

    /// Its host; localhost without a port is its socket
    #[arg(short = 'h', long, value_name = "HOST")]
    host: Option<String>,

    /// Its TCP port
    #[arg(short = 'P', long, value_name = "N")]
    port: Option<u16>,

    /// The user [default: root]
    #[arg(short = 'u', long, value_name = "USER")]
    user: Option<String>,

    /// The password, also as -pPASSWORD; without one (-p) it is asked for
    #[arg(long, value_name = "PASSWORD", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    password: Option<String>,

    /// Its Unix socket
    #[arg(short = 'S', long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Read options from the groups [client] and [tare-client] of this file, not of ~/.my.cnf
    #[arg(long, value_name = "PATH")]
    defaults_file: Option<PathBuf>,

    /// DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY [default: PREFERRED; VERIFY_CA with
    /// --ssl-ca]
    #[arg(long, value_name = "MODE")]
    ssl_mode: Option<SslMode>,

    /// Certificates of the authorities that may have signed the server's, in PEM
    #[arg(long, value_name = "FILE")]
    ssl_ca: Option<PathBuf>,

    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

/// What an option file says.
#[derive(Default, Debug, PartialEq)]
struct Filed {
    host: Option<String>,
    port: Option<u16>,
    user: Option<String>,
    password: Option<String>,
    socket: Option<PathBuf>,
    tls: Tls,
}

impl ServerOptions {
    /// Whether a server is named.
    pub fn is_given(&self) -> bool {
        self.dsn.is_some()
            || self.host.is_some()
            || self.port.is_some()
            || self.user.is_some()
            || self.password.is_some()
            || self.socket.is_some()
            || self.defaults_file.is_some()
    }

    /// The host, where nothing else of a server is named: what else asks has hosts, too. `Err`: more is named.
    #[cfg(feature = "history")]
    pub fn host_alone(&self) -> Result<Option<&str>, ()> {
        let others = Self {
            host: None,
            ..self.clone()
        };
        match others.is_given() {
            true => Err(()),
            false => Ok(self.host.as_deref()),
        }
    }

    /// The same for a server that is named by its address, its socket or its name in config.toml.
    #[cfg(feature = "terminal")]
    pub fn of(&self, named: &str) -> Self {
        let mut other = self.clone();
        other.dsn = Some(named.to_owned());
        other
    }

    /// A server of this machine, by its socket or its port.
    #[cfg(feature = "terminal")]
    pub fn at(socket: Option<PathBuf>, port: Option<u16>) -> Self {
        Self {
            host: port.map(|_| "127.0.0.1".to_owned()),
            port,
            socket,
            ..Self::default()
        }
    }

    /// How to reach the server; `None` when none is named. `password`: the one that is taken when nothing
    /// else says one.
    pub fn server(&self, password: Option<String>) -> Result<Option<Dsn>, Failure> {
        let hidden = std::env::var(HIDDEN_PASSWORD).ok();
        let password = hidden.or(password).or_else(|| std::env::var(PASSWORD).ok());
        if let Some(own) = self.dsn.as_deref().and_then(of_address) {
            let alone = Self {
                password: None,
                ..self.clone()
            };
            return alone.reach(Some(own));
        }
        let named = match &self.dsn {
            Some(dsn) => config::server(dsn)?,
            None => None,
        };
        match named {
            Some(named) => self.over(named)?.reach(password),
            None => self.reach(password),
        }
    }

    /// What config.toml says of a server, and before it what stands on the command line.
    fn over(&self, named: config::Server) -> Result<Self, Failure> {
        let mode = named.mode().map_err(|why| Failure::new(WRONG, why))?;
        Ok(Self {
            dsn: named.dsn,
            host: self.host.clone().or(named.host),
            port: self.port.or(named.port),
            user: self.user.clone().or(named.user),
            password: self.password.clone().or(named.password),
            socket: self.socket.clone().or(named.socket),
            defaults_file: self.defaults_file.clone().or(named.defaults_file),
            ssl_mode: self.ssl_mode.or(mode),
            ssl_ca: self.ssl_ca.clone().or(named.ssl_ca),
            help: None,
        })
    }

    fn reach(&self, password: Option<String>) -> Result<Option<Dsn>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }
        let own = match self.password.as_deref() {
            Some("") => Some(ask()?),
            Some(text) => Some(text.to_owned()),
            None => None,
        };
        if let Some(dsn) = &self.dsn {
            let mut dsn = Dsn::parse(dsn, password).map_err(|error| Failure::new(WRONG, error))?;
            self.encrypt(&mut dsn.address.tls);
            dsn.address.password = own.or(dsn.address.password);
            dsn.address.user = self.user.clone().unwrap_or(dsn.address.user);
            return Ok(Some(dsn));
        }
        let filed = self.filed()?;
        let own = own.or(filed.password).or(password);
        let mut tls = filed.tls;
        self.encrypt(&mut tls);
        // What stands on the command line has the last word: a host there is no socket of the file.
        let (host, port, socket) = match (&self.host, self.port, &self.socket) {
            (None, None, None) => (filed.host, filed.port, filed.socket),
            (host, port, Some(socket)) => (host.clone(), port, Some(socket.clone())),
            (host, port, None) => {
                let host = host.clone().or(filed.host);
                let local = host.as_deref().is_none_or(|host| host == "localhost");
                (
                    host,
                    port.or(filed.port),
                    filed.socket.filter(|_| local && port.is_none()),
                )
            }
        };
        let local = host.as_deref().is_none_or(|host| host == "localhost");
        let socket = socket.or_else(|| default_socket().filter(|_| local && port.is_none()));
        Ok(Some(Dsn {
            address: Address {
                socket,
                host: host.map(|host| {
                    if host == "localhost" {
                        "127.0.0.1".into()
                    } else {
                        host
                    }
                }),
                port,
                user: self
                    .user
                    .clone()
                    .or(filed.user)
                    .unwrap_or_else(|| "root".into()),
                password: own,
                database: "sbtest".into(),
                tls,
            },
            database: None,
        }))
    }

    fn encrypt(&self, tls: &mut Tls) {
        tls.mode = self.ssl_mode.or(tls.mode);
        tls.ca = self.ssl_ca.clone().or_else(|| tls.ca.take());
    }

    fn filed(&self) -> Result<Filed, Failure> {
        match &self.defaults_file {
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|error| unknown_file(path, &error))?;
                read(&text, path)
            }
            None => {
                let home = std::env::var_os("HOME").map(PathBuf::from);
                let path = home.unwrap_or_default().join(".my.cnf");
                let Ok(meta) = fs::metadata(&path) else {
                    return Ok(Filed::default());
                };
                if meta.permissions().mode() & 0o002 != 0 {
                    eprintln!(
                        "tare: {} is ignored: everybody may write it",
                        path.display()
                    );
                    return Ok(Filed::default());
                }
                let text =
                    fs::read_to_string(&path).map_err(|error| unknown_file(&path, &error))?;
                read(&text, &path)
            }
        }
    }
}

/// The password that stood in this address, see [`hide_password`].
fn of_address(address: &str) -> Option<String> {
    let all = std::env::var(HIDDEN_PASSWORDS).ok()?;
    let mut all: BTreeMap<String, String> = serde_json::from_str(&all).ok()?;
    all.remove(address)
}

fn read(text: &str, path: &Path) -> Result<Filed, Failure> {
    let mut filed = Filed::default();
    each_option(text, path, &GROUPS, |name, value| {
        let off =
            value.is_some_and(|v| ["0", "off", "false"].contains(&v.to_ascii_lowercase().as_str()));
        match (name, value) {
            ("host", Some(value)) => filed.host = Some(value.to_owned()),
            ("port", Some(value)) => {
                filed.port = Some(value.parse().map_err(|_| format!("'{value}' is no port"))?);
            }
            ("user", Some(value)) => filed.user = Some(value.to_owned()),
            ("password", Some(value)) => filed.password = Some(value.to_owned()),
            ("socket", Some(value)) => filed.socket = Some(value.into()),
            ("ssl-mode", Some(value)) => {
                filed.tls.mode = Some(
                    value
                        .parse()
                        .map_err(|error: InvalidSslMode| error.to_string())?,
                );
            }
            ("ssl-ca", Some(value)) => filed.tls.ca = Some(value.into()),
            // MariaDB's clients have switches.
            ("skip-ssl" | "disable-ssl", None) => filed.tls.mode = Some(SslMode::Disabled),
            ("ssl", _) => {
                filed.tls.mode = Some(if off {
                    SslMode::Disabled
                } else {
                    SslMode::Required
                })
            }
            ("ssl-verify-server-cert", _) if !off => filed.tls.mode = Some(SslMode::VerifyIdentity),
            // Others are for other clients.
            _ => {}
        }
        Ok(())
    })?;
    Ok(filed)
}

/// Asks for the password, once.
fn ask() -> Result<String, Failure> {
    if let Ok(hidden) = std::env::var(HIDDEN_PASSWORD) {
        return Ok(hidden);
    }
    static ASKED: OnceLock<String> = OnceLock::new();
    if let Some(asked) = ASKED.get() {
        return Ok(asked.clone());
    }
    let failed = |error: std::io::Error| {
        Failure::new(FAILED, format!("cannot ask for the password: {error}"))
    };
    let input = std::io::stdin();
    let mut line = String::new();
    if !input.is_terminal() {
        return Err(Failure::new(
            WRONG,
            "-p asks for the password, and there is no terminal: set MYSQL_PWD, or write it into ~/.my.cnf",
        ));
    }
    eprint!("Enter password: ");
    let _ = std::io::stderr().flush();
    let before = tcgetattr(&input).map_err(|error| failed(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &silent).map_err(|error| failed(error.into()))?;
    let read = input.read_line(&mut line);
    let _ = tcsetattr(&input, OptionalActions::Flush, &before);
    eprintln!();
    read.map_err(failed)?;
    let password = line.trim_end_matches(['\r', '\n']).to_owned();
    Ok(ASKED.get_or_init(|| password).clone())
}

/// The command line with `-p` and `-pPASSWORD` as clap knows them: the password is a part of the option, and
/// what stands behind it is none.
pub fn as_mysql_spells(mut arguments: Vec<OsString>) -> Vec<OsString> {
    each_option_word(&mut arguments, |word, _| {
        let password = word.strip_prefix("-p")?;
        Some(match password {
            "" => "--password".to_owned(),
            password => format!("--password={password}"),
        })
    });
    arguments
}

/// A password on our command line would be there for everybody to see as long as we run: we start anew
/// without it.
///
/// # Errors
/// We cannot.
pub fn hide_password(arguments: &[OsString]) -> Result<(), Failure> {
    let (bare, hidden) = without_passwords(arguments);
    if hidden == Hidden::default() {
        return Ok(());
    }
    let error = match std::env::current_exe() {
        Ok(program) => {
            let mut command = Command::new(program);
            command.args(&bare[1..]);
            if let Some(password) = hidden.password {
                command.env(HIDDEN_PASSWORD, password);
            }
            if !hidden.by_address.is_empty() {
                let all = serde_json::json!(hidden.by_address).to_string();
                command.env(HIDDEN_PASSWORDS, all);
            }
            command.exec()
        }
        Err(error) => error,
    };
    Err(Failure::new(
        FAILED,
        format!("cannot restart without the password on the command line: {error}"),
    ))
}

/// Passwords of a command line.
#[derive(Debug, Default, PartialEq)]
struct Hidden {
    /// That of `--password`.
    password: Option<String>,
    /// Those of addresses, each for its own server.
    by_address: BTreeMap<String, String>,
}

/// The command line without its passwords, and these.
fn without_passwords(arguments: &[OsString]) -> (Vec<OsString>, Hidden) {
    let mut hidden = Hidden::default();
    let mut arguments = arguments.to_vec();
    // The servers of tare top are words of their own.
    let is_top = arguments.get(1).is_some_and(|command| command == "top");
    each_option_word(&mut arguments, |word, before| {
        if let Some(password) = word.strip_prefix("--password=") {
            hidden.password = Some(password.to_owned()).filter(|password| !password.is_empty());
            return Some("--password".to_owned());
        }
        let url = match word.strip_prefix("--dsn=") {
            Some(url) => url,
            None if before == "--dsn" || is_top && !word.starts_with('-') => word,
            None => return None,
        };
        let (bare, Some(password)) = without_password(url) else {
            return None;
        };
        let changed = format!("{}{bare}", &word[..word.len() - url.len()]);
        if !password.is_empty() {
            hidden.by_address.insert(bare, password);
        }
        Some(changed)
    });
    (arguments, hidden)
}

/// Hands over the words of a command line that asks a server, each with the one before, and takes what is to
/// stand in its place. The values of other options are left out, and what stands behind `--`.
fn each_option_word(
    arguments: &mut [OsString],
    mut change: impl FnMut(&str, &str) -> Option<String>,
) {
    let known = |name: &OsString| COMMANDS.iter().any(|command| name == command);
    if !arguments.get(1).is_some_and(known) {
        return;
    }
    let ends = arguments.iter().position(|argument| argument == "--");
    for at in 2..ends.unwrap_or(arguments.len()) {
        let before = arguments[at - 1].to_str().unwrap_or_default();
        let Some(word) = arguments[at].to_str().filter(|_| !VALUED.contains(&before)) else {
            continue;
        };
        if let Some(changed) = change(word, before) {
            arguments[at] = changed.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_clients_are_read() {
        let text = "[mysqld]\nport=1\n[client]\nuser = 'u'\npassword=\"p # q\"\nport=3307\nno_such = 1\n\
                    [tare-client]\nssl_mode = verify-ca\nssl-ca=/x/ca.pem\n[mysql]\nuser=other\n";
        let filed = read(text, Path::new("my.cnf")).unwrap_or_default();
        let expected = Filed {
            port: Some(3307),
            user: Some("u".into()),
            password: Some("p # q".into()),
            tls: Tls {
                mode: Some(SslMode::VerifyCa),
                ca: Some("/x/ca.pem".into()),
            },
            ..Filed::default()
        };
        assert_eq!(filed, expected);
        for wrong in [
            "[client]\nport=x\n",
            "[client]\nssl-mode=maybe\n",
            "[client\n",
        ] {
            assert!(read(wrong, Path::new("my.cnf")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_a_part_of_its_option() {
        let spell = |words: &[&str]| {
            let spelled = as_mysql_spells(words.iter().map(OsString::from).collect());
            spelled
                .into_iter()
                .map(|word| word.into_string().unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            spell(&[
                "tare", "sql", "-p", "-psecret", "-e", "-p1", "--pid", "1", "--", "-p"
            ]),
            [
                "tare",
                "sql",
                "--password",
                "--password=secret",
                "-e",
                "-p1",
                "--pid",
                "1",
                "--",
                "-p"
            ]
        );
        assert_eq!(spell(&["tare", "run", "-p"]), ["tare", "run", "-p"]);
    }

    #[test]
    fn a_command_line_is_shown_without_its_password() {
        let hide = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(OsString::from).collect();
            let (bare, hidden) = without_passwords(&words);
            let bare = bare
                .into_iter()
                .map(|word| word.into_string().unwrap_or_default());
            let by_address = hidden.by_address.into_iter();
            let mut all: Vec<String> = by_address.map(|(a, p)| format!("{a} {p}")).collect();
            all.extend(hidden.password);
            (bare.collect::<Vec<_>>().join(" "), all.join(", "))
        };
        for (words, bare, passwords) in [
            (
                &["tare", "top", "--password=x"][..],
                "tare top --password",
                "x",
            ),
            (&["tare", "top", "--password="], "tare top --password", ""),
            (
                &["tare", "top", "--dsn", "mysql://u:x%20y@h:1/d"],
                "tare top --dsn mysql://u@h:1/d",
                "mysql://u@h:1/d x y",
            ),
            (
                &["tare", "top", "--dsn=mysql://u:x@h:1/d"],
                "tare top --dsn=mysql://u@h:1/d",
                "mysql://u@h:1/d x",
            ),
            (
                &[
                    "tare",
                    "top",
                    "mysql://u:x@h:1/d",
                    "prod1",
                    "mysql://u:y@g:1/d",
                ],
                "tare top mysql://u@h:1/d prod1 mysql://u@g:1/d",
                "mysql://u@g:1/d y, mysql://u@h:1/d x",
            ),
            (
                &["tare", "sql", "-e", "--password=x", "--dsn", "s"],
                "tare sql -e --password=x --dsn s",
                "",
            ),
        ] {
            assert_eq!(hide(words), (bare.to_owned(), passwords.to_owned()));
        }
    }
}
