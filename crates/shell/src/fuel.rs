//! How much one line may cost: evaluation steps, bytes of output and input, nesting.

use std::fmt;

/// Limits of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Commands, loop turns and words that are evaluated.
    pub steps: u32,
    /// Bytes that all commands together may write, into pipes too.
    pub output: usize,
    /// Bytes of the line.
    pub input: usize,
    /// Substitutions, groups and loops in each other.
    pub nesting: u32,
    /// Orders that change the system.
    pub orders: u32,
    /// Bytes of standard output, and of standard error, that are shown.
    pub shown: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 4096,
            output: 1 << 20,
            input: 4096,
            nesting: 16,
            orders: 256,
            shown: 16_384,
        }
    }
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Evaluation steps.
    Steps,
    /// Bytes of output.
    Output,
    /// Bytes of input.
    Input,
    /// Levels of nesting.
    Nesting,
    /// Orders.
    Orders,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spent::Steps => "out of fuel: the line takes too many evaluation steps",
            Spent::Output => "out of fuel: the line writes too much output",
            Spent::Input => "out of fuel: the line is too long",
            Spent::Nesting => "out of fuel: the line is nested too deeply",
            Spent::Orders => "out of fuel: the line changes too many things",
        })
    }
}

/// What is left.
#[derive(Clone, Debug)]
pub(crate) struct Fuel {
    pub(crate) limits: Limits,
    steps: u32,
    output: usize,
    orders: u32,
    depth: u32,
}

impl Fuel {
    pub(crate) fn new(limits: Limits) -> Fuel {
        Fuel { limits, steps: limits.steps, output: limits.output, orders: limits.orders, depth: 0 }
    }

    pub(crate) fn step(&mut self) -> Result<(), Spent> {
        self.steps = self.steps.checked_sub(1).ok_or(Spent::Steps)?;
        Ok(())
    }

    pub(crate) fn order(&mut self) -> Result<(), Spent> {
        self.orders = self.orders.checked_sub(1).ok_or(Spent::Orders)?;
        Ok(())
    }

    pub(crate) fn write(&mut self, bytes: usize) -> Result<(), Spent> {
        self.output = self.output.checked_sub(bytes).ok_or(Spent::Output)?;
        Ok(())
    }

    /// Bytes that may be written still.
    pub(crate) fn room(&self) -> usize {
        self.output
    }

    pub(crate) fn enter(&mut self) -> Result<(), Spent> {
        if self.depth >= self.limits.nesting {
            return Err(Spent::Nesting);
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
