//! Compiles C and C++ programs against libtare, links them both ways, runs them, and reads their segments.

mod active;
mod memcached;
mod totals;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use tare_reader::{Segment, Target};
use totals::Totals;

const C99: [&str; 6] = [
    "gcc",
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
];
const CPP17: [&str; 6] = [
    "g++",
    "-std=c++17",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{stderr}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Builds libtare with this test's profile, installs it as a user would, and returns its prefix.
fn installed() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        // target/PROFILE/deps/c-...
        let test = std::env::current_exe().unwrap();
        let built = test.ancestors().nth(2).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(root())
            .args(["build", "--quiet", "-p", "tare-abi"]);
        cargo.arg("--target-dir").arg(built.parent().unwrap());
        if built.ends_with("release") {
            cargo.arg("--release");
        }
        run(&mut cargo);
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        run(Command::new(root().join("scripts/install-c"))
            .arg(&prefix)
            .arg(built));
        prefix
    })
}

/// What pkg-config says of the installed library.
fn package(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command
        .args(arguments)
        .env("PKG_CONFIG_PATH", installed().join("lib/pkgconfig"));
    let output = run(&mut command);
    output.split_whitespace().map(str::to_owned).collect()
}

enum Link {
    Static,
    Shared,
}

/// Compiles a program against the installed library.
fn compiled(compiler: &[&str], source: &str, link: Link, name: &str) -> PathBuf {
    let prefix = installed();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler[0]);
    command
        .args(&compiler[1..])
        .args(package(&["--cflags", "tare"]))
        .arg("-o")
        .arg(&program);
    command.arg(root().join(source));
    // `-x none`: libraries are no source files.
    command.args(["-x", "none", "-pthread"]);
    match link {
        Link::Static => command.args(package(&["--libs", "tare-static"])),
        Link::Shared => command
            .args(package(&["--libs", "tare"]))
            .arg(format!("-Wl,-rpath,{}", prefix.join("lib").display())),
    };
    run(&mut command);
    program
}

#[test]
fn the_headers_are_clean_in_every_language() {
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    for (compiler, standard, language, header) in [
        ("gcc", "-std=c99", "c", "tare.h"),
        ("gcc", "-std=c11", "c", "tare.h"),
        ("g++", "-std=c++98", "c++", "tare.h"),
        ("g++", "-std=c++17", "c++", "tare.hpp"),
        ("g++", "-std=c++20", "c++", "tare.hpp"),
    ] {
        run(Command::new(compiler)
            .args([
                standard,
                "-pedantic",
                "-Wall",
                "-Wextra",
                "-Wconversion",
                "-Werror",
            ])
            .args([
                "-fsyntax-only",
                "-x",
                language,
                "-I",
                include,
                "-include",
                header,
            ])
            .arg("/dev/null"));
    }
}

#[test]
fn misuse_does_not_stop_the_host() {
    let c = compiled(&C99, "crates/abi/tests/misuse.c", Link::Static, "misuse-c");
    assert_eq!(run(&mut Command::new(c)), "done\n");
    let mut cpp = CPP17.to_vec();
    cpp.extend(["-x", "c++"]);
    let cpp = compiled(
        &cpp,
        "crates/abi/tests/misuse.c",
        Link::Shared,
        "misuse-cpp",
    );
    assert_eq!(run(&mut Command::new(cpp)), "done\n");
}

