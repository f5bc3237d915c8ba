//! Tests that `tare.h`, which is written by hand, agrees with the code.

use std::collections::BTreeSet;

use engine::{Kind, Operation};

const HEADER: &str = include_str!("../include/tare.h");
const SOURCES: [&str; 12] = [
    include_str!("class.rs"),
    include_str!("config.rs"),
    include_str!("count.rs"),
    include_str!("lock.rs"),
    include_str!("metric.rs"),
    include_str!("object.rs"),
    include_str!("pthread.rs"),
    include_str!("statement.rs"),
    include_str!("status.rs"),
    include_str!("thread.rs"),
    include_str!("transaction.rs"),
    include_str!("wait.rs"),
];

/// `TARE_NAME = number` pairs of an enum.
fn constants(of: &str) -> Vec<(&'static str, i32)> {
    let body = HEADER
        .split_once(&format!("enum {of} {{"))
        .unwrap_or_else(|| panic!("{of}"))
        .1;
    let body = body.split_once("};").unwrap().0;
    let mut pairs = Vec::new();
    for line in body.lines() {
        let code = line.split("/*").next().unwrap();
        for pair in code.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (name, number) = pair.split_once('=').unwrap_or_else(|| panic!("{pair}"));
            pairs.push((
                name.trim().strip_prefix("TARE_").unwrap(),
                number.trim().parse().unwrap(),
            ));
        }
    }
    assert!(!pairs.is_empty());
    pairs
}

/// `RwLock` as `RW_LOCK`.
fn upper(name: &impl std::fmt::Debug) -> String {
    let mut upper = String::new();
    for letter in format!("{name:?}").chars() {
        if letter.is_uppercase() && !upper.is_empty() {
            upper.push('_');
        }
        upper.push(letter.to_ascii_uppercase());
    }
    upper
}

#[test]
fn kinds() {
    let constants = constants("tare_kind");
    let ours: Vec<_> = (1..=16)
        .filter_map(Kind::from_u8)
        .filter(|kind| *kind != Kind::Error)
        .collect();
    assert_eq!(constants.len(), ours.len());
    for (kind, (name, number)) in ours.iter().zip(constants) {
        assert_eq!(name.strip_prefix("KIND_"), Some(&*upper(kind)));
        assert_eq!(number, *kind as i32);
        // The comment in its line has the prefix of its names.
        let line = HEADER
            .lines()
            .find(|line| line.contains(&format!("TARE_{name} =")))
            .unwrap();
        assert!(line.contains(&format!("/* {} ", kind.prefix())), "{line}");
    }
}

#[test]
fn operations() {
    let constants = constants("tare_operation");
    let ours: Vec<_> = (0..=255).filter_map(Operation::from_u8).collect();
    assert_eq!(constants.len(), ours.len());
    for (operation, (name, number)) in ours.iter().zip(constants) {
        assert_eq!(name.strip_prefix("OP_"), Some(&*upper(operation)));
        assert_eq!(number, *operation as i32);
    }
}

/// Enums of which every value is named as it is in Rust.
#[test]
fn enums_of_objects() {
    fn check<T: std::fmt::Debug>(of: &str, prefix: &str, from: impl Fn(u8) -> Option<T>) {
        let constants = constants(of);
        let ours: Vec<(u8, T)> = (0..=255).filter_map(|i| Some((i, from(i)?))).collect();
        assert_eq!(constants.len(), ours.len(), "{of}");
        for ((number, ours), (name, given)) in ours.iter().zip(constants) {
            assert_eq!(name.strip_prefix(prefix), Some(&*upper(ours)));
            assert_eq!(given, i32::from(*number));
        }
    }
    check("tare_table_lock", "TABLE_", engine::TableLock::from_u8);
    check("tare_namespace", "ON_", engine::Namespace::from_u8);
    check("tare_lock_type", "LOCK_", engine::LockType::from_u8);
    check(
        "tare_lock_duration",
        "UNTIL_",
        engine::LockDuration::from_u8,
    );
    check("tare_lock_status", "STATUS_", engine::LockStatus::from_u8);
    let programs = |i| engine::ObjectType::from_u8(i).filter(|kind| !kind.is_table());
    check("tare_program_type", "", programs);
}

#[test]
fn counters() {
    let constants = constants("tare_counter");
    for (name, number) in &constants {
        assert_eq!(
            crate::statement::counter(*number)
                .map(|counter| upper(&counter))
                .as_deref(),
            Some(*name)
        );
    }
    assert!(crate::statement::counter(constants.len() as i32).is_none());
}

#[test]
fn commands() {
    let constants = constants("tare_command");
    for (name, number) in &constants {
        assert_eq!(
            engine::Command::from_number(*number)
                .map(|command| upper(&command))
                .as_deref(),
            Some(*name)
        );
    }
    let commands = (0..=255).filter_map(engine::Command::from_number).count();
    assert_eq!(commands, constants.len());
}

/// Every function that is declared is defined, and the other way round.
#[test]
fn functions() {
    let declared: BTreeSet<&str> = HEADER
        .split_once("extern \"C\" {")
        .unwrap()
        .1
        .lines()
        .filter(|line| !line.starts_with([' ', '/', '*', '#', '}']))
        .filter_map(|line| {
            let (before, _) = line.split_once('(')?;
            let name = before.rsplit([' ', '*']).next()?;
            name.starts_with("tare_").then_some(name)
        })
        .collect();
    let defined: BTreeSet<&str> = SOURCES
        .iter()
        .flat_map(|source| source.lines())
        .filter_map(|line| {
            let name = match line.split_once(" (tare_") {
                // In a macro's list of functions.
                Some((kind, _)) if !kind.trim_start().contains(' ') => {
                    &line[kind.len() + " (".len()..]
                }
                _ => {
                    let (_, name) = line.strip_prefix("pub ")?.split_once("extern \"C")?;
                    name.trim_start_matches("-unwind").strip_prefix("\" fn ")?
                }
            };
            Some(&name[..name.find('(')?])
        })
        .chain([
            "tare_thread_set_db",
            "tare_thread_set_state",
            "tare_thread_set_info",
            "tare_thread_set_attributes",
        ])
        .collect();
    assert_eq!(declared, defined);
    assert!(defined.len() > 80, "{}", defined.len());
}

#[test]
fn limits() {
    for name in format!("{:?}", engine::Limits::default())
        .split(['{', ','])
        .skip(1)
    {
        let name = name.split(':').next().unwrap().trim();
        let sentence = HEADER
            .split_once("/* One of: classes")
            .unwrap()
            .1
            .split_once("*/")
            .unwrap()
            .0;
        assert!(name == "classes" || sentence.contains(name), "{name}");
    }
}

#[test]
fn metric_types() {
    let constants = constants("tare_metric_type");
    assert_eq!(constants.len(), 5);
    for (name, number) in constants {
        let kind = engine::metrics::Type::from_u32(number as u32).expect(name);
        assert_eq!(name.strip_prefix("METRIC_"), Some(&*upper(&kind)));
    }
}
