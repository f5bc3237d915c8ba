//! Encodings of bytes as texts, and digests.

use data_encoding::BASE64;

use crate::prelude::*;
use crate::text_builder::{MAX_TEXT_BYTES, TextBuilder};

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    hidden("char", 1, ANY, Bytes, "tare_char", characters),
    own("from_base64", 1, 1, Bytes, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let digits: String = s.split_ascii_whitespace().collect();
        opt(BASE64.decode(digits.as_bytes()).ok())
    }),
    own("hex", 1, 1, Text, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => format!("{n:X}").into(),
            ValueRef::Real(x) => format!("{:X}", x.round_ties_even() as i64).into(),
            ValueRef::Text(b) | ValueRef::Blob(b) => hex(b, true).into(),
        })
    }),
    own("md5", 1, 1, Text, digest::<md5::Md5>),
    own("random_bytes", 1, 1, Bytes, |ctx| {
        let Some(n) = int(ctx, 0) else {
            return Ok(Value::Null);
        };
        if !(1..=1024).contains(&n) {
            let message = "length value is out of range in 'random_bytes'";
            return Err(raise(SqlError::new(1690, message)));
        }
        let mut all = vec![0; n as usize];
        fill_random(&mut all)?;
        Ok(Value::Blob(all))
    })
    .volatile(),
    renamed("sha", 1, 1, Text, "sha1"),
    own("sha1", 1, 1, Text, digest::<sha1::Sha1>),
    own("sha2", 2, 2, Text, |ctx| match int(ctx, 1) {
        Some(0 | 256) => digest::<sha2::Sha256>(ctx),
        Some(224) => digest::<sha2::Sha224>(ctx),
        Some(384) => digest::<sha2::Sha384>(ctx),
        Some(512) => digest::<sha2::Sha512>(ctx),
        _ => Ok(Value::Null),
    }),
    own("to_base64", 1, 1, Text, |ctx| {
        let Some(b) = bytes(ctx, 0) else {
            return Ok(Value::Null);
        };
        Ok(to_base64(&b))
    }),
    hidden("unhex", 1, 1, Bytes, "tare_unhex", |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        let s = if s.len() % 2 == 1 {
            format!("0{s}").into()
        } else {
            s
        };
        let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
        let pairs = s.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
        opt(bytes.collect::<Option<Vec<u8>>>())
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    // CAST AS BINARY(n): cut, or padded with zeros.
    helper("tare_bytes", 2, 2, |ctx| {
        let length = int(ctx, 1).unwrap_or(0).max(0) as usize;
        if length > MAX_TEXT_BYTES {
            return Ok(Value::Null);
        }
        opt(bytes(ctx, 0).map(|bytes| {
            let mut bytes = bytes.into_owned();
            bytes.resize(length, 0);
            bytes
        }))
    }),
    helper("sha", 1, 1, digest::<sha1::Sha1>),
];

/// A digest of a text, as hexadecimal digits.
fn digest<D: sha1::Digest>(ctx: &Call<'_>) -> Answer {
    let Some(bytes) = bytes(ctx, 0) else {
        return Ok(Value::Null);
    };
    Ok(hex(&D::digest(&bytes), false).into())
}

/// The characters of numbers.
fn characters(ctx: &Call<'_>) -> Answer {
    let mut out = Vec::new();
    for i in 0..ctx.len() {
        if let Some(n) = int(ctx, i) {
            let all = (n as u32).to_be_bytes();
            let skip = all.iter().take(3).take_while(|b| **b == 0).count();
            out.extend_from_slice(&all[skip..]);
        }
    }
    Ok(Value::Blob(out))
}

/// Bytes of a line: MySQL breaks lines after 76 characters.
const LINE_BYTES: usize = 57;

pub(crate) fn to_base64(bytes: &[u8]) -> Value {
    let mut builder = TextBuilder::default();
    for (i, line) in bytes.chunks(LINE_BYTES).enumerate() {
        if i > 0 {
            builder.push("\n");
        }
        builder.push(&BASE64.encode(line));
    }
    builder.into_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_lines_of_76_characters() {
        let encoded = |text: &str| to_base64(text.as_bytes());
        assert_eq!(encoded(""), Value::Text(String::new()));
        assert_eq!(encoded("ab"), Value::Text("YWI=".to_owned()));
        let line = "YWFh".repeat(19);
        assert_eq!(encoded(&"a".repeat(57)), Value::Text(line.clone()));
        assert_eq!(encoded(&"a".repeat(58)), Value::Text(line + "\nYQ=="));
    }
}
