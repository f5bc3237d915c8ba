//! Summaries by event name, and what schema `tare` adds to them.

use std::sync::{Arc, OnceLock};

use tare_layout::Kind;
use tare_layout::class::{COUNTERS, Counter, counter_cell, property};
use tare_layout::histogram::{bucket_high, bucket_low};
use tare_layout::line::{CONTENDED, COUNT, EXTRA, MAX, MIN, NO_MIN, SUM, memory};
use tare_layout::sizes;
use tare_reader::line::{Cells, EMPTY_TIME_LINE, add};
use tare_reader::names::{Account, NameEntry};
use tare_reader::{Class, Clock, Selection, Thread, Totals};

use super::events::cpu_ps;
use super::host::Host;
use super::{By, RowsResult, Snapshot, none};
use crate::filter::Filter;
use crate::record::event::{Owner, Stat, Summary};
use crate::record::file::{FileIo, Io};
use crate::record::memory::Memory;
use crate::record::segment::{Contention, HistogramBucket};
use crate::record::socket::SocketIo;
use crate::record::statement::Counters;
use crate::record::{statement, transaction};

/// The families of classes that a table sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Wait = 0,
    Stage,
    Statement,
    Transaction,
    Memory,
    Error,
}

pub(super) const FAMILIES: usize = 6;

impl Family {
    pub(super) fn has(self, kind: Kind) -> bool {
        match self {
            Family::Stage => kind == Kind::Stage,
            Family::Statement => kind == Kind::Statement,
            Family::Transaction => kind == Kind::Transaction,
            Family::Memory => kind == Kind::Memory,
            Family::Error => kind == Kind::Error,
            Family::Wait => !matches!(
                kind,
                Kind::Stage
                    | Kind::Statement
                    | Kind::Transaction
                    | Kind::Memory
                    | Kind::Error
                    | Kind::Thread
            ),
        }
    }
}

/// A line's count and times in picoseconds.
pub(super) fn stat(clock: &Clock, kind: Kind, line: &Cells) -> Stat {
    // An acquisition at the first try is a wait of zero that no clock was read for.
    let zero = kind.is_lock() && line[COUNT] > line[EXTRA];
    let min = if zero || line[MIN] == NO_MIN {
        0
    } else {
        line[MIN]
    };
    Stat {
        count: line[COUNT],
        sum: clock.ps(line[SUM]),
        min: clock.ps(min),
        max: clock.ps(line[MAX]),
    }
}

/// The sum of a row's operations.
fn sum_lines(kind: Kind, row: &[Cells]) -> Cells {
    let mut sum = EMPTY_TIME_LINE;
    for (i, line) in row
        .iter()
        .enumerate()
        .filter(|(i, _)| kind.is_time_line(*i))
    {
        add(kind, i, &mut sum, line);
    }
    sum
}

fn waits(clock: &Clock, kind: Kind, row: &[Cells]) -> Stat {
    stat(clock, kind, &sum_lines(kind, row))
}

/// A statement row's time line and counters.
pub(super) fn statement_sums(clock: &Clock, kind: Kind, row: &[Cells]) -> statement::Sums {
    let counters: [u64; COUNTERS] = std::array::from_fn(|i| {
        let (line, cell) = counter_cell(i);
        row.get(line).map_or(0, |line| line[cell])
    });
    statement::Sums {
        stat: stat(clock, kind, &row[0]),
        lock_time: clock.ps(counters[Counter::LockTime as usize]),
        errors: counters[Counter::Errors as usize],
        warnings: counters[Counter::Warnings as usize],
        counters: Counters::from_words(&counters),
        cpu_time: cpu_ps(&counters),
    }
}

fn transaction(clock: &Clock, kind: Kind, row: &[Cells]) -> transaction::Sums {
    transaction::Sums {
        all: stat(clock, kind, &sum_lines(kind, row)),
        read_write: stat(clock, kind, &row[0]),
        read_only: stat(clock, kind, &row[1]),
    }
}

