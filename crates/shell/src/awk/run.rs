//! Runs an awk program over lines.

use super::parse::{Expr, Program, Statement, When};
use super::value::{Value, arithmetic, whole};
use crate::fuel::{Fuel, Spent};
use crate::regular::{self, Flavor};
use regex::Regex;
use std::collections::BTreeMap;

/// Why statements end early.
enum Flow {
    Next,
    Exit,
    Break,
    Continue,
    Spent(Spent),
    Failed(String),
}

impl From<Spent> for Flow {
    fn from(spent: Spent) -> Self {
        Flow::Spent(spent)
    }
}

struct Machine<'f> {
    fuel: &'f mut Fuel,
    /// Cheap work that is not worth a step each.
    work: u32,
    vars: BTreeMap<String, Value>,
    arrays: BTreeMap<String, BTreeMap<String, Value>>,
    line: String,
    fields: Vec<String>,
    out: String,
    code: i32,
}

/// What a program wrote and how it ended.
pub(crate) type Ran = Result<(String, i32), String>;

/// Runs a program over a text with these variables.
///
/// # Errors
/// Where fuel runs out.
pub(crate) fn run(
    program: &Program,
    input: &str,
    vars: &[(String, String)],
    fuel: &mut Fuel,
) -> Result<Ran, Spent> {
    let mut machine = Machine {
        fuel,
        work: 0,
        vars: BTreeMap::new(),
        arrays: BTreeMap::new(),
        line: String::new(),
        fields: Vec::new(),
        out: String::new(),
        code: 0,
    };
    for (name, value) in [("FS", " "), ("OFS", " "), ("ORS", "\n"), ("SUBSEP", "\u{1c}")] {
        machine.vars.insert(name.into(), Value::Text(value.into()));
    }
    for (name, value) in vars {
        machine.vars.insert(name.clone(), Value::Input(crate::expand::unescape(value)));
    }
    match machine.whole(program, input) {
        Err(Flow::Spent(spent)) => Err(spent),
        Err(Flow::Failed(reason)) => Ok(Err(reason)),
        Ok(()) | Err(_) => Ok(Ok((machine.out, machine.code))),
    }
}

