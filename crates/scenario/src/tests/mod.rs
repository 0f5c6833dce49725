//! Tests of whole files: what good ones mean, where bad ones are wrong, and that nothing panics.

mod bad;
mod good;
mod kit;
mod noise;
