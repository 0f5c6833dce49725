//! The canonical bytes of a record: JSON lines, the header first, then one entry a line. Written
//! by hand so that order and spelling of everything stand in this file: keys sorted, no spaces,
//! ids and digests in hexadecimal. Reading allows any order and spacing, and no unknown field.

use crate::error::RecordError;
use crate::record::{EndReason, Entry, FORMAT, Header, Input, Record, Step};
use model::{Digest, EpisodeId, Tick};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

impl Record {
    /// The canonical bytes.
    pub fn to_jsonl(&self) -> String {
        let mut text = self.header.to_line();
        text.push('\n');
        for entry in &self.entries {
            text.push_str(&entry.to_line());
            text.push('\n');
        }
        text
    }

    /// The record in `bytes`; [`Record::check`] says whether it can be played.
    ///
    /// # Errors
    /// [`RecordError::Line`] for the first line that cannot be read, [`RecordError::OtherFormat`]
    /// where the header names a format that is not known here.
    pub fn from_jsonl(bytes: &[u8]) -> Result<Record, RecordError> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let mut lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let first = lines.next().map_or(&[][..], |(_, line)| line);
        let header = Header::from_line(first)?;
        let entries = lines.map(|(at, line)| Entry::from_line(line, at + 1));
        Ok(Record { header, entries: entries.collect::<Result<_, _>>()? })
    }
}

impl Header {
    /// Its canonical line, without the line break.
    pub fn to_line(&self) -> String {
        format!(
            r#"{{"episode":"{}","format":{},"scenario":{},"scenario_name":{},"seed":{},"world":{}}}"#,
            self.episode,
            self.format,
            quoted(&self.scenario),
            quoted(&self.scenario_name),
            self.seed,
            self.world,
        )
    }

    /// The header in the first line of a record.
    fn from_line(line: &[u8]) -> Result<Header, RecordError> {
        // The format first: another one may well have other fields.
        let Format { format } = read(line, 1)?;
        if format != FORMAT {
            return Err(RecordError::OtherFormat { theirs: format, ours: FORMAT });
        }
        let HeaderLine { format, world, episode, seed, scenario_name, scenario } = read(line, 1)?;
        Ok(Header { format, world, episode, seed, scenario_name, scenario })
    }
}

impl Entry {
    /// Its canonical line, without the line break.
    pub fn to_line(&self) -> String {
        match self {
            Entry::Input(Input { seq, tick, actor, body }) => {
                let (actor, body, tick) = (actor.word(), quoted(body), tick.0);
                format!(
                    r#"{{"input":{{"actor":"{actor}","body":{body},"seq":{seq},"tick":{tick}}}}}"#
                )
            }
            Entry::Step(step) => format!(
                r#"{{"step":{{"from":{},"impact_micro":{},"number":{},"reply":"{}","to":{},"world":"{}"}}}}"#,
                step.from.0, step.impact_micro, step.number, step.reply, step.to.0, step.world,
            ),
            Entry::End { tick, reason } => {
                format!(r#"{{"end":{{"reason":"{}","tick":{}}}}}"#, reason.word(), tick.0)
            }
        }
    }

    /// The entry in `text`, which is line `line` of its record.
    ///
    /// # Errors
    /// [`RecordError::Line`].
    pub fn from_line(text: &[u8], line: usize) -> Result<Entry, RecordError> {
        Ok(match read(text, line)? {
            EntryLine::Input(input) => Entry::Input(input),
            EntryLine::Step(StepLine { number, from, to, reply, world, impact_micro }) => {
                Entry::Step(Step { number, from, to, reply, world, impact_micro })
            }
            EntryLine::End { tick, reason } => Entry::End { tick, reason },
        })
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderLine {
    format: u32,
    world: u32,
    #[serde(deserialize_with = "episode")]
    episode: EpisodeId,
    seed: u64,
    scenario_name: String,
    scenario: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepLine {
    number: u32,
    from: Tick,
    to: Tick,
    #[serde(deserialize_with = "digest")]
    reply: Digest,
    #[serde(deserialize_with = "digest")]
    world: Digest,
    impact_micro: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum EntryLine {
    Input(Input),
    Step(StepLine),
    End { tick: Tick, reason: EndReason },
}

fn read<'a, T: Deserialize<'a>>(text: &'a [u8], line: usize) -> Result<T, RecordError> {
    if text.iter().all(u8::is_ascii_whitespace) {
        let problem = "is empty; expected one JSON object".into();
        return Err(RecordError::Line { line, problem });
    }
    serde_json::from_slice(text).map_err(|error| {
        // The position within the line; its "line 1" would contradict ours.
        let told = error.to_string();
        let reason = told.split(" at line ").next().unwrap_or(&told);
        let problem = format!("{reason} (column {})", error.column());
        RecordError::Line { line, problem }
    })
}

fn digest<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

fn episode<'de, D: Deserializer<'de>>(from: D) -> Result<EpisodeId, D::Error> {
    let text = String::deserialize(from)?;
    parse_episode(&text).ok_or_else(|| {
        D::Error::custom(format!("an episode is 16 hexadecimal digits, not {text:?}"))
    })
}

/// An episode as it is printed: 16 hexadecimal digits.
pub fn parse_episode(text: &str) -> Option<EpisodeId> {
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok().map(EpisodeId))?
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
