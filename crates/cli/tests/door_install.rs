//! `tare door`: the files that it installs load the engine into a server that systemd starts; `remove` deletes
//! them.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use servers::{Version, command_line, create_data_directory, kill, library};
use support::{CommandResult, Directory, finish, wait_for};

const DROP_IN: &str = "etc/systemd/system/mariadb.service.d/tare.conf";
const OPTIONS: &str = "etc/mysql/mariadb.conf.d/zz-tare.cnf";

/// A system with Debian's unit and option files.
fn create_system(program: &str) -> Directory {
    let directory = Directory::new("system");
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write(
        "usr/lib/systemd/system/mariadb.service",
        &format!(
            "[Service]\nType=notify\nUser=mysql\nProtectHome=true\nEnvironment=LD_PRELOAD=/lib/x86_64-linux-gnu/libm.so.6\n\
             Environment=TZ=UTC 'TARE_OPTIONS=digests_size=321'\n\
             ExecStart=/bin/sh -c \"set -f; \\\n exec {program} $MYSQLD_OPTS\"\n"
        ),
    );
    write(
        "etc/mysql/my.cnf",
        "[client-server]\n!includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n",
    );
    write("etc/mysql/mariadb.conf.d/50-server.cnf", "[mysqld]\n");
    directory
}

/// Copies the library to where the server's user can read it.
fn install_library(directory: &Directory) -> PathBuf {
    let path = directory.path().join("libtare_psi.so");
    fs::copy(library(), &path).expect("copied");
    for part in [directory.path(), &path] {
        let opened = finish(Command::new("chmod").arg("755").arg(part));
        assert_eq!(opened.code, Some(0), "{opened:?}");
    }
    path
}

fn run_door(directory: &Directory, what: &str, more: &[&str]) -> CommandResult {
    let mut command = directory.tare(["door", what, "mariadb", "--root"]);
    command.arg(directory.path()).args(more);
    finish(&mut command)
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The variables of a drop-in, with systemd's escapes replaced.
fn variables(drop_in: &str) -> Vec<(String, String)> {
    let lines = drop_in
        .lines()
        .filter_map(|line| line.strip_prefix("Environment=\"")?.strip_suffix('"'));
    let variable = |line: &str| {
        let (name, value) = line.split_once('=').expect("NAME=VALUE");
        let value = value.replace("\\n", "\n").replace("%%", "%");
        (name.to_owned(), value)
    };
    lines.map(variable).collect()
}

/// Starts the unit's program as systemd does: with the drop-in's environment and a socket to notify.
fn start(directory: &Directory, drop_in: &str, options: &Path) -> (Process, UnixDatagram) {
    let notify = directory.path().join("notify");
    let socket = UnixDatagram::bind(&notify).expect("a socket");
    let mut line = command_line(Version::Mariadb, directory.path());
    assert_eq!(line[1], "--no-defaults");
    line[1] = format!("--defaults-file={}", options.display());
    let script = format!("exec {}", line.join(" "));
    let child = Command::new("/bin/sh")
        .args(["-c", &script])
        .envs(variables(drop_in))
        .env("NOTIFY_SOCKET", &notify)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(directory.path().join("log")).expect("a log"))
        .spawn()
        .expect("started");
    (Process(child), socket)
}

#[test]
fn an_installed_engine_records_and_systemd_is_notified() {
    let program = command_line(Version::Mariadb, Path::new("/tmp")).remove(0);
    let directory = create_system(&program);
    let library = install_library(&directory);
    let library = library.to_string_lossy();
    let done = run_door(
        &directory,
        "install",
        &["--server", &program, "--library", &library],
    );
    assert_eq!(done.code, Some(0), "{done:?}");
    let (drop_in, options) = (
        directory.path().join(DROP_IN),
        directory.path().join(OPTIONS),
    );
    for path in [&drop_in, &options] {
        let line = format!("tare door: wrote {}\n", path.display());
        assert!(done.stdout.contains(&line), "{done:?}");
    }
    let text = fs::read_to_string(&drop_in).expect("the drop-in");
    let preload = format!("\"LD_PRELOAD={library}:/lib/x86_64-linux-gnu/libm.so.6\"");
    assert!(text.contains(&preload), "{text}");
    // The level comes before the unit's own options.
    let level = r#"Environment="TARE_OPTIONS=sampling=active\ndigests_size=321""#;
    assert!(text.contains(level), "{text}");
    assert!(done.stdout.contains("its level is active"), "{done:?}");

    create_data_directory(Version::Mariadb, directory.path());
    let (mut running, notified) = start(&directory, &text, &options);
    notified
        .set_read_timeout(Some(support::HANG_TIMEOUT))
        .expect("a timeout");
    let mut bytes = [0; 4096];
    loop {
        let length = notified.recv(&mut bytes).expect("the server notifies");
        let state = String::from_utf8_lossy(&bytes[..length]);
        if state.lines().any(|line| line == "READY=1") {
            break;
        }
    }
    let pid = running.0.id().to_string();
    let statement = "SELECT COUNT(*) > 5 AS n, (SELECT GROUP_CONCAT(DISTINCT sampling) FROM tare.setup_sampling) AS level, \
                     @@performance_schema_digests_size AS digests FROM performance_schema.threads";
    let done = finish(&mut directory.tare(["sql", "--pid", &pid, "-e", statement]));
    let row = "n\tlevel\tdigests\n1\tactive\t321\n";
    assert_eq!(done.stdout, row, "{done:?}");
    kill(running.0.id(), Signal::TERM);
    let status = wait_for("its end", || running.0.try_wait().expect("our child"));
    assert!(status.success(), "{status:?}");

    // Another level, in systemd's spelling.
    let mut words = vec!["--server", &program, "--library", &library];
    words.extend(["--sampling", "budget 1 %"]);
    let done = run_door(&directory, "install", &words);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!done.stdout.contains("its level is active"), "{done:?}");
    let text = fs::read_to_string(&drop_in).expect("the drop-in");
    let level = r#"Environment="TARE_OPTIONS=digests_size=321\nsampling=budget 1 %%""#;
    assert!(text.contains(level), "{text}");

    let done = run_door(&directory, "remove", &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for path in [&drop_in, &options] {
        let line = format!("tare door: removed {}\n", path.display());
        assert!(done.stdout.contains(&line) && !path.exists(), "{done:?}");
    }
    let again = run_door(&directory, "remove", &[]);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stdout.contains("nothing was changed"), "{again:?}");
}

#[test]
fn an_unsupported_server_is_refused_and_nothing_is_written() {
    let directory = create_system("/usr/sbin/mariadbd");
    let library = install_library(&directory);
    let library = library.to_string_lossy();
    let install = |more: &[&str], code: i32, why: &str| {
        let done = run_door(&directory, "install", more);
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.stderr.contains(why), "{done:?}");
        assert!(!directory.path().join(DROP_IN).exists());
        assert!(!directory.path().join(OPTIONS).exists());
    };
    let other = ["--server", "/bin/sh", "--library", &library];
    install(
        &other,
        4,
        "a script or another program that Tare does not observe",
    );
    let chmod = |mode| finish(Command::new("chmod").arg(mode).arg(&*library));
    assert_eq!(chmod("700").code, Some(0));
    let program = command_line(Version::Mariadb, Path::new("/tmp")).remove(0);
    let closed = ["--server", &program, "--library", &library];
    install(&closed, 1, "cannot read");
}
