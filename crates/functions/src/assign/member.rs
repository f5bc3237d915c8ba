//! ENUM and SET: their members, and the members' numbers.

use std::borrow::Cow;

use super::truncated;
use crate::prelude::*;

/// The arguments from `first` on: the members.
fn members<'c>(ctx: &'c Call<'_>, first: usize) -> Vec<Cow<'c, str>> {
    (first..ctx.len()).filter_map(|i| text(ctx, i)).collect()
}

/// Whether two texts are equal without case.
fn same(a: &str, b: &str) -> bool {
    tare_mysql::collation::compare(a, b).is_eq()
}

/// A number, or a text that is one.
fn number(ctx: &Call<'_>) -> Option<i64> {
    match ctx.get_raw(0) {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Real(x) => Some(x as i64),
        _ => text(ctx, 0)?.trim_end().parse().ok(),
    }
}

/// Converts a name or a number to the member of an ENUM.
pub(super) fn to_enum(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let members = members(ctx, 3);
    let is_text = matches!(ctx.get_raw(0), ValueRef::Text(_) | ValueRef::Blob(_));
    let by_name = members.iter().find(|m| is_text && same(m, &value));
    let by_number = || {
        let n = usize::try_from(number(ctx)?).ok()?;
        members.get(n.checked_sub(1)?)
    };
    match by_name.or_else(by_number) {
        Some(member) => Ok(copied(member.clone())),
        None => truncated(ctx, Value::Text(String::new())),
    }
}

/// Converts names or bits to the members of a SET, in the order of their definition.
pub(super) fn to_set(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let members = members(ctx, 3);
    let is_text = matches!(ctx.get_raw(0), ValueRef::Text(_) | ValueRef::Blob(_));
    let (mut bits, mut unknown) = (0u64, false);
    if is_text && !value.is_empty() {
        for name in value.split(',') {
            match members.iter().position(|m| same(m, name)) {
                Some(at) => bits |= 1 << at,
                None => unknown = true,
            }
        }
    } else if !is_text {
        bits = number(ctx).unwrap_or(0) as u64;
    }
    // A text that is no name may be a number.
    if unknown && let Some(n) = number(ctx) {
        (bits, unknown) = (n as u64, false);
    }
    let all = u64::MAX >> (64 - members.len().clamp(1, 64));
    unknown |= bits & !all != 0;
    let names: Vec<&str> = members
        .iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, name)| &**name)
        .collect();
    let text = Value::Text(names.join(","));
    match unknown {
        true => truncated(ctx, text),
        false => Ok(text),
    }
}

/// The number of an ENUM's member, from 1; 0 if it has none.
pub(super) fn number_of_enum(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let at = members(ctx, 1).iter().position(|m| *m == value);
    Ok(Value::Integer(at.map_or(0, |at| at as i64 + 1)))
}

/// The bits of a SET's members.
pub(super) fn number_of_set(ctx: &Call<'_>) -> Answer {
    let Some(value) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let members = members(ctx, 1);
    let mut bits = 0u64;
    for name in value.split(',') {
        if let Some(at) = members.iter().position(|m| m == name) {
            bits |= 1 << at;
        }
    }
    Ok(crate::exact::integer(bits.into()))
}
