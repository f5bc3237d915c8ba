//! MySQL's column types as text, and taken apart.

/// The first word of a type.
pub fn base_type(column_type: &str) -> &str {
    let end = column_type.find(['(', ' ']).unwrap_or(column_type.len());
    &column_type[..end]
}

/// Whether its values are integers.
pub fn is_integer(column_type: &str) -> bool {
    matches!(
        base_type(column_type),
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "year" | "bit"
    )
}

/// Whether its values are characters with a collation.
pub fn is_text(column_type: &str) -> bool {
    let base = base_type(column_type);
    base.ends_with("char") || base.ends_with("text") || base == "enum" || base == "set"
}

/// The members of an ENUM or a SET, out of their quotes.
pub fn members(column_type: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = column_type;
    while let Some(open) = rest.find('\'') {
        let (mut member, mut end) = (String::new(), rest.len());
        let mut chars = rest[open + 1..].char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' if matches!(chars.peek(), Some((_, '\''))) => {
                    chars.next();
                    member.push('\'');
                }
                '\'' => {
                    end = open + 1 + at + 1;
                    break;
                }
                c => member.push(c),
            }
        }
        all.push(member);
        rest = &rest[end..];
    }
    all
}

/// A column type taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// `bigint`, `varchar`.
    pub base: String,
    /// The text in the parentheses.
    pub inside: Option<String>,
    /// Whether `unsigned` follows.
    pub unsigned: bool,
}

/// Takes `bigint(20) unsigned` apart.
pub fn parts(column_type: &str) -> Parts {
    let text = column_type.trim();
    let unsigned = text.to_ascii_lowercase().ends_with(" unsigned");
    let (base, inside) = match (text.find('('), text.rfind(')')) {
        (Some(open), Some(close)) if open < close => (&text[..open], Some(&text[open + 1..close])),
        _ => (text.split_ascii_whitespace().next().unwrap_or(text), None),
    };
    Parts {
        base: base.trim().to_ascii_lowercase(),
        inside: inside.map(Into::into),
        unsigned,
    }
}

impl Parts {
    /// The digits of `FLOAT(M,D)` or `DOUBLE(M,D)`, and how many of them are behind the point.
    pub fn fixed(&self) -> Option<(u8, u8)> {
        let (digits, scale) = self.inside.as_deref()?.split_once(',')?;
        Some((digits.trim().parse().ok()?, scale.trim().parse().ok()?))
    }

    /// The values of an enum or a set.
    pub fn members(&self) -> Vec<&str> {
        match (&self.inside, self.base.as_str()) {
            (Some(inside), "enum" | "set") => inside
                .split(',')
                .map(|m| m.trim().trim_matches('\''))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// CHARACTER_MAXIMUM_LENGTH, for what holds characters or bytes.
    pub fn characters(&self) -> Option<u64> {
        let members = self.members();
        match self.base.as_str() {
            "char" | "varchar" | "binary" | "varbinary" => Some(
                self.inside
                    .as_deref()
                    .and_then(|n| n.parse().ok())
                    .unwrap_or(1),
            ),
            "enum" => Some(members.iter().map(|m| m.len()).max().unwrap_or(0) as u64),
            "set" => {
                let letters: usize = members.iter().map(|m| m.len()).sum();
                Some((letters + members.len().saturating_sub(1)) as u64)
            }
            "tinytext" | "tinyblob" => Some(255),
            "text" | "blob" => Some(65_535),
            "mediumtext" | "mediumblob" => Some(16_777_215),
            "longtext" | "longblob" | "json" => Some(4_294_967_295),
            _ => None,
        }
    }

    /// Whether its values are characters with a collation.
    pub fn is_text(&self) -> bool {
        let base = self.base.as_str();
        matches!(base, "char" | "varchar" | "enum" | "set") || base.ends_with("text")
    }

    /// Whether its values are bytes without a collation.
    pub fn is_bytes(&self) -> bool {
        matches!(self.base.as_str(), "binary" | "varbinary") || self.base.ends_with("blob")
    }

    /// NUMERIC_PRECISION and NUMERIC_SCALE.
    pub fn numeric(&self) -> Option<(u64, Option<u64>)> {
        let fixed = |digits| Some((digits, Some(0)));
        match self.base.as_str() {
            "tinyint" => fixed(3),
            "smallint" => fixed(5),
            "mediumint" => fixed(7),
            "int" | "integer" => fixed(10),
            "bigint" if self.unsigned => fixed(20),
            "bigint" => fixed(19),
            "float" | "double" | "real" => match self.fixed() {
                Some((digits, scale)) => Some((digits.into(), Some(scale.into()))),
                None if self.base == "float" => Some((12, None)),
                None => Some((22, None)),
            },
            "bit" => {
                let bits = self.inside.as_deref().and_then(|n| n.trim().parse().ok());
                Some((bits.unwrap_or(1), None))
            }
            "decimal" | "numeric" => {
                let mut numbers = self.inside.as_deref().unwrap_or("10,0").split(',');
                let mut next = || numbers.next().and_then(|n| n.trim().parse().ok());
                Some((next().unwrap_or(10), Some(next().unwrap_or(0))))
            }
            _ => None,
        }
    }

    /// DATETIME_PRECISION.
    pub fn fraction(&self) -> Option<u64> {
        matches!(self.base.as_str(), "timestamp" | "datetime" | "time").then(|| {
            self.inside
                .as_deref()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enum_members_are_unquoted() {
        assert_eq!(
            members("enum('b','it''s','a,c','')"),
            ["b", "it's", "a,c", ""]
        );
        assert!(members("int").is_empty());
    }

    #[test]
    fn types_are_parsed() {
        let p = parts("bigint(20) unsigned");
        assert_eq!(
            (p.base.as_str(), p.inside.as_deref(), p.unsigned),
            ("bigint", Some("20"), true)
        );
        assert_eq!(p.numeric(), Some((20, Some(0))));
        let p = parts("enum('YES','NO')");
        assert_eq!(p.members(), ["YES", "NO"]);
        assert_eq!(p.characters(), Some(3));
        assert_eq!(parts("set('a','bc')").characters(), Some(4));
        assert_eq!(parts("timestamp(6)").fraction(), Some(6));
        assert_eq!(parts("longtext").characters(), Some(4_294_967_295));
        assert_eq!(parts("decimal(5,2)").numeric(), Some((5, Some(2))));
    }
}
