//! Recipes: shipped ones, invalid ones, and their matrices.

use std::collections::BTreeSet;

use tare_lab::recipe::{Recipe, shipped};

const LEAST: &str = "\
question = 'q'
baseline = 'off'
connections = [1, 2]
[run]
repetitions = 3
[[server]]
name = 's'
kind = 'tare'
[[configuration]]
name = 'off'
[[configuration]]
name = 'on'
options = ['--x']
[[workload]]
name = 'w'
script = 'oltp_read_only'
";

fn refused(text: &str) -> String {
    Recipe::parse("mine.toml", text)
        .expect_err("wrong")
        .to_string()
}

#[test]
fn each_shipped_recipe_is_right_in_both_forms() {
    for each in shipped::ALL {
        let recipe = Recipe::parse(each.name, each.text).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            recipe.baseline.is_some() && recipe.run.repetitions >= 4,
            "{}",
            each.name
        );
        let measured = |recipe: &Recipe| {
            recipe.run.measured() * recipe.run.repetitions * recipe.keys().len() as u32
        };
        let quick = recipe
            .clone()
            .quick()
            .unwrap_or_else(|error| panic!("{}: {error}", each.name));
        assert!(
            quick.run.repetitions >= 4,
            "{}: the quick form has intervals, too",
            each.name
        );
        assert!(
            measured(&quick) < measured(&recipe) / 4,
            "{}: quick is quicker",
            each.name
        );
        // The recipe in plan.json is the same.
        let json = serde_json::to_string(&recipe).expect("JSON");
        let read: Recipe = serde_json::from_str(&json).expect("its own JSON");
        assert_eq!(read.keys(), recipe.keys());
    }
}

#[test]
fn the_matrix_of_configs_is_that_of_the_study() {
    let recipe = Recipe::find("configs").expect("shipped");
    assert_eq!(
        recipe.connections,
        [1, 2, 4, 8, 12, 16, 32, 48, 64, 128, 256]
    );
    let names: BTreeSet<String> = recipe.keys().iter().map(|key| key.label()).collect();
    for name in [
        "not compiled in",
        "disabled",
        "off",
        "off again",
        "global counted",
        "global timed",
        "thread counted",
        "thread timed",
        "thread all-cycles",
    ] {
        assert!(names.contains(name), "no {name}");
    }
    let instruments = Recipe::find("instruments").expect("shipped");
    assert_eq!(instruments.configurations.len(), 9);
    let versions = Recipe::find("versions").expect("shipped");
    assert_eq!((versions.servers.len(), versions.workloads.len()), (7, 8));
}

#[test]
fn errors_name_the_line() {
    assert!(Recipe::parse("mine.toml", LEAST).is_ok());
    let unknown = refused(&LEAST.replace("repetitions = 3", "repetitons = 3"));
    assert!(
        unknown.contains("mine.toml")
            && unknown.contains("line 5")
            && unknown.contains("repetitons"),
        "{unknown}"
    );
    let wrong = refused(&LEAST.replace("[1, 2]", "['one']"));
    assert!(wrong.contains("line 3"), "{wrong}");
    for (from, to, words) in [
        ("baseline = 'off'", "baseline = 'none'", "there are off, on"),
        ("[1, 2]", "[1, 1]", "'1' is there twice"),
        ("[1, 2]", "[0]", "1 or more"),
        ("[1, 2]", "[]", "at least one"),
        ("repetitions = 3", "repetitions = 0", "1 or more"),
        ("name = 'on'", "name = 'off'", "'off' is there twice"),
        ("kind = 'tare'", "kind = 'mysql'", "version = '8.0'"),
        (
            "kind = 'tare'",
            "kind = 'mysql'\nversion = '4.1'",
            "there are 5.6, 5.7, 8.0, 9.7",
        ),
        (
            "kind = 'tare'",
            "kind = 'mariadb'\nversion = '10.0'",
            "there are 11.4, 11.8",
        ),
        (
            "kind = 'tare'",
            "kind = 'tare'\nversion = '8.0'",
            "is for kind = 'mysql' or 'mariadb'",
        ),
        (
            "kind = 'tare'",
            "kind = 'dsn'\ndsn = 'mysql://h'",
            "takes no options",
        ),
        (
            "kind = 'tare'",
            "kind = 'mariadb'\n[[configuration]]\nname = 'p'\nbuild = 'plain'",
            "is for kind = 'tare'",
        ),
        (
            "options = ['--x']",
            "engine = 'tare'",
            "is for kind = 'mysql'",
        ),
        (
            "script = 'oltp_read_only'",
            "load = 'command'",
            "command = [",
        ),
        (
            "script = 'oltp_read_only'",
            "script = 'a'\nrate = '60-40 %'",
            "40-60 %",
        ),
        (
            "script = 'oltp_read_only'",
            "script = 'a'\nrate = '0 % of peak'",
            "50 % of peak",
        ),
        (
            "script = 'oltp_read_only'",
            "script = 'a'\ncounted = true",
            "counted is for load = 'command'",
        ),
        (
            "options = ['--x']",
            "switch = ['./ctl']",
            "switch is for kind = 'command'",
        ),
        (
            "options = ['--x']",
            "beside = ['./agent {pid}']",
            "needs run.turns, run.switch",
        ),
        (
            "repetitions = 3",
            "repetitions = 3\nturns = 9\nturn_ms = 0",
            "turn_ms has to be 1",
        ),
        (
            "repetitions = 3",
            "repetitions = 3\nturns = 9\nrebuild = true",
            "do not go together",
        ),
        (
            "repetitions = 3\n[[server]]\nname = 's'\nkind = 'tare'",
            "repetitions = 3\nturns = 9\n[[server]]\nname = 's'\nkind = 'none'",
            "is for kind = 'tare', 'mariadb', 'mysql' and 'command'",
        ),
        (
            "question = 'q'",
            "question = 'q'\nreference = 'x'",
            "overhead-tuning-2011",
        ),
    ] {
        assert!(LEAST.contains(from), "{from}");
        let error = refused(&LEAST.replace(from, to));
        assert!(error.contains(words), "{to}: {error}");
    }
    assert!(
        Recipe::find("no-such")
            .expect_err("none")
            .to_string()
            .contains("--list")
    );
    assert!(
        Recipe::find("./no-such.toml")
            .expect_err("none")
            .to_string()
            .contains("no-such.toml")
    );
}

