//! Shared parameters of passes that draw meshes.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::bindings::PassBindings;
use quadrille::ecs::{
    AccessList, AnyAccess, Attachment, ColorAttachment as _, DeclaredTable, PassUse, Rendering,
    Table, access_kind,
};
use quadrille::prelude::{
    GpuDevice, IndexRead, IndirectRead, Sampled, StorageRead, Uniform, VertexRead,
};
use quadrille::vulkan::commands::IndexType;
use quadrille_content::materials::{BoundAccesses, MATERIAL_ROWS};

use crate::environment::Environments3d;
use crate::environment::maps::{Cubes3d, Volumes3d};
use crate::extract::custom_materials::bound::Renderer3d;
use crate::passes::display::DisplayTransform3d;
use crate::pipelines::PREPASS_IMAGES;
use crate::pipelines::Pipelines3d;
use crate::prepare::occlusion_maps::AmbientOcclusionMaps3d;
use crate::prepare::shadow_maps::{PointShadowFaces, ShadowAtlas};
use crate::prepare::targets::{
    PrepassDepths3d, PrepassMotionVectors3d, PrepassNormals3d, SceneColors, SceneDepths,
    SceneMsaaColors,
};
use crate::scene::buffers::{
    AttributeBases3d, CustomMaterials3d, Decals3d, DrawArgs3d, Indices3d, Instances3d,
    LightMasks3d, LightTextures3d, Lightmaps3d, Lights3d, MaterialGlobals3d, MaterialViews3d,
    Materials3d, MeshAttributes3d, MeshTags3d, ShadowViews3d, Vertices3d, Views3d,
    VisibleInstances,
};
use crate::scene::cull_view::DRAW_ARGS_BYTES;
use crate::scene::frame::{InitialColor, LateResolve, Scene3d, ScenePass, View3d};
use crate::scene::keys::MaterialShader;
use crate::scene::lists::{BatchList, BatchSet, MaterialRanges, ShadowList, TransparentList};
use crate::scene::rows::MaterialViewRow;
use crate::tables::brdf_luts::{DfgLut, LtcLut};
use crate::tables::table::uniform_row;
use crate::tables::textures::Textures3d;

/// Views, lists and pipelines.
#[derive(SystemParam)]
pub struct DrawParams3d<'w> {
    pub(crate) scene: Res<'w, Scene3d>,
    pub(crate) batch_list: Res<'w, BatchList>,
    pub(crate) shadow_list: Res<'w, ShadowList>,
    pub(crate) transparent_list: Res<'w, TransparentList>,
    pub(crate) pipelines: Res<'w, Pipelines3d>,
    material_ranges: Res<'w, MaterialRanges>,
    gpu: Res<'w, GpuDevice>,
}

/// Geometry: vertices, indices and instances.
#[derive(SystemParam, PassBindings)]
pub struct Geometry3d<'w> {
    #[declared]
    vertices: VertexRead<'w, Vertices3d>,
    #[declared]
    indices: IndexRead<'w, Indices3d>,
    #[bind]
    instances: StorageRead<'w, Instances3d>,
}

/// Output of [`cull_3d`](crate::systems::cull_3d): indirect draws of each view, and their instances.
#[derive(SystemParam)]
pub struct Culled3d<'w> {
    args: IndirectRead<'w, DrawArgs3d>,
    visible_instances: StorageRead<'w, VisibleInstances>,
}

/// Inputs of lighting.
#[derive(SystemParam, PassBindings)]
pub struct Lighting3d<'w> {
    #[declared]
    views: Uniform<'w, Views3d>,
    #[bind]
    materials: StorageRead<'w, Materials3d>,
    #[bind]
    lights: StorageRead<'w, Lights3d>,
    #[bind]
    shadow_views: Uniform<'w, ShadowViews3d>,
    #[bind]
    shadow_atlas: Sampled<'w, ShadowAtlas>,
    #[bind]
    point_shadow_faces: Sampled<'w, PointShadowFaces>,
    #[bind]
    dfg: Sampled<'w, DfgLut>,
    #[bind]
    ltc_lut: Sampled<'w, LtcLut>,
    #[bind]
    light_masks: StorageRead<'w, LightMasks3d>,
    #[bind]
    textures: Table<'w, Textures3d>,
    #[bind]
    environments: StorageRead<'w, Environments3d>,
    #[bind]
    cubes: Table<'w, Cubes3d>,
    #[bind]
    volumes: Table<'w, Volumes3d>,
    #[bind]
    lightmaps: StorageRead<'w, Lightmaps3d>,
    #[bind]
    light_textures: StorageRead<'w, LightTextures3d>,
    #[bind]
    decals: StorageRead<'w, Decals3d>,
    display_transform: DisplayTransform3d<'w>,
    material_inputs: MaterialInputs3d<'w>,
    prepasses: SampledPrepasses3d<'w>,
    occlusion_maps: AccessList<'w, AmbientOcclusionMaps3d, access_kind::Sampled>,
    occlusion_map_of_view: Res<'w, AmbientOcclusionMaps3d>,
}

