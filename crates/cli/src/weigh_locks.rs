//! `tare weigh-locks`: the program that recipe locks measures. The help hides it, because users do not need it.

use std::process::ExitCode;

use tare_lab::load::locks::{self, Request};

use crate::exit::{FAILED, Failure};

/// Threads that take one lock, for recipe locks of tare weigh
#[derive(clap::Args)]
pub struct Args {
    #[arg(long, value_parser = locks::LOCKS)]
    lock: String,

    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,

    #[arg(long)]
    seconds: u32,

    #[arg(long, default_value_t = 0)]
    hold_ns: u64,

    #[arg(long, default_value_t = 0)]
    outside_ns: u64,
}

pub fn main(args: Args) -> Result<ExitCode, Failure> {
    let request = Request {
        lock: args.lock,
        threads: args.threads,
        seconds: args.seconds,
        hold_ns: args.hold_ns,
        outside_ns: args.outside_ns,
    };
    locks::main(&request).map_err(|error| Failure::new(FAILED, error))
}
