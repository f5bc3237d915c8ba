//! `tare door` for servers that libtare_any.so observes: the files that it writes load the engine into a server
//! that its unit's command starts, and into nothing else that the command runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::client::Client;
use super::postgres::{USER, programs};
use super::support::{CommandResult, Directory, Process, finish, signal, wait_for};
use super::{number, rows};

/// A system with the units of Debian's packages, and libtare_any.so.
struct System {
    directory: Directory,
    library: PathBuf,
}

impl System {
    fn create() -> Self {
        let directory = Directory::new("system");
        let units = directory.path().join("usr/lib/systemd/system");
        fs::create_dir_all(&units).expect("made");
        for unit in ["redis-server", "memcached", "postgresql", "postgresql@"] {
            let unit = format!("{unit}.service");
            let package = Path::new("/usr/lib/systemd/system").join(&unit);
            fs::copy(package, units.join(&unit)).expect("the package is installed");
        }
        for programs in ["/usr/bin", "/usr/lib/postgresql"] {
            let link = directory.path().join(programs.trim_start_matches('/'));
            symlink(programs, link).expect("made");
        }
        let library = directory.path().join("libtare_any.so");
        fs::copy(super::library(), &library).expect("copied");
        for path in [directory.path(), &library] {
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("ours");
        }
        Self { directory, library }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("readable")
    }

    fn door(&self, what: &str, unit: &str, more: &[&str]) -> CommandResult {
        let mut command = self.directory.tare(["door", what, unit, "--root"]);
        finish(command.arg(self.directory.path()).args(more))
    }

    fn install(&self, unit: &str, more: &[&str]) -> CommandResult {
        let library = self.library.to_string_lossy();
        self.door("install", unit, &[&["--library", &library], more].concat())
    }

    /// Starts a command with the variables of a drop-in.
    fn start(&self, drop_in: &str, command: &[&str]) -> Process {
        let text = self.read(drop_in);
        let variables = text.lines().filter_map(|line| {
            let variable = line.strip_prefix("Environment=\"")?.strip_suffix('"')?;
            variable.split_once('=')
        });
        let mut start = Command::new(command[0]);
        start.args(&command[1..]).envs(variables);
        start
            .current_dir(self.directory.path())
            .stderr(Stdio::null());
        Process::start_on(&mut start, Stdio::null())
    }

    fn level(&self, target: &[&str]) -> String {
        let sql = "SELECT GROUP_CONCAT(DISTINCT sampling) AS level FROM tare.setup_sampling";
        let row = &rows(&self.directory, target, sql)[0];
        row["level"].as_str().expect("a text").to_owned()
    }
}

#[test]
fn redis_is_recorded_from_its_start() {
    let system = System::create();
    // The alias that systemctl enable makes.
    let alias = system.path("etc/systemd/system/redis.service");
    fs::create_dir_all(alias.parent().expect("a folder")).expect("made");
    symlink("/usr/lib/systemd/system/redis-server.service", alias).expect("made");

    // The unit lets the server execute /usr/lib and nothing else.
    let refused = system.install("redis", &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("NoExecPaths"), "{refused:?}");
    let drop_ins = "etc/systemd/system/redis-server.service.d";
    assert!(!system.path(drop_ins).join("tare.conf").exists());
    let path = system.directory.path().display();
    system.write(
        &format!("{drop_ins}/own.conf"),
        &format!(
            "[Service]\nExecPaths={path}\nEnvironment=LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6\n"
        ),
    );

    let installed = system.install("redis", &[]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    for line in [
        "redis-server gets Tare's engine",
        "its level is active",
        "commands with users",
    ] {
        assert!(installed.stdout.contains(line), "{installed:?}");
    }
    let drop_in = format!("{drop_ins}/tare.conf");
    let text = system.read(&drop_in);
    let preload = format!("\"LD_PRELOAD={path}/libtare_any.so:/lib/x86_64-linux-gnu/libm.so.6\"");
    for line in [&*preload, "\"TARE_OPTIONS=sampling=active\""] {
        assert!(text.contains(line), "{text}");
    }

    let server = [
        "/usr/bin/redis-server",
        "--port",
        "0",
        "--unixsocket",
        "socket",
        "--save",
        "",
    ];
    let run = system.start(&drop_in, &server);
    let socket = system.path("socket");
    let stream = wait_for("Redis to listen", || UnixStream::connect(&socket).ok());
    let mut client = Client::new(stream);
    assert_eq!(client.call("PING").text(), "PONG");
    let pid = run.pid().to_string();
    assert_eq!(system.level(&["--pid", &pid]), "active");

    let removed = system.door("remove", "redis-server", &[]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!system.path(&drop_in).exists(), "{removed:?}");
    assert!(system.path(drop_ins).join("own.conf").exists());
    let again = system.door("remove", "redis-server", &[]);
    assert!(again.stdout.contains("nothing was changed"), "{again:?}");
}

/// Debian's unit starts memcached by a script in Perl, which is no server.
#[test]
fn a_script_that_starts_memcached_is_not_recorded() {
    let system = System::create();
    let installed = system.install("memcached", &["--sampling", "1/16"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let drop_in = "etc/systemd/system/memcached.service.d/tare.conf";
    let script = "exec '/usr/bin/memcached -u root -s socket'";
    let run = system.start(drop_in, &["perl", "-e", script]);
    wait_for("memcached to listen", || {
        UnixStream::connect(system.path("socket")).ok()
    });
    let pid = run.pid().to_string();
    assert_eq!(system.level(&["--pid", &pid]), "1/16");
    let sql =
        "SELECT COUNT(*) FROM performance_schema.threads WHERE NAME LIKE 'thread/memcached/%'";
    assert!(number(&rows(&system.directory, &["--pid", &pid], sql)[0]) > 0);
}

/// The processes of a cluster end with the test.
struct Cluster<'a>(&'a System);

impl Cluster<'_> {
    /// The first process.
    fn pid(&self) -> Option<u32> {
        let text = fs::read_to_string(self.0.path("data/postmaster.pid")).ok()?;
        text.lines().next()?.parse().ok()
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            signal(pid, "QUIT");
        }
    }
}

