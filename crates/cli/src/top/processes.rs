//! Reads the pages of a process that does not use Tare from /proc: its threads, and the processes below it.

use std::collections::HashMap;
use std::time::Instant;

use tare_reader::{ProcessTree, ThreadActivity, Usage};

use super::process_pages::PROCESS_PAGES;
use super::sheet::Sheet;
use super::snapshot::{Snapshot, growth};
use super::source::{Answer, Place};
use crate::observe::QueryError;
use crate::output::Cell;
use crate::processes;

/// Reads processes, and compares with the last reading.
pub struct ProcessSampler {
    tree: ProcessTree,
    last: Option<(&'static Sheet, Snapshot)>,
    /// What is observed, for the screen.
    note: Option<String>,
}

impl ProcessSampler {
    /// For a process and all below it. `has_note`: answers contain what is observed and what is not.
    pub fn new(tree: ProcessTree, has_note: bool) -> Self {
        Self {
            note: has_note.then(|| processes::describe(&tree)),
            last: None,
            tree,
        }
    }

    /// Reads a page.
    pub fn sample(&mut self, place: &Place) -> Result<Answer, QueryError> {
        let threads = self.tree.read();
        let mut threads = threads.map_err(|error| QueryError::Lost(error.to_string()))?;
        self.tree.read_usages();
        for thread in &mut threads {
            thread.usage = self.tree.usage(thread.thread_id).unwrap_or(thread.usage);
        }
        let sheet = place.sheet;
        let rows = match std::ptr::eq(sheet, &raw const PROCESS_PAGES[1]) {
            true => self.process_rows(sheet, &threads),
            false => threads
                .iter()
                .map(|thread| row(sheet, |field| thread_cell(thread, field)))
                .collect(),
        };
        let now = Snapshot::new(sheet, rows, Instant::now());
        let before = self.last.take().filter(|(of, _)| std::ptr::eq(*of, sheet));
        let before = before.map(|(_, snapshot)| snapshot);
        let rows = growth(sheet, before.as_ref(), &now);
        let seconds = before.map(|before| now.at.duration_since(before.at).as_secs_f64());
        self.last = Some((sheet, now));
        Ok(Answer {
            rows,
            seconds,
            notes: self
                .note
                .iter()
                .cloned()
                .chain(self.tree.problem())
                .collect(),
            ..Answer::default()
        })
    }

    fn process_rows(&self, sheet: &Sheet, threads: &[ThreadActivity]) -> Vec<Vec<Cell>> {
        let mut sums: HashMap<u32, (u64, Usage)> = HashMap::new();
        for thread in threads {
            let (count, usage) = sums.entry(thread.process_id).or_default();
            *count += 1;
            usage.add(thread.usage);
        }
        let rows = self.tree.processes().iter().map(|(pid, process)| {
            let (count, usage) = sums.get(pid).copied().unwrap_or_default();
            row(sheet, |field| match field {
                "process" => Cell::Unsigned((*pid).into()),
                "parent" => Cell::Unsigned(process.parent.into()),
                "name" => Cell::Text(process.name.to_string()),
                "threads" => Cell::Unsigned(count),
                "memory" => {
                    tare_reader::process::resident_bytes(*pid).map_or(Cell::Null, Cell::Unsigned)
                }
                _ => usage_cell(&usage, field),
            })
        });
        rows.collect()
    }

    /// The name for the headline.
    pub fn headline(&self) -> String {
        processes::name(&self.tree)
    }
}

/// A row, whose fields `cell` has.
fn row(sheet: &Sheet, cell: impl Fn(&str) -> Cell) -> Vec<Cell> {
    let columns = sheet
        .columns
        .iter()
        .filter(|column| !column.kind.is_derived());
    columns.map(|column| cell(column.sql)).collect()
}

fn thread_cell(thread: &ThreadActivity, field: &str) -> Cell {
    match field {
        "process" => Cell::Unsigned(thread.process_id.into()),
        "thread" => Cell::Unsigned(thread.thread_id.into()),
        "state" => Cell::Text(thread.activity.state.name().to_owned()),
        "call" => match &thread.activity.system_call {
            Some(call) => Cell::Text(call.to_string()),
            None => Cell::Null,
        },
        "name" => Cell::Text(thread.name.to_string()),
        _ => usage_cell(&thread.usage, field),
    }
}

fn usage_cell(usage: &Usage, field: &str) -> Cell {
    let picoseconds = |ns: u64| Cell::Unsigned(ns.saturating_mul(1000));
    match field {
        "cpu" => picoseconds(usage.cpu_ns),
        "delay" => picoseconds(usage.delay_ns),
        "slices" => Cell::Unsigned(usage.slices),
        "read" => Cell::Unsigned(usage.io.read_bytes),
        "written" => Cell::Unsigned(usage.io.written_bytes),
        _ => Cell::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_pages_has_a_value() {
        let mut sampler =
            ProcessSampler::new(ProcessTree::new(std::process::id()).expect("it runs"), true);
        for sheet in &PROCESS_PAGES {
            let place = Place::page(sheet);
            assert_eq!(
                sampler.sample(&place).expect("it runs").seconds,
                None,
                "the first answer"
            );
            let answer = sampler.sample(&place).expect("it runs");
            assert!(answer.seconds.is_some() && answer.notes[0].contains("does not use Tare"));
            for (at, column) in sheet.columns.iter().enumerate() {
                let has_value = |row: &super::super::snapshot::Row| {
                    row.figures[at] != super::super::snapshot::Figure::Empty
                };
                // This process may use no CPU between the answers, and run all its threads.
                let is_optional = column.kind.is_derived() || column.sql == "call";
                assert!(
                    is_optional || answer.rows.iter().all(has_value),
                    "{}",
                    column.head
                );
            }
        }
    }
}
