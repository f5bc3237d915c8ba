//! Compares the server's timer with CLOCK_MONOTONIC: a query is itself a timed statement between its
//! sending and its answer.

use crate::observe::{ObservedServer, QueryError, integer, real};

/// Bounds of the nanoseconds to add to the server's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// The lower bound.
    low_ns: i128,
    /// The upper bound.
    high_ns: i128,
}

impl Offset {
    /// The middle of the bounds.
    fn middle_ns(self) -> i128 {
        (self.low_ns + self.high_ns) / 2
    }

    /// Converts a time of the server, in picoseconds, to CLOCK_MONOTONIC in nanoseconds.
    pub fn to_monotonic_ns(self, server_ps: i128) -> i128 {
        server_ps / 1_000 + self.middle_ns()
    }

    /// The largest error of a converted time.
    pub fn error_ns(self) -> i128 {
        (self.high_ns - self.low_ns) / 2
    }

    /// The intersection of the bounds, or the newer ones if there is none, because clocks drift.
    fn intersect(self, newer: Self) -> Self {
        let both = Self {
            low_ns: self.low_ns.max(newer.low_ns),
            high_ns: self.high_ns.min(newer.high_ns),
        };
        if both.low_ns <= both.high_ns {
            both
        } else {
            newer
        }
    }
}

/// CLOCK_MONOTONIC, in nanoseconds.
pub fn now_ns() -> i128 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// Compares the clocks several times. `None` if the server does not report the times of this
/// connection's statements.
pub fn measure(
    observed: &mut ObservedServer,
    own_thread: Option<u64>,
) -> Result<Option<Offset>, QueryError> {
    let mut offset: Option<Offset> = None;
    for _ in 0..10 {
        let Some(newer) = compare_once(observed, own_thread)? else {
            return Ok(offset);
        };
        offset = Some(offset.map_or(newer, |offset| offset.intersect(newer)));
    }
    Ok(offset)
}

fn compare_once(
    observed: &mut ObservedServer,
    own_thread: Option<u64>,
) -> Result<Option<Offset>, QueryError> {
    let before = now_ns();
    if observed.about.is_segment {
        // The reader uses the program's clock: the uptime is the age of the recording.
        let rows = observed.rows("SELECT uptime_s FROM tare.segments")?;
        let after = now_ns();
        let uptime = rows.first().and_then(|row| real(row.first()?));
        return Ok(uptime.map(|seconds| {
            let server_ns = (seconds * 1e9) as i128;
            Offset {
                low_ns: before - server_ns,
                high_ns: after - server_ns,
            }
        }));
    }
    let Some(own) = own_thread else {
        return Ok(None);
    };
    observed.rows("DO 0")?;
    let after = now_ns();
    let question = format!(
        "SELECT TIMER_START, TIMER_END FROM performance_schema.events_statements_history_long WHERE THREAD_ID = {own} AND TIMER_END IS NOT NULL \
         AND SQL_TEXT = 'DO 0' ORDER BY EVENT_ID DESC LIMIT 1"
    );
    let rows = observed.rows(&question)?;
    let times: Option<(i128, i128)> = rows
        .first()
        .and_then(|row| Some((integer(row.first()?)?, integer(row.get(1)?)?)));
    Ok(times.map(|(start, end)| Offset {
        low_ns: before - start / 1_000,
        high_ns: after - end / 1_000,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_comparisons_narrow_the_offset_and_the_newer_one_wins() {
        let of = |low_ns, high_ns| Offset { low_ns, high_ns };
        assert_eq!(of(10, 30).intersect(of(20, 50)), of(20, 30));
        assert_eq!(of(10, 30).intersect(of(40, 50)), of(40, 50));
        assert_eq!(of(100, 200).to_monotonic_ns(5_000_000), 5_150);
        assert_eq!(of(100, 200).error_ns(), 50);
    }
}
