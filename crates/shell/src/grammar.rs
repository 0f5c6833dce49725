//! From a line to its syntax tree, by the parser; what is too long, too deep or not supported is
//! refused before anything runs.

use crate::fuel::{Limits, Spent};
use brush_parser::ast::{
    Command, CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList,
    IoFileRedirectTarget, IoRedirect, Pipeline, Program, RedirectList, SeparatorOperator,
};
use brush_parser::{Parser, ParserOptions};

/// Openers in one line: the parser's stack grows with them.
const OPENERS_MAX: usize = 32;
/// Openers of this kind in a row make the parser try one meaning after another.
const PARENTHESES_MAX: usize = 6;
const OPENING_WORDS: &[&str] = &["if", "while", "until", "for", "case", "do", "then", "{", "!"];

/// Why a line is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Spent(Spent),
    /// A message of the shell.
    Syntax(String),
    /// The name of a construct.
    Unsupported(&'static str),
}

pub(crate) fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

/// The tree of a line.
pub(crate) fn parse(line: &str, limits: &Limits) -> Result<Program, Refused> {
    measure(line, limits).map_err(Refused::Spent)?;
    if line.contains('\0') {
        return Err(Refused::Syntax("syntax error near unexpected NUL byte".into()));
    }
    if let Some(number) = descriptor_too_large(line) {
        return Err(Refused::Syntax(format!("{number}: file descriptor out of range")));
    }
    if document_inside(line) {
        return Err(Refused::Unsupported("here-documents inside parentheses or substitutions"));
    }
    let parsed = guarded(|| Parser::new(line.as_bytes(), &options()).parse_program());
    let program = parsed
        .ok_or_else(|| Refused::Syntax("syntax error".into()))?
        .map_err(|error| Refused::Syntax(message(line, &error)))?;
    program.complete_commands.iter().try_for_each(list)?;
    Ok(program)
}

/// Calls the parser, which is somebody else's: what makes it panic is a line it does not know.
pub(crate) fn guarded<T>(parse: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(parse)).ok()
}

/// Whether a here-document starts inside of parentheses or backquotes, where the parser may look
/// for its end without end. Quotes are not looked at: rather too careful than too late.
fn document_inside(line: &str) -> bool {
    let starts = line.match_indices("<<").map(|(at, _)| at);
    starts.filter(|at| !line[*at..].starts_with("<<<") && !line[..*at].ends_with('<')).any(|at| {
        let count = |c: char| line[..at].matches(c).count();
        let rest = line[at..].lines().next().unwrap_or_default();
        count('(') > count(')') || count('`') % 2 == 1 || rest.contains(['(', '`'])
    })
}

/// Digits before `<` or `>` that are no descriptor; the parser does not expect them.
fn descriptor_too_large(line: &str) -> Option<&str> {
    line.match_indices(['<', '>']).find_map(|(at, _)| {
        let head = &line[..at];
        let digits = head.len() - head.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (digits > 9).then(|| &head[head.len() - digits..])
    })
}

fn message(line: &str, error: &brush_parser::ParseError) -> String {
    match error {
        brush_parser::ParseError::ParsingAtEndOfInput => {
            "syntax error: unexpected end of file".into()
        }
        brush_parser::ParseError::ParsingNear(at) => {
            let rest: String = line.chars().skip(at.index).take(20).collect();
            let token = rest.split_whitespace().next().unwrap_or("newline");
            format!("syntax error near unexpected token `{token}'")
        }
        brush_parser::ParseError::Tokenizing { inner, .. } => format!("syntax error: {inner}"),
    }
}

/// Length and openers, whatever they are part of.
fn measure(line: &str, limits: &Limits) -> Result<(), Spent> {
    if line.len() > limits.input {
        return Err(Spent::Input);
    }
    let signs = line.chars().filter(|c| matches!(c, '(' | '{' | '`' | '[')).count();
    let words = line
        .split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')'))
        .filter(|word| OPENING_WORDS.contains(word))
        .count();
    let parentheses = "(".repeat(PARENTHESES_MAX + 1);
    let packed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    if signs + words > OPENERS_MAX || packed.contains(&parentheses) {
        return Err(Spent::Nesting);
    }
    Ok(())
}

fn list(list: &CompoundList) -> Result<(), Refused> {
    for item in &list.0 {
        if matches!(item.1, SeparatorOperator::Async) {
            return Err(Refused::Unsupported("background jobs (&)"));
        }
        for (_, one) in &item.0 {
            pipeline(one)?;
        }
    }
    Ok(())
}

fn pipeline(pipeline: &Pipeline) -> Result<(), Refused> {
    pipeline.seq.iter().try_for_each(command)
}

fn command(command: &Command) -> Result<(), Refused> {
    match command {
        Command::Simple(simple) => {
            let prefix = simple.prefix.iter().flat_map(|p| &p.0);
            let suffix = simple.suffix.iter().flat_map(|s| &s.0);
            prefix.chain(suffix).try_for_each(|item| match item {
                Item::ProcessSubstitution(..) => {
                    Err(Refused::Unsupported("process substitution (<(...))"))
                }
                Item::IoRedirect(one) => redirect(one),
                Item::Word(_) | Item::AssignmentWord(..) => Ok(()),
            })
        }
        Command::Function(_) => Err(Refused::Unsupported("function definitions")),
        Command::ExtendedTest(..) => Err(Refused::Unsupported("[[ ... ]]; use [ ... ]")),
        Command::Compound(one, redirects) => {
            redirects.iter().flat_map(|RedirectList(all)| all).try_for_each(redirect)?;
            compound(one)
        }
    }
}

fn compound(command: &CompoundCommand) -> Result<(), Refused> {
    match command {
        CompoundCommand::BraceGroup(group) => list(&group.list),
        CompoundCommand::Subshell(group) => list(&group.list),
        CompoundCommand::ForClause(clause) => list(&clause.body.list),
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
            list(&clause.0)?;
            list(&clause.1.list)
        }
        CompoundCommand::IfClause(clause) => {
            list(&clause.condition)?;
            list(&clause.then)?;
            for one in clause.elses.iter().flatten() {
                one.condition.as_ref().map_or(Ok(()), list)?;
                list(&one.body)?;
            }
            Ok(())
        }
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).try_for_each(list)
        }
        CompoundCommand::Arithmetic(_) => Err(Refused::Unsupported("arithmetic commands ((...))")),
        CompoundCommand::ArithmeticForClause(_) => {
            Err(Refused::Unsupported("arithmetic for loops"))
        }
        CompoundCommand::Coprocess(_) => Err(Refused::Unsupported("coprocesses (coproc)")),
    }
}

fn redirect(redirect: &IoRedirect) -> Result<(), Refused> {
    match redirect {
        IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(..)) => {
            Err(Refused::Unsupported("process substitution (<(...))"))
        }
        _ => Ok(()),
    }
}
