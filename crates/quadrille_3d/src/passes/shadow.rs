//! The pass [`shadow_3d`].

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bytemuck::{Pod, Zeroable};
use quadrille::bindings::PassBindings;
use quadrille::ecs::{DepthAttachment as _, PassUse, Rendering, RetainedContents, Table};
use quadrille::prelude::{DepthTarget, Recorder, StorageRead, Uniform};
use quadrille::rows::ShaderRow;

use crate::passes::draw::{
    Culled3d, DrawParams3d, Geometry3d, IndirectDraws, MaterialInputs3d, bind_samplers,
};
use crate::prepare::shadow_cache::{ShadowCache, ShadowLoad};
use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas, ShadowMaps, TileGrid};
use crate::scene::buffers::{Materials3d, ShadowViews3d};
use crate::scene::keys::{CullMode, MaterialShader, PipelineKey};
use crate::scene::lists::ShadowMapKind;
use crate::tables::textures::Textures3d;

/// Materials and textures for alpha masks, and inputs of shaders of materials.
#[derive(SystemParam, PassBindings)]
pub struct AlphaMaskParams3d<'w> {
    #[bind]
    materials: StorageRead<'w, Materials3d>,
    #[bind]
    textures: Table<'w, Textures3d>,
    material_inputs: MaterialInputs3d<'w>,
}

/// Push constants of the shadow shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, ShaderRow)]
#[row("quadrille_3d/shadow_pass.wgsl", "Push")]
pub(crate) struct ShadowPush {
    row: u32,
    clamps_depth: u32,
}

/// Draws shadow maps whose view or casters have changed: one rendering to [`ShadowAtlas`] and one to
/// [`PointShadowFaces`], regardless of the number of lights, and none to an image without changed maps.
pub fn shadow_3d(
    mut recorder: Recorder,
    meshes: (Geometry3d, Culled3d),
    shadow_params: (Uniform<ShadowViews3d>, AlphaMaskParams3d),
    (flat, faces): (DepthTarget<ShadowAtlas>, DepthTarget<PointShadowFaces>),
    draw_params: DrawParams3d,
    (maps, mut cache, retained): (Res<ShadowMaps>, ResMut<ShadowCache>, RetainedContents),
    mut uses: Local<Vec<PassUse>>,
) {
    cache.note_recorded(&retained);
    for kind in [ShadowMapKind::Atlas, ShadowMapKind::PointFaces] {
        let image = match kind {
            ShadowMapKind::Atlas => flat.any(),
            ShadowMapKind::PointFaces => faces.any(),
        };
        let attachment = match cache.load(kind) {
            ShadowLoad::Nothing => continue,
            ShadowLoad::ClearAll => image.layer(0).clear_depth(0.0),
            ShadowLoad::ClearTiles => image.layer(0).keep_depth(),
        };
        uses.clear();
        uses.extend([image.as_declared(), shadow_params.0.any().as_declared()]);
        shadow_params.1.add_uses(&mut uses);
        shadow_params.1.material_inputs.add_shadow_uses(&mut uses);
        meshes.0.add_uses(&mut uses);
        let indirect_draws = meshes.1.indirect_draws();
        indirect_draws.add_uses(&mut uses);
        let mut pass = recorder.pass("shadow_3d", &uses);
        let mut rendering = pass.render(attachment);
        let tiles = maps.tiles(kind);
        if cache.load(kind) == ShadowLoad::ClearTiles {
            let draws = draw_params.shadow_list.draws.iter();
            for shadow in draws.filter(|it| it.kind == kind && it.is_drawn) {
                if let Some(rect) = tiles.rect(shadow) {
                    rendering.clear_depth(rect, 0.0);
                }
            }
        }
        let indirect_draws = (&meshes.0, &indirect_draws);
        draw_shadows(
            &mut rendering,
            tiles,
            kind,
            &draw_params,
            indirect_draws,
            &shadow_params,
        );
    }
}

/// Draws all shadow maps of an image, grouped by pipeline.
fn draw_shadows(
    rendering: &mut Rendering<'_>,
    tiles: TileGrid,
    kind: ShadowMapKind,
    draw_params: &DrawParams3d,
    (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
    (views, alpha_mask): &(Uniform<ShadowViews3d>, AlphaMaskParams3d),
) {
    let mut bound = None;
    for batch_set in draw_params.batch_list.shadow_batch_sets() {
        let caster = Caster::new(batch_set.pipeline, draw_params);
        if bound != Some(caster) {
            let geometry = (geometry, indirect_draws);
            caster.bind(rendering, draw_params, geometry, (views, alpha_mask));
            bound = Some(caster);
        }
        for (row, shadow) in (0u32..).zip(&draw_params.shadow_list.draws) {
            let (Some(rect), Some(view)) = (tiles.rect(shadow), shadow.cull_row) else {
                continue;
            };
            if shadow.kind != kind || !shadow.is_drawn {
                continue;
            }
            let push = ShadowPush {
                row,
                clamps_depth: u32::from(shadow.clamps_depth),
            };
            rendering
                .viewport(rect.map(|number| number as f32))
                .scissor(rect)
                .push_bytes(bytemuck::bytes_of(&push));
            indirect_draws.draw(rendering, draw_params, view, batch_set);
        }
    }
}

/// Shaders and resources of shadow casters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Caster {
    /// Shaders of all materials.
    Standard {
        cull: CullMode,
        needs_alpha_mask: bool,
    },
    /// Shaders of a material type.
    Custom(MaterialShader),
}

impl Caster {
    fn new(key: PipelineKey, draw_params: &DrawParams3d) -> Self {
        match draw_params.pipelines.meshes.custom_shadow(key.shader) {
            Some(_) => Self::Custom(key.shader),
            None => Self::Standard {
                cull: key.cull,
                needs_alpha_mask: key.blend_mode.needs_alpha_mask(),
            },
        }
    }

    /// Binds the pipeline and its resources.
    fn bind(
        self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d,
        (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
        (views, alpha_mask): (&Uniform<ShadowViews3d>, &AlphaMaskParams3d),
    ) {
        let pipelines = &draw_params.pipelines;
        match self {
            Self::Standard {
                cull,
                needs_alpha_mask,
            } => {
                rendering.pipeline(pipelines.shadow(cull, needs_alpha_mask));
                geometry.bind(rendering);
                rendering
                    .bind_all(indirect_draws)
                    .bind("shadow_views", views);
                if needs_alpha_mask {
                    rendering.bind_all(alpha_mask);
                }
            }
            Self::Custom(shader) => {
                let Some(pipeline) = pipelines.meshes.custom_shadow(shader) else {
                    return;
                };
                rendering.pipeline(pipeline);
                geometry.bind_used(rendering);
                rendering.bind_used(indirect_draws).bind_used(alpha_mask);
                bind_samplers(rendering, ["textures", "samplers"], &alpha_mask.textures);
                if rendering.uses("shadow_views") {
                    rendering.bind("shadow_views", views);
                }
                let inputs = &alpha_mask.material_inputs;
                inputs.bind(rendering, draw_params, (shader, None));
            }
        }
    }
}
