//! Sessions, statements and stages, their names and their fields.

use std::fmt;
use std::sync::Arc;

use tare::{Config, Counter, Limits};
use tare_reader::events::{Events, Table};
use tare_reader::{Classes, Names, threads};
use tracing::{debug_span, error, info_span};

use crate::support::Running;

#[test]
fn a_connection_has_statements_and_these_have_stages() {
    let running = Running::new(tare_tracing::layer().sessions("connection").prefix("app"));
    let connection = info_span!(
        "connection",
        user = "alice",
        client = %"10.1.2.3:5000",
        db = "shop"
    );
    let request = info_span!(parent: &connection, "request", shape = "GET ?", text = "GET 42");
    {
        let _connection = connection.enter();
        let _request = request.enter();
        let parse = info_span!("parse").entered();
        error!(error = %"no such key", "cannot read");
        drop(parse);
        let _query = info_span!("query", sql = "SELECT * FROM t WHERE a = 42").entered();
        drop(info_span!("read").entered());
    }
    let view = running.view();
    let all = threads(view);
    let class = running.class("thread/app/connection");
    let thread = all
        .iter()
        .find(|thread| thread.class == class)
        .expect("it is open");
    assert!(thread.processlist_id > 0);
    // No thread is in it now.
    assert_eq!(thread.os_id, 0);
    let names = Names::read(view);
    let account = names.account(thread.account).expect("it has one");
    assert_eq!(account.user.as_deref(), Some("alice"));
    assert_eq!(account.host.as_deref(), Some("10.1.2.3"));
    assert_eq!(names.schema(thread.schema).as_deref(), Some("shop"));
    let open = Events::new(view, &all).statements(Table::Current);
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].text.as_deref(), Some("GET 42"));

    drop(request);
    let all = threads(view);
    let events = Events::new(view, &all);
    let mut statements = events.statements(Table::History);
    statements.sort_by_key(|statement| statement.head.id);
    let heads: Vec<_> = statements
        .iter()
        .map(|one| {
            (
                one.head.class,
                one.head.nesting.map(|(id, _)| id),
                one.head.level,
            )
        })
        .collect();
    let (request, query) = ("statement/app/request", "statement/app/query");
    let id = statements[0].head.id;
    assert_eq!(
        heads,
        [
            (running.class(request), None, 0),
            (running.class(query), Some(id), 1)
        ]
    );
    let message = statements[0].message.as_deref();
    assert_eq!(message, Some("cannot read: no such key"));
    assert_eq!(statements[0].errno, 1105);
    assert!(statements.iter().all(|one| one.head.thread == thread.id));
    assert_eq!(names.schema(statements[0].schema).as_deref(), Some("shop"));
    let mut stages = events.stages(Table::History);
    stages.sort_by_key(|stage| stage.head.id);
    let parents: Vec<_> = stages
        .iter()
        .map(|one| (one.head.class, one.head.nesting.map(|(id, _)| id)))
        .collect();
    let (parse, read) = ("stage/app/parse", "stage/app/read");
    assert_eq!(
        parents,
        [
            (running.class(parse), Some(id)),
            (running.class(read), Some(statements[1].head.id))
        ]
    );
    for name in [request, query, parse, read] {
        assert_eq!(running.count(name), 1, "{name}");
    }
    assert_eq!(running.counter(request, Counter::Errors), 1);
    assert_eq!(running.counter(query, Counter::Errors), 0);
    assert_eq!(
        running.digests(),
        [
            ("GET ?".into(), 1),
            ("SELECT * FROM `t` WHERE `a` = ?".into(), 1)
        ]
    );
    drop(connection);
    assert_eq!(running.live("thread/app/connection"), 0);
    assert_eq!(running.losses(), []);
}

#[test]
fn fields_may_be_recorded_late() {
    let running = Running::new(tare_tracing::layer().sessions("connection"));
    let connection = info_span!("connection", user = tracing::field::Empty);
    connection.record("user", "bob");
    let get = |shape: Option<&str>| {
        let request = info_span!(
            parent: &connection,
            "request",
            text = tracing::field::Empty,
            shape = tracing::field::Empty,
            other = tracing::field::Empty
        );
        request.record("other", 1);
        request.record("text", "get k1 k2");
        if let Some(shape) = shape {
            request.record("shape", shape);
        }
    };
    get(None);
    get(Some("get ?"));
    get(Some("get ?"));
    drop(info_span!(parent: &connection, "request", text = tracing::field::Empty));
    let all = threads(running.view());
    let names = Names::read(running.view());
    let users: Vec<_> = all
        .iter()
        .filter_map(|thread| names.account(thread.account)?.user.clone())
        .collect();
    assert_eq!(users, ["bob".into()]);
    let events = Events::new(running.view(), &all);
    let texts: Vec<_> = events
        .statements(Table::History)
        .into_iter()
        .filter_map(|statement| statement.text)
        .collect();
    assert_eq!(texts, ["get k1 k2"; 3].map(Arc::from));
    // SQL's digest of the text counts none, because the shape replaced it in two of the three.
    assert_eq!(
        running.digests(),
        [
            ("GET `k1` `k2`".into(), 1),
            ("get ?".into(), 2),
            ("request".into(), 1)
        ]
    );
    assert_eq!(running.losses(), []);
}

