//! `println!` and `eprintln!` for this binary. The standard ones panic when nobody reads any more; a recorder or a
//! server must go on then.

macro_rules! println {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        // Nobody reads it.
        let _ = std::writeln!(std::io::stdout(), $($text)*);
    }};
}

macro_rules! eprintln {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        // Nobody reads it.
        let _ = std::writeln!(std::io::stderr(), $($text)*);
    }};
}
