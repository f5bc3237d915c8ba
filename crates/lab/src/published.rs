//! Published figures of other machines, with their sources.

/// One study.
pub struct Study {
    /// The name in a recipe's `reference`.
    pub name: &'static str,
    /// The author, the subject, the machine and the date.
    pub source: &'static str,
    /// Tables: a title, and tab-separated lines with the heading first.
    pub tables: &'static [(&'static str, &'static str)],
    /// The study's text.
    pub text: &'static str,
}

/// All studies; their tables are files of `published/`.
pub const ALL: &[Study] = &[
    Study {
        name: "overhead-tuning-2011",
        source: "Marc Alff, \"Performance schema, overhead tuning\" (2011): MySQL trunk revision 3195 and a tuned branch, sysbench OLTP \
                 read-only, 1 table of 1,000,000 rows, 8 CPUs (Xeon E5450), 300 s. From 64 connections on the source calls its figures \
                 unstable. Its row \"off, 4 connections\" prints 4634 TPS, a misprint (5.86 % under 2610 is 2457).",
        tables: &[
            (
                "Throughput and overhead",
                include_str!("../published/overhead-tuning-2011.tsv"),
            ),
            (
                "The machine's CPU without the schema",
                include_str!("../published/overhead-tuning-2011.cpu.tsv"),
            ),
            (
                "Events of one run: 8 connections, 300 s, 18,602,306 statements",
                include_str!("../published/overhead-tuning-2011.events.tsv"),
            ),
        ],
        text: "",
    },
    Study {
        name: "low-concurrency-2017",
        source: "Mark Callaghan, \"Impact of perf schema on sysbench at low concurrency\" (2017-06-19): i5 NUC, 4 tables of 1,000,000 rows in \
                 memory, binlog on without sync, client on the same machine, 1 client.",
        tables: &[(
            "Relative throughput",
            include_str!("../published/low-concurrency-2017.tsv"),
        )],
        text: "",
    },
    Study {
        name: "instruments-5.7.22",
        source: "LINE Engineering (tom__bo), \"Performance impact of MySQL performance-schema-instruments\": MySQL 5.7.22, oltp_read_write, 10 \
                 tables of 1,000,000 rows, 10 threads, 600 s, restart for each row.",
        tables: &[(
            "The nine rows",
            include_str!("../published/instruments-5.7.22.tsv"),
        )],
        text: "",
    },
    Study {
        name: "bug-70018",
        source: "MySQL bug 70018",
        tables: &[],
        text: include_str!("../published/bug-70018.txt"),
    },
    Study {
        name: "thread-pool-2009",
        source: "Tim Cook, April 2009",
        tables: &[],
        text: include_str!("../published/thread-pool-2009.txt"),
    },
    Study {
        name: "allocators-2008",
        source: "Tim Cook, December 2008",
        tables: &[],
        text: include_str!("../published/allocators-2008.txt"),
    },
    Study {
        name: "locks-2009",
        source: "Google SMP patch, April 2009",
        tables: &[],
        text: include_str!("../published/locks-2009.txt"),
    },
];

/// The study of this name.
pub fn find(name: &str) -> Option<&'static Study> {
    ALL.iter().find(|study| study.name == name)
}

impl Study {
    /// The tables: title and rows, the heading first.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, Vec<Vec<&'static str>>)> {
        self.tables.iter().map(|(title, data)| {
            (
                *title,
                data.lines()
                    .map(|line| line.split('\t').collect())
                    .collect(),
            )
        })
    }
}
