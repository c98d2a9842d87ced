//! Device data of tilemaps: chunks and tiles.

pub(crate) mod chunk;
pub(crate) mod tiles;
