//! The trace to which a statement belongs: a W3C `traceparent` in one of its comments, which sqlcommenter writes.
//!
//! ```text
//! SELECT ... /*db_driver='x',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'*/
//! ```

use crate::tokens::comments;

/// The key of the traceparent in a comment.
const KEY: &str = "traceparent";

/// The bytes of a traceparent of version 00: its version, trace id, span id and flags, with three dashes.
const LENGTH: usize = 55;

/// The flag of a trace that is recorded.
const SAMPLED: u64 = 1;

/// A span of a trace: the caller of a statement. Neither id is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    /// The trace.
    pub trace_id: u128,
    /// The span of the statement's caller.
    pub span_id: u64,
    /// Whether the caller records the trace; `None` if that is unknown.
    pub is_sampled: Option<bool>,
}

impl TraceContext {
    /// Reads the value of a header `traceparent`, as W3C's Trace Context defines it. `None` if it is malformed, if an
    /// id is zero, or if the version is ff.
    pub fn parse(text: &str) -> Option<Self> {
        let of_version_00 = text.get(..LENGTH)?;
        let mut parts = of_version_00.split('-');
        let mut part = |digits| hexadecimal(parts.next()?, digits);
        let (version, trace_id, span_id, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        // A later version may have more parts.
        let is_complete = match version {
            0 => text.len() == LENGTH,
            0xff => false,
            _ => matches!(text.as_bytes().get(LENGTH), None | Some(b'-')),
        };
        let flags = u64::try_from(flags).ok()?;
        let context = Self::new(trace_id, u64::try_from(span_id).ok()?)?;
        is_complete.then_some(Self {
            is_sampled: Some(flags & SAMPLED != 0),
            ..context
        })
    }

    /// Reads ids as [`Self::trace_id_text`] and [`Self::span_id_text`] write them.
    pub fn from_ids(trace_id: &str, span_id: &str) -> Option<Self> {
        let span_id = u64::try_from(hexadecimal(span_id, 16)?).ok()?;
        Self::new(hexadecimal(trace_id, 32)?, span_id)
    }

    /// The context in the first comment of a statement that has one. A text that was cut inside of the value has none.
    pub fn of_statement(text: &str) -> Option<Self> {
        // Most statements have none.
        if !text.contains(KEY) {
            return None;
        }
        comments(text).find_map(of_comment)
    }

    fn new(trace_id: u128, span_id: u64) -> Option<Self> {
        (trace_id != 0 && span_id != 0).then_some(Self {
            trace_id,
            span_id,
            is_sampled: None,
        })
    }

    /// The trace's id: 32 hexadecimal digits.
    pub fn trace_id_text(&self) -> String {
        format!("{:032x}", self.trace_id)
    }

    /// The span's id: 16 hexadecimal digits.
    pub fn span_id_text(&self) -> String {
        format!("{:016x}", self.span_id)
    }
}

/// A number of so many hexadecimal digits. Letters must be lower case.
fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    let is_valid = text.len() == digits && text.bytes().all(is_digit);
    is_valid.then(|| u128::from_str_radix(text, 16).ok())?
}

/// The context in a comment of pairs: `key='value',key='value'`. Values are encoded as in a URL, and a quote in a value
/// is `\'`.
fn of_comment(comment: &str) -> Option<TraceContext> {
    let mut rest = comment;
    loop {
        let (key, value) = rest.split_once('=')?;
        let value = value.trim_start().strip_prefix('\'')?;
        let end = quote_position(value)?;
        if key.trim() == KEY
            && let Some(context) =
                decode_percent(&value[..end]).and_then(|text| TraceContext::parse(&text))
        {
            return Some(context);
        }
        rest = value[end + 1..].trim_start().strip_prefix(',')?;
    }
}

/// The position of the quote that ends a value.
fn quote_position(value: &str) -> Option<usize> {
    let mut is_escaped = false;
    value.bytes().position(|c| {
        let is_end = c == b'\'' && !is_escaped;
        is_escaped = c == b'\\' && !is_escaped;
        is_end
    })
}

