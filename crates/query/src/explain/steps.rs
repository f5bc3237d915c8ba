//! A plan's lines as the steps of MySQL's EXPLAIN: which table is read how.

use super::Line;

/// A row of EXPLAIN.
pub(super) struct Step {
    pub(super) id: Option<i64>,
    pub(super) select_type: &'static str,
    pub(super) table: Option<String>,
    pub(super) kind: Option<&'static str>,
    pub(super) possible: Option<String>,
    pub(super) key: Option<String>,
    pub(super) key_bytes: Option<u64>,
    pub(super) reference: Option<String>,
    pub(super) rows: Option<u64>,
    /// The share of the rows that conditions leave, in percent.
    pub(super) filtered: f64,
    pub(super) extra: Vec<&'static str>,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            id: None,
            select_type: "",
            table: None,
            kind: None,
            possible: None,
            key: None,
            key_bytes: None,
            reference: None,
            rows: None,
            filtered: 100.0,
            extra: Vec::new(),
        }
    }
}

/// The step of a line such as `SEARCH t USING INDEX i (a=?)`.
fn access(text: &str) -> Option<Step> {
    let (searches, rest) = match text.split_once(' ')? {
        ("SEARCH", rest) => (true, rest),
        ("SCAN", rest) => (false, rest),
        _ => return None,
    };
    if rest == "CONSTANT ROW" {
        return Some(Step {
            extra: vec!["No tables used"],
            ..Step::default()
        });
    }
    let (name, using) = rest.split_once(" USING ").unwrap_or((rest, ""));
    let table = name
        .split(" VIRTUAL TABLE")
        .next()
        .unwrap_or(name)
        .rsplit('.')
        .next()
        .unwrap_or(name);
    let bounds = using
        .split_once(" (")
        .map_or("", |(_, b)| b.trim_end_matches(')'));
    let equal = !bounds.is_empty() && !bounds.contains(['<', '>']);
    let covering = using.contains("COVERING INDEX");
    let key = if using.contains("INTEGER PRIMARY KEY") || using.starts_with("PRIMARY KEY") {
        Some("PRIMARY".to_owned())
    } else {
        using.split_once("INDEX ").map(|(_, rest)| {
            let index = rest.split(" (").next().unwrap_or(rest);
            let index = index.rsplit('.').next().unwrap_or(index);
            if index.starts_with("sqlite_autoindex") {
                "PRIMARY".to_owned()
            } else {
                index.to_owned()
            }
        })
    };
    let is_virtual = rest.contains("VIRTUAL TABLE");
    let kind = match (searches, key.as_deref()) {
        _ if is_virtual => "ALL",
        (true, Some("PRIMARY")) if equal => "const",
        (true, _) if equal => "ref",
        (true, _) => "range",
        (false, Some(_)) => "index",
        (false, None) => "ALL",
    };
    let mut extra = Vec::new();
    if covering {
        extra.push("Using index");
    }
    Some(Step {
        table: Some(table.to_owned()),
        kind: Some(kind),
        possible: key.clone().filter(|_| !is_virtual),
        key: key.filter(|_| !is_virtual),
        reference: (equal && !is_virtual)
            .then(|| vec!["const"; bounds.matches("=?").count().max(1)].join(",")),
        extra,
        ..Step::default()
    })
}

/// The steps of a plan.
pub(super) fn steps(lines: &[Line]) -> Vec<Step> {
    // Each subquery, union part or derived table is a SELECT with a number of its own.
    let mut selects: Vec<(i64, i64, &'static str)> = vec![(0, 1, "SIMPLE")];
    let mut steps: Vec<Step> = Vec::new();
    let mut next = 2;
    for line in lines {
        let parent = selects
            .iter()
            .rev()
            .find(|(id, ..)| *id == line.parent)
            .copied()
            .unwrap_or(selects[0]);
        let text = line.text.as_str();
        let select = if text.starts_with("CO-ROUTINE") || text.starts_with("MATERIALIZE") {
            Some("DERIVED")
        } else if text.starts_with("CORRELATED") {
            Some("DEPENDENT SUBQUERY")
        } else if text.contains("SUBQUERY") {
            Some("SUBQUERY")
        } else if text.starts_with("UNION")
            || text.starts_with("EXCEPT")
            || text.starts_with("INTERSECT")
        {
            Some("UNION")
        } else {
            None
        };
        if let Some(select) = select {
            selects.push((line.id, next, select));
            next += 1;
            continue;
        }
        if text.starts_with("COMPOUND")
            || text == "LEFT-MOST SUBQUERY"
            || text.starts_with("MULTI-INDEX")
            || text.starts_with("INDEX ")
            || text == "SETUP"
            || text.starts_with("RECURSIVE")
        {
            selects.push((line.id, parent.1, parent.2));
            continue;
        }
        if let Some(mut step) = access(text) {
            step.id = Some(parent.1);
            step.select_type = parent.2;
            steps.push(step);
            continue;
        }
        let extra: &[&'static str] = if text.contains("FOR ORDER BY") {
            &["Using filesort"]
        } else if text.contains("FOR GROUP BY")
            || text.contains("FOR DISTINCT")
            || text.contains("count(DISTINCT)")
        {
            &["Using temporary"]
        } else {
            &[]
        };
        if let Some(step) = steps.iter_mut().find(|s| s.id == Some(parent.1)) {
            step.extra.extend(extra);
        }
    }
    if next > 2 {
        for step in &mut steps {
            if step.select_type == "SIMPLE" {
                step.select_type = "PRIMARY";
            }
        }
    }
    // A table that is looked up by a complete key for each row of another one.
    let mut visited: Vec<i64> = Vec::new();
    for step in &mut steps {
        let id = step.id.unwrap_or(1);
        if visited.contains(&id) && step.kind == Some("const") {
            step.kind = Some("eq_ref");
            step.reference = Some("func".into());
        }
        visited.push(id);
    }
    if steps.is_empty() {
        steps.push(Step {
            id: Some(1),
            select_type: "SIMPLE",
            extra: vec!["No tables used"],
            ..Step::default()
        });
    }
    steps
}
