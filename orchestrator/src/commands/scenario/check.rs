//! `mayday scenario check`: proves scenarios, one line each and one more for each finding.

use crate::console;
use crate::failure::Failure;
use crate::pool;
use crate::seeds::Seeds;
use crate::shelf::LibraryArgs;
use grader::proof::Row;
use grader::{Finding, Proof, Search, prove};
use model::decimals;
use scenario::Scenario;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

/// The search for exploits is made on so many of the seeds.
const SEARCHED_SEEDS: usize = 3;
/// Findings with the same sentence are shown with so many of their seeds.
const SEEDS_SHOWN: usize = 5;

/// Options of `mayday scenario check`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// Scenarios: names, stems, families or .yaml files; none: all.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// All scenarios; the same as naming none.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Seeds: a count (20), a range (0..20) or a list (1,2,3).
    #[arg(long, value_name = "SEEDS", default_value = "20")]
    seeds: Seeds,
    /// How far to look for plans that beat the reference: none, singles, or pairs:N.
    #[arg(long, value_name = "SEARCH", default_value = "singles")]
    search: SearchChoice,
    /// Print JSON with the numbers of each seed.
    #[arg(long)]
    json: bool,
    /// Seeds at the same time; default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    #[command(flatten)]
    library: LibraryArgs,
}

/// A [`Search`] as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchChoice(Search);

impl FromStr for SearchChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<SearchChoice, String> {
        let search = match text.split_once(':') {
            None if text == "none" => Some(Search::None),
            None if text == "singles" => Some(Search::Singles),
            Some(("pairs", count)) => count.parse().ok().map(Search::Pairs),
            _ => None,
        };
        let expected = || format!("`{text}`: expected none, singles, or pairs:N such as pairs:200");
        search.map(SearchChoice).ok_or_else(expected)
    }
}

/// What became of one scenario.
struct Checked {
    name: String,
    outcome: Result<Proof, Failure>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let shelf = options.library.open()?;
    // Every one has to hold, those of dialects too.
    let names = match options.names.is_empty() {
        true => shelf.names(),
        false => shelf.select(&options.names)?,
    };
    let loaded: Vec<_> = names.iter().map(|name| (name.clone(), shelf.load(name))).collect();
    let mut tasks = Vec::new();
    for (at, (_, scenario)) in loaded.iter().enumerate() {
        let Ok(scenario) = scenario else { continue };
        for (n, seed) in options.seeds.0.iter().enumerate() {
            let search = if n < SEARCHED_SEEDS { options.search.0 } else { Search::None };
            tasks.push((at, scenario.clone(), *seed, search));
        }
    }
    let threads = pool::threads(options.threads.map(usize::from));
    let proofs = pool::each(&tasks, threads, "seeds", |(_, scenario, seed, search)| {
        one(scenario, *seed, *search)
    })?;
    let mut checked: Vec<_> = loaded
        .into_iter()
        .map(|(name, loaded)| Checked { name, outcome: loaded.map(|_| Proof::default()) })
        .collect();
    for ((at, ..), proof) in tasks.iter().zip(proofs) {
        merge(&mut checked[*at], proof);
    }
    if options.json {
        console::json(&checked.iter().map(as_json).collect());
    } else {
        checked.iter().for_each(say);
    }
    match checked.iter().all(|c| c.outcome.as_ref().is_ok_and(|p| p.findings.is_empty())) {
        true => Ok(()),
        false => Err(Failure::Findings),
    }
}

fn one(scenario: &Arc<Scenario>, seed: u64, search: Search) -> Result<Proof, String> {
    let runtime = crate::runtime::current().map_err(|failure| failure.to_string())?;
    let proved = runtime.block_on(Box::pin(prove(fleet::kinds(), scenario, seed, search)));
    proved.map_err(|error| format!("seed {seed}: {error}"))
}

fn merge(into: &mut Checked, proof: Result<Proof, String>) {
    let Ok(all) = &mut into.outcome else { return };
    match proof {
        Ok(mut proof) => {
            all.rows.append(&mut proof.rows);
            all.findings.append(&mut proof.findings);
        }
        Err(error) => into.outcome = Err(Failure::failed(error)),
    }
}

