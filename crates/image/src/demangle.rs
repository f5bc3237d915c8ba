//! Names of functions of C++ and Rust, which their compilers mangle.

use cpp_demangle::{BorrowedSymbol, DemangleOptions};

/// The longest symbol that is demangled. Longer ones are of templates within templates.
const MAX_SYMBOL_BYTES: usize = 1024;

/// A name that is longer loses its outermost namespaces.
pub const MAX_FUNCTION_BYTES: usize = 48;

/// The function's name as its source has it: `os_event::wait` of `_ZN8os_event4waitEv`. Without parameters,
/// types, arguments of templates and anonymous namespaces, so that functions may have the same name. `None`:
/// the symbol is not mangled, or by another compiler's rules.
pub fn demangle(symbol: &str) -> Option<String> {
    if symbol.len() > MAX_SYMBOL_BYTES {
        return None;
    }
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Some(without_outer_namespaces(format!("{name:#}")));
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    // Clones of a function (`.part.0`, `.cold`) have its name.
    let symbol = symbol.split('.').next().unwrap_or(symbol);
    let parsed = BorrowedSymbol::new(symbol.as_bytes()).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = parsed.demangle_with_options(&options).ok()?;
    let name = without_template_arguments(&name).replace("(anonymous namespace)::", "");
    // `foo[abi:cxx11]` is a version of the library's interface.
    Some(without_outer_namespaces(name.replace("[abi:cxx11]", "")))
}

/// `Guard::lock` of `Guard<std::mutex>::lock`. The operators with angle brackets keep theirs.
fn without_template_arguments(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut rest = name;
    while let Some(char) = rest.chars().next() {
        if depth == 0
            && let Some(operator) = [
                "operator<=>",
                "operator<<",
                "operator->",
                "operator>>",
                "operator<",
                "operator>",
            ]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
        {
            text.push_str(operator);
            rest = &rest[operator.len()..];
            continue;
        }
        match char {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(char),
            _ => {}
        }
        rest = &rest[char.len_utf8()..];
    }
    text
}

fn without_outer_namespaces(mut name: String) -> String {
    while name.len() > MAX_FUNCTION_BYTES
        && let Some(end) = name.find("::")
    {
        name.drain(..end + 2);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            (
                "_ZN8os_event10timed_waitEPK8timespec",
                "os_event::timed_wait",
            ),
            ("_Z17log_builtins_initv", "log_builtins_init"),
            ("_ZN12_GLOBAL__N_14workEv", "work"),
            ("_ZN5GuardISt5mutexE4lockEv", "Guard::lock"),
            ("_ZN5GuardISt5mutexE4lockEv.part.0", "Guard::lock"),
            ("_ZN1AlsEi", "A::operator<<"),
            ("_ZN1AltEi", "A::operator<"),
            ("_ZN1AptEv", "A::operator->"),
            ("_ZN1AC2Ev", "A::A"),
            ("_ZN1AD0Ev", "A::~A"),
            ("_Z3addIiET_S0_S0_", "add"),
            ("_ZN4core3ptr4read17h0123456789abcdefE", "core::ptr::read"),
            ("_RNvC6server4take", "server::take"),
            (
                "_ZN5outer39a_namespace_with_a_name_of_many_letters5inner4workEv",
                "inner::work",
            ),
        ] {
            assert_eq!(demangle(symbol).as_deref(), Some(name), "{symbol}");
        }
        for symbol in ["item_lock", "", "_Z", "_ZN", "main", "_R"] {
            assert_eq!(demangle(symbol), None, "{symbol}");
        }
        assert_eq!(demangle(&format!("_Z{}", "N1A".repeat(400))), None);
    }
}
