//! Servers: started on a directory of the run, queried, and stopped.

mod binaries;
mod kinds;
pub mod namespace;
pub mod preload;
mod running;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tare_client::{Address, Dsn, process};

use crate::child::{self, Child};
use crate::connection::Connection;
use crate::error::CellError;
use crate::events;
use crate::interrupt::Interrupt;
use crate::recipe::{Configuration, Engine, From, Kind, Server};

pub use binaries::Binaries;
use namespace::Namespace;
pub use running::{RunningServer, last_line};

/// The time that a server has to answer after its start.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// The parameters of a server's start.
pub struct Launch<'a> {
    /// The programs that a run starts.
    pub binaries: &'a Binaries,
    /// The server.
    pub server: &'a Server,
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The directory of the server's data, socket and log.
    pub directory: &'a Path,
    /// Where loads connect from.
    pub from: From,
    /// The network namespace of loads, if they run in one.
    pub namespace: Option<&'a Namespace>,
    /// The largest number of connections of a load.
    pub connections: u32,
    /// The size of the rows in bytes, for the buffer pool.
    pub bytes: u64,
    /// The address of a server that runs already.
    pub dsn: Option<&'a Dsn>,
    /// The time that the user's command has to answer.
    pub warm_up: Duration,
    /// The flag of signals.
    pub interrupt: &'a Interrupt,
}

