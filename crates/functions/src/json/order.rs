//! The order of documents, as comparisons, ORDER BY and GROUP BY see it.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value as Json};

use super::value::ABOVE;

/// Compares two documents by their texts. A text that is no document compares by its bytes.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if let Some(above) = a.strip_prefix(ABOVE) {
        return if above == b {
            Ordering::Equal
        } else {
            Ordering::Greater
        };
    }
    if b.starts_with(ABOVE) {
        return compare(b, a).reverse();
    }
    let read = |text| super::parsed(&String::from_utf8_lossy(text));
    match (read(a), read(b)) {
        (Ok(Some(a)), Ok(Some(b))) => compare_values(&a, &b),
        (Ok(_), Ok(_)) => a.cmp(b),
        // The statement is about to end.
        _ => Ordering::Equal,
    }
}

/// MySQL's order of the types.
fn rank(value: &Json) -> u8 {
    match value {
        Json::Null => 0,
        Json::Number(_) => 1,
        Json::String(_) => 2,
        Json::Object(_) => 3,
        Json::Array(_) => 4,
        Json::Bool(_) => 5,
    }
}

fn compare_values(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => compare_numbers(a, b),
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Object(a), Json::Object(b)) => compare_objects(a, b),
        (Json::Array(a), Json::Array(b)) => {
            let mut different = a.iter().zip(b).map(|(a, b)| compare_values(a, b));
            let first = different.find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

pub(super) fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a.cmp(&b),
        // A document has no NaN.
        _ => (a.as_f64().partial_cmp(&b.as_f64())).unwrap_or(Ordering::Equal),
    }
}

/// Short objects first. Names are in MySQL's order: short ones first.
fn compare_objects(a: &Map<String, Json>, b: &Map<String, Json>) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| {
        let (a, b) = (members(a), members(b));
        let mut different = a.iter().zip(&b).map(|((name, value), (other, its))| {
            (name_key(name).cmp(&name_key(other))).then_with(|| compare_values(value, its))
        });
        different
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

fn members(object: &Map<String, Json>) -> Vec<(&String, &Json)> {
    let mut all: Vec<_> = object.iter().collect();
    all.sort_unstable_by_key(|(name, _)| name_key(name));
    all
}

/// What orders the names of members.
pub(super) fn name_key(name: &str) -> (usize, &str) {
    (name.len(), name)
}
