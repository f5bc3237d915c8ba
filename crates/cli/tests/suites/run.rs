//! One test, run by mysqltest on a server of its own.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use crate::cases::Case;
use crate::relay::{Ends, Relay};
use crate::servers::{Version, command_line, kill, make_data, tare_run};
use crate::support::{Directory, PATIENCE};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// With what mysqltest said.
    Failed(String),
    /// The test itself found that something is missing.
    Skipped(String),
}

/// Which server the tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// `tare serve`.
    Tare,
    /// The server that the suite was written for, with Tare's engine; reads go to Tare's tables beside it.
    Door,
    /// The same server as it is: shows what this runner itself can run.
    Stock,
}

/// How long one test may take. Some wait a minute for what does not come before they give up.
const LIMIT: Duration = Duration::from_secs(180);

/// What the harness of the suites starts each server with.
const EVERYTHING: [&str; 31] = [
    "--performance-schema=ON",
    "--performance-schema-accounts-size=100",
    "--performance-schema-digests-size=400",
    "--performance-schema-hosts-size=100",
    "--performance-schema-users-size=100",
    "--performance-schema-setup-actors-size=100",
    "--performance-schema-setup-objects-size=100",
    "--performance-schema-events-waits-history-size=10",
    "--performance-schema-events-waits-history-long-size=10000",
    "--performance-schema-events-stages-history-size=10",
    "--performance-schema-events-stages-history-long-size=1000",
    "--performance-schema-events-statements-history-size=10",
    "--performance-schema-events-statements-history-long-size=1000",
    "--performance-schema-events-transactions-history-size=10",
    "--performance-schema-events-transactions-history-long-size=1000",
    "--performance-schema-session-connect-attrs-size=2048",
    "--performance-schema-instrument=%=ON",
    "--performance-schema-consumer-events-stages-current=ON",
    "--performance-schema-consumer-events-stages-history=ON",
    "--performance-schema-consumer-events-stages-history-long=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--performance-schema-consumer-events-statements-history=ON",
    "--performance-schema-consumer-events-statements-history-long=ON",
    "--performance-schema-consumer-events-transactions-current=ON",
    "--performance-schema-consumer-events-transactions-history=ON",
    "--performance-schema-consumer-events-transactions-history-long=ON",
    "--performance-schema-consumer-events-waits-current=ON",
    "--performance-schema-consumer-events-waits-history=ON",
    "--performance-schema-consumer-events-waits-history-long=ON",
    "--performance-schema-consumer-global-instrumentation=ON",
    "--performance-schema-consumer-thread-instrumentation=ON",
];

/// What the harness starts MySQL 9.7 with beside that.
const STOCK: [&str; 4] = [
    "--performance-schema-consumer-events-statements-cpu=ON",
    "--explain-format=TRADITIONAL_STRICT",
    "--log-bin-trust-function-creators=1",
    "--log-output=file",
];

/// Everybody may use database test, as in the data that the harness starts a server on.
const EVERYBODYS: &str = "INSERT INTO mysql.db (Host, Db, User, Select_priv, Insert_priv, Update_priv, Delete_priv, \
    Create_priv, Drop_priv, References_priv, Index_priv, Alter_priv, Create_tmp_table_priv, Lock_tables_priv, \
    Create_view_priv, Show_view_priv, Create_routine_priv, Event_priv, Trigger_priv) VALUES ('%', 'test', '', 'Y', \
    'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y')";