impl Machine<'_> {
    fn whole(&mut self, program: &Program, input: &str) -> Result<(), Flow> {
        let of =
            |wanted: fn(&When) -> bool| program.rules.iter().filter(move |(when, _)| wanted(when));
        for (_, body) in of(|w| matches!(w, When::Begin)) {
            match self.block(body) {
                Err(Flow::Exit) => return Ok(()),
                other => other?,
            }
        }
        let mut inside = vec![false; program.rules.len()];
        let reads = program.rules.iter().any(|(when, _)| !matches!(when, When::Begin));
        let lines = if reads { input } else { "" };
        let mut exited = false;
        'lines: for (at, line) in lines.lines().enumerate() {
            self.vars.insert("NR".into(), Value::Number(at as f64 + 1.0));
            self.vars.insert("FNR".into(), Value::Number(at as f64 + 1.0));
            self.set_line(line);
            for (n, (when, body)) in program.rules.iter().enumerate() {
                let applies = match when {
                    When::Begin | When::End => false,
                    When::Always => true,
                    When::If(test) => self.value(test)?.holds(),
                    When::Range(from, to) => {
                        let starts = inside[n] || self.value(from)?.holds();
                        inside[n] = starts && !self.value(to)?.holds();
                        starts
                    }
                };
                if !applies {
                    continue;
                }
                match self.block(body) {
                    Err(Flow::Next) => continue 'lines,
                    Err(Flow::Exit) => {
                        exited = true;
                        break 'lines;
                    }
                    other => other?,
                }
            }
        }
        if exited && self.code != 0 {
            return Ok(());
        }
        for (_, body) in of(|w| matches!(w, When::End)) {
            match self.block(body) {
                Err(Flow::Exit) => return Ok(()),
                other => other?,
            }
        }
        Ok(())
    }

    /// Cheap work adds up to steps; output and memory are bounded by what may be written.
    fn spend(&mut self, bytes: usize) -> Result<(), Flow> {
        self.work += 1 + bytes as u32 / 64;
        if self.work >= 256 {
            self.work = 0;
            self.fuel.step()?;
        }
        if self.out.len() + bytes > self.fuel.room() {
            self.fuel.write(self.out.len() + bytes)?;
        }
        Ok(())
    }

    fn set_line(&mut self, line: &str) {
        self.line = line.to_string();
        self.fields = self.split(line, &self.separator());
        self.vars.insert("NF".into(), Value::Number(self.fields.len() as f64));
    }

    fn separator(&self) -> String {
        self.vars.get("FS").map_or(" ".into(), Value::text)
    }

    fn split(&self, text: &str, by: &str) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        match by {
            " " => text.split_whitespace().map(String::from).collect(),
            "" => text.chars().map(String::from).collect(),
            _ if by.chars().count() == 1 && by != "|" && by != "." => {
                text.split(by).map(String::from).collect()
            }
            "|" | "." => text.split(by).map(String::from).collect(),
            _ => match regular::compile(by, Flavor::Extended, false) {
                Ok(regex) => regex.split(text).map(String::from).collect(),
                Err(_) => text.split(by).map(String::from).collect(),
            },
        }
    }

    fn block(&mut self, statements: &[Statement]) -> Result<(), Flow> {
        statements.iter().try_for_each(|one| self.statement(one))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Flow> {
        self.spend(0)?;
        match statement {
            Statement::Expr(expr) => self.value(expr).map(drop),
            Statement::Print(list) => {
                let text = self.printed(list)?;
                self.spend(text.len())?;
                self.out += &text;
                Ok(())
            }
            Statement::Printf(list) => {
                let text = self.formatted(list)?;
                self.spend(text.len())?;
                self.out += &text;
                Ok(())
            }
            Statement::If(test, then, other) => {
                let branch = if self.value(test)?.holds() { then } else { other };
                self.block(branch)
            }
            Statement::While(test, body) => self.repeat(Some(test), None, body),
            Statement::For(start, test, step, body) => {
                if let Some(start) = start {
                    self.statement(start)?;
                }
                self.repeat(test.as_ref(), step.as_deref(), body)
            }
            Statement::ForIn(key, array, body) => {
                let keys: Vec<String> =
                    self.arrays.get(array).map(|a| a.keys().cloned().collect()).unwrap_or_default();
                for one in keys {
                    self.vars.insert(key.clone(), Value::Input(one));
                    match self.block(body) {
                        Err(Flow::Break) => break,
                        Err(Flow::Continue) => {}
                        other => other?,
                    }
                }
                Ok(())
            }
            Statement::Delete(array, keys) => {
                if keys.is_empty() {
                    self.arrays.remove(array);
                } else {
                    let key = self.key(keys)?;
                    if let Some(array) = self.arrays.get_mut(array) {
                        array.remove(&key);
                    }
                }
                Ok(())
            }
            Statement::Next => Err(Flow::Next),
            Statement::Break => Err(Flow::Break),
            Statement::Continue => Err(Flow::Continue),
            Statement::Exit(code) => {
                if let Some(code) = code {
                    self.code = self.value(code)?.number() as i32 & 255;
                }
                Err(Flow::Exit)
            }
        }
    }

    /// What `print` writes, its end included.
    fn printed(&mut self, list: &[Expr]) -> Result<String, Flow> {
        let text = match list.is_empty() {
            true => self.line.clone(),
            false => {
                let cells = list.iter().map(|e| self.text(e)).collect::<Result<Vec<_>, _>>()?;
                cells.join(&self.vars.get("OFS").map_or(" ".into(), Value::text))
            }
        };
        Ok(text + &self.vars.get("ORS").map_or("\n".into(), Value::text))
    }

    fn repeat(
        &mut self,
        test: Option<&Expr>,
        step: Option<&Statement>,
        body: &[Statement],
    ) -> Result<(), Flow> {
        loop {
            self.spend(64)?;
            if let Some(test) = test
                && !self.value(test)?.holds()
            {
                return Ok(());
            }
            match self.block(body) {
                Err(Flow::Break) => return Ok(()),
                Err(Flow::Continue) => {}
                other => other?,
            }
            if let Some(step) = step {
                self.statement(step)?;
            }
        }
    }

    fn text(&mut self, expr: &Expr) -> Result<String, Flow> {
        Ok(self.value(expr)?.text())
    }

    fn key(&mut self, keys: &[Expr]) -> Result<String, Flow> {
        let parts = keys.iter().map(|k| self.text(k)).collect::<Result<Vec<_>, _>>()?;
        Ok(parts.join("\u{1c}"))
    }

    fn matcher(&mut self, expr: &Expr) -> Result<Regex, Flow> {
        if let Expr::Regex(regex) = expr {
            return Ok(regex.clone());
        }
        let source = self.text(expr)?;
        regular::compile(&source, Flavor::Extended, false).map_err(Flow::Failed)
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Flow> {
        self.spend(0)?;
        let flag = |holds: bool| Value::Number(f64::from(u8::from(holds)));
        Ok(match expr {
            Expr::Number(number) => Value::Number(*number),
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Regex(regex) => flag(regex.is_match(&self.line)),
            Expr::Variable(name) => {
                self.vars.get(name).cloned().unwrap_or(Value::Input(String::new()))
            }
            Expr::Element(array, keys) => {
                let key = self.key(keys)?;
                let array = self.arrays.entry(array.clone()).or_default();
                array.entry(key).or_insert(Value::Input(String::new())).clone()
            }
            Expr::Field(number) => {
                let number = self.value(number)?.number();
                Value::Input(self.field(number as usize))
            }
            Expr::Not(of) => flag(!self.value(of)?.holds()),
            Expr::Negate(of) => Value::Number(-self.value(of)?.number()),
            Expr::Choice(test, yes, no) => {
                return if self.value(test)?.holds() { self.value(yes) } else { self.value(no) };
            }
            Expr::Match(text, pattern, positive) => {
                let text = self.text(text)?;
                flag(self.matcher(pattern)?.is_match(&text) == *positive)
            }
            Expr::In(keys, array) => {
                let key = self.key(keys)?;
                flag(self.arrays.get(array).is_some_and(|a| a.contains_key(&key)))
            }
            Expr::Assign(sign, target, value) => {
                let mut value = self.value(value)?;
                if *sign != "=" {
                    let old = self.value(target)?.number();
                    value = Value::Number(
                        arithmetic(&sign[..1], old, value.number()).map_err(Flow::Failed)?,
                    );
                }
                self.assign(target, value.clone())?;
                value
            }
            Expr::Step(target, by, before) => {
                let old = self.value(target)?.number();
                self.assign(target, Value::Number(old + by))?;
                Value::Number(if *before { old } else { old + by })
            }
            Expr::Call(name, args) => return self.call(name, args),
            Expr::Binary(sign, left, right) => return self.binary(sign, left, right),
        })
    }

    fn binary(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<Value, Flow> {
        let flag = |holds: bool| Value::Number(f64::from(u8::from(holds)));
        let a = self.value(left)?;
        match sign {
            "&&" => return Ok(flag(a.holds() && self.value(right)?.holds())),
            "||" => return Ok(flag(a.holds() || self.value(right)?.holds())),
            _ => {}
        }
        let b = self.value(right)?;
        Ok(match sign {
            "" => {
                let text = a.text() + &b.text();
                self.spend(text.len())?;
                Value::Text(text)
            }
            "<" | "<=" | "==" | "!=" | ">" | ">=" => {
                let number = |v: &Value| match v {
                    Value::Number(n) => Some(*n),
                    Value::Input(text) if text.is_empty() => Some(0.0),
                    Value::Input(text) => whole(text),
                    Value::Text(_) => None,
                };
                let order = match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => a.total_cmp(&b),
                    _ => a.text().cmp(&b.text()),
                };
                flag(match sign {
                    "<" => order.is_lt(),
                    "<=" => order.is_le(),
                    "==" => order.is_eq(),
                    "!=" => order.is_ne(),
                    ">" => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            _ => Value::Number(arithmetic(sign, a.number(), b.number()).map_err(Flow::Failed)?),
        })
    }

    fn field(&self, number: usize) -> String {
        match number {
            0 => self.line.clone(),
            n => self.fields.get(n - 1).cloned().unwrap_or_default(),
        }
    }

    fn assign(&mut self, target: &Expr, value: Value) -> Result<(), Flow> {
        match target {
            Expr::Variable(name) => {
                if name == "NF" {
                    self.fields.resize((value.number().max(0.0) as usize).min(1000), String::new());
                    self.join_fields();
                }
                self.vars.insert(name.clone(), value);
            }
            Expr::Element(array, keys) => {
                let key = self.key(keys)?;
                self.spend(64 + key.len())?;
                self.arrays.entry(array.clone()).or_default().insert(key, value);
            }
            Expr::Field(number) => {
                let number = self.value(number)?.number() as usize;
                let text = value.text();
                if number == 0 {
                    self.set_line(&text);
                } else if number <= 1000 {
                    if self.fields.len() < number {
                        self.fields.resize(number, String::new());
                    }
                    self.fields[number - 1] = text;
                    self.vars.insert("NF".into(), Value::Number(self.fields.len() as f64));
                    self.join_fields();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn join_fields(&mut self) {
        self.line = self.fields.join(&self.vars.get("OFS").map_or(" ".into(), Value::text));
    }

    fn formatted(&mut self, args: &[Expr]) -> Result<String, Flow> {
        let mut texts =
            args.iter().map(|a| self.text(a)).collect::<Result<Vec<_>, _>>()?.into_iter();
        let format = texts.next().unwrap_or_default();
        crate::commands::format(&format, &mut texts)
            .map_err(|c| Flow::Failed(format!("invalid conversion %{c}")))
    }

    fn call(&mut self, name: &str, args: &[Expr]) -> Result<Value, Flow> {
        if matches!(name, "sub" | "gsub") {
            return self.replace(args, name == "gsub");
        }
        if name == "sprintf" {
            return Ok(Value::Text(self.formatted(args)?));
        }
        if let ("length", [Expr::Variable(array)]) = (name, args)
            && let Some(array) = self.arrays.get(array)
        {
            return Ok(Value::Number(array.len() as f64));
        }
        if let ("split", [text, Expr::Variable(array), rest @ ..]) = (name, args) {
            let text = self.text(text)?;
            let by = match rest.first() {
                Some(Expr::Regex(regex)) => regex.as_str().to_string(),
                Some(by) => self.text(by)?,
                None => self.separator(),
            };
            self.spend(text.len())?;
            let parts = self.split(&text, &by);
            let count = parts.len();
            let parts =
                parts.into_iter().enumerate().map(|(n, p)| ((n + 1).to_string(), Value::Input(p)));
            self.arrays.insert(array.clone(), parts.collect());
            return Ok(Value::Number(count as f64));
        }
        if let ("match", [text, pattern]) = (name, args) {
            let text = self.text(text)?;
            let found = self.matcher(pattern)?.find(&text).map(|m| (m.start(), m.len()));
            let (start, length) = found.map_or((0.0, -1.0), |(s, l)| (s as f64 + 1.0, l as f64));
            self.vars.insert("RSTART".into(), Value::Number(start));
            self.vars.insert("RLENGTH".into(), Value::Number(length));
            return Ok(Value::Number(start));
        }
        let values = args.iter().map(|a| self.value(a)).collect::<Result<Vec<_>, _>>()?;
        let text = |at: usize| values.get(at).map_or(String::new(), Value::text);
        let number = |at: usize| values.get(at).map_or(0.0, Value::number);
        Ok(match name {
            "length" if values.is_empty() => Value::Number(self.line.chars().count() as f64),
            "length" => Value::Number(text(0).chars().count() as f64),
            "tolower" => Value::Text(text(0).to_lowercase()),
            "toupper" => Value::Text(text(0).to_uppercase()),
            "int" => Value::Number(number(0).trunc()),
            "index" => {
                let (whole, part) = (text(0), text(1));
                let at = whole.find(&part).map_or(0, |at| whole[..at].chars().count() + 1);
                Value::Number(at as f64)
            }
            "substr" => {
                let from = number(1).max(1.0);
                let until = if values.len() > 2 { number(1) + number(2) } else { f64::INFINITY };
                let wanted = |at: usize| (at as f64 + 1.0) >= from && (at as f64 + 1.0) < until;
                let kept: String = text(0)
                    .chars()
                    .enumerate()
                    .filter(|(at, _)| wanted(*at))
                    .map(|(_, c)| c)
                    .collect();
                Value::Text(kept)
            }
            _ => return Err(Flow::Failed("syntax error".into())),
        })
    }

    fn replace(&mut self, args: &[Expr], all: bool) -> Result<Value, Flow> {
        let (Some(pattern), Some(with)) = (args.first(), args.get(1)) else {
            return Err(Flow::Failed("not enough arguments to sub".into()));
        };
        let matcher = self.matcher(pattern)?;
        let with = self
            .text(with)?
            .replace('$', "$$")
            .replace("\\&", "\u{1}")
            .replace('&', "${0}")
            .replace('\u{1}', "&");
        let whole = Expr::Field(Box::new(Expr::Number(0.0)));
        let target = args.get(2).unwrap_or(&whole);
        let text = self.text(target)?;
        let count = matcher.find_iter(&text).take(if all { usize::MAX } else { 1 }).count();
        if count > 0 {
            self.spend(text.len() + count * with.len() + with.matches("${").count() * text.len())?;
            let new = matcher.replacen(&text, if all { 0 } else { 1 }, with.as_str()).into_owned();
            self.assign(target, Value::Text(new))?;
        }
        Ok(Value::Number(count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::awk::parse;
    use crate::fuel::Limits;

    fn check(source: &str, input: &str) -> String {
        let mut fuel = Fuel::new(Limits::default());
        match parse(source) {
            Ok(program) => match run(&program, input, &[], &mut fuel) {
                Ok(Ok((out, _))) => out,
                Ok(Err(reason)) => format!("error: {reason}"),
                Err(spent) => format!("spent: {spent}"),
            },
            Err(reason) => format!("error: {reason}"),
        }
    }

    #[test]
    fn programs_that_read_do_what_they_do_elsewhere() {
        let input = "a 1 x\nb 20 y\na 3 z\n";
        for (source, expected) in [
            ("{print $1}", "a\nb\na\n"),
            ("{print $1, $NF}", "a x\nb y\na z\n"),
            ("$2 > 2", "b 20 y\na 3 z\n"),
            ("$2 > 2 {print $1 \":\" $2}", "b:20\na:3\n"),
            ("/y/ {print NR}", "2\n"),
            ("!/y/", "a 1 x\na 3 z\n"),
            ("{s += $2} END {print s, NR, s / NR}", "24 3 8\n"),
            ("{c[$1]++} END {for (k in c) print c[k], k}", "2 a\n1 b\n"),
            ("NR == 1 || $1 == \"b\" {print $3}", "x\ny\n"),
            ("BEGIN {FS = \" \"; print \"head\"} $1 ~ /^b/ {print toupper($1)}", "head\nB\n"),
            ("{printf \"%-3s|%5.1f\\n\", $1, $2}", "a  |  1.0\nb  | 20.0\na  |  3.0\n"),
            ("{gsub(/[0-9]+/, \"<&>\"); print}", "a <1> x\nb <20> y\na <3> z\n"),
            ("NR==1,/y/ {print substr($0, 1, 3)}", "a 1\nb 2\n"),
            ("{$2 = \"-\"; print}", "a - x\nb - y\na - z\n"),
            ("{n = split($0, p, \" \"); print n p[3]}", "3x\n3y\n3z\n"),
            ("{if ($2 > 2) print \"big\"; else print \"small\"}", "small\nbig\nbig\n"),
            ("END {for (i = 0; i < 3; i++) {if (i == 1) continue; print i}}", "0\n2\n"),
            ("!seen[$1]++", "a 1 x\nb 20 y\n"),
            (
                "BEGIN {print 1 == 1.0, \"a\" < \"b\", length(\"abc\"), 7 % 4, 1/3}",
                "1 1 3 3 0.333333\n",
            ),
            (
                "{print > \"/etc/passwd\"}",
                "error: output into files or programs is not supported by this terminal",
            ),
            (
                "BEGIN {system(\"rm x\")}",
                "error: function `system' is not supported by this terminal",
            ),
            ("{print", "error: syntax error at or near end of file"),
        ] {
            assert_eq!(check(source, input), expected, "{source}");
        }
        assert!(check("BEGIN {while (1) x = x + 1}", "").starts_with("spent: out of fuel"));
        assert!(check("BEGIN {while (1) x = x \"aaaa\"}", "").starts_with("spent: out of fuel"));
    }
}
