//! sysbench's command lines. The password is in a file, not on the command line.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tare_client::Address;

use super::Drive;
use crate::child::{self, Child};
use crate::error::CellError;
use crate::server::{RunningServer, last_line};

/// Tare's own scripts, for loads that sysbench does not have.
const SCRIPTS: [(&str, &str); 2] = [
    ("reconnect", include_str!("../../lua/reconnect.lua")),
    ("call", include_str!("../../lua/call.lua")),
];

/// The script that fills the tables, which all scripts use.
const PREPARE: &str = "oltp_read_write";

/// The command of a run of the load.
pub(super) fn run(drive: &Drive, address: &Address) -> Result<Command, CellError> {
    let mut command = command(drive, address, &script(drive)?)?;
    command.args([
        format!("--time={}", drive.seconds),
        "--report-interval=1".into(),
        "--histogram=on".into(),
    ]);
    if let Some(rate) = drive.rate {
        command.arg(format!("--rate={}", rate.round().max(1.0)));
    }
    command.arg("run");
    Ok(command)
}

/// The command of a script, without its duration.
pub(super) fn command(
    drive: &Drive,
    address: &Address,
    script: &Path,
) -> Result<Command, CellError> {
    let mut command = drive.program("sysbench")?;
    command
        .arg(config(drive.directory, address)?)
        .arg(script)
        .args([
            format!("--tables={}", drive.data.tables),
            format!("--table-size={}", drive.data.rows),
            format!("--threads={}", drive.connections),
        ])
        .args(drive.options());
    Ok(command)
}

/// Creates the database and fills its tables.
///
/// # Errors
/// The server refuses, or sysbench fails.
pub fn prepare(drive: &Drive, running: &mut RunningServer) -> Result<(), CellError> {
    let address = &running.address;
    let database = &address.database;
    let mut connection = crate::connection::Connection::connect(address.options())
        .map_err(CellError::at("cannot connect to prepare the tables"))?;
    connection
        .query(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))
        .map_err(CellError::at(format!("cannot make database {database}")))?;
    drop(connection);
    let mut command = Command::new("sysbench");
    command
        .arg(config(drive.directory, address)?)
        .arg(PREPARE)
        .args([
            format!("--tables={}", drive.data.tables),
            format!("--table-size={}", drive.data.rows),
            "prepare".into(),
        ]);
    let log = drive.directory.join("prepare.log");
    let _ = fs::remove_file(&log);
    let mut child = Child::start(command, &log, None)?;
    let ended = drive.interrupt.wait(Duration::from_secs(24 * 3600), || {
        running.check_alive()?;
        Ok(child.has_ended().then_some(()))
    });
    if let Err(error) = ended {
        child.kill();
        return Err(error);
    }
    let status = child.reap()?;
    if status.success() {
        return Ok(());
    }
    let log = child.log();
    let reason = format!(
        "sysbench prepare {}: {}",
        child::ended(status),
        last_line(&log)
    );
    Err(CellError::Failed { reason, log })
}

/// Writes a file with the address, which only this user can read, and returns the option that names it.
fn config(directory: &Path, address: &Address) -> Result<String, CellError> {
    let path = directory.join("sysbench.conf");
    let mut lines = vec![
        format!("mysql-user={}", address.user),
        format!("mysql-db={}", address.database),
    ];
    lines.extend(
        address
            .password
            .iter()
            .map(|password| format!("mysql-password={password}")),
    );
    match (&address.socket, &address.host) {
        (Some(socket), _) => lines.push(format!("mysql-socket={}", socket.display())),
        (None, host) => {
            lines.push(format!(
                "mysql-host={}",
                host.as_deref().unwrap_or("127.0.0.1")
            ));
            lines.push(format!("mysql-port={}", address.port.unwrap_or(3306)));
        }
    }
    let write = || -> std::io::Result<()> {
        let _ = fs::remove_file(&path);
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all((lines.join("\n") + "\n").as_bytes())
    };
    write().map_err(CellError::at(path.display()))?;
    Ok(format!("--config-file={}", path.display()))
}

/// The workload's script: a name of sysbench's, or the path of Tare's.
pub(super) fn script(drive: &Drive) -> Result<PathBuf, CellError> {
    let script = drive.parts.workload.script.as_deref().unwrap_or(PREPARE);
    let Some((name, text)) = SCRIPTS.iter().find(|(name, _)| *name == script) else {
        return Ok(script.into());
    };
    let path = drive.directory.join(format!("{name}.lua"));
    fs::write(&path, text).map_err(CellError::at(path.display()))?;
    Ok(path)
}
