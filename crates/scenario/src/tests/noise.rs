//! Whatever is written, the answer is a scenario or an error with a place; nothing panics.

use super::kit::{STORM, SYSTEM, resolve};
use proptest::prelude::*;

/// Cuts, doubles or replaces a piece of a text, at letters.
fn damage(text: &str, at: usize, length: usize, with: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let at = at % letters.len();
    let end = (at + length).min(letters.len());
    let mut damaged: String = letters[..at].iter().collect();
    damaged.push_str(with);
    damaged.extend(&letters[end..]);
    damaged
}

fn check(scenario: &str, system: &str) {
    if let Err(error) = resolve(scenario, system) {
        assert!(!error.message.is_empty() && error.file.ends_with(".yaml"), "{error}");
        let lines = scenario.lines().count().max(system.lines().count());
        assert!(error.line as usize <= lines + 1, "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(150)
    })]

    #[test]
    fn damaged_scenarios_do_not_panic(
        at in 0usize..10_000,
        length in 0usize..40,
        with in prop_oneof![
            Just(String::new()),
            "[-:{}\\[\\]\"'#&*!|>%@`, \\n0-9a-z.]{0,12}",
            Just("1e999".to_string()),
            Just("-1".to_string()),
            Just("users -> users".to_string()),
            Just("[[[[{".to_string()),
        ],
    ) {
        check(&damage(STORM, at, length, &with), SYSTEM);
        check(STORM, &damage(SYSTEM, at, length, &with));
    }

    #[test]
    fn cut_scenarios_do_not_panic(at in 0usize..10_000) {
        check(&damage(STORM, at, usize::MAX / 2, ""), SYSTEM);
        check(STORM, &damage(SYSTEM, at, usize::MAX / 2, ""));
    }

    #[test]
    fn any_text_does_not_panic(text in "\\PC{0,80}") {
        check(&text, SYSTEM);
    }
}
