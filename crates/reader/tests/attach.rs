//! Attaching from another process to a running and a killed process, and to files that are no segments.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tare_layout::line::COUNT;
use tare_reader::events::{Events, Table};
use tare_reader::{
    AttachError, Banks, Classes, Invalid, Scope, Segment, Selection, Target, WriteError,
};

tare::classes! {
    static READ: File = "wait/io/file/test/read", enabled;
    static SELECT: Statement = "statement/sql/select";
}

/// The variable that [`Writer`] sets for this binary when it runs as a program that uses Tare.
const ROLE: &str = "TARE_READER_TEST_ROLE";

/// Events that a writer counts before it reports that it is ready.
const EVENTS: u64 = 1234;

/// The main function of child processes; without the variable, a test of one that ends.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return assert!(Writer::start("ends", None).ends_well());
    };
    let segment = std::env::var_os("TARE_READER_TEST_FILE").map(PathBuf::from);
    // Small, so that copying the file with its holes filled takes no time.
    let limits = tare::Limits::default()
        .threads(8)
        .accounts(4)
        .instances(64)
        .files(16)
        .digests(16)
        .history_long(64);
    let mut config = tare::Config::everything().limits(limits);
    config.segment = segment;
    tare::start(config).expect("starts");
    if role == "loads" {
        load();
    }
    let statement = tare::statement::start(&SELECT);
    statement.text("SELECT last_words");
    (0..EVENTS).for_each(|_| drop(tare::wait::start(&READ, tare::Operation::Read)));
    println!("\nready");
    std::io::stdout().flush().expect("flushed");
    if role != "ends" {
        loop {
            std::thread::park();
        }
    }
    tare::stop();
    // The parent reads no more output.
    std::process::exit(0);
}

/// Threads of [`load`].
const LOADERS: usize = 4;

/// Runs statements with waits on all threads, and never returns.
fn load() {
    let started = std::sync::Barrier::new(LOADERS + 1);
    std::thread::scope(|scope| {
        for i in 0..LOADERS {
            let started = &started;
            scope.spawn(move || {
                for round in 0u64.. {
                    let statement = tare::statement::start(&SELECT);
                    statement.text(&format!("SELECT {round} FROM loader{i}"));
                    (0..3).for_each(|_| drop(tare::wait::start(&READ, tare::Operation::Read)));
                    drop(statement);
                    if round == 100 {
                        started.wait();
                    }
                }
            });
        }
        started.wait();
        println!("\nready");
        std::io::stdout().flush().expect("flushed");
    });
}

/// A process that uses Tare; killed when dropped.
struct Writer(Child);

