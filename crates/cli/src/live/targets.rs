//! The targets of `tare live`: one, as other tools have it, or several by SERVER, --dsn and --pid.

use clap::parser::ArgMatches;
use clap::{ArgAction, Command, Error, FromArgMatches};

use crate::config;
use crate::exit::Failure;
use crate::sql::Target;

/// The options of the command line.
#[derive(clap::Args)]
struct Options {
    /// Servers to watch: names in ~/.config/tare/config.toml, addresses or sockets, as --dsn takes them
    #[arg(value_name = "SERVER", conflicts_with_all = ["host", "port", "socket", "defaults_file", "segment"])]
    servers: Vec<String>,

    #[command(flatten)]
    target: Target,
}

/// The targets of the command line. SERVER, --dsn and --pid may be repeated.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The only one if no other is named.
    only: Target,
    named: Vec<NamedTarget>,
}

/// A target and its names.
#[derive(Clone, Debug)]
pub struct NamedTarget {
    /// Its name in config.toml, if it has one.
    pub name: Option<String>,
    pub target: Target,
}

impl NamedTarget {
    /// Its name, or else its address without a password.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.target.name())
    }
}

impl Targets {
    /// Whether a target is given. Otherwise it is the only running program.
    pub fn is_named(&self) -> bool {
        !self.named.is_empty() || self.only.is_named()
    }

    /// All targets, in the order of the command line.
    ///
    /// # Errors
    /// A target is given twice.
    pub fn all(&self) -> Result<Vec<NamedTarget>, Failure> {
        let mut all: Vec<NamedTarget> = Vec::new();
        for target in &self.named {
            let title = target.title();
            if all.iter().any(|other| other.title() == title) {
                return Err(Failure::new(2, format!("{title} is named twice")));
            }
            all.push(target.clone());
        }
        if all.is_empty() {
            all.push(NamedTarget {
                name: None,
                target: self.only.clone(),
            });
        }
        Ok(all)
    }
}

/// The values of an argument with their positions on the command line.
fn positioned<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Vec<(usize, T)> {
    let positions = matches.indices_of(id).into_iter().flatten();
    let values = matches.get_many::<T>(id).into_iter().flatten();
    positions.zip(values.cloned()).collect()
}

impl FromArgMatches for Targets {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        let mut servers: Vec<(usize, String)> = positioned(matches, "servers");
        servers.extend(positioned(matches, "dsn"));
        let processes: Vec<(usize, u32)> = positioned(matches, "pid");
        let is_by_option = matches.contains_id("servers");
        let only = Options::from_arg_matches_mut(matches)?.target;
        if !is_by_option && servers.len() + processes.len() < 2 {
            let named = Vec::new();
            return Ok(Self { only, named });
        }
        let servers = servers.into_iter().map(|(position, server)| {
            let name = config::is_name(&server).then(|| server.clone());
            let target = only.with_server(&server);
            (position, NamedTarget { name, target })
        });
        let processes = processes.into_iter().map(|(position, pid)| {
            let target = Target::of_process(pid);
            (position, NamedTarget { name: None, target })
        });
        let mut all: Vec<(usize, NamedTarget)> = servers.chain(processes).collect();
        all.sort_by_key(|(position, _)| *position);
        let named = all.into_iter().map(|(_, target)| target).collect();
        Ok(Self { only, named })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Targets {
    fn augment_args(command: Command) -> Command {
        let repeated = |argument: clap::Arg| argument.action(ArgAction::Append);
        let command = Options::augment_args(command);
        command.mut_arg("dsn", repeated).mut_arg("pid", repeated)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    fn titles(words: &[&str]) -> Vec<String> {
        let command = Targets::augment_args(Command::new("live").disable_help_flag(true));
        let words = ["live"].iter().chain(words);
        let mut matches = command.try_get_matches_from(words).expect("parsed");
        let targets = Targets::from_arg_matches_mut(&mut matches).expect("targets");
        match targets.all() {
            Ok(all) => all.iter().map(NamedTarget::title).collect(),
            Err(failure) => vec![failure.message],
        }
    }

    #[test]
    fn targets_have_the_order_of_the_command_line() {
        for (words, expected) in [
            (&[][..], &["the running program"][..]),
            (&["--pid", "7"], &["process 7"]),
            (&["--dsn", "/a"], &["/a"]),
            (
                &["--pid", "7", "--dsn", "/a", "--pid", "8", "--dsn=/b"],
                &["process 7", "/a", "process 8", "/b"],
            ),
            (&["/a", "prod", "--pid", "7"], &["/a", "prod", "process 7"]),
            (
                &["mysql://u@h:1/d", "/b", "-u", "me"],
                &["mysql://me@h:1/d", "/b"],
            ),
            (&["/a", "--dsn", "/a"], &["/a is named twice"]),
            (&["--pid", "7", "--pid", "7"], &["process 7 is named twice"]),
        ] {
            assert_eq!(titles(words), expected, "{words:?}");
        }
    }
}