#[test]
fn a_statement_without_a_connection_has_a_session_of_the_pool() {
    let running = Running::new(tare_tracing::layer());
    for user in ["", "carol", "", "dave"] {
        let _request = match user {
            "" => info_span!("request"),
            user => info_span!("request", user, db = "shop"),
        }
        .entered();
        assert_eq!(running.live("thread/tracing/request"), 1);
        let names = Names::read(running.view());
        let all = threads(running.view());
        let class = running.class("thread/tracing/request");
        let thread = all
            .iter()
            .find(|thread| thread.class == class)
            .expect("live");
        let account = names.account(thread.account);
        let its = account.and_then(|account| account.user.as_deref());
        assert_eq!(its.unwrap_or_default(), user);
        let current = Events::new(running.view(), &all).statements(Table::Current);
        assert_eq!(current.len(), 1);
        let schema = names.schema(current[0].schema);
        assert_eq!(schema.is_some(), !user.is_empty());
        // The polling thread is in it.
        assert!(thread.os_id != 0);
    }
    assert_eq!(running.count("statement/tracing/request"), 4);
    assert_eq!(running.live("thread/tracing/request"), 1);
    assert_eq!(running.digests().iter().map(|(_, n)| n).sum::<u64>(), 4);
}

#[test]
fn levels_names_and_fields_are_options() {
    use tare_tracing::Attribute;
    let layer = tare_tracing::layer()
        .statements("job")
        .field("command", Attribute::Text)
        .field("text", Attribute::Shape)
        .level(tracing::Level::WARN);
    let running = Running::new(layer);
    {
        let _ignored = info_span!("ignored").entered();
        let _job = info_span!("job").entered();
        let _inner = debug_span!("job", command = "SELECT 1").entered();
        let _step = tracing::warn_span!("step").entered();
        drop(info_span!("ignored").entered());
        // In the statement around the ignored one.
        info_span!("ignored").in_scope(|| error!("fails"));
        drop(tracing::warn_span!("step", text = "SHOW ?"));
    }
    assert_eq!(running.count("statement/tracing/job"), 2);
    assert_eq!(running.count("stage/tracing/step"), 1);
    assert_eq!(running.count("statement/tracing/step"), 1);
    assert_eq!(running.counter("statement/tracing/job", Counter::Errors), 1);
    assert_eq!(running.find("stage/tracing/ignored"), None);
    let digests = running.digests();
    let texts: Vec<_> = digests.iter().map(|(text, _)| &**text).collect();
    assert_eq!(texts, ["SELECT ?", "SHOW ?", "job"]);
}

#[test]
fn spans_of_several_modules_may_have_the_same_name() {
    let running = Running::new(tare_tracing::layer().modules().statements("apply"));
    {
        let _request = info_span!(target: "server::handler", "run").entered();
        drop(info_span!(target: "server::cmd::get", "apply").entered());
        drop(info_span!(target: "server::cmd::set", "apply").entered());
        drop(info_span!(target: "main", "step").entered());
    }
    let classes = [
        "statement/tracing/get::apply",
        "statement/tracing/set::apply",
    ];
    for class in classes
        .into_iter()
        .chain(["statement/tracing/handler::run", "stage/tracing/main::step"])
    {
        assert_eq!(running.count(class), 1, "{class}");
    }
    let digests = ["get::apply", "handler::run", "set::apply"];
    assert_eq!(running.digests(), digests.map(|text| (text.to_string(), 1)));
}

#[test]
fn names_above_the_limit_count_as_other() {
    let mut running = Running::new(tare_tracing::layer().max_classes(4));
    macro_rules! spans {
        ($($name:literal),*) => { $( drop(info_span!($name)); )* };
    }
    let all = || {
        spans!("n1", "n2", "n3", "n4", "n5", "n1");
    };
    all();
    all();
    // One of the four classes is the sessions'.
    assert_eq!(running.count("statement/tracing/n1"), 4);
    assert_eq!(running.count("statement/tracing/n3"), 2);
    assert_eq!(running.find("statement/tracing/n4"), None);
    assert_eq!(running.count("statement/tracing/other"), 4);

    // The segment has no space, either.
    running.restart(Config::everything().limits(Limits::default().classes(16)));
    running.set_layer(tare_tracing::layer());
    let free = 16 - Classes::read(running.view()).len();
    spans!(
        "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13"
    );
    let own = (1..=13)
        .filter(|i| running.find(&format!("statement/tracing/m{i}")).is_some())
        .count();
    assert!(own < 13 && own <= free, "{own} of {free}");
    assert_eq!(running.count("statement/tracing/other"), 13 - own as u64);
}

/// A value whose text is written by code that is traced itself.
struct Traced;

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = info_span!("inner", text = ?Traced2);
        span.record("text", "late");
        span.in_scope(|| error!(error = "in a field"));
        f.write_str("SELECT 1")
    }
}

struct Traced2;

impl fmt::Debug for Traced2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        error!("deeper");
        f.write_str("SELECT 2")
    }
}

#[test]
fn code_of_fields_that_is_traced_itself_does_not_loop() {
    let running = Running::new(tare_tracing::layer());
    let request = info_span!("request", text = ?Traced);
    request.record("text", tracing::field::debug(Traced));
    request.in_scope(|| error!(error = ?Traced));
    drop(request);
    assert_eq!(running.count("statement/tracing/request"), 1);
    assert_eq!(
        running.counter("statement/tracing/request", Counter::Errors),
        1
    );
    // What they begin is not recorded.
    assert_eq!(running.find("statement/tracing/inner"), None);
    assert_eq!(running.digests(), [("SELECT ?".into(), 1)]);
}
