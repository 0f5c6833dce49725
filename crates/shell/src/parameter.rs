//! Parameter expansions: `$x` and the forms of `${…}`.

use crate::expand::{Running, unsupported};
use crate::interpreter::{Halt, Shell};
use brush_parser::word::{Parameter, ParameterExpr, ParameterTestType, SpecialParameter};

impl Shell<'_> {
    /// The value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.session.vars.get(name).cloned()
    }

    fn value(&self, parameter: &Parameter) -> Result<Option<String>, Halt> {
        Ok(match parameter {
            Parameter::Positional(0) => Some("bash".into()),
            Parameter::Positional(_) => None,
            Parameter::Special(special) => match special {
                SpecialParameter::LastExitStatus => Some(self.session.status.to_string()),
                SpecialParameter::ProcessId => Some("2718".into()),
                SpecialParameter::PositionalParameterCount => Some("0".into()),
                SpecialParameter::ShellName => Some("bash".into()),
                SpecialParameter::CurrentOptionFlags => Some("himBHs".into()),
                SpecialParameter::AllPositionalParameters { .. }
                | SpecialParameter::LastBackgroundProcessId => None,
            },
            Parameter::Named(name) => match name.as_str() {
                "PWD" => Some(self.session.cwd.clone()),
                "?" => Some(self.session.status.to_string()),
                _ => self.variable(name),
            },
            Parameter::NamedWithIndex { .. } | Parameter::NamedWithAllIndices { .. } => {
                return Err(unsupported("an array"));
            }
        })
    }

    /// What a parameter expansion gives.
    pub(crate) async fn parameter(&mut self, expression: ParameterExpr) -> Result<String, Halt> {
        use ParameterExpr as P;
        match expression {
            P::Parameter { parameter, indirect: false } => {
                Ok(self.value(&parameter)?.unwrap_or_default())
            }
            P::UseDefaultValues { parameter, indirect: false, test_type, default_value } => {
                match self.present(&parameter, &test_type)? {
                    Some(value) => Ok(value),
                    None => self.nested(default_value).await,
                }
            }
            P::AssignDefaultValues { parameter, indirect: false, test_type, default_value } => {
                if let Some(value) = self.present(&parameter, &test_type)? {
                    return Ok(value);
                }
                let text = self.nested(default_value).await?;
                if let Parameter::Named(name) = parameter {
                    self.session.vars.insert(name, text.clone());
                }
                Ok(text)
            }
            P::UseAlternativeValue { parameter, indirect: false, test_type, alternative_value } => {
                match self.present(&parameter, &test_type)? {
                    Some(_) => self.nested(alternative_value).await,
                    None => Ok(String::new()),
                }
            }
            P::IndicateErrorIfNullOrUnset {
                parameter,
                indirect: false,
                test_type,
                error_message,
            } => match self.present(&parameter, &test_type)? {
                Some(value) => Ok(value),
                None => {
                    let text = self.nested(error_message).await?;
                    let text = if text.is_empty() { "parameter null or not set" } else { &text };
                    let name = parameter.to_string().replace(['$', '{', '}'], "");
                    Err(Halt::Fatal(format!("bash: {name}: {text}")))
                }
            },
            P::ParameterLength { parameter, indirect: false } => {
                let value = self.value(&parameter)?.unwrap_or_default();
                Ok(value.chars().count().to_string())
            }
            other => self.shortened(other).await,
        }
    }

    /// `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}`.
    async fn shortened(&mut self, expression: ParameterExpr) -> Result<String, Halt> {
        use ParameterExpr as P;
        let (parameter, pattern, front, longest) = match expression {
            P::RemoveSmallestSuffixPattern { parameter, indirect: false, pattern } => {
                (parameter, pattern, false, false)
            }
            P::RemoveLargestSuffixPattern { parameter, indirect: false, pattern } => {
                (parameter, pattern, false, true)
            }
            P::RemoveSmallestPrefixPattern { parameter, indirect: false, pattern } => {
                (parameter, pattern, true, false)
            }
            P::RemoveLargestPrefixPattern { parameter, indirect: false, pattern } => {
                (parameter, pattern, true, true)
            }
            _ => return Err(unsupported("this form of ${...}")),
        };
        self.cut(&parameter, pattern, front, longest).await
    }

    /// The value of a parameter, if it passes the test of its expansion.
    fn present(
        &self,
        parameter: &Parameter,
        test: &ParameterTestType,
    ) -> Result<Option<String>, Halt> {
        let value = self.value(parameter)?;
        Ok(match test {
            ParameterTestType::UnsetOrNull => value.filter(|v| !v.is_empty()),
            ParameterTestType::Unset => value,
        })
    }

    /// What is left of a value without the shortest or longest match at one of its ends.
    async fn cut(
        &mut self,
        parameter: &Parameter,
        pattern: Option<String>,
        front: bool,
        longest: bool,
    ) -> Result<String, Halt> {
        let value = self.value(parameter)?.unwrap_or_default();
        let pattern = self.pattern(&pattern.unwrap_or_default()).await?;
        let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
        cuts.push(value.len());
        if front == longest {
            cuts.reverse();
        }
        // Each cut is tried over all of the text.
        self.fuel.write(cuts.len() + cuts.len() * value.len() / 256)?;
        let fits = |at: &usize| {
            let (head, tail) = value.split_at(*at);
            pattern.is_match(if front { head } else { tail })
        };
        let found = cuts.into_iter().find(fits);
        Ok(match found {
            Some(at) if front => value[at..].to_string(),
            Some(at) => value[..at].to_string(),
            None => value,
        })
    }

    fn nested(&mut self, word: Option<String>) -> Running<'_, String> {
        Box::pin(async move {
            let Some(word) = word else { return Ok(String::new()) };
            self.fuel.enter()?;
            let text = self.text(&word).await;
            self.fuel.leave();
            text
        })
    }
}
