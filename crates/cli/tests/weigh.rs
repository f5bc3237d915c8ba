//! `tare weigh` with real servers and load generators. The tests check that every cell has a state and
//! that nothing is left behind, not the figures.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::weigh::{assert_nothing_left, cells, state, weigh, write_recipe};
use support::{CommandResult, Directory, Process, finish, wait_for};

const LOCKS: &str = "\
question = 'Locks?'
baseline = 'std'
measure = 'throughput'
connections = [1, 2]
[run]
repetitions = 1
seconds = 1
warm_up = 0
[[server]]
name = 'none'
kind = 'none'
[[configuration]]
name = 'std'
load_options = ['--lock=std']
[[configuration]]
name = 'tare'
load_options = ['--lock=tare']
[[workload]]
name = 'short'
load = 'locks'
options = ['--hold-ns=50', '--outside-ns=50']
";

#[test]
fn a_matrix_leaves_its_results_and_nothing_else() {
    let directory = Directory::new("matrix");
    write_recipe(&directory, LOCKS);
    let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for words in [
        "Locks?",
        "none, short",
        "std again",
        "transactions/s",
        "out/report.html",
    ] {
        assert!(
            finished.stdout.contains(words),
            "no {words:?} in\n{}",
            finished.stdout
        );
    }
    for words in ["[6/6]", "these take 4 repetitions, and the plan has 1"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    let cells = cells(&directory);
    assert_eq!(cells.len(), 6);
    for cell in cells.values() {
        assert_eq!(state(cell).0, "done");
        assert!(
            cell["transactions"].as_f64() > Some(0.0)
                && cell["generator"]["seconds"].as_f64() > Some(0.0)
        );
        assert!(
            cell["figure"]
                .as_f64()
                .is_some_and(|fairness| (0.0..=1.0001).contains(&fairness))
        );
    }
    let out = directory.path().join("out");
    let lines = |name: &str| {
        std::fs::read_to_string(out.join(name))
            .expect(name)
            .lines()
            .count()
    };
    assert_eq!(lines("results.csv"), 7);
    let all: Value =
        serde_json::from_slice(&std::fs::read(out.join("results.json")).expect("there"))
            .expect("JSON");
    assert_eq!(all["cells"].as_array().map(Vec::len), Some(6));
    assert!(all["plan"]["machine"]["kernel"].is_string());
    // The report can be written anew, and results are never mixed.
    std::fs::remove_file(out.join("report.html")).expect("it was there");
    assert_eq!(
        finish(&mut weigh(&directory, &["--report", "out"])).code,
        Some(0)
    );
    assert!(out.join("report.html").exists());
    let again = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("--resume"), "{}", again.stderr);
    let resume = ["--resume", "out", "--repetitions", "4"];
    let longer = finish(&mut weigh(&directory, &resume));
    assert_eq!(longer.code, Some(2));
    assert!(longer.stderr.contains("--repetitions"), "{}", longer.stderr);
    assert_nothing_left(&directory);
}

#[test]
fn a_wrong_recipe_has_code_2_and_its_line() {
    let directory = Directory::new("recipe");
    write_recipe(&directory, &LOCKS.replace("warm_up", "warmup"));
    let finished = finish(&mut weigh(&directory, &["./r.toml"]));
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("line 8") && finished.stderr.contains("warmup"),
        "{}",
        finished.stderr
    );
    for arguments in [
        &["nonsense"][..],
        &["own"],
        &["configs", "--server", "oracle"],
        &[],
    ] {
        let finished = finish(&mut weigh(&directory, arguments));
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
    }
    let list = finish(&mut weigh(&directory, &["--list"]));
    let shipped = tare_lab::recipe::shipped::ALL.len();
    assert_eq!((list.code, list.stdout.lines().count()), (Some(0), shipped));
    let print = finish(&mut weigh(&directory, &["configs", "--print"]));
    assert!(print.stdout.starts_with("question = "), "{}", print.stdout);
}

