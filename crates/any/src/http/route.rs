//! A request's path as text, and its shape: `/users/17?page=2` is `/users/17?page=?` and `/users/?`.

/// The longest part of a path that stays as it is in a shape.
const MAX_PART_BYTES: usize = 32;
/// The most digits in a part that stays as it is: `v1`, `html5`.
const MAX_DIGITS: usize = 2;
/// A part with so many hexadecimal digits, some of them decimal, is a value.
const MIN_HEX_DIGITS: usize = 8;
/// The most parameters that a query's shape names.
const MAX_PARAMETERS: usize = 16;

/// The path and the query of a request's target. A target may name the server, too, with a user and a
/// password: `http://user:password@host/path`. `None`: it has no path.
fn split(target: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let path = match target.first()? {
        b'/' => target,
        _ => {
            let authority = target.windows(3).position(|signs| signs == b"://")? + 3;
            let end = target[authority..]
                .iter()
                .position(|byte| matches!(byte, b'/' | b'?' | b'#'));
            match end {
                Some(end) => &target[authority + end..],
                None => b"/",
            }
        }
    };
    // No client sends a fragment, and it may be secret.
    let end = path.iter().position(|&byte| byte == b'#');
    let path = &path[..end.unwrap_or(path.len())];
    match path.iter().position(|&byte| byte == b'?') {
        Some(at) => Some((&path[..at], Some(&path[at + 1..]))),
        None => Some((path, None)),
    }
}

/// Appends a method. Returns the path and the query; a target without a path is appended, too.
fn write_method<'t>(
    method: &str,
    target: &'t [u8],
    into: &mut String,
) -> Option<(&'t [u8], Option<&'t [u8]>)> {
    into.push_str(method);
    into.push(' ');
    let parts = split(target);
    if parts.is_none() {
        into.push_str(if target == b"*" { "*" } else { "?" });
    }
    parts
}

