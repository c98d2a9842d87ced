//! The judge of plans: does a plan obey Vulkan's rules?
#![forbid(unsafe_code)]

pub mod generate;
pub mod mutate;

mod area;
mod judge;
mod order;
mod random;
mod sequence;
mod shrink;
mod stages;
mod violation;

pub use generate::Shape;
pub use judge::Judge;
pub use random::Random;
pub use sequence::{Failure, FailureKind, Import, Sequence};
pub use shrink::{shrink, shrink_while};
pub use violation::{Actor, Hazard, Lack, Place, Side, Violation};
