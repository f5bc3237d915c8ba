//! A server for one test, and clients for it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mysql::{Conn, OptsBuilder};
use tare_server::{Config, Server, ThreadHandling};

/// The limit of waits that would otherwise never end.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A directory that is removed at the end of the test.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let n = LAST.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tare-server-{}-{n}", std::process::id()));
        std::fs::create_dir(&path).expect("a fresh directory");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server with database `test`.
pub struct Running {
    pub server: Server,
    pub directory: Directory,
}

pub const PASSWORD: &str = "a root's password";
pub const MONITOR: &str = "a monitor's password";

/// The configuration of a test's server.
pub fn config(directory: &Directory) -> Config {
    let mut config = Config::new(directory.path());
    config.port = Some(0);
    config.password = Some(PASSWORD.into());
    config.monitor_password = Some(MONITOR.into());
    config.thread_pool_size = 2;
    config
}

impl Running {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn pool() -> Self {
        Self::with(|c| c.thread_handling = ThreadHandling::PoolOfThreads)
    }

    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        let directory = Directory::new();
        let mut config = config(&directory);
        change(&mut config);
        let server = Server::start(config).expect("the server starts");
        let running = Self { server, directory };
        let mut root = running.root();
        exec(&mut root, "CREATE DATABASE test");
        // Many tests run endless queries.
        exec(&mut root, "SET GLOBAL cte_max_recursion_depth = 4294967295");
        running
    }

    pub fn socket(&self) -> PathBuf {
        self.server.endpoints().socket.clone()
    }

    pub fn port(&self) -> u16 {
        self.server.endpoints().port.expect("a port")
    }

    /// Root by the socket, without a database.
    pub fn root(&self) -> Conn {
        Conn::new(socket_options(&self.socket())).expect("root connects")
    }

    /// Root by the socket, in database `test`.
    pub fn client(&self) -> Conn {
        let mut conn = self.root();
        exec(&mut conn, "USE test");
        conn
    }

    /// Switches on the consumers or instruments whose names are LIKE a pattern. Tests that do so take turns.
    pub fn enable(&self, table: &str, pattern: &str) -> Enabled {
        use mysql::prelude::Queryable;
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut conn = self.root();
        let off = format!(
            "SELECT QUOTE(NAME) FROM performance_schema.{table} WHERE NAME LIKE '{pattern}' AND ENABLED = 'NO'"
        );
        let mut names = all_of(&mut conn, &off);
        names.push("''".into());
        let names = names.join(", ");
        let switch = |enabled: &str| {
            let timed = match table {
                "setup_instruments" => format!(", TIMED = '{enabled}'"),
                _ => String::new(),
            };
            format!(
                "UPDATE performance_schema.{table} SET ENABLED = '{enabled}'{timed} WHERE NAME IN ({names})"
            )
        };
        conn.query_drop(switch("YES")).expect("switched on");
        Enabled {
            conn,
            undo: switch("NO"),
            _turn: turn,
        }
    }

    /// Any user by TCP.
    pub fn tcp(&self, user: &str, password: Option<&str>) -> mysql::Result<Conn> {
        Conn::new(tcp_options(self.port(), user, password))
    }
}

/// Root's connection by a socket.
pub fn socket_options(socket: &Path) -> OptsBuilder {
    OptsBuilder::new()
        .socket(socket.to_str())
        .user(Some("root"))
        .prefer_socket(false)
}

/// A user's connection by TCP.
pub fn tcp_options(port: u16, user: &str, password: Option<&str>) -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some("127.0.0.1"))
        .tcp_port(port)
        .prefer_socket(false)
        .user(Some(user))
        .pass(password)
}

