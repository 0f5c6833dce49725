//! Tests over more than one file of the chassis.

mod counter;
mod sequencing;
