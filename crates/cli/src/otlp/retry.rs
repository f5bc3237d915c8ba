//! When a request is sent again, as the OpenTelemetry protocol specifies for HTTP: after the statuses 429, 502, 503 and
//! 504, and after a connection that broke or was refused. The collector may say when; otherwise pauses grow.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Spans are given up so long after they were sent first.
const MAX_RETRY_TIME: Duration = Duration::from_secs(60);

/// The first pause, which doubles with each failure in a row.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause, if the collector does not ask for one.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The longest pause that a collector can ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Why a request failed.
#[derive(Debug, PartialEq, Eq)]
pub enum SendError {
    /// It is sent again, after the pause that the collector asks for.
    Transient(String, Option<Duration>),
    /// It would fail again.
    Permanent(String),
}

/// A status that is no success, with the header Retry-After.
pub fn status_error(status: u16, retry_after: Option<&str>, now: SystemTime) -> SendError {
    let why = format!("http status: {status}");
    match status {
        429 | 502 | 503 | 504 => SendError::Transient(
            why,
            retry_after.and_then(|text| parse_retry_after(text, now)),
        ),
        _ => SendError::Permanent(why),
    }
}

/// An error without an answer.
pub fn transport_error(error: &ureq::Error) -> SendError {
    let why = error.to_string();
    use ureq::Error::{BadUri, Http, Io, Pem, Protocol, Rustls, Tls, TooManyRedirects};
    let is_permanent = match error {
        // A certificate that is not trusted is one of these.
        Io(error) => error.kind() == io::ErrorKind::InvalidData,
        Http(_) | BadUri(_) | Protocol(_) | Tls(_) | Pem(_) | Rustls(_) | TooManyRedirects => true,
        _ => false,
    };
    match is_permanent {
        true => SendError::Permanent(why),
        false => SendError::Transient(why, None),
    }
}

/// Reads Retry-After: seconds, or a date such as `Sun, 29 Nov 2026 16:00:00 GMT`.
fn parse_retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words[..] else {
        return None;
    };
    let month = MONTHS.find(month).filter(|_| month.len() == 3)? / 3 + 1;
    let date = format!("{year}-{month:02}-{day} {time}");
    let at = tare_history::parse_time(&date, now).ok()?;
    let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(at).ok()?);
    Some(at.duration_since(now).unwrap_or_default())
}

/// The failures in a row, of all requests.
#[derive(Default)]
pub struct Backoff {
    failures: u32,
    random: RandomState,
}

impl Backoff {
    /// A request succeeded, or failed for a reason of its own.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// The pause before the next request, after a transient failure.
    pub fn pause(&mut self, retry_after: Option<Duration>) -> Duration {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        if let Some(requested) = retry_after {
            return requested.min(MAX_RETRY_AFTER);
        }
        // Recorders that lost one collector do not return at the same time.
        let mut hasher = self.random.build_hasher();
        hasher.write_u32(self.failures);
        let part = 0.5 + (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64 / 2.0;
        doubled.min(MAX_PAUSE).mul_f64(part)
    }
}

/// Whether spans that were sent first so long ago are sent again after this pause.
pub fn is_in_time(since_first: Duration, pause: Duration) -> bool {
    since_first + pause <= MAX_RETRY_TIME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_an_overloaded_collector_are_transient() {
        // 2026-11-29 16:00:00.
        let now = UNIX_EPOCH + Duration::from_secs(1_795_968_000);
        let seconds = |n| Some(Duration::from_secs(n));
        for (header, pause) in [
            (None, None),
            (Some("7"), seconds(7)),
            (Some("Sun, 29 Nov 2026 16:00:09 GMT"), seconds(9)),
            (Some("Sun, 29 Nov 2026 15:59:09 GMT"), seconds(0)),
            (Some("Sun, 29 Xov 2026 16:00:09 GMT"), None),
            (Some("-7"), None),
            (Some("soon"), None),
        ] {
            for status in [429, 502, 503, 504] {
                let expected = SendError::Transient(format!("http status: {status}"), pause);
                assert_eq!(status_error(status, header, now), expected, "{header:?}");
            }
            for status in [301, 400, 401, 404, 408, 413, 500, 501, 505] {
                let error = status_error(status, header, now);
                assert!(matches!(error, SendError::Permanent(_)), "{error:?}");
            }
        }
    }

    #[test]
    fn pauses_grow_and_spans_are_given_up() {
        let mut backoff = Backoff::default();
        for longest in [1, 2, 4, 8, 16, 30, 30, 30] {
            let pause = backoff.pause(None).as_secs_f64();
            let longest = f64::from(longest);
            assert!((longest / 2.0..=longest).contains(&pause), "{pause}");
        }
        assert_eq!(backoff.pause(Some(Duration::ZERO)), Duration::ZERO);
        assert_eq!(backoff.pause(Some(Duration::MAX)), MAX_RETRY_AFTER);
        backoff.reset();
        assert!(backoff.pause(None) <= FIRST_PAUSE);
        let seconds = Duration::from_secs;
        assert!(is_in_time(seconds(30), seconds(30)));
        assert!(!is_in_time(seconds(31), seconds(30)));
    }
}
