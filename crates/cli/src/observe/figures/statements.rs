//! The figures of statements: temporary tables and the binary log.

use super::list::{List, MIB, in_mib, rate, threshold};

const TEMPORARY: &str = "temporary tables";
const BINARY_LOG: &str = "binary log";

impl List<'_> {
    pub(super) fn add_temporary_tables(&mut self) {
        let of = self.readings;
        let grown = of
            .growth("Created_tmp_disk_tables")
            .zip(of.growth("Created_tmp_tables"));
        let many = grown.filter(|(disk, all)| {
            *disk >= threshold::DISK_TABLES_PER_S && *disk >= all * threshold::DISK_TABLES_SHARE
        });
        let advice = many
            .zip(of.setting("tmp_table_size"))
            .map(|((disk, all), size)| {
                format!(
                    "tmp_table_size is {}: {} of {} temporary tables per second are on disk",
                    in_mib(size),
                    rate(disk),
                    rate(all)
                )
            });
        self.total(
            (TEMPORARY, "created"),
            "Created_tmp_tables",
            ("", 1.0),
            None,
        );
        self.total(
            (TEMPORARY, "created on disk"),
            "Created_tmp_disk_tables",
            ("", 1.0),
            advice,
        );
        self.total((TEMPORARY, "files"), "Created_tmp_files", ("", 1.0), None);
    }

    pub(super) fn add_binary_log(&mut self) {
        let of = self.readings;
        let size = of.binary_log.map(|(_, bytes)| bytes / MIB);
        self.gauge((BINARY_LOG, "size"), size, "MiB", None);
        let files = of.binary_log.map(|(files, _)| files as f64);
        self.gauge((BINARY_LOG, "files"), files, "", None);
        let disk = of
            .growth("Binlog_cache_disk_use")
            .filter(|disk| *disk >= threshold::DISK_CACHES_PER_S);
        let grown = disk.zip(of.growth("Binlog_cache_use"));
        let advice = grown
            .zip(of.setting("binlog_cache_size"))
            .map(|((disk, all), size)| {
                format!(
                    "binlog_cache_size is {:.0} KiB: {} of {} transactions per second do not fit",
                    size / 1024.0,
                    rate(disk),
                    rate(all)
                )
            });
        self.total(
            (BINARY_LOG, "transactions"),
            "Binlog_cache_use",
            ("", 1.0),
            None,
        );
        self.total(
            (BINARY_LOG, "transactions in files"),
            "Binlog_cache_disk_use",
            ("", 1.0),
            advice,
        );
    }
}
