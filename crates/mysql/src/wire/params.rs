//! Parameters of COM_STMT_EXECUTE.

use mysql_common::constants::ColumnType;

use super::bytes::Cursor;
use super::value::Value;

/// A parameter's type as the client gave it: type code and whether it is unsigned.
pub type ParamType = (u8, bool);

/// A parameter's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Param<'a> {
    /// A value that borrows from the packet.
    Value(Value<'a>),
    /// A date or time as text, or an integer beyond 64 bits with a sign, which SQLite lacks.
    Owned(String),
}

/// Reads one value of a type. `None` when the packet ends too early or has no such type.
pub fn read<'a>(cursor: &mut Cursor<'a>, (code, unsigned): ParamType) -> Option<Param<'a>> {
    use ColumnType::*;
    let int = |n: i64| Some(Param::Value(Value::Int(n)));
    let Ok(code) = ColumnType::try_from(code) else {
        return None;
    };
    match code {
        MYSQL_TYPE_NULL => Some(Param::Value(Value::Null)),
        MYSQL_TYPE_TINY => {
            let n = cursor.u8()?;
            int(if unsigned { n.into() } else { (n as i8).into() })
        }
        MYSQL_TYPE_SHORT | MYSQL_TYPE_YEAR => {
            let n = cursor.u16()?;
            int(if unsigned {
                n.into()
            } else {
                (n as i16).into()
            })
        }
        MYSQL_TYPE_LONG | MYSQL_TYPE_INT24 => {
            let n = cursor.u32()?;
            int(if unsigned {
                n.into()
            } else {
                (n as i32).into()
            })
        }
        MYSQL_TYPE_LONGLONG => {
            let n = cursor.u64()?;
            match i64::try_from(n) {
                // SQLite has no such integer: see docs/types.md.
                Err(_) if unsigned => Some(Param::Owned(n.to_string())),
                _ => int(n as i64),
            }
        }
        MYSQL_TYPE_FLOAT => {
            let x = f32::from_le_bytes(cursor.array()?);
            // The shortest decimal that is this float, as MySQL reads it: 0.1f is 0.1.
            Some(Param::Value(Value::Real(
                x.to_string().parse().unwrap_or(f64::from(x)),
            )))
        }
        MYSQL_TYPE_DOUBLE => Some(Param::Value(Value::Real(f64::from_le_bytes(
            cursor.array()?,
        )))),
        MYSQL_TYPE_DATE | MYSQL_TYPE_DATETIME | MYSQL_TYPE_TIMESTAMP => {
            datetime(cursor, code == MYSQL_TYPE_DATE).map(Param::Owned)
        }
        MYSQL_TYPE_TIME => time(cursor).map(Param::Owned),
        MYSQL_TYPE_TINY_BLOB
        | MYSQL_TYPE_MEDIUM_BLOB
        | MYSQL_TYPE_LONG_BLOB
        | MYSQL_TYPE_BLOB
        | MYSQL_TYPE_BIT
        | MYSQL_TYPE_GEOMETRY => cursor.lenenc_str().map(bytes),
        MYSQL_TYPE_VARCHAR
        | MYSQL_TYPE_VAR_STRING
        | MYSQL_TYPE_STRING
        | MYSQL_TYPE_ENUM
        | MYSQL_TYPE_SET
        | MYSQL_TYPE_DECIMAL
        | MYSQL_TYPE_NEWDECIMAL
        | MYSQL_TYPE_JSON => cursor.lenenc_str().map(bytes),
        _ => None,
    }
}

/// Clients send text as BLOB and bytes as VAR_STRING: bytes that are UTF-8 become text.
pub fn bytes(bytes: &[u8]) -> Param<'_> {
    Param::Value(match std::str::from_utf8(bytes) {
        Ok(_) => Value::Text(bytes),
        Err(_) => Value::Blob(bytes),
    })
}

fn datetime(cursor: &mut Cursor<'_>, date_only: bool) -> Option<String> {
    let len = cursor.u8()?;
    if !matches!(len, 0 | 4 | 7 | 11) {
        return None;
    }
    let (mut year, mut month, mut day) = (0, 0, 0);
    let (mut hour, mut minute, mut second, mut micros) = (0, 0, 0, 0);
    if len >= 4 {
        (year, month, day) = (cursor.u16()?, cursor.u8()?, cursor.u8()?);
    }
    if len >= 7 {
        (hour, minute, second) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
    }
    if len == 11 {
        micros = cursor.u32()?;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match (date_only, micros) {
        (true, _) => date,
        (false, 0) => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        (false, _) => format!("{date} {hour:02}:{minute:02}:{second:02}.{micros:06}"),
    })
}

fn time(cursor: &mut Cursor<'_>) -> Option<String> {
    let len = cursor.u8()?;
    if !matches!(len, 0 | 8 | 12) {
        return None;
    }
    if len == 0 {
        return Some("00:00:00".into());
    }
    let sign = if cursor.u8()? == 0 { "" } else { "-" };
    let days = cursor.u32()?;
    let (hours, minute, second) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
    let hours = u64::from(days) * 24 + u64::from(hours);
    let time = format!("{sign}{hours:02}:{minute:02}:{second:02}");
    Some(if len == 12 {
        format!("{time}.{:06}", cursor.u32()?)
    } else {
        time
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8], code: ColumnType, unsigned: bool) -> Option<Param<'_>> {
        read(&mut Cursor::new(bytes), (code as u8, unsigned))
    }

    #[test]
    fn signs_of_integers_are_read() {
        use ColumnType::*;
        let int = |n| Some(Param::Value(Value::Int(n)));
        assert_eq!(one(&[0xff], MYSQL_TYPE_TINY, false), int(-1));
        assert_eq!(one(&[0xff], MYSQL_TYPE_TINY, true), int(255));
        assert_eq!(
            one(&[0xff; 4], MYSQL_TYPE_LONG, true),
            int(i64::from(u32::MAX))
        );
        assert_eq!(one(&[0xff; 8], MYSQL_TYPE_LONGLONG, false), int(-1));
        assert_eq!(
            one(&[0xff; 8], MYSQL_TYPE_LONGLONG, true),
            Some(Param::Owned("18446744073709551615".into()))
        );
        assert_eq!(one(&[0xff; 7], MYSQL_TYPE_LONGLONG, true), None);
    }

    #[test]
    fn times_become_text() {
        use ColumnType::*;
        let bytes = [7, 0xea, 0x07, 11, 21, 8, 9, 10];
        let text = |t: &str| Some(Param::Owned(t.into()));
        assert_eq!(
            one(&bytes, MYSQL_TYPE_DATETIME, false),
            text("2026-11-21 08:09:10")
        );
        assert_eq!(
            one(&[8, 1, 1, 0, 0, 0, 1, 1, 2], MYSQL_TYPE_TIME, false),
            text("-25:01:02")
        );
        assert_eq!(one(&[5, 0, 0, 0, 0, 0], MYSQL_TYPE_DATE, false), None);
    }
}
