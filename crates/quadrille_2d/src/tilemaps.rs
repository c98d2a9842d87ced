//! Device data of tilemaps: chunks and the table of tiles.

pub(crate) mod chunk;
pub(crate) mod tiles;
