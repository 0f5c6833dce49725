//! From words to the tree of an awk program.

use super::lex::{Token, tokens};
use crate::regular::{self, Flavor};
use regex::Regex;

/// Parentheses, blocks and operators in each other at most.
const DEPTH_MAX: u32 = 64;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(f64),
    Text(String),
    Regex(Regex),
    Variable(String),
    Element(String, Vec<Expr>),
    Field(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Match(Box<Expr>, Box<Expr>, bool),
    In(Vec<Expr>, String),
    Assign(&'static str, Box<Expr>, Box<Expr>),
    /// Target, step, whether the value is that before.
    Step(Box<Expr>, f64, bool),
    Call(String, Vec<Expr>),
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    Expr(Expr),
    Print(Vec<Expr>),
    Printf(Vec<Expr>),
    If(Expr, Vec<Statement>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    For(Option<Box<Statement>>, Option<Expr>, Option<Box<Statement>>, Vec<Statement>),
    ForIn(String, String, Vec<Statement>),
    Delete(String, Vec<Expr>),
    Next,
    Exit(Option<Expr>),
    Break,
    Continue,
}

/// When a rule applies.
#[derive(Clone, Debug)]
pub(super) enum When {
    Begin,
    End,
    Always,
    If(Expr),
    Range(Expr, Expr),
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(super) rules: Vec<(When, Vec<Statement>)>,
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    /// In a print list, where `>` would be a file.
    no_greater: bool,
}

type Parsed<T> = Result<T, String>;

/// Parses a program.
///
/// # Errors
/// What is wrong with it, in a line.
pub(crate) fn parse(source: &str) -> Parsed<Program> {
    let tokens = tokens(source)?;
    let mut parser = Parser { tokens, at: 0, depth: 0, no_greater: false };
    let mut rules = Vec::new();
    loop {
        parser.skip();
        if parser.peek().is_none() {
            return Ok(Program { rules });
        }
        rules.push(parser.rule()?);
    }
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        match self.peek() {
            Some(Token::Name(n) | Token::Function(n)) => n == name,
            _ => false,
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let hit = self.is(sign);
        self.at += usize::from(hit);
        hit
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let hit = self.is_name(name);
        self.at += usize::from(hit);
        hit
    }

    fn want(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.error()) }
    }

    fn error(&self) -> String {
        match self.peek() {
            Some(Token::Sign(sign)) => format!("syntax error at or near {sign}"),
            Some(Token::Name(name) | Token::Function(name)) => {
                format!("syntax error at or near {name}")
            }
            Some(_) => "syntax error".into(),
            None => "syntax error at or near end of file".into(),
        }
    }

    fn skip(&mut self) {
        while self.is(";") || self.peek() == Some(&Token::Newline) {
            self.at += 1;
        }
    }

    fn newlines(&mut self) {
        while self.peek() == Some(&Token::Newline) {
            self.at += 1;
        }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_MAX {
            return Err("program too deeply nested".into());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn rule(&mut self) -> Parsed<(When, Vec<Statement>)> {
        if self.is_name("function") || self.is_name("func") {
            return Err("function definitions are not supported by this terminal".into());
        }
        let when = if self.eat_name("BEGIN") {
            When::Begin
        } else if self.eat_name("END") {
            When::End
        } else if self.is("{") {
            When::Always
        } else {
            let first = self.expr()?;
            if self.eat(",") { When::Range(first, self.expr()?) } else { When::If(first) }
        };
        let body = match self.is("{") {
            true => self.block()?,
            false if matches!(when, When::Begin | When::End) => return Err(self.error()),
            false => vec![Statement::Print(Vec::new())],
        };
        Ok((when, body))
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.deeper(|p| {
            p.want("{")?;
            let mut all = Vec::new();
            loop {
                p.skip();
                if p.eat("}") {
                    return Ok(all);
                }
                all.push(p.statement()?);
                if !p.is("}") && !p.is(";") && p.peek() != Some(&Token::Newline) {
                    let after_block = matches!(
                        p.tokens.get(p.at - 1),
                        Some(Token::Sign("}") | Token::Sign(";") | Token::Newline)
                    );
                    if !after_block {
                        return Err(p.error());
                    }
                }
            }
        })
    }

    fn body(&mut self) -> Parsed<Vec<Statement>> {
        self.newlines();
        if self.is("{") {
            return self.block();
        }
        if self.eat(";") {
            return Ok(Vec::new());
        }
        Ok(vec![self.deeper(Parser::statement)?])
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if self.eat_name("print") {
            return Ok(Statement::Print(self.list()?));
        }
        if self.eat_name("printf") {
            return Ok(Statement::Printf(self.list()?));
        }
        if self.eat_name("next") {
            return Ok(Statement::Next);
        }
        if self.eat_name("break") {
            return Ok(Statement::Break);
        }
        if self.eat_name("continue") {
            return Ok(Statement::Continue);
        }
        if self.eat_name("exit") {
            let ends =
                self.is("}") || self.is(";") || matches!(self.peek(), None | Some(Token::Newline));
            return Ok(Statement::Exit(if ends { None } else { Some(self.expr()?) }));
        }
        if self.eat_name("delete") {
            let Some(Token::Name(name)) = self.peek().cloned() else { return Err(self.error()) };
            self.at += 1;
            let keys = if self.eat("[") { self.until("]")? } else { Vec::new() };
            return Ok(Statement::Delete(name, keys));
        }
        if self.eat_name("if") {
            self.want("(")?;
            let test = self.expr()?;
            self.want(")")?;
            let then = self.body()?;
            let mark = self.at;
            self.skip();
            if self.eat_name("else") {
                return Ok(Statement::If(test, then, self.body()?));
            }
            self.at = mark;
            return Ok(Statement::If(test, then, Vec::new()));
        }
        if self.eat_name("while") {
            self.want("(")?;
            let test = self.expr()?;
            self.want(")")?;
            return Ok(Statement::While(test, self.body()?));
        }
        if self.eat_name("for") {
            return self.for_loop();
        }
        for unsupported in ["getline", "do", "printf"] {
            if self.is_name(unsupported) {
                return Err(format!("`{unsupported}' is not supported by this terminal"));
            }
        }
        Ok(Statement::Expr(self.expr()?))
    }

    fn for_loop(&mut self) -> Parsed<Statement> {
        self.want("(")?;
        if let (Some(Token::Name(key)), Some(Token::Name(word)), Some(Token::Name(array))) =
            (self.tokens.get(self.at), self.tokens.get(self.at + 1), self.tokens.get(self.at + 2))
            && word == "in"
        {
            let (key, array) = (key.clone(), array.clone());
            self.at += 3;
            self.want(")")?;
            return Ok(Statement::ForIn(key, array, self.body()?));
        }
        let start = if self.is(";") { None } else { Some(Box::new(Statement::Expr(self.expr()?))) };
        self.want(";")?;
        let test = if self.is(";") { None } else { Some(self.expr()?) };
        self.want(";")?;
        let step = if self.is(")") { None } else { Some(Box::new(Statement::Expr(self.expr()?))) };
        self.want(")")?;
        Ok(Statement::For(start, test, step, self.body()?))
    }

    /// What follows `print`: with or without parentheses; no output into files or programs.
    fn list(&mut self) -> Parsed<Vec<Expr>> {
        let ends =
            |p: &Parser| p.is("}") || p.is(";") || matches!(p.peek(), None | Some(Token::Newline));
        if ends(self) {
            return Ok(Vec::new());
        }
        let kept = std::mem::replace(&mut self.no_greater, true);
        let mut all = Vec::new();
        if !self.is(">") && !self.is(">>") && !self.is("|") {
            all.push(self.expr()?);
        }
        while self.eat(",") {
            self.newlines();
            all.push(self.expr()?);
        }
        self.no_greater = kept;
        if self.is(">") || self.is(">>") || self.is("|") {
            return Err("output into files or programs is not supported by this terminal".into());
        }
        // `print (a, b)` is parsed as a list in parentheses.
        if let [Expr::Call(name, args)] = all.as_slice()
            && name == "("
        {
            return Ok(args.clone());
        }
        Ok(all)
    }

    /// Expressions between commas up to a closing sign.
    fn until(&mut self, sign: &str) -> Parsed<Vec<Expr>> {
        let mut all = Vec::new();
        let kept = std::mem::replace(&mut self.no_greater, false);
        while !self.eat(sign) {
            if !all.is_empty() {
                self.want(",")?;
            }
            self.newlines();
            all.push(self.expr()?);
        }
        self.no_greater = kept;
        Ok(all)
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(Parser::choice)
    }

    /// Assignment and `?:`, both from the right.
    fn choice(&mut self) -> Parsed<Expr> {
        let left = self.binary(0)?;
        for sign in ["=", "+=", "-=", "*=", "/=", "%="] {
            if self.is(sign) && is_target(&left) {
                self.at += 1;
                let right = self.expr()?;
                let operator = SIGNS.iter().find(|s| **s == sign).copied().unwrap_or("=");
                return Ok(Expr::Assign(operator, Box::new(left), Box::new(right)));
            }
        }
        if self.eat("?") {
            let yes = self.expr()?;
            self.want(":")?;
            let no = self.expr()?;
            return Ok(Expr::Choice(Box::new(left), Box::new(yes), Box::new(no)));
        }
        Ok(left)
    }

    /// Binary operators by their levels, weakest first.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            if level == CONCAT {
                if !self.starts_value() {
                    return Ok(left);
                }
                let right = self.binary(level + 1)?;
                left = Expr::Binary("", Box::new(left), Box::new(right));
                continue;
            }
            if level == 2 && self.is_name("in") {
                self.at += 1;
                let Some(Token::Name(array)) = self.peek().cloned() else {
                    return Err(self.error());
                };
                self.at += 1;
                left = Expr::In(vec![left], array);
                continue;
            }
            let found = signs.iter().find(|s| self.is(s)).copied();
            let Some(sign) = found.filter(|s| *s != ">" || !self.no_greater) else {
                return Ok(left);
            };
            self.at += 1;
            self.newlines();
            let right = self.binary(level + 1)?;
            left = match sign {
                "~" | "!~" => Expr::Match(Box::new(left), Box::new(right), sign == "~"),
                _ => Expr::Binary(sign, Box::new(left), Box::new(right)),
            };
        }
    }

    fn starts_value(&self) -> bool {
        match self.peek() {
            Some(Token::Number(_) | Token::Text(_) | Token::Function(_)) => true,
            Some(Token::Name(name)) => name != "in",
            Some(Token::Sign(sign)) => matches!(*sign, "$" | "(" | "!" | "++" | "--"),
            _ => false,
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.eat("!") {
            return Ok(Expr::Not(Box::new(self.deeper(Parser::unary)?)));
        }
        if self.eat("-") {
            return Ok(Expr::Negate(Box::new(self.deeper(Parser::unary)?)));
        }
        if self.eat("+") {
            return self.deeper(Parser::unary);
        }
        for (sign, by) in [("++", 1.0), ("--", -1.0)] {
            if self.eat(sign) {
                let target = self.primary()?;
                return Ok(Expr::Step(Box::new(target), by, false));
            }
        }
        let value = self.primary()?;
        for (sign, by) in [("++", 1.0), ("--", -1.0)] {
            if is_target(&value) && self.eat(sign) {
                return Ok(Expr::Step(Box::new(value), by, true));
            }
        }
        Ok(value)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().cloned().ok_or_else(|| self.error())?;
        self.at += 1;
        match token {
            Token::Number(number) => Ok(Expr::Number(number)),
            Token::Text(text) => Ok(Expr::Text(text)),
            Token::Regex(source) => {
                Ok(Expr::Regex(regular::compile(&source, Flavor::Extended, false)?))
            }
            Token::Sign("$") => Ok(Expr::Field(Box::new(self.deeper(Parser::primary)?))),
            Token::Sign("(") => {
                let mut all = self.until(")")?;
                if all.len() == 1 {
                    let one = all.remove(0);
                    // Its own operators were kept together by the parentheses.
                    return Ok(one);
                }
                if self.eat_name("in") {
                    let Some(Token::Name(array)) = self.peek().cloned() else {
                        return Err(self.error());
                    };
                    self.at += 1;
                    return Ok(Expr::In(all, array));
                }
                Ok(Expr::Call("(".into(), all))
            }
            Token::Sign("-") => Ok(Expr::Negate(Box::new(self.deeper(Parser::primary)?))),
            Token::Name(name) if name == "length" => Ok(Expr::Call(name, Vec::new())),
            Token::Name(name) if name == "getline" => {
                Err("`getline' is not supported by this terminal".into())
            }
            Token::Name(name) if self.eat("[") => Ok(Expr::Element(name, self.until("]")?)),
            Token::Name(name) => Ok(Expr::Variable(name)),
            Token::Function(name) => {
                self.want("(")?;
                if !FUNCTIONS.contains(&name.as_str()) {
                    return Err(format!("function `{name}' is not supported by this terminal"));
                }
                Ok(Expr::Call(name, self.until(")")?))
            }
            _ => {
                self.at -= 1;
                Err(self.error())
            }
        }
    }
}

fn is_target(expr: &Expr) -> bool {
    matches!(expr, Expr::Variable(_) | Expr::Element(..) | Expr::Field(_))
}

const SIGNS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%="];
const FUNCTIONS: &[&str] = &[
    "length", "substr", "index", "split", "tolower", "toupper", "sub", "gsub", "int", "sprintf",
    "match",
];
/// Position of concatenation, which has no sign.
const CONCAT: usize = 4;
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["~", "!~"],
    &["<", "<=", "==", "!=", ">", ">="],
    &[],
    &["+", "-"],
    &["*", "/", "%"],
];