/// A child that is killed when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the example until it has printed its counts, compares them with Tare's while it waits, and lets it
/// end.
fn example_counts_exactly(link: Link, name: &str) {
    let program = compiled(&C99, "examples/c/kv.c", link, name);
    let mut child = Running(
        Command::new(&program)
            .args(["-w", "-t", "8", "-c", "20", "-n", "500"])
            .env_remove("TARE_SEGMENT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let output: Vec<String> = lines
        .map(Result::unwrap)
        .take_while(|line| line != "done")
        .collect();
    let segment = Segment::attach(Target::Pid(child.0.id())).unwrap();
    let totals = Totals::of(segment.view());
    assert_eq!(output.len(), 16, "{output:?}");
    compare(&output, &totals);
    let banks = tare_reader::Banks::new(segment.view(), true);
    let tables = banks.tables(&banks.object_rows());
    let count =
        |row: &[tare_reader::line::Cells; 4]| row.map(|line| line[tare_layout::line::COUNT]);
    let io: Vec<_> = tables[0].io.iter().map(|(_, row)| count(row)).collect();
    assert_eq!(io, [[20 * 375, 0, 0, 0], [0, 20 * 125, 0, 0]]);
    assert_eq!(banks.table_handles().len(), 20);
    assert!(segment.is_live());
    assert_eq!(totals.class("statement/kv/select").count, 20 * 375);
    // The main thread and the clients' sessions; the workers have ended.
    assert_eq!(totals.live_threads, 1 + 20);

    drop(child.0.stdin.take());
    assert!(child.0.wait().unwrap().success());
    assert!(!segment.is_live());
}

/// Compares the program's own counts with Tare's.
#[track_caller]
fn compare(output: &[String], totals: &Totals) {
    for line in output {
        let (name, count) = line
            .strip_prefix("expect ")
            .unwrap()
            .rsplit_once(' ')
            .unwrap();
        let expected: u64 = count.parse().unwrap();
        assert_eq!(totals.class(name).count, expected, "{name}");
    }
}

#[test]
fn the_example_counts_exactly_with_the_static_library() {
    example_counts_exactly(Link::Static, "kv-static");
}

#[test]
fn the_example_counts_exactly_with_the_shared_library() {
    example_counts_exactly(Link::Shared, "kv-shared");
}

#[test]
fn the_segment_of_a_program_that_has_ended_is_complete() {
    let program = compiled(&C99, "examples/c/kv.c", Link::Shared, "kv-saved");
    let (path, journal) = (
        program.with_extension("segment"),
        program.with_extension("journal"),
    );
    let _ = std::fs::remove_file(&path);
    let output = run(Command::new(&program)
        .args(["-t", "3", "-c", "20", "-n", "500", "-j"])
        .arg(&journal)
        .env("TARE_SEGMENT", &path));
    let output: Vec<String> = output
        .lines()
        .take_while(|line| *line != "done")
        .map(str::to_owned)
        .collect();
    let segment = Segment::attach(Target::Path(path.clone())).unwrap();
    let totals = Totals::of(segment.view());
    compare(&output, &totals);
    assert_eq!(totals.live_threads, 0, "slots were left behind");
    assert_eq!(totals.lost, 0);
    let inserts = totals.class("wait/synch/mutex/kv/LOCK_journal").count;
    let journaled = totals.class("wait/io/file/kv/journal").bytes;
    assert_eq!(journaled, 22 * inserts);
    assert_eq!(std::fs::metadata(&journal).unwrap().len(), journaled);
    // Twenty clients, three users.
    assert_eq!(
        totals.accounts,
        [
            "client0@localhost",
            "client1@localhost",
            "client2@localhost"
        ]
    );
    // Two texts for all keys.
    assert_eq!(
        totals.digests,
        [
            "INSERT INTO `kv` ( `id` , VALUE ) VALUES (...)",
            "SELECT VALUE FROM `kv` WHERE `id` = ?",
        ]
    );
    std::fs::remove_file(path).unwrap();
}

/// Runs a program that records into a file, compares its counts with Tare's, and returns Tare's.
fn count_in_file(program: &Path, expected_lines: usize) -> Totals {
    let path = program.with_extension("segment");
    let _ = std::fs::remove_file(&path);
    let output = run(Command::new(program).env("TARE_SEGMENT", &path));
    let output: Vec<String> = output
        .lines()
        .take_while(|line| *line != "done")
        .map(str::to_owned)
        .collect();
    assert_eq!(output.len(), expected_lines, "{output:?}");
    let segment = Segment::attach(Target::Path(path.clone())).unwrap();
    let totals = Totals::of(segment.view());
    compare(&output, &totals);
    assert_eq!(totals.lost, 0);
    std::fs::remove_file(path).unwrap();
    totals
}

#[test]
fn guards_of_cpp_end_what_they_began() {
    let source = "crates/abi/tests/guards.cpp";
    let program = compiled(&CPP17, source, Link::Shared, "guards");
    assert_eq!(run(&mut Command::new(program)), "done\n");
}

#[test]
fn the_example_in_cpp_counts_exactly() {
    for (link, name) in [(Link::Static, "jobs-static"), (Link::Shared, "jobs-shared")] {
        let program = compiled(&CPP17, "examples/cpp/jobs.cpp", link, name);
        let totals = count_in_file(&program, 11);
        assert_eq!(totals.digests, ["mail ?", "resize ?", "submit ?"]);
        let clients: Vec<_> = totals
            .accounts
            .iter()
            .filter(|account| account.starts_with("client"))
            .collect();
        assert_eq!(clients, ["client0@localhost", "client1@localhost"]);
    }
}

#[test]
fn locks_of_the_c_library_count_exactly() {
    let mut cpp = CPP17.to_vec();
    cpp.extend(["-x", "c++"]);
    for (compiler, link, name) in [
        (&C99[..], Link::Static, "pthread-c"),
        (&cpp, Link::Shared, "pthread-cpp"),
    ] {
        let program = compiled(compiler, "crates/abi/tests/pthread.c", link, name);
        let totals = count_in_file(&program, 9);
        // Acquisitions that found the lock free, and tries, are not contended.
        for (class, contended) in [
            ("wait/synch/mutex/keep/LOCK_held", 1),
            ("wait/synch/rwlock/keep/LOCK_busy", 2),
            ("wait/synch/mutex/keep/LOCK_own", 2),
        ] {
            assert_eq!(totals.class(class).contended, contended, "{class}");
        }
    }
}

#[test]
fn a_program_without_shared_libraries_counts_exactly() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pthread-alone");
    let mut command = Command::new("gcc");
    command
        .args(["-static", "-o"])
        .arg(&program)
        .arg(root().join("crates/abi/tests/pthread.c"))
        .args(package(&["--static", "--cflags", "--libs", "tare"]));
    run(&mut command);
    count_in_file(&program, 9);
}

#[test]
fn the_static_library_is_linked_with_another_of_rust() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let other = folder.join("libother.a");
    let source = folder.join("other.rs");
    let code =
        "#[unsafe(no_mangle)] pub extern \"C\" fn other() -> i32 { \"42\".parse().unwrap() }";
    std::fs::write(&source, code).unwrap();
    run(Command::new("rustc")
        .args(["--edition=2024", "--crate-type=staticlib", "-o"])
        .args([&other, &source]));
    let source = folder.join("both.c");
    let code = "#include <tare.h>\nint other(void);\n\
         int main(void) { return tare_start(NULL) + other() - 42; }";
    std::fs::write(&source, code).unwrap();
    let program = folder.join("both");
    run(Command::new("gcc")
        .arg("-o")
        .args([&program, &source])
        .args(package(&["--cflags", "tare"]))
        .arg(&other)
        .args(package(&["--libs", "tare-static"])));
    run(&mut Command::new(program));
}

