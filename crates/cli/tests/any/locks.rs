//! The program's mutexes, read-write locks and conditions, by the places that take them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::thread;

use serde_json::Value as Json;

use super::programs::compile;
use super::server::Server;
use super::support::{CommandResult, Directory, finish};
use super::{library, memcached, number, rows};

/// Runs a program with an option of the engine. Its segment is in the file `segment`.
fn run(directory: &Directory, program: &Path, options: &str) -> CommandResult {
    let _ = std::fs::remove_file(directory.path().join("segment"));
    let mut run = directory.tare(["run", "--segment", "segment", "--library"]);
    run.arg(library()).env("TARE_OPTIONS", options);
    let finished = finish(run.arg("--").arg(program));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.stdout.ends_with("done\n"), "{finished:?}");
    finished
}

/// How often each place has taken a lock, and whether it has waited, by the instrument's name without its first
/// part: `mutex/locks/take_free+0x9`.
type Sites = BTreeMap<String, (u64, bool)>;

const SITES: &str = "SELECT SUBSTRING(EVENT_NAME, 12) AS name, COUNT_STAR AS n, SUM_TIMER_WAIT > 0 AS w \
    FROM performance_schema.events_waits_summary_global_by_event_name \
    WHERE EVENT_NAME LIKE 'wait/synch/%' AND EVENT_NAME NOT LIKE '%/sleep' AND COUNT_STAR > 0";

fn sites_of(rows: &[Json]) -> Sites {
    let place = |row: &Json| {
        let name = row["name"].as_str().expect("a name").to_owned();
        let waited = row["w"].as_u64().expect("a number") != 0;
        (name, (row["n"].as_u64().expect("a count"), waited))
    };
    rows.iter().map(place).collect()
}

fn sites(directory: &Directory) -> Sites {
    sites_of(&rows(directory, &["--segment", "segment"], SITES))
}

/// Sites of a kind, `mutex/locks`, by the names of their functions. A function has one place, except `main`,
/// which is left out.
fn functions(sites: &Sites, kind: &str) -> Sites {
    let mut all = BTreeMap::new();
    for (name, place) in sites {
        let Some(name) = name
            .strip_prefix(kind)
            .and_then(|name| name.strip_prefix('/'))
        else {
            continue;
        };
        let (function, distance) = name.split_once('+').expect("a distance");
        assert!(distance.starts_with("0x"), "{name}");
        if function != "main" {
            assert_eq!(all.insert(function.to_owned(), *place), None, "{name}");
        }
    }
    all
}

/// The numbers that locks.c prints: calls in signal handlers, and rounds.
fn printed(finished: &CommandResult) -> (u64, u64) {
    let mut lines = finished.stdout.lines();
    let mut number = || {
        let line = lines.next().expect("a line");
        let first = line.split(' ').next().expect("a word");
        first.parse().expect("a number")
    };
    (number(), number())
}

