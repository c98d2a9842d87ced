//! Ten of bevy's shader examples, each as a pass of one's own: a system that draws to the images of
//! 3D cameras, or computes, between the passes of `quadrille_3d`.
//!
//! Each program is one file with its shader in it, and shorter than bevy's.

mod array_texture;
mod compute_mesh;
mod custom_phase_item;
mod custom_post_processing;
mod custom_shader_instancing;
mod custom_vertex_attribute;
mod deferred_raymarch;
mod frame;
mod render_depth_to_texture;
mod storage_buffer;
mod texture_binding_array;

use bevy_app::{App, AppExit};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use examples::{CommonArgs, args};
use quadrille_3d::Quadrille3dPlugin;

/// Ten of bevy's shader examples, as passes of one's own.
#[derive(Parser, Clone)]
#[command(after_help = EXAMPLES)]
struct Args {
    /// Name of the program, as in bevy's examples
    #[arg(default_value = "custom_shader_instancing", value_parser = PossibleValuesParser::new(PROGRAMS.map(|(name, _)| name)))]
    name: String,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  shaders compute_mesh
  shaders deferred_raymarch --headless --frames 60 --screenshot raymarch.png";

const WINDOW: [u32; 2] = [640, 360];

/// Name in bevy's examples, and the function that adds it to an app.
type Program = (&'static str, fn(&mut App));

const PROGRAMS: [Program; 10] = [
    ("array_texture", array_texture::add),
    ("compute_mesh", compute_mesh::add),
    ("custom_phase_item", custom_phase_item::add),
    ("custom_post_processing", custom_post_processing::add),
    ("custom_shader_instancing", custom_shader_instancing::add),
    ("custom_vertex_attribute", custom_vertex_attribute::add),
    ("deferred_raymarch", deferred_raymarch::add),
    ("render_depth_to_texture", render_depth_to_texture::add),
    ("storage_buffer", storage_buffer::add),
    ("texture_binding_array", texture_binding_array::add),
];

fn main() -> AppExit {
    let args: Args = args::parse();
    let mut app = App::new();
    app.add_plugins((
        args.common.plugins(&args.name, WINDOW),
        args.common.clone(),
        Quadrille3dPlugin::default(),
    ));
    app.add_plugins(frame::FramePlugin);
    for (_, add) in PROGRAMS.iter().filter(|(name, _)| *name == args.name) {
        add(&mut app);
    }
    app.run()
}
