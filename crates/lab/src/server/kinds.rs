//! The command lines of `tare serve`, mysqld and mariadbd, and their data directories.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tare_client::Address;
use tare_client::secrets::SECRETS;

use super::binaries::PLAIN_BUILD_NEEDED;
use super::{Launch, RunningServer};
use crate::error::CellError;
use crate::recipe::{Build, Engine, Kind};

/// The exit code of `tare run --require` for a server that the door does not support.
pub const NOT_SERVED: i32 = 4;

/// A command that starts a server.
pub struct StartCommand {
    /// The command.
    pub command: Command,
    /// The server's socket.
    pub socket: PathBuf,
    /// The server's pid file.
    pub pid_file: PathBuf,
}

/// Options of every mysqld and mariadbd: the load fits into memory, commits do not wait for the disk,
/// which would hide what is measured, and network timeouts are long, because clients may be stopped
/// within a packet.
fn common(launch: &Launch) -> Vec<String> {
    let pool = (launch.bytes * 2).clamp(128 << 20, 4 << 30) >> 20;
    vec![
        format!("--innodb-buffer-pool-size={pool}M"),
        format!("--max-connections={}", launch.max_connections()),
        "--innodb-flush-log-at-trx-commit=2".into(),
        "--sync-binlog=0".into(),
        "--max-prepared-stmt-count=1048576".into(),
        "--back-log=4096".into(),
        "--connect-timeout=3600".into(),
        "--net-read-timeout=3600".into(),
        "--net-write-timeout=3600".into(),
    ]
}

/// The command of a server, whose data directory is created. `remote` is the TCP address to listen on.
pub fn command(launch: &Launch, remote: Option<(&str, u16)>) -> Result<StartCommand, CellError> {
    std::fs::create_dir_all(launch.directory).map_err(CellError::at(launch.directory.display()))?;
    match launch.server.kind {
        Kind::Tare => tare(launch, remote),
        _ => mysqld(launch, remote),
    }
}

fn tare(launch: &Launch, remote: Option<(&str, u16)>) -> Result<StartCommand, CellError> {
    let binaries = launch.binaries;
    let program = match (launch.configuration.build, &binaries.plain) {
        (Build::Instrumented, _) => &binaries.tare,
        (Build::Plain, Some(plain)) => plain,
        (Build::Plain, None) => {
            return Err(CellError::Skipped(PLAIN_BUILD_NEEDED.into()));
        }
    };
    let socket = launch.directory.join("tare.sock");
    let data = launch.directory.join("data");
    let mut command = Command::new(program);
    command
        .arg("serve")
        .arg("--data")
        .arg(data)
        .arg("--socket")
        .arg(&socket);
    match remote {
        None => {
            command.arg("--skip-networking");
        }
        Some((host, port)) => {
            command.arg(format!("--port={port}"));
            if host != "127.0.0.1" {
                command.arg(format!("--bind-address={host}"));
            }
        }
    }
    let connections = format!("--max-connections={}", launch.max_connections());
    let options = launch
        .server
        .options
        .iter()
        .chain(&launch.configuration.options);
    command.arg(connections).args(options);
    Ok(StartCommand {
        command,
        socket,
        pid_file: launch.directory.join("pid"),
    })
}

fn mysqld(launch: &Launch, remote: Option<(&str, u16)>) -> Result<StartCommand, CellError> {
    let words = match &launch.server.program {
        Some(program) => own(launch, Path::new(program))?,
        None => scripted(launch)?,
    };
    let mut words: Vec<String> = words.into_iter().chain(common(launch)).collect();
    if let Some((host, port)) = remote {
        words.retain(|word| word != "--skip-networking");
        words.extend([format!("--bind-address={host}"), format!("--port={port}")]);
        words.push("--skip-name-resolve".into());
    }
    words.extend(
        launch
            .server
            .options
            .iter()
            .chain(&launch.configuration.options)
            .cloned(),
    );
    let mut command = match launch.configuration.engine {
        Engine::Stock => Command::new(&words[0]),
        Engine::Tare => {
            let mut command = Command::new(&launch.binaries.tare);
            // An unsupported server must fail, not run without Tare.
            command.args(["run", "--require", "--", &words[0]]);
            // `tare run` saves the segment of a server that dies here.
            command.current_dir(launch.directory);
            command
        }
    };
    command.args(&words[1..]);
    Ok(StartCommand {
        command,
        socket: launch.directory.join("mysql.sock"),
        pid_file: launch.directory.join("pid"),
    })
}