/// Images of prepasses, for shaders of materials.
#[derive(SystemParam)]
pub struct SampledPrepasses3d<'w> {
    depths: AccessList<'w, PrepassDepths3d, access_kind::Sampled>,
    normals: AccessList<'w, PrepassNormals3d, access_kind::Sampled>,
    motion_vectors: AccessList<'w, PrepassMotionVectors3d, access_kind::Sampled>,
}

impl<'w> SampledPrepasses3d<'w> {
    /// Names and images that shaders of materials read in a view; none if no shader reads any.
    fn of(&self, view: &View3d) -> impl Iterator<Item = (&'static str, AnyAccess<'w>)> {
        let sampled = view.prepass.sampled.map(|sampled| {
            let [depth, multisampled_depth] = sampled.depths;
            let [normal, multisampled_normal] = sampled.normals;
            let [motion, multisampled_motion] = sampled.motion_vectors;
            [
                self.depths.get(depth as usize),
                self.depths.get(multisampled_depth as usize),
                self.normals.get(normal as usize),
                self.normals.get(multisampled_normal as usize),
                self.motion_vectors.get(motion as usize),
                self.motion_vectors.get(multisampled_motion as usize),
            ]
        });
        let named = PREPASS_IMAGES.into_iter().zip(sampled.unwrap_or_default());
        named.filter_map(|(name, image)| Some((name, image?)))
    }
}

/// Inputs of shaders of materials, in passes of cameras and of shadow maps.
#[derive(SystemParam, PassBindings)]
pub struct MaterialInputs3d<'w> {
    #[declared]
    rows: StorageRead<'w, CustomMaterials3d>,
    #[declared]
    views: Uniform<'w, MaterialViews3d>,
    #[bind]
    globals: Uniform<'w, MaterialGlobals3d>,
    #[bind("mesh_tags")]
    tags: StorageRead<'w, MeshTags3d>,
    #[bind("quadrille_mesh_attributes")]
    attributes: StorageRead<'w, MeshAttributes3d>,
    #[bind("quadrille_attribute_bases")]
    attribute_bases: StorageRead<'w, AttributeBases3d>,
    bound: BoundAccesses<'w, Renderer3d>,
}

/// Color and depth attachments of views, for the passes of the scene.
#[derive(SystemParam)]
pub struct SceneTargets3d<'w> {
    samples: AccessList<'w, SceneMsaaColors, access_kind::ColorTarget>,
    resolved: AccessList<'w, SceneColors, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
}

impl<'w> SceneTargets3d<'w> {
    /// Color and depth attachments of a view for one of its passes. Resolves the samples in the view's last pass.
    pub(crate) fn of(&self, view: &View3d, pass: ScenePass) -> Option<SceneAttachments<'w>> {
        let at = view.images();
        let resolves = view.samples > 1 && pass == view.last_pass;
        Some(SceneAttachments {
            color: self.samples.get(at)?,
            depth: self.depths.get(at)?,
            resolve_target: match resolves {
                true => Some(self.resolved.get(at)?),
                false => None,
            },
        })
    }
}

/// Images that one pass of a view draws to.
pub(crate) struct SceneAttachments<'w> {
    color: AnyAccess<'w>,
    pub(crate) depth: AnyAccess<'w>,
    resolve_target: Option<AnyAccess<'w>>,
}

impl SceneAttachments<'_> {
    /// Adds the color attachments. The depth is not added, since its access differs between passes.
    pub(crate) fn add_color_uses(&self, uses: &mut Vec<PassUse>) {
        uses.push(self.color.as_declared());
        uses.extend(self.resolve_target.map(|image| image.as_declared()));
    }

    /// The same images without resolving their samples.
    pub(crate) fn unresolved(self) -> Self {
        Self {
            resolve_target: None,
            ..self
        }
    }

    /// Color attachment with these initial contents.
    pub(crate) fn color(&self, initial: InitialColor) -> Attachment {
        let attachment = match initial {
            InitialColor::Keep => self.color.keep(),
            InitialColor::Clear(color) => self.color.clear(color),
            InitialColor::Discard => self.color.discard(),
        };
        match &self.resolve_target {
            Some(target) => attachment.resolve_to(target),
            None => attachment,
        }
    }
}

/// Images of views, for passes of programs. If a system has this parameter,
/// [`transparent_3d`](crate::systems::transparent_3d) resolves the samples of all views, also of those without
/// transparent surfaces, to include what the system drew.
#[derive(SystemParam)]
pub struct ViewTargets3d<'w, 's> {
    samples: AccessList<'w, SceneMsaaColors, access_kind::ColorTarget>,
    depths: AccessList<'w, SceneDepths, access_kind::DepthTarget>,
    _late_resolve: Local<'s, LateResolve>,
}

