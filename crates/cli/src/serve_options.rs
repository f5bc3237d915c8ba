//! mysqld's options that clap's derive cannot express: one per consumer, and `_` for `-`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use tare_layout::control::CONSUMERS;
use tare_rows::telemetry;
use tare_server::InstrumentValue;

const PREFIX: &str = "performance-schema-consumer-";

/// Values of `--performance-schema-consumer-NAME=ON|OFF` by consumer.
#[derive(Debug, Clone, Default)]
pub struct ConsumerOptions(pub Vec<(String, bool)>);

impl clap::Args for ConsumerOptions {
    fn augment_args(command: Command) -> Command {
        command.args(CONSUMERS.map(|consumer| {
            let option = format!("{PREFIX}{}", consumer.replace('_', "-"));
            let arg = Arg::new(consumer)
                .long(option)
                .value_name("ON|OFF")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("ON")
                .action(ArgAction::Set)
                .value_parser(boolean)
                .help_heading("Consumers");
            match consumer {
                // The help describes all fifteen in one line.
                "events_waits_current" => arg.help(
                    "Switch a consumer; there is one such option for each row of setup_consumers",
                ),
                _ => arg.hide(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ConsumerOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = CONSUMERS
            .iter()
            .filter_map(|name| Some((name.to_string(), *matches.get_one::<bool>(name)?)))
            .collect();
        Ok(())
    }
}

/// Given sizes of Performance Schema by MySQL's names without `performance_schema_`.
#[derive(Debug, Clone, Default)]
pub struct SizeOptions(pub Vec<(String, String)>);

/// The names of size options: the engine's, and those of tables that only the server has.
fn size_names() -> impl Iterator<Item = &'static str> {
    tare::OPTIONS
        .iter()
        .copied()
        .chain(telemetry::size_options())
}

/// The parser of a size. The engine checks its own.
fn size_parser(name: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    let is_engines = tare::OPTIONS.contains(&name);
    move |text: &str| match tare::Config::default().option(name, text) {
        Err(_) if !is_engines => match text.trim().parse::<u32>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err("give an integer".into()),
        },
        Ok(()) => Ok(text.trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl clap::Args for SizeOptions {
    fn augment_args(command: Command) -> Command {
        command.args(size_names().map(|name| {
            let arg = Arg::new(name)
                .long(format!("performance-schema-{}", name.replace('_', "-")))
                .value_name("N")
                .allow_negative_numbers(true)
                .action(ArgAction::Set)
                .value_parser(size_parser(name))
                .help_heading("Performance Schema");
            match name {
                // The help describes all sizes in one line.
                "digests_size" => arg.help(
                    "Size a buffer; -1 is the default. There is one such option for each of SHOW VARIABLES \
                     LIKE 'performance_schema%'",
                ),
                _ => arg.hide(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SizeOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |name: &'static str| {
            let value = matches.get_one::<String>(name)?;
            Some((name.to_string(), value.clone()))
        };
        self.0 = size_names().filter_map(given).collect();
        Ok(())
    }
}

/// mysqld's spellings of a switch.
pub fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" | "yes" => Ok(true),
        "off" | "false" | "0" | "no" => Ok(false),
        _ => Err("give ON or OFF".into()),
    }
}

/// Parses `--sampling`.
pub fn sampling(text: &str) -> Result<tare::Rule, String> {
    tare::Rule::parse(text).ok_or_else(|| "give every, 1/N, \"budget P %\" or active".into())
}

/// Parses `PATTERN=VALUE` of `--performance-schema-instrument`. As in mysqld, blanks and quotes around
/// the argument are ignored.
pub fn instrument(text: &str) -> Result<(String, InstrumentValue), String> {
    let bare = text.trim().trim_matches(['\'', '"']);
    let (pattern, value) = bare
        .split_once('=')
        .ok_or("give PATTERN=VALUE, for example 'wait/synch/%=COUNTED'")?;
    let pattern = pattern.trim();
    if pattern.is_empty() {
        return Err("the pattern before '=' is empty; '%' stands for all instruments".into());
    }
    Ok((pattern.to_owned(), value.trim().parse()?))
}

/// Parses a number of bytes as mysqld does: with K, M, G or none.
pub fn bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .filter(|&number| number > 0)
        .ok_or_else(|| "give a number of bytes above 0, or one with K, M or G after it".into())
}

/// Replaces `_` by `-` in the names of `tare serve`'s options, because mysqld accepts both. Values and other
/// subcommands are not changed.
pub fn normalise_option_names(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments
        .get(1)
        .is_none_or(|subcommand| subcommand != "serve")
    {
        return arguments;
    }
    for argument in arguments.iter_mut().skip(2) {
        let bytes = argument.as_bytes();
        if !bytes.starts_with(b"--") {
            continue;
        }
        let name = bytes
            .iter()
            .position(|&byte| byte == b'=')
            .unwrap_or(bytes.len());
        let mut spelled = bytes.to_vec();
        for byte in &mut spelled[..name] {
            if *byte == b'_' {
                *byte = b'-';
            }
        }
        *argument = OsString::from_vec(spelled);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_become_dashes_in_names_only() {
        let spell = |words: &[&str]| {
            normalise_option_names(words.iter().map(OsString::from))
                .into_iter()
                .map(|word| word.into_string().expect("was a string"))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            spell(&[
                "tare",
                "serve",
                "--performance_schema=ON",
                "--data",
                "my_dir",
                "--socket=/a_b"
            ]),
            [
                "tare",
                "serve",
                "--performance-schema=ON",
                "--data",
                "my_dir",
                "--socket=/a_b"
            ]
        );
        assert_eq!(
            spell(&["tare", "run", "--", "x", "--a_b"]),
            ["tare", "run", "--", "x", "--a_b"]
        );
    }

    #[test]
    fn instruments_are_read_as_mysqld_reads_them() {
        assert_eq!(
            instrument("wait/%=on"),
            Ok(("wait/%".into(), InstrumentValue::On))
        );
        assert_eq!(
            instrument("'wait/io/% = Counted'"),
            Ok(("wait/io/%".into(), InstrumentValue::Counted))
        );
        assert_eq!(instrument("%=0"), Ok(("%".into(), InstrumentValue::Off)));
        for wrong in ["wait/%", "=ON", "wait/%=perhaps", ""] {
            assert!(instrument(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_take_suffixes() {
        assert_eq!(bytes("64M"), Ok(64 << 20));
        assert_eq!(bytes("1g"), Ok(1 << 30));
        assert_eq!(bytes("1024"), Ok(1024));
        for wrong in ["", "M", "0", "-1", "1T", "99999999999999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