/// Runs a statement that must succeed.
pub fn exec(conn: &mut Conn, sql: &str) {
    run(conn, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// Changes a setting for all tests of the process, which are written for that.
#[allow(dead_code, reason = "tests of sys need it")]
pub fn exec_for_all(conn: &mut Conn, sql: &str) {
    run_for_all(conn, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
}

/// Runs a statement that changes no setting of other tests.
pub fn run(conn: &mut Conn, sql: &str) -> mysql::Result<()> {
    run_for_all(conn, sql)?;
    let lower = sql.to_ascii_lowercase();
    let is_shared = |table: &str| lower.starts_with("update") && lower.contains(table);
    assert!(
        conn.affected_rows() == 0 || !SHARED_SETTINGS.iter().any(|table| is_shared(table)),
        "all tests of this process have the setting: see Running::enable: {sql}"
    );
    Ok(())
}

/// Runs a statement and reads all of its rows, among which an error may come: `query_drop` ignores that one.
fn run_for_all(conn: &mut Conn, sql: &str) -> mysql::Result<()> {
    use mysql::prelude::Queryable;
    let mut results = conn.query_iter(sql)?;
    while let Some(rows) = results.iter() {
        for row in rows {
            row?;
        }
    }
    Ok(())
}

/// Tables of settings that the servers of all tests share, because they are the engine's.
const SHARED_SETTINGS: [&str; 3] = ["setup_consumers", "setup_instruments", "setup_sampling"];

/// Consumers or instruments that are on for one test. Dropped, those that were off are off again.
pub struct Enabled {
    conn: Conn,
    undo: String,
    _turn: MutexGuard<'static, ()>,
}

impl Drop for Enabled {
    fn drop(&mut self) {
        use mysql::prelude::Queryable;
        let undone = self.conn.query_drop(&self.undo);
        assert!(undone.is_ok() || std::thread::panicking(), "{undone:?}");
    }
}

/// The one value of a query, as text; `NULL` for NULL.
pub fn one(conn: &mut Conn, sql: &str) -> String {
    let rows = rows(conn, sql);
    assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
    rows[0].join("|")
}

/// A query's rows, as texts.
pub fn rows(conn: &mut Conn, sql: &str) -> Vec<Vec<String>> {
    use mysql::prelude::Queryable;
    let rows: Vec<mysql::Row> = conn.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.into_iter()
        .map(|row| {
            row.unwrap()
                .into_iter()
                .map(|v| match v {
                    mysql::Value::NULL => "NULL".to_owned(),
                    mysql::Value::Bytes(b) => String::from_utf8_lossy(&b).into_owned(),
                    other => other.as_sql(true),
                })
                .collect()
        })
        .collect()
}

/// A query's rows, each as one text.
pub fn all_of(conn: &mut Conn, sql: &str) -> Vec<String> {
    rows(conn, sql).into_iter().map(|r| r.join("|")).collect()
}

/// Waits until a condition holds.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a connection runs a statement.
pub fn runs(conn: &mut Conn, id: &str) -> bool {
    let processes = rows(conn, "SHOW PROCESSLIST");
    processes.iter().any(|p| p[0] == id && p[4] == "Query")
}

/// The error number that a statement fails with; 0 when it does not.
pub fn errno(conn: &mut Conn, sql: &str) -> u16 {
    code(run(conn, sql))
}

/// The error number of a result; 0 is success.
pub fn code<T>(result: mysql::Result<T>) -> u16 {
    match result {
        Ok(_) => 0,
        Err(mysql::Error::MySqlError(e)) => e.code,
        Err(other) => panic!("no error of the server's: {other}"),
    }
}

/// A client that sends raw packets.
pub struct Raw {
    pub stream: UnixStream,
    /// The connection's number.
    pub id: u32,
}

impl Raw {
    /// Connects and reads the greeting.
    pub fn connect(running: &Running) -> Self {
        let stream = UnixStream::connect(running.socket()).expect("connects");
        stream.set_read_timeout(Some(TIMEOUT)).expect("set");
        let mut raw = Self { stream, id: 0 };
        let greeting = raw.read().expect("a greeting");
        assert_eq!(greeting[0], 10, "protocol version");
        // It follows the server's version, which ends with a zero.
        let end = greeting.iter().position(|&b| b == 0).expect("a version") + 1;
        let id = greeting[end..end + 4].try_into().expect("four bytes");
        raw.id = u32::from_le_bytes(id);
        raw
    }

    /// Logs in as root, who needs no password on the socket.
    pub fn root(running: &Running) -> Self {
        let mut raw = Self::connect(running);
        raw.log_in(45);
        assert_eq!(raw.read().expect("an answer")[0], 0, "OK");
        raw
    }

    /// Sends root's answer to the greeting, with the number of a collation.
    pub fn log_in(&mut self, collation: u8) {
        // PROTOCOL_41, SECURE_CONNECTION, LONG_PASSWORD, MULTI_STATEMENTS.
        let capabilities: u32 = 0x200 | 0x8000 | 1 | 0x1_0000;
        let mut packet = capabilities.to_le_bytes().to_vec();
        packet.extend([0, 0, 0, 1, collation]);
        packet.extend([0; 23]);
        packet.extend(b"root\0\0");
        self.send(1, &packet);
    }

    /// Sends a COM_QUERY.
    pub fn query(&mut self, sql: &str) {
        self.send(0, &[b"\x03", sql.as_bytes()].concat());
    }

    /// Sends a packet of less than 16 MiB.
    pub fn send(&mut self, sequence: u8, payload: &[u8]) {
        let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
        packet[3] = sequence;
        packet.extend_from_slice(payload);
        self.stream.write_all(&packet).expect("sent");
    }

    /// Sends a part of a packet.
    pub fn send_part(&mut self, bytes: &[u8]) {
        self.try_send_part(bytes).expect("sent");
    }

    /// Sends a part of a packet to a server that may close the connection.
    pub fn try_send_part(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// The next packet; `None` at the end.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let mut header = [0; 4];
        self.stream.read_exact(&mut header).ok()?;
        let len = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let mut payload = vec![0; len];
        self.stream.read_exact(&mut payload).ok()?;
        Some(payload)
    }

    /// The error number of the next packet, which must be an error.
    pub fn error(&mut self) -> u16 {
        let packet = self.read().expect("an error packet");
        assert_eq!(packet[0], 0xff, "an error: {packet:?}");
        u16::from_le_bytes([packet[1], packet[2]])
    }

    /// Whether the server answers a ping.
    pub fn pings(&mut self) -> bool {
        self.send(0, &[0x0e]);
        self.read().is_some_and(|p| p[0] == 0)
    }
}

/// Runs a program that must succeed. Returns its output.
pub fn output(command: &mut std::process::Command) -> String {
    let command_text = format!("{command:?}");
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command_text}: {e}; run `make deps`"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command_text}: {text}{errors}");
    text
}