impl<'w> ViewTargets3d<'w, '_> {
    /// Returns the (multisampled) color and depth of a view, for passes that draw to them between
    /// [`Pass3dSystems::OpaqueLate`](crate::Pass3dSystems::OpaqueLate) and [`transparent_3d`](crate::systems::transparent_3d).
    pub fn of(&self, view: &View3d) -> Option<(AnyAccess<'w>, AnyAccess<'w>)> {
        let at = view.images();
        Some((self.samples.get(at)?, self.depths.get(at)?))
    }
}

impl DrawParams3d<'_> {
    /// Records the indirect draws of a culled view (`cull_row`) for a view.
    pub(crate) fn draw_opaque(
        &self,
        rendering: &mut Rendering<'_>,
        (geometry, indirect_draws): (&Geometry3d, &IndirectDraws<'_>),
        lighting: &Lighting3d,
        (view, row): (&View3d, u32),
    ) {
        let target = view.pipeline_target();
        for batch_set in self.batch_list.opaque_batch_sets_of(&view.queued) {
            let key = batch_set.pipeline.for_view(view.queued.inverts_culling);
            let Some(pipeline) = self.pipelines.meshes.get(key, &target) else {
                continue;
            };
            rendering.pipeline(pipeline);
            geometry.bind(rendering);
            rendering.bind_all(indirect_draws);
            lighting.bind(rendering, self, (view, key.shader));
            indirect_draws.draw(rendering, self, row, batch_set);
        }
    }
}

impl Geometry3d<'_> {
    /// Binds the geometry. A pipeline must be bound.
    pub(crate) fn bind(&self, rendering: &mut Rendering<'_>) {
        rendering
            .vertices(0, &self.vertices, 0)
            .indices(&self.indices, 0, IndexType::U32)
            .bind_all(self);
    }

    /// Binds the geometry, of which the shader need not use the instances.
    pub(crate) fn bind_used(&self, rendering: &mut Rendering<'_>) {
        rendering
            .vertices(0, &self.vertices, 0)
            .indices(&self.indices, 0, IndexType::U32)
            .bind_used(self);
    }
}

/// Indirect draws and their instances.
#[derive(PassBindings)]
pub(crate) struct IndirectDraws<'a> {
    #[declared]
    pub(crate) args: AnyAccess<'a>,
    #[bind]
    pub(crate) visible_instances: AnyAccess<'a>,
}

impl Culled3d<'_> {
    pub(crate) fn indirect_draws(&self) -> IndirectDraws<'_> {
        IndirectDraws {
            args: self.args.any(),
            visible_instances: self.visible_instances.any(),
        }
    }
}

impl IndirectDraws<'_> {
    /// Draws a batch set for a culled view. The pipeline must be bound.
    pub(crate) fn draw(
        &self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d,
        view: u32,
        batch_set: &BatchSet,
    ) {
        let most = draw_params.gpu.limits().max_draw_indirect_count.max(1);
        let batches = &batch_set.batches;
        for first in batches.clone().step_by(most as usize) {
            let first_draw =
                u64::from(view) * u64::from(draw_params.batch_list.batches) + u64::from(first);
            let count = most.min(batches.end - first);
            rendering.draw_indexed_indirect(&self.args, first_draw * DRAW_ARGS_BYTES, count);
        }
    }
}

