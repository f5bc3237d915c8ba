//! A C program at the level `active`, observed from outside: tests/active.c stops in each kind of wait.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use tare_layout::event::Operation;
use tare_layout::sampling::Rule;
use tare_reader::scheduler::{Scheduler, State};
use tare_reader::{ActiveThread, Classes, Names, Segment, Target, active_threads, instances};

use super::totals::Totals;
use super::{C99, Link, Running, compiled};

/// So much time is as good as never.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

const ROW: &str = "statement/tare/active";
const TEXT: &str = "GET \"outer\"";

struct Program {
    process: Running,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    segment: Segment,
    scheduler: Scheduler,
}

impl Program {
    fn start(link: Link, name: &str) -> Self {
        let program = compiled(&C99, "crates/abi/tests/active.c", link, name);
        let mut command = Command::new(&program);
        let spawned = command
            .env_remove("TARE_SEGMENT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = Running(spawned.expect("started"));
        let mut output = BufReader::new(process.0.stdout.take().expect("piped")).lines();
        let first = output.next().expect("it prints").expect("UTF-8");
        assert_eq!(first, "mutex");
        let pid = process.0.id();
        Self {
            input: process.0.stdin.take().expect("piped"),
            output,
            segment: Segment::attach(Target::Pid(pid)).expect("attached"),
            scheduler: Scheduler::new(pid),
            process,
        }
    }

    /// Lets the program go on to its next stop.
    fn advance(&mut self, to: &str) {
        self.input.write_all(b"\n").expect("it reads");
        let line = self.output.next().expect("it prints").expect("UTF-8");
        assert_eq!(line, to);
    }

    fn class(&self, number: usize) -> String {
        let classes = Classes::read(self.segment.view());
        let class = classes.get(number).map(|class| class.name.to_string());
        class.unwrap_or_default()
    }

    /// The session's thread, if it runs a statement or waits.
    fn session(&self) -> Option<ActiveThread> {
        let threads = active_threads(self.segment.view()).active;
        let mut threads = threads.into_iter();
        threads.find(|thread| thread.processlist_id == 7)
    }

    /// Waits until the session sleeps in this wait, and checks what it runs. Returns the object's name.
    fn expect(&mut self, wait: Option<&str>, operation: Option<Operation>, text: &str) -> String {
        let since = Instant::now();
        self.scheduler.begin_moment();
        let state = match wait {
            Some(_) => State::Waiting,
            None => State::Blocked,
        };
        let mut thread = loop {
            let mut thread = self.session().expect("it runs a statement");
            let activity = self.scheduler.observe(self.segment.view(), &mut thread);
            let class = thread.wait.map(|wait| self.class(wait.head.class));
            if class.as_deref() == wait && activity.state == state {
                break thread;
            }
            assert!(
                since.elapsed() < HANG_TIMEOUT,
                "{wait:?}: {class:?}, {activity:?}"
            );
            std::thread::sleep(Duration::from_millis(1));
        };
        let statement = thread.statement.take().expect("a statement");
        assert_eq!(statement.text.as_deref(), Some(text));
        assert!(statement.head.start.is_some(), "{text}");
        assert_eq!(self.class(thread.stage), "stage/now/Working");
        let names = Names::read(self.segment.view());
        let account = names.account(thread.account).expect("an account");
        assert_eq!(
            (account.user.as_deref(), account.host.as_deref()),
            (Some("alice"), Some("localhost"))
        );
        assert_eq!(names.schema(thread.schema).as_deref(), Some("shop"));
        let expected = match text {
            TEXT => ("statement/now/get", 0),
            _ => ("statement/now/call", 1),
        };
        let class = self.class(statement.head.class);
        assert_eq!((class.as_str(), statement.head.level), expected);
        assert_eq!(thread.wait.and_then(|wait| wait.operation), operation);
        let object = thread.wait.map_or(0, |wait| wait.object);
        let object = instances::object(self.segment.view(), object);
        object.name.map_or(String::new(), |name| name.to_string())
    }
}

fn observe(link: Link, name: &str) {
    let mut program = Program::start(link, name);
    let wait = |name: &'static str| Some(name);
    let row = "wait/io/table/now/rows";
    use Operation as Op;
    for (stop, wait, operation, object) in [
        (
            "mutex",
            wait("wait/synch/mutex/now/LOCK_data"),
            Some(Op::Lock),
            "",
        ),
        (
            "pthread mutex",
            wait("wait/synch/mutex/now/LOCK_kept"),
            Some(Op::Lock),
            "",
        ),
        (
            "rwlock",
            wait("wait/synch/rwlock/now/LOCK_map"),
            Some(Op::ReadLock),
            "",
        ),
        (
            "condition",
            wait("wait/synch/cond/now/COND_changed"),
            Some(Op::Wait),
            "",
        ),
        ("table", wait(row), Some(Op::Fetch), "orders"),
        (
            "file",
            wait("wait/io/file/now/log"),
            Some(Op::Read),
            "/now/log",
        ),
        ("table again", wait(row), Some(Op::Fetch), "orders"),
        (
            "table lock",
            wait("wait/lock/table/now/locks"),
            Some(Op::TableWriteLock),
            "orders",
        ),
        (
            "socket",
            wait("wait/io/socket/now/client"),
            Some(Op::Recv),
            "",
        ),
        (
            "metadata lock",
            wait("wait/lock/metadata/now/mdl"),
            Some(Op::MetadataLock),
            "",
        ),
        ("own wait", wait("wait/io/file/now/log"), Some(Op::Sync), ""),
    ] {
        if stop != "mutex" {
            program.advance(stop);
        }
        assert_eq!(program.expect(wait, operation, TEXT), object, "{stop}");
    }
    program.advance("nested");
    program.expect(None, None, "CALL \"inner\"");
    program.advance("no wait");
    program.expect(None, None, TEXT);
    // Between statements it does nothing, and its idle time is not stored.
    program.advance("idle");
    assert!(program.session().is_none());

    let totals = Totals::of(program.segment.view());
    assert_eq!(totals.class(ROW).count, 2);
    for class in [
        "statement/now/get",
        "statement/now/call",
        "statement/abstract/now_request",
        "stage/now/Working",
        "wait/synch/mutex/now/LOCK_data",
        "wait/io/file/now/log",
        row,
        "idle",
    ] {
        assert_eq!(totals.class(class).count, 0, "{class}");
    }
    assert!(totals.digests.is_empty(), "{:?}", totals.digests);

    let segment = &program.segment;
    segment
        .set_sampling(0, Rule::Every)
        .expect("the program follows");
    program.advance("exact");
    let totals = Totals::of(program.segment.view());
    assert_eq!(totals.class(ROW).count, 2);
    assert_eq!(totals.class("statement/now/get").count, 1);
    assert_eq!(totals.class("wait/synch/mutex/now/LOCK_data").count, 1);
    assert_eq!(totals.digests, ["GET ?"]);
    program.input.write_all(b"\n").expect("it reads");
    assert!(program.process.0.wait().expect("our child").success());
    assert!(!program.segment.is_live());
}

#[test]
fn a_c_program_is_observed_with_the_static_library() {
    observe(Link::Static, "active-static");
}

#[test]
fn a_c_program_is_observed_with_the_shared_library() {
    observe(Link::Shared, "active-shared");
}
