//! `tare run`, from outside.

mod support;

use support::{Directory, Running, finish, wait_for};

fn run(directory: &Directory, script: &str) -> support::Finished {
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
fn what_cannot_be_started_has_a_code_of_its_own() {
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
        let mut running = Running::start(&mut directory.tare(["run", "--", "sh", "-c", script]));
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
fn a_command_that_writes_no_segment_is_told_so() {
    let directory = Directory::new("none");
    let finished = finish(&mut directory.tare(["run", "--segment", "x.segment", "--", "true"]));
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
