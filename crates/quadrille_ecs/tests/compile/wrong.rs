//! Programs that do not compile; `compile.rs` has the errors of each.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::ComputePipeline;
use quadrille_vulkan::resources::{GpuBuffer, GpuImage};

#[derive(Resource, Deref)]
struct Cells(GpuBuffer);

#[derive(Resource, Deref)]
struct Scene(GpuImage);

#[derive(Resource)]
struct Step(ComputePipeline);

/// The buffer of a resource, and not the declared access.
fn undeclared(mut recorder: Recorder, _: StorageRead<Cells>, cells: Res<Cells>, step: Res<Step>) {
    recorder.compute(&step.0).bind(0, &cells.0);
}

#[derive(Resource, Deref)]
struct Count(u32);

/// A resource that is no buffer.
fn number(_: Recorder, _: StorageRead<Count>) {}

#[derive(Resource)]
struct Plain(GpuBuffer);

/// A resource that does not dereference to its buffer.
fn plain(_: Recorder, _: StorageRead<Plain>) {}

struct Positions;

/// A history that is none.
fn history(_: Recorder, _: Current<Positions>) {}

/// Resolves to an image that is declared as sampled.
fn resolve(mut recorder: Recorder, scene: ColorTarget<Scene>, to: Sampled<Cells>) {
    recorder.render(scene.clear([0.0; 4]).resolve_to(&to));
}

/// A stage that is none.
fn stage(_: Recorder, _: StorageRead<Cells, u32>) {}

/// A kind that is none.
fn kind(_: Recorder, _: Access<Cells, u32>) {}

struct Light {
    strength: f32,
}

/// A struct without a layout.
fn layout(mut recorder: Recorder, step: Res<Step>) {
    recorder.compute(&step.0).push(&Light { strength: 1.0 });
}

/// A window, and not what becomes of its old contents.
fn rendered(mut recorder: Recorder, window: ColorTarget<PrimaryWindowImage>) {
    recorder.render(window);
}

/// The same by reference, as passes bind resources.
fn rendered_with_depth(
    mut recorder: Recorder,
    scene: ColorTarget<Scene>,
    depth: DepthTarget<Depth>,
) {
    recorder.render((&scene, depth.clear_depth(1.0)));
}

#[derive(Resource, Deref)]
struct Depth(GpuImage);

/// Two fields with one binding.
#[derive(bevy_ecs::system::SystemParam, quadrille_ecs::bindings::PassBindings)]
struct Twice<'w> {
    #[bind("cells")]
    first: StorageRead<'w, Cells>,
    #[bind("cells")]
    second: StorageRead<'w, Cells>,
}

/// A field that cannot be bound.
#[derive(quadrille_ecs::bindings::PassBindings)]
struct Unbindable {
    #[bind]
    count: u32,
}

/// Two bindings of a material with one number.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct SameNumber {
    #[uniform(0)]
    speed: f32,
    #[texture(0)]
    pattern: Option<bevy_asset::Handle<bevy_image::Image>>,
}

/// An option that textures do not have.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct UnknownOption {
    #[texture(0, dimensions = "2d")]
    pattern: Option<bevy_asset::Handle<bevy_image::Image>>,
}

/// A dimension that no texture has.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct UnknownDimension {
    #[texture(0, dimension = "4d")]
    pattern: Option<bevy_asset::Handle<bevy_image::Image>>,
}

/// A storage binding on a field that is no buffer.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct WithStorage {
    #[storage(0, read_only)]
    speeds: Vec<f32>,
}

/// A shader stage that does not exist.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct UnknownStage {
    #[sampler(0, visibility(pixel))]
    pattern: Option<bevy_asset::Handle<bevy_image::Image>>,
}

/// A texture that is no image.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct NoImage {
    #[texture(0)]
    speed: f32,
}

/// A binding without a number.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct NoNumber {
    #[uniform(first)]
    speed: f32,
}

/// A material whose fields have no names.
#[derive(quadrille_ecs::material::AsBindGroup)]
struct Unnamed(#[uniform(0)] f32);
