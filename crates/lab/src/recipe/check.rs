//! Checks of a recipe that its types do not express.

use std::collections::BTreeSet;

use super::{Build, Configuration, Engine, From, Kind, Load, Rate, Recipe, Server, Workload};
use crate::load::rate::{of_peak, percents};
use crate::published;

/// The versions of a kind that scripts/servers may have, besides the system's MariaDB.
fn versions(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Mysql => &["5.6", "5.7", "8.0", "9.7"],
        Kind::Mariadb => &["11.4", "11.8"],
        _ => &[],
    }
}

impl Recipe {
    /// Checks the recipe; the error says what to do.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_lists()?;
        self.check_mentions()?;
        if self.run.repetitions == 0 || self.run.seconds == 0 {
            return Err("run.repetitions and run.seconds have to be 1 or more".into());
        }
        self.check_comparison()?;
        self.servers.iter().try_for_each(check_server)?;
        (self.configurations.iter()).try_for_each(|each| self.check_configuration(each))?;
        self.workloads.iter().try_for_each(check_workload)?;
        match self.run.turns {
            0 => Ok(()),
            _ => self.check_turns(),
        }
    }

    /// Checks that lists are not empty and have no duplicates.
    fn check_lists(&self) -> Result<(), String> {
        check_not_empty(&self.servers, "[[server]]")?;
        check_not_empty(&self.configurations, "[[configuration]]")?;
        check_not_empty(&self.workloads, "[[workload]]")?;
        check_not_empty(&self.connections, "number in connections")?;
        check_unique("server", self.servers.iter().map(|each| &each.name))?;
        for server in &self.servers {
            let of_server = self
                .configurations
                .iter()
                .filter(|each| each.is_for(server));
            check_unique(
                &format!("with server '{}', configuration", server.name),
                of_server.map(|each| &each.name),
            )?;
        }
        check_unique("workload", self.workloads.iter().map(|each| &each.name))?;
        for connections in (self.workloads.iter()).map(|each| self.connections_of(each)) {
            check_unique("number of connections", connections)?;
            if connections.contains(&0) {
                return Err("connections = [0]: give 1 or more".into());
            }
        }
        Ok(())
    }

    /// Checks the workloads and configurations that targets and questions name.
    fn check_mentions(&self) -> Result<(), String> {
        for configuration in &self.configurations {
            for workload in configuration.targets.keys() {
                check_name(
                    "configuration.targets",
                    workload,
                    self.workloads.iter().map(|each| &each.name),
                )?;
            }
        }
        for question in &self.questions {
            for name in &question.configurations {
                check_name(
                    "ask.configurations",
                    name,
                    self.configurations.iter().map(|each| &each.name),
                )?;
            }
        }
        Ok(())
    }

    /// Checks baseline and reference.
    fn check_comparison(&self) -> Result<(), String> {
        if let Some(baseline) = &self.baseline {
            check_name(
                "baseline",
                baseline,
                self.configurations.iter().map(|each| &each.name),
            )?;
        }
        if let Some(reference) = &self.reference
            && published::find(reference).is_none()
        {
            let names: Vec<_> = published::ALL.iter().map(|each| each.name).collect();
            return Err(format!(
                "reference = '{reference}': there are {}",
                names.join(", ")
            ));
        }
        Ok(())
    }

    /// Checks that each server of a configuration supports it.
    fn check_configuration(&self, configuration: &Configuration) -> Result<(), String> {
        for server in &configuration.servers {
            check_name(
                "configuration.servers",
                server,
                self.servers.iter().map(|each| &each.name),
            )?;
        }
        for server in self
            .servers
            .iter()
            .filter(|server| configuration.is_for(server))
        {
            let wrong = |what: &str| {
                let (configuration, server) = (&configuration.name, &server.name);
                Err(format!(
                    "configuration '{configuration}' with server '{server}': {what}; name its \
                     servers in configuration.servers"
                ))
            };
            if configuration.build == Build::Plain && server.kind != Kind::Tare {
                return wrong("build = 'plain' is for kind = 'tare'");
            }
            if !configuration.switch.is_empty() && server.kind != Kind::Command {
                return wrong("switch is for kind = 'command'; other servers have sql");
            }
            if !configuration.sidecars.is_empty() && !self.shares_process(configuration, server) {
                return wrong(
                    "the programs of beside stand still while other configurations of the same process are measured: this needs \
                     run.turns, run.switch, and kind = 'tare', 'mariadb', 'mysql', or 'command' with switch",
                );
            }
            if configuration.engine == Engine::Tare
                && !matches!(server.kind, Kind::Mysql | Kind::Mariadb | Kind::Command)
            {
                return wrong("engine = 'tare' is for kind = 'mysql', 'mariadb' and 'command'");
            }
            if configuration.needs_new_process() && server.kind == Kind::Dsn {
                return wrong(
                    "a server that runs already takes no options, preload or environment",
                );
            }
        }
        Ok(())
    }

    /// Whether configurations may share the server's process.
    fn shares_process(&self, configuration: &Configuration, server: &Server) -> bool {
        let can = match server.kind {
            Kind::Tare | Kind::Mariadb | Kind::Mysql => true,
            Kind::Command => !configuration.switch.is_empty(),
            Kind::Dsn | Kind::None => false,
        };
        can && self.run.turns > 0 && self.run.switch
    }

    /// Checks that loads can be stopped and servers can run side by side, which turns need.
    fn check_turns(&self) -> Result<(), String> {
        if self.run.turn_ms == 0 {
            return Err("run.turn_ms has to be 1 or more".into());
        }
        if self.run.rebuild {
            return Err("run.turns and run.rebuild do not go together: with turns every server has a fresh copy of the data in each repetition".into());
        }
        for server in &self.servers {
            if matches!(server.kind, Kind::Dsn | Kind::None) {
                let name = &server.name;
                return Err(format!(
                    "server '{name}': run.turns is for kind = 'tare', 'mariadb', 'mysql' and 'command', of which several run at once"
                ));
            }
        }
        for workload in &self.workloads {
            let name = &workload.name;
            let counted = match workload.load {
                Load::Sysbench => !matches!(&workload.rate, Some(rate) if rate.cpu().is_some()),
                Load::Command => workload.counted,
                Load::Locks | Load::Idle => false,
            };
            if !counted {
                return Err(format!(
                    "workload '{name}': run.turns is for load = 'sysbench' without a rate of the machine's CPU, and load = 'command' with counted = true"
                ));
            }
            if workload.from != From::Here {
                return Err(format!("workload '{name}': run.turns is for from = 'here'"));
            }
        }
        Ok(())
    }
}

