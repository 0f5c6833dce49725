//! `mayday play`: a person on call, at a terminal or over a pipe.

use crate::console;
use crate::failure::Failure;
use crate::hosting::RecordsArgs;
use crate::runtime;
use crate::seat::input::Input;
use crate::seat::session::{Sitting, sit};
use crate::shelf::LibraryArgs;
use archive::Place;
use model::EpisodeId;

/// Options of `mayday play`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The scenario: a name, a stem or a .yaml file.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// The seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    records: RecordsArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

/// Runs it.
///
/// # Errors
/// Bad usage before anything is played; else where the simulator or the store failed, or a line of
/// a pipe was not understood.
pub fn run(options: Options) -> Result<(), Failure> {
    let shelf = options.library.open()?;
    let scenario = match &shelf.load_all(std::slice::from_ref(&options.scenario))?[..] {
        [one] => one.clone(),
        several => {
            let names: Vec<_> = several.iter().map(|s| s.name.as_str()).collect();
            let (word, names) = (&options.scenario, names.join(", "));
            return Err(Failure::usage(format!("{word} is several scenarios: play one of {names}")));
        }
    };
    let store = options.records.records.open().map_err(Failure::usage)?;
    let (seed, episode) = (options.seed, fresh()?);
    let input = Input::open(&scenario)?;
    let sitting = Sitting { scenario, seed, episode, store };
    let sat = runtime::current()?.block_on(Box::pin(sit(&sitting, input)))?;
    if let place @ (Place::Path(_) | Place::Server(_)) = &options.records.records {
        console::note(format_args!("record: episode {episode} in {place}"));
    }
    match sat.misunderstood {
        0 => Ok(()),
        _ if sat.person => Ok(()),
        1 => Err(Failure::failed("a line was not understood")),
        n => Err(Failure::failed(format!("{n} lines were not understood"))),
    }
}

/// An episode that nobody else has: the same scenario may be played again and again.
fn fresh() -> Result<EpisodeId, Failure> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::failed(format!("this system has no randomness: {error}")))?;
    Ok(EpisodeId(u64::from_le_bytes(bytes)))
}