#[test]
fn missing_programs_are_reported_before_the_first_cell() {
    let directory = Directory::new("lacking");
    let recipe = "question = 'q'\nconnections = [1]\n[run]\nrepetitions = 1\nseconds = 1\nwarm_up = 0\n\
         [[server]]\nname = 'ours'\nkind = 'tare'\n[[configuration]]\nname = 'on'\n\
         [[configuration]]\nname = 'bare'\nbuild = 'plain'\n\
         [[workload]]\nname = 'w'\nload = 'command'\ncommand = ['echo', '5']\n";
    write_recipe(&directory, recipe);
    // Run a copy outside of the checkout, where a build without instrumentation may exist.
    let inside = |name: &str| directory.path().join(name);
    let copy = inside("tare");
    let path = format!("{}:{}", inside("bin").display(), env!("PATH"));
    let path = &path;
    support::install(support::TARE, &copy);
    let weigh = || {
        let mut command = Command::new(&copy);
        command.args(["weigh", "./r.toml", "--output", "out"]);
        command.env("PATH", path).current_dir(directory.path());
        finish(&mut command)
    };
    let finished = weigh();
    assert_eq!(finished.code, Some(2), "{finished:?}");
    let message = &finished.stderr;
    assert!(
        message.contains("no tare without instrumentation") && message.contains("--plain PATH"),
        "{message}"
    );
    assert!(
        message.contains("Without bare: --configuration 'on'"),
        "{message}"
    );
    assert!(!directory.path().join("out").exists());

    // In a checkout it is built, here by a fake cargo.
    let written = inside("program");
    for (name, text) in [
        ("scripts/servers", ""),
        (
            "bin/cargo",
            "#!/bin/sh\nmkdir -p \"$CARGO_TARGET_DIR/release\" && cp tare \"$CARGO_TARGET_DIR/release/tare\"\n",
        ),
    ] {
        std::fs::write(&written, text).expect("written");
        support::install(&written, &inside(name));
    }
    let finished = weigh();
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .stderr
            .contains("building a tare without instrumentation")
    );
    for cell in cells(&directory).values() {
        assert_eq!(state(cell).0, "done", "{cell}");
    }
}

/// A recipe with servers by command, and the load's command.
fn recipe_with_servers(servers: &[(&str, &str)], load: &str) -> String {
    let mut text = format!(
        "question = 'q'\nconnections = [1]\n[run]\nrepetitions = 1\nseconds = 1\nwarm_up = 0\n[[configuration]]\nname = 'c'\n\
         [[workload]]\nname = 'w'\nload = 'command'\ncommand = ['sh', '-c', \"{load}\"]\n"
    );
    for (name, command) in servers {
        text += &format!(
            "[[server]]\nname = '{name}'\nkind = 'command'\ncommand = ['sh', '-c', \"{command}\"]\n"
        );
    }
    text
}

/// State and reason of a server's cell.
fn state_of_server(cells: &BTreeMap<u64, Value>, name: &str) -> (String, String) {
    let cell = cells
        .values()
        .find(|cell| cell["key"]["server"] == name)
        .expect("its cell");
    let (state, reason) = state(cell);
    (state.into(), reason.into())
}

#[test]
fn a_failing_server_fails_only_its_own_cells() {
    let directory = Directory::new("failing");
    let servers = [
        ("good", "exec sleep 60"),
        ("absent", "echo ERROR: no such disk >&2; exit 3"),
        ("mortal", "sleep 2; kill -9 $$"),
    ];
    write_recipe(
        &directory,
        &recipe_with_servers(&servers, "sleep 3; echo 12.5 per second"),
    );
    let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let cells = cells(&directory);
    assert_eq!(state_of_server(&cells, "good").0, "done");
    let (state, reason) = state_of_server(&cells, "absent");
    assert_eq!(state, "failed");
    assert!(
        reason.contains("exit code 3") && reason.contains("no such disk"),
        "{reason}"
    );
    let (state, reason) = state_of_server(&cells, "mortal");
    assert_eq!(state, "failed");
    assert!(
        reason.contains("killed by signal 9 while it was measured"),
        "{reason}"
    );
    assert!(
        finished.stdout.contains("Without figures"),
        "{}",
        finished.stdout
    );
    assert!(
        directory
            .path()
            .join("out/logs")
            .read_dir()
            .expect("logs")
            .next()
            .is_some(),
        "a log is stored"
    );
    assert_nothing_left(&directory);
}

#[test]
fn a_generator_that_fails_fails_its_cell() {
    for (load, words) in [
        (
            "echo out of memory >&2; exit 7",
            "exit code 7: out of memory",
        ),
        ("echo no figure", "printed no number"),
        ("/no/such/program", "exit code 127"),
    ] {
        let directory = Directory::new("generator");
        write_recipe(
            &directory,
            &recipe_with_servers(&[("good", "exec sleep 60")], load),
        );
        let finished = finish(&mut weigh(&directory, &["./r.toml", "--output", "out"]));
        assert_eq!(finished.code, Some(1), "{finished:?}");
        let (state, reason) = state_of_server(&cells(&directory), "good");
        assert!(state == "failed" && reason.contains(words), "{reason}");
        assert_nothing_left(&directory);
    }
}

