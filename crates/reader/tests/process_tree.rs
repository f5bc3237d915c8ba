//! Real threads and processes, observed through /proc, and compared with what the kernel says of them.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, mpsc::Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tare_reader::scheduler::State;
use tare_reader::{ProcessError, ProcessTree, ThreadActivity, Usage};

/// A process that is killed at the end.
struct Running(Child);

impl Running {
    /// Starts a shell that reads its script's input from the test.
    fn shell(script: &str) -> Self {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        Self(command.spawn().expect("sh starts"))
    }

    fn send_line(&mut self) {
        let input = self.0.stdin.as_mut().expect("piped");
        input.write_all(b"\n").expect("it reads");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Polls until there is a result.
fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    for _ in 0..60_000 {
        if let Some(result) = poll() {
            return result;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("waited for {what}");
}

/// Starts a thread with a name, and returns its id.
fn start_thread(name: &str, run: impl FnOnce() + Send + 'static) -> (JoinHandle<()>, u32) {
    let (sender, receiver): (Sender<u32>, _) = channel();
    let run = move || {
        // SAFETY: a system call without arguments.
        let id = unsafe { libc::gettid() };
        sender.send(id as u32).expect("the test waits");
        run();
    };
    let started = thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .expect("started");
    (started, receiver.recv().expect("it starts"))
}

fn of(threads: &[ThreadActivity], id: u32) -> &ThreadActivity {
    threads
        .iter()
        .find(|thread| thread.thread_id == id)
        .expect("it runs")
}

/// About the time over which the share of a state is counted.
const SHARE_PERIOD: Duration = Duration::from_millis(250);

/// Of the time in which a thread could run since a reading, or since its start, the share in which it did.
fn cpu_share(before: Option<Usage>, now: Usage) -> f64 {
    let before = before.unwrap_or_default();
    let (cpu, delay) = (now.cpu_ns - before.cpu_ns, now.delay_ns - before.delay_ns);
    cpu as f64 / (cpu + delay).max(1) as f64
}

#[test]
fn states_and_cpu_are_those_of_the_kernel() {
    let mut tree = ProcessTree::new(std::process::id()).expect("it runs");
    let stop = Arc::new(AtomicBool::new(false));
    let (mut input, output) = std::io::pipe().expect("a pipe");
    let (spins, spinner) = {
        let stop = Arc::clone(&stop);
        let (mut blocks, unblock) = std::io::pipe().expect("a pipe");
        let (handle, id) = start_thread("t-spin", move || {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            // Its figures do not change any more.
            let _ = blocks.read(&mut [0]);
        });
        ((handle, unblock), id)
    };
    let (sleeps, sleeper) = start_thread("t-sleep", || thread::sleep(Duration::from_secs(3600)));
    let (reads, reader) = start_thread("t-read", move || {
        let _ = input.read(&mut [0]);
    });
    let blocks = |tree: &mut ProcessTree, id: u32, call: &str| {
        let threads = tree.read().expect("it runs");
        let activity = &of(&threads, id).activity;
        activity.state == State::Blocked && activity.system_call.as_deref() == Some(call)
    };
    wait_for("the others to block", || {
        let all =
            blocks(&mut tree, reader, "read") && blocks(&mut tree, sleeper, "clock_nanosleep");
        all.then_some(())
    });
    let mut readings: Vec<(Instant, Usage)> = Vec::new();
    let (mut on_cpu, mut expected) = (0, 0.0);
    while readings.len() < 200 {
        thread::sleep(Duration::from_millis(3));
        let threads = tree.read().expect("it runs");
        let spins = of(&threads, spinner);
        assert_eq!(&*spins.name, "t-spin");
        assert_eq!(of(&threads, sleeper).activity.state, State::Blocked);
        assert_eq!(of(&threads, reader).activity.state, State::Blocked);
        // A running thread is never taken for a sleeping one.
        assert!(
            matches!(spins.activity.state, State::OnCpu | State::WaitingForCpu),
            "{spins:?}"
        );
        on_cpu += u32::from(spins.activity.state == State::OnCpu);
        let before = readings
            .iter()
            .rfind(|(at, _)| at.elapsed() >= SHARE_PERIOD);
        expected += cpu_share(before.map(|(_, usage)| *usage), spins.usage);
        readings.push((Instant::now(), spins.usage));
    }
    stop.store(true, Ordering::Relaxed);
    wait_for("it to block", || {
        blocks(&mut tree, spinner, "read").then_some(())
    });
    let threads = tree.read().expect("it runs");
    let schedstat = format!("/proc/self/task/{spinner}/schedstat");
    let schedstat = std::fs::read_to_string(schedstat).expect("it runs");
    let kernel: Vec<u64> = (schedstat.split_whitespace())
        .map(|n| n.parse().expect("a number"))
        .collect();
    let usage = of(&threads, spinner).usage;
    assert_eq!(
        [usage.cpu_ns, usage.delay_ns, usage.slices],
        kernel[..],
        "since its start"
    );
    let by_name = |name: &str| -> Usage {
        *tree
            .usage_by_name()
            .find(|(of, _)| *of == name)
            .expect("it ran")
            .1
    };
    assert_eq!(by_name("t-spin"), usage);
    // The moments on a CPU are the kernel's share of each: within five standard deviations of 200 draws.
    assert!(
        (f64::from(on_cpu) - expected).abs() < 5.0 * 0.5 * 200f64.sqrt(),
        "{on_cpu} {expected}"
    );
    drop((output, spins.1));
    reads.join().expect("ends");
    spins.0.join().expect("ends");
    drop(sleeps);
}

#[test]
fn processes_are_followed_as_they_come_and_go() {
    let mut shell = Running::shell("while read line; do sleep 3600 & done; kill $!; wait");
    let mut tree = ProcessTree::new(shell.0.id()).expect("it runs");
    let root = shell.0.id();
    let sleeping = |tree: &mut ProcessTree| -> Vec<u32> {
        let threads = tree.read().expect("it runs");
        let threads = threads.iter().filter(|thread| &*thread.name == "sleep");
        assert!(tree.processes().contains_key(&root));
        threads.map(|thread| thread.process_id).collect()
    };
    assert!(sleeping(&mut tree).is_empty());
    shell.send_line();
    let first = wait_for("a child", || sleeping(&mut tree).first().copied());
    assert_eq!(tree.processes()[&first].parent, root);
    shell.send_line();
    wait_for("another", || (sleeping(&mut tree).len() == 2).then_some(()));
    let status = Command::new("kill")
        .args(["-9", &first.to_string()])
        .status();
    assert!(status.expect("kill starts").success());
    wait_for("its end", || {
        let left = sleeping(&mut tree);
        (left.len() == 1 && left[0] != first).then_some(())
    });
    drop(shell.0.stdin.take());
    wait_for("the end", || {
        let _ = shell.0.try_wait();
        matches!(tree.read(), Err(ProcessError::Ended { pid }) if pid == root).then_some(())
    });
    assert!(matches!(
        ProcessTree::new(u32::MAX >> 1),
        Err(ProcessError::None { .. })
    ));
}

/// Neither that of processes that live shorter than a moment is lost, nor that of their observed siblings.
#[test]
fn the_cpu_time_of_short_lived_processes_is_complete() {
    let child = "j=0; while [ $j -lt 2000 ]; do j=$((j+1)); done";
    let script = format!(
        "read x; i=0; while [ $i -lt 200 ]; do sh -c '{child}'; i=$((i+1)); done; echo; read x"
    );
    let mut shell = Running::shell(&script);
    let mut printed = shell.0.stdout.take().expect("piped");
    let mut tree = ProcessTree::new(shell.0.id()).expect("it runs");
    tree.read_usages();
    shell.send_line();
    let has_ended = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&has_ended);
    let waits = thread::spawn(move || {
        let _ = printed.read(&mut [0]);
        ends.store(true, Ordering::Relaxed);
    });
    let mut most = 0;
    while !has_ended.load(Ordering::Relaxed) {
        most = most.max(tree.read().expect("it runs").len());
        tree.read_usages();
        thread::sleep(Duration::from_millis(1));
    }
    waits.join().expect("ends");
    tree.read_usages();
    let line = tare_reader::process::stat_line(shell.0.id()).expect("it runs");
    let stat = tare_reader::process::Stat::parse(&line).expect("fields");
    let kernel: f64 = (14..=17)
        .map(|field| stat.seconds(field).expect("a time"))
        .sum();
    // The kernel rounds the times of each process down to 10 ms.
    let difference = tree.cpu_seconds() - kernel;
    assert!(
        kernel > 0.1 && difference.abs() < 0.05 + 0.1 * kernel,
        "{difference} {kernel}"
    );
    assert!(most < 10, "ended processes are forgotten: {most}");
}

/// Threads come and go while they are observed.
#[test]
fn threads_that_end_are_forgotten() {
    let mut tree = ProcessTree::new(std::process::id()).expect("it runs");
    let mut names = 0;
    for _ in 0..50 {
        let batch: Vec<_> = (0..20)
            .map(|_| start_thread("t-churn", thread::yield_now).0)
            .collect();
        names += tree
            .read()
            .expect("it runs")
            .iter()
            .filter(|t| &*t.name == "t-churn")
            .count();
        for thread in batch {
            thread.join().expect("ends");
        }
    }
    // A joined thread may be listed for a moment.
    wait_for("their end", || {
        let threads = tree.read().expect("it runs");
        (!threads.iter().any(|thread| &*thread.name == "t-churn")).then_some(())
    });
    assert!(names <= 1000, "{names}");
}