impl Configuration {
    /// Whether it is a configuration of this server.
    pub fn is_for(&self, server: &Server) -> bool {
        self.servers.is_empty() || self.servers.contains(&server.name)
    }

    /// Whether it needs a new process.
    fn needs_new_process(&self) -> bool {
        !self.options.is_empty() || self.preload.is_some() || !self.environment.is_empty()
    }
}

fn check_server(server: &Server) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("server '{}': {what}", server.name));
    match server.kind {
        Kind::Mysql if server.version.is_none() == server.program.is_none() => {
            wrong("kind = 'mysql' takes either version = '8.0' or program = '/path/of/mysqld'")
        }
        Kind::Dsn if server.dsn.is_none() => {
            wrong("kind = 'dsn' needs dsn = 'mysql://user@host/db'")
        }
        Kind::Command if server.command.is_empty() => {
            wrong("kind = 'command' needs command = ['./program', 'argument']")
        }
        _ => match &server.version {
            Some(_) if versions(server.kind).is_empty() => {
                wrong("version is for kind = 'mysql' or 'mariadb'")
            }
            Some(_) if server.program.is_some() => wrong("it has both a version and a program"),
            Some(version) if !versions(server.kind).contains(&version.as_str()) => wrong(&format!(
                "version = '{version}': there are {}",
                versions(server.kind).join(", ")
            )),
            _ => Ok(()),
        },
    }
}

fn check_workload(workload: &Workload) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("workload '{}': {what}", workload.name));
    match workload.load {
        Load::Sysbench if workload.script.is_none() => {
            wrong("load = 'sysbench' needs script = 'oltp_read_only', or another")
        }
        Load::Command if workload.command.is_empty() => {
            wrong("load = 'command' needs command = ['./load', '{connections}']")
        }
        Load::Sysbench | Load::Locks if workload.counted => {
            wrong("counted is for load = 'command'")
        }
        _ => match &workload.rate {
            Some(_) if workload.load != Load::Sysbench => wrong("rate is for load = 'sysbench'"),
            Some(Rate::Fixed(rate)) if *rate < 1.0 => wrong("rate has to be 1 or more a second"),
            Some(Rate::Cpu(text)) if percents(text).is_none() && of_peak(text).is_none() => wrong(
                "rate = '...' has to be like '40-60 %', of the machine's CPU, or like '50 % of peak', or a number",
            ),
            _ => Ok(()),
        },
    }
}

fn check_not_empty<T>(all: &[T], what: &str) -> Result<(), String> {
    match all.is_empty() {
        true => Err(format!("needs at least one {what}")),
        false => Ok(()),
    }
}

fn check_unique<T: Ord + std::fmt::Display>(
    what: &str,
    all: impl IntoIterator<Item = T>,
) -> Result<(), String> {
    let mut visited = BTreeSet::new();
    for each in all {
        let text = each.to_string();
        if !visited.insert(each) {
            return Err(format!("{what} '{text}' is there twice"));
        }
    }
    Ok(())
}

fn check_name<'a>(
    key: &str,
    name: &str,
    all: impl Iterator<Item = &'a String>,
) -> Result<(), String> {
    let all: Vec<_> = all.map(String::as_str).collect();
    match all.contains(&name) {
        true => Ok(()),
        false => Err(format!("{key} = '{name}': there are {}", all.join(", "))),
    }
}
