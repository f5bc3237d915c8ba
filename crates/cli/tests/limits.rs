//! Resource limits and wrong options of Tare do not harm the host.

#[path = "support/servers.rs"]
mod servers;
mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use servers::{Version, command_line, create_data_directory, library};
use support::{Directory, finish, wait_for};

/// Starts MariaDB under `tare run` with a limit on the size of files, with TARE_OPTIONS, and with its memory locked.
/// Returns its log and its process id once it listens.
fn start(directory: &Directory, limit: &str, options: &str) -> (std::process::Child, String, u32) {
    start_with(directory, limit, &[("TARE_OPTIONS", options)])
}

/// As [`start`], with any environment.
fn start_with(
    directory: &Directory,
    limit: &str,
    environment: &[(&str, &str)],
) -> (std::process::Child, String, u32) {
    create_data_directory(Version::Mariadb, directory.path());
    let log = directory.path().join("log");
    let file = std::fs::File::create(&log).expect("log");
    let child = Command::new("prlimit")
        .arg(format!("--fsize={limit}"))
        .arg(env!("CARGO_BIN_EXE_tare"))
        .args(["run", "--library"])
        .arg(library())
        .arg("--")
        .args(command_line(Version::Mariadb, directory.path()))
        // It locks its memory, if it has the rights of root.
        .arg("--memlock")
        .current_dir(directory.path())
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(file.try_clone().expect("log"))
        .stderr(file)
        .spawn()
        .expect("prlimit is installed");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    // MariaDB hangs if it is stopped earlier.
    let pid = wait_for("MariaDB to listen", || {
        let pid = read(&directory.path().join("pid")).trim().parse().ok();
        pid.filter(|_| read(&log).contains("ready for connections"))
    });
    (child, read(&log), pid)
}

fn stop(mut child: std::process::Child) {
    servers::kill(child.id(), rustix::process::Signal::TERM);
    wait_for("its end", || child.try_wait().expect("our child"));
}

#[test]
fn a_server_starts_under_a_file_size_limit() {
    let directory = Directory::new("fsize");
    let wrong = "nonsense=1\ndigests_size=-5\nlock_timing=banana\nlock_instances=every";
    let (child, log, pid) = start(&directory, "200000000:200000000", wrong);
    for message in [
        "TARE_OPTIONS: there is no option performance_schema_nonsense",
        "TARE_OPTIONS: performance_schema_digests_size cannot be '-5'",
        "TARE_OPTIONS: lock_timing cannot be 'banana': give every or contended",
        "RLIMIT_FSIZE",
    ] {
        assert!(log.contains(message), "{message}:\n{log}");
    }
    assert!(!log.contains("lock_instances cannot"), "{log}");
    assert_eq!(tare_reader::discover::find_of_process(pid), []);
    stop(child);
}

#[test]
fn a_server_whose_segment_would_replace_a_file_runs_without_tare() {
    let directory = Directory::new("foreign");
    let path = directory.path().join("precious");
    std::fs::write(&path, "precious").expect("written");
    let path = path.to_str().expect("UTF-8");
    let (child, log, pid) = start_with(&directory, "unlimited", &[("TARE_SEGMENT", path)]);
    assert!(log.contains(&format!("{path} is no segment")), "{log}");
    assert_eq!(tare_reader::discover::find_of_process(pid), []);
    assert_eq!(std::fs::read_to_string(path).expect("read"), "precious");
    stop(child);
}

#[test]
fn a_soft_limit_is_raised_only_for_the_segment_which_is_not_locked() {
    let directory = Directory::new("fsize");
    // It has 1 GiB of address space or more.
    let (child, log, pid) = start(&directory, "200000000:", "max_thread_instances=256");
    assert_eq!(
        tare_reader::discover::find_of_process(pid).len(),
        1,
        "{log}"
    );
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).expect("readable");
    let line = limits.lines().find(|l| l.starts_with("Max file size"));
    assert!(line.is_some_and(|l| l.contains("200000000")), "{limits}");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("readable");
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim_end_matches(" kB").trim().parse::<u64>().ok());
        number.unwrap_or_else(|| panic!("{name} {status}"))
    };
    assert!(kilobytes("RssShmem:") < 64 << 10, "{status}");
    let is_locked = kilobytes("VmLck:") > 64 << 10;
    assert_eq!(is_locked, rustix::process::geteuid().is_root(), "{status}");
    stop(child);
}

#[test]
fn the_server_starts_as_well() {
    let directory = Directory::new("fsize");
    let mut command = Command::new("prlimit");
    command
        .current_dir(directory.path())
        .arg("--fsize=200000000:200000000")
        .arg(env!("CARGO_BIN_EXE_tare"))
        .args(["serve", "--data", "data", "--skip-networking"]);
    let mut running = support::Process::start(command.stderr(Stdio::piped()));
    let line = running.line();
    let socket = line.strip_prefix("Listening on ").expect("it listens");
    let mut client = Command::new("mariadb");
    let socket = directory.path().join(socket);
    client.arg("--no-defaults").arg("--socket").arg(socket);
    let answer = finish(client.args([
        "--user=root",
        "-N",
        "-B",
        "-e",
        "SELECT @@performance_schema",
    ]));
    assert_eq!(answer.stdout, "0\n", "{answer:?}");
    running.signal("TERM");
    running.wait();
    assert!(running.stderr().contains("RLIMIT_FSIZE"));
}
