//! The tree of a plan, from the JSON of EXPLAIN FORMAT=JSON: version 1 of MySQL, and MariaDB's.

use serde_json::{Map, Value};

/// A part of a plan, with the parts whose rows it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// What it does; empty if only its inputs do something.
    text: String,
    /// The rows that the server expects for one reading.
    rows: Option<String>,
    table: Option<TableAccess>,
    inputs: Vec<Node>,
}

/// How a table is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TableAccess {
    name: String,
    is_full_scan: bool,
    indexes: Vec<String>,
}

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanTree {
    roots: Vec<Node>,
}

impl PlanTree {
    /// Reads what EXPLAIN FORMAT=JSON answered; `None` if it is not JSON, or not of this form.
    pub fn parse(json: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(json).ok()?;
        let mut roots = Vec::new();
        add_members(value.as_object()?, &mut roots);
        (!roots.is_empty()).then_some(Self { roots })
    }

    /// The tree as text, a line for each part, with two spaces for each level, and with the expected rows.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for root in &self.roots {
            root.add_lines(0, true, &mut lines);
        }
        lines
    }

    /// 16 hexadecimal digits: the same for two plans that differ only in estimates and literals.
    pub fn shape(&self) -> String {
        let mut lines = Vec::new();
        for root in &self.roots {
            root.add_lines(0, false, &mut lines);
        }
        format!("{:016x}", fnv(lines.join("\n").as_bytes()))
    }

    /// The tables that are read completely, without an index.
    pub fn full_scans(&self) -> Vec<String> {
        let scanned = self.tables().into_iter().filter(|table| table.is_full_scan);
        distinct(scanned.map(|table| table.name.clone()))
    }

    /// The indexes that are used, as `table.index`.
    pub fn indexes(&self) -> Vec<String> {
        let tables = self.tables().into_iter();
        distinct(tables.flat_map(|table| {
            let indexes = table.indexes.iter();
            indexes.map(|index| format!("{}.{index}", table.name))
        }))
    }

    fn tables(&self) -> Vec<&TableAccess> {
        let mut tables = Vec::new();
        let mut left: Vec<&Node> = self.roots.iter().rev().collect();
        while let Some(node) = left.pop() {
            tables.extend(&node.table);
            left.extend(node.inputs.iter().rev());
        }
        // Those that the server builds while it executes have names such as <derived2>, and indexes of its own.
        tables.retain(|table| !table.name.starts_with('<'));
        tables
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The hash FNV-1a, which is the same in each version of Tare.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

impl Node {
    fn add_lines(&self, level: usize, has_rows: bool, lines: &mut Vec<String>) {
        let rows = self.rows.as_ref().filter(|_| has_rows);
        let rows = rows.map_or(String::new(), |rows| match rows.as_str() {
            "1" => ", 1 row".to_owned(),
            rows => format!(", {rows} rows"),
        });
        lines.push(format!("{}{}{rows}", "  ".repeat(level), self.text));
        for input in &self.inputs {
            input.add_lines(level + 1, has_rows, lines);
        }
    }
}

/// Adds the parts of a plan that are members of an object, in the order of their names: a map of serde_json has
/// the server's order only if some crate of the program has switched that on, and shapes are stored.
fn add_members(object: &Map<String, Value>, nodes: &mut Vec<Node>) {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(name, _)| name.as_str());
    for (name, value) in members {
        match value {
            Value::Object(member) if name == "table" => nodes.push(table(member)),
            Value::Object(member) => add_part(name, member, nodes),
            Value::Array(items) => {
                let mut inputs = Vec::new();
                for item in items.iter().filter_map(Value::as_object) {
                    add_members(item, &mut inputs);
                }
                add_node(list_text(name, inputs.len()), inputs, nodes);
            }
            _ => {}
        }
    }
}

/// Adds a part with its inputs; only these if it has no text.
fn add_node(text: String, inputs: Vec<Node>, nodes: &mut Vec<Node>) {
    match (text.is_empty(), inputs.is_empty()) {
        (_, true) => {}
        (true, false) => nodes.extend(inputs),
        (false, false) => nodes.push(Node {
            text,
            inputs,
            ..Node::default()
        }),
    }
}

fn add_part(name: &str, part: &Map<String, Value>, nodes: &mut Vec<Node>) {
    let mut inputs = Vec::new();
    if let Some(message) = part.get("message").and_then(Value::as_str) {
        inputs.push(Node {
            text: message.to_lowercase(),
            ..Node::default()
        });
    }
    add_members(part, &mut inputs);
    add_node(part_text(name, part), inputs, nodes);
}

