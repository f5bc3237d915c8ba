//! Writes the rows of one server to files.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tare_mysql::traceparent::TraceContext;
use tare_reader::scheduler::State;

use crate::batch::{Batch, Value};
use crate::blocks::{Block, Deadlock, DeadlockTransaction, HolderState, count_holders};
use crate::error::Error;
use crate::growth::{GrowthRow, IndexName, Text};
use crate::hour::{Hour, micros};
use crate::plan::Plan;
use crate::run::Run;
use crate::sample::Moment;
use crate::schema::{BLOCKS, DEADLOCKS, DIGESTS, GROWTH, INDEXES, MOMENTS, PLANS, SAMPLES};
use crate::status::{STATUS_TABLES, ServerStatus};

/// The most samples of a piece, which bounds the memory.
const MAX_SAMPLES: usize = 50_000;

/// The ids of a trace and of a span in it, as texts.
fn trace_ids(trace: Option<TraceContext>) -> [Option<String>; 2] {
    [
        trace.map(|trace| trace.trace_id_text()),
        trace.map(|trace| trace.span_id_text()),
    ]
}

/// Writes the samples and growth of one server.
pub struct Writer {
    server: String,
    run: Run,
    hour: Hour,
    moments: Batch,
    samples: Batch,
    grown: Batch,
    digests: Batch,
    blocks: Batch,
    deadlocks: Batch,
    plans: Batch,
    indexes: Batch,
    /// Of [`STATUS_TABLES`].
    status: [Batch; 4],
}

impl Writer {
    /// Creates the directory and recovers the pieces of killed recorders of this host. `now` is part of
    /// file names.
    ///
    /// # Errors
    /// [`Error`].
    pub fn start(root: &Path, host: &str, server: &str, now: SystemTime) -> Result<Self, Error> {
        Ok(Self {
            server: server.to_owned(),
            run: Run::start(root, host, now)?,
            hour: Hour::of(now),
            moments: Batch::new(&MOMENTS),
            samples: Batch::new(&SAMPLES),
            grown: Batch::new(&GROWTH),
            digests: Batch::new(&DIGESTS),
            blocks: Batch::new(&BLOCKS),
            deadlocks: Batch::new(&DEADLOCKS),
            plans: Batch::new(&PLANS),
            indexes: Batch::new(&INDEXES),
            status: STATUS_TABLES.map(Batch::new),
        })
    }

    /// Adds a moment, which represents so much time.
    ///
    /// # Errors
    /// [`Error`]: the disk is full, for instance.
    pub fn add_moment(&mut self, moment: &Moment, represented: Duration) -> Result<(), Error> {
        let hour = Hour::of(moment.at);
        if hour != self.hour || self.samples.rows() > MAX_SAMPLES {
            self.write()?;
            self.hour = hour;
        }
        let at = Value::Long(Some(micros(moment.at)));
        let server = Value::Text(Some(&self.server));
        let seconds = Value::Double(Some(represented.as_secs_f64()));
        let count = |n: Option<u64>| Value::Long(n.map(|n| n as i64));
        let active = Some(moment.samples.len() as u64);
        self.moments.push([
            at,
            server,
            seconds,
            count(moment.threads),
            count(active),
            count(moment.is_exact.map(u64::from)),
        ]);
        for sample in &moment.samples {
            let [trace_id, span_id] = trace_ids(sample.trace);
            self.samples.push([
                at,
                server,
                seconds,
                count(Some(sample.thread_id)),
                Value::Text(sample.thread.as_deref()),
                count(sample.connection_id),
                Value::Text(sample.user.as_deref()),
                Value::Text(sample.client.as_deref()),
                Value::Text(sample.schema.as_deref()),
                Value::Text(sample.command.as_deref()),
                Value::Text(sample.statement.as_deref()),
                count(sample.statement_id),
                count(sample.statement_ns),
                Value::Text(sample.digest.as_deref()),
                Value::Text(sample.text.as_deref()),
                Value::Text(sample.stage.as_deref()),
                Value::Text(sample.wait.as_deref()),
                Value::Text(sample.operation.as_deref()),
                Value::Text(sample.object_schema.as_deref()),
                Value::Text(sample.object.as_deref()),
                count(sample.wait_ns),
                count(sample.blocker),
                Value::Text(sample.state.map(State::name)),
                Value::Text(sample.system_call.as_deref()),
                count(sample.is_exact.map(u64::from)),
                count(sample.process_id),
                Value::Text(trace_id.as_deref()),
                Value::Text(span_id.as_deref()),
            ]);
        }
        Ok(())
    }

