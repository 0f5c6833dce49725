//! Tests of the bodies against each other, over toy kinds.

mod bodies;
mod embedded;
mod loss;
mod processes;
