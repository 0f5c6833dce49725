//! Placeholder header: written with its first content.
