//! Runs one test with mysqltest on a server of its own.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;

use crate::cases::Case;
use crate::flavor::Flavor;
use crate::options::{EVERYTHING, option_file, tare_options};
use crate::relay::{Destinations, Relay};
use crate::servers::{command_line, create_data_directory, kill, tare_run};
use crate::support::server::connect;
use crate::support::{Directory, HANG_TIMEOUT};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// With mysqltest's output.
    Failed(String),
    /// The test itself reported that something is missing.
    Skipped(String),
}

/// The server that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `tare serve`.
    Tare,
    /// The server that the suite was written for, with Tare's engine. Reads go to Tare's tables.
    Door,
    /// The server that the suite was written for, unchanged, to test this runner.
    Stock,
}

/// Time limit of a test. Some wait a minute for something that does not happen.
const TEST_TIMEOUT: Duration = Duration::from_secs(180);

/// Grants everybody database test, as in the harness's own data directory.
const GRANT_TEST: &str = "INSERT INTO mysql.db (Host, Db, User, Select_priv, Insert_priv, Update_priv, Delete_priv, \
    Create_priv, Drop_priv, References_priv, Index_priv, Alter_priv, Create_tmp_table_priv, Lock_tables_priv, \
    Create_view_priv, Show_view_priv, Create_routine_priv, Event_priv, Trigger_priv) VALUES ('%', 'test', '', 'Y', \
    'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y')";

/// The harness reads all tables before each test, which opens those of the server's Performance Schema.
const OPEN_TABLES: &str = "SELECT COUNT(column_type) FROM information_schema.columns WHERE table_schema = 'performance_schema'";

/// Sets the harness's format of EXPLAIN, which `tare serve` has no option for. MariaDB has no such variable.
fn set_explain_format(conn: &mut mysql::Conn) {
    let _ = conn.query_drop("SET GLOBAL explain_format = 'TRADITIONAL'");
}

