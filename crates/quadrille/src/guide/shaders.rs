//! Shaders of several files, and constants of pipelines.
//!
//! WGSL imports names of other files and of modules that crates publish, as bevy's shaders do (WESL), and has
//! `override` constants that a pipeline sets:
//!
//! ```
//! # use bevy_app::App;
//! # use bevy_ecs::prelude::*;
//! # use quadrille::prelude::*;
//! # use quadrille::vulkan::shader::ShaderModule;
//! // A crate publishes a module under its name:
//! fn publish(_app: &mut App) -> Result {
//!     let source = "override OCTAVES: u32 = 4u; fn ripple(at: f32) -> f32 { return sin(at * f32(OCTAVES)); }";
//!     Ok(ShaderModule::new("waves::noise", source).publish()?)
//! }
//!
//! // Everybody imports from it:
//! const LAKE: &str = "
//!     import waves::noise::ripple;
//!     override SIZE: u32;
//!     @group(0) @binding(0) var<storage, read_write> heights: array<f32>;
//!     @compute @workgroup_size(SIZE)
//!     fn main(@builtin(global_invocation_id) id: vec3u) { heights[id.x] = ripple(f32(id.x)); }";
//!
//! fn setup(gpu: Res<GpuDevice>) -> Result {
//!     let shader = GpuShader::wgsl("lake.wgsl", LAKE)?;
//!     let desc = ComputePipelineDesc::of("lake", &shader)
//!         .constant("SIZE", 256_u32)
//!         .constant("noise::OCTAVES", 8_u32);
//!     let lake = gpu.compute_pipeline(&desc)?;
//! #   drop(lake);
//!     Ok(())
//! }
//! # let mut app = App::new();
//! # publish(&mut app).unwrap();
//! # GpuShader::wgsl("lake.wgsl", LAKE).unwrap();
//! ```
//!
//! Constants that a program and its shaders share are declared once, in Rust: the macro
//! [`shader_constants!`](crate::vulkan::shader_constants) gives their module. A struct whose array is uploaded as it
//! lies in memory derives [`ShaderRow`](crate::rows::ShaderRow), and a test compares it with the struct of the shader,
//! without a device:
//!
//! ```
//! use quadrille::rows::ShaderRow;
//!
//! #[repr(C)]
//! #[derive(Clone, Copy, ShaderRow)]
//! #[row("water.wgsl", "Wave")]
//! struct WaveRow {
//!     direction: [f32; 3],
//!     length: f32,
//! }
//!
//! let shader = "struct Wave { direction: vec3f, length: f32 }";
//! WaveRow::LAYOUT.check(shader)?;
//! assert!(WaveRow::LAYOUT.check("struct Wave { length: f32, direction: vec3f }").is_err());
//! # Ok::<(), quadrille::vulkan::ShaderError>(())
//! ```
//!
//! In files, `super::` is the folder: `import super::noise::{ripple, Wave as Swell};` takes two names of
//! `noise.wesl` or `noise.wgsl` beside the file that imports, `import super::super::lib::tint;` makes `tint::mix_in`
//! known, of `lib/tint.wgsl` in the folder above. `package::` is the root folder, which imports stay below: that of the
//! file that was loaded, or the one that [`ShaderOptions::within`](crate::vulkan::shader::ShaderOptions::within) names. Paths
//! can stand where they are used as well: `super::noise::ripple(1.0)`. A module is part of a shader once, however many import it; its names,
//! also those of its variables and constants, are its own, and its entry points are not the shader's.
//!
//! Shader defs decide about parts of a source (conditional translation): `@if(FANCY)`, `@elif(PLAIN)` and `@else`
//! before a declaration, an import, a member, a parameter, a statement, a clause of `switch`, or a block of declarations or
//! statements, whose braces go away. A def that is not set is false; a number is a constant as well:
//!
//! ```
//! use quadrille::vulkan::shader::{ShaderDefVal, ShaderOptions};
//!
//! let source = "
//!     struct Cell { value: u32, @if(HAS_AGE) age: u32 }
//!     @group(0) @binding(0) var<storage, read_write> cells: array<Cell>;
//!     @compute @workgroup_size(constants::SIZE)
//!     fn main(@builtin(global_invocation_id) id: vec3u) {
//!         @if(HAS_AGE) cells[id.x].age += 1u;
//!         @else cells[id.x].value += 1u;
//!     }";
//! let shader = ShaderOptions::new()
//!     .def("HAS_AGE")
//!     .def(ShaderDefVal::UInt("SIZE".into(), 64))
//!     .wgsl("age.wesl", source)?;
//! # assert_eq!(shader.entry_points()[0].workgroup_size, [64, 1, 1]);
//! # Ok::<(), quadrille::vulkan::ShaderError>(())
//! ```
//!
//! Errors show file, line and column of the source in which they are. What is missing or misspelt is one line that
//! says so. Pipelines follow the files of imports, those of published
//! modules too if [`with_file`](crate::vulkan::shader::ShaderModule::with_file) names them.
