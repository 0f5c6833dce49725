//! The terminal in episodes: what a line does to the world, what it takes, and what it shows.

mod bodies;
mod incidents;
mod programs;
mod seat;
mod time;
