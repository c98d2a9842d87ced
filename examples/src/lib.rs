//! Shared code of the example programs: command line, Game of Life patterns, and the CPU reference for
//! results of the GPU.
//!
//! **Model.** Nearly everything here is plain data and pure functions. A [`Pattern`] is read from a run length encoded file, placed on a [`Board`] (a torus whose cells
//! are bits, 32 to a word, as the shaders see them), and [`Board::step`] is the reference that
//! `shaders/life/step.wgsl` has to equal bit for bit. [`constants`] are the push constants of the
//! shaders; [`args`] is the command line; `effects` switches effects of 3D cameras. Only `effects`, [`run`], [`hand`], [`game`] and [`worker`] depend on
//! bevy: end and output of a run, mouse and keyboard input, and the simulation of Life
//! in the main loop or in a worker thread.

pub mod args;
pub mod board;
pub mod breakout;
pub mod constants;
#[cfg(feature = "3d")]
pub mod effects;
mod film;
pub mod folder;
pub mod frame_bench;
pub mod fuzz;
pub mod game;
pub mod gamepads;
pub mod hand;
pub mod input;
pub mod material;
pub mod pattern;
pub mod player_file;
pub mod random;
mod record;
pub mod rle;
pub mod rule;
pub mod run;
pub mod scores;
pub mod script;
pub mod size;
pub mod sound;
pub mod swarm;
pub mod view;
pub mod worker;

pub use args::CommonArgs;
pub use board::Board;
pub use pattern::Pattern;
pub use rule::Rule;
pub use size::Size;
pub use view::View;

/// The programs in the README of the repository compile.
#[cfg(all(doctest, feature = "3d"))]
#[doc = include_str!("../../README.md")]
struct RepositoryReadme;
