//! Answers to unknown names: the nearest one there is, then all of them.

/// A sentence about the unknown `name`, with the nearest of `known` and the whole list.
pub fn suggestion(noun: &str, name: &str, known: &[&str]) -> String {
    let list = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    match nearest(name, known) {
        Some(near) => {
            format!("unknown {noun} `{name}`; did you mean `{near}`? expected one of {list}")
        }
        None => format!("unknown {noun} `{name}`; expected one of {list}"),
    }
}

/// The nearest of `known`, if a third of its letters or fewer differ.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let best = known.iter().map(|word| (distance(name, word), *word)).min()?;
    let letters = best.1.chars().count().max(name.chars().take(64).count());
    (best.0 * 3 <= letters).then_some(best.1)
}

/// Letters to insert, drop or replace; names beyond 64 letters are near to nothing.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX / 4;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_suggested_and_others_are_not() {
        let known = ["restart", "resolve", "rollback"];
        for (name, expected) in [
            ("restrat", Some("restart")),
            ("rollbak", Some("rollback")),
            ("reboot", None),
            ("", None),
            (&"x".repeat(1000), None),
        ] {
            assert_eq!(nearest(name, &known), expected, "{name}");
        }
    }
}
