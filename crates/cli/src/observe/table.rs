//! Columns of plain text, as `--batch` and reports print them.

/// Which side of its column a cell is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Lines of aligned columns under their heads. The last column is as wide as each row needs.
pub fn lines(heads: &[(String, Side)], rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let head = heads.get(column).map(|(head, _)| head);
        cells
            .chain(head)
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (number, ((cell, width), (_, side))) in cells.zip(&widths).zip(heads).enumerate() {
            if number > 0 {
                line.push_str("  ");
            }
            line.push_str(&match side {
                Side::Left => format!("{cell:width$}"),
                Side::Right => format!("{cell:>width$}"),
            });
        }
        line.truncate(line.trim_end().len());
        line
    };
    let mut lines = vec![line(&mut heads.iter().map(|(head, _)| head.as_str()))];
    lines.extend(
        rows.iter()
            .map(|row| line(&mut row.iter().map(String::as_str))),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_on_the_right() {
        let heads = [
            ("NAME".to_owned(), Side::Left),
            ("N".to_owned(), Side::Right),
            ("TEXT".to_owned(), Side::Left),
        ];
        let rows = [
            vec!["a".into(), "10".into(), "x y".into()],
            vec!["longer".into(), "1".into(), String::new()],
        ];
        assert_eq!(
            lines(&heads, &rows),
            ["NAME     N  TEXT", "a       10  x y", "longer   1"]
        );
    }
}