    /// Adds who waited for whom at a moment that was added before. They represent so many seconds.
    pub fn add_blocks(&mut self, blocks: &[Block], at: SystemTime, seconds: f64) {
        let at = Value::Long(Some(micros(at)));
        let server = Value::Text(Some(&self.server));
        let number = |n: Option<u64>| Value::Long(n.map(|n| n as i64));
        let holders = count_holders(blocks);
        for block in blocks {
            let waiter = &block.waiter;
            let holder = block.holder.as_ref();
            let party = holder.map(|holder| &holder.party);
            let [trace_id, span_id] = trace_ids(waiter.trace);
            let [of_holder, span_of_holder] = trace_ids(party.and_then(|party| party.trace));
            self.blocks.push([
                at,
                server,
                Value::Double(Some(seconds / holders[&waiter.thread_id])),
                Value::Text(Some(block.kind.name())),
                Value::Text(block.object_schema.as_deref()),
                Value::Text(block.object.as_deref()),
                Value::Text(block.index_name.as_deref()),
                Value::Text(block.lock_mode.as_deref()),
                number(block.wait_ns),
                number(Some(waiter.thread_id)),
                number(waiter.connection_id),
                Value::Text(waiter.user.as_deref()),
                Value::Text(waiter.client.as_deref()),
                Value::Text(waiter.digest.as_deref()),
                Value::Text(waiter.text.as_deref()),
                number(party.map(|party| party.thread_id)),
                number(party.and_then(|party| party.connection_id)),
                Value::Text(party.and_then(|party| party.user.as_deref())),
                Value::Text(party.and_then(|party| party.client.as_deref())),
                Value::Text(party.and_then(|party| party.digest.as_deref())),
                Value::Text(party.and_then(|party| party.text.as_deref())),
                Value::Text(holder.and_then(|holder| holder.lock_mode.as_deref())),
                Value::Text(holder.and_then(|holder| holder.state.map(HolderState::name))),
                number(holder.and_then(|holder| holder.state_ns)),
                number(holder.and_then(|holder| holder.transaction_ns)),
                Value::Text(trace_id.as_deref()),
                Value::Text(span_id.as_deref()),
                Value::Text(of_holder.as_deref()),
                Value::Text(span_of_holder.as_deref()),
            ]);
        }
    }

    /// Adds deadlocks that were read at a moment that was added before.
    pub fn add_deadlock(&mut self, deadlock: &Deadlock, at: SystemTime) {
        let at = Value::Long(Some(micros(at)));
        let server = Value::Text(Some(&self.server));
        let number = |n: Option<u64>| Value::Long(n.map(|n| n as i64));
        // Without its transactions it is a row that only counts.
        let unknown = [DeadlockTransaction::default()];
        let is_unknown = deadlock.transactions.is_empty();
        let transactions = match is_unknown {
            true => &unknown[..],
            false => &deadlock.transactions,
        };
        for (at_transaction, transaction) in (0..).zip(transactions) {
            let is_victim = u64::from(transaction.is_victim);
            self.deadlocks.push([
                at,
                server,
                number(Some(if at_transaction == 0 {
                    deadlock.count
                } else {
                    0
                })),
                Value::Text(deadlock.name.as_deref()),
                number((!is_unknown).then_some(at_transaction + 1)),
                number((!is_unknown).then_some(is_victim)),
                number(transaction.transaction_id),
                number(transaction.transaction_ns),
                number(transaction.connection_id),
                Value::Text(transaction.user.as_deref()),
                Value::Text(transaction.client.as_deref()),
                Value::Text(transaction.digest.as_deref()),
                Value::Text(transaction.text.as_deref()),
                Value::Text(transaction.object_schema.as_deref()),
                Value::Text(transaction.object.as_deref()),
                Value::Text(transaction.index_name.as_deref()),
                Value::Text(transaction.lock_mode.as_deref()),
            ]);
        }
    }

