//! The connection options of MySQL's clients, for every tool that connects to a server: `-h -P -u -p -S`,
//! `--ssl-mode`, and `~/.my.cnf` or `--defaults-file`.

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
use crate::defaults::{for_each_option, read_failure};
use crate::exit::{FAILED, Failure};

/// The exit code for a wrong command line.
const USAGE_ERROR: u8 = 2;

/// The default password is in this variable, as for MySQL's own clients.
const PASSWORD_VARIABLE: &str = "MYSQL_PWD";

/// The groups of an option file that are read.
const GROUPS: [&str; 3] = ["client", "client-server", "tare-client"];

/// The subcommands that have these options.
const COMMANDS: [&str; 8] = [
    "sql",
    "top",
    "querystat",
    "record",
    "live",
    "explain",
    "mcp",
    "weigh",
];

/// Options whose value is the next word.
const OPTIONS_WITH_VALUE: [&str; 8] = [
    "-e",
    "--execute",
    "-u",
    "--user",
    "-h",
    "--host",
    "-S",
    "-P",
];

/// Which server to connect to, and how.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "A server to connect to")]
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

    /// The password, also as -pPASSWORD; -p alone prompts for it
    #[arg(long, value_name = "PASSWORD", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    password: Option<String>,

    /// Its Unix socket
    #[arg(short = 'S', long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Read options from the groups [client], [client-server] and [tare-client] of this file, not of
    /// ~/.my.cnf
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

/// The options of an option file.
#[derive(Default, Debug, PartialEq)]
struct FileOptions {
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

    /// The host, if no other option of a server is given: a history has hosts, too. `Err` if another is given.
    #[cfg(feature = "tools")]
    pub fn only_host(&self) -> Result<Option<&str>, ()> {
        let others = Self {
            host: None,
            ..self.clone()
        };
        match others.is_given() {
            true => Err(()),
            false => Ok(self.host.as_deref()),
        }
    }

    /// The same options for a server by its address, its socket or its name in config.toml.
    #[cfg(feature = "tools")]
    pub fn with_server(&self, named: &str) -> Self {
        let mut other = self.clone();
        other.dsn = Some(named.to_owned());
        other
    }

    /// A server of this machine, by its socket or its port.
    pub fn local(socket: Option<PathBuf>, port: Option<u16>) -> Self {
        Self {
            host: port.map(|_| "127.0.0.1".to_owned()),
            port,
            socket,
            ..Self::default()
        }
    }

    /// The server's address; `None` if none is named. `password` is the default.
    pub fn server(&self, password: Option<String>) -> Result<Option<Dsn>, Failure> {
        let hidden = std::env::var(HIDDEN_PASSWORD).ok();
        let password = hidden
            .or(password)
            .or_else(|| std::env::var(PASSWORD_VARIABLE).ok());
        if let Some(own) = self.dsn.as_deref().and_then(hidden_password) {
            let others = Self {
                password: None,
                ..self.clone()
            };
            return others.resolve(Some(own));
        }
        let named = match &self.dsn {
            Some(dsn) => config::find_server(dsn)?,
            None => None,
        };
        match named {
            Some(named) => self.merge(named)?.resolve(password),
            None => self.resolve(password),
        }
    }

