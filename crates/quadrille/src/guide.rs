//! Pages on what takes more than a line: each with a program, or the parts of one.
//!
//! - [`app`]: a whole program on two queues, data for shaders, windows, settings.
//! - [`tables`]: many images, of which a shader chooses one by its index.
//! - [`shaders`]: imports between files, modules that crates publish, constants of pipelines.
//! - [`binding`]: by number and by name, and how data is laid out.
//! - [`vulkan`]: extensions, commands, semaphores and devices of one's own.

pub mod app;
pub mod binding;
pub mod shaders;
pub mod tables;
pub mod vulkan;
