//! A command of Redis as text, and its normalised form.

use super::commands::Command;
use crate::request::Request;
use crate::text::{write_arguments, write_keys};

/// Writes a command as redis-cli takes it. Arguments are cut, and those of commands that take passwords are
/// left out.
pub fn write_text(command: &Command, request: &Request, into: &mut String) {
    if !command.is_secret {
        return write_arguments(request, into);
    }
    into.push_str(&command.name);
    if request.count() > command.words {
        into.push_str(" ...");
    }
}

/// Writes the command's name and the shapes of its keys. Other arguments are one `?`.
pub fn write_shape(command: &Command, request: &Request, into: &mut String) {
    into.push_str(&command.name);
    let (positions, step) = command.keys.positions(request);
    let keys = positions.step_by(step);
    write_keys(request, keys.clone(), into);
    if request.count() > command.words + keys.count() {
        into.push_str(" ?");
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