/// The options of a test as lines of an option file of `tare serve`. They are all loose: what is about InnoDB,
/// logs or replication, or an instrument of another server, is unknown there.
fn tares(options: &[String]) -> String {
    let mut lines = String::from("[mysqld]\n");
    for option in options {
        let bare = option.trim_start_matches("--").replace("loose-", "");
        let (name, value) = bare.split_once('=').unwrap_or((&bare, ""));
        let line = match (name.replace('_', "-").as_str(), value) {
            ("enable-performance-schema", "") => "performance-schema=ON".to_owned(),
            ("disable-performance-schema" | "skip-performance-schema", "") => {
                "performance-schema=OFF".to_owned()
            }
            (name, "") => format!("loose-{name}"),
            // A pattern has an equals sign of its own.
            (name, value) => format!("loose-{name}=\"{}\"", value.trim_matches('\'')),
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

/// What a server's options cannot tell Tare: to be exact where MySQL is, and a size of 0, with which `tare run` keeps
/// the server's own engine small.
fn tares_own(options: &[String]) -> String {
    let mut lines = String::from("lock_timing=every\nlock_instances=every\n");
    for option in options {
        let bare = option.trim_start_matches("--").trim_start_matches("loose-");
        let name = bare.replace('-', "_");
        if name.starts_with("performance_schema") && name.ends_with("=0") {
            lines.push_str(&name);
            lines.push('\n');
        }
    }
    lines
}

struct Server {
    child: Child,
    socket: PathBuf,
    /// Tare's tables beside a server that has Tare's engine, and the server's process.
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
    /// Starts one and waits until it takes connections; its log if it does not.
    fn start(host: Host, case: &Case, directory: &Directory) -> Result<Self, String> {
        let path = directory.path();
        let socket;
        let mut command;
        match host {
            Host::Tare => {
                socket = path.join("s");
                let mut options: Vec<String> = EVERYTHING.map(str::to_owned).into();
                options.push(STOCK[0].to_owned());
                options.extend_from_slice(&case.options);
                fs::write(path.join("tare.cnf"), tares(&options)).expect("a file of options");
                command = directory.tare(["serve", "--defaults-file", "tare.cnf"]);
                command
                    .arg("--skip-networking")
                    .arg("--socket")
                    .arg(&socket);
                command.arg("--data").arg(path.join("data"));
            }
            Host::Door | Host::Stock => {
                socket = path.join("mysql.sock");
                make_data(Version::Mysql97, path);
                let line = command_line(Version::Mysql97, path);
                command = match host {
                    Host::Door => tare_run(directory, &line),
                    _ => Command::new(&line[0]),
                };
                if host == Host::Stock {
                    command.args(&line[1..]);
                }
                if host == Host::Door {
                    command.env("TARE_OPTIONS", tares_own(&case.options));
                }
                command.args(EVERYTHING).args(STOCK);
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
            if let Some(mut conn) = connect(&server.socket) {
                conn.query_drop("CREATE DATABASE IF NOT EXISTS test")
                    .and_then(|()| conn.query_drop("CREATE DATABASE mtr"))
                    .map_err(|e| format!("the databases test and mtr: {e}"))?;
                if host != Host::Tare {
                    conn.query_drop(EVERYBODYS)
                        .and_then(|()| conn.query_drop("FLUSH PRIVILEGES"))
                        .map_err(|e| format!("the rights on test: {e}"))?;
                }
                // Where a database is a file, tests look for its folder all the same.
                fs::create_dir_all(path.join("data/mtr")).expect("a folder");
                if host == Host::Door {
                    server.tables = Some(tables(directory)?);
                }
                return Ok(server);
            }
            let ended = server.child.try_wait().expect("it is our child");
            if ended.is_some() || since.elapsed() > PATIENCE {
                let text = fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("the server does not start: {text}"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Tare's tables of the server that runs in a directory.
fn tables(directory: &Directory) -> Result<(Child, PathBuf, u32), String> {
    let path = directory.path();
    let pid = fs::read_to_string(path.join("pid")).unwrap_or_default();
    let pid = pid.trim().parse().map_err(|_| format!("no pid: {pid}"))?;
    let socket = path.join("t");
    let log = fs::File::create(path.join("tables.log")).expect("a log");
    let mut command = directory.tare(["serve", "--skip-networking", "--data", "tables"]);
    command.arg("--socket").arg(&socket);
    command.arg("--attach-pid").arg(format!("{pid}"));
    command.stdout(log.try_clone().expect("a log")).stderr(log);
    let mut child = command.spawn().expect("tare serve starts");
    let since = Instant::now();
    loop {
        if let Some(mut conn) = connect(&socket) {
            if let Err(e) = conn.query_drop("CREATE DATABASE IF NOT EXISTS test") {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the database test: {e}"));
            }
            return Ok((child, socket, pid));
        }
        let ended = child.try_wait().expect("it is our child");
        if ended.is_some() || since.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            let text = fs::read_to_string(path.join("tables.log")).unwrap_or_default();
            return Err(format!("Tare's tables are not there: {text}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn connect(socket: &Path) -> Option<Conn> {
    let options = OptsBuilder::new()
        .socket(socket.to_str())
        .user(Some("root"))
        .prefer_socket(true);
    Conn::new(options).ok()
}

/// Runs one test.
pub fn run(host: Host, home: &Path, case: &Case) -> Outcome {
    let directory = Directory::new("suite");
    match Server::start(host, case, &directory) {
        Ok(server) => {
            let tables = server.tables.as_ref().map(|(_, socket, _)| socket.clone());
            let ends = Ends::new(server.socket.clone(), tables);
            let relay = Relay::start(&directory.path().join("r"), ends);
            mysqltest(home, case, directory.path(), &relay)
        }
        Err(why) => Outcome::Failed(why),
    }
}

/// Runs the program that its suite is run with.
fn mysqltest(home: &Path, case: &Case, path: &Path, relay: &Relay) -> Outcome {
    let tests = home.join("tests");
    let vardir = path.join("var");
    for folder in ["tmp", "log"] {
        fs::create_dir_all(vardir.join(folder)).expect("its folders");
    }
    std::os::unix::fs::symlink(tests.join("std_data"), vardir.join("std_data")).expect("a link");
    let options = path.join("my.cnf");
    let (socket, port) = (relay.socket.display().to_string(), relay.port.to_string());
    let client = format!(
        "[client]\nuser=root\nsocket={socket}\nport={port}\n[mysqltest]\nssl-mode=DISABLED\n"
    );
    fs::write(&options, client).expect("a file of options");
    let file = format!("--defaults-file={}", options.display());
    let (said, errors) = (path.join("said"), path.join("errors"));
    let out = fs::File::create(&said).expect("a file");
    let err = fs::File::create(&errors).expect("a file");
    let mut command = Command::new(home.join("bin").join("mysqltest"));
    command
        .current_dir(&tests)
        .args([&file, "--silent", "--database=test", "--tail-lines=20"])
        .arg(format!("--tmpdir={}/tmp", vardir.display()))
        .arg(format!("--logdir={}/log", vardir.display()))
        .arg(format!("--timer-file={}/log/timer", vardir.display()))
        .arg(format!("--test-file={}", case.test().display()))
        .env("LC_ALL", "C")
        .env("TZ", "GMT-3")
        .env("MYSQL_TEST_DIR", &tests)
        .env("MYSQL_TMP_DIR", vardir.join("tmp"))
        .env("MYSQLTEST_VARDIR", &vardir)
        .env("MASTER_MYSOCK", &socket)
        .env("MASTER_MYPORT", &port)
        .env("USE_RUNNING_SERVER", "0")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    for (variable, program) in PROGRAMS {
        let program = home.join("bin").join(program);
        command.env(variable, format!("{} {file}", program.display()));
    }
    let mut child = command.spawn().expect("mysqltest starts");
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break status;
        }
        if since.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            let said = text(&said);
            return Outcome::Failed(format!("{said}\ntakes longer than {LIMIT:?}\n"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    match status.code() {
        Some(0) => compared(&text(&case.result()), &text(&said)),
        Some(SKIPPED) => Outcome::Skipped(text(&errors)),
        _ => Outcome::Failed(format!("{}{}", text(&said), text(&errors))),
    }
}

/// Whether a test has said what its author recorded.
fn compared(recorded: &str, said: &str) -> Outcome {
    let (recorded, said): (Vec<&str>, Vec<&str>) = (lines(recorded), lines(said));
    if recorded == said {
        return Outcome::Passed;
    }
    let mut difference = String::new();
    let start = recorded.iter().zip(&said).take_while(|(a, b)| a == b);
    let start = start.count();
    for (sign, lines) in [('-', &recorded), ('+', &said)] {
        for line in lines.iter().skip(start).take(20) {
            let _ = writeln!(difference, "{sign}{line}");
        }
    }
    Outcome::Failed(format!("differs at line {}:\n{difference}", start + 1))
}

/// The lines that are compared: all but one. A list of databases that has schema tare, which MySQL has not,
/// is as if it had it not.
fn lines(text: &str) -> Vec<&str> {
    let mut databases = false;
    let told = text.lines().filter(|line| {
        databases = *line == "Database" || databases && !line.contains([' ', ';']);
        !(databases && *line == "tare")
    });
    told.collect()
}

/// mysqltest's code for a test that cannot be run.
const SKIPPED: i32 = 62;

/// What tests call, by its variable.
const PROGRAMS: [(&str, &str); 6] = [
    ("MYSQL", "mysql"),
    ("MYSQLADMIN", "mysqladmin"),
    ("MYSQL_CLIENT_TEST", "mysql_client_test"),
    ("MYSQL_DUMP", "mysqldump"),
    ("MYSQL_SLAP", "mysqlslap"),
    ("MYSQL_SHOW", "mysqlshow"),
];

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}
