//! `--quick`: the same question in a few minutes.

use serde::{Deserialize, Serialize};

use super::Recipe;

/// The changes of `--quick`; keys that are left out stay.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quick {
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_ms: Option<u32>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<bool>,
    /// See [`super::Run`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<bool>,
    /// See [`super::Data`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<u32>,
    /// See [`super::Data`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u32>,
    /// The connections, instead of the recipe's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Vec<u32>>,
    /// Only these servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<String>>,
    /// Only these configurations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configurations: Option<Vec<String>>,
    /// Only these workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workloads: Option<Vec<String>>,
}

impl Recipe {
    /// The quick form of the recipe.
    ///
    /// # Errors
    /// The quick form names what the recipe does not have.
    pub fn quick(mut self) -> Result<Self, String> {
        let quick = std::mem::take(&mut self.quick);
        set(&mut self.run.repetitions, quick.repetitions);
        set(&mut self.run.seconds, quick.seconds);
        set(&mut self.run.warm_up, quick.warm_up);
        set(&mut self.run.processors, quick.processors);
        set(&mut self.run.turns, quick.turns);
        set(&mut self.run.turn_ms, quick.turn_ms);
        set(&mut self.run.restart, quick.restart);
        set(&mut self.run.rebuild, quick.rebuild);
        set(&mut self.data.tables, quick.tables);
        set(&mut self.data.rows, quick.rows);
        if let Some(connections) = quick.connections {
            self.set_connections(connections);
        }
        self.retain(
            quick.servers.as_deref(),
            quick.configurations.as_deref(),
            quick.workloads.as_deref(),
        )?;
        Ok(self)
    }

    /// Sets the connections of all workloads.
    pub fn set_connections(&mut self, connections: Vec<u32>) {
        for workload in &mut self.workloads {
            workload.connections.clear();
        }
        self.connections = connections;
    }

    /// Removes what is not named; `None` retains all.
    ///
    /// # Errors
    /// A name that the recipe does not have, or nothing is left.
    pub fn retain(
        &mut self,
        servers: Option<&[String]>,
        configurations: Option<&[String]>,
        workloads: Option<&[String]>,
    ) -> Result<(), String> {
        retain("server", &mut self.servers, servers, |each| &each.name)?;
        retain("workload", &mut self.workloads, workloads, |each| {
            &each.name
        })?;
        let names: Vec<String> = self.servers.iter().map(|each| each.name.clone()).collect();
        retain(
            "configuration",
            &mut self.configurations,
            configurations,
            |each| &each.name,
        )?;
        // A configuration without any of its servers must not become one for all.
        self.configurations.retain_mut(|each| {
            let for_all = each.servers.is_empty();
            each.servers.retain(|server| names.contains(server));
            for_all || !each.servers.is_empty()
        });
        // Targets and questions about removed parts are removed, too.
        for configuration in &mut self.configurations {
            let workloads = &self.workloads;
            configuration
                .targets
                .retain(|name, _| workloads.iter().any(|each| each.name == *name));
        }
        let there = |name: &String| self.configurations.iter().any(|each| each.name == *name);
        self.questions.retain_mut(|question| {
            let of_all = question.configurations.is_empty();
            question.configurations.retain(there);
            of_all || !question.configurations.is_empty()
        });
        self.check()
    }
}

fn set<T>(value: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *value = new;
    }
}

fn retain<T>(
    what: &str,
    all: &mut Vec<T>,
    names: Option<&[String]>,
    name: impl Fn(&T) -> &String,
) -> Result<(), String> {
    let Some(names) = names else { return Ok(()) };
    if let Some(unknown) = names
        .iter()
        .find(|wanted| !all.iter().any(|each| name(each) == *wanted))
    {
        let there: Vec<_> = all.iter().map(|each| name(each).as_str()).collect();
        return Err(format!(
            "no {what} '{unknown}' in this recipe; there are {}",
            there.join(", ")
        ));
    }
    all.retain(|each| names.contains(name(each)));
    Ok(())
}
