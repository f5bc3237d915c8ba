//! Readers read what threads count in metrics, whichever side switches them.

mod support;

use tare_reader::metrics::{Action, Metric, Type};
use tare_reader::{Segment, metrics};

tare::metrics! {
    /// A counter that is enabled.
    static EVENTS: Counter = "test_events", "test", enabled;
    /// A counter that is not enabled.
    static QUIET: Counter = "test_quiet", "test";
    /// How much there is.
    static AMOUNT: Value = "test_amount", "test", enabled;
    /// A metric of another module.
    static OTHER: StatusCounter = "other_things", "other", enabled;
    /// Pages of all batches.
    static PAGES: SetOwner = "batch_total_pages", "batch", enabled;
    /// Batches.
    static BATCHES: SetMember = "batch_count", "batch", enabled;
    /// Pages of a batch.
    static PER_BATCH: SetMember = "batch_pages", "batch", enabled;
}

fn named(segment: &Segment, name: &str) -> Metric {
    let all = metrics(segment.view());
    let mut matches = all.into_iter().filter(|m| m.name == name);
    let one = matches.next().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(matches.next(), None);
    one
}

#[test]
fn metrics_count_while_they_are_enabled() {
    let running = support::Running::new();
    let segment = &running.segment;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..1000 {
                    EVENTS.add(1);
                    QUIET.add(1);
                }
                OTHER.add(5);
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("counts");
    }
    let events = named(segment, "test_events");
    assert_eq!((events.ever.count, events.ever.max), (4000, Some(4000)));
    assert_eq!((events.kind, events.enabled), (Type::Counter, true));
    assert_eq!(
        (events.subsystem.as_str(), events.documentation.as_str()),
        ("test", "A counter that is enabled.")
    );
    assert!(events.enabled_s.is_some() && events.reset_s.is_none());
    let quiet = named(segment, "test_quiet");
    assert_eq!(
        (quiet.ever.count, quiet.ever.max, quiet.enabled),
        (0, None, false)
    );
    assert_eq!(named(segment, "other_things").ever.count, 20);

    // A reader switches a metric, and the host follows at once.
    assert_eq!(
        segment
            .act_on_metrics("module_test", Action::Enable)
            .expect("live"),
        (3, 3)
    );
    QUIET.add(7);
    assert_eq!(named(segment, "test_quiet").ever.count, 7);
    assert_eq!(
        segment
            .act_on_metrics("TEST_%", Action::Disable)
            .expect("live"),
        (3, 3)
    );
    assert!(!EVENTS.is_enabled());
    EVENTS.add(1);
    assert_eq!(named(segment, "test_events").ever.count, 4000);
    assert!(named(segment, "test_events").disabled_s.is_some());
    assert_eq!(
        segment
            .act_on_metrics("nothing", Action::Enable)
            .expect("live"),
        (0, 0)
    );

    // The host switches it, too.
    assert_eq!(tare::metrics::enable("test_events"), 1);
    EVENTS.add(2);
    assert_eq!(tare::metrics::reset("test_events"), 1);
    EVENTS.add(3);
    let events = named(segment, "test_events");
    assert_eq!((events.ever.count, events.since_reset.count), (4005, 3));
    assert!(events.reset_s.is_some());
    assert_eq!(tare::metrics::reset_all("test_events"), 0, "it is enabled");
    tare::metrics::disable("test_events");
    assert_eq!(tare::metrics::reset_all("test_events"), 1);
    let events = named(segment, "test_events");
    assert_eq!((events.ever.count, events.since_reset.count), (0, 0));
    assert_eq!((events.enabled_s, events.reset_s), (None, None));
    tare::metrics::enable("test_events");
    EVENTS.add(1);
    assert_eq!(named(segment, "test_events").ever.count, 1);

    // Values have extremes; the newest one is current.
    assert_eq!(tare::metrics::enable("test_amount"), 1);
    for amount in [3, -9, 4] {
        AMOUNT.set(amount);
    }
    let amount = named(segment, "test_amount");
    let figures = |f: tare_reader::metrics::Figures| (f.count, f.max, f.min);
    assert_eq!(figures(amount.ever), (4, Some(4), Some(-9)));
    tare::metrics::reset("test_amount");
    assert_eq!(
        figures(named(segment, "test_amount").since_reset),
        (4, None, None)
    );
    AMOUNT.set(2);
    assert_eq!(
        figures(named(segment, "test_amount").since_reset),
        (2, Some(2), Some(2))
    );

    // The set has its owner, the number of its values, and the last value.
    tare::metrics::add_to_set(&PAGES, &BATCHES, &PER_BATCH, 10);
    tare::metrics::add_to_set(&PAGES, &BATCHES, &PER_BATCH, 30);
    assert_eq!(named(segment, "batch_total_pages").ever.count, 40);
    assert_eq!(named(segment, "batch_count").ever.count, 2);
    let pages = named(segment, "batch_pages").ever;
    assert_eq!(
        (pages.count, pages.max, pages.min),
        (30, Some(30), Some(10))
    );

    assert_eq!(tare::metrics::disable("all"), metrics(segment.view()).len());
    tare::stop();
    assert!(
        segment.act_on_metrics("all", Action::Enable).is_err(),
        "the writer has ended"
    );
}