/// The rows of one scope that ever fired, by class.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Class and first line, by class.
    index: Vec<(usize, usize)>,
    lines: Vec<Cells>,
}

impl Group {
    fn of(totals: &Totals) -> Self {
        let mut group = Group::default();
        for (class, row) in totals.rows() {
            group.index.push((class, group.lines.len()));
            group.lines.extend_from_slice(row);
        }
        group
    }

    pub(super) fn row(&self, class: &Class) -> Option<&[Cells]> {
        let entry = self
            .index
            .binary_search_by_key(&class.id, |(class, _)| *class)
            .ok()?;
        let at = self.index[entry].1;
        self.lines.get(at..at + class.kind.row_lines())
    }
}

/// A group that is summed at its first use.
pub(super) type Lazy = OnceLock<Group>;

/// The groups of a summary, and the owners that it lists, each with its group's number.
pub(super) struct Owners {
    pub groups: Arc<Vec<Lazy>>,
    pub listed: Vec<(usize, Owner)>,
}

impl Snapshot {
    pub(super) fn selection(&self, host: &Host, family: Family) -> Selection {
        Selection::new(self.classes(host), |kind| family.has(kind))
    }

    pub(super) fn global(&self, host: &Host, family: Family) -> &Arc<Vec<Lazy>> {
        self.sums[By::Global as usize][family as usize].get_or_init(|| {
            let totals = host.banks().global(&self.selection(host, family));
            Arc::new(vec![Lazy::from(Group::of(&totals))])
        })
    }

    /// The group of all threads.
    pub(super) fn global_group(&self, host: &Host, family: Family) -> &Group {
        self.global(host, family)[0].get_or_init(Group::default)
    }

    /// The groups of a table with their owners; those of threads are summed by `fill_threads`.
    pub(super) fn groups(&self, host: &Host, by: By, family: Family) -> Owners {
        let size = match by {
            By::Account => Some(sizes::ACCOUNTS),
            By::User => Some(sizes::USERS),
            By::Host => Some(sizes::HOSTS),
            By::Global | By::Thread => None,
        };
        if size.is_some_and(|size| host.has_none_of(size)) {
            return Owners {
                groups: Arc::default(),
                listed: Vec::new(),
            };
        }
        match by {
            By::Global => Owners {
                groups: self.global(host, family).clone(),
                listed: vec![(0, Owner::default())],
            },
            By::Account | By::User | By::Host => self.accounts_grouped(host, by, family),
            By::Thread => {
                let slots = self.slots(host);
                let groups = self.sums[By::Thread as usize][family as usize]
                    .get_or_init(|| Arc::new(slots.iter().map(|_| Lazy::new()).collect()));
                let owner = |slot: &Thread| Owner {
                    thread_id: slot.id,
                    ..Owner::default()
                };
                Owners {
                    groups: groups.clone(),
                    listed: slots.iter().map(owner).enumerate().collect(),
                }
            }
        }
    }