/// What a list of parts does.
fn list_text(name: &str, length: usize) -> String {
    match name {
        "nested_loop" if length > 1 => "nested loop".to_owned(),
        "nested_loop" | "query_specifications" => String::new(),
        other => words(other),
    }
}

/// What a part does.
fn part_text(name: &str, part: &Map<String, Value>) -> String {
    let temporary = match is_set(part, "using_temporary_table") {
        true => " in a temporary table",
        false => "",
    };
    match name {
        "query_block" | "read_sorted_file" | "insert_from" => String::new(),
        "ordering_operation" if !is_set(part, "using_filesort") => String::new(),
        "ordering_operation" | "filesort" => format!("sort{temporary}"),
        "grouping_operation" => {
            let sort = match is_set(part, "using_filesort") {
                true => "sort and ",
                false => "",
            };
            format!("{sort}group{temporary}")
        }
        "duplicates_removal" => format!("remove duplicates{temporary}"),
        "materialized" | "materialized_from_subquery" | "materialization" => "materialize".into(),
        "union_result" => format!("union{temporary}"),
        "block-nl-join" => "join buffer".to_owned(),
        other => words(other) + temporary,
    }
}

fn words(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

fn is_set(part: &Map<String, Value>, name: &str) -> bool {
    matches!(part.get(name), Some(Value::Bool(true)))
        || part.get(name).and_then(Value::as_i64) == Some(1)
}

fn table(table: &Map<String, Value>) -> Node {
    let text = |name: &str| table.get(name).and_then(Value::as_str);
    let mut inputs = Vec::new();
    add_members(table, &mut inputs);
    let Some(name) = text("table_name") else {
        let message = text("message").unwrap_or("no table");
        return Node {
            text: message.to_lowercase(),
            inputs,
            ..Node::default()
        };
    };
    // The table into which rows are inserted is not read.
    if is_set(table, "insert") || is_set(table, "replace") {
        return Node {
            text: format!("insert into {name}"),
            inputs,
            ..Node::default()
        };
    }
    let access_type = text("access_type").unwrap_or_default();
    let indexes = indexes(table);
    let mut of_index = indexes.join(", ");
    if let Some(Value::Array(parts)) = table.get("used_key_parts") {
        let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
        of_index = format!("{of_index} ({})", parts.join(", "));
    }
    let access = match access_type {
        "ALL" => "full scan".to_owned(),
        "index" => format!("full scan of index {of_index}"),
        "range" => format!("range of index {of_index}"),
        "eq_ref" => format!("one row for each by index {of_index}"),
        "const" | "system" => format!("one row by index {of_index}"),
        "" => text("message").unwrap_or("not read").to_lowercase(),
        "ref" | "unique_subquery" | "index_subquery" => format!("lookup in index {of_index}"),
        other => format!("{} of index {of_index}", words(other)),
    };
    let mut line = format!("{name}: {access}");
    for (flag, words) in [
        ("update", ", updated"),
        ("delete", ", deleted from"),
        ("using_index", ", index only"),
        ("using_filesort", ", sorted"),
        ("using_temporary_table", ", in a temporary table"),
    ] {
        if is_set(table, flag) {
            line += words;
        }
    }
    if let Some(buffer) = text("using_join_buffer") {
        line += &format!(", join buffer ({})", buffer.to_lowercase());
    }
    let is_derived = inputs.iter().any(|input| input.text == "materialize");
    Node {
        text: line,
        rows: (table.get("rows_examined_per_scan").or(table.get("rows"))).map(Value::to_string),
        table: Some(TableAccess {
            name: name.to_owned(),
            is_full_scan: access_type == "ALL" && !is_derived,
            indexes: if is_derived { Vec::new() } else { indexes },
        }),
        inputs,
    }
}

/// The indexes by which a table is read.
fn indexes(table: &Map<String, Value>) -> Vec<String> {
    if let Some(key) = table.get("key").and_then(Value::as_str) {
        // MySQL names those that are merged as union(a,sort_union(b,c)).
        let is_merge = table.get("access_type").and_then(Value::as_str) == Some("index_merge");
        let names = key.split(['(', ')', ',']);
        let is_index = |name: &&str| {
            !["", "union", "sort_union", "intersect", "sort_intersect"].contains(name)
        };
        return match is_merge {
            true => names.filter(is_index).map(str::to_owned).collect(),
            false => vec![key.to_owned()],
        };
    }
    let mut keys = Vec::new();
    if let Some(merge) = table.get("index_merge") {
        add_keys(merge, &mut keys);
    }
    keys
}

fn add_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            keys.extend(object.get("key").and_then(Value::as_str).map(str::to_owned));
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(name, _)| name.as_str());
            (members.iter()).for_each(|(_, member)| add_keys(member, keys));
        }
        Value::Array(items) => items.iter().for_each(|item| add_keys(item, keys)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(json: &str) -> PlanTree {
        PlanTree::parse(json).expect("a plan")
    }

    /// As MySQL 9.7 answers.
    const MYSQL: &str = r#"{"query_block": {"select_id": 1, "cost_info": {"query_cost": "1.95"},
        "ordering_operation": {"using_filesort": true, "grouping_operation": {"using_temporary_table": true, "using_filesort": false,
        "nested_loop": [
            {"table": {"table_name": "o", "access_type": "ALL", "possible_keys": ["PRIMARY"], "rows_examined_per_scan": 4,
                "cost_info": {"read_cost": "0.55"}, "attached_condition": "(`shop`.`o`.`email` = 'x')"}},
            {"table": {"table_name": "items", "access_type": "ref", "key": "by_order", "used_key_parts": ["order_id"],
                "rows_examined_per_scan": 1, "using_index": true}}]}}}}"#;

    #[test]
    fn a_plan_of_mysql_is_a_tree() {
        let plan = tree(MYSQL);
        assert_eq!(
            plan.lines(),
            [
                "sort",
                "  group in a temporary table",
                "    nested loop",
                "      o: full scan, 4 rows",
                "      items: lookup in index by_order (order_id), index only, 1 row",
            ]
        );
        assert_eq!(plan.full_scans(), ["o"]);
        assert_eq!(plan.indexes(), ["items.by_order"]);
    }

    #[test]
    fn a_plan_of_mariadb_is_a_tree() {
        let plan = tree(
            r#"{"query_block": {"select_id": 1, "nested_loop": [
                {"table": {"table_name": "<derived2>", "access_type": "ALL", "rows": 4, "filtered": 100,
                    "materialized": {"query_block": {"select_id": 2, "nested_loop": [
                        {"table": {"table_name": "orders", "access_type": "index", "key": "by_customer",
                            "used_key_parts": ["customer"], "rows": 4, "using_index": true}}]}}}},
                {"block-nl-join": {"table": {"table_name": "i", "access_type": "ALL", "rows": 7}, "join_type": "BNL"}},
                {"table": {"table_name": "m", "access_type": "index_merge", "rows": 2,
                    "index_merge": {"union": [{"range": {"key": "a"}}, {"range": {"key": "b"}}]}}}],
                "subqueries": [{"query_block": {"select_id": 3, "table": {"message": "No tables used"}}}]}}"#,
        );
        assert_eq!(
            plan.lines(),
            [
                "nested loop",
                "  <derived2>: full scan, 4 rows",
                "    materialize",
                "      orders: full scan of index by_customer (customer), index only, 4 rows",
                "  join buffer",
                "    i: full scan, 7 rows",
                "  m: index merge of index a, b, 2 rows",
                "subqueries",
                "  no tables used",
            ]
        );
        assert_eq!(plan.full_scans(), ["i"]);
        assert_eq!(plan.indexes(), ["orders.by_customer", "m.a", "m.b"]);
    }

    #[test]
    fn estimates_and_literals_are_not_part_of_the_shape() {
        let shape = tree(MYSQL).shape();
        let other = MYSQL.replace("'x'", "'y'").replace("\": 4", "\": 400");
        assert_eq!(tree(&other).shape(), shape);
        assert_ne!(tree(&MYSQL.replace("by_order", "other")).shape(), shape);
        assert_ne!(tree(&MYSQL.replace("\"ALL\"", "\"index\"")).shape(), shape);
        // It is stored, so it must not change.
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn changes_of_tables_are_in_the_tree() {
        let update = r#"{"query_block": {"select_id": 1, "table": {"update": true, "table_name": "t", "access_type": "range",
            "key": "PRIMARY", "used_key_parts": ["a"], "rows_examined_per_scan": 2}}}"#;
        assert_eq!(
            tree(update).lines(),
            ["t: range of index PRIMARY (a), updated, 2 rows"]
        );
        let insert = r#"{"query_block": {"select_id": 1, "table": {"insert": true, "table_name": "t", "access_type": "ALL"},
            "insert_from": {"table": {"table_name": "s", "access_type": "ALL", "rows_examined_per_scan": 1}}}}"#;
        let plan = tree(insert);
        assert_eq!(plan.lines(), ["s: full scan, 1 row", "insert into t"]);
        assert_eq!(plan.full_scans(), ["s"]);
        assert_eq!(PlanTree::parse("{}"), None);
        assert_eq!(PlanTree::parse("[1]"), None);
        assert_eq!(PlanTree::parse(&"[".repeat(100_000)), None);
    }
}
