//! Order-independent transparency of cameras (per-pixel linked lists), before the pass of other transparent meshes.
//!
//! ```text
//! order_independent_3d   empties the lists; draws fragments to them; blends each list over the color
//! transparent_3d         blends other transparent meshes over it
//! ```

mod lists;

use bevy_app::{App, Plugin};
use bevy_camera::Camera3d;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::{
    AccessList, AnyAccess, ColorAttachment as _, DepthAttachment as _, PassUse, RenderStartup,
    access_kind,
};
use quadrille::prelude::{
    GpuDevice, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render, StorageRead,
    StorageReadWrite, TransferWrite,
};
use quadrille::vulkan::pipeline::Blend;
use quadrille::vulkan::shader::ShaderOptions;
use quadrille_content::cameras::Msaa;
use quadrille_content::warnings::RateLimitedWarnings;

pub use lists::FragmentLists3d;

use crate::components::order_independent_transparency::OrderIndependentTransparencySettings;
use crate::constants::{
    OIT_CAPACITY, OIT_COUNT, OIT_END, OIT_FEW_SORTED, OIT_FIRST_HEAD, OIT_FIRST_NODE,
    OIT_THRESHOLD, OIT_WIDTH,
};
use crate::effects::needs::warn_of_samples;
use crate::passes::sorted::SortedDraws3d;
use crate::passes::transparent::transparent_3d;
use crate::prepare::pipelines::prepare_pipelines;
use crate::prepare::targets::{SceneColors, SceneDepths, prepare_targets};
use crate::scene::frame::{FragmentCapacities, View3d};
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
use lists::{first_node, init_lists, prepare_lists};

/// Adds order-independent transparency.
pub(crate) struct OitPlugin;

impl Plugin for OitPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<OrderIndependentTransparencySettings>()
            .add_systems(RenderStartup, (init_lists, init_resolve))
            .add_systems(
                Render,
                (
                    warn_of_sorted.in_set(Prepare3dSystems::Extract),
                    prepare_lists
                        .in_set(Prepare3dSystems::Prepare)
                        .after(prepare_targets)
                        .before(prepare_pipelines),
                    order_independent_3d
                        .in_set(Pass3dSystems::Transparent)
                        .before(transparent_3d),
                ),
            );
    }
}

/// Pipelines that blend the lists over the color.
#[derive(Resource)]
pub struct OitResolvePipelines {
    /// Sorts at most [`OIT_FEW_SORTED`] fragments.
    few: GraphicsPipeline,
    many: GraphicsPipeline,
}

fn init_resolve(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../../shaders/oit_resolve.wgsl");
    let pipeline = |name, options: ShaderOptions| -> Result<_> {
        let shader = options.wgsl("quadrille_3d/oit_resolve.wgsl", source)?;
        let desc = GraphicsPipelineDesc::of(name, &shader);
        Ok(gpu.graphics_pipeline(&GraphicsPipelineDesc {
            blend: Blend::Premultiplied,
            ..desc
        })?)
    };
    commands.insert_resource(OitResolvePipelines {
        few: pipeline("oit resolve", ShaderOptions::new())?,
        many: pipeline("oit resolve many", ShaderOptions::new().def("MANY_SORTED"))?,
    });
    Ok(())
}

/// Cameras whose settings or samples changed.
type ChangedSettings = (
    With<Camera3d>,
    With<OrderIndependentTransparencySettings>,
    Or<(Changed<OrderIndependentTransparencySettings>, Changed<Msaa>)>,
);

/// Warns of cameras with several samples per pixel, when they are set up so.
fn warn_of_sorted(
    cameras: Query<(Entity, &Msaa), ChangedSettings>,
    warnings: Res<RateLimitedWarnings>,
) {
    let consequence = |camera: &str, _| {
        format!("transparent meshes under the camera {camera} are sorted as a whole")
    };
    let component = "OrderIndependentTransparencySettings";
    warn_of_samples(cameras, &warnings, (component, consequence));
}

/// Lists of fragments, and what they are blended over.
#[derive(SystemParam)]
pub struct OitParams3d<'w> {
    emptied: TransferWrite<'w, FragmentLists3d>,
    filled: StorageReadWrite<'w, FragmentLists3d>,
    capacities: Res<'w, FragmentCapacities>,
    read: StorageRead<'w, FragmentLists3d>,
    colors: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthRead>,
    pipelines: Res<'w, OitResolvePipelines>,
}

/// Draws transparent meshes to lists of fragments, and blends these: three passes in the plan for each view with
/// [`OrderIndependentTransparencySettings`] that sees any.
pub fn order_independent_3d(
    mut recorder: Recorder,
    sorted: SortedDraws3d,
    oit: OitParams3d,
    mut uses: Local<Vec<PassUse>>,
) {
    for view in sorted.views() {
        let at = view.images();
        let (Some(capacity), Some(color), Some(depth)) = (
            oit.capacities.of(view),
            oit.colors.get(at),
            oit.depths.get(at),
        ) else {
            continue;
        };
        oit.empty(&mut recorder, view, capacity);
        uses.clear();
        uses.extend([depth.as_declared(), oit.filled.any().as_declared()]);
        sorted.add_uses(view, &mut uses);
        {
            let mut pass = recorder.pass_in_step(view.step(), "order_independent_3d", &uses);
            let mut rendering = pass.render(depth.layer(0).keep_depth());
            sorted.draw_to_lists(&mut rendering, view, oit.filled.any());
        }
        oit.resolve(&mut recorder, view, &color);
    }
}

impl OitParams3d<'_> {
    /// Writes the header of a view, and empties the list of each pixel.
    fn empty(&self, recorder: &mut Recorder, view: &View3d, capacity: u32) {
        let [width, height] = view.size();
        let threshold = view.queued.oit.map_or(0.0, |it| it.alpha_threshold);
        let uses = [self.emptied.any().as_declared()];
        let mut pass = recorder.pass_in_step(view.step(), "empty fragment lists", &uses);
        let mut transfer = pass.transfer();
        for (word, value) in [
            (OIT_COUNT, 0),
            (OIT_WIDTH, width),
            (OIT_CAPACITY, capacity),
            (OIT_THRESHOLD, threshold.to_bits()),
            (OIT_FIRST_NODE, first_node(width, height)),
        ] {
            transfer.fill_buffer(&self.emptied, 4 * u64::from(word), 4, value);
        }
        let heads = 4 * u64::from(width) * u64::from(height);
        transfer.fill_buffer(&self.emptied, 4 * u64::from(OIT_FIRST_HEAD), heads, OIT_END);
    }

    /// Blends the lists of a view over its color.
    fn resolve(&self, recorder: &mut Recorder, view: &View3d, color: &AnyAccess<'_>) {
        let sorted_count = view.queued.oit.map_or(1, |it| it.sorted_count());
        let uses = [self.read.any(), *color].map(|used| used.as_declared());
        let mut pass = recorder.pass_in_step(view.step(), "oit_resolve", &uses);
        let pipeline = match sorted_count <= OIT_FEW_SORTED {
            true => &self.pipelines.few,
            false => &self.pipelines.many,
        };
        pass.render(color.keep())
            .pipeline(pipeline)
            .bind("fragment_lists", &self.read)
            .push_bytes(&sorted_count.to_ne_bytes())
            .draw(0..3, 0..1);
    }
}