/// Creates the data directory and returns the command line, both with scripts/servers.
fn scripted(launch: &Launch) -> Result<Vec<String>, CellError> {
    let version = launch.server.version.as_deref().unwrap_or("mariadb");
    let Some(script) = &launch.binaries.servers else {
        return Err(CellError::Skipped(format!(
            "scripts/servers is not here, which gets {version}: run tare from its checkout, or give the server's \
             own program = '/path/of/mysqld'"
        )));
    };
    let run = |action: &str| -> Result<String, CellError> {
        let mut command = Command::new(script);
        for secret in SECRETS {
            command.env_remove(secret);
        }
        command
            .args([action, version])
            .arg(launch.directory)
            .stdin(Stdio::null());
        let output = command.output().map_err(CellError::at(script.display()))?;
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(words(&output.stdout)),
            false => Err(CellError::Skipped(words(&output.stderr))),
        }
    };
    if !launch.directory.join("data").exists() {
        run("data")?;
    }
    Ok(run("command")?.lines().map(str::to_owned).collect())
}

/// The same for the user's own program.
fn own(launch: &Launch, program: &Path) -> Result<Vec<String>, CellError> {
    let base = program
        .parent()
        .and_then(Path::parent)
        .unwrap_or(Path::new("/usr"));
    let at = |name: &str| launch.directory.join(name).display().to_string();
    let mut options = vec![
        "--no-defaults".to_owned(),
        format!("--basedir={}", base.display()),
    ];
    if rustix::process::geteuid().is_root() {
        options.push("--user=root".into());
    }
    options.push(format!("--datadir={}", at("data")));
    if !launch.directory.join("data").exists() {
        let mut command = match launch.server.kind {
            Kind::Mariadb => Command::new("mariadb-install-db"),
            _ => Command::new(program),
        };
        command.args(&options).stdin(Stdio::null());
        match launch.server.kind {
            Kind::Mariadb => {
                command.args(["--auth-root-authentication-method=normal", "--skip-test-db"])
            }
            _ => command.arg("--initialize-insecure"),
        };
        let output = command.output().map_err(CellError::at(program.display()))?;
        if !output.status.success() {
            return Err(CellError::Failed {
                reason: format!("{} could not make a data directory", program.display()),
                log: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
    }
    let mut words = vec![program.display().to_string()];
    words.extend(options);
    words.extend([
        "--skip-networking".into(),
        format!("--socket={}", at("mysql.sock")),
        format!("--pid-file={}", at("pid")),
    ]);
    Ok(words)
}

/// The address for loads over TCP, with a user that may connect from there.
pub fn remote(
    launch: &Launch,
    running: &mut RunningServer,
    host: String,
    port: u16,
) -> Result<Address, CellError> {
    let mut address = Address {
        host: Some(host),
        port: Some(port),
        user: "root".into(),
        database: "sbtest".into(),
        ..Address::default()
    };
    if launch.server.kind == Kind::Tare {
        let file = launch.directory.join("data/password");
        let password = std::fs::read_to_string(&file).map_err(CellError::at(file.display()))?;
        address.password = password.lines().next().map(str::to_owned);
        return Ok(address);
    }
    let password = format!("{:016x}", fastrand::u64(..));
    let native = match launch.server.version.as_deref() {
        // sysbench's client library may not support the default of 8.0.
        Some("8.0") => "WITH mysql_native_password ",
        _ => "",
    };
    let mut query = |sql: &str| {
        running
            .connection
            .query(sql)
            .map_err(CellError::at("cannot make a user for TCP"))
    };
    // An earlier run may have created the user in this data directory.
    let there = query("SELECT COUNT(*) FROM mysql.user WHERE User = 'weigh'")?;
    if there
        .first()
        .and_then(|row| row.first().cloned().flatten())
        .as_deref()
        != Some("0")
    {
        query("DROP USER 'weigh'@'%'")?;
    }
    query(&format!(
        "CREATE USER 'weigh'@'%' IDENTIFIED {native}BY '{password}'"
    ))?;
    query("GRANT ALL ON *.* TO 'weigh'@'%'")?;
    address.user = "weigh".into();
    address.password = Some(password);
    Ok(address)
}
