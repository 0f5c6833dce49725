//! What an investigation shows: what a component publishes now, in its own words, with the facts of
//! the story while it lasts.

use super::incidents::Clue;
use super::status::Member;
use crate::stage::{Play, Trouble};
use serde_json::{Value, json};
use std::fmt::Write;

/// Lines of a log that are shown.
const LINES: u32 = 12;
/// Minutes of a log that are looked through.
const MINUTES: u32 = 5;

/// Aspects of a component; the first one where none is named, the last one where it is another.
const ASPECTS: [&str; 5] = ["logs", "metrics", "connections", "config", "all"];

/// The aspect that a word means.
pub(super) fn aspect(word: &str) -> &'static str {
    let [first, .., last] = ASPECTS;
    if word.is_empty() {
        return first;
    }
    ASPECTS.into_iter().find(|aspect| aspect.eq_ignore_ascii_case(word)).unwrap_or(last)
}

/// Shows an aspect of a component.
///
/// # Errors
/// Where something outside the simulation fails.
pub(super) async fn show(
    play: &Play,
    member: &Member,
    aspect: &str,
    clues: &[Clue],
) -> Result<String, Trouble> {
    let mut text = format!("=== {} ({aspect}) ===\n", member.name);
    let wanted = |of: &str| aspect == of || aspect == "all";
    for (of, action) in
        [("logs", "logs"), ("metrics", ""), ("connections", "status"), ("config", "config")]
    {
        if !wanted(of) {
            continue;
        }
        for clue in clues.iter().filter(|clue| clue.service == member.name && clue.aspect == of) {
            let _ = writeln!(text, "{}", clue.text);
        }
        match action {
            "" => metrics(play, member, &mut text).await?,
            action => read(play, member, action, &mut text).await?,
        }
    }
    Ok(text)
}

/// The signals of a component, as published last.
async fn metrics(play: &Play, member: &Member, text: &mut String) -> Result<(), Trouble> {
    let rows = play
        .look(|live| {
            let episode = &live.episode;
            let topology = &episode.scenario().topology;
            let id = topology.instance(member.name)?;
            let kind =
                fleet::kinds().iter().find(|k| k.name() == topology.instances[id.at()].kind)?;
            let value = |name| episode.signal(id, name);
            let rows = kind.signals().iter().filter_map(|s| Some((s.name, value(s.name)?, s.unit)));
            Some(rows.collect::<Vec<_>>())
        })
        .await?;
    for (name, value, unit) in rows.unwrap_or_default() {
        let unit = if unit == "1" { "" } else { unit };
        let _ = writeln!(text, "{name} {} {unit}", (value * 1e4).round() / 1e4);
    }
    Ok(())
}

/// What a reading action of the catalogue answers.
async fn read(
    play: &Play,
    member: &Member,
    action: &str,
    text: &mut String,
) -> Result<(), Trouble> {
    let mut asked = json!({"action": action, "component": member.name});
    if action == "logs" {
        asked["minutes"] = MINUTES.into();
        asked["limit"] = LINES.into();
    }
    let result = play.act(asked).await?;
    match result.data {
        Some(Value::Array(lines)) => {
            for line in &lines {
                let part = |name: &str| line[name].as_str().unwrap_or_default();
                let _ = writeln!(text, "{} {} {}", part("time"), part("severity"), part("message"));
            }
        }
        Some(Value::Object(facts)) => {
            for (name, said) in &facts {
                let _ = writeln!(text, "{name}: {}", said.as_str().unwrap_or_default());
            }
        }
        _ => {
            let _ = writeln!(text, "{}", result.message);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_aspects_are_all_one() {
        assert_eq!(aspect(""), "logs");
        assert_eq!(aspect("Metrics"), "metrics");
        assert_eq!(aspect("entrails"), "all");
        assert_eq!(aspect("bones"), "all");
    }
}