    /// The sums of accounts, grouped by user or host if `by` says so. Group 0 is that of threads without an account.
    fn accounts_grouped(&self, host: &Host, by: By, family: Family) -> Owners {
        let accounts = &self.names(host).accounts;
        let number = |account: &Account, i: usize| match by {
            By::User => account.user_number as usize,
            By::Host => account.host_number as usize,
            _ => i,
        };
        let owner = |account: &Account| Owner {
            user: account.user.clone().filter(|_| by != By::Host),
            host: account.host.clone().filter(|_| by != By::User),
            ..Owner::default()
        };
        let listed = |group: usize, account: usize| match (by, group) {
            (_, 0) => true,
            (By::User, number) => self.is_listed(&self.names(host).users, number),
            (By::Host, number) => self.is_listed(&self.names(host).hosts, number),
            _ => accounts[account].listed,
        };
        let mut owners: Vec<Option<Owner>> = Vec::new();
        let mut of_account = Vec::with_capacity(accounts.len());
        for (i, account) in accounts.iter().enumerate() {
            let group = number(account, i);
            of_account.push(group);
            if owners.len() <= group {
                owners.resize(group + 1, None);
            }
            if listed(group, i) {
                owners[group].get_or_insert_with(|| owner(account));
            }
        }
        let groups = self.sums[by as usize][family as usize].get_or_init(|| {
            let selection = self.selection(host, family);
            let sums = host.banks().accounts_of(by.scope(), &selection);
            let mut groups: Vec<Option<Totals>> = vec![None; owners.len()];
            for (account, sum) in sums.into_iter().enumerate() {
                let Some(group) = of_account.get(account).copied() else {
                    continue;
                };
                match (&mut groups[group], sum) {
                    (Some(all), Some(sum)) => all.add(&sum),
                    (empty, sum @ Some(_)) => *empty = sum,
                    (_, None) => {}
                }
            }
            let group = |sum: Option<Totals>| sum.as_ref().map(Group::of).unwrap_or_default();
            Arc::new(
                groups
                    .into_iter()
                    .map(|sum| Lazy::from(group(sum)))
                    .collect(),
            )
        });
        let listed = owners.into_iter().enumerate();
        Owners {
            groups: groups.clone(),
            listed: listed.filter_map(|(i, owner)| Some((i, owner?))).collect(),
        }
    }

    fn is_listed(&self, names: &[Option<NameEntry>], number: usize) -> bool {
        let named = names.get(number.wrapping_sub(1)).and_then(Option::as_ref);
        named.is_some_and(|named| named.listed)
    }

    /// Sums the events of the wanted threads, unless the statement has done so already.
    fn fill_threads(
        &self,
        host: &Host,
        family: Family,
        groups: &[Lazy],
        wanted: &[(usize, Owner)],
    ) {
        let selection = self.selection(host, family);
        for (i, _) in wanted {
            if let (Some(group), Some(slot)) = (groups.get(*i), self.slots(host).get(*i)) {
                group.get_or_init(|| {
                    let sum = host.banks().thread(&selection, slot.slot, slot.bank);
                    sum.as_ref().map(Group::of).unwrap_or_default()
                });
            }
        }
    }

    /// The owners that match a filter, with the sums of their groups.
    pub(super) fn owners(&self, host: &Host, by: By, family: Family, filter: &Filter) -> Owners {
        let mut owners = self.groups(host, by, family);
        if by == By::Thread {
            let thread = filter.number("THREAD_ID");
            let groups = owners.groups.len();
            owners
                .listed
                .retain(|(i, owner)| *i < groups && thread.admits(&owner.thread_id));
            self.fill_threads(host, family, &owners.groups, &owners.listed);
        } else {
            let groups = owners.groups.len();
            owners.listed.retain(|(i, _)| *i < groups);
        }
        owners
    }

