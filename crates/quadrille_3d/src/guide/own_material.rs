//! Your own material: a type with ten lines, and a shader file.
//!
//! ```
//! use quadrille_3d::prelude::*;
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Lava {
//!     #[uniform(0)]
//!     color: LinearRgba,
//! }
//!
//! impl Material for Lava {
//!     fn fragment_shader() -> ShaderRef { "shaders/lava.wgsl".into() }
//! }
//! ```
//!
//! With `app.add_plugins(MaterialPlugin::<Lava>::default())`, meshes with `MeshMaterial3d<Lava>` are drawn, and
//! `assets/shaders/lava.wgsl` reads the color:
//!
//! ```wgsl
//! import bevy_pbr::render::forward_io::VertexOutput;
//!
//! @group(constants::MATERIAL_BIND_GROUP) @binding(0) var<uniform> color: vec4f;
//!
//! @fragment
//! fn fragment(mesh: VertexOutput) -> @location(0) vec4f {
//!     return vec4f(color.rgb * max(mesh.world_normal.y, 0.1), color.a);
//! }
//! ```
//!
//! [`Material`] lists the properties that a material can set. All materials of a type are rows of one table: the
//! bindings of the shader are compiled to private variables, which are filled from the material row of the instance. An
//! image that is not loaded yet is white. With `ShaderReloadPlugin` of `quadrille`, a changed shader file is loaded again.
//!
//! # Nodes, sprites and meshes of 2D
//!
//! The other kinds differ in the trait and in the plugin alone. With `quadrille_2d` in the app:
//!
//! ```
//! use quadrille_2d::prelude::*;
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Health {
//!     #[uniform(0)]
//!     part: f32,
//! }
//!
//! impl UiMaterial for Health {
//!     fn fragment_shader() -> ShaderRef { "shaders/health.wgsl".into() }
//! }
//! ```
//!
//! | drawn | trait | plugin | component | the shader takes |
//! | --- | --- | --- | --- | --- |
//! | 3D meshes | [`Material`] | [`MaterialPlugin`] | [`MeshMaterial3d`] | `bevy_pbr::render::forward_io::VertexOutput` |
//! | 2D meshes | `Material2d` | `Material2dPlugin` | `MeshMaterial2d` | `bevy_sprite_render::mesh2d::vertex_output::VertexOutput` |
//! | sprites | `MaterialExtension2d` | `SpriteMaterialPlugin` | `SpriteMaterial` | the same; bindings from 20 on |
//! | nodes | `UiMaterial` | `UiMaterialPlugin` | `MaterialNode` | `bevy_ui_render::ui_vertex_output::UiVertexOutput` |
//! | cameras | [`FullscreenMaterial`] | [`FullscreenMaterialPlugin`] | the material itself | `bevy_core_pipeline::fullscreen_vertex_shader::FullscreenVertexOutput` |
//!
//! ```
//! # use bevy_app::App;
//! # use quadrille_2d::prelude::*;
//! # #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! # struct Health { #[uniform(0)] part: f32 }
//! # impl UiMaterial for Health {}
//! use bevy_ecs::prelude::*;
//! use bevy_ui::prelude::*;
//!
//! fn spawn(mut commands: Commands, mut bars: ResMut<Assets<Health>>) {
//!     let bar = Node { width: px(200), height: px(20), ..Node::default() };
//!     commands.spawn((bar, MaterialNode(bars.add(Health { part: 0.8 }))));
//! }
//!
//! fn add(app: &mut App) {
//!     app.add_plugins(UiMaterialPlugin::<Health>::default());
//!     app.add_systems(bevy_app::Startup, spawn);
//! }
//! ```
//!
//! # Full screen
//!
//! An effect on the picture of a camera is a component, and the uniform of its shader at once:
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use quadrille::prelude::ShaderType;
//! use quadrille_3d::{FullscreenMaterial, prelude::*};
//!
//! #[derive(Component, ShaderType, Clone, Copy, Default)]
//! struct Sepia { amount: f32 }
//!
//! impl FullscreenMaterial for Sepia {
//!     fn fragment_shader() -> ShaderRef { "shaders/sepia.wgsl".into() }
//! }
//! ```
//!
//! # A vertex shader
//!
//! A vertex shader is a further method of [`Material`], and moves the shadow as well:
//!
//! ```wgsl
//! import bevy_pbr::render::{
//!     forward_io::{Vertex, VertexOutput}, mesh_functions::{get_world_from_local, mesh_position_local_to_clip},
//!     mesh_view_bindings::globals,
//! };
//!
//! @vertex
//! fn vertex(vertex: Vertex) -> VertexOutput {
//!     var out: VertexOutput;
//!     let position = vertex.position + vec3f(0.0, 0.0, 0.1 * sin(globals.time + 8.0 * vertex.position.x));
//!     let world_from_local = get_world_from_local(vertex.instance_index);
//!     out.position = mesh_position_local_to_clip(world_from_local, vec4f(position, 1.0));
//!     out.uv = vertex.uv;
//!     return out;
//! }
//! ```
//!
//! # Vertex attributes
//!
//! Attributes of one's own are inserted into meshes, and given a location by [`Material::specialize`], which runs once for
//! each vertex layout of the meshes that a material is drawn on:
//!
//! ```
//! use bevy_mesh::MeshVertexAttribute;
//! use quadrille_3d::prelude::*;
//! use quadrille_3d::{
//!     MaterialPipeline, MaterialPipelineKey, MeshVertexBufferLayoutRef, RenderPipelineDescriptor,
//!     SpecializedMeshPipelineError,
//! };
//! use wgpu_types::VertexFormat;
//!
//! /// Any large number tells attributes apart.
//! const HEAT: MeshVertexAttribute = MeshVertexAttribute::new("Heat", 572_093_771, VertexFormat::Float32);
//!
//! fn warm() -> Mesh {
//!     Mesh::from(Cuboid::default()).with_inserted_attribute(HEAT, vec![0.5_f32; 24])
//! }
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Thermal {}
//!
//! impl Material for Thermal {
//!     fn vertex_shader() -> ShaderRef { "shaders/thermal.wgsl".into() }
//!     fn fragment_shader() -> ShaderRef { "shaders/thermal.wgsl".into() }
//!
//!     fn specialize(
//!         _: &MaterialPipeline,
//!         descriptor: &mut RenderPipelineDescriptor,
//!         layout: &MeshVertexBufferLayoutRef,
//!         _: MaterialPipelineKey<Self>,
//!     ) -> Result<(), SpecializedMeshPipelineError> {
//!         let attributes = [
//!             Mesh::ATTRIBUTE_POSITION.at_shader_location(0),
//!             HEAT.at_shader_location(1),
//!         ];
//!         descriptor.vertex.buffers = vec![layout.0.get_layout(&attributes)?];
//!         Ok(())
//!     }
//! }
//! ```
//!
//! ```wgsl
//! import bevy_pbr::render::mesh_functions::{get_world_from_local, mesh_position_local_to_clip};
//!
//! struct Vertex {
//!     @builtin(instance_index) instance_index: u32,
//!     @location(0) position: vec3f,
//!     @location(1) heat: f32,
//! }
//!
//! struct VertexOutput { @builtin(position) position: vec4f, @location(0) heat: f32 }
//!
//! @vertex
//! fn vertex(vertex: Vertex) -> VertexOutput {
//!     let world_from_local = get_world_from_local(vertex.instance_index);
//!     return VertexOutput(mesh_position_local_to_clip(world_from_local, vec4f(vertex.position, 1.0)), vertex.heat);
//! }
//!
//! @fragment
//! fn fragment(@location(0) heat: f32) -> @location(0) vec4f { return vec4f(heat, 0.0, 1.0 - heat, 1.0); }
//! ```
//!
//! # Standard shading and more
//!
//! `MaterialPlugin::<ExtendedMaterial<StandardMaterial, E>>` draws a [`StandardMaterial`] with the shaders and values of a
//! [`MaterialExtension`], whose bindings are numbered from 100 on:
//!
//! ```
//! use quadrille_3d::prelude::*;
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Snow {
//!     #[uniform(100)]
//!     height: f32,
//! }
//!
//! impl MaterialExtension for Snow {
//!     fn fragment_shader() -> ShaderRef { "shaders/snow.wgsl".into() }
//! }
//!
//! type SnowyMaterial = ExtendedMaterial<StandardMaterial, Snow>;
//! # let _ = MaterialPlugin::<SnowyMaterial>::default();
//! ```
//!
//! # Buffers
//!
//! Buffers (`#[storage(0, read_only)]` on a `Handle<ShaderBuffer>`, and with `buffer` on a
//! [`GpuBuffer`](quadrille::prelude::GpuBuffer)) are declared by the passes that draw: a pass of yours that writes one in
//! the same frame is ordered before them, on any queue.
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use quadrille_3d::prelude::*;
//!
//! #[derive(Asset, TypePath, AsBindGroup, Clone)]
//! struct Palette {
//!     #[storage(0, read_only)]
//!     colors: Handle<ShaderBuffer>,
//! }
//!
//! fn make(mut buffers: ResMut<Assets<ShaderBuffer>>, mut palettes: ResMut<Assets<Palette>>) {
//!     let colors = buffers.add(ShaderBuffer::from(vec![Vec4::ONE; 5]));
//!     palettes.add(Palette { colors });
//! }
//! # impl Material for Palette {}
//! # let _ = MaterialPlugin::<Palette>::default();
//! ```

#[allow(unused_imports, reason = "the page links to these")]
use crate::*;
