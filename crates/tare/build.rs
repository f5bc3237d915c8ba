//! Decides where a thread's state is found (`own_tls`, see engine/hot.rs).

use std::env;

fn main() {
    let linux = env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux");
    println!("cargo::rustc-check-cfg=cfg(own_tls)");
    let x86_64 = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64");
    let narrow = env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() == Ok("32");
    let shared = env::var_os("CARGO_FEATURE_SHARED").is_some();
    if shared && linux && x86_64 && !narrow && env::var_os("CARGO_CFG_MIRI").is_none() {
        println!("cargo::rustc-cfg=own_tls");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
