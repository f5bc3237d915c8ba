//! Sums over a segment's banks, independent of the reader's code: if both agree, they are likely correct.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use tare_layout::bank::line_of;
use tare_layout::class::{COUNTERS, counter_cell};
use tare_layout::line::{CONTENDED, COUNT, EXTRA, error, memory};
use tare_layout::{Kind, View};

/// The counts of a class, of all threads and operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub count: u64,
    /// For files.
    pub bytes: u64,
    /// For locks.
    pub contended: u64,
    /// For statements, by [`Counter`](tare_layout::class::Counter).
    pub counters: [u64; COUNTERS],
}

pub struct Totals {
    classes: BTreeMap<String, Counted>,
    pub live_threads: usize,
    pub lost: u64,
    /// user@host, sorted.
    pub accounts: Vec<String>,
    /// Texts, sorted.
    pub digests: Vec<String>,
}

fn text<const WORDS: usize>(name: &tare_layout::name::Name<WORDS>) -> String {
    let mut bytes = [0; 1024];
    String::from_utf8(name.get(&mut bytes).to_vec()).unwrap()
}

impl Totals {
    pub fn of(view: View<'_>) -> Self {
        let shared = view.shared();
        let mut classes = BTreeMap::new();
        // Number 0 is no class.
        for number in 1..shared.classes_used.0.load(Ordering::Acquire) as usize {
            let class = view.class(number);
            let kind = Kind::from_u8(class.kind.load(Ordering::Acquire) as u8).unwrap();
            let mut sum = Counted::default();
            for bank in 0..shared.banks_used.0.load(Ordering::Acquire) as usize {
                let first = line_of(view.class_index(bank)[number].load(Ordering::Acquire));
                if first == 0 {
                    continue;
                }
                if kind == Kind::Statement {
                    for (i, sum) in sum.counters.iter_mut().enumerate() {
                        let (line, cell) = counter_cell(i);
                        *sum += view.arena(bank)[first + line].get(cell);
                    }
                }
                for line in &view.arena(bank)[first..first + kind.row_lines()] {
                    match kind {
                        Kind::Memory => sum.count += line.get(memory::ALLOC_COUNT),
                        Kind::Error => sum.count += line.get(error::RAISED),
                        Kind::File => {
                            sum.count += line.get(COUNT);
                            sum.bytes += line.get(EXTRA);
                        }
                        Kind::Mutex | Kind::RwLock => {
                            sum.count += line.get(COUNT);
                            sum.contended += line.get(CONTENDED);
                        }
                        _ => sum.count += line.get(COUNT),
                    }
                    // After the first line, statements have counters, and memory its low marks.
                    if matches!(kind, Kind::Statement | Kind::Memory) {
                        break;
                    }
                }
            }
            assert!(
                classes.insert(text(&class.name), sum).is_none(),
                "a class is there twice"
            );
        }
        let slots = 0..shared.slots_used.0.load(Ordering::Acquire) as usize;
        let live = |slot: &usize| {
            view.slot(*slot).state.load(Ordering::Acquire) == tare_layout::slot::LIVE
        };
        Self {
            classes,
            live_threads: slots.filter(live).count(),
            lost: shared
                .lost
                .iter()
                .map(|lost| lost.load(Ordering::Relaxed))
                .sum(),
            accounts: accounts(view),
            digests: digests(view),
        }
    }

    #[track_caller]
    pub fn class(&self, name: &str) -> Counted {
        *self
            .classes
            .get(name)
            .unwrap_or_else(|| panic!("{name} is no class"))
    }
}

fn accounts(view: View<'_>) -> Vec<String> {
    let mut accounts: Vec<String> = (1..view.shared().accounts_used.0.load(Ordering::Acquire)
        as usize)
        .map(|number| {
            let account = view.account(number);
            let user = view.user(account.user.load(Ordering::Relaxed) as usize);
            let host = view.host(account.host.load(Ordering::Relaxed) as usize);
            format!("{}@{}", text(&user.name), text(&host.name))
        })
        .collect();
    accounts.sort();
    accounts
}

fn digests(view: View<'_>) -> Vec<String> {
    let used = view.shared().digests_used.0.load(Ordering::Acquire) as u32 as usize;
    let mut texts: Vec<String> = (1..used)
        .map(|number| {
            let mut bytes =
                vec![0; view.digest(number).text_length.load(Ordering::Relaxed) as usize];
            tare_layout::name::load_bytes(view.digest_text(number), &mut bytes);
            String::from_utf8(bytes).unwrap()
        })
        .collect();
    texts.sort();
    texts
}
