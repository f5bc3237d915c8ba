//! A server with a built-in cost: each transaction burns a given percentage more CPU. It has a load,
//! and a command that changes the percentage while it runs.
//!
//!     burner serve SOCKET [--work N] [--burn PERCENT]
//!     burner load SOCKET THREADS             counts in TARE_COUNTED_FILE, as docs/weigh.md describes
//!     burner set SOCKET PERCENT
//!
//! A transaction is N additions plus the percentage. The cost of its system calls does not grow with
//! the percentage; with the default N it is less than 5 %.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The additions of a transaction.
const WORK: u64 = 600_000;

/// A request that sets the percentage: this, and thousandths of a percent.
const SET: u64 = 1 << 63;

/// Words of the file's first line, and its layout: crates/lab/lua/counted.lua.
const LINE: u64 = 64;
const BUCKETS: u64 = 864;

fn burn(additions: u64) {
    let mut sum = 0u64;
    for addend in 0..additions {
        sum = black_box(sum.wrapping_add(addend));
    }
    black_box(sum);
}

fn serve(socket: &str, work: u64, percent: f64) -> io::Result<()> {
    let listener = UnixListener::bind(socket)?;
    let milli = Arc::new(AtomicU64::new((percent * 1e3) as u64));
    for client in listener.incoming() {
        let (client, milli) = (client?, Arc::clone(&milli));
        std::thread::spawn(move || serve_one(client, work, &milli));
    }
    Ok(())
}

fn serve_one(mut client: UnixStream, work: u64, milli: &AtomicU64) {
    let mut request = [0; 8];
    while client.read_exact(&mut request).is_ok() {
        let request = u64::from_ne_bytes(request);
        if request & SET != 0 {
            milli.store(request & !SET, Ordering::Relaxed);
        } else {
            let more = work * milli.load(Ordering::Relaxed) / 100_000;
            burn(work + more);
        }
        if client.write_all(&request.to_ne_bytes()).is_err() {
            return;
        }
    }
}

fn connection(server: &mut UnixStream, request: u64) -> io::Result<()> {
    server.write_all(&request.to_ne_bytes())?;
    server.read_exact(&mut [0; 8])
}

/// The words of the file with the counts.
struct Counts {
    file: File,
    threads: u64,
}

impl Counts {
    fn get(&self, at: u64) -> io::Result<u64> {
        let mut word = [0; 8];
        self.file.read_exact_at(&mut word, at)?;
        Ok(u64::from_ne_bytes(word))
    }

    fn add(&self, at: u64, more: u64) -> io::Result<()> {
        let sum = self.get(at)? + more;
        self.file.write_all_at(&sum.to_ne_bytes(), at)
    }

    /// Drives the server until the file requests its end.
    fn drive(&self, socket: &str, thread: u64) -> io::Result<()> {
        let mut server = UnixStream::connect(socket)?;
        let start = Instant::now();
        let own = LINE * (1 + thread);
        let buckets = LINE * (1 + self.threads) + BUCKETS * 8 * thread;
        while self.get(16)? == 0 {
            // The load may have been stopped before this thread began.
            let clock =
                || Ok::<i64, io::Error>(start.elapsed().as_nanos() as i64 - self.get(8)? as i64);
            let began = clock()?;
            connection(&mut server, 0)?;
            let took = (clock()? - began).max(0) as u64;
            if self.get(0)? != 0 {
                let bucket = 32.0 * (took as f64 / 1e3).max(1.0).log2();
                self.add(own + 8, 1)?;
                self.add(own + 16, took)?;
                self.add(buckets + 8 * (bucket as u64).min(BUCKETS - 1), 1)?;
            }
            self.add(own, 1)?;
        }
        Ok(())
    }
}

fn load(socket: &str, threads: u64) -> io::Result<()> {
    let path = std::env::var("TARE_COUNTED_FILE").map_err(io::Error::other)?;
    let file = File::options().read(true).write(true).open(path)?;
    let counts = Counts { file, threads };
    std::thread::scope(|scope| {
        let counts = &counts;
        let all: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || counts.drive(socket, thread)))
            .collect();
        all.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.map_err(|_| io::Error::other("a thread panicked"))?
        })
    })
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<f64>().map_err(io::Error::other);
    let option = |name: &str, default: f64| {
        let at = words.iter().position(|word| *word == name);
        at.map_or(Ok(default), |at| number(words[at + 1]))
    };
    match words[..] {
        ["serve", socket, ..] => serve(
            socket,
            option("--work", WORK as f64)? as u64,
            option("--burn", 0.0)?,
        ),
        ["load", socket, threads] => load(socket, number(threads)? as u64),
        ["set", socket, percent] => {
            let request = SET | (number(percent)? * 1e3) as u64;
            connection(&mut UnixStream::connect(socket)?, request)
        }
        _ => Err(io::Error::other("burner serve|load|set SOCKET ...")),
    }
}
