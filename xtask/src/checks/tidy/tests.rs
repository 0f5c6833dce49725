//! Each rule of `tidy` can fail, and is not fooled by strings and comments.

use std::fs;

use super::ratchet::{Pardon, Pardons};
use super::{CHECK, Offence, offences};
use crate::workspace::Workspace;

const HEADER: &str = "//! A sample.\n";

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    offences(path, text).into_iter().map(|offence| offence.rule).collect()
}

fn lines(count: usize, line: &str) -> String {
    format!("{line}\n").repeat(count)
}

#[test]
fn a_file_needs_a_header() {
    assert_eq!(rules("a.rs", "fn f() {}\n"), ["header"]);
    assert_eq!(rules("a.rs", "//!\nfn f() {}\n"), ["header"]);
    assert_eq!(rules("a.rs", "//! Placeholder header: later.\n"), ["header"]);
    assert!(rules("a.rs", "\n//! Says what it is.\nfn f() {}\n").is_empty());
}

#[test]
fn files_and_mains_have_a_length() {
    let body = |count| format!("{HEADER}{}", lines(count, "// one"));
    assert!(rules("a.rs", &body(599)).is_empty());
    assert_eq!(rules("a.rs", &body(600)), ["file-length"]);
    assert!(rules("x/src/main.rs", &body(39)).is_empty());
    assert_eq!(rules("x/src/main.rs", &body(40)), ["main-length"]);
}

#[test]
fn functions_have_a_length_wherever_they_are() {
    let long = lines(69, "    let _ = \"}\"; // }");
    let fits = lines(68, "    let _ = \"}\"; // }");
    assert!(rules("a.rs", &format!("{HEADER}fn f() {{\n{fits}}}\n")).is_empty());
    for shape in
        ["fn f() {\nBODY}\n", "impl X { fn f() {\nBODY} }\n", "trait X { fn f() {\nBODY} }\n"]
    {
        let text = format!("{HEADER}{}", shape.replace("BODY", &long));
        assert_eq!(rules("a.rs", &text), ["function-length"], "{shape}");
    }
    let documented = format!("{HEADER}{}fn f() {{\n{fits}}}\n", lines(9, "/// Documentation."));
    assert!(rules("a.rs", &documented).is_empty());
}

#[test]
fn lines_have_a_length_but_strings_and_addresses_are_excused() {
    let wide = "x".repeat(110);
    let rows = [
        (format!("fn f_{wide}() {{}}"), 1),
        (format!("// {wide}"), 1),
        (format!("/// {wide}\nfn f() {{}}"), 1),
        (format!("// \"{wide}\""), 1),
        (format!("// see https://example.org/{wide}"), 0),
        (format!("//! | a | {wide} |"), 0),
        (format!("const A: &str = \"{wide}\";"), 0),
        (format!("const A: &str = r#\"\n{wide}\n\"#;"), 0),
        (format!("const A{wide}: &str = \"{wide}\";"), 1),
    ];
    for (text, wanted) in rows {
        assert_eq!(rules("a.rs", &format!("{HEADER}{text}\n")).len(), wanted, "{text}");
    }
}

#[test]
fn a_lib_holds_no_logic() {
    let rows = [
        ("mod a;\npub use a::B;\n/// C.\npub const C: &[&str] = &[\"c\"];", true),
        ("pub mod v1 { include!(\"gen/v1.rs\"); }", true),
        ("fn f() {}", false),
        ("pub struct S;", false),
        ("mod a { pub struct S; }", false),
        ("impl S {}", false),
    ];
    for (items, passes) in rows {
        let text = format!("{HEADER}{items}\n");
        let wanted: &[&str] = if passes { &[] } else { &["lib-logic"] };
        assert_eq!(rules("x/src/lib.rs", &text), wanted, "{items}");
        assert!(rules("x/src/other.rs", &text).is_empty(), "{items}");
    }
}

#[test]
fn nothing_is_ignored_or_left_to_be_done() {
    let rows: [(&str, &[&str]); 7] = [
        ("#[ignore]\nfn f() {}", &["ignored-test"]),
        ("#[ignore = \"slow\"]\nfn f() {}", &["ignored-test"]),
        ("#[cfg_attr(debug_assertions, ignore)]\nfn f() {}", &["ignored-test"]),
        ("fn f() { todo!() }", &["unfinished"]),
        ("fn f() { std::unimplemented!(\"x\") }", &["unfinished"]),
        ("fn f() { assert!(g(), \"{}\", todo!()) }", &["unfinished"]),
        ("// todo!() #[ignore]\nconst A: &str = \"todo!() #[ignore]\";", &[]),
    ];
    for (text, wanted) in rows {
        assert_eq!(rules("a.rs", &format!("{HEADER}{text}\n")), wanted, "{text}");
    }
}

#[test]
fn empty_names_and_broken_syntax_are_found() {
    assert_eq!(rules("x/src/utils.rs", HEADER), ["name"]);
    assert_eq!(rules("x/src/util/mod.rs", HEADER), ["name"]);
    assert_eq!(rules("a.rs", &format!("{HEADER}fn f( {{}}\n")), ["syntax"]);
}

#[test]
fn a_pardon_covers_up_to_its_size_and_must_be_tight() {
    let offence =
        |size| Offence { rule: "file-length", line: 1, size, problem: String::new(), way_out: "" };
    let pardon = Pardon { path: "a.rs", rule: "file-length", size: 700 };
    let mut pardons = Pardons::of(&[pardon]);
    assert_eq!(pardons.to_tighten().len(), 1, "nothing needs it");
    assert!(!pardons.cover("b.rs", &offence(650)));
    assert!(!pardons.cover("a.rs", &offence(701)));
    assert!(pardons.cover("a.rs", &offence(650)));
    assert_eq!(pardons.to_tighten().len(), 1, "it is too large");
    assert!(pardons.cover("a.rs", &offence(700)));
    assert!(pardons.to_tighten().is_empty());
}

#[test]
fn a_crate_must_take_the_lints_of_the_workspace() {
    let root = tempfile::tempdir().unwrap();
    let manifest = root.path().join("Cargo.toml");
    let rows = [
        ("[package]\nname = \"a\"\n[lints]\nworkspace = true\n", 0),
        ("[package]\nname = \"a\"\n", 1),
        ("[package]\nname = \"a\"\n[lints]\nworkspace = false\n", 1),
        ("[package]\nname = \"a\"\n[lints.rust]\nunsafe_code = \"deny\"\n", 1),
        ("[workspace]\nmembers = []\n", 0),
    ];
    for (text, wanted) in rows {
        fs::write(&manifest, text).unwrap();
        let outcome = (CHECK.run)(&Workspace::at(root.path())).unwrap();
        assert_eq!(outcome.findings.len(), wanted, "{text}");
    }
}