/// A text without its percent signs; `None` if one of them is not followed by two digits, or if it is not UTF-8.
pub fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || (bytes.next()? as char).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn expected(is_sampled: bool) -> Option<TraceContext> {
        Some(TraceContext {
            trace_id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span_id: 0x00f0_67aa_0ba9_02b7,
            is_sampled: Some(is_sampled),
        })
    }

    #[test]
    fn headers_are_read_as_w3c_defines_them() {
        assert_eq!(TraceContext::parse(VALID), expected(true));
        for (text, is_sampled) in [
            (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
                false,
            ),
            // Flags that version 00 does not define.
            (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03",
                true,
            ),
            (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-fe",
                false,
            ),
            // Later versions.
            (
                "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                true,
            ),
            (
                "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
                true,
            ),
            (
                "fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-",
                false,
            ),
        ] {
            assert_eq!(TraceContext::parse(text), expected(is_sampled), "{text}");
        }
        for text in [
            "",
            "00",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7a-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\u{e9}",
        ] {
            assert_eq!(TraceContext::parse(text), None, "{text}");
        }
    }

    #[test]
    fn ids_are_written_and_read_with_their_zeros() {
        let context = TraceContext::parse(VALID).expect("valid");
        let (trace, span) = (context.trace_id_text(), context.span_id_text());
        assert_eq!(span, "00f067aa0ba902b7");
        let read = TraceContext::from_ids(&trace, &span).expect("valid");
        assert_eq!(
            (read.trace_id, read.span_id, read.is_sampled),
            (context.trace_id, context.span_id, None)
        );
        assert_eq!(TraceContext::from_ids(&trace, &trace), None);
        assert_eq!(TraceContext::from_ids(&trace, "0000000000000000"), None);
    }

    #[test]
    fn a_comment_has_the_context() {
        let encoded = VALID.replace('-', "%2D");
        for text in [
            format!("/*traceparent='{VALID}'*/ SELECT 1"),
            format!("SELECT 1 /*traceparent='{VALID}'*/"),
            format!("SELECT 1 /*traceparent='{VALID}'*/;"),
            format!("SELECT /*traceparent='{VALID}'*/ 1"),
            format!("SELECT 1 /* traceparent = '{VALID}' */"),
            format!("SELECT 1 /*action='%2Fa*b',traceparent='{VALID}',tracestate='congo%3Dt61'*/"),
            format!("SELECT 1 /*name='it\\'s, traceparent=\\'x\\'', traceparent='{VALID}'*/"),
            format!("SELECT 1 /*traceparent='{encoded}'*/"),
            format!("SELECT '/*', \"*/\", `/*` -- /*\n /*traceparent='{VALID}'*/"),
            format!("SELECT 'it\\'s /*' # '\n /*traceparent='{VALID}'*/"),
            format!(
                "SELECT /*+ MAX_EXECUTION_TIME(1) */ 1 /* a comment */ /*traceparent='{VALID}'*/"
            ),
            format!("SELECT /*!50000 1 */ /*traceparent='{VALID}'*/"),
            // The first one is not valid.
            format!("SELECT 1 /*traceparent='00-0-0-0'*/ /*traceparent='{VALID}'*/"),
            format!("SELECT 1 /*traceparent='00-0-0-0',traceparent='{VALID}'*/"),
            // The server has cut the text.
            format!("SELECT 1 /*traceparent='{VALID}',applica"),
            format!("SELECT 'ö' /*ö='ö',traceparent='{VALID}'*/"),
        ] {
            assert_eq!(TraceContext::of_statement(&text), expected(true), "{text}");
        }
    }

    #[test]
    fn what_is_no_pair_of_a_comment_has_no_context() {
        for text in [
            "SELECT 1".to_owned(),
            "SELECT traceparent FROM t".to_owned(),
            format!("SELECT '/*traceparent=\\'{VALID}\\'*/'"),
            format!("SELECT \"/*traceparent='{VALID}'*/\""),
            format!("SELECT 1 AS `/*traceparent='{VALID}'*/`"),
            format!("INSERT INTO t VALUES ('it''s /*traceparent=''{VALID}''*/')"),
            format!("SELECT 1 -- traceparent='{VALID}'"),
            format!("SELECT 1 # /*traceparent='{VALID}'*/"),
            format!("SELECT traceparent='{VALID}'"),
            format!("SELECT /*!50000 traceparent='{VALID}' */"),
            format!("SELECT 1 /*traceparent={VALID}*/"),
            format!("SELECT 1 /*traceparent=\"{VALID}\"*/"),
            format!("SELECT 1 /*trace%70arent='{VALID}'*/"),
            format!("SELECT 1 /*Traceparent='{VALID}'*/"),
            format!("SELECT 1 /*see traceparent='{VALID}'*/"),
            format!("SELECT 1 /*action='traceparent=\\'{VALID}\\''*/"),
            format!("SELECT 1 /*traceparent='{}'*/", VALID.replace('-', "%zz")),
            // Cut by the server.
            format!("SELECT 1 /*traceparent='{VALID}"),
            format!("SELECT 1 /*traceparent='{}", &VALID[..40]),
        ] {
            assert_eq!(TraceContext::of_statement(&text), None, "{text}");
        }
    }

    proptest! {
        /// Texts may be cut anywhere, and may be of any characters.
        #[test]
        fn any_text_is_read(text in "[/*'`\"\\\\%,=# a-fö\n!-]{0,40}", end in "\\PC{0,40}") {
            let _ = TraceContext::of_statement(&format!("{text}/*traceparent='{end}"));
            let _ = TraceContext::of_statement(&format!("/*{text}traceparent{end}"));
            let _ = TraceContext::parse(&format!("{end}{text}"));
        }

        #[test]
        fn all_ids_are_read(trace_id in 1..=u128::MAX, span_id in 1..=u64::MAX, flags in any::<u8>()) {
            let text = format!("/*traceparent='00-{trace_id:032x}-{span_id:016x}-{flags:02x}'*/ DO 1");
            let is_sampled = Some(flags & 1 == 1);
            prop_assert_eq!(
                TraceContext::of_statement(&text),
                Some(TraceContext { trace_id, span_id, is_sampled })
            );
        }
    }
}
