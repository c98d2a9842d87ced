//! Shared code of the example programs: command line, Game of Life patterns, and the boards that
//! results of the GPU are compared to.
//!
//! **Model.** Nearly everything here is plain data and pure functions. A [`Pattern`] is read from a run length encoded file, placed on a [`Board`] (a torus whose cells
//! are bits, 32 to a word, as the shaders see them), and [`Board::step`] is the reference that
//! `shaders/life/step.wgsl` has to equal bit for bit. [`constants`] are the push constants of the
//! shaders; [`args`] is the command line. Only [`run`], [`hand`], [`game`] and [`worker`] know of
//! bevy: when a run ends and what it writes, mouse and keyboard, and how a game of Life goes on,
//! in the main loop or beside it.

pub mod args;
pub mod board;
pub mod breakout;
pub mod constants;
pub mod folder;
pub mod frame_bench;
pub mod game;
pub mod hand;
pub mod material;
pub mod pattern;
pub mod random;
pub mod rle;
pub mod rule;
pub mod run;
pub mod script;
pub mod size;
pub mod swarm;
pub mod view;
pub mod worker;

pub use args::CommonArgs;
pub use board::Board;
pub use pattern::Pattern;
pub use rule::Rule;
pub use size::Size;
pub use view::View;
