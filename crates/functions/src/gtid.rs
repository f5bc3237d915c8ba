//! GTID_SUBSET() and GTID_SUBTRACT(): sets of global transaction identifiers.

use std::collections::BTreeMap;

use tare_mysql::watch;
use uuid::Uuid;

use crate::call::told;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("gtid_subset", 2, 2, Int, |ctx| {
        let (Some(a), Some(b)) = (set(ctx, 0)?, set(ctx, 1)?) else {
            return Ok(Value::Null);
        };
        Ok(Value::Integer(a.without(&b).0.is_empty().into()))
    }),
    own("gtid_subtract", 2, 2, Text, |ctx| {
        let (Some(a), Some(b)) = (set(ctx, 0)?, set(ctx, 1)?) else {
            return Ok(Value::Null);
        };
        Ok(a.without(&b).to_string().into())
    }),
];

/// By source: intervals (first, last), sorted, apart from one another.
#[derive(Debug, Default, PartialEq, Eq)]
struct Set(BTreeMap<Uuid, Vec<(u64, u64)>>);

/// An argument; error 1772 when it is no set.
fn set(ctx: &Call<'_>, i: usize) -> rusqlite::Result<Option<Set>> {
    let Some(written) = text(ctx, i) else {
        return Ok(None);
    };
    match Set::parse(&written) {
        Some(set) => Ok(Some(set)),
        None => {
            // Or it was not read to its end.
            ctx.go_on()?;
            let written = told(written.as_bytes());
            Err(raise(SqlError::new(
                1772,
                format!("Malformed GTID set specification '{written}'."),
            )))
        }
    }
}

impl Set {
    fn parse(written: &str) -> Option<Self> {
        let mut set = Self::default();
        for part in written.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            if watch::may_cut(part.len()) {
                return None;
            }
            let mut fields = part.split(':').map(str::trim);
            let source = Uuid::try_parse(fields.next()?).ok()?;
            let intervals = set.0.entry(source).or_default();
            let mut any = false;
            for field in fields {
                let (first, last) = match field.split_once('-') {
                    Some((first, last)) => (number(first)?, number(last)?),
                    None => (number(field)?, number(field)?),
                };
                any = true;
                if first <= last {
                    intervals.push((first, last));
                }
            }
            if !any {
                return None;
            }
        }
        for intervals in set.0.values_mut() {
            *intervals = joined(std::mem::take(intervals));
        }
        set.0.retain(|_, intervals| !intervals.is_empty());
        Some(set)
    }

    fn without(mut self, other: &Self) -> Self {
        for (source, intervals) in &mut self.0 {
            for &(first, last) in other.0.get(source).into_iter().flatten() {
                let cut = |&(a, b): &(u64, u64)| {
                    let before = (a, b.min(first - 1));
                    let after = (a.max(last + 1), b);
                    [before, after].into_iter().filter(|(a, b)| a <= b)
                };
                *intervals = intervals.iter().flat_map(cut).collect();
            }
        }
        self.0.retain(|_, intervals| !intervals.is_empty());
        self
    }
}

impl std::fmt::Display for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (source, intervals)) in self.0.iter().enumerate() {
            write!(f, "{}{source}", if i > 0 { ",\n" } else { "" })?;
            for (first, last) in intervals {
                match first == last {
                    true => write!(f, ":{first}")?,
                    false => write!(f, ":{first}-{last}")?,
                }
            }
        }
        Ok(())
    }
}

/// A transaction's number: from 1 to what fits into 63 bits.
fn number(written: &str) -> Option<u64> {
    let number: u64 = written.trim().parse().ok()?;
    (1..i64::MAX as u64).contains(&number).then_some(number)
}

/// Intervals in order; those that meet are one.
fn joined(mut intervals: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    intervals.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (first, last) in intervals {
        match out.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => out.push((first, last)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "9e33c80a-71ca-11e1-9e33-c80aa9429562";

    fn minus(a: &str, b: &str) -> String {
        let set = |s: &str| Set::parse(s).expect("a set");
        set(a).without(&set(b)).to_string()
    }

    #[test]
    fn what_is_taken_away_is_gone_and_the_rest_is_in_order() {
        let a = |intervals: &str| format!("{A}:{intervals}");
        assert_eq!(minus(&a("1-10"), &a("3-5")), a("1-2:6-10"));
        assert_eq!(minus(&a("5:1-3:4"), ""), a("1-5"));
        assert_eq!(minus(&a("1-10"), &a("1-20")), "");
        assert_eq!(minus(&a("1-10"), &format!("{B}:1-20")), a("1-10"));
        assert_eq!(
            minus(&format!("{B}:7,{}", a("2")), ""),
            format!("{A}:2,\n{B}:7")
        );
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for wrong in ["x", A, "3e11fa47:1", &format!("{A}:0"), &format!("{A}:a")] {
            assert_eq!(Set::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Set::parse(" , "), Some(Set::default()));
    }
}
