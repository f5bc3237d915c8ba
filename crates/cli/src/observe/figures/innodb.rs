//! The figures of InnoDB: the buffer pool, the log, purge and the adaptive hash index.

use super::list::{List, MIB, in_mib, rate, threshold};

const INNODB: &str = "InnoDB";

impl List<'_> {
    pub(super) fn add_buffer_pool(&mut self) {
        let of = self.readings;
        let page = of.value("Innodb_page_size");
        let total = of.value("Innodb_buffer_pool_pages_total");
        let free = of.value("Innodb_buffer_pool_pages_free");
        let mib = |pages: Option<f64>| Some(pages? * page? / MIB);
        let requests = of.value("Innodb_buffer_pool_read_requests");
        let reads = of.growth("Innodb_buffer_pool_reads");
        let grown = of.growth("Innodb_buffer_pool_read_requests").zip(reads);
        // Of the interval if there were requests, or else since the start.
        let pair = grown.filter(|(requests, _)| *requests > 0.0);
        let pair = pair.or_else(|| requests.zip(of.value("Innodb_buffer_pool_reads")));
        let pair = pair.filter(|(requests, _)| *requests > 0.0);
        let ratio = pair.map(|(requests, reads)| 100.0 * (1.0 - reads / requests).max(0.0));
        let is_full = free
            .zip(total)
            .is_some_and(|(free, total)| free < total * threshold::FREE_PAGES_SHARE);
        let advice = grown.filter(|(requests, reads)| {
            is_full
                && *reads >= threshold::DISK_READS_PER_S
                && *reads >= requests * threshold::DISK_READS_SHARE
        });
        let advice = advice.zip(of.setting("innodb_buffer_pool_size"));
        let advice = advice.map(|((requests, reads), size)| {
            format!(
                "innodb_buffer_pool_size is {}: {reads:.0} of {requests:.0} pages per second are read from disk",
                in_mib(size)
            )
        });
        self.gauge((INNODB, "buffer pool"), mib(total), "MiB", None);
        self.gauge((INNODB, "buffer pool hit ratio"), ratio, "%", advice);
        for (name, variable) in [
            ("buffer pool, data", "Innodb_buffer_pool_pages_data"),
            ("buffer pool, dirty", "Innodb_buffer_pool_pages_dirty"),
            ("buffer pool, free", "Innodb_buffer_pool_pages_free"),
        ] {
            self.gauge((INNODB, name), mib(of.value(variable)), "MiB", None);
        }
        self.total(
            (INNODB, "pages read"),
            "Innodb_buffer_pool_reads",
            ("", 1.0),
            None,
        );
        let waits = of
            .growth("Innodb_buffer_pool_wait_free")
            .filter(|waits| *waits > 0.0);
        let advice = waits
            .zip(of.setting("innodb_io_capacity"))
            .map(|(waits, capacity)| {
                format!(
                    "innodb_io_capacity is {capacity:.0}: {} waits per second for a free page",
                    rate(waits)
                )
            });
        self.total(
            (INNODB, "waits for a free page"),
            "Innodb_buffer_pool_wait_free",
            ("", 1.0),
            advice,
        );
    }

    pub(super) fn add_log(&mut self) {
        let of = self.readings;
        let checkpoint = of.checkpoint();
        let old =
            checkpoint.filter(|(age, capacity, _)| *age >= capacity * threshold::CHECKPOINT_SHARE);
        let advice = old.and_then(|(age, capacity, setting)| {
            Some(format!(
                "{setting} is {}: the checkpoint age is {} of at most {}",
                in_mib(of.setting(setting)?),
                in_mib(age),
                in_mib(capacity)
            ))
        });
        self.gauge(
            (INNODB, "checkpoint age"),
            checkpoint.map(|(age, ..)| age / MIB),
            "MiB",
            advice,
        );
        self.gauge(
            (INNODB, "checkpoint age, most"),
            checkpoint.map(|(_, most, _)| most / MIB),
            "MiB",
            None,
        );
        self.total((INNODB, "log writes"), "Innodb_log_writes", ("", 1.0), None);
        self.total(
            (INNODB, "log written"),
            "Innodb_os_log_written",
            ("MiB", MIB),
            None,
        );
        let waits = of.growth("Innodb_log_waits").filter(|waits| *waits > 0.0);
        let advice = waits
            .zip(of.setting("innodb_log_buffer_size"))
            .map(|(waits, size)| {
                format!(
                    "innodb_log_buffer_size is {}: {} waits per second for the log buffer",
                    in_mib(size),
                    rate(waits)
                )
            });
        self.total((INNODB, "log waits"), "Innodb_log_waits", ("", 1.0), advice);
    }

    pub(super) fn add_innodb(&mut self) {
        let of = self.readings;
        let length = of
            .value("Innodb_history_list_length")
            .or_else(|| of.value("trx_rseg_history_len"));
        let long = length.filter(|length| *length >= threshold::HISTORY_LIST);
        let advice = long.zip(of.setting("innodb_purge_threads")).map(|(length, threads)| {
            let oldest = of.status.transactions.first();
            let oldest = oldest.and_then(|oldest| Some((oldest.connection_id?, oldest.age_s?)));
            let oldest = oldest.map(|(connection, age)| {
                format!("; the oldest transaction is that of connection {connection}, for {age} s")
            });
            format!(
                "innodb_purge_threads is {threads:.0}: the history list has {length:.0} entries{}",
                oldest.unwrap_or_default()
            )
        });
        self.gauge((INNODB, "history list"), length, "", advice);
        if of
            .settings
            .get("innodb_adaptive_hash_index")
            .is_some_and(|value| value == "ON")
        {
            let of_mariadb = of.share(
                "Innodb_adaptive_hash_hash_searches",
                "Innodb_adaptive_hash_non_hash_searches",
            );
            let share = of_mariadb
                .or_else(|| of.share("adaptive_hash_searches", "adaptive_hash_searches_btree"));
            self.gauge((INNODB, "adaptive hash hit ratio"), share, "%", None);
        }
    }
}
