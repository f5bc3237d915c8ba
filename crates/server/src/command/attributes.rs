//! Query attributes: pairs of a name and a value that a client sends with a statement. Only `traceparent` is read.

use tare_mysql::wire::bytes::Cursor;
use tare_mysql::wire::params::{self, Param, ParamType};
use tare_mysql::wire::value::Value;

use crate::state::TRACEPARENT;

/// In the flags of COM_STMT_EXECUTE: the number of parameters follows, even if there is none.
pub const PARAMETER_COUNT_AVAILABLE: u8 = 8;

/// The text of a query behind its attributes, and its `traceparent`. `None`: the packet is malformed.
pub fn read_query(body: &[u8]) -> Option<(&[u8], Option<String>)> {
    let mut cursor = Cursor::new(body);
    let count = usize::try_from(cursor.lenenc()?).ok()?;
    // The number of sets of values.
    if cursor.lenenc()? != 1 {
        return None;
    }
    if count == 0 {
        return Some((cursor.rest(), None));
    }
    let nulls = cursor.take(count.div_ceil(8))?;
    if cursor.u8()? != 1 {
        return None;
    }
    let named = read_types(&mut cursor, count)?;
    let traceparent = read_traceparent(&mut cursor, nulls, &named, &[])?;
    Some((cursor.rest(), traceparent))
}

/// A type, and the name that was sent with it.
type NamedType<'a> = (ParamType, &'a [u8]);

/// Reads types with their names.
pub fn read_types<'a>(cursor: &mut Cursor<'a>, count: usize) -> Option<Vec<NamedType<'a>>> {
    // The packet's length limits the number, not what it says.
    let mut named = Vec::new();
    for _ in 0..count {
        let (code, flags) = (cursor.u8()?, cursor.u8()?);
        named.push(((code, flags & 0x80 != 0), cursor.lenenc_str()?));
    }
    Some(named)
}

/// Reads values, and returns that of `traceparent`. Of parameters in `long` the values were sent before.
pub fn read_traceparent(
    cursor: &mut Cursor<'_>,
    nulls: &[u8],
    named: &[NamedType<'_>],
    long: &[Option<Vec<u8>>],
) -> Option<Option<String>> {
    let mut traceparent = None;
    for (number, (of, name)) in named.iter().enumerate() {
        let is_null = nulls.get(number / 8)? >> (number % 8) & 1 == 1;
        if is_null || matches!(long.get(number), Some(Some(_))) {
            continue;
        }
        let value = params::read(cursor, *of)?;
        if *name == TRACEPARENT.as_bytes() && number >= long.len() {
            traceparent = match value {
                Param::Value(Value::Text(text)) => {
                    std::str::from_utf8(text).ok().map(str::to_owned)
                }
                _ => None,
            };
        }
    }
    Some(traceparent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query with attributes: name, type, value as sent; `None` is NULL.
    fn query(attributes: &[(&str, u8, Option<&[u8]>)], text: &str) -> Vec<u8> {
        let mut body = vec![attributes.len() as u8, 1];
        if !attributes.is_empty() {
            let mut nulls = vec![0; attributes.len().div_ceil(8)];
            for (number, (.., value)) in attributes.iter().enumerate() {
                nulls[number / 8] |= u8::from(value.is_none()) << (number % 8);
            }
            body.extend(nulls);
            body.push(1);
        }
        for (name, code, _) in attributes {
            body.extend([*code, 0, name.len() as u8]);
            body.extend(name.bytes());
        }
        for value in attributes.iter().filter_map(|(.., value)| *value) {
            body.extend(value);
        }
        body.extend(text.bytes());
        body
    }

    #[test]
    fn the_text_follows_the_attributes() {
        let of = |attributes: &[_]| {
            let body = query(attributes, "SELECT 1");
            let (text, traceparent) = read_query(&body).expect("an attribute list");
            assert_eq!(text, b"SELECT 1");
            for end in 0..body.len() - 8 {
                assert_eq!(read_query(&body[..end]), None, "{end}");
            }
            traceparent
        };
        let text = Some(&b"\x02ab"[..]);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("traceparent", 254, text)]), Some("ab".to_owned()));
        assert_eq!(of(&[("traceparent", 254, None)]), None);
        assert_eq!(of(&[("Traceparent", 254, text)]), None);
        assert_eq!(
            of(&[("traceparent", 8, Some(&[1, 0, 0, 0, 0, 0, 0, 0]))]),
            None
        );
        let several = [
            ("n", 3, Some(&[1, 0, 0, 0][..])),
            ("day", 10, Some(&[4, 0xea, 7, 11, 29])),
            ("none", 6, None),
            ("traceparent", 15, text),
            ("after", 253, Some(b"\x01z")),
        ];
        assert_eq!(of(&several), Some("ab".to_owned()));
        // More attributes than the packet has.
        assert_eq!(
            read_query(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            None
        );
        assert_eq!(read_query(b"\x00\x02SELECT 1"), None);
    }
}
