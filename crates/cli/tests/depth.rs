//! `tare sql` on statements that nest as deep as one likes, on a segment.

mod support;

use support::{Directory, finish_with_input, host};

#[test]
fn tare_sql_answers_or_refuses_what_nests_deep() {
    let directory = Directory::new("depth");
    let host = host::start(&directory);
    let pid = host.pid().to_string();
    for (start, before, inner, behind) in [
        ("SELECT 1", "", "", " UNION ALL SELECT 1"),
        ("SELECT 1", "", "", "+1"),
        ("SELECT 1", "", "", " AND 1"),
        ("SELECT 1", "", "", "||1"),
        ("SELECT ", "(", "1", ")"),
        ("SELECT ", "NOT ", "1", ""),
        ("SELECT ", "ABS(", "1", ")"),
        ("SELECT ", "(SELECT ", "1", ")"),
        ("SELECT ", "CASE WHEN ", "1", " THEN 1 END"),
    ] {
        for levels in [10, 1000, 1_000_000] {
            let statement = [start, &before.repeat(levels), inner, &behind.repeat(levels)].concat();
            let input = format!("{statement};\nSELECT 'alive';\n");
            let mut command = directory.tare(["sql", "--pid", &pid, "--force"]);
            let done = finish_with_input(&mut command, &input);
            let what = format!("{behind} of {levels}");
            assert!(done.code.is_some(), "{what}: a signal ended it");
            if levels == 10 {
                assert_eq!(done.code, Some(0), "{what}: {}", done.stderr);
            }
            if levels == 1_000_000 {
                assert!(done.stderr.contains("1436"), "{what}: {}", done.stderr);
            }
        }
    }
}
