//! UUIDs.

use uuid::{Builder, Uuid};

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("bin_to_uuid", 1, 2, Text, |ctx| {
        let swap = ctx.len() == 2 && int(ctx, 1).unwrap_or(0) != 0;
        let Some(all) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        match <[u8; 16]>::try_from(&*all) {
            Ok(b) => Ok(Uuid::from_bytes(unswapped(b, swap)).to_string().into()),
            Err(_) => Err(no_uuid(&all, "bin_to_uuid")),
        }
    }),
    own("is_uuid", 1, 1, Int, |ctx| {
        opt(text(ctx, 0).map(|s| i64::from(uuid_bytes(&s).is_some())))
    }),
    own("uuid", 0, 0, Text, |_ctx| {
        let mut b = [0u8; 16];
        fill_random(&mut b)?;
        Ok(Builder::from_random_bytes(b).into_uuid().to_string().into())
    })
    .volatile(),
    hidden("uuid_short", 0, 0, Unsigned, "tare_uuid_short", |_ctx| {
        use std::sync::atomic::{AtomicI64, Ordering};
        static NEXT: AtomicI64 = AtomicI64::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let (seconds, _) = time::now_utc();
        Ok(Value::Integer((seconds << 24).wrapping_add(n)))
    })
    .volatile(),
    own("uuid_to_bin", 1, 2, Bytes, |ctx| {
        let swap = ctx.len() == 2 && int(ctx, 1).unwrap_or(0) != 0;
        let Some(text) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        match uuid_bytes(&text) {
            Some(b) => Ok(Value::Blob(swapped(b, swap).to_vec())),
            None => Err(no_uuid(text.as_bytes(), "uuid_to_bin")),
        }
    }),
];

/// 1411.
fn no_uuid(value: &[u8], function: &str) -> rusqlite::Error {
    let value = quoted(value);
    raise(SqlError::new(
        1411,
        format!("Incorrect string value: '{value}' for function {function}"),
    ))
}

/// Parses a UUID with hyphens or without, in braces or not. MySQL accepts no URNs.
fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let uuid = Uuid::try_parse(text).ok()?;
    matches!(text.len(), 32 | 36 | 38).then(|| uuid.into_bytes())
}

fn swapped(b: [u8; 16], swap: bool) -> [u8; 16] {
    if !swap {
        return b;
    }
    let mut out = [0; 16];
    out[..2].copy_from_slice(&b[6..8]);
    out[2..4].copy_from_slice(&b[4..6]);
    out[4..8].copy_from_slice(&b[..4]);
    out[8..].copy_from_slice(&b[8..]);
    out
}

fn unswapped(b: [u8; 16], swap: bool) -> [u8; 16] {
    if !swap {
        return b;
    }
    let mut out = [0; 16];
    out[..4].copy_from_slice(&b[4..8]);
    out[4..6].copy_from_slice(&b[2..4]);
    out[6..8].copy_from_slice(&b[..2]);
    out[8..].copy_from_slice(&b[8..]);
    out
}