/// Checks the counts of locks.c.
fn check(directory: &Directory, finished: &CommandResult) {
    let (handled, rounds) = printed(finished);
    let sites = sites(directory);
    let mut mutexes = functions(&sites, "mutex/locks");
    // A handler that interrupts Tare is not recorded.
    let (in_handlers, _) = mutexes.remove("take_in_handler").expect("recorded");
    assert!((1..=handled).contains(&in_handlers), "{mutexes:?}");
    // Whether threads waited for each other depends on the machine.
    for name in ["take_shared", "take_in_child", "take_often"] {
        mutexes.get_mut(name).expect("recorded").1 = false;
    }
    let expected = |list: &[(&str, u64, bool)]| {
        let place = |&(name, count, waits): &(&str, u64, bool)| (name.to_owned(), (count, waits));
        list.iter().map(place).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(
        mutexes,
        expected(&[
            ("take_at_fork", 1, false),
            ("take_by_clock", 2, true),
            ("take_early", 1, false),
            ("take_free", 1001, false),
            ("take_held", 3, true),
            // Only the child of a process with one thread.
            ("take_in_child", 20_000, false),
            ("take_in_thread", 2, false),
            ("take_kinds", 7, true),
            ("take_often", rounds, false),
            ("take_robust", 7, false),
            ("take_shared", 120_000, false),
            ("take_until", 3, true),
            ("try_mutex", 3, false),
        ])
    );
    assert_eq!(
        functions(&sites, "rwlock/locks"),
        expected(&[
            ("read_by_clock", 1, false),
            ("read_free", 2, true),
            ("read_held", 1, true),
            ("read_until", 1, false),
            ("try_read", 1, false),
            ("try_write", 1, false),
            ("write_by_clock", 1, true),
            ("write_free", 2, true),
            ("write_until", 1, true),
        ])
    );
    // A wait that is cancelled is not counted.
    assert_eq!(
        functions(&sites, "cond/locks"),
        expected(&[
            ("wait_by_clock", 2, true),
            ("wait_cond", 1, true),
            ("wait_until", 1, true),
        ])
    );
}

#[test]
fn locks_are_counted_by_the_place_that_takes_them() {
    let directory = Directory::new("locks");
    // Addresses that the dynamic linker writes at once, at the first call, and in a program that has a
    // fixed address.
    for options in [
        &["-Wl,-z,now"][..],
        &["-Wl,-z,lazy"],
        &["-no-pie", "-fno-plt"],
    ] {
        let program = compile(&directory, "locks.c", "locks", options);
        let finished = run(&directory, &program, "locks=ON");
        check(&directory, &finished);
    }
}

#[test]
fn locks_are_not_recorded_without_the_option() {
    let directory = Directory::new("locks-off");
    let program = compile(&directory, "locks.c", "locks", &[]);
    for (options, message) in [
        ("", None),
        ("locks=ON\nlocks=OFF", None),
        (
            "locks=maybe",
            Some("TARE_OPTIONS: locks cannot be 'maybe': give ON or OFF; the option is left out"),
        ),
    ] {
        let finished = run(&directory, &program, options);
        let sql = "SELECT COUNT(*) AS n FROM performance_schema.setup_instruments \
                   WHERE NAME LIKE 'wait/synch/%/locks/take%'";
        let count = number(&rows(&directory, &["--segment", "segment"], sql)[0]);
        assert_eq!(count, 0, "{options}");
        assert!(
            finished.stderr.contains(message.unwrap_or("")),
            "{finished:?}"
        );
    }
}

#[test]
fn levels_and_settings_apply_to_locks() {
    let directory = Directory::new("locks-levels");
    let program = compile(&directory, "locks.c", "locks", &[]);
    for options in ["sampling=active", "instrument=%=OFF"] {
        run(&directory, &program, &format!("locks=ON\n{options}"));
        assert_eq!(sites(&directory), BTreeMap::new(), "{options}");
        // The instruments exist: a user can switch them on.
        let sql = "SELECT COUNT(*) AS n FROM performance_schema.setup_instruments \
                   WHERE NAME LIKE 'wait/synch/mutex/locks/take_held+0x%'";
        let count = number(&rows(&directory, &["--segment", "segment"], sql)[0]);
        assert_eq!(count, 1, "{options}");
    }
    // Whatever the sampling draws, the program runs.
    run(&directory, &program, "locks=ON\nsampling=1/4");
    let finished = run(
        &directory,
        &program,
        "locks=ON\ninstrument=wait/synch/%=COUNTED",
    );
    let (_, rounds) = printed(&finished);
    let mutexes = functions(&sites(&directory), "mutex/locks");
    assert_eq!(mutexes["take_often"], (rounds, false));
    assert_eq!(mutexes["take_held"], (3, false));
}

#[test]
fn sites_of_a_stripped_program_are_addresses_of_its_file() {
    let directory = Directory::new("locks-stripped");
    let program = compile(&directory, "locks.c", "locks", &[]);
    run(&directory, &program, "locks=ON");
    let named = sites(&directory);
    let symbols = finish(Command::new("nm").arg(&program)).stdout;
    let address_of = |name: &String| {
        let (kind, place) = name.rsplit_once('/')?;
        let (function, distance) = place.split_once('+')?;
        let end = format!(" t {function}");
        let main = format!(" T {function}");
        let line = symbols
            .lines()
            .find(|line| line.ends_with(&end) || line.ends_with(&main))?;
        let start = u64::from_str_radix(line.split(' ').next()?, 16).ok()?;
        let distance = u64::from_str_radix(distance.strip_prefix("0x")?, 16).ok()?;
        Some(format!("{kind}/{:#x}", start + distance))
    };
    let expected: Vec<String> = named.keys().filter_map(address_of).collect();
    assert_eq!(expected.len(), named.len(), "{symbols}");
    let stripped = finish(Command::new("strip").arg(&program));
    assert_eq!(stripped.code, Some(0), "{stripped:?}");
    run(&directory, &program, "locks=ON");
    let addresses = sites(&directory);
    for address in expected {
        assert!(addresses.contains_key(&address), "{address}: {addresses:?}");
    }
    assert_eq!(addresses.len(), named.len());
}

#[test]
fn a_program_with_conditions_of_1999_runs() {
    let directory = Directory::new("locks-old");
    for options in [&["-Wl,-z,now"][..], &["-Wl,-z,lazy"]] {
        let program = compile(&directory, "old_conds.c", "old", options);
        run(&directory, &program, "locks=ON");
        let conds = functions(&sites(&directory), "cond/old");
        assert_eq!(conds.keys().collect::<Vec<_>>(), ["wait_for_turn"]);
    }
}

#[test]
fn locks_of_cpp_are_those_of_the_programs_functions() {
    let directory = Directory::new("locks-cpp");
    let program = directory.path().join("cpp");
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-O1", "-pthread", "-o"]);
    command.arg(&program).arg("tests/any/locks.cpp");
    let compiled = finish(command.current_dir(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(compiled.code, Some(0), "{compiled:?}");
    run(&directory, &program, "locks=ON");
    let sites = sites(&directory);
    let count = |kind: &str, function: &str| -> u64 {
        let start = format!("{kind}/cpp/{function}+");
        let of = sites.iter().filter(|(name, _)| name.starts_with(&start));
        of.map(|(_, place)| place.0).sum()
    };
    assert_eq!(count("mutex", "app::Cache::take_mutex"), 10);
    assert_eq!(count("rwlock", "read_shared"), 5);
    assert_eq!(count("rwlock", "write_shared"), 3);
    assert!(count("cond", "wait_for_turn") >= 1);
    assert_eq!(count("cond", "wait_for_time"), 2);
}

#[test]
fn memcacheds_locks_are_counted_with_its_commands() {
    const CLIENTS: u64 = 4;
    const BATCHES: u64 = 20;
    const COMMANDS: u64 = CLIENTS * BATCHES * 50;
    let server = Server::memcached_with_locks(&["-t", "4"]);
    let run = |request: &str, end: &[u8]| {
        let request = request.repeat(50);
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    let mut stream = server.stream();
                    for _ in 0..BATCHES {
                        stream.write_all(request.as_bytes()).expect("written");
                        let mut reply = vec![0; end.len() * 50];
                        stream.read_exact(&mut reply).expect("read");
                        assert_eq!(reply, end.repeat(50));
                    }
                });
            }
        });
    };
    // Mutexes that were taken once in each command: memcached's counters, its items, its lists.
    let count_exact = |before: &Sites, after: &Sites| {
        let grown = |name: &String| after[name].0 - before.get(name).map_or(0, |place| place.0);
        let is_exact = |name: &&String| name.starts_with("mutex/") && grown(name) == COMMANDS;
        after.keys().filter(is_exact).count()
    };
    let sites = || sites_of(&server.rows(SITES));
    let start = sites();
    run("set key 0 0 5\r\nhello\r\n", b"STORED\r\n");
    let stored = sites();
    run("get key\r\n", b"VALUE key 0 5\r\nhello\r\nEND\r\n");
    let read = sites();
    assert!(count_exact(&start, &stored) >= 5, "{start:?} {stored:?}");
    assert!(count_exact(&stored, &read) >= 3, "{stored:?} {read:?}");
    let statistics = memcached::statistics(&mut server.stream());
    let commands = server.rows(
        "SELECT SUBSTRING_INDEX(EVENT_NAME, '/', -1) AS name, COUNT_STAR AS n \
         FROM performance_schema.events_statements_summary_global_by_event_name \
         WHERE EVENT_NAME IN ('statement/memcached/get', 'statement/memcached/set')",
    );
    let commands = super::statements(&commands);
    assert_eq!((commands["get"], commands["set"]), (COMMANDS, COMMANDS));
    for name in ["cmd_get", "cmd_set", "get_hits"] {
        assert_eq!(statistics[name], COMMANDS, "{name}");
    }
}