const SERVED: &str = "\
question = 'q'
baseline = 'off'
connections = [2, 6]
[run]
repetitions = 2
seconds = 1
warm_up = 0
[data]
rows = 100
[[server]]
name = 'tare'
kind = 'tare'
[[configuration]]
name = 'off'
options = ['--performance-schema=OFF']
[[configuration]]
name = 'on'
options = ['--performance-schema-instrument=%=ON']
[[configuration]]
name = 'few'
options = ['--max-connections=4']
[[workload]]
name = 'point'
script = 'oltp_point_select'
[[workload]]
name = 'reconnect'
script = 'reconnect'
";

#[test]
fn ctrl_c_leaves_results_and_no_server_and_resume_goes_on() {
    let directory = Directory::new("resume");
    write_recipe(&directory, SERVED);
    let mut running =
        Process::start(weigh(&directory, &["./r.toml", "--output", "out"]).stderr(Stdio::null()));
    wait_for("two cells", || {
        (directory.path().join("out/cells/0002.json").exists()).then_some(())
    });
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    assert_nothing_left(&directory);
    let before = cells(&directory);
    assert!((2..32).contains(&before.len()), "{}", before.len());
    assert!(directory.path().join("out/report.html").exists());

    let finished = finish(&mut weigh(&directory, &["--resume", "out"]));
    // Cells with too few permitted connections fail again.
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let after = cells(&directory);
    assert_eq!(after.len(), 2 * 2 * 2 * 4);
    for (number, cell) in &before {
        if state(cell).0 == "done" {
            assert_eq!(cell, &after[number], "finished cells are not repeated");
        }
    }
    for cell in after.values() {
        let (state, reason) = state(cell);
        let key = &cell["key"];
        if key["configuration"] != "few" {
            assert_eq!(state, "done", "{key}: {reason}");
            assert!(cell["server"]["seconds"].as_f64() > Some(0.0), "{key}");
            assert!(cell["latency"]["p99_ms"].as_f64() >= cell["latency"]["p95_ms"].as_f64());
            let events = cell["events"].as_array().expect("a list").len();
            assert_eq!(events > 0, key["configuration"] != "off", "{key}");
        } else if key["workload"] == "point" && key["connections"] == 6 {
            assert_eq!(state, "failed", "{key}");
            assert!(
                reason.contains("1040") || reason.to_lowercase().contains("too many connections"),
                "{reason}"
            );
        }
    }
    assert_nothing_left(&directory);
}

/// `tare serve` under load, with a password for TCP.
struct LoadedServer {
    /// The first field, so that the load ends before the server.
    _load: Process,
    running: Process,
    directory: Directory,
}

impl LoadedServer {
    fn start() -> Self {
        let directory = Directory::new("served");
        let mut running = Process::start(&mut directory.tare([
            "serve",
            "--data",
            "d",
            "--port",
            "0",
            "--max-connections=50",
        ]));
        wait_for("it to listen", || {
            running.line().contains("-u root").then_some(())
        });
        // The load: a client that sends statements as fast as they are answered.
        let mut clients = Command::new("sh");
        clients.current_dir(directory.path()).args([
            "-c",
            "yes 'SELECT 1;' | \"$0\" sql --dsn ./d/tare.sock >/dev/null",
            support::TARE,
        ]);
        let load = Process::start(&mut clients);
        Self {
            _load: load,
            running,
            directory,
        }
    }

    fn socket(&self) -> PathBuf {
        self.directory.path().join("d/tare.sock")
    }

    /// Every setting, as text.
    fn settings(&self) -> String {
        let sql = "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments ORDER BY NAME; \
                   SELECT NAME, ENABLED FROM performance_schema.setup_consumers ORDER BY NAME";
        let socket = self.socket();
        let dsn = socket.to_str().expect("UTF-8");
        let finished = finish(&mut self.directory.tare(["sql", "--dsn", dsn, "-e", sql]));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stdout
    }
}

fn weigh_own<'a>(dsn: &'a str, repetitions: &'a str, seconds: &'a str) -> [&'a str; 11] {
    // On a busy machine a probe waits long; another test covers that limit.
    let options = [
        "--stop-above",
        "1000000",
        "--repetitions",
        repetitions,
        "--seconds",
        seconds,
        "--output",
        "out",
    ];
    let mut arguments = [""; 11];
    arguments[..3].copy_from_slice(&["own", "--dsn", dsn]);
    arguments[3..].copy_from_slice(&options);
    arguments
}