/// Appends a method and the path. Values of the query are `?`, as they may be secret.
pub fn write_text(method: &str, target: &[u8], is_cut: bool, into: &mut String) {
    let Some((path, query)) = write_method(method, target, into) else {
        return;
    };
    if path.is_empty() {
        into.push('/');
    }
    // Without an early end, several bytes are compared at once.
    let is_plain = (path.iter()).fold(true, |is_plain, byte| {
        is_plain & (b' '..=b'~').contains(byte)
    });
    let plain = str::from_utf8(path).ok().filter(|_| is_plain);
    into.push_str(plain.unwrap_or_default());
    for chunk in path.utf8_chunks().filter(|_| plain.is_none()) {
        for char in chunk.valid().chars() {
            match char.is_control() {
                true => into.extend(char.escape_default()),
                false => into.push(char),
            }
        }
        for byte in chunk.invalid() {
            into.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if let Some(query) = query {
        write_query(query, into);
    }
    if is_cut {
        into.push_str("...");
    }
}

/// Appends the method and the shape of the path, and the names of the query's parameters.
pub fn write_shape(method: &str, target: &[u8], is_cut: bool, into: &mut String) {
    let Some((path, query)) = write_method(method, target, into) else {
        return;
    };
    let is_path_cut = is_cut && query.is_none();
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    // What is before the first `/`.
    segments.next();
    if path.first() != Some(&b'/') {
        into.push('/');
    }
    while let Some(segment) = segments.next() {
        into.push('/');
        let is_last = segments.peek().is_none();
        write_segment(segment, is_last && is_path_cut, into);
    }
    if let Some(query) = query {
        write_query(query, into);
    }
    if is_cut {
        into.push_str("...");
    }
}

/// Appends a segment, with `?` in place of each of its parts that is a value. Points separate parts.
fn write_segment(segment: &[u8], is_cut: bool, into: &mut String) {
    if segment.len() > 2 * MAX_PART_BYTES || is_cut {
        return into.push('?');
    }
    for (number, part) in segment.split(|&byte| byte == b'.').enumerate() {
        if number != 0 {
            into.push('.');
        }
        match is_name(part) {
            true => into.push_str(str::from_utf8(part).unwrap_or("?")),
            false if into.ends_with("?.") => {
                into.pop();
            }
            false => into.push('?'),
        }
    }
}

/// Whether a part of a path is a name, and no value.
fn is_name(part: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-~@+:$".contains(byte);
    let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hex_digits = part.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let is_number = digits != 0 && part[0].is_ascii_digit();
    let is_hex = digits != 0 && hex_digits >= MIN_HEX_DIGITS;
    part.len() <= MAX_PART_BYTES
        && part.iter().all(is_sign)
        && digits <= MAX_DIGITS
        && !is_number
        && !is_hex
}

/// Appends the names of a query's parameters, and `?` in place of their values.
fn write_query(query: &[u8], into: &mut String) {
    let mut sign = '?';
    let mut parameters = query.split(|&byte| byte == b'&');
    for parameter in parameters.by_ref().take(MAX_PARAMETERS) {
        into.push(sign);
        sign = '&';
        let equals = parameter.iter().position(|&byte| byte == b'=');
        // What has no name is a value.
        let name = equals.map(|at| &parameter[..at]).unwrap_or_default();
        match is_name(name) && !name.is_empty() {
            true => into.push_str(str::from_utf8(name).unwrap_or("?")),
            false => into.push('?'),
        }
        if equals.is_some() {
            into.push_str("=?");
        }
    }
    if parameters.next().is_some() {
        into.push_str("&...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(target: &str) -> String {
        let mut text = String::new();
        write_text("GET", target.as_bytes(), false, &mut text);
        text
    }

    fn shape(target: &str) -> String {
        let mut shape = String::new();
        write_shape("GET", target.as_bytes(), false, &mut shape);
        shape
    }

    #[test]
    fn names_in_paths_stay_and_values_do_not() {
        for (target, expected) in [
            ("/", "/"),
            ("/users/17/orders/4711", "/users/?/orders/?"),
            ("/api/v1/html5/", "/api/v1/html5/"),
            ("/page123", "/?"),
            ("/u/123e4567-e89b-12d3-a456-426614174000", "/u/?"),
            ("/blob/deadbeef01", "/blob/?"),
            ("/app.3f2a9b1c4d.js", "/app.?.js"),
            ("/img/1.2.3.png", "/img/?.png"),
            ("/2024-01-02/x", "/?/x"),
            ("/a%20b/c", "/?/c"),
            ("/über/c", "/?/c"),
            ("/wp-admin/admin-ajax.php", "/wp-admin/admin-ajax.php"),
            ("//a//b", "//a//b"),
            ("http://user:secret@host/a/7?x=1", "/a/??x=?"),
            ("http://host", "/"),
            ("http://host?x=1", "/?x=?"),
            ("host:443", "?"),
            ("*", "*"),
            ("", "?"),
        ] {
            assert_eq!(shape(target), format!("GET {expected}"), "{target}");
        }
        let long = format!("/{}/x", "a".repeat(MAX_PART_BYTES + 1));
        assert_eq!(shape(&long), "GET /?/x");
        let mut cut = String::new();
        write_shape("PUT", b"/users/xy", true, &mut cut);
        assert_eq!(cut, "PUT /users/?...");
    }

    #[test]
    fn values_of_queries_are_not_stored() {
        for (target, expected) in [
            ("/s/17?q=secret&page=2", "/s/17?q=?&page=?"),
            ("/s?token", "/s??"),
            ("/s?a[0]=1&=x&%6b=1", "/s??=?&?=?&?=?"),
            ("/s?", "/s??"),
            ("/a\tb\u{7f}", "/a\\tb\\u{7f}"),
            ("/s#secret", "/s"),
            ("http://user:secret@host/a", "/a"),
            ("user:secret@host:443", "?"),
        ] {
            assert_eq!(text(target), format!("GET {expected}"), "{target}");
        }
        let many = format!("/s?{}", "a=1&".repeat(99));
        assert!(text(&many).ends_with("&a=?&..."), "{}", text(&many));
        let mut bytes = String::new();
        write_text("GET", b"/\xff\0", false, &mut bytes);
        assert_eq!(bytes, "GET /\\xff\\u{0}");
    }
}
