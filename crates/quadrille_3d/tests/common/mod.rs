//! A headless app that draws a scene and reads back the picture, or exact values.

#[path = "../../../quadrille_content/tests/common/golden.rs"]
pub(crate) mod golden;
#[path = "../../../quadrille_content/tests/common/images.rs"]
pub(crate) mod images;
#[path = "../../../quadrille_content/tests/common/lifecycle.rs"]
pub(crate) mod lifecycle;
#[path = "../../../quadrille_2d/tests/common/log.rs"]
pub(crate) mod log;
#[path = "../../../quadrille_content/tests/common/rig.rs"]
mod rig;

use bevy_app::{App, Startup};
use bevy_camera::ManualTextureViewHandle;
use bevy_ecs::prelude::*;
use bevy_ecs::system::ScheduleSystem;
use quadrille::prelude::*;
use quadrille::vulkan::Format;
use quadrille_3d::prelude::{ManualTextureViews, Quadrille3dPlugin as DrawingPlugin};

pub(crate) use rig::*;

/// Prefix of the folder for files of tests.
const FOLDER: &str = "3d";

/// Number of frames before a picture is read.
const SETTLING: u32 = 2;

/// Render target of cameras whose values are read exactly.
pub(crate) const EXACT: ManualTextureViewHandle = ManualTextureViewHandle(1);

#[derive(Resource)]
pub(crate) struct Exact(pub(crate) GpuImage);

/// Makes the image [`EXACT`].
fn prepare(app: &mut App, width: u32, height: u32) {
    let desc = ImageDesc::color_target("exact", [width, height], Format::R32G32B32A32_SFLOAT);
    let gpu = app.world().resource::<GpuDevice>();
    let exact = gpu.create_image(&desc).expect("the image can be made");
    let mut targets = app.world_mut().resource_mut::<ManualTextureViews>();
    targets.insert(EXACT, exact.clone());
    app.insert_resource(Exact(exact));
}

impl Rig {
    /// An app that samples the DFG term from the LUT, for tests of energy: the polynomial fit is not energy-conserving.
    pub(crate) fn with_dfg_lut(width: u32, height: u32) -> Self {
        let plugin = DrawingPlugin {
            dfg_lut: true,
            ..DrawingPlugin::default()
        };
        Self::with(width, height, plugin)
    }

    /// The same with a scene.
    pub(crate) fn scene_with_dfg_lut<M>(
        width: u32,
        height: u32,
        setup: impl IntoScheduleConfigs<ScheduleSystem, M>,
    ) -> Self {
        let mut rig = Self::with_dfg_lut(width, height);
        rig.app.add_systems(Startup, setup);
        rig.start();
        rig
    }

    /// Exact values of a texel of the image [`EXACT`].
    pub(crate) fn exactly(&mut self, x: u32, y: u32) -> [f32; 4] {
        self.exact_row(y)[x as usize]
    }

    /// Exact values of a row of texels of the image [`EXACT`].
    pub(crate) fn exact_row(&mut self, y: u32) -> Vec<[f32; 4]> {
        self.exact_rows().swap_remove(y as usize)
    }

    /// Exact values of all texels of the image [`EXACT`], row by row from the top.
    pub(crate) fn exact_rows(&mut self) -> Vec<Vec<[f32; 4]>> {
        self.update(SETTLING);
        let image = self.app.world().resource::<Exact>().0.clone();
        let done = self.read_back(Readback::image(&image));
        let ([width, _], _) = done.image.expect("an image was read back");
        let numbers: Vec<f32> = done
            .bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect();
        let (texels, _) = numbers.as_chunks::<4>();
        texels.chunks(width as usize).map(<[_]>::to_vec).collect()
    }
}