#[test]
fn a_running_server_is_weighed_and_its_settings_are_restored() {
    let server = LoadedServer::start();
    let before = server.settings();
    let socket = server.socket();
    let dsn = socket.to_str().expect("UTF-8");
    let directory = Directory::new("windows");
    let finished = finish(&mut weigh(&directory, &weigh_own(dsn, "2", "1")));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(server.settings(), before);
    let cells = cells(&directory);
    assert_eq!(cells.len(), 2 * 4, "as it is, off twice, on");
    for cell in cells.values() {
        assert_eq!(state(cell).0, "done", "{cell}");
        assert!(
            cell["server"]["seconds"].as_f64() > Some(0.0),
            "the process is found by its socket"
        );
    }
    assert_eq!(
        std::fs::read_dir(directory.path().join("state/tare"))
            .expect("made")
            .count(),
        0
    );

    // Ctrl-C in a window.
    let directory = Directory::new("windows-int");
    let mut running =
        Process::start(weigh(&directory, &weigh_own(dsn, "2", "30")).stderr(Stdio::null()));
    wait_for("a changed setting", || {
        (server.settings() != before).then_some(())
    });
    running.signal("INT");
    assert_eq!(running.wait().code(), Some(130));
    assert_eq!(server.settings(), before);

    // After a kill, the next start restores the settings.
    let directory = Directory::new("windows-kill");
    let mut running =
        Process::start(weigh(&directory, &weigh_own(dsn, "2", "30")).stderr(Stdio::null()));
    wait_for("a changed setting", || {
        (server.settings() != before).then_some(())
    });
    running.signal("KILL");
    running.wait();
    assert_ne!(server.settings(), before);
    let finished = finish(&mut weigh(&directory, &["--restore"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.contains("put the instruments of"),
        "{}",
        finished.stderr
    );
    assert_eq!(server.settings(), before);
}

#[test]
fn a_password_is_in_no_command_line_and_no_report() {
    let server = LoadedServer::start();
    let password =
        std::fs::read_to_string(server.directory.path().join("d/password")).expect("there");
    let password = password.lines().next().expect("a line").to_owned();
    let ports =
        std::fs::read_to_string(format!("/proc/{}/net/tcp", server.running.pid())).expect("listed");
    let port = listening_port(&ports, server.running.pid());
    let directory = Directory::new("secret");
    let dsn = format!("mysql://root:{password}@127.0.0.1:{port}/");
    let mut running =
        Process::start(weigh(&directory, &weigh_own(&dsn, "1", "2")).stderr(Stdio::null()));
    let pid = running.pid();
    // From its re-execution, which hides the password, until its end.
    wait_for("the plan", || {
        directory
            .path()
            .join("out/plan.json")
            .exists()
            .then_some(())
    });
    let mut checks = 0;
    while !directory.path().join("out/report.html").exists() {
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        for entry in std::fs::read_dir("/proc").expect("mounted").flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            assert!(
                !String::from_utf8_lossy(&line).contains(&password),
                "{:?}",
                entry.path()
            );
        }
        checks += 1;
    }
    assert!(checks > 3);
    assert_eq!(running.wait().code(), Some(0));
    for file in files(directory.path()) {
        let text = std::fs::read(&file).expect("readable");
        assert!(
            !String::from_utf8_lossy(&text).contains(&password),
            "{}",
            file.display()
        );
    }
    drop(server);
}

/// The TCP port that a process listens on.
fn listening_port(tcp: &str, pid: u32) -> u16 {
    let inodes: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .expect("ours")
        .filter_map(|entry| {
            Some(
                std::fs::read_link(entry.ok()?.path())
                    .ok()?
                    .to_str()?
                    .to_owned(),
            )
        })
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let line = tcp
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut listens =
        line.filter(|fields| fields[3] == "0A" && inodes.contains(&fields[9].to_owned()));
    let local = listens.next().expect("it listens")[1].to_owned();
    u16::from_str_radix(local.split(':').nth(1).expect("a port"), 16).expect("in hexadecimal")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .expect("readable")
        .map(|entry| entry.expect("entry").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn a_killed_run_is_tidied_up_by_the_next() {
    let directory = Directory::new("tidy");
    write_recipe(&directory, SERVED);
    let mut running =
        Process::start(weigh(&directory, &["./r.toml", "--output", "out"]).stderr(Stdio::null()));
    wait_for("a cell", || {
        directory
            .path()
            .join("out/cells/0001.json")
            .exists()
            .then_some(())
    });
    // Kill only this process, as the OOM killer does. Its server stays.
    running.signal("KILL");
    running.wait();
    assert!(
        directory
            .names()
            .iter()
            .any(|name| name.starts_with("tare-weigh-"))
    );
    let CommandResult { stderr, .. } = finish(&mut weigh(&directory, &["--restore"]));
    assert!(
        stderr.contains("removed leftovers of a killed run"),
        "{stderr}"
    );
    assert_nothing_left(&directory);
}