#[test]
fn quick_and_retain_refuse_unknown_names() {
    let text = format!("{LEAST}\n[quick]\nservers = ['t']\n");
    let error = Recipe::parse("mine.toml", &text)
        .expect("right")
        .quick()
        .expect_err("no server t");
    assert!(
        error.contains("no server 't'") && error.contains("there are s"),
        "{error}"
    );
    let mut recipe = Recipe::parse("mine.toml", LEAST).expect("right");
    let error = recipe
        .retain(None, Some(&["on".into()]), None)
        .expect_err("its baseline is left out");
    assert!(error.contains("baseline = 'off'"), "{error}");
}

#[test]
fn repetitions_are_interleaved_at_random_and_the_same_seed_draws_the_same() {
    let recipe = Recipe::parse("mine.toml", LEAST).expect("right");
    let keys: BTreeSet<_> = recipe.keys().into_iter().collect();
    assert_eq!(
        keys.len(),
        6,
        "two configurations and the A/A twin, two numbers of connections"
    );
    let plan = recipe.plan(1);
    assert_eq!(plan.len(), 18);
    for (at, cell) in plan.iter().enumerate() {
        assert_eq!(
            (cell.number, cell.repetition),
            (at as u32 + 1, at as u32 / 6 + 1)
        );
    }
    let orders: BTreeSet<Vec<_>> = plan
        .chunks(6)
        .map(|cells| cells.iter().map(|cell| cell.key.clone()).collect())
        .collect();
    assert!(orders.len() > 1, "each repetition has an order of its own");
    for order in &orders {
        assert_eq!(
            order.iter().cloned().collect::<BTreeSet<_>>(),
            keys,
            "each has every cell"
        );
    }
    assert_eq!(plan, recipe.plan(1));
    assert_ne!(plan, recipe.plan(2));
}

#[test]
fn without_restart_cells_of_one_process_are_adjacent() {
    let text = LEAST.replace("repetitions = 3", "repetitions = 3\nrestart = false");
    let recipe = Recipe::parse("mine.toml", &text).expect("right");
    for cells in recipe.plan(7).chunks(6) {
        let processes: Vec<&str> = cells
            .iter()
            .map(|cell| cell.key.configuration.as_str())
            .collect();
        let changes = processes
            .windows(2)
            .filter(|pair| pair[0] != pair[1])
            .count();
        assert_eq!(changes, 1, "{processes:?}");
    }
}

#[test]
fn with_turns_compared_cells_and_servers_are_adjacent() {
    let more = "turns = 9\n[[server]]\nname = 't'\nkind = 'mariadb'";
    let text = LEAST.replace("repetitions = 3", &format!("repetitions = 3\n{more}"));
    let recipe = Recipe::parse("mine.toml", &text).expect("right");
    let plan = recipe.plan(7);
    assert_eq!(plan.len(), 3 * 12);
    for repetition in plan.chunks(12) {
        for server in repetition.chunks(6) {
            assert!(
                server
                    .iter()
                    .all(|cell| cell.key.server == server[0].key.server)
            );
            for load in server.chunks(3) {
                assert!(
                    load.iter()
                        .all(|cell| cell.key.load() == load[0].key.load())
                );
            }
        }
    }
    let first: BTreeSet<_> = plan.chunks(12).map(|cells| cells[0].key.load()).collect();
    assert!(first.len() > 1, "each repetition has an order of its own");
    for (wrong, words) in [
        ("rate = '40-60 %'", "without a rate of the machine's CPU"),
        ("from = 'tcp'", "from = 'here'"),
    ] {
        let text = text.replace("name = 'w'", &format!("name = 'w'\n{wrong}"));
        let error = refused(&text);
        assert!(error.contains(words), "{error}");
    }
    for right in ["rate = 100", "rate = '50 % of peak'"] {
        let text = text.replace("name = 'w'", &format!("name = 'w'\n{right}"));
        assert!(Recipe::parse("mine.toml", &text).is_ok(), "{right}");
    }
}
