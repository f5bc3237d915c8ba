//! Bytes as texts, and digests.

use data_encoding::BASE64;
use sha1::Digest as _;
use sqlparser::ast::{Expr, Value as Literal};

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("char", 1, ANY, Bytes, char),
    own("from_base64", 1, 1, Bytes, |ctx| {
        opt(text(ctx, 0).and_then(|s| from_base64(&s)))
    }),
    own("hex", 1, 1, Text, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => format!("{n:X}").into(),
            ValueRef::Real(x) => format!("{:X}", x.round() as i64).into(),
            ValueRef::Text(b) | ValueRef::Blob(b) => hex(b, true).into(),
        })
    }),
    own("md5", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| hex(&md5::Md5::digest(s), false)))
    }),
    own("random_bytes", 1, 1, Bytes, |ctx| {
        let n = int(ctx, 0).unwrap_or(0);
        if !(1..=1024).contains(&n) {
            return Err(fail("length value is out of range in 'random_bytes'"));
        }
        let mut all = vec![0; n as usize];
        random(&mut all)?;
        Ok(Value::Blob(all))
    })
    .volatile(),
    renamed("sha", 1, 1, Text, "sha1"),
    own("sha1", 1, 1, Text, |ctx| {
        opt(text(ctx, 0).map(|s| hex(&sha1::Sha1::digest(s), false)))
    }),
    own("sha2", 2, 2, Text, |ctx| {
        opt(text(ctx, 0)
            .zip(int(ctx, 1))
            .and_then(|(s, bits)| match bits {
                0 | 256 => Some(hex(&sha2::Sha256::digest(s), false)),
                224 => Some(hex(&sha2::Sha224::digest(s), false)),
                384 => Some(hex(&sha2::Sha384::digest(s), false)),
                512 => Some(hex(&sha2::Sha512::digest(s), false)),
                _ => None,
            }))
    }),
    own("to_base64", 1, 1, Text, |ctx| {
        opt(bytes(ctx, 0).map(|b| to_base64(&b)))
    }),
    hidden("unhex", 1, 1, Bytes, "tare_unhex", |ctx| {
        opt(text(ctx, 0).and_then(|s| {
            let s = if s.len() % 2 == 1 { format!("0{s}") } else { s };
            s.as_bytes()
                .chunks(2)
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect::<Option<Vec<u8>>>()
        }))
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("sha", 1, 1, |ctx| {
        opt(text(ctx, 0).map(|s| hex(&sha1::Sha1::digest(s), false)))
    }),
    helper("tare_char", 1, ANY, characters),
];

/// CHAR: of numbers, so that 0x41 is 65.
fn char(call: SqlCall) -> Written {
    let arguments = call.into_arguments().into_iter().map(|argument| {
        let Expr::Value(value) = &argument else {
            return argument;
        };
        match &value.value {
            Literal::HexStringLiteral(hex) => {
                u64::from_str_radix(hex, 16).map_or(argument, node::bits)
            }
            _ => argument,
        }
    });
    Ok(node::call("tare_char", arguments.collect()))
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

/// MySQL breaks lines after 76 characters.
const LINE: usize = 76;

fn to_base64(bytes: &[u8]) -> String {
    let digits = BASE64.encode(bytes);
    let lines = digits.as_bytes().chunks(LINE);
    let lines: Vec<_> = lines.map(String::from_utf8_lossy).collect();
    lines.join("\n")
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.split_ascii_whitespace().collect();
    BASE64.decode(digits.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_round() {
        for text in ["", "a", "ab", "abc", "abcd"] {
            let coded = to_base64(text.as_bytes());
            assert_eq!(
                from_base64(&coded).as_deref(),
                Some(text.as_bytes()),
                "{coded}"
            );
        }
        assert_eq!(from_base64("YQ"), None);
    }
}
