//! `tare run` end to end.

mod support;

use std::sync::atomic::Ordering;

use tare_layout::header::LIVE;
use tare_reader::{Segment, Target};

use support::{Directory, Process, TARE, finish, host, wait_for};

fn run(directory: &Directory, script: &str) -> support::CommandResult {
    finish(&mut directory.tare(["run", "--", "sh", "-c", script]))
}

#[test]
fn the_commands_exit_code_is_passed_on() {
    let directory = Directory::new("code");
    for code in [0, 1, 7, 255] {
        let finished = run(&directory, &format!("exit {code}"));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(code), ""));
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    let directory = Directory::new("signal");
    assert_eq!(run(&directory, "kill -KILL $$").code, Some(128 + 9));
    assert_eq!(run(&directory, "kill -SEGV $$").code, Some(128 + 11));
}

#[test]
fn a_command_that_cannot_start_has_its_own_code() {
    let directory = Directory::new("start");
    let missing = finish(&mut directory.tare(["run", "--", "./no-such-program"]));
    assert_eq!(missing.code, Some(127), "{missing:?}");
    assert!(missing.stderr.contains("./no-such-program"), "{missing:?}");
    std::fs::write(directory.path().join("text"), "no program\n").expect("written");
    let text = finish(&mut directory.tare(["run", "--", "./text"]));
    assert_eq!(text.code, Some(126), "{text:?}");
    let nothing = finish(&mut directory.tare(["run"]));
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

#[test]
fn arguments_and_streams_are_the_commands_own() {
    let directory = Directory::new("arguments");
    let finished =
        finish(&mut directory.tare(["run", "printf", "%s|", "--segment", "--help", "-x"]));
    assert_eq!(finished.stdout, "--segment|--help|-x|");
}

#[test]
fn signals_are_forwarded() {
    let directory = Directory::new("forward");
    for (signal, code) in [("TERM", 3), ("HUP", 4), ("INT", 5), ("USR1", 6)] {
        let script = "
            trap 'exit 3' TERM; trap 'exit 4' HUP; trap 'exit 5' INT; trap 'exit 6' USR1
            echo ready; while :; do sleep 0.05; done";
        let mut running = Process::start(&mut directory.tare(["run", "--", "sh", "-c", script]));
        assert_eq!(running.line(), "ready");
        running.signal(signal);
        assert_eq!(running.wait().code(), Some(code), "after SIG{signal}");
    }
}

#[test]
fn an_orphan_is_left_running() {
    let directory = Directory::new("orphan");
    let script = "(sleep 0.3; echo done > mark) & exit 0";
    assert_eq!(run(&directory, script).code, Some(0));
    wait_for("the orphan's mark", || {
        directory.path().join("mark").exists().then_some(())
    });
}

#[test]
fn a_command_without_a_segment_gets_a_message() {
    let directory = Directory::new("none");
    let finished =
        finish(&mut directory.tare(["run", "--segment", "x.segment", "--", "sh", "-c", "true"]));
    assert_eq!(finished.code, Some(0));
    assert!(
        finished.stderr.contains("no segment was written to"),
        "{finished:?}"
    );
}

#[test]
fn the_file_is_named_in_the_commands_environment() {
    let directory = Directory::new("env");
    let command = [
        "run",
        "--segment",
        "x.segment",
        "--",
        "sh",
        "-c",
        "cd /; echo $TARE_SEGMENT",
    ];
    let finished = finish(&mut directory.tare(command));
    let expected = std::fs::canonicalize(directory.path())
        .expect("exists")
        .join("x.segment");
    assert_eq!(
        finished.stdout.trim_end(),
        expected.to_str().expect("UTF-8")
    );
}

#[test]
fn a_file_that_is_no_segment_is_not_overwritten() {
    let directory = Directory::new("foreign");
    let path = directory.path().join("x");
    std::fs::write(&path, "precious").expect("written");
    let message = "x is no segment";
    for (options, code) in [
        (
            &["run", "--segment", "x", "--", "touch", "started"][..],
            125,
        ),
        (
            &[
                "serve",
                "--data",
                "data",
                "--skip-networking",
                "--segment",
                "x",
            ],
            1,
        ),
    ] {
        let finished = finish(&mut directory.tare(options));
        assert_eq!(finished.code, Some(code), "{finished:?}");
        assert!(finished.stderr.contains(message), "{finished:?}");
    }
    assert_eq!(directory.names(), ["x"]);
    // The segment of an earlier run is replaced, and so is an empty file.
    std::fs::write(&path, "").expect("written");
    for _ in 0..2 {
        finish_host(&directory, &["--segment", "x"], "abort");
        assert_is_a_segment(&path);
    }
}

/// Starts a host under `tare run`, and returns its pid once it has recorded something.
fn start_host(directory: &Directory, options: &[&str]) -> (Process, u32) {
    let mut command = directory.tare([&["run"], options].concat());
    host::add_arguments(command.arg("--"), "wait");
    let mut running = Process::start(command.stderr(std::process::Stdio::piped()));
    let pid = host::pid(&mut running);
    (running, pid)
}

fn finish_host(directory: &Directory, options: &[&str], how: &str) -> support::CommandResult {
    let mut command = directory.tare([&["run"], options].concat());
    host::add_arguments(command.arg("--"), how);
    finish(&mut command)
}

/// Fails unless the file is a complete segment that only its owner may read, and is sparse.
fn assert_is_a_segment(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path)
        .expect("exists")
        .permissions()
        .mode()
        & 0o777;
    assert_eq!(mode, 0o600, "only its owner may read {}", path.display());
    let segment = Segment::attach(Target::Path(path.to_owned())).expect("it can be attached to");
    assert!(!segment.is_live());
    assert_eq!(
        segment.view().header().state.load(Ordering::Relaxed),
        LIVE,
        "it did not stop"
    );
    let bytes = segment.resident_bytes();
    assert!((1..16 << 20).contains(&bytes), "{bytes} bytes");
}

