//! Instrument patterns: SQL's `%` for any text, and the most specific pattern wins.

/// Whether `name` matches `pattern`, in which `%` matches any text.
/// Letters compare without case, as MySQL's option does.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to continue if the text after the last `%` does not match: one character later.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'%' {
            retry = Some((p + 1, n));
            p += 1;
        } else if p < pattern.len() && pattern[p].eq_ignore_ascii_case(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            (p, n) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'%')
}

/// How specific a pattern is: an exact name above any pattern, then more literal characters above
/// fewer. The caller applies the later one of two equal settings.
pub fn specificity(pattern: &str) -> usize {
    let literal = pattern.bytes().filter(|&c| c != b'%').count();
    if literal == pattern.len() {
        usize::MAX
    } else {
        literal
    }
}

/// The setting for `name` among `(pattern, value)` pairs: of the most specific pattern, the last.
pub fn resolve<'a, T: Copy>(
    settings: impl IntoIterator<Item = (&'a str, T)>,
    name: &str,
) -> Option<T> {
    let mut best: Option<(usize, T)> = None;
    for (pattern, value) in settings {
        let weight = specificity(pattern);
        if matches(pattern, name) && best.is_none_or(|(best_weight, _)| weight >= best_weight) {
            best = Some((weight, value));
        }
    }
    best.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_like_does() {
        assert!(matches("%", "idle"));
        assert!(matches("wait/%", "wait/io/file/sql/binlog"));
        assert!(matches("%mutex%LOCK_a%", "wait/synch/mutex/sql/LOCK_audit"));
        assert!(matches("IDLE", "idle"));
        assert!(!matches("wait/io%", "wait/synch/mutex/x"));
        assert!(!matches("a%b", "ab_"));
        assert!(matches("a%b%", "ab_"));
        assert!(!matches("", "x"));
        assert!(matches("", ""));
    }

    #[test]
    fn the_most_specific_pattern_wins_whatever_the_order() {
        let settings = [
            ("wait/io/file/sql/log", 1),
            ("%", 2),
            ("wait/%", 3),
            ("wait/io/%", 4),
        ];
        assert_eq!(resolve(settings, "wait/io/file/sql/log"), Some(1));
        assert_eq!(resolve(settings, "wait/io/file/sql/other"), Some(4));
        assert_eq!(resolve(settings, "wait/synch/x"), Some(3));
        assert_eq!(resolve(settings, "idle"), Some(2));
        assert_eq!(resolve([("%", 1), ("%", 5)], "idle"), Some(5));
        assert_eq!(resolve([("stage/%", 1)], "idle"), None);
    }
}