struct Server {
    child: Child,
    socket: PathBuf,
    /// For a server with Tare's engine: the process with Tare's tables, its socket, and the server's pid.
    tables: Option<(Child, PathBuf, u32)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.tables {
            Some((tables, _, server)) => {
                let _ = tables.kill();
                let _ = tables.wait();
                // `tare run` ends after its command.
                kill(*server, rustix::process::Signal::KILL);
            }
            None => drop(self.child.kill()),
        }
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server and waits until it takes connections. If it does not, the error is its log.
    fn start(
        flavor: &Flavor,
        host: Host,
        case: &Case,
        directory: &Directory,
    ) -> Result<Self, String> {
        let path = directory.path();
        let socket;
        let mut command;
        match host {
            Host::Tare => {
                socket = path.join("s");
                let mut options: Vec<String> = EVERYTHING.map(str::to_owned).into();
                options.push(flavor.options[0].to_owned());
                options.extend_from_slice(&case.options);
                fs::write(path.join("tare.cnf"), option_file(&options)).expect("a file of options");
                command = directory.tare(["serve", "--defaults-file", "tare.cnf"]);
                command
                    .arg("--skip-networking")
                    .arg("--socket")
                    .arg(&socket);
                command.arg("--data").arg(path.join("data"));
            }
            Host::Door | Host::Stock => {
                socket = path.join("mysql.sock");
                create_data_directory(flavor.version, path);
                let line = command_line(flavor.version, path);
                command = match host {
                    Host::Door => tare_run(directory, &line),
                    _ => Command::new(&line[0]),
                };
                if host == Host::Stock {
                    command.args(&line[1..]);
                }
                if host == Host::Door {
                    command.env("TARE_OPTIONS", tare_options(&case.options));
                }
                command.args(EVERYTHING).args(flavor.options);
                command.args(&case.options).current_dir(path);
            }
        }
        let log = path.join("log");
        let file = fs::File::create(&log).expect("a log");
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone().expect("a log"))
            .stderr(file);
        let child = command.spawn().expect("the server starts");
        let mut server = Self {
            child,
            socket,
            tables: None,
        };
        let since = Instant::now();
        loop {
            if let Ok(mut conn) = connect(&server.socket) {
                conn.query_drop("CREATE DATABASE IF NOT EXISTS test")
                    .and_then(|()| conn.query_drop("CREATE DATABASE mtr"))
                    .map_err(|e| format!("the databases test and mtr: {e}"))?;
                set_explain_format(&mut conn);
                if host != Host::Tare {
                    conn.query_drop(GRANT_TEST)
                        .and_then(|()| conn.query_drop("FLUSH PRIVILEGES"))
                        .map_err(|e| format!("the rights on test: {e}"))?;
                }
                // Tests expect a database's folder. In `tare serve` a database is a file.
                fs::create_dir_all(path.join("data/mtr")).expect("a folder");
                if host == Host::Door {
                    conn.query_drop(OPEN_TABLES)
                        .map_err(|e| format!("its own tables: {e}"))?;
                    server.tables = Some(start_tables(flavor, directory)?);
                }
                return Ok(server);
            }
            let ended = server.child.try_wait().expect("it is our child");
            if ended.is_some() || since.elapsed() > HANG_TIMEOUT {
                let text = fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("the server does not start: {text}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Starts a `tare serve` that is attached to the server that runs in a directory.
fn start_tables(flavor: &Flavor, directory: &Directory) -> Result<(Child, PathBuf, u32), String> {
    let path = directory.path();
    let pid = fs::read_to_string(path.join("pid")).unwrap_or_default();
    let pid = pid.trim().parse().map_err(|_| format!("no pid: {pid}"))?;
    let socket = path.join("t");
    let log = fs::File::create(path.join("tables.log")).expect("a log");
    let mut command = directory.tare(["serve", "--skip-networking", "--data", "tables"]);
    command.args(["--as", flavor.series]);
    command.arg("--socket").arg(&socket);
    command.arg("--attach-pid").arg(format!("{pid}"));
    command.stdout(log.try_clone().expect("a log")).stderr(log);
    let mut child = command.spawn().expect("tare serve starts");
    let since = Instant::now();
    loop {
        if let Ok(mut conn) = connect(&socket) {
            if let Err(e) = conn.query_drop("CREATE DATABASE IF NOT EXISTS test") {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the database test: {e}"));
            }
            set_explain_format(&mut conn);
            return Ok((child, socket, pid));
        }
        let ended = child.try_wait().expect("it is our child");
        if ended.is_some() || since.elapsed() > HANG_TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            let text = fs::read_to_string(path.join("tables.log")).unwrap_or_default();
            return Err(format!("Tare's tables are not there: {text}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs one test.
pub fn run(flavor: &Flavor, host: Host, home: &Path, case: &Case) -> Outcome {
    let directory = Directory::new("suite");
    match Server::start(flavor, host, case, &directory) {
        Ok(server) => {
            let tables = server.tables.as_ref().map(|(_, socket, _)| socket.clone());
            let ends = Destinations::new(server.socket.clone(), tables);
            let relay = Relay::start(&directory.path().join("r"), ends);
            run_mysqltest(flavor, home, case, directory.path(), &relay)
        }
        Err(why) => Outcome::Failed(why),
    }
}

/// Runs mysqltest and compares its output with the recorded result.
fn run_mysqltest(flavor: &Flavor, home: &Path, case: &Case, path: &Path, relay: &Relay) -> Outcome {
    let tests = home.join("tests");
    let vardir = path.join("var");
    for folder in ["tmp", "log"] {
        fs::create_dir_all(vardir.join(folder)).expect("its folders");
    }
    std::os::unix::fs::symlink(tests.join("std_data"), vardir.join("std_data")).expect("a link");
    let options = path.join("my.cnf");
    let (socket, port) = (relay.socket.display().to_string(), relay.port.to_string());
    let client = format!(
        "[client]\nuser=root\nsocket={socket}\nport={port}\n{}",
        flavor.clients
    );
    fs::write(&options, client).expect("a file of options");
    let file = format!("--defaults-file={}", options.display());
    let (output, errors) = (path.join("output"), path.join("errors"));
    let out = fs::File::create(&output).expect("a file");
    let err = fs::File::create(&errors).expect("a file");
    let mut command = Command::new(home.join("bin").join("mysqltest"));
    command
        .current_dir(&tests)
        .args([&file, "--silent", "--database=test", "--tail-lines=20"])
        .arg(format!("--tmpdir={}/tmp", vardir.display()))
        .arg(format!("--logdir={}/log", vardir.display()))
        .arg(format!("--timer-file={}/log/timer", vardir.display()))
        .args(flavor.suite_directory_option(case))
        .arg(format!("--test-file={}", case.test().display()))
        .env("LC_ALL", "C")
        .env("TZ", "GMT-3")
        .env("MYSQL_TEST_DIR", &tests)
        .env("MYSQL_TMP_DIR", flavor.temporary(path))
        .env("MYSQLTEST_VARDIR", &vardir)
        .env("MASTER_MYSOCK", &socket)
        .env("MASTER_MYPORT", &port)
        .env("USE_RUNNING_SERVER", "0")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    for (variable, program) in PROGRAMS {
        let fetched = home.join("bin").join(program);
        let program = match fetched.exists() {
            true => fetched,
            false => PathBuf::from(program),
        };
        command.env(variable, format!("{} {file}", program.display()));
    }
    let mut child = command.spawn().expect("mysqltest starts");
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if since.elapsed() > TEST_TIMEOUT {
            let _ = child.kill();
            let _ = child.wait();
            let output = text(&output);
            return Outcome::Failed(format!("{output}\ntakes longer than {TEST_TIMEOUT:?}\n"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    match status.code() {
        Some(0) => compare(flavor, &text(&case.result()), &text(&output)),
        Some(SKIPPED) => Outcome::Skipped(text(&errors)),
        _ => Outcome::Failed(format!("{}{}", text(&output), text(&errors))),
    }
}

/// Compares a test's output with the recorded result.
fn compare(flavor: &Flavor, recorded: &str, output: &str) -> Outcome {
    let (recorded, output) = (lines(flavor, recorded), lines(flavor, output));
    if recorded == output {
        return Outcome::Passed;
    }
    let mut difference = String::new();
    let start = recorded.iter().zip(&output).take_while(|(a, b)| a == b);
    let start = start.count();
    for (sign, lines) in [('-', &recorded), ('+', &output)] {
        for line in lines.iter().skip(start).take(20) {
            let _ = writeln!(difference, "{sign}{line}");
        }
    }
    Outcome::Failed(format!("differs at line {}:\n{difference}", start + 1))
}

/// The normalised lines, without schema tare in lists of databases.
fn lines<'a>(flavor: &Flavor, text: &'a str) -> Vec<Cow<'a, str>> {
    let mut databases = false;
    let lines = text.lines().filter(|line| {
        databases = *line == "Database" || databases && !line.contains([' ', ';']);
        !(databases && *line == "tare")
    });
    lines.map(|line| flavor.normalise(line)).collect()
}

/// mysqltest's exit code for a skipped test.
const SKIPPED: i32 = 62;

/// Client programs by the variable that names them in tests: from the suite's package, or this system's.
const PROGRAMS: [(&str, &str); 7] = [
    ("MYSQL", "mysql"),
    ("MYSQLADMIN", "mysqladmin"),
    ("MYSQL_CLIENT_TEST", "mysql_client_test"),
    ("MYSQL_DUMP", "mysqldump"),
    ("MYSQL_SLAP", "mysqlslap"),
    ("MYSQL_SHOW", "mysqlshow"),
    ("MYSQL_UPGRADE", "mysql_upgrade"),
];

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}
