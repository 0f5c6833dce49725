//! From words as written to arguments: braces, quotes, variables, substitutions, splitting, globs.

use crate::grammar;
use crate::interpreter::{Halt, Shell};
use crate::tree;
use brush_parser::word::{
    BraceExpressionMember, BraceExpressionOrText, TildeExpr, WordPiece, WordPieceWithSource,
};
use brush_parser::{arithmetic, ast, pattern, word};
use regex::Regex;
use std::future::Future;
use std::pin::Pin;

pub(crate) type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T, Halt>> + Send + 'a>>;

/// A word while it is expanded: characters, and whether each was quoted.
#[derive(Clone, Debug, Default)]
struct Field {
    chars: Vec<(char, bool)>,
    /// Quotes make a field even where nothing is in them.
    quoted: bool,
}

impl Field {
    fn text(&self) -> String {
        self.chars.iter().map(|(c, _)| *c).collect()
    }

    fn is_pattern(&self) -> bool {
        self.chars.iter().any(|(c, quoted)| !quoted && matches!(c, '*' | '?' | '['))
    }

    /// As a pattern in which quoted characters stand for themselves.
    fn pattern(&self) -> String {
        let escaped = |(c, quoted): &(char, bool)| {
            let special = matches!(c, '*' | '?' | '[' | ']' | '\\');
            if *quoted && special { format!("\\{c}") } else { c.to_string() }
        };
        self.chars.iter().map(escaped).collect()
    }
}

/// Fields so far, the last one open.
#[derive(Debug, Default)]
struct Fields {
    done: Vec<Field>,
    open: Option<Field>,
}

impl Fields {
    fn push(&mut self, text: &str, quoted: bool) {
        let field = self.open.get_or_insert_default();
        field.quoted |= quoted;
        field.chars.extend(text.chars().map(|c| (c, quoted)));
    }

    /// Text of an expansion without quotes: blanks separate fields.
    fn push_split(&mut self, text: &str) {
        for c in text.chars() {
            if matches!(c, ' ' | '\t' | '\n') {
                self.done.extend(self.open.take());
            } else {
                self.open.get_or_insert_default().chars.push((c, false));
            }
        }
    }

    fn finish(mut self) -> Vec<Field> {
        self.done.extend(self.open.take());
        self.done
    }
}

pub(crate) fn unsupported(what: &str) -> Halt {
    Halt::Fatal(format!("bash: {what} is not supported by this terminal"))
}