    /// The options of config.toml, overridden by those of the command line.
    fn merge(&self, named: config::Server) -> Result<Self, Failure> {
        let mode = named.mode().map_err(|why| Failure::new(USAGE_ERROR, why))?;
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

    fn resolve(&self, password: Option<String>) -> Result<Option<Dsn>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }
        let own = match self.password.as_deref() {
            Some("") => Some(prompt_password()?),
            Some(text) => Some(text.to_owned()),
            None => None,
        };
        if let Some(dsn) = &self.dsn {
            let mut dsn =
                Dsn::parse(dsn, password).map_err(|error| Failure::new(USAGE_ERROR, error))?;
            self.encrypt(&mut dsn.address.tls);
            dsn.address.password = own.or(dsn.address.password);
            dsn.address.user = self.user.clone().unwrap_or(dsn.address.user);
            return Ok(Some(dsn));
        }
        let file = self.file_options()?;
        let own = own.or(file.password).or(password);
        let mut tls = file.tls;
        self.encrypt(&mut tls);
        // The command line overrides the file: a host there excludes the file's socket.
        let (host, port, socket) = match (&self.host, self.port, &self.socket) {
            (None, None, None) => (file.host, file.port, file.socket),
            (host, port, Some(socket)) => (host.clone(), port, Some(socket.clone())),
            (host, port, None) => {
                let host = host.clone().or(file.host);
                let local = host.as_deref().is_none_or(|host| host == "localhost");
                (
                    host,
                    port.or(file.port),
                    file.socket.filter(|_| local && port.is_none()),
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
                    .or(file.user)
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

    fn file_options(&self) -> Result<FileOptions, Failure> {
        match &self.defaults_file {
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|error| read_failure(path, &error))?;
                parse_file(&text, path)
            }
            None => {
                let home = std::env::var_os("HOME").map(PathBuf::from);
                let path = home.unwrap_or_default().join(".my.cnf");
                let Ok(meta) = fs::metadata(&path) else {
                    return Ok(FileOptions::default());
                };
                if meta.permissions().mode() & 0o002 != 0 {
                    eprintln!(
                        "tare: {} is ignored: everybody may write it",
                        path.display()
                    );
                    return Ok(FileOptions::default());
                }
                let text =
                    fs::read_to_string(&path).map_err(|error| read_failure(&path, &error))?;
                parse_file(&text, &path)
            }
        }
    }
}

/// The password of this address, which [`hide_password`] removed.
fn hidden_password(address: &str) -> Option<String> {
    let all = std::env::var(HIDDEN_PASSWORDS).ok()?;
    let mut all: BTreeMap<String, String> = serde_json::from_str(&all).ok()?;
    all.remove(address)
}

fn parse_file(text: &str, path: &Path) -> Result<FileOptions, Failure> {
    let mut file = FileOptions::default();
    for_each_option(text, path, &GROUPS, |name, value| {
        let off =
            value.is_some_and(|v| ["0", "off", "false"].contains(&v.to_ascii_lowercase().as_str()));
        match (name, value) {
            ("host", Some(value)) => file.host = Some(value.to_owned()),
            ("port", Some(value)) => {
                file.port = Some(value.parse().map_err(|_| format!("'{value}' is no port"))?);
            }
            ("user", Some(value)) => file.user = Some(value.to_owned()),
            ("password", Some(value)) => file.password = Some(value.to_owned()),
            ("socket", Some(value)) => file.socket = Some(value.into()),
            ("ssl-mode", Some(value)) => {
                file.tls.mode = Some(
                    value
                        .parse()
                        .map_err(|error: InvalidSslMode| error.to_string())?,
                );
            }
            ("ssl-ca", Some(value)) => file.tls.ca = Some(value.into()),
            // MariaDB's clients have switches.
            ("skip-ssl" | "disable-ssl", None) => file.tls.mode = Some(SslMode::Disabled),
            ("ssl", _) => {
                file.tls.mode = Some(if off {
                    SslMode::Disabled
                } else {
                    SslMode::Required
                })
            }
            ("ssl-verify-server-cert", _) if !off => file.tls.mode = Some(SslMode::VerifyIdentity),
            // Options of other clients are ignored.
            _ => {}
        }
        Ok(())
    })?;
    Ok(file)
}

/// Prompts for the password, once per process.
fn prompt_password() -> Result<String, Failure> {
    if let Ok(hidden) = std::env::var(HIDDEN_PASSWORD) {
        return Ok(hidden);
    }
    static PASSWORD: OnceLock<String> = OnceLock::new();
    if let Some(password) = PASSWORD.get() {
        return Ok(password.clone());
    }
    let failed = |error: std::io::Error| {
        Failure::new(FAILED, format!("cannot prompt for the password: {error}"))
    };
    let input = std::io::stdin();
    let mut line = String::new();
    if !input.is_terminal() {
        return Err(Failure::new(
            USAGE_ERROR,
            "-p prompts for the password, but there is no terminal: set MYSQL_PWD, or write it into ~/.my.cnf",
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
    Ok(PASSWORD.get_or_init(|| password).clone())
}

/// Replaces `-p` and `-pPASSWORD` by `--password` and `--password=PASSWORD`, because clap would take
/// the next word for the password.
pub fn expand_password_option(mut arguments: Vec<OsString>) -> Vec<OsString> {
    replace_option_words(&mut arguments, |word, _| {
        let password = word.strip_prefix("-p")?;
        Some(match password {
            "" => "--password".to_owned(),
            password => format!("--password={password}"),
        })
    });
    arguments
}

/// Executes this program again without the passwords on its command line, which everybody could read while it
/// runs.
///
/// # Errors
/// The program cannot be executed.
pub fn hide_password(arguments: &[OsString]) -> Result<(), Failure> {
    let (bare, hidden) = without_passwords(arguments);
    if hidden == HiddenPasswords::default() {
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

/// Passwords removed from a command line.
#[derive(Debug, Default, PartialEq)]
struct HiddenPasswords {
    /// The value of `--password`.
    password: Option<String>,
    /// Passwords by the address that contained them.
    by_address: BTreeMap<String, String>,
}

/// Splits a command line from its passwords.
fn without_passwords(arguments: &[OsString]) -> (Vec<OsString>, HiddenPasswords) {
    let mut hidden = HiddenPasswords::default();
    let mut arguments = arguments.to_vec();
    // Positional arguments of these commands are servers.
    let has_servers = ["top", "live"];
    let has_servers =
        (arguments.get(1)).is_some_and(|command| has_servers.iter().any(|one| command == one));
    replace_option_words(&mut arguments, |word, before| {
        if let Some(password) = word.strip_prefix("--password=") {
            hidden.password = Some(password.to_owned()).filter(|password| !password.is_empty());
            return Some("--password".to_owned());
        }
        let url = match word.strip_prefix("--dsn=") {
            Some(url) => url,
            None if before == "--dsn" || has_servers && !word.starts_with('-') => word,
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

/// Calls `change` with each word and the one before, and replaces the word by the result. Skips
/// commands without these options, the values of other options, and everything after `--`.
fn replace_option_words(
    arguments: &mut [OsString],
    mut change: impl FnMut(&str, &str) -> Option<String>,
) {
    let has_options = |name: &OsString| COMMANDS.iter().any(|command| name == command);
    if !arguments.get(1).is_some_and(has_options) {
        return;
    }
    let end = arguments.iter().position(|argument| argument == "--");
    for at in 2..end.unwrap_or(arguments.len()) {
        let before = arguments[at - 1].to_str().unwrap_or_default();
        let Some(word) = arguments[at]
            .to_str()
            .filter(|_| !OPTIONS_WITH_VALUE.contains(&before))
        else {
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
        let file = parse_file(text, Path::new("my.cnf")).unwrap_or_default();
        let expected = FileOptions {
            port: Some(3307),
            user: Some("u".into()),
            password: Some("p # q".into()),
            tls: Tls {
                mode: Some(SslMode::VerifyCa),
                ca: Some("/x/ca.pem".into()),
            },
            ..FileOptions::default()
        };
        assert_eq!(file, expected);
        for wrong in [
            "[client]\nport=x\n",
            "[client]\nssl-mode=maybe\n",
            "[client\n",
        ] {
            assert!(parse_file(wrong, Path::new("my.cnf")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_a_part_of_its_option() {
        let spell = |words: &[&str]| {
            let spelled = expand_password_option(words.iter().map(OsString::from).collect());
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
        for command in COMMANDS {
            assert_eq!(spell(&["tare", command, "-px"])[2], "--password=x");
        }
    }

    #[test]
    fn passwords_are_removed_from_the_command_line() {
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
                &["tare", "live", "mysql://u:x@h:1/d"],
                "tare live mysql://u@h:1/d",
                "mysql://u@h:1/d x",
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
