//! Dialects as their clients see them: recorded episodes of the originals, what may not follow
//! from figures, sessions, soaks, and small clients against a scripted model.

mod clients;
mod halves;
mod kit;
mod netarena;
mod players;
mod sessions;
mod soak;
mod sound;
mod triage;
mod vectors;
mod verdict;
