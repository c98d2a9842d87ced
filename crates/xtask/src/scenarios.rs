//! Runs of programs for verification, timing or demonstration, one file each.

pub(crate) mod absent;
pub(crate) mod bench;
pub(crate) mod beside_bevy;
pub(crate) mod calls;
pub(crate) mod canary;
pub(crate) mod counts;
pub(crate) mod demo;
pub(crate) mod examples;
pub(crate) mod life;
pub(crate) mod minimised;
pub(crate) mod picture;
pub(crate) mod planning;
pub(crate) mod report;
pub(crate) mod schedules;
pub(crate) mod soak;
pub(crate) mod stuck;
pub(crate) mod thumbnails;
pub(crate) mod window;
pub(crate) mod with_bevy;
