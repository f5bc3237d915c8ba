//! A recipe is a file of recipes/, a name in `shipped!`, and a run of `make weigh-quick`
//! (docs/adding.md).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tare_lab::recipe::shipped;

fn shipped_names() -> BTreeSet<String> {
    shipped::ALL
        .iter()
        .map(|each| each.name.to_owned())
        .collect()
}

#[test]
fn every_file_of_recipes_is_shipped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder is here")
        .map(|entry| entry.expect("readable").path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, shipped_names(), "recipes/ and recipe/shipped.rs");
}

#[test]
fn weigh_quick_runs_every_recipe() {
    let makefile = include_str!("../../../Makefile");
    let list = makefile
        .lines()
        .find_map(|line| line.strip_prefix("RECIPES = "))
        .expect("the Makefile names its recipes");
    let run: BTreeSet<String> = list.split_whitespace().map(str::to_owned).collect();
    assert_eq!(run, shipped_names(), "RECIPES of the Makefile");
}
