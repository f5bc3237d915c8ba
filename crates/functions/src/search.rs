//! Places in texts.

/// Where a text's character begins; its end, where it has fewer.
pub(crate) fn offset(text: &str, characters: usize) -> usize {
    let Some(skip) = characters.checked_sub(1) else {
        return 0;
    };
    let mut rest = text.chars();
    rest.nth(skip);
    text.len() - rest.as_str().len()
}
