//! Statements and transactions.

use super::*;

#[test]
fn statements_record_text_digest_rows_and_errors() {
    let r = start(Config::everything());
    let work = |i: usize| {
        tare::thread::set_db("shop");
        for n in 0..5 {
            let statement = tare::statement::start(&QUERY);
            statement.text(&format!("SELECT c FROM t WHERE id = {}", i * 10 + n));
            statement.refine(&SELECT);
            tare::stage::set(&STAGE_ONE);
            tare::stage::progress(1, 3);
            tare::stage::set(&STAGE_TWO);
            statement.rows_sent(2);
            statement.rows_examined(7);
            statement.add(Counter::SelectScan, 1);
            if n == 4 {
                statement.error(1146, "42S02", "Table 'shop.t' doesn't exist");
            }
        }
    };
    with_threads(2, work, || {
        let global = "SELECT EVENT_NAME, COUNT_STAR, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_SELECT_SCAN, \
                      SUM_ERRORS, SUM_NO_INDEX_USED, MIN_TIMER_WAIT <= AVG_TIMER_WAIT, \
                      AVG_TIMER_WAIT <= MAX_TIMER_WAIT FROM \
                      performance_schema.events_statements_summary_global_by_event_name \
                      WHERE COUNT_STAR > 0";
        assert_eq!(r.rows(global), ["statement/sql/select 10 20 70 10 2 0 1 1"]);
        let history = "SELECT SQL_TEXT, CURRENT_SCHEMA, ROWS_SENT, MYSQL_ERRNO, RETURNED_SQLSTATE, MESSAGE_TEXT, \
                       DIGEST_TEXT FROM performance_schema.events_statements_history \
                       WHERE SQL_TEXT LIKE '%= 1_' ORDER BY EVENT_ID";
        let rows = r.rows(history);
        assert_eq!(rows.len(), 5);
        let digest = "SELECT `c` FROM `t` WHERE `id` = ?";
        assert_eq!(
            rows[0],
            format!("SELECT c FROM t WHERE id = 10 shop 2 0 00000 NULL {digest}")
        );
        assert_eq!(
            rows[4],
            format!(
                "SELECT c FROM t WHERE id = 14 shop 2 1146 42S02 Table 'shop.t' doesn't exist {digest}"
            )
        );
        let long = "SELECT COUNT(*), COUNT(SQL_TEXT), COUNT(DISTINCT DIGEST) FROM \
                    performance_schema.events_statements_history_long";
        assert_eq!(r.rows(long), ["10 10 1"]);
        let by_digest = "SELECT SCHEMA_NAME, LENGTH(DIGEST), DIGEST_TEXT, COUNT_STAR, SUM_ROWS_SENT, SUM_ERRORS, \
                         QUANTILE_95 <= QUANTILE_99, QUANTILE_95 >= 10000000, \
                         QUERY_SAMPLE_TEXT LIKE 'SELECT c FROM t WHERE id = %', \
                         FIRST_SEEN > '2026', LAST_SEEN >= FIRST_SEEN \
                         FROM performance_schema.events_statements_summary_by_digest";
        assert_eq!(
            r.rows(by_digest),
            [format!("shop 64 {digest} 10 20 2 1 1 1 1 1")]
        );
        let stages = "SELECT EVENT_NAME, COUNT_STAR FROM \
                      performance_schema.events_stages_summary_global_by_event_name WHERE COUNT_STAR > 0 \
                      ORDER BY 1";
        assert_eq!(r.rows(stages), ["stage/test/One 10", "stage/test/Two 10"]);
        let nested = "SELECT COUNT(*) FROM performance_schema.events_stages_history g \
                      JOIN performance_schema.events_statements_history s USING (THREAD_ID) \
                      WHERE g.NESTING_EVENT_ID = s.EVENT_ID AND g.NESTING_EVENT_TYPE = 'STATEMENT' \
                      AND g.TIMER_START >= s.TIMER_START AND g.TIMER_END <= s.TIMER_END \
                      AND g.EVENT_ID <= s.END_EVENT_ID";
        assert_eq!(r.number(nested), 20);
        let work = "SELECT DISTINCT WORK_COMPLETED, WORK_ESTIMATED FROM performance_schema.events_stages_history \
                    WHERE EVENT_NAME = 'stage/test/One'";
        assert_eq!(r.rows(work), ["1 3"]);
    });
}

