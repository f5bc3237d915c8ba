//! Processes in a directory like /proc.

use super::*;
use crate::test_directory::Directory;

/// A directory like /proc.
struct Proc(Directory);

impl Proc {
    fn new(name: &str) -> Self {
        let proc = Self(Directory::new(name));
        proc.start_any(7);
        proc
    }

    /// A process with threads whose ids follow its own, and with children.
    fn process(&self, pid: u32, parent: u32, start: u64, threads: u32, children: &str) {
        let stat = format!(
            "{pid} (pg) S {parent} 1 1 0 -1 0 0 0 0 0 3 4 0 0 20 0 {threads} 0 {start} 0 0"
        );
        self.0.write(&format!("{pid}/stat"), &stat);
        self.0.write(
            &format!("{pid}/status"),
            &format!("Tgid:\t{pid}\nUid:\t5\t5\t5\t5\n"),
        );
        for id in pid..pid + threads {
            self.0
                .write(&format!("{pid}/task/{id}/schedstat"), "100 10 1\n");
            self.0
                .write(&format!("{pid}/task/{id}/syscall"), "running\n");
            self.0.write(&format!("{pid}/task/{id}/comm"), "worker\n");
        }
        self.0
            .write(&format!("{pid}/task/{pid}/children"), children);
    }

    /// The kernel has started a process or thread.
    fn start_any(&self, id: u32) {
        self.0
            .write("loadavg", &format!("0.00 0.00 0.00 1/2 {id}\n"));
    }

    fn tree(&self, pid: u32) -> ProcessTree {
        ProcessTree::below(&self.0.0, pid).expect("it runs")
    }
}

fn pids(tree: &ProcessTree) -> Vec<u32> {
    tree.processes().keys().copied().collect()
}

#[test]
fn an_id_that_is_used_again_is_another_process() {
    let proc = Proc::new("reuse");
    proc.process(10, 1, 500, 1, "20 30");
    proc.process(20, 10, 600, 1, "40");
    proc.process(30, 10, 600, 1, "");
    proc.process(40, 20, 600, 1, "");
    let mut tree = proc.tree(10);
    assert_eq!(pids(&tree), [10, 20, 30, 40]);
    // 20 has ended, and another process has its id. Its child belongs to another parent now.
    proc.process(10, 1, 500, 1, "30");
    proc.process(20, 1, 700, 1, "");
    proc.process(40, 1, 600, 1, "");
    proc.start_any(20);
    tree.read().expect("it runs");
    assert_eq!(pids(&tree), [10, 30, 40]);
    // A child that took the id of an ended one is observed from its start.
    proc.process(30, 10, 900, 2, "");
    proc.start_any(30);
    let threads = tree.read().expect("it runs");
    let of_child: Vec<u64> = (threads.iter())
        .filter(|thread| thread.process_id == 30)
        .map(|thread| thread.usage.cpu_ns)
        .collect();
    assert_eq!(of_child, [100, 100]);
    // An id that a list of children has, and another parent.
    proc.process(10, 1, 500, 1, "30 50");
    proc.process(50, 1, 900, 1, "");
    proc.start_any(50);
    tree.read().expect("it runs");
    assert_eq!(pids(&tree), [10, 30, 40]);
    // The process itself.
    proc.process(10, 1, 501, 1, "30");
    proc.start_any(10);
    assert!(matches!(tree.read(), Err(ProcessError::Ended { pid: 10 })));
}

#[test]
fn open_files_and_threads_are_bounded() {
    let proc = Proc::new("bounds");
    let threads = 30;
    proc.process(10, 1, 500, threads, "");
    let mut tree = proc.tree(10);
    for thread in tree.threads.values_mut() {
        thread.files = None;
    }
    tree.open = OpenThreads::with_limit(20);
    let mut read = || {
        let read = tree.read().expect("it runs").len();
        let threads = tree.threads.values();
        let open = threads.filter(|thread| thread.files.is_some()).count();
        (read, open, tree.threads.len())
    };
    assert_eq!(read(), (30, 20, 30));
    for id in 11..10 + threads {
        proc.0.remove(&format!("10/task/{id}"));
    }
    proc.start_any(9);
    assert_eq!(read(), (1, 1, 1));
    // Others take the places of those that have ended.
    proc.process(10, 1, 500, threads, "");
    proc.start_any(8);
    assert_eq!(read(), (30, 20, 30));
}

#[test]
fn a_thread_that_has_not_run_for_long_is_idle() {
    let proc = Proc::new("idle");
    proc.process(10, 1, 500, 1, "");
    proc.0.write("10/task/10/syscall", "202 0x0\n");
    let mut tree = proc.tree(10);
    let mut read = |is_old: bool| {
        if is_old {
            let thread = tree.threads.get_mut(&10).expect("it runs");
            thread.last_ran = Instant::now().checked_sub(IDLE_AFTER).expect("time");
        }
        let threads = tree.read().expect("it runs");
        (threads[0].is_idle, threads[0].usage.cpu_ns)
    };
    assert_eq!(read(false), (false, 0), "it is new to the observer");
    assert_eq!(read(true), (true, 0));
    proc.0.write("10/task/10/schedstat", "130 10 2\n");
    assert_eq!(read(true), (false, 30));
    proc.0.write("10/task/10/syscall", "running\n");
    assert_eq!(read(true), (false, 30), "it runs now");
}

#[test]
fn without_the_right_to_read_system_calls_the_kernels_function_takes_their_place() {
    let proc = Proc::new("wchan");
    proc.process(10, 1, 500, 1, "");
    fs::remove_file(proc.0.0.join("10/task/10/syscall")).expect("removed");
    proc.0.write(
        "10/task/10/stat",
        "10 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0",
    );
    proc.0.write("10/task/10/wchan", "futex_wait_queue");
    let mut tree = proc.tree(10);
    let threads = tree.read().expect("it runs");
    let activity = &threads[0].activity;
    assert_eq!(activity.state, State::Blocked);
    assert_eq!(activity.system_call.as_deref(), Some("futex_wait_queue"));
}
