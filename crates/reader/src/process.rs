//! A process or thread as /proc/PID/stat describes it.

use std::{fs, io};

/// The line of proc(5)'s `stat`, after the name of the program.
#[derive(Clone, Copy, Debug)]
pub struct Stat<'t>(&'t str);

impl<'t> Stat<'t> {
    /// Finds the fields in a line. The name, field 2, may hold anything but ends with the last parenthesis.
    pub fn parse(line: &'t str) -> Option<Self> {
        let (_, fields) = line.rsplit_once(')')?;
        Some(Self(fields.trim_ascii_start()))
    }

    /// A field by proc(5)'s number, from 3.
    pub fn field(&self, number: usize) -> Option<&'t str> {
        self.0.split_ascii_whitespace().nth(number.checked_sub(3)?)
    }

    /// The state: R, S, D, T, Z and so on.
    pub fn state(&self) -> Option<char> {
        self.0.chars().next()
    }

    /// Whether it neither runs nor is ready to run.
    pub fn is_asleep(&self) -> bool {
        self.state() != Some('R')
    }

    /// The number of threads.
    pub fn threads(&self) -> Option<u64> {
        self.field(20)?.parse().ok()
    }

    /// Ticks from the machine's start to the process's.
    pub fn start_ticks(&self) -> Option<u64> {
        self.field(22)?.parse().ok()
    }
}

/// The line of a process.
///
/// # Errors
/// There is none, or it may not be read.
pub fn stat_line(pid: u32) -> io::Result<String> {
    let line = fs::read(format!("/proc/{pid}/stat"))?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name() {
        let line = "17 (a) b) (c) S 1 17 17 0 -1 4 129 0 0 0 5 6 0 0 20 0 3 0 1798103 2990080 391";
        let stat = Stat::parse(line).expect("fields");
        assert_eq!((stat.state(), stat.field(4)), (Some('S'), Some("1")));
        assert_eq!((stat.field(14), stat.field(15)), (Some("5"), Some("6")));
        assert_eq!(
            (stat.threads(), stat.start_ticks()),
            (Some(3), Some(1_798_103))
        );
        assert!(stat.is_asleep() && stat.field(2).is_none() && stat.field(99).is_none());
        assert!(Stat::parse("").is_none());
        assert!(stat_line(std::process::id()).is_ok_and(|line| Stat::parse(&line).is_some()));
    }
}
