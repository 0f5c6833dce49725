//! Tests over more than one file of the mesh.

mod channels;
mod walks;
