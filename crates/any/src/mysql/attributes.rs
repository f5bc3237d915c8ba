//! Query attributes: pairs of a name and a value that a client sends with a statement. Only `traceparent` is read.

use super::packets::Fields;
use super::trace::NAME;

/// In the flags of an execution: the number of parameters follows, even if there is none.
const PARAMETER_COUNT_AVAILABLE: u64 = 8;

/// The text of a query behind its attributes, and its `traceparent`. `None`: they are not read.
pub fn read_query(body: &[u8]) -> Option<(&[u8], Option<String>)> {
    let mut fields = Fields(body);
    let count = usize::try_from(fields.length()?).ok()?;
    // The number of sets of values, which is 1.
    fields.length()?;
    let traceparent = match count {
        0 => None,
        _ => read_values(&mut fields, count)?,
    };
    Some((fields.0, traceparent))
}

/// The `traceparent` of an execution, behind the statement's number. All its parameters are in the packet.
pub fn read_execution(fields: &mut Fields<'_>) -> Option<String> {
    let (flags, _iterations) = (fields.number(1)?, fields.number(4)?);
    if flags & PARAMETER_COUNT_AVAILABLE == 0 {
        return None;
    }
    let count = usize::try_from(fields.length()?).ok()?;
    match count {
        0 => None,
        _ => read_values(fields, count)?,
    }
}

/// Reads so many values, and returns that of `traceparent`.
fn read_values(fields: &mut Fields<'_>, count: usize) -> Option<Option<String>> {
    // One bit for each that is NULL; whether types follow.
    let nulls = fields.bytes(count.div_ceil(8))?;
    if fields.number(1)? != 1 {
        return None;
    }
    let mut types = Vec::new();
    for _ in 0..count {
        let of = fields.number(2)? as u8;
        types.push((of, fields.counted()? == NAME.as_bytes()));
    }
    let mut traceparent = None;
    for (number, (of, is_traceparent)) in types.into_iter().enumerate() {
        if nulls[number / 8] >> (number % 8) & 1 == 1 {
            continue;
        }
        let value = read_value(fields, of)?;
        if is_traceparent {
            traceparent = std::str::from_utf8(value).ok().map(str::to_owned);
        }
    }
    Some(traceparent)
}

/// The bytes of a value in binary form, without their length.
fn read_value<'b>(fields: &mut Fields<'b>, of: u8) -> Option<&'b [u8]> {
    match of {
        // NULL
        6 => Some(&[]),
        // TINYINT, BOOL
        1 | 244 => fields.bytes(1),
        // SMALLINT, YEAR
        2 | 13 => fields.bytes(2),
        // INT, MEDIUMINT, FLOAT
        3 | 9 | 4 => fields.bytes(4),
        // BIGINT, DOUBLE
        8 | 5 => fields.bytes(8),
        // Dates and times, behind a length of one byte.
        7 | 10 | 11 | 12 | 14 | 17..=19 => {
            let length = fields.number(1)?;
            fields.bytes(length as usize)
        }
        _ => fields.counted(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_behind_its_attributes() {
        assert_eq!(
            read_query(b"\x00\x01SELECT 1"),
            Some((&b"SELECT 1"[..], None))
        );
        let body = b"\x03\x01\x02\x01\xfe\x00\x0btraceparent\x03\x00\x01b\x0c\x00\x00\x02xy\x04abcdSELECT 2";
        let expected = Some((&b"SELECT 2"[..], Some("xy".to_owned())));
        assert_eq!(read_query(body), expected);
        for end in 0..body.len() {
            read_query(&body[..end]);
        }
        assert_eq!(read_query(b"\xff"), None);
    }

    #[test]
    fn an_execution_has_attributes_behind_its_parameters() {
        let body = b"\x08\x01\x00\x00\x00\x02\x00\x01\x03\x00\x00\xfe\x00\x0btraceparent\x07\x00\x00\x00\x02xy";
        assert_eq!(read_execution(&mut Fields(body)), Some("xy".to_owned()));
        for end in 0..body.len() {
            assert_eq!(read_execution(&mut Fields(&body[..end])), None);
        }
        // Without the flag there are only parameters.
        assert_eq!(
            read_execution(&mut Fields(b"\x00\x01\x00\x00\x00\x01")),
            None
        );
    }
}