    /// A row for every owner and class of a family, whether or not it ever fired, as in MySQL. Memory of the
    /// server itself belongs to no owner.
    fn summary<S: Copy + Default + 'static>(
        &self,
        by: By,
        filter: &Filter,
        family: Family,
        sums: fn(&Clock, Kind, &[Cells]) -> S,
    ) -> RowsResult<Summary<S>> {
        let Some(host) = &self.host else {
            return none();
        };
        let clock = host.clock;
        let Owners { groups, listed } = self.owners(host, by, family, filter);
        let mut classes: Vec<Class> = self.listed(host, family, filter);
        if family == Family::Memory && by != By::Global {
            classes.retain(|class| class.properties & property::GLOBAL_STATISTICS == 0);
        }
        let wanted = listed;
        let of = move |(group, owner): &(usize, Owner), class: &Class| Summary {
            owner: owner.clone(),
            name: class.name.clone(),
            sums: groups[*group]
                .get()
                .and_then(|group| group.row(class))
                .map_or_else(S::default, |row| sums(&clock, class.kind, row)),
        };
        let count = wanted.len() * classes.len();
        Ok(Box::new((0..count).map(move |i| {
            of(&wanted[i / classes.len()], &classes[i % classes.len()])
        })))
    }

    /// The classes of a family that match a filter on EVENT_NAME.
    fn listed(&self, host: &Host, family: Family, filter: &Filter) -> Vec<Class> {
        let name = filter.text("EVENT_NAME");
        let classes = self.classes(host).iter();
        classes
            .filter(|c| family.has(c.kind) && name.admits_name(&c.name))
            .cloned()
            .collect()
    }

    /// events_waits_summary_*_by_event_name.
    pub fn wait_summary(&self, by: By, filter: &Filter) -> RowsResult<Summary<Stat>> {
        self.summary(by, filter, Family::Wait, waits)
    }

    /// events_stages_summary_*_by_event_name.
    pub fn stage_summary(&self, by: By, filter: &Filter) -> RowsResult<Summary<Stat>> {
        self.summary(by, filter, Family::Stage, waits)
    }

    /// events_statements_summary_*_by_event_name.
    pub fn statement_summary(
        &self,
        by: By,
        filter: &Filter,
    ) -> RowsResult<Summary<statement::Sums>> {
        self.summary(by, filter, Family::Statement, statement_sums)
    }

    /// events_transactions_summary_*_by_event_name.
    pub fn transaction_summary(
        &self,
        by: By,
        filter: &Filter,
    ) -> RowsResult<Summary<transaction::Sums>> {
        self.summary(by, filter, Family::Transaction, transaction)
    }

    /// Operations of all classes of a kind.
    fn operations(&self, filter: &Filter, kind: Kind) -> Vec<(Arc<str>, Io)> {
        let Some(host) = &self.host else {
            return Vec::new();
        };
        let group = self.global_group(host, Family::Wait);
        let listed = self.listed(host, Family::Wait, filter).into_iter();
        listed
            .filter(|class| class.kind == kind)
            .map(|class| {
                let row = group.row(&class);
                let io = row.map_or_else(Io::default, |row| file_io(&host.clock, row));
                (class.name, io)
            })
            .collect()
    }

    /// file_summary_by_event_name.
    pub fn file_summary(&self, filter: &Filter) -> RowsResult<FileIo> {
        let row = |(name, io)| FileIo {
            path: "".into(),
            name,
            object_instance_begin: 0,
            io,
        };
        let rows = self.operations(filter, Kind::File).into_iter().map(row);
        Ok(Box::new(rows))
    }

    /// socket_summary_by_event_name.
    pub fn socket_summary(&self, filter: &Filter) -> RowsResult<SocketIo> {
        let row = |(name, io)| SocketIo {
            name,
            object_instance_begin: 0,
            io,
        };
        let rows = self.operations(filter, Kind::Socket).into_iter().map(row);
        Ok(Box::new(rows))
    }

    /// memory_summary_*_by_event_name.
    pub fn memory(&self, by: By, filter: &Filter) -> RowsResult<Summary<Memory>> {
        self.summary(by, filter, Family::Memory, memory_sums)
    }

    /// tare.contention_by_event_name.
    pub fn contention(&self, filter: &Filter) -> RowsResult<Contention> {
        let Some(host) = &self.host else {
            return none();
        };
        let (clock, group) = (&host.clock, self.global_group(host, Family::Wait));
        let histograms = self.histograms_of(host);
        let name = filter.text("event_name");
        let classes = self.classes(host).iter();
        let rows: Vec<Contention> = classes
            .filter(|c| c.kind.is_lock() && name.admits_name(&c.name))
            .map(|class| {
                let line = group.row(class).map_or(EMPTY_TIME_LINE, |row| row[0]);
                let buckets = histograms.get(class.id).and_then(Option::as_ref);
                let at = |share| Some(clock.ps(buckets?.quantile(share)?.min(line[MAX])));
                let percentiles = [at(0.5), at(0.95), at(0.99)];
                Contention {
                    name: class.name.clone(),
                    count: line[COUNT],
                    contended: line[CONTENDED],
                    sum: clock.ps(line[SUM]),
                    max: clock.ps(line[MAX]),
                    percentiles: match percentiles {
                        [Some(a), Some(b), Some(c)] => Some([a, b, c]),
                        _ => None,
                    },
                }
            })
            .collect();
        Ok(Box::new(rows.into_iter()))
    }

    pub(super) fn histograms_of(&self, host: &Host) -> &super::Histograms {
        self.histograms.get_or_init(|| {
            let timed = |kind: Kind| kind.event_type().is_some();
            host.banks()
                .histograms(&Selection::new(self.classes(host), timed))
        })
    }

    /// tare.histogram_by_event_name.
    pub fn histograms(&self, filter: &Filter) -> RowsResult<HistogramBucket> {
        let Some(host) = &self.host else {
            return none();
        };
        let (clock, all) = (host.clock, self.histograms_of(host));
        let name = filter.text("event_name");
        let mut rows = Vec::new();
        for class in self
            .classes(host)
            .iter()
            .filter(|c| name.admits_name(&c.name))
        {
            let Some(buckets) = all.get(class.id).and_then(Option::as_ref) else {
                continue;
            };
            let total = buckets.total();
            let mut cumulative = 0;
            for (i, count) in buckets.counts.iter().enumerate().filter(|(_, n)| **n != 0) {
                cumulative += count;
                rows.push(HistogramBucket {
                    name: class.name.clone(),
                    number: i as u64,
                    low: clock.ps(bucket_low(i)),
                    high: clock.ps(bucket_high(i)),
                    count: *count,
                    quantile: cumulative as f64 / total as f64,
                });
            }
        }
        Ok(Box::new(rows.into_iter()))
    }
}

