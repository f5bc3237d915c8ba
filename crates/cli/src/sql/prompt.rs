//! The interactive prompt, with line editing.

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tare_dialect::split::is_blank;

use super::{Statement, Step, take_statement};
use crate::exit::{FAILED, Failure};

/// Reads and runs statements from a terminal. Ctrl-C discards the input, Ctrl-D and `exit` quit.
pub fn run_prompt(run: &mut impl FnMut(&Statement) -> Step) -> Result<(), Failure> {
    let broken = |error| Failure::new(FAILED, format!("cannot read from the terminal: {error}"));
    let mut editor = DefaultEditor::new().map_err(broken)?;
    println!("End a statement with ';' or '\\G'. Ctrl-D or exit quits.");
    let mut text = String::new();
    loop {
        let prompt = if is_blank(&text) { "tare> " } else { "   -> " };
        match editor.readline(prompt) {
            Ok(line) => {
                if is_blank(&text) && matches!(line.trim().trim_end_matches(';'), "exit" | "quit") {
                    return Ok(());
                }
                // The history is not saved, because statements may contain secrets.
                let _ = editor.add_history_entry(&line);
                text.push_str(&line);
                text.push('\n');
            }
            Err(ReadlineError::Interrupted) => text.clear(),
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(broken(error)),
        }
        while let Some(statement) = take_statement(&mut text) {
            if !is_blank(&statement.text) && matches!(run(&statement), Step::OutputClosed) {
                return Ok(());
            }
        }
    }
}