/// pg_ctlcluster starts a cluster with the variables of a file, so the unit's drop-in would change nothing.
#[test]
fn a_cluster_of_postgresql_is_recorded() {
    let system = System::create();
    let root = system.directory.path();
    let versions = programs();
    let version = versions
        .parent()
        .and_then(Path::file_name)
        .expect("a version");
    let version = version.to_str().expect("a number");
    let as_owner = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).env("HOME", root).current_dir(root);
        command.env("PG_CLUSTER_CONF_ROOT", root.join("etc/postgresql"));
        if rustix::process::getuid().is_root() {
            command.uid(USER).gid(USER);
        }
        let done = finish(command.stdin(Stdio::null()));
        assert_eq!(done.code, Some(0), "{program} {arguments:?}: {done:?}");
    };
    if rustix::process::getuid().is_root() {
        chown(root, Some(USER), Some(USER)).expect("root may");
    }
    let (data, path) = (root.join("data"), root.to_string_lossy());
    let log = root.join("log");
    let (data, log) = (data.to_string_lossy(), log.to_string_lossy());
    let cluster = [
        version,
        "main",
        "-d",
        &data,
        "-s",
        &path,
        "-l",
        &log,
        "--start-conf",
        "manual",
    ];
    as_owner(
        "pg_createcluster",
        &[&cluster[..], &["--", "-N", "-A", "trust"]].concat(),
    );
    let environment = format!("etc/postgresql/{version}/main/environment");
    let before = system.read(&environment);

    let unit = format!("postgresql@{version}-main");
    let wrong = system.install("postgresql@1-none", &[]);
    assert_eq!(wrong.code, Some(4), "{wrong:?}");
    let installed = system.install(&unit, &[]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let wrote = format!("tare door: wrote {}\n", system.path(&environment).display());
    assert!(installed.stdout.contains(&wrote), "{installed:?}");
    let again = system.install(&unit, &["--sampling", "budget 1 %"]);
    assert_eq!(again.code, Some(0), "{again:?}");

    let instance = format!("{version}-main");
    as_owner(
        "pg_ctlcluster",
        &["--skip-systemctl-redirect", &instance, "start"],
    );
    let cluster = Cluster(&system);
    let pid = wait_for("PostgreSQL", || cluster.pid()).to_string();
    assert_eq!(system.level(&["--pid", &pid]), "budget 1 %");
    let sql = "SELECT COUNT(*) FROM performance_schema.threads WHERE NAME = 'thread/postgres/checkpointer'";
    assert_eq!(
        number(&rows(&system.directory, &["--pid", &pid], sql)[0]),
        1
    );

    let removed = system.door("remove", &unit, &[]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(system.read(&environment), before);
}

#[test]
fn what_cannot_be_observed_is_refused_and_nothing_is_written() {
    let system = System::create();
    let unit = |name: &str, command: &str| {
        let text = format!("[Service]\nExecStart={command}\n");
        system.write(&format!("usr/lib/systemd/system/{name}.service"), &text);
    };
    unit("shell", "/bin/sh -c 'sleep 1'");
    unit("script", "/usr/bin/pg_ctlcluster 15-main start");
    unit("missing", "/nowhere/server");
    unit("sudo", "/usr/bin/sudo -u redis /usr/bin/redis-server");
    let other_rights = system.path("other-rights");
    fs::copy("/usr/bin/true", &other_rights).expect("copied");
    fs::set_permissions(&other_rights, PermissionsExt::from_mode(0o4755)).expect("ours");
    // Of the caller, whose rights the server's user does not have.
    unit("rights", "/other-rights\nUser=redis");
    let refuse = |name: &str, code: i32, why: &str| {
        let done = system.install(name, &[]);
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.stderr.contains(why), "{done:?}");
        assert!(!system.path("etc").exists(), "{done:?}");
    };
    refuse("shell", 1, "starts no program");
    refuse("script", 1, "starts no program");
    refuse("sudo", 4, "sudo, which passes no library on; let the unit");
    refuse("rights", 4, "other-rights changes its rights");
    refuse("missing", 4, "/nowhere/server");
    refuse(
        "none",
        1,
        "there is no unit none.service or none-server.service",
    );
    // Debian's unit of all clusters starts none.
    refuse("postgresql", 1, "postgresql@VERSION-CLUSTER");
}
