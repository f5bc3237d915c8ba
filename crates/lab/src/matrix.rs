//! The cells of a recipe, and the order in which they are measured.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::recipe::{Configuration, Recipe, Server, Workload};

/// The identity of a cell in each repetition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The server's name.
    pub server: String,
    /// The workload's name.
    pub workload: String,
    /// The number of connections.
    pub connections: u32,
    /// The configuration's name.
    pub configuration: String,
    /// Whether this is the second cell of the A/A pair.
    #[serde(default)]
    pub again: bool,
}

impl Key {
    /// Server, workload and connections, which compared cells have in common.
    pub fn load(&self) -> (String, String, u32) {
        (self.server.clone(), self.workload.clone(), self.connections)
    }

    /// The other cell of an A/A pair.
    pub fn other_of_pair(&self) -> Self {
        Self {
            again: !self.again,
            ..self.clone()
        }
    }

    /// The load in one line.
    pub fn load_title(&self) -> String {
        let (server, workload, connections) = self.load();
        format!("{server}, {workload}, {connections} connections")
    }

    /// The configuration's name in reports.
    pub fn label(&self) -> String {
        match self.again {
            true => format!("{} again", self.configuration),
            false => self.configuration.clone(),
        }
    }

    /// The complete key in one line.
    pub fn title(&self) -> String {
        let Self {
            server,
            workload,
            connections,
            ..
        } = self;
        format!(
            "{server}, {}, {workload}, {connections} connections",
            self.label()
        )
    }
}

/// One cell of one repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Its place in the order, from 1.
    pub number: u32,
    /// The repetition, from 1.
    pub repetition: u32,
    /// The key.
    pub key: Key,
}

/// The parts of a recipe that a cell names.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The server.
    pub server: &'a Server,
    /// Its configuration.
    pub configuration: &'a Configuration,
    /// The load.
    pub workload: &'a Workload,
}

impl Recipe {
    /// The parts that a key names; `None` if the key is of another recipe.
    pub fn parts(&self, key: &Key) -> Option<Parts<'_>> {
        let server = self.server(&key.server)?;
        Some(Parts {
            server,
            configuration: self.configuration(server, &key.configuration)?,
            workload: self.workload(&key.workload)?,
        })
    }

    /// Every cell of one repetition, in the recipe's order.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for server in &self.servers {
            for workload in &self.workloads {
                for &connections in self.connections_of(workload) {
                    for configuration in self
                        .configurations
                        .iter()
                        .filter(|each| each.is_for(server))
                    {
                        let key = Key {
                            server: server.name.clone(),
                            workload: workload.name.clone(),
                            connections,
                            configuration: configuration.name.clone(),
                            again: false,
                        };
                        let baseline = self.baseline.as_ref() == Some(&key.configuration);
                        keys.push(key.clone());
                        if baseline {
                            keys.push(Key { again: true, ..key });
                        }
                    }
                }
            }
        }
        keys
    }

    /// The cells of all repetitions, each in its own random order.
    pub fn plan(&self, seed: u64) -> Vec<Cell> {
        let mut rng = Rng::with_seed(seed);
        let mut cells = Vec::new();
        for repetition in 1..=self.run.repetitions {
            let keys = self.shuffled(&mut rng);
            number(&mut cells, repetition, keys);
        }
        cells
    }

    /// Appends a repetition of the wanted keys in its own random order.
    pub fn extend(&self, cells: &mut Vec<Cell>, seed: u64, wanted: impl Fn(&Key) -> bool) {
        let repetition = cells.last().map_or(0, |cell| cell.repetition) + 1;
        // Each repetition has another order, which the seed reproduces.
        let mut rng = Rng::with_seed(seed.wrapping_add(u64::from(repetition)));
        let mut keys = self.shuffled(&mut rng);
        keys.retain(wanted);
        number(cells, repetition, keys);
    }

    fn shuffled(&self, rng: &mut Rng) -> Vec<Key> {
        let mut keys = self.keys();
        rng.shuffle(&mut keys);
        if self.run.turns > 0 {
            // Cells that are measured side by side are adjacent, and so are all cells of the same
            // servers.
            let keys = together(keys, rng, |key| key.load());
            return together(keys, rng, |key| key.server.clone());
        }
        if self.run.restart {
            return keys;
        }
        // One process serves many cells.
        together(keys, rng, |key| {
            let process = self.parts(key).map(|parts| process(parts.configuration));
            (key.server.clone(), process.unwrap_or_default())
        })
    }
}

fn number(cells: &mut Vec<Cell>, repetition: u32, keys: Vec<Key>) {
    for key in keys {
        let number = cells.len() as u32 + 1;
        cells.push(Cell {
            number,
            repetition,
            key,
        });
    }
}

/// Shuffles the groups of keys; within a group the order stays.
fn together<G: Ord>(keys: Vec<Key>, rng: &mut Rng, group: impl Fn(&Key) -> G) -> Vec<Key> {
    let mut groups: BTreeMap<G, Vec<Key>> = BTreeMap::new();
    for key in keys {
        groups.entry(group(&key)).or_default().push(key);
    }
    let mut groups: Vec<Vec<Key>> = groups.into_values().collect();
    rng.shuffle(&mut groups);
    groups.into_iter().flatten().collect()
}

/// The part of a configuration that only a new server process can take.
pub fn process(configuration: &Configuration) -> String {
    let Configuration {
        engine,
        build,
        options,
        preload,
        environment,
        ..
    } = configuration;
    format!("{engine:?} {build:?} {options:?} {preload:?} {environment:?}")
}
