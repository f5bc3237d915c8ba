//! Bytes as texts, and digests.

use data_encoding::BASE64;
use sqlparser::ast::{Expr, Value as Literal};

use crate::made::Made;
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("char", 1, ANY, Bytes, char),
    own("from_base64", 1, 1, Bytes, |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        ctx.room(s.len() * 2)?;
        let mut digits = String::with_capacity(s.len());
        ctx.in_texts(&s, |step| digits.extend(step.split_ascii_whitespace()))?;
        // Four digits are three bytes, and none go over a step's end.
        let mut out = Vec::with_capacity(digits.len());
        let mut right = true;
        let end = digits.len();
        ctx.in_steps(digits.as_bytes(), |step| {
            // What fills up the last four stands at the end alone.
            let last = step.as_ptr_range().end == digits.as_bytes()[end..].as_ptr();
            match BASE64.decode(step) {
                Ok(_) if !last && step.ends_with(b"=") => right = false,
                Ok(bytes) => out.extend(bytes),
                Err(_) => right = false,
            }
        })?;
        opt(right.then_some(out))
    }),
    own("hex", 1, 1, Text, |ctx| {
        Ok(match ctx.get_raw(0) {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(n) => format!("{n:X}").into(),
            ValueRef::Real(x) => format!("{:X}", x.round() as i64).into(),
            ValueRef::Text(b) | ValueRef::Blob(b) => hex(ctx, b, true)?.into(),
        })
    }),
    own("md5", 1, 1, Text, digest::<md5::Md5>),
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
        let mut made = Made::new(ctx.session);
        for (i, step) in b.chunks(STEP).enumerate() {
            if i > 0 && !made.push("\n")? || !made.push(&to_base64(step))? {
                return Ok(Value::Null);
            }
        }
        Ok(made.value())
    }),
    hidden("unhex", 1, 1, Bytes, "tare_unhex", |ctx| {
        let Some(s) = text(ctx, 0) else {
            return Ok(Value::Null);
        };
        ctx.room(s.len() * 2)?;
        let s = if s.len() % 2 == 1 {
            format!("0{s}").into()
        } else {
            s
        };
        let mut out = Vec::with_capacity(s.len() / 2);
        let mut right = true;
        let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
        ctx.in_steps(s.as_bytes(), |step| {
            for pair in step.chunks(2) {
                match digit(pair[0]).zip(digit(pair[1])) {
                    Some((high, low)) => out.push(high << 4 | low),
                    None => right = false,
                }
            }
        })?;
        opt(right.then_some(out))
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("sha", 1, 1, digest::<sha1::Sha1>),
    helper("tare_char", 1, ANY, characters),
];

/// A digest of a text, as hexadecimal digits.
fn digest<D: sha1::Digest>(ctx: &Call<'_>) -> Answer {
    let Some(s) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    let mut digest = D::new();
    ctx.in_steps(s.as_bytes(), |step| digest.update(step))?;
    Ok(hex(ctx, &digest.finalize(), false)?.into())
}

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

#[cfg(test)]
fn from_base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.as_bytes()).ok()
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