impl Writer {
    fn start(role: &str, file: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(file) = file {
            command.env("TARE_READER_TEST_FILE", file);
        }
        let mut child = command.spawn().expect("starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let ready = output
            .lines()
            .map_while(Result::ok)
            .any(|line| line == "ready");
        assert!(ready, "the child ended before it was ready");
        Writer(child)
    }

    /// Waits for its end, and returns whether it succeeded.
    fn ends_well(mut self) -> bool {
        self.0.wait().expect("reaped").success()
    }

    fn kill(mut self) {
        self.0.kill().expect("SIGKILL");
        self.0.wait().expect("reaped");
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tare-reader-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

fn events(segment: &Segment) -> u64 {
    let classes = Classes::read(segment.view());
    let totals =
        Banks::new(segment.view(), segment.is_live()).global(&Selection::new(&classes, |_| true));
    let class = classes.find(READ.name()).expect("registered").id;
    totals.row(class).map_or(0, |row| row[0][COUNT])
}

/// The text of the statement that the only thread ran last.
fn last_statement(segment: &Segment) -> String {
    use tare_layout::event::statement::{TEXT_AND_PROGRAM, TEXT_AT, text_bytes};
    let (view, slot) = (segment.view(), 0);
    let words = view.statements(slot)[0].read().expect("it ran one");
    let at = words[TEXT_AT] as usize / 8;
    let ring = &view.text_ring(slot)[at..];
    let mut bytes = vec![0; text_bytes(words[TEXT_AND_PROGRAM])];
    tare_layout::name::load_bytes(ring, &mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_running_process_is_attached_by_pid_and_its_settings_can_be_changed() {
    let writer = Writer::start("stays", None);
    let pid = writer.0.id();
    let segment = Segment::attach(Target::Pid(pid)).expect("attaches");
    assert!(segment.is_live());
    assert_eq!(segment.pid(), pid);
    assert_eq!(events(&segment), EVENTS);
    assert!(
        segment.resident_bytes() < 8 << 20,
        "{}",
        segment.resident_bytes()
    );

    // Attached by path, it is live, too.
    let path = segment.path().to_owned();
    let again = Segment::attach(Target::Path(path)).expect("attaches");
    assert!(again.is_live());
    assert_eq!(again.pid(), pid);

    let selection = Selection::new(&Classes::read(segment.view()), |_| true);
    segment
        .truncate_classes(Scope::Global, &selection)
        .expect("truncated");
    assert_eq!((events(&segment), events(&again)), (0, 0));

    writer.kill();
    assert!(!segment.is_live());
    assert_eq!(events(&segment), 0, "what is mapped stays");
    assert!(matches!(
        segment.truncate_classes(Scope::Global, &selection),
        Err(WriteError::Ended)
    ));
    assert!(matches!(
        Segment::attach(Target::Pid(pid)),
        Err(AttachError::NoProcess { pid: missing }) if missing == pid
    ));
}

#[test]
fn the_file_of_a_killed_process_can_be_read() {
    let directory = directory("killed");
    let file = directory.join("of.segment");
    let writer = Writer::start("stays", Some(&file));
    let pid = writer.0.id();
    let live = Segment::attach(Target::Path(file.clone())).expect("attaches");
    assert!(live.is_live());
    assert_eq!(live.pid(), pid);
    writer.kill();

    let saved = Segment::attach(Target::Path(file.clone())).expect("attaches");
    assert!(!saved.is_live() && !live.is_live());
    assert_eq!(saved.pid(), pid);
    assert_eq!(saved.clock().now(), None);
    assert_eq!(events(&saved), EVENTS);
    assert_eq!(last_statement(&saved), "SELECT last_words");

    // The reader has a copy, so shortening the file does not affect it.
    std::fs::File::options()
        .write(true)
        .open(&file)
        .and_then(|file| file.set_len(0))
        .expect("cut");
    assert_eq!(events(&saved), EVENTS);
    assert_eq!(last_statement(&saved), "SELECT last_words");
    std::fs::remove_dir_all(directory).expect("removed");
}

#[test]
fn each_threads_last_events_survive_a_kill_at_full_load() {
    let directory = directory("load");
    let file = directory.join("of.segment");
    let writer = Writer::start("loads", Some(&file));
    std::thread::sleep(std::time::Duration::from_millis(50));
    writer.kill();
    let saved = Segment::attach(Target::Path(file)).expect("attaches");
    let view = saved.view();
    let threads = tare_reader::threads(view);
    let read = Events::new(view, &threads);
    let current = read.statements(Table::Current);
    let history = read.statements(Table::History);
    let (waits, history_waits) = (read.waits(Table::Current), read.waits(Table::History));
    let mut loaders = 0;
    for thread in &threads {
        let newest = |statements: &[tare_reader::events::Statement]| {
            let own = statements.iter().filter(|s| s.head.thread == thread.id);
            own.filter_map(|s| s.text.as_deref().map(str::to_owned))
                .next_back()
        };
        let Some(newest_wait) = newest(&history) else {
            continue;
        };
        // A statement that was just beginning may have no text, or no record yet.
        let running = newest(&current).unwrap_or_else(|| newest_wait.clone());
        let round = |text: &str| -> u64 {
            let words: Vec<&str> = text.split(' ').collect();
            assert!(
                words.len() == 4 && words[3].starts_with("loader"),
                "{text:?}"
            );
            words[1].parse().expect("a number")
        };
        assert!(
            round(&newest_wait) >= 90 && round(&running) >= round(&newest_wait),
            "{running} {newest_wait}"
        );
        let is_its = |wait: &tare_reader::events::Wait| wait.head.thread == thread.id;
        assert!(waits.iter().chain(&history_waits).any(is_its));
        loaders += 1;
    }
    assert_eq!(loaders, LOADERS);

    // Each counted statement has counted its three waits, except those that were running.
    let classes = Classes::read(view);
    let totals = Banks::new(view, false).global(&Selection::new(&classes, |_| true));
    let count = |name: &str| {
        let class = classes.find(name).expect("registered").id;
        totals.row(class).expect("it fired")[0][COUNT]
    };
    let (statements, waits) = (count(SELECT.name()), count(READ.name()));
    assert!(statements >= 100 * LOADERS as u64);
    assert!(
        (3 * statements..=3 * (statements + LOADERS as u64)).contains(&waits),
        "{waits}"
    );
    std::fs::remove_dir_all(directory).expect("removed");
}

#[test]
fn a_program_that_stopped_is_not_live() {
    let directory = directory("stopped");
    let file = directory.join("of.segment");
    let mut writer = Writer::start("ends", Some(&file));
    writer.0.wait().expect("ends");
    let segment = Segment::attach(Target::Path(file)).expect("attaches");
    assert!(!segment.is_live());
    assert_eq!(
        segment
            .view()
            .header()
            .state
            .load(std::sync::atomic::Ordering::Relaxed),
        tare_layout::header::STOPPED
    );
    assert_eq!(events(&segment), EVENTS);
    std::fs::remove_dir_all(directory).expect("removed");
}

#[test]
fn a_file_that_is_no_segment_gives_a_helpful_error() {
    let directory = directory("refused");
    let refused = |name: &str, write: &dyn Fn(&Path)| {
        let path = directory.join(name);
        write(&path);
        Segment::attach(Target::Path(path)).expect_err(name)
    };
    let invalid = |name: &str, write: &dyn Fn(&Path)| match refused(name, write) {
        AttachError::Invalid { source, .. } => source,
        other => panic!("{name}: {other}"),
    };
    let write = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        move |path: &Path| std::fs::write(path, &bytes).expect("written")
    };
    assert_eq!(invalid("empty", &write(b"")), Invalid::Magic);
    assert_eq!(invalid("short", &write(b"TARE\0SE")), Invalid::Magic);
    assert_eq!(invalid("text", &write(&[b'x'; 10_000])), Invalid::Magic);

    let good = directory.join("good");
    drop(Writer::start("ends", Some(&good)));
    let other = |path: &Path, at: u64, bytes: &[u8]| {
        std::fs::copy(&good, path).expect("copied");
        let file = std::fs::File::options()
            .write(true)
            .open(path)
            .expect("opened");
        file.write_all_at(bytes, at).expect("written");
    };
    let version = std::mem::offset_of!(tare_layout::header::Header, layout_version) as u64;
    let error = invalid("version", &|path| other(path, version, &[77, 0, 0, 0]));
    assert_eq!(error, Invalid::Version { actual: 77 });
    let ours = tare_layout::LAYOUT_VERSION;
    let message = format!("written by layout version 77, this tare reads {ours}");
    assert!(error.to_string().contains(&message), "{error}");
    let truncated = invalid("truncated", &|path| {
        other(path, 0, b"TARE");
        let file = std::fs::File::options()
            .write(true)
            .open(path)
            .expect("opened");
        file.set_len(1 << 20).expect("cut");
    });
    assert!(matches!(truncated, Invalid::Truncated { actual, .. } if actual == 1 << 20));

    let missing = refused("missing", &|_| {});
    assert!(missing.to_string().contains("tare ps"), "{missing}");
    let is_directory = refused("directory", &|path| {
        std::fs::create_dir(path).expect("made")
    });
    assert!(
        is_directory.to_string().contains("directory"),
        "{is_directory}"
    );
    // Attaching must not wait for the writer of a pipe.
    let pipe = refused("pipe", &|path| {
        let status = Command::new("mkfifo")
            .arg(path)
            .status()
            .expect("mkfifo runs");
        assert!(status.success());
    });
    assert!(pipe.to_string().contains("pipe"), "{pipe}");

    let own =
        Segment::attach(Target::Pid(std::process::id())).expect_err("we do not use Tare here");
    assert!(matches!(own, AttachError::NoSegment { .. }), "{own}");
    let nobody = Segment::attach(Target::Pid(u32::MAX >> 1)).expect_err("no such process");
    assert!(matches!(nobody, AttachError::NoProcess { .. }), "{nobody}");
    std::fs::remove_dir_all(directory).expect("removed");
}