/// The block of code of this language in docs/instrument.md, as a file.
fn documented(language: &str) -> PathBuf {
    let page = std::fs::read_to_string(root().join("docs/instrument.md")).unwrap();
    let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shop.{language}"));
    std::fs::write(&path, block.split_once("```").unwrap().0).unwrap();
    path
}

#[test]
fn the_documented_servers_count_exactly() {
    for (compiler, language) in [(&C99, "c"), (&CPP17, "cpp")] {
        let source = documented(language);
        let name = format!("shop-{language}");
        let program = compiled(compiler, source.to_str().unwrap(), Link::Static, &name);
        let path = program.with_extension("segment");
        let _ = std::fs::remove_file(&path);
        let mut child = Running(
            Command::new(&program)
                .env("TARE_SEGMENT", &path)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap(),
        );
        let mut input = child.0.stdin.take().unwrap();
        input.write_all(b"set 3\nget\nset 12\nget\nget\n").unwrap();
        drop(input);
        let output = std::io::read_to_string(child.0.stdout.take().unwrap()).unwrap();
        assert_eq!(output, "3\n3\n12\n12\n12\n");
        assert!(child.0.wait().unwrap().success());
        let segment = Segment::attach(Target::Path(path.clone())).unwrap();
        let totals = Totals::of(segment.view());
        let count = |name: &str| totals.class(name).count;
        assert_eq!(count("statement/shop/set"), 2);
        assert_eq!(count("statement/shop/get"), 3);
        assert_eq!(count("wait/synch/mutex/shop/LOCK_stock"), 5);
        assert_eq!(totals.digests, ["get", "set ?"]);
        std::fs::remove_file(path).unwrap();
    }
}
