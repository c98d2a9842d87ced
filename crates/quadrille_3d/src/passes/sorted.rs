//! Draws of sorted instances, for [`transparent_3d`](crate::systems::transparent_3d) and
//! [`transmissive_3d`](crate::systems::transmissive_3d).

use std::ops::Range;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings as _;
use quadrille::ecs::{AnyAccess, PassUse, Rendering};
use quadrille::prelude::StorageRead;

use crate::passes::draw::{DrawParams3d, Geometry3d, Lighting3d};
use crate::scene::buffers::TransparentInstances3d;
use crate::scene::formats::PipelineTarget;
use crate::scene::frame::{FragmentCapacities, View3d};
use crate::scene::keys::PipelineKey;
use crate::scene::lists::TransparentDraw;

/// Sorted instances, and what their shaders read.
#[derive(SystemParam)]
pub struct SortedDraws3d<'w> {
    geometry: Geometry3d<'w>,
    instances: StorageRead<'w, TransparentInstances3d>,
    lighting: Lighting3d<'w>,
    draw_params: DrawParams3d<'w>,
    fragment_capacities: Res<'w, FragmentCapacities>,
}

impl SortedDraws3d<'_> {
    /// Views of the frame.
    pub(crate) fn views(&self) -> &[View3d] {
        &self.draw_params.scene.views
    }

    /// Number of fragments of a view that lists have memory for; `None` for views that sort their transparent meshes.
    pub(crate) fn fragment_capacity(&self, view: &View3d) -> Option<u32> {
        self.fragment_capacities.of(view)
    }

    /// Adds what the draws of a view read.
    pub(crate) fn add_uses(&self, view: &View3d, uses: &mut Vec<PassUse>) {
        uses.push(self.instances.any().as_declared());
        self.geometry.add_uses(uses);
        self.lighting.add_view_uses(view, uses);
    }

    /// Draws a range of the list of sorted draws. `background`: color behind transmissive meshes.
    pub(crate) fn draw(
        &self,
        rendering: &mut Rendering<'_>,
        view: &View3d,
        draws: Range<u32>,
        background: Option<AnyAccess<'_>>,
    ) {
        let resource = background.map(|image| ("transmission_background", image));
        let target = view.pipeline_target();
        self.draw_to(rendering, (view, &target), draws, resource, Some);
    }

    /// Draws to the lists of order-independent transparency.
    pub(crate) fn draw_to_lists(
        &self,
        rendering: &mut Rendering<'_>,
        view: &View3d,
        lists: AnyAccess<'_>,
    ) {
        let draws = view.queued.order_independent.clone();
        let target = PipelineTarget::fragment_lists(!view.is_scene_referred());
        let resource = Some(("fragment_lists", lists));
        self.draw_to(
            rendering,
            (view, &target),
            draws,
            resource,
            PipelineKey::order_independent,
        );
    }

    fn draw_to(
        &self,
        rendering: &mut Rendering<'_>,
        (view, target): (&View3d, &PipelineTarget),
        draws: Range<u32>,
        resource: Option<(&'static str, AnyAccess<'_>)>,
        key_of: impl Fn(PipelineKey) -> Option<PipelineKey>,
    ) {
        let mut bound: Option<PipelineKey> = None;
        let draws =
            &self.draw_params.transparent_list.draws[draws.start as usize..draws.end as usize];
        for draw in draws {
            let Some(key) = key_of(draw.key.pipeline.for_view(view.queued.inverts_culling)) else {
                continue;
            };
            if bound != Some(key) {
                let Some(pipeline) = self.draw_params.pipelines.meshes.get(key, target) else {
                    continue;
                };
                rendering.pipeline(pipeline);
                self.geometry.bind(rendering);
                rendering.bind("visible_instances", &self.instances);
                self.lighting
                    .bind(rendering, &self.draw_params, (view, key.shader));
                if let Some((name, resource)) = &resource
                    && rendering.uses(*name)
                {
                    rendering.bind(*name, resource);
                }
                bound = Some(key);
            }
            draw_mesh(rendering, draw);
        }
    }
}

fn draw_mesh(rendering: &mut Rendering<'_>, draw: &TransparentDraw) {
    let mesh = &draw.key.mesh;
    rendering.draw_indexed(
        mesh.first_index..mesh.first_index + mesh.index_count,
        mesh.base_vertex,
        draw.instances.clone(),
    );
}
