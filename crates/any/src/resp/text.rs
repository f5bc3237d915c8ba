//! A command as text, and its normalised form, the digest's text: `GET user:?`.

use super::commands::Command;
use super::requests::Request;

/// The longest part of a key that stays as it is. Longer ones are values.
const MAX_PART_BYTES: usize = 24;
/// What separates the parts of a key.
const SEPARATORS: &[u8] = b":./|{}#@";

/// Writes a command as redis-cli takes it. Arguments are cut, and those of commands that take passwords are
/// left out.
pub fn write_text(command: &Command, request: &Request, into: &mut String) {
    into.clear();
    if command.is_secret {
        into.push_str(&command.name);
        if request.count() > command.words {
            into.push_str(" ...");
        }
        return;
    }
    for number in 0..request.stored() {
        if number != 0 {
            into.push(' ');
        }
        write_argument(request.argument(number), into);
        if request.is_cut(number) {
            into.push_str("...");
        }
    }
    if request.stored() < request.count() {
        into.push_str(" ...");
    }
}

fn write_argument(argument: &[u8], into: &mut String) {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if !argument.is_empty() && argument.iter().all(is_plain) {
        return into.extend(argument.iter().map(|&byte| char::from(byte)));
    }
    into.push('"');
    for chunk in argument.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '"' | '\\' => into.extend(['\\', char]),
                '\n' => into.push_str("\\n"),
                '\r' => into.push_str("\\r"),
                '\t' => into.push_str("\\t"),
                _ if char.is_control() => {
                    into.extend(format!("\\x{:02x}", u32::from(char)).chars())
                }
                _ => into.push(char),
            }
        }
        for byte in chunk.invalid() {
            into.extend(format!("\\x{byte:02x}").chars());
        }
    }
    into.push('"');
}

/// Writes the command's name and the shapes of its keys. Other arguments are one `?`.
pub fn write_shape(command: &Command, request: &Request, into: &mut String) {
    into.clear();
    into.push_str(&command.name);
    let (positions, step) = command.keys.positions(request);
    let (mut shape, mut last) = (String::new(), None::<String>);
    let mut is_repeated = false;
    for number in positions
        .clone()
        .step_by(step)
        .take_while(|&number| number < request.stored())
    {
        shape.clear();
        write_key(request.argument(number), request.is_cut(number), &mut shape);
        if last.as_ref() == Some(&shape) {
            is_repeated = true;
            continue;
        }
        into.push(' ');
        into.push_str(&shape);
        last = Some(std::mem::take(&mut shape));
    }
    if is_repeated {
        into.push_str(" ...");
    }
    let keys = positions.clone().step_by(step).count();
    if request.count() > command.words + keys {
        into.push_str(" ?");
    }
}

/// Writes a key, with `?` in place of each part that is a value: parts with digits, long ones, and those with
/// other characters than letters, `_` and `-`.
fn write_key(key: &[u8], is_cut: bool, into: &mut String) {
    let mut rest = key;
    loop {
        let end = rest.iter().position(|byte| SEPARATORS.contains(byte));
        let part = &rest[..end.unwrap_or(rest.len())];
        let is_last = end.is_none();
        write_part(part, is_last && is_cut, into);
        let Some(end) = end else { return };
        into.push(char::from(rest[end]));
        rest = &rest[end + 1..];
    }
}

fn write_part(part: &[u8], is_cut: bool, into: &mut String) {
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let name = part.iter().take_while(|byte| is_name(byte)).count();
    let rest = &part[name..];
    let is_numbered = rest.iter().all(u8::is_ascii_digit);
    if is_cut || name > MAX_PART_BYTES || !is_numbered {
        return into.push('?');
    }
    into.extend(part[..name].iter().map(|&byte| char::from(byte)));
    if !rest.is_empty() {
        into.push('?');
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands;
    use super::*;

    fn both(arguments: &[&str]) -> (String, String) {
        commands::create("test");
        let request = Request::of(arguments);
        let command = commands::find(&request).expect("created");
        let (mut text, mut shape) = (String::new(), String::new());
        write_text(command, &request, &mut text);
        write_shape(command, &request, &mut shape);
        (text, shape)
    }

    #[test]
    fn keys_become_shapes() {
        let shape = |arguments: &[&str]| both(arguments).1;
        assert_eq!(shape(&["get", "user:1234"]), "GET user:?");
        assert_eq!(shape(&["GET", "user:1234:name"]), "GET user:?:name");
        assert_eq!(
            shape(&["SET", "key:000000000042", "xyz", "EX", "10"]),
            "SET key:? ?"
        );
        assert_eq!(
            shape(&["get", "{user1000}.following"]),
            "GET {user?}.following"
        );
        assert_eq!(
            shape(&["get", "550e8400-e29b-41d4-a716-446655440000"]),
            "GET ?"
        );
        assert_eq!(shape(&["get", &"x".repeat(200)]), "GET ?");
        assert_eq!(
            shape(&["mget", "a:1", "a:2", "a:3", "b:1"]),
            "MGET a:? b:? ..."
        );
        assert_eq!(shape(&["mset", "a:1", "v", "a:2", "v"]), "MSET a:? ... ?");
        assert_eq!(shape(&["blpop", "q1", "q2", "0"]), "BLPOP q? ... ?");
        assert_eq!(
            shape(&["eval", "return 1", "1", "user:7", "x"]),
            "EVAL user:? ?"
        );
        assert_eq!(
            shape(&["object", "encoding", "user:7"]),
            "OBJECT ENCODING user:?"
        );
        assert_eq!(shape(&["config", "get", "save"]), "CONFIG GET ?");
        assert_eq!(shape(&["ping"]), "PING");
        assert_eq!(shape(&["json.get", "user:7"]), "? ?");
        assert_eq!(shape(&["mget"]), "MGET");
        assert_eq!(shape(&["eval", "x", "99"]), "EVAL ?");
    }

    #[test]
    fn texts_are_quoted_and_passwords_left_out() {
        let text = |arguments: &[&str]| both(arguments).0;
        assert_eq!(
            text(&["set", "k", "a b\"\n\u{e9}\u{1}"]),
            "set k \"a b\\\"\\n\u{e9}\\x01\""
        );
        assert_eq!(text(&["get", ""]), "get \"\"");
        assert_eq!(text(&["AUTH", "alice", "secret"]), "AUTH ...");
        assert_eq!(
            text(&["acl", "setuser", "alice", ">secret"]),
            "ACL SETUSER ..."
        );
        assert_eq!(
            text(&["config", "set", "requirepass", "secret"]),
            "CONFIG SET ..."
        );
        assert_eq!(
            text(&["hello", "3", "auth", "alice", "secret"]),
            "HELLO ..."
        );
        assert_eq!(
            text(&["renamed-config", "set", "requirepass", "secret"]),
            "? ..."
        );
        assert_eq!(text(&["config", "get", "save"]), "config get save");
    }
}