#[test]
fn a_running_statement_is_in_current_and_threads() {
    let r = start(Config::everything());
    let (inside, leave) = (Barrier::new(2), Gate::default());
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            tare::thread::register(&WORKER);
            tare::thread::set_account("bob", "h2");
            tare::thread::set_processlist_id(7);
            tare::thread::set_db("shop");
            tare::thread::set_command(tare::Command::Query);
            tare::thread::set_connection_type(tare::thread::ConnectionType::TcpIp);
            let statement = tare::statement::start(&SELECT);
            statement.text("SELECT SLEEP(1)");
            tare::stage::set(&STAGE_ONE);
            inside.wait();
            leave.wait();
        });
        let opens = GateOpener(&leave);
        inside.wait();
        let threads = "SELECT NAME, TYPE, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_DB, \
                       PROCESSLIST_COMMAND, PROCESSLIST_STATE, PROCESSLIST_INFO, INSTRUMENTED, HISTORY, \
                       CONNECTION_TYPE, THREAD_OS_ID > 0 FROM performance_schema.threads WHERE PROCESSLIST_ID = 7";
        let expected =
            "thread/test/worker FOREGROUND bob h2 shop Query One SELECT SLEEP(1) YES YES TCP/IP 1";
        assert_eq!(r.rows(threads), [expected]);
        let current = "SELECT SQL_TEXT, END_EVENT_ID, TIMER_WAIT > 0, ABS(TIMER_WAIT - (TIMER_END - TIMER_START)) < 1000, MYSQL_ERRNO \
                       FROM performance_schema.events_statements_current WHERE END_EVENT_ID IS NULL";
        assert_eq!(r.rows(current), ["SELECT SLEEP(1) NULL 1 1 NULL"]);
        let list = "SELECT ID, USER, DB, COMMAND, INFO FROM information_schema.processlist";
        assert_eq!(r.rows(list), ["7 bob shop Query SELECT SLEEP(1)"]);
        let accounts = "SELECT USER, HOST, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM \
                        performance_schema.accounts WHERE USER IS NOT NULL";
        assert_eq!(r.rows(accounts), ["bob h2 1 1"]);
        drop(opens);
        thread.join().unwrap();
    });
    let users = "SELECT USER, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.users \
                 WHERE USER = 'bob'";
    assert_eq!(r.rows(users), ["bob 0 1"]);
    let hosts = "SELECT HOST, CURRENT_CONNECTIONS FROM performance_schema.hosts WHERE HOST = 'H2'";
    assert_eq!(r.rows(hosts), ["h2 0"]);
}

#[test]
fn transactions_count_by_mode_and_end() {
    use tare::transaction::{Mode, start as begin};
    let r = start(Config::everything());
    let work = |_: usize| {
        let write = begin(&TRX, Mode::default());
        write.savepoint();
        write.savepoint();
        write.rollback_to_savepoint();
        write.trx_id(77);
        write.commit();
        begin(
            &TRX,
            Mode {
                read_only: true,
                autocommit: true,
                ..Mode::default()
            },
        )
        .rollback();
    };
    with_threads(2, work, || {
        let summary = "SELECT COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY, \
                       ABS(SUM_TIMER_WAIT - SUM_TIMER_READ_WRITE - SUM_TIMER_READ_ONLY) < 1000 FROM \
                       performance_schema.events_transactions_summary_global_by_event_name";
        assert_eq!(r.rows(summary), ["4 2 2 1"]);
        let history = "SELECT DISTINCT STATE, TRX_ID, ACCESS_MODE, ISOLATION_LEVEL, AUTOCOMMIT, \
                       NUMBER_OF_SAVEPOINTS, NUMBER_OF_ROLLBACK_TO_SAVEPOINT FROM \
                       performance_schema.events_transactions_history ORDER BY 1";
        assert_eq!(
            r.rows(history),
            [
                "COMMITTED 77 READ WRITE REPEATABLE READ NO 2 1",
                "ROLLED BACK NULL READ ONLY REPEATABLE READ YES 0 0",
            ]
        );
    });
}
