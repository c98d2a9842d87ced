//! The judge of plans: does a plan obey Vulkan's rules?
#![forbid(unsafe_code)]

mod area;
mod judge;
mod order;
mod random;
mod stages;
mod violation;

pub use judge::Judge;
pub use random::Random;
pub use violation::{Actor, Hazard, Lack, Place, Side, Violation};
