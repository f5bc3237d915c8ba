//! events_statements_summary_by_digest, events_statements_histogram_*.

use std::sync::Arc;

use super::event::*;
use super::statements::sums;
use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, U64, col, null};
use crate::record::digest::Digest;

#[rustfmt::skip] // One column, one line.
const HEAD: &[Column<Digest>] = &[
    null("SCHEMA_NAME", "varchar(64)", "The default database when the statement ran.", |r| Cell::opt(r.schema.as_deref())),
    null("DIGEST", "varchar(64)", "Its SHA-256; NULL beyond the table's limit.", |r: &Digest| Cell::opt(r.digest.as_deref())).mysql_only(),
    null("DIGEST", SHORT, SHORT_DIGEST, |r: &Digest| Cell::opt(r.digest.as_deref().map(short))).mariadb_only(),
    null("DIGEST_TEXT", "longtext", "The normalized statement.", |r| Cell::opt(r.text.as_deref())),
];

#[rustfmt::skip] // One column, one line.
const TAIL: &[Column<Digest>] = &[
    col("FIRST_SEEN", "timestamp(6)", "When such a statement first ran.", |r: &Digest| timestamp(r.first_seen_us)).mysql_only(),
    col("FIRST_SEEN", "timestamp", "When such a statement first ran.", |r: &Digest| seconds(r.first_seen_us)).mariadb_only(),
    col("LAST_SEEN", "timestamp(6)", "When such a statement last ran.", |r: &Digest| timestamp(r.last_seen_us)).mysql_only(),
    col("LAST_SEEN", "timestamp", "When such a statement last ran.", |r: &Digest| seconds(r.last_seen_us)).mariadb_only(),
];

/// Columns that MariaDB does not have.
#[rustfmt::skip] // One column, one line.
const MYSQLS: &[Column<Digest>] = &[
    col("QUANTILE_95", U64, "The 95th percentile of their time, in picoseconds.", |r: &Digest| r.quantiles[0].into()).mysql_only(),
    col("QUANTILE_99", U64, "The 99th percentile of their time, in picoseconds.", |r: &Digest| r.quantiles[1].into()).mysql_only(),
    col("QUANTILE_999", U64, "The 99.9th percentile of their time, in picoseconds.", |r: &Digest| r.quantiles[2].into()).mysql_only(),
    null("QUERY_SAMPLE_TEXT", "longtext", "A sample with its literals.", |r: &Digest| Cell::opt(r.sample_text.as_deref())).mysql_only(),
    col("QUERY_SAMPLE_SEEN", "timestamp(6)", "When the sample statement ran.", |r: &Digest| timestamp(r.sample_at_us)).mysql_only(),
    col("QUERY_SAMPLE_TIMER_WAIT", U64, "Its time, in picoseconds.", |r: &Digest| r.sample_timer_wait.into()).mysql_only(),
];

/// MariaDB's type of a digest, which is an MD5 there.
pub const SHORT: &str = "varchar(32)";
/// The description of a column of type [`SHORT`].
pub const SHORT_DIGEST: &str = "The first half of the SHA-256 of the normalized statement.";

/// The part of a digest that fits into [`SHORT`].
pub fn short(digest: &str) -> &str {
    digest.get(..32).unwrap_or(digest)
}

fn timestamp(us: u64) -> Cell<'static> {
    crate::time::timestamp(us).into()
}

/// The same without a fraction.
fn seconds(us: u64) -> Cell<'static> {
    crate::time::timestamp_of_seconds(us).into()
}

static DIGESTS: Spec<Digest> = Spec::new(
    "performance_schema",
    "events_statements_summary_by_digest",
    "Statements by normalized text and schema.",
    &[HEAD, &timing(), &sums(), TAIL, MYSQLS],
    |view, _| view.snapshot.digests(),
)
.keys(&[Key::Unique("SCHEMA_NAME", &["SCHEMA_NAME", "DIGEST"])])
.truncate(|view| view.snapshot.truncate_digests());

/// A bucket of a histogram.
#[derive(Debug, Clone, Default)]
pub struct Bucket {
    /// SCHEMA_NAME.
    pub schema: Option<Arc<str>>,
    /// DIGEST.
    pub digest: Option<Arc<str>>,
    /// BUCKET_NUMBER.
    pub number: u64,
    /// BUCKET_TIMER_LOW.
    pub low: u64,
    /// BUCKET_TIMER_HIGH.
    pub high: u64,
    /// COUNT_BUCKET.
    pub count: u64,
    /// COUNT_BUCKET_AND_LOWER.
    pub lower: u64,
    /// BUCKET_QUANTILE.
    pub quantile: f64,
}

#[rustfmt::skip] // One column, one line.
const OF_DIGEST: &[Column<Bucket>] = &[
    null("SCHEMA_NAME", "varchar(64)", "The default database when the statement ran.", |r| Cell::opt(r.schema.as_deref())),
    null("DIGEST", "varchar(64)", "The statement's digest; NULL for digests beyond the table's limit.", |r| Cell::opt(r.digest.as_deref())),
];

#[rustfmt::skip] // One column, one line.
const BUCKET: &[Column<Bucket>] = &[
    col("BUCKET_NUMBER", "int(10) unsigned", "The bucket's number, from 0.", |r| r.number.into()),
    col("BUCKET_TIMER_LOW", U64, "The lower bound of the bucket, in picoseconds.", |r| r.low.into()),
    col("BUCKET_TIMER_HIGH", U64, "The upper bound of the bucket, in picoseconds.", |r| r.high.into()),
    col("COUNT_BUCKET", U64, "Statements in this bucket.", |r| r.count.into()),
    col("COUNT_BUCKET_AND_LOWER", U64, "Statements in this bucket and all lower ones.", |r| r.lower.into()),
    col("BUCKET_QUANTILE", "double(7,6)", "The fraction of all statements that are in this bucket or a lower one.", |r| r.quantile.into()),
];

static BY_DIGEST: Spec<Bucket> = Spec::new(
    "performance_schema",
    "events_statements_histogram_by_digest",
    "A latency histogram of the statements of each digest.",
    &[OF_DIGEST, BUCKET],
    |view, _| view.snapshot.digest_histograms(),
)
.keys(&[Key::Unique(
    "SCHEMA_NAME",
    &["SCHEMA_NAME", "DIGEST", "BUCKET_NUMBER"],
)])
.expect(450 * 200)
.mysql_only()
.truncate(|view| view.snapshot.truncate_digest_histograms());

static GLOBAL: Spec<Bucket> = Spec::new(
    "performance_schema",
    "events_statements_histogram_global",
    "A latency histogram of all statements.",
    &[BUCKET],
    |view, _| view.snapshot.statement_histogram(),
)
.keys(&[Key::Primary(&["BUCKET_NUMBER"])])
.expect(450)
.mysql_only()
.truncate(|view| view.snapshot.truncate_statement_histogram());

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&DIGESTS, &BY_DIGEST, &GLOBAL];
