//! The tables that every event type has, listed once: its events, and their sums by owner. The columns of a count
//! and its times.

/// The statics CURRENT, HISTORY and HISTORY_LONG of an event type.
macro_rules! events {
    (
        $row:ty, $plural:literal, $one:literal, $columns:expr,
        $rows:ident, $truncate:ident
    ) => {
        static CURRENT: Spec<$row> = Spec::new(
            "performance_schema",
            concat!("events_", $plural, "_current"),
            concat!(
                "The current ",
                $one,
                " of each thread, or its most recent one."
            ),
            $columns,
            |view, filter| view.snapshot.$rows(Which::Current, filter),
        )
        .keys(EVENT_KEYS)
        .filters(&["THREAD_ID"])
        .expect(500)
        .truncate(|view| view.snapshot.$truncate(Which::Current));

        static HISTORY: Spec<$row> = Spec::new(
            "performance_schema",
            concat!("events_", $plural, "_history"),
            concat!("The most recent ", $plural, " of each thread."),
            $columns,
            |view, filter| view.snapshot.$rows(Which::History, filter),
        )
        .keys(EVENT_KEYS)
        .filters(&["THREAD_ID"])
        .expect(5000)
        .truncate(|view| view.snapshot.$truncate(Which::History));

        static HISTORY_LONG: Spec<$row> = Spec::new(
            "performance_schema",
            concat!("events_", $plural, "_history_long"),
            concat!("The most recent ", $plural, " of all threads."),
            $columns,
            |view, filter| view.snapshot.$rows(Which::HistoryLong, filter),
        )
        .filters(&["THREAD_ID"])
        .expect(10_000)
        .truncate(|view| view.snapshot.$truncate(Which::HistoryLong));
    };
}

/// The statics GLOBAL, THREAD, ACCOUNT, USER and HOST of a summary. `$of` are the columns of
/// the event and its sums; `$each` is about how many rows an owner has; `$names` are
/// MariaDB's types of USER and HOST.
macro_rules! summaries {
    (
        $row:ty, $prefix:literal, $suffix:literal, $what:literal,
        [$($of:expr),*], $key:literal, $each:literal, $names:ident, $rows:ident, $truncate:ident
        $(, $only:ident)?
    ) => {
        static GLOBAL: Spec<$row> = Spec::new(
            "performance_schema",
            concat!($prefix, "_summary_global_by_", $suffix),
            concat!($what, " of all threads."),
            &[$($of),*],
            |view, filter| view.snapshot.$rows(By::Global, filter),
        )
        .keys(&[Key::of_summary(&[$key])])
        .filters(&[$key])
        .expect($each)
        .truncate(|view| view.snapshot.$truncate(By::Global))
        $(.$only())?;

        static THREAD: Spec<$row> = Spec::new(
            "performance_schema",
            concat!($prefix, "_summary_by_thread_by_", $suffix),
            concat!($what, " of each thread."),
            &[&by_thread(), $($of),*],
            |view, filter| view.snapshot.$rows(By::Thread, filter),
        )
        .keys(&[Key::of_summary(&["THREAD_ID", $key])])
        .filters(&["THREAD_ID", $key])
        .expect(500 * $each)
        .truncate(|view| view.snapshot.$truncate(By::Thread))
        $(.$only())?;

        static ACCOUNT: Spec<$row> = Spec::new(
            "performance_schema",
            concat!($prefix, "_summary_by_account_by_", $suffix),
            concat!($what, " of each account."),
            &[&by_user($names), &by_host($names), $($of),*],
            |view, filter| view.snapshot.$rows(By::Account, filter),
        )
        .keys(&[Key::Unique("ACCOUNT", &["USER", "HOST", $key])])
        .filters(&[$key])
        .expect(50 * $each)
        .truncate(|view| view.snapshot.$truncate(By::Account))
        $(.$only())?;

        static USER: Spec<$row> = Spec::new(
            "performance_schema",
            concat!($prefix, "_summary_by_user_by_", $suffix),
            concat!($what, " of each user."),
            &[&by_user($names), $($of),*],
            |view, filter| view.snapshot.$rows(By::User, filter),
        )
        .keys(&[Key::Unique("USER", &["USER", $key])])
        .filters(&[$key])
        .expect(20 * $each)
        .truncate(|view| view.snapshot.$truncate(By::User))
        $(.$only())?;

        static HOST: Spec<$row> = Spec::new(
            "performance_schema",
            concat!($prefix, "_summary_by_host_by_", $suffix),
            concat!($what, " of each host."),
            &[&by_host($names), $($of),*],
            |view, filter| view.snapshot.$rows(By::Host, filter),
        )
        .keys(&[Key::Unique("HOST", &["HOST", $key])])
        .filters(&[$key])
        .expect(20 * $each)
        .truncate(|view| view.snapshot.$truncate(By::Host))
        $(.$only())?;
    };
}

/// The columns of a [`Stat`](super::event::Stat): `$count`, and SUM_ to MAX_ of `$times`. `$stat` is
/// where `$r`, a row, has it; `$more` is a further column.
#[rustfmt::skip] // One column, one line.
macro_rules! stats {
    ($count:expr, $times:expr, $doc:expr, $r:ident => $stat:expr $(, $more:expr)?) => {
        [
            col($count, U64, $doc, |$r| $stat.count.into()),
            col(concat!("SUM_", $times), U64, "Their total time, in picoseconds.", |$r| $stat.sum.into()),
            col(concat!("MIN_", $times), U64, "The shortest time.", |$r| $stat.min.into()),
            col(concat!("AVG_", $times), U64, "The average time.", |$r| $stat.avg().into()),
            col(concat!("MAX_", $times), U64, "The longest time.", |$r| $stat.max.into()),
            $($more,)?
        ]
    };
}

pub(super) use {events, stats, summaries};
