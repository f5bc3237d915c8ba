//! docs/segment.md draws the layout that this crate declares.

#[test]
fn the_document_is_of_this_version() {
    let document = include_str!("../../../docs/segment.md");
    let version = format!("Layout version: **{}**", tare_layout::LAYOUT_VERSION);
    assert!(
        document.contains(&version),
        "docs/segment.md does not say {version:?}: draw what has changed"
    );
}