impl Launch<'_> {
    /// Starts the server, creating its data directory if there is none; waits until it answers, and
    /// sends its SQL.
    ///
    /// # Errors
    /// The server is not installed, does not start, or refuses a statement.
    pub fn start(&self) -> Result<RunningServer, CellError> {
        let mut running = match self.server.kind {
            Kind::None => return Ok(RunningServer::without_server()),
            Kind::Dsn => self.connect_to_running()?,
            Kind::Command => self.start_command()?,
            Kind::Tare | Kind::Mariadb | Kind::Mysql => self.start_server()?,
        };
        if !matches!(running.connection, Connection::Absent) {
            send(&mut running, &self.server.sql)?;
        }
        self.configure(&mut running)?;
        events::exclude_own_connection(&mut running.connection);
        Ok(running)
    }

    /// Sends the configuration's SQL, and runs its commands.
    ///
    /// # Errors
    /// The server refuses a statement, or a command fails.
    pub fn configure(&self, running: &mut RunningServer) -> Result<(), CellError> {
        send(running, &self.configuration.sql)?;
        (self.configuration.switch.iter()).try_for_each(|command| running.shell(command))
    }

    /// Enough for a load that reconnects, since the server closes connections with a delay.
    fn max_connections(&self) -> u32 {
        4 * self.connections + 100
    }

    fn connect_to_running(&self) -> Result<RunningServer, CellError> {
        let dsn = self
            .dsn
            .ok_or_else(|| CellError::failed("the server has no DSN"))?;
        let mut connection = Connection::connect_with_tls(&dsn.address)
            .map_err(CellError::at(format!("cannot connect to {}", dsn)))?;
        let pid = process::find(&dsn.address, || connection.value("SELECT @@pid_file"));
        Ok(RunningServer::new(
            None,
            pid,
            connection,
            dsn.address.clone(),
        ))
    }

    fn start_server(&self) -> Result<RunningServer, CellError> {
        let remote = match (self.from, self.namespace) {
            (From::Here, _) => None,
            (From::Tcp, _) => Some("127.0.0.1".to_owned()),
            (From::Namespace, Some(namespace)) => Some(namespace.host.clone()),
            (From::Namespace, None) => return Err(CellError::Skipped(namespace::NEEDED.into())),
        };
        let port = remote
            .as_ref()
            .map(|_| namespace::free_port())
            .transpose()?;
        let started = kinds::command(self, remote.as_deref().zip(port))?;
        let mut command = started.command;
        self.set_preload(&mut command)?;
        let mut child = Child::start(command, &self.directory.join("log"), None)?;
        let address = Address {
            socket: Some(started.socket.clone()),
            user: "root".into(),
            database: "sbtest".into(),
            ..Address::default()
        };
        let connection =
            self.wait_until_ready(&mut child, || Connection::connect(address.options()).ok())?;
        let pid = child.id();
        let mut running = RunningServer::new(Some(child), Some(pid), connection, address);
        if self.configuration.engine == Engine::Tare {
            let pid = std::fs::read_to_string(&started.pid_file).ok();
            let pid = pid.and_then(|text| text.trim().parse().ok());
            let pid = pid.ok_or_else(|| CellError::failed("the server wrote no pid file"))?;
            running.pid = Some(pid);
            running.segment = Some(
                self.segment(pid)
                    .map_err(|error| error.with_log(running.log()))?,
            );
        }
        if let Some((host, port)) = remote.zip(port) {
            running.address = kinds::remote(self, &mut running, host, port)?;
        }
        if let Some(segment) = running.segment.take() {
            running.connection = segment;
        }
        Ok(running)
    }

    /// Sets the environment and the preloaded library.
    fn set_preload(&self, command: &mut Command) -> Result<(), CellError> {
        command.envs(&self.configuration.environment);
        if let Some(name) = &self.configuration.preload
            && let Some(library) = preload::library(name, self.binaries)?
        {
            command.env("LD_PRELOAD", library);
        }
        Ok(())
    }

    fn wait_until_ready<T>(
        &self,
        child: &mut Child,
        mut try_connect: impl FnMut() -> Option<T>,
    ) -> Result<T, CellError> {
        let answer = self.interrupt.wait(START_TIMEOUT, || {
            if !child.has_ended() {
                return Ok(try_connect());
            }
            let status = child.reap()?;
            let log = child.log();
            let last = last_line(&log);
            if self.configuration.engine == Engine::Tare && status.code() == Some(kinds::NOT_SERVED)
            {
                return Err(CellError::Skipped(format!("the door is closed: {last}")));
            }
            let reason = format!(
                "the server did not start: it {}: {last}",
                child::ended(status)
            );
            Err(CellError::Failed { reason, log })
        })?;
        answer.ok_or_else(|| CellError::Failed {
            reason: format!(
                "the server did not answer within {} s",
                START_TIMEOUT.as_secs()
            ),
            log: child.log(),
        })
    }

    /// Opens the segment of a process.
    fn segment(&self, pid: u32) -> Result<Connection, CellError> {
        let mut connection = Connection::Segment {
            tare: self.binaries.tare.clone(),
            pid,
        };
        match connection.query("SELECT 1") {
            Ok(_) => Ok(connection),
            Err(error) => Err(CellError::failed(format!(
                "process {pid} has no segment to ask: {error}"
            ))),
        }
    }

    /// Starts the user's command.
    fn start_command(&self) -> Result<RunningServer, CellError> {
        let port = namespace::free_port()?;
        let socket = self.directory.join("socket");
        let fill = |text: &String| {
            let text = text.replace("{port}", &port.to_string());
            text.replace("{socket}", &socket.to_string_lossy())
        };
        std::fs::create_dir_all(self.directory).map_err(CellError::at(self.directory.display()))?;
        let words = self.server.command.iter().chain(&self.server.options);
        let words: Vec<String> = words.chain(&self.configuration.options).map(fill).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        self.set_preload(&mut command)?;
        let mut child = Child::start(command, &self.directory.join("log"), None)?;
        let pid = child.id();
        let connection = match self.configuration.engine {
            // The server is up once it has a segment.
            Engine::Tare => self.wait_until_ready(&mut child, || {
                std::thread::sleep(Duration::from_millis(50));
                self.segment(pid).ok()
            })?,
            Engine::Stock => Connection::Absent,
        };
        // A socket's file exists before the server listens on it.
        let listens = || {
            std::os::unix::net::UnixStream::connect(&socket).is_ok()
                || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        };
        self.interrupt
            .wait(self.warm_up, || match child.has_ended() {
                true => {
                    let how = child::ended(child.reap()?);
                    let log = child.log();
                    let reason = format!("the server {how}: {}", last_line(&log));
                    Err(CellError::Failed { reason, log })
                }
                false => Ok(listens().then_some(())),
            })?;
        let address = Address {
            socket: Some(socket),
            port: Some(port),
            ..Address::default()
        };
        let mut running = RunningServer::new(Some(child), Some(pid), connection, address);
        running.has_children = true;
        Ok(running)
    }
}

fn send(running: &mut RunningServer, statements: &[String]) -> Result<(), CellError> {
    for statement in statements {
        running.connection.query(statement).map_err(|error| {
            CellError::failed(format!("the server refused '{statement}': {error}"))
                .with_log(running.log())
        })?;
    }
    Ok(())
}