/// A file row: read, write, miscellaneous.
pub(super) fn file_io(clock: &Clock, row: &[Cells]) -> Io {
    let part = |i: usize| stat(clock, Kind::File, &row[i]);
    Io {
        all: stat(clock, Kind::File, &sum_lines(Kind::File, row)),
        read: part(0),
        bytes_read: row[0][EXTRA] as i64,
        write: part(1),
        bytes_written: row[1][EXTRA] as i64,
        misc: part(2),
    }
}

fn memory_sums(_: &Clock, _: Kind, row: &[Cells]) -> Memory {
    use memory as at;
    let [high, low] = [row[0], row[1]];
    // Below zero after frees of memory that was allocated while the instrument was off, or by another thread: MySQL
    // counts neither.
    let balance = |alloc: usize, free: usize| (high[alloc].wrapping_sub(high[free]) as i64).max(0);
    let count = balance(at::ALLOC_COUNT, at::FREE_COUNT);
    let bytes = balance(at::ALLOC_BYTES, at::FREE_BYTES);
    // Marks of single banks add up to bounds, as MySQL's of single threads do: memory freed by
    // another thread than allocated it counts in the high of one bank and in the low of the other.
    Memory {
        count_alloc: high[at::ALLOC_COUNT],
        count_free: high[at::FREE_COUNT],
        bytes_alloc: high[at::ALLOC_BYTES],
        bytes_free: high[at::FREE_BYTES],
        low_count: (low[at::LOW_COUNT] as i64).max(0).min(count),
        count,
        high_count: (high[at::HIGH_COUNT] as i64).max(count),
        low_bytes: (low[at::LOW_BYTES] as i64).max(0).min(bytes),
        bytes,
        high_bytes: (high[at::HIGH_BYTES] as i64).max(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_but_thread_has_one_family() {
        let of = |kind| {
            [
                Family::Wait,
                Family::Stage,
                Family::Statement,
                Family::Transaction,
                Family::Memory,
                Family::Error,
            ]
            .into_iter()
            .filter(|f| f.has(kind))
            .count()
        };
        for kind in tare_layout::class::KINDS {
            let expected = usize::from(kind != Kind::Thread);
            assert_eq!(of(kind), expected, "{kind:?}");
        }
    }
}
