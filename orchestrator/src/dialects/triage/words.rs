//! Closed phrase tables: what a free text claims or asks for. A text is cut into clauses at its
//! punctuation and causal words. A clause says something only where *every* word of it is in the
//! tables; anything else is chatter and says nothing. A negation anywhere voids the whole text.

use std::collections::BTreeSet;

/// Phrases and what they mean. A pattern is a list of words that a clause must have, in any order;
/// `a/b` is one word or the other, and a word in capitals stands for a group of words.
pub(super) struct Table<M: 'static> {
    phrases: Vec<(M, Vec<Vec<&'static str>>)>,
    vocabulary: BTreeSet<&'static str>,
}

impl<M: Copy> Table<M> {
    /// Of these patterns and groups.
    pub(super) fn new(
        patterns: &'static [(M, &'static str)],
        groups: &'static [(&'static str, &'static str)],
    ) -> Table<M> {
        let group = |word: &'static str| -> Vec<&'static str> {
            match groups.iter().find(|(name, _)| *name == word) {
                Some((_, words)) => words.split(' ').collect(),
                None => word.split('/').collect(),
            }
        };
        let words = |pattern: &'static str| pattern.split(' ').map(group).collect();
        let phrases: Vec<(M, Vec<Vec<_>>)> =
            patterns.iter().map(|(means, pattern)| (*means, words(pattern))).collect();
        let vocabulary = phrases.iter().flat_map(|(_, groups)| groups.iter().flatten()).copied();
        Table { vocabulary: vocabulary.collect(), phrases }
    }
}

/// What a text came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard<M> {
    /// These meanings, in order; none where it is all chatter.
    Says(Vec<M>),
    /// It says what is not, or is not to be.
    Negated,
}

/// Words that say nothing by themselves.
const GLUE: &[&str] = &[
    "a",
    "all",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "by",
    "current",
    "currently",
    "for",
    "from",
    "has",
    "have",
    "in",
    "is",
    "it",
    "its",
    "now",
    "of",
    "on",
    "our",
    "out",
    "please",
    "running",
    "service",
    "services",
    "so",
    "that",
    "the",
    "their",
    "them",
    "then",
    "these",
    "this",
    "those",
    "to",
    "up",
    "was",
    "were",
    "which",
    "with",
];

/// Names of components, and words for them.
const PLACES: &[&str] = &[
    "app",
    "application",
    "auth",
    "auth_service",
    "balancer",
    "cache_redis",
    "cdn",
    "component",
    "database_primary",
    "database_replica",
    "db",
    "host",
    "instance",
    "lb",
    "load",
    "load_balancer",
    "message_queue",
    "node",
    "nodes",
    "pod",
    "pods",
    "postgres",
    "postgresql",
    "primary",
    "process",
    "processes",
    "production",
    "redis",
    "replica",
    "server",
    "servers",
    "app_server_1",
    "app_server_2",
];

const NEGATIONS: &[&str] = &[
    "aint", "arent", "avoid", "cannot", "cant", "didnt", "doesnt", "dont", "except", "hardly",
    "hasnt", "havent", "instead", "isnt", "neither", "never", "no", "none", "nor", "not",
    "nothing", "rather", "refuse", "shouldnt", "unlikely", "wasnt", "werent", "without", "wont",
    "wouldnt",
];

/// Where a clause ends, besides punctuation.
const CUTS: &[&str] = &["because", "due", "caused", "since", "causing"];

/// Longest text that is read, bytes; what is longer says nothing.
const TEXT_MAX: usize = 2000;

impl<M: Copy + Ord> Table<M> {
    /// What a text says.
    pub(super) fn hear(&self, text: &str) -> Heard<M> {
        if text.len() > TEXT_MAX {
            return Heard::Says(Vec::new());
        }
        let mut meanings = BTreeSet::new();
        for clause in clauses(text) {
            // "No action" is an answer in itself.
            let settled = clause.windows(2).any(|two| two == ["no", "action"]);
            if !settled && clause.iter().any(|word| NEGATIONS.contains(&word.as_str())) {
                return Heard::Negated;
            }
            if clause.iter().all(|word| self.knows(word)) {
                let has = |group: &Vec<&str>| clause.iter().any(|word| group.contains(&&**word));
                let said = self.phrases.iter().filter(|(_, groups)| groups.iter().all(has));
                meanings.extend(said.map(|(means, _)| *means));
            }
        }
        Heard::Says(meanings.into_iter().collect())
    }

    fn knows(&self, word: &str) -> bool {
        self.vocabulary.contains(word)
            || GLUE.contains(&word)
            || PLACES.contains(&word)
            || word.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The numbers in a text.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| word.parse().ok())
}

/// Words of each clause, in lower case; an apostrophe ends no word, a hyphen does.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase).chain([' ']) {
        match c {
            '\'' | '\u{2019}' | '`' | '"' => continue,
            c if c.is_alphanumeric() || c == '_' => {
                word.push(c);
                continue;
            }
            _ => {}
        }
        if !word.is_empty() {
            let whole = std::mem::take(&mut word);
            if CUTS.contains(&whole.as_str()) {
                clauses.push(Vec::new());
            } else if let Some(clause) = clauses.last_mut() {
                clause.push(whole);
            }
        }
        if matches!(
            c,
            ',' | ';' | ':' | '.' | '!' | '?' | '(' | ')' | '\n' | '\u{2014}' | '\u{2013}'
        ) {
            clauses.push(Vec::new());
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}