    /// Adds the status of the server that was read at a moment that was added before.
    pub fn add_status(&mut self, status: &ServerStatus, at: SystemTime) {
        let begin = [
            Value::Long(Some(micros(at))),
            Value::Text(Some(&self.server)),
        ];
        for (batch, rows) in self.status.iter_mut().zip(status.rows()) {
            for row in rows {
                batch.push(begin.into_iter().chain(row));
            }
        }
    }

    /// Adds the growth of so many seconds, in which all events were counted or not, and texts of digests.
    pub fn add_growth(
        &mut self,
        grown: &[GrowthRow],
        texts: &[Text],
        now: SystemTime,
        (seconds, is_exact): (f64, Option<bool>),
    ) {
        let at = Value::Long(Some(micros(now)));
        let server = Value::Text(Some(&self.server));
        for row in grown {
            let sum = |i: usize| Value::Long(row.sums[i].map(|n| n as i64));
            let ns = |i: usize| Value::Long(row.sums[i].map(|ps| (ps / 1000) as i64));
            self.grown.push([
                at,
                server,
                Value::Double(Some(seconds)),
                Value::Text(Some(row.kind)),
                Value::Text(row.schema.as_deref()),
                Value::Text(Some(&row.name)),
                sum(0),
                ns(1),
                ns(2),
                sum(3),
                sum(4),
                sum(5),
                sum(6),
                sum(7),
                sum(8),
                sum(9),
                Value::Long(row.value),
                Value::Long(is_exact.map(i64::from)),
            ]);
        }
        for text in texts {
            self.digests.push([
                at,
                server,
                Value::Text(text.schema.as_deref()),
                Value::Text(Some(&text.digest)),
                Value::Text(Some(&text.text)),
            ]);
        }
    }

    /// Adds a plan.
    pub fn add_plan(&mut self, plan: &Plan) {
        let (full_scans, indexes) = (plan.full_scans.join(", "), plan.indexes.join(", "));
        // Without a plan it is not known what it reads.
        let of_plan = |text| Value::Text(plan.plan.as_ref().map(|_| text));
        self.plans.push([
            Value::Long(Some(micros(plan.at))),
            Value::Text(Some(&self.server)),
            Value::Text(plan.schema.as_deref()),
            Value::Text(Some(&plan.digest)),
            Value::Text(Some(plan.reason.name())),
            Value::Text(plan.example.as_deref()),
            Value::Text(plan.problem.as_deref()),
            Value::Text(plan.plan.as_deref()),
            Value::Text(plan.shape.as_deref()),
            of_plan(&full_scans),
            of_plan(&indexes),
        ]);
    }

    /// Adds indexes that the server has.
    pub fn add_indexes(&mut self, indexes: &[IndexName], now: SystemTime) {
        for index in indexes {
            self.indexes.push([
                Value::Long(Some(micros(now))),
                Value::Text(Some(&self.server)),
                Value::Text(index.schema.as_deref()),
                Value::Text(Some(&index.table)),
                Value::Text(Some(&index.index)),
                Value::Text(Some(&index.name)),
            ]);
        }
    }

    /// Writes the rows as pieces, which survive a kill.
    ///
    /// # Errors
    /// [`Error`]; earlier pieces are complete and remain.
    pub fn write(&mut self) -> Result<(), Error> {
        let batches = [
            &mut self.moments,
            &mut self.samples,
            &mut self.grown,
            &mut self.digests,
            &mut self.blocks,
            &mut self.deadlocks,
            &mut self.plans,
            &mut self.indexes,
        ];
        for batch in batches.into_iter().chain(&mut self.status) {
            if batch.rows() > 0 {
                self.run.put(batch, self.hour)?;
                batch.clear();
            }
        }
        Ok(())
    }

    /// Joins pieces into files.
    ///
    /// # Errors
    /// [`Error`]: the pieces stay.
    pub fn settle(&self) -> Result<(), Error> {
        self.run.settle()
    }

    /// Joins all pieces and ends the run.
    ///
    /// # Errors
    /// [`Error`]: the pieces stay, for the next recorder.
    pub fn end(self) -> Result<(), Error> {
        self.run.end()
    }
}
