//! A headless app that draws a scene and reads the picture back.

#[path = "../../../quadrille_content/tests/common/golden.rs"]
pub(crate) mod golden;
#[path = "../../../quadrille_content/tests/common/images.rs"]
pub(crate) mod images;
#[path = "../../../quadrille_content/tests/common/lifecycle.rs"]
pub(crate) mod lifecycle;
pub(crate) mod log;
#[path = "../../../quadrille_content/tests/common/rig.rs"]
mod rig;
pub(crate) mod scenes;

use bevy_app::App;
use quadrille_2d::Quadrille2dPlugin as DrawingPlugin;

pub(crate) use rig::*;

/// Prefix of the folder for files of tests.
const FOLDER: &str = "2d";

/// Number of frames before a picture is read.
const SETTLING: u32 = 0;

fn prepare(_: &mut App, _: u32, _: u32) {}
