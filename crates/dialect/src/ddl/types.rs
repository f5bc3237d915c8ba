//! A column's type as MySQL writes it.

use sqlparser::ast::DataType;

/// A type as MySQL 8.0 writes it.
pub fn type_text(data_type: &DataType) -> String {
    use DataType::*;
    let (name, unsigned) = match data_type {
        Bool | Boolean => return "tinyint(1)".into(),
        TinyInt(Some(1)) => return "tinyint(1)".into(),
        TinyInt(_) => ("tinyint", false),
        TinyIntUnsigned(_) | UTinyInt => ("tinyint", true),
        SmallInt(_) | Int2(_) => ("smallint", false),
        SmallIntUnsigned(_) | USmallInt | Int2Unsigned(_) => ("smallint", true),
        MediumInt(_) => ("mediumint", false),
        MediumIntUnsigned(_) => ("mediumint", true),
        Int(_) | Integer(_) | Int4(_) | Signed | SignedInteger => ("int", false),
        IntUnsigned(_) | IntegerUnsigned(_) | Int4Unsigned(_) | Unsigned | UnsignedInteger => {
            ("int", true)
        }
        BigInt(_) | Int8(_) => ("bigint", false),
        BigIntUnsigned(_) | UBigInt | Int8Unsigned(_) => ("bigint", true),
        Character(None) | Char(None) => return "char(1)".into(),
        Real | DoublePrecision | Float8 => ("double", false),
        RealUnsigned | DoublePrecisionUnsigned => ("double", true),
        Binary(None) => return "binary(1)".into(),
        Bit(None) => return "bit(1)".into(),
        other => {
            let text = other.to_string().to_lowercase();
            let text = text.replace(", ", ",");
            for (from, to) in [
                ("character varying", "varchar"),
                ("char varying", "varchar"),
                ("nvarchar", "varchar"),
                ("character(", "char("),
                ("numeric", "decimal"),
                ("dec(", "decimal("),
                ("float4", "float"),
            ] {
                if let Some(rest) = text.strip_prefix(from) {
                    return format!("{to}{rest}");
                }
            }
            // So many bits.
            if let Some(bits) = text.strip_prefix("float(")
                && let Some((bits, rest)) = bits.split_once(')')
                && let Ok(bits) = bits.trim().parse::<u8>()
            {
                let kind = if bits > 24 { "double" } else { "float" };
                return format!("{kind}{rest}");
            }
            return match text.as_str() {
                "decimal" | "dec" => "decimal(10,0)".into(),
                "decimal unsigned" => "decimal(10,0) unsigned".into(),
                _ if text.starts_with("enum") || text.starts_with("set") => {
                    // Keep the case of the members.
                    let text = other.to_string().replace(", ", ",");
                    let (name, members) = text.split_at(text.find('(').unwrap_or(text.len()));
                    format!("{}{members}", name.to_lowercase())
                }
                _ => text,
            };
        }
    };
    if unsigned {
        format!("{name} unsigned")
    } else {
        name.into()
    }
}
