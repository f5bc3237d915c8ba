//! Generates a day of many hosts with the recorder's writer, for the figures of docs/fleet.md and docs/live.md.
//!
//!     cargo run --release -p tare-history --example fleet -- DIR HOSTS [SECONDS [MINUTES [DAYS]]]
//!
//! SECONDS: from moment to moment, 30. MINUTES: from growth to growth, 5. DAYS: 1.

mod day;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().map(PathBuf::from);
    let mut number = |default: Option<u64>| match arguments.next() {
        Some(text) => text.parse().ok(),
        None => default,
    };
    let (hosts, moments, growth) = (number(None), number(Some(30)), number(Some(5)));
    let days = number(Some(1));
    let (
        Some(directory),
        Some(hosts),
        Some(moments @ 1..=3600),
        Some(growth @ 1..=60),
        Some(days @ 1..=366),
    ) = (directory, hosts, moments, growth, days)
    else {
        eprintln!(
            "fleet DIR HOSTS [SECONDS from moment to moment [MINUTES from growth to growth [DAYS]]]"
        );
        return ExitCode::from(2);
    };
    let day = day::Day {
        hosts: hosts as usize,
        moments,
        growth,
        days,
    };
    match day.write(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fleet: {error}");
            ExitCode::FAILURE
        }
    }
}