impl Shell<'_> {
    /// The arguments that a list of words becomes.
    pub(crate) async fn arguments(&mut self, words: &[&str]) -> Result<Vec<String>, Halt> {
        let mut all = Vec::new();
        for word in words {
            self.fuel.step()?;
            for one in self.braces(word)? {
                for field in self.fields(&one).await? {
                    self.globbed(&field, &mut all).await?;
                }
            }
        }
        let bytes = all.iter().map(String::len).sum();
        self.fuel.write(bytes)?;
        Ok(all)
    }

    /// One word as one text: for assignments and redirections.
    pub(crate) async fn text(&mut self, word: &str) -> Result<String, Halt> {
        self.fuel.step()?;
        let pieces = parsed(word)?;
        self.joined(pieces, true).await
    }

    /// What an expansion gives is paid for before it is put together with others.
    fn paid(&mut self, text: String) -> Result<String, Halt> {
        self.fuel.write(text.len())?;
        Ok(text)
    }

    /// The body of a here-document.
    pub(crate) async fn document(&mut self, body: &str) -> Result<String, Halt> {
        let pieces = grammar::guarded(|| word::parse_heredoc(body, &grammar::options()))
            .and_then(Result::ok)
            .ok_or_else(|| Halt::Fatal("bash: here-document: bad substitution".into()))?;
        self.joined(pieces, true).await
    }

    /// A word as a pattern, its quoted characters escaped.
    pub(crate) async fn pattern(&mut self, word: &str) -> Result<Regex, Halt> {
        let fields = self.fields(word).await?;
        let text: Vec<_> = fields.iter().map(Field::pattern).collect();
        Ok(glob(&text.join(" ")))
    }

    async fn joined(
        &mut self,
        pieces: Vec<WordPieceWithSource>,
        quoted: bool,
    ) -> Result<String, Halt> {
        let mut fields = Fields::default();
        self.pieces(pieces, quoted, &mut fields).await?;
        let fields: Vec<_> = fields.finish().iter().map(Field::text).collect();
        Ok(fields.join(" "))
    }

    async fn fields(&mut self, word: &str) -> Result<Vec<Field>, Halt> {
        let mut fields = Fields::default();
        self.pieces(parsed(word)?, false, &mut fields).await?;
        Ok(fields.finish())
    }

    fn pieces<'a>(
        &'a mut self,
        pieces: Vec<WordPieceWithSource>,
        quoted: bool,
        into: &'a mut Fields,
    ) -> Running<'a, ()> {
        Box::pin(async move {
            for piece in pieces {
                self.piece(piece.piece, quoted, into).await?;
            }
            Ok(())
        })
    }

    async fn piece(
        &mut self,
        piece: WordPiece,
        quoted: bool,
        into: &mut Fields,
    ) -> Result<(), Halt> {
        match piece {
            WordPiece::Text(text) => into.push(&text, quoted),
            WordPiece::SingleQuotedText(text) => into.push(&text, true),
            WordPiece::AnsiCQuotedText(text) => into.push(&unescape(&text), true),
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => {
                into.push("", true);
                self.pieces(inner, true, into).await?;
            }
            WordPiece::EscapeSequence(text) => {
                let text = text.strip_prefix('\\').unwrap_or(&text);
                into.push(if text == "\n" { "" } else { text }, true);
            }
            WordPiece::TildeExpansion(tilde) => {
                let home = match tilde {
                    TildeExpr::Home => self.variable("HOME").unwrap_or_default(),
                    TildeExpr::UserHome(user) => crate::session::home(&user),
                    TildeExpr::WorkingDir => self.session.cwd.clone(),
                    TildeExpr::OldWorkingDir => self.variable("OLDPWD").unwrap_or_default(),
                    TildeExpr::NthDirFromTopOfDirStack { .. }
                    | TildeExpr::NthDirFromBottomOfDirStack { .. } => {
                        return Err(unsupported("the folder stack (~N)"));
                    }
                };
                into.push(&home, true);
            }
            WordPiece::CommandSubstitution(line) => {
                let text = self.substitute(&line).await?;
                let text = self.paid(text)?;
                if quoted { into.push(&text, true) } else { into.push_split(&text) }
            }
            WordPiece::BackquotedCommandSubstitution(line) => {
                let line = line.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
                let text = self.substitute(&line).await?;
                let text = self.paid(text)?;
                if quoted { into.push(&text, true) } else { into.push_split(&text) }
            }
            WordPiece::ArithmeticExpression(expression) => {
                let source = self.text(&expression.value).await?;
                let tree = grammar::guarded(|| arithmetic::parse(&source))
                    .and_then(Result::ok)
                    .ok_or_else(|| Halt::Fatal(format!("bash: {source}: syntax error")))?;
                let value = self.compute(&tree)?;
                into.push(&value.to_string(), quoted);
            }
            WordPiece::ParameterExpansion(expression) => {
                let text = self.parameter(expression).await?;
                let text = self.paid(text)?;
                if quoted { into.push(&text, true) } else { into.push_split(&text) }
            }
        }
        Ok(())
    }

    /// Standard output of a line, without its final line ends.
    fn substitute<'a>(&'a mut self, line: &'a str) -> Running<'a, String> {
        Box::pin(async move {
            self.fuel.enter()?;
            let kept = (self.session.cwd.clone(), self.session.vars.clone());
            let output = self.line(line).await?;
            (self.session.cwd, self.session.vars) = kept;
            self.session.status = output.code;
            self.substituted = Some(output.code);
            self.land();
            self.fuel.leave();
            self.complain(&output.err)?;
            Ok(output.out.trim_end_matches('\n').to_string())
        })
    }

    fn compute(&mut self, tree: &ast::ArithmeticExpr) -> Result<i64, Halt> {
        use ast::{ArithmeticExpr as E, ArithmeticTarget, BinaryOperator as B, UnaryOperator as U};
        self.fuel.step()?;
        match tree {
            E::Literal(number) => Ok(*number),
            E::Reference(ArithmeticTarget::Variable(name)) => {
                let text = self.variable(name).unwrap_or_default();
                Ok(text.trim().parse().unwrap_or(0))
            }
            E::UnaryOp(operator, of) => {
                let value = self.compute(of)?;
                Ok(match operator {
                    U::UnaryPlus => value,
                    U::UnaryMinus => value.wrapping_neg(),
                    U::BitwiseNot => !value,
                    U::LogicalNot => i64::from(value == 0),
                })
            }
            E::Conditional(test, yes, no) => {
                if self.compute(test)? != 0 {
                    self.compute(yes)
                } else {
                    self.compute(no)
                }
            }
            E::BinaryOp(operator, left, right) => {
                let (a, b) = (self.compute(left)?, self.compute(right)?);
                let zero = || Halt::Fatal("bash: division by 0".into());
                Ok(match operator {
                    B::Add => a.wrapping_add(b),
                    B::Subtract => a.wrapping_sub(b),
                    B::Multiply => a.wrapping_mul(b),
                    B::Divide => a.checked_div(b).ok_or_else(zero)?,
                    B::Modulo => a.checked_rem(b).ok_or_else(zero)?,
                    B::LessThan => i64::from(a < b),
                    B::LessThanOrEqualTo => i64::from(a <= b),
                    B::GreaterThan => i64::from(a > b),
                    B::GreaterThanOrEqualTo => i64::from(a >= b),
                    B::Equals => i64::from(a == b),
                    B::NotEquals => i64::from(a != b),
                    B::LogicalAnd => i64::from(a != 0 && b != 0),
                    B::LogicalOr => i64::from(a != 0 || b != 0),
                    B::BitwiseAnd => a & b,
                    B::BitwiseOr => a | b,
                    B::BitwiseXor => a ^ b,
                    B::Comma => b,
                    B::ShiftLeft => a.wrapping_shl(b as u32),
                    B::ShiftRight => a.wrapping_shr(b as u32),
                    B::Power => return Err(unsupported("the power operator (**)")),
                })
            }
            _ => Err(unsupported("an assignment inside $((...))")),
        }
    }

    fn braces(&mut self, word: &str) -> Result<Vec<String>, Halt> {
        if !word.contains('{') {
            return Ok(vec![word.to_string()]);
        }
        let parts = grammar::guarded(|| word::parse_brace_expansions(word, &grammar::options()));
        let Some(Ok(Some(parts))) = parts else { return Ok(vec![word.to_string()]) };
        self.products(&parts)
    }

    fn products(&mut self, parts: &[BraceExpressionOrText]) -> Result<Vec<String>, Halt> {
        let mut all = vec![String::new()];
        for part in parts {
            let choices = match part {
                BraceExpressionOrText::Text(text) => vec![text.clone()],
                BraceExpressionOrText::Expr(members) => {
                    let mut choices = Vec::new();
                    for member in members {
                        self.members_of(member, &mut choices)?;
                    }
                    choices
                }
            };
            let mut next = Vec::new();
            for head in &all {
                for tail in &choices {
                    self.fuel.step()?;
                    next.push(format!("{head}{tail}"));
                }
            }
            all = next;
        }
        Ok(all)
    }

    fn members_of(
        &mut self,
        member: &BraceExpressionMember,
        into: &mut Vec<String>,
    ) -> Result<(), Halt> {
        match member {
            BraceExpressionMember::NumberSequence { start, end, increment } => {
                let step = increment.unsigned_abs().max(1) as usize;
                let up = start <= end;
                let (low, high) = if up { (*start, *end) } else { (*end, *start) };
                let count = high.saturating_sub(low) as usize / step;
                for n in 0..=count {
                    self.fuel.step()?;
                    let by = (n * step) as i64;
                    let value = if up { start.wrapping_add(by) } else { start.wrapping_sub(by) };
                    into.push(value.to_string());
                }
            }
            BraceExpressionMember::CharSequence { start, end, increment } => {
                let step = increment.unsigned_abs().max(1) as usize;
                let (low, high) = if start <= end { (*start, *end) } else { (*end, *start) };
                let mut chars: Vec<char> = (low..=high).take(4096).collect();
                if start > end {
                    chars.reverse();
                }
                into.extend(chars.into_iter().step_by(step).map(String::from));
            }
            BraceExpressionMember::Child(parts) => into.extend(self.products(parts)?),
        }
        Ok(())
    }

    /// Adds the paths that a field matches, or the field itself.
    async fn globbed(&mut self, field: &Field, into: &mut Vec<String>) -> Result<(), Halt> {
        if !field.is_pattern() {
            into.push(field.text());
            return Ok(());
        }
        let pattern = field.pattern();
        let absolute = pattern.starts_with('/');
        let tree = self.tree().await?;
        let mut found =
            vec![(if absolute { "/".into() } else { self.session.cwd.clone() }, String::new())];
        let parts: Vec<&str> = pattern.split('/').filter(|p| !p.is_empty()).collect();
        for part in &parts {
            let matcher = glob(part);
            let hidden = part.starts_with('.');
            let literal = !part.contains(['*', '?', '[']);
            let mut next = Vec::new();
            for (folder, shown) in &found {
                self.fuel.step()?;
                let names = if literal {
                    vec![part.replace('\\', "")]
                } else if tree.is_folder(folder) {
                    tree.names(folder)
                } else {
                    Vec::new()
                };
                for name in names {
                    let path = tree::absolute(folder, &name);
                    let fits = if literal {
                        tree.exists(&path)
                    } else {
                        (hidden || !name.starts_with('.')) && matcher.is_match(&name)
                    };
                    if fits {
                        let shown = match (shown.is_empty(), absolute) {
                            (true, true) => format!("/{name}"),
                            (true, false) => name,
                            _ => format!("{shown}/{name}"),
                        };
                        next.push((path, shown));
                    }
                }
            }
            found = next;
        }
        if found.is_empty() || parts.is_empty() {
            into.push(field.text());
        } else {
            into.extend(found.into_iter().map(|(_, shown)| shown));
        }
        Ok(())
    }
}

fn parsed(word: &str) -> Result<Vec<WordPieceWithSource>, Halt> {
    grammar::guarded(|| word::parse(word, &grammar::options()))
        .and_then(Result::ok)
        .ok_or_else(|| Halt::Fatal(format!("bash: {word}: bad substitution")))
}

/// A glob as a regular expression over a whole text; one that is none matches itself.
pub(crate) fn glob(pattern: &str) -> Regex {
    grammar::guarded(|| pattern::pattern_to_regex_str(pattern, false))
        .and_then(Result::ok)
        .and_then(|source| Regex::new(&format!("(?s)^(?:{source})$")).ok())
        .unwrap_or_else(|| {
            #[expect(clippy::expect_used, reason = "an escaped text is always an expression")]
            Regex::new(&format!("^{}$", regex::escape(pattern))).expect("escaped")
        })
}

/// Backslash sequences as in `$'...'`, `echo -e` and `printf`.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('e') => out.push('\u{1b}'),
            Some('0') => {
                let mut value = 0u32;
                for _ in 0..3 {
                    let Some(digit) = chars.peek().and_then(|d| d.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                out.extend(char::from_u32(value));
            }
            Some(c @ ('\\' | '\'' | '"')) => out.push(c),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}