impl Lighting3d<'_> {
    /// Depth of a view with contact shadows or transmission, before what draws it; any depth for others.
    fn contact_depths(&self, view: &View3d) -> AnyAccess<'_> {
        let at = view.prepass.depth.filter(|_| view.reads_depth());
        let depth = at.and_then(|at| self.prepasses.depths.get(at as usize));
        depth.unwrap_or_else(|| self.shadow_atlas.any())
    }

    /// Ambient occlusion map of a view.
    fn occlusion_map(&self, view: &View3d) -> Option<AnyAccess<'_>> {
        self.occlusion_maps
            .get(self.occlusion_map_of_view.0.index(view)?)
    }

    /// Ambient occlusion map of a view; any texture for those without one.
    fn bound_occlusion_map(&self, view: &View3d) -> AnyAccess<'_> {
        let map = self.occlusion_map(view);
        map.unwrap_or_else(|| self.dfg.any())
    }

    /// Adds the lighting inputs for a view.
    pub(crate) fn add_view_uses(&self, view: &View3d, uses: &mut Vec<PassUse>) {
        self.display_transform.add_uses(view, uses);
        self.material_inputs.add_camera_uses(uses);
        uses.extend(self.prepasses.of(view).map(|(_, it)| it.as_declared()));
        // Shaders of materials may read the same image.
        if view.reads_depth() && view.prepass.sampled.is_none() {
            uses.push(self.contact_depths(view).as_declared());
        }
        uses.extend(self.occlusion_map(view).map(|map| map.as_declared()));
        self.add_uses(uses);
    }

    /// Binds the lighting inputs of a view that the fragment shader uses. The pipeline must be bound.
    pub(crate) fn bind(
        &self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d<'_>,
        (view, shader): (&View3d, MaterialShader),
    ) {
        let pipelines = &*draw_params.pipelines;
        // Vertex shaders of materials may read `view` alone.
        if rendering.uses("camera") {
            rendering.bind_bytes("camera", &self.views, uniform_row(view.queued.row));
        }
        if shader != MaterialShader::Standard || rendering.uses("gbuffer") {
            self.bind_used(rendering, draw_params, (view, shader));
            return;
        }
        rendering
            .sampler("shadow_sampler", &pipelines.shadow_sampler)
            .bind("ambient_occlusion_map", &self.bound_occlusion_map(view))
            .bind("contact_depths", &self.contact_depths(view))
            // `transmissive_3d` binds the image of the view.
            .bind("transmission_background", &self.dfg)
            .bind_all(self);
        self.display_transform.bind(rendering, pipelines, view);
    }

    /// Binds the inputs that the shader of a material type uses: the rows of its type, and inputs of lighting.
    fn bind_used(
        &self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d<'_>,
        (view, shader): (&View3d, MaterialShader),
    ) {
        let pipelines = &*draw_params.pipelines;
        let row = Some(view.queued.row);
        self.material_inputs
            .bind(rendering, draw_params, (shader, row));
        for (name, sampler) in [
            ("shadow_sampler", &pipelines.shadow_sampler),
            ("clamped_sampler", &pipelines.clamped_sampler),
        ] {
            if rendering.uses(name) {
                rendering.sampler(name, sampler);
            }
        }
        rendering.bind_used(self);
        bind_samplers(rendering, ["textures", "samplers"], &self.textures);
        bind_samplers(rendering, ["cubes", "cube_samplers"], &self.cubes);
        bind_samplers(rendering, ["volumes", "volume_samplers"], &self.volumes);
        for (name, image) in self.prepasses.of(view) {
            if rendering.uses(name) {
                rendering.bind(name, &image);
            }
        }
        if rendering.uses("contact_depths") {
            rendering.bind("contact_depths", &self.contact_depths(view));
        }
        if rendering.uses("ambient_occlusion_map") {
            rendering.bind("ambient_occlusion_map", &self.bound_occlusion_map(view));
        }
        if rendering.uses("transmission_background") {
            rendering.bind("transmission_background", &self.dfg);
        }
        if rendering.uses("grading") {
            self.display_transform.bind(rendering, pipelines, view);
        }
    }
}

/// Binds a table by the name of its samplers, for shaders that use none of its images.
pub(crate) fn bind_samplers(
    rendering: &mut Rendering<'_>,
    [images, samplers]: [&str; 2],
    table: &impl DeclaredTable,
) {
    if rendering.uses(samplers) && !rendering.uses(images) {
        rendering.table(samplers, table);
    }
}

impl MaterialInputs3d<'_> {
    /// Binds what the shader of a material type reads: the rows of its type, and any of the other inputs. `view` is the
    /// row of a camera.
    pub(crate) fn bind(
        &self,
        rendering: &mut Rendering<'_>,
        draw_params: &DrawParams3d<'_>,
        (shader, view): (MaterialShader, Option<u32>),
    ) {
        let MaterialShader::Custom { number, material } = shader else {
            return;
        };
        if let Some(rows) = draw_params.material_ranges.0.get(&number)
            && rendering.uses(MATERIAL_ROWS)
        {
            rendering.bind_bytes(MATERIAL_ROWS, &self.rows, rows.clone());
        }
        if let Some(row) = view
            && rendering.uses("view")
        {
            let bytes = size_of::<MaterialViewRow>() as u64;
            let start = u64::from(row) * bytes;
            rendering.bind_bytes("view", &self.views, start..start + bytes);
        }
        rendering.bind_used(self);
        if let Some(material) = material {
            self.bound.bind(rendering, (number, material));
        }
    }

    /// Adds all accesses of passes of cameras: a buffer or image of a material is declared by each pass that may draw it.
    pub(crate) fn add_camera_uses(&self, uses: &mut Vec<PassUse>) {
        self.add_uses(uses);
        self.bound.add_all_uses(uses);
    }

    /// Adds all accesses of passes of shadow maps.
    pub(crate) fn add_shadow_uses(&self, uses: &mut Vec<PassUse>) {
        match self.bound.in_shadows() {
            true => self.add_camera_uses(uses),
            false => self.add_uses(uses),
        }
    }
}
