//! The average load of an interval, with the error of the average active sessions, for `tare mcp`.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tare_reader::Schedule;
use tare_reader::estimate::Moments;

use super::load::{Load, LoadCounters};
use crate::observe::format::{self, in_utc};
use crate::observe::{ObservedServer, QueryError};

/// Moments in an interval, and the most per second. Each is one query.
const MOMENTS: f64 = 20.0;
const MAX_RATE: f64 = 10.0;

/// Half a 95 % interval, in standard errors.
const HALF_INTERVAL: f64 = 1.96;

/// The load of an interval.
pub struct AverageLoad {
    /// Calls and waits; `active` is the average.
    load: Load,
    /// The 95 % interval of the average active sessions. None if no session was active in any moment.
    interval: Option<(f64, f64)>,
    /// The end of an interval of a history, in milliseconds since 1970.
    until_ms: Option<i64>,
}

impl AverageLoad {
    /// From counters, and moments with a row for each active session.
    pub fn new(counted: Load, moments: &Moments<()>, until_ms: Option<i64>) -> Self {
        let estimate = moments.estimates().next().map(|(&(), estimate)| estimate);
        let estimate = estimate.unwrap_or_default();
        let seconds = moments.seconds();
        let active = estimate.value / seconds.max(f64::MIN_POSITIVE);
        let half = HALF_INTERVAL * estimate.standard_error / seconds;
        let has_error = estimate.samples > 0 && half.is_finite();
        Self {
            load: Load { active, ..counted },
            interval: has_error.then(|| ((active - half).max(0.0), active + half)),
            until_ms,
        }
    }

    /// Samples a server for so long.
    pub fn measure(observed: &mut ObservedServer, length: Duration) -> Result<Self, QueryError> {
        let mut moments = Moments::default();
        let mut schedule = Schedule::new((MOMENTS / length.as_secs_f64()).min(MAX_RATE));
        let (start, sent) = (Instant::now(), observed.statements_sent);
        let before = LoadCounters::read(observed)?;
        let end = start + length;
        loop {
            let next = schedule.next(Instant::now()).min(end);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            let now = LoadCounters::read(observed)?;
            let at = Instant::now();
            let elapsed = at.duration_since(start).as_secs_f64();
            if next == end {
                // The last statement is not in its own reading.
                let own = (observed.statements_sent - sent).saturating_sub(1);
                let counted = now.since(&before, elapsed, own);
                return Ok(Self::new(counted, &moments, None));
            }
            moments.begin(elapsed, schedule.represent(at).as_secs_f64());
            (0..now.active()).for_each(|_| moments.add(()));
        }
    }

    /// One object, which docs/schemas/mcp-load.json describes.
    pub fn json(&self, server: &str) -> Json {
        let wait = self.load.wait.as_ref();
        json!({
            "server": server,
            "until": self.until_ms.map(in_utc),
            "seconds": self.load.seconds,
            "calls_per_s": self.load.calls,
            "active_sessions": self.load.active,
            "active_sessions_interval": self.interval.map(|(low, high)| [low, high]),
            "top_wait": wait.map(|wait| &wait.name),
            "top_wait_ps_per_s": wait.map(|wait| wait.ps),
        })
    }

    /// Lines for people.
    pub fn text(&self, server: &str) -> String {
        let until = self
            .until_ms
            .map_or(String::new(), |ms| format!(" until {} UTC", in_utc(ms)));
        let interval = match self.interval {
            Some((low, high)) => format!("[{low:.2}, {high:.2}], 95 %"),
            None => "no active session was sampled".to_owned(),
        };
        let wait = match &self.load.wait {
            Some(wait) => format!("{}, {} per second", wait.name, format::time(wait.ps)),
            None => "none was counted".to_owned(),
        };
        format!(
            "load of {server}, {:.1} s{until}\nactive sessions  {:.2} on average ({interval})\n\
             calls            {}/s\ntop wait         {wait}\n",
            self.load.seconds,
            self.load.active,
            format::count(self.load.calls),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Load {
        Load {
            seconds: 20.0,
            calls: 3.0,
            active: 9.0,
            wait: None,
        }
    }

    #[test]
    fn the_average_has_an_interval_that_contains_it() {
        let mut moments = Moments::default();
        for moment in 0..40 {
            moments.begin(f64::from(moment) / 2.0, 0.5);
            (0..moment % 3).for_each(|_| moments.add(()));
        }
        let average = AverageLoad::new(counted(), &moments, None);
        let (low, high) = average.interval.expect("an interval");
        assert!(
            (average.load.active - 0.975).abs() < 1e-9,
            "{}",
            average.load.active
        );
        assert!(
            low < 0.975 && 0.975 < high && low > 0.0 && high < 2.0,
            "{low} {high}"
        );
        assert_eq!(average.json("s")["calls_per_s"], 3.0);
    }

    #[test]
    fn without_an_active_session_there_is_no_interval() {
        let mut moments = Moments::default();
        moments.begin(0.0, 1.0);
        let json = AverageLoad::new(counted(), &moments, None).json("s");
        assert_eq!(json["active_sessions"], 0.0);
        assert!(json["active_sessions_interval"].is_null(), "{json}");
    }
}