fn say(checked: &Checked) {
    let name = &checked.name;
    let proof = match &checked.outcome {
        Err(failure) => return console::out(format_args!("{name}: {failure}")),
        Ok(proof) => proof,
    };
    let numbers = numbers(&proof.rows);
    if proof.findings.is_empty() {
        return console::out(format_args!("{name}: ok, {numbers}"));
    }
    console::out(format_args!("{name}: {} findings, {numbers}", proof.findings.len()));
    let mut by_sentence: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    for finding in &proof.findings {
        by_sentence.entry(without_numbers(&finding.message)).or_default().push(finding);
    }
    for findings in by_sentence.values() {
        let seeds: Vec<_> = findings.iter().map(|f| f.seed.to_string()).collect();
        let more = if seeds.len() > SEEDS_SHOWN { ", …" } else { "" };
        let shown = seeds[..seeds.len().min(SEEDS_SHOWN)].join(", ");
        let first = &findings[0].message;
        console::out(format_args!("  {} seeds ({shown}{more}): {first}", findings.len()));
    }
}

/// Sentences that differ by their numbers only are one finding on several seeds; the number of a
/// plan is its name.
fn without_numbers(sentence: &str) -> String {
    let named = sentence.split_once(": ").filter(|(plan, _)| plan.starts_with("wrong plan"));
    let (plan, rest) = named.unwrap_or(("", sentence));
    let words = rest.chars().filter(|c| !c.is_ascii_digit() && !".-".contains(*c));
    format!("{plan} {}", words.collect::<String>())
}

/// Means over the seeds.
fn numbers(rows: &[Row]) -> String {
    let count = rows.len().max(1) as f64;
    let mean = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() / count;
    let mut text = format!(
        "{} seeds: nothing done costs {:.1} user-minutes, the reference {:.1}",
        rows.len(),
        mean(|row| row.noop),
        mean(|row| row.reference)
    );
    let plans = rows.first().map_or(0, |row| row.wrong.len());
    if plans > 0 {
        let score = |at| rows.iter().map(|row| row.wrong[at]).sum::<f64>() / count;
        let wrong: Vec<_> = (0..plans).map(|at| decimals(score(at), 3)).collect();
        text += &format!("; wrong plans score {}", wrong.join(", "));
    }
    let best = rows.iter().filter_map(|row| row.best.as_ref());
    if let Some((value, plan)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) {
        text += &format!("; best found {value:.3} by {plan}");
    }
    text
}

fn as_json(checked: &Checked) -> Value {
    let proof = match &checked.outcome {
        Err(failure) => return json!({"name": checked.name, "error": failure.to_string()}),
        Ok(proof) => proof,
    };
    let rows = proof.rows.iter().map(|row| {
        json!({
            "seed": row.seed,
            "noop": row.noop,
            "reference": row.reference,
            "wrong": row.wrong,
            "best": row.best.as_ref().map(|(value, plan)| json!({"value": value, "plan": plan})),
        })
    });
    let findings = proof.findings.iter().map(|f| json!({"seed": f.seed, "message": f.message}));
    json!({
        "name": checked.name,
        "ok": proof.findings.is_empty(),
        "findings": findings.collect::<Vec<_>>(),
        "seeds": rows.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_words() {
        for (text, search) in [
            ("none", Some(Search::None)),
            ("singles", Some(Search::Singles)),
            ("pairs:40", Some(Search::Pairs(40))),
            ("pairs", None),
            ("pairs:many", None),
            ("triples", None),
        ] {
            assert_eq!(text.parse::<SearchChoice>().ok().map(|choice| choice.0), search, "{text}");
        }
    }

    #[test]
    fn findings_that_differ_by_numbers_are_one() {
        let a = without_numbers("costs 12.5 user-minutes, -3 % of it");
        assert_eq!(a, without_numbers("costs 7.25 user-minutes, 14 % of it"));
        assert_ne!(a, without_numbers("no page fires"));
        assert_ne!(without_numbers("wrong plan 1: x"), without_numbers("wrong plan 2: x"));
    }
}