#[test]
fn the_segment_of_a_killed_program_is_saved() {
    let directory = Directory::new("killed");
    let (mut running, pid) = start_host(&directory, &[]);
    wait_for("tare run to hold the segment", || {
        holds_memfd(running.pid()).then_some(())
    });
    support::signal(pid, "KILL");
    assert_eq!(running.wait().code(), Some(128 + 9));
    let name = format!("tare-{pid}.segment");
    assert_eq!(directory.names(), [name.as_str()]);
    assert_is_a_segment(&directory.path().join(&name));
    let stderr = running.stderr();
    assert!(stderr.contains("was killed by SIGKILL"), "{stderr}");
    assert!(
        stderr.contains(&format!("tare sql --segment {name}")),
        "{stderr}"
    );
}

#[test]
fn the_segment_of_a_program_below_the_command_is_saved_too() {
    let directory = Directory::new("below");
    let mut command = directory.tare(["run", "--", "sh", "-c", "\"$@\"; exit 4", "sh"]);
    host::add_arguments(&mut command, "wait");
    let mut running = Process::start(&mut command);
    let pid = host::pid(&mut running);
    wait_for("tare run to hold the segment", || {
        holds_memfd(running.pid()).then_some(())
    });
    support::signal(pid, "ABRT");
    assert_eq!(running.wait().code(), Some(4));
    assert_is_a_segment(&directory.path().join(format!("tare-{pid}.segment")));
}

/// Whether a process has a segment open that has no path.
fn holds_memfd(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("it runs")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .any(|target| target.to_string_lossy().starts_with("/memfd:tare"))
}

#[test]
fn with_a_path_even_an_immediate_crash_is_saved() {
    let directory = Directory::new("path");
    for (how, code) in [("abort", 128 + 6), ("fail", 9)] {
        let finished = finish_host(&directory, &["--segment", "x.segment"], how);
        assert_eq!(finished.code, Some(code), "{finished:?}");
        assert_eq!(directory.names(), ["x.segment"]);
        assert_is_a_segment(&directory.path().join("x.segment"));
    }
}

#[test]
fn a_good_end_saves_nothing() {
    let directory = Directory::new("good");
    for (how, code) in [("leave", 0), ("stop", 9)] {
        let finished = finish_host(&directory, &[], how);
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(code), ""),
            "{how}"
        );
        assert_eq!(directory.names(), Vec::<String>::new(), "{how}");
    }
}

#[test]
fn a_saved_segment_is_never_overwritten() {
    let directory = Directory::new("twice");
    let (mut running, pid) = start_host(&directory, &[]);
    wait_for("tare run to hold the segment", || {
        holds_memfd(running.pid()).then_some(())
    });
    let taken = directory.path().join(format!("tare-{pid}.segment"));
    std::fs::write(&taken, "precious").expect("written");
    support::signal(pid, "KILL");
    running.wait();
    assert_eq!(std::fs::read_to_string(&taken).expect("read"), "precious");
    assert_is_a_segment(&directory.path().join(format!("tare-{pid}.1.segment")));
}

#[test]
fn a_program_that_uses_tare_itself_is_not_sampled_from_its_start() {
    let directory = Directory::new("sampled");
    let refused =
        finish(&mut directory.tare(["run", "--sampling", "1/16", "--", TARE, "--version"]));
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert!(
        refused.stderr.contains("SET sampling = '1/16'"),
        "what to do instead: {refused:?}"
    );
    let wrong = finish(&mut directory.tare(["run", "--sampling", "16", "--", "sh", "-c", "true"]));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("every, 1/N"), "{wrong:?}");
}
