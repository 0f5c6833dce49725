//! Options of which it is known whether they were given on the command line: what has no meaning
//! beside another option is refused, and not ignored. The environment may still set them.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The options, and what was given.
#[derive(Clone, Debug)]
pub struct Given<T> {
    /// The options.
    pub options: T,
    /// Those on the command line, as they are written there.
    pub names: Vec<String>,
}

impl<T: Args> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given<T>, Error> {
        Ok(Given { options: T::from_arg_matches(matches)?, names: names::<T>(matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.names = names::<T>(matches);
        self.options.update_from_arg_matches(matches)
    }
}

fn names<T: Args>(matches: &ArgMatches) -> Vec<String> {
    let all = T::augment_args(Command::new("options"));
    let given = all.get_arguments().filter(|arg| {
        matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    given.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Clone, Debug, clap::Args)]
    struct Few {
        #[arg(long, default_value = "1")]
        first: u8,
        #[arg(long)]
        second_one: Option<u8>,
    }

    #[derive(Debug, Parser)]
    struct Whole {
        #[arg(long)]
        other: bool,
        #[command(flatten)]
        few: Given<Few>,
    }

    #[test]
    fn what_was_given_is_told_from_defaults() {
        let parse = |words: &[&str]| Whole::try_parse_from([&["x"], words].concat()).unwrap();
        let none = parse(&["--other"]);
        assert!(none.other && none.few.names.is_empty() && none.few.options.first == 1);
        let both = parse(&["--second-one", "3", "--first", "1"]).few;
        assert_eq!(both.names, ["--first", "--second-one"]);
        assert_eq!(both.options.second_one, Some(3));
    }
}
