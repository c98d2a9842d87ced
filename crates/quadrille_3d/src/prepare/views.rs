//! Views of 3D cameras, with their lights and shadow maps.

use std::cmp::Reverse;
use std::ops::Range;

use bevy_camera::primitives::Frustum;
use bevy_camera::visibility::{NoCpuCulling, RenderLayers, VisibleEntities};
use bevy_camera::{
    Camera3d, Camera3dDepthLoadOp, Exposure, Hdr, MainPassResolutionOverride, RenderTarget,
};
use bevy_color::ColorToComponents as _;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_light::cluster::ClusterVisibilityClass;
use bevy_light::{
    AmbientLight, DirectionalLight, GlobalAmbientLight, PointLight, RectLight,
    ShadowFilteringMethod, SpotLight,
};
use bevy_math::Vec3;
use bevy_transform::components::GlobalTransform;
use quadrille::prelude::GpuDevice;
use quadrille_content::cameras::{Msaa, unique_visible_entities};
use quadrille_content::views::{CameraView, CameraViews};
use quadrille_content::warnings::{entity_name, first_non_finite, is_finite};

use crate::components::contact_shadows::ContactShadows;
use crate::components::deferred::{DefaultOpaqueRendererMethod, DeferredPrepass};
use crate::components::mip_bias::MipBias;
use crate::components::occlusion_culling::OcclusionCulling;
use crate::components::order_independent_transparency::OrderIndependentTransparencySettings;
use crate::components::prepass::{
    DepthPrepass, MotionVectorPrepass, NoBackgroundMotionVectors, NormalPrepass,
};
use crate::components::temporal_jitter::TemporalJitter;
use crate::components::transmission::ScreenSpaceTransmission;
use crate::constants::{AMBIENT_AFFECTS_LIGHTMAPPED_MESHES, MULTISAMPLED, REFRACTS};
use crate::extract::materials::{MaterialSource, MaterialStore};
use crate::extract::unculled::Unculled;
use crate::prepare::clusters::LightSorter;
use crate::prepare::lights::{LightParams, ShadowMapAllocator};
use crate::prepare::sampling::{valid_jitter, valid_mip_bias};
use crate::prepare::shadow_maps::ShadowMaps;
use crate::prepare::shadow_sides::ViewResolution;
use crate::scene::cull_view::{CullViewRow, DRAW_ARGS_BYTES};
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::keys::PipelineKey;
use crate::scene::lists::{
    BatchList, QueuedView, SceneLists, TransmissiveDraws, TransparentInstance, view_size,
};
use crate::scene::prepass::PrepassNeeds;
use crate::scene::rows::{FogRow, ViewRow};
use crate::tables::textures::TextureSource;

/// Components of a 3D camera.
#[derive(QueryData)]
pub(crate) struct CameraQuery {
    camera: &'static bevy_camera::Camera,
    target: &'static RenderTarget,
    kind: &'static Camera3d,
    visible: &'static VisibleEntities,
    frustum: &'static Frustum,
    layers: Option<&'static RenderLayers>,
    transform: &'static GlobalTransform,
    exposure: &'static Exposure,
    ambient: Option<&'static AmbientLight>,
    msaa: &'static Msaa,
    resolution: Option<&'static MainPassResolutionOverride>,
    jitter: Option<&'static TemporalJitter>,
    mip_bias: Option<&'static MipBias>,
    shadow_filter: &'static ShadowFilteringMethod,
    is_hdr: Has<Hdr>,
    occlusion_culling: Has<OcclusionCulling>,
    deferred_prepass: Has<DeferredPrepass>,
    depth_prepass: Has<DepthPrepass>,
    normal_prepass: Has<NormalPrepass>,
    motion_vector_prepass: Has<MotionVectorPrepass>,
    no_background_motion_vectors: Has<NoBackgroundMotionVectors>,
    contact_shadows: Option<&'static ContactShadows>,
    transmission: Option<&'static ScreenSpaceTransmission>,
    oit: Option<&'static OrderIndependentTransparencySettings>,
}

/// Filter for lights that bevy does not list for cameras, or culls by wrong bounds: rectangular lights; directional
/// lights with a leftover `Sphere` of a removed point light; lights on mesh entities, which are culled on the device.
type IsUnculled = Or<(
    With<RectLight>,
    With<DirectionalLight>,
    (With<NoCpuCulling>, Or<(With<PointLight>, With<SpotLight>)>),
)>;

/// Cameras and lights of the world.
#[derive(SystemParam)]
pub(crate) struct ViewParams<'w, 's> {
    views: Res<'w, CameraViews>,
    cameras: Query<'w, 's, CameraQuery, With<Camera3d>>,
    lights: LightParams<'w, 's>,
    unculled: Query<'w, 's, Unculled, IsUnculled>,
    ambient: Res<'w, GlobalAmbientLight>,
    effects: Res<'w, EffectCameras>,
    default_method: Res<'w, DefaultOpaqueRendererMethod>,
}

impl ViewParams<'_, '_> {
    fn occlusion_culling(&self, camera: Entity) -> bool {
        self.cameras
            .get(camera)
            .is_ok_and(|camera| camera.occlusion_culling)
    }

    /// Fraction of the viewport that a camera is drawn at, if an effect upscales it.
    fn render_scale(&self, entity: Entity, camera: &CameraQueryItem<'_, '_>) -> Option<f32> {
        let scale = self.effects.needs(entity).render_scale;
        scale.filter(|_| camera.msaa.samples() == 1)
    }
}

/// Scratch memory that is reused between frames.
#[derive(Default)]
pub(crate) struct Scratch {
    shadows: ShadowMapAllocator,
    transparent: Vec<(f32, TransparentInstance)>,
    lights: Vec<Entity>,
    order: LightSorter,
}

/// Queues the views of all 3D cameras with their lights, shadow maps and transparent instances.
pub(crate) fn queue_views(
    world: ViewParams,
    mut lists: SceneLists,
    mut maps: ResMut<ShadowMaps>,
    (mut materials, mut source): (ResMut<MaterialStore>, MaterialSource),
    mut scratch: Local<Scratch>,
    batches: Res<BatchList>,
    gpu: Res<GpuDevice>,
) {
    lists.begin();
    let most = max_views(&gpu, &batches);
    let cameras = world.views.iter().filter(|view| view.is_3d);
    let count = cameras.clone().count();
    if count > most {
        let subject = format_args!("the view of {} cameras", count - most);
        world.lights.warnings.warn(subject, || {
            format!("at this number of meshes, memory suffices for {most} cameras")
        });
    }
    let resolutions = cameras.clone().filter_map(|view| {
        let eye = world.cameras.get(view.camera).ok()?.transform.translation();
        let [_, _, width, height] = view.viewport;
        let size = [width, height];
        Some(ViewResolution::new(&view.clip_from_world, eye, size))
    });
    let max_maps = most.saturating_sub(count) as u32;
    scratch.shadows.begin(max_maps, resolutions);
    let textures = &mut materials.textures(&mut source);
    for view in cameras.take(most) {
        if let Ok(camera) = world.cameras.get(view.camera) {
            add_view(&world, &mut lists, &mut scratch, textures, (view, &camera));
        }
    }
    // The table of textures is complete now.
    for queued in &mut lists.views.0 {
        if let Ok(camera) = world.cameras.get(queued.camera) {
            queued.samples_target = match camera.target {
                RenderTarget::Image(target) => textures.indices.contains(&target.handle),
                _ => false,
            };
        }
    }
    // Each late phase takes the memory of a further view.
    let room = most.saturating_sub(lists.cull.rows.len());
    let with_occlusion_culling = lists
        .views
        .0
        .iter()
        .filter(|view| world.occlusion_culling(view.camera));
    let fits = with_occlusion_culling.count() <= room;
    lists.add_late_phases(batches.instances, |camera| {
        fits && world.occlusion_culling(camera)
    });
    maps.needed = scratch.shadows.tiles();
    maps.atlas_format = scratch.shadows.atlas_format();
}

/// Maximum bytes of the list of visible instances.
const MAX_LIST_BYTES: u32 = 1 << 29;

/// Maximum number of cameras and shadow maps, by memory for their draws.
fn max_views(gpu: &GpuDevice, batches: &BatchList) -> usize {
    let bytes = MAX_LIST_BYTES.min(gpu.limits().max_storage_buffer_range);
    // Buffer sizes are powers of two.
    let bytes = 1 << u64::from(bytes).ilog2();
    let instance_bytes = size_of::<u32>() as u64 * u64::from(batches.batch_instances.max(1));
    let args = DRAW_ARGS_BYTES * u64::from(batches.batches.max(1));
    (bytes / instance_bytes.max(args)) as usize
}

fn add_view(
    world: &ViewParams,
    lists: &mut SceneLists,
    scratch: &mut Scratch,
    textures: &mut TextureSource,
    (view, camera): (&CameraView, &CameraQueryItem<'_, '_>),
) {
    lists.cull.eye = camera.transform.translation().extend(1.0).to_array();
    let first_light = lists.lights.rows.len() as u32;
    let [light_count, directional_count] =
        add_lights(world, lists, scratch, textures, (view, camera));
    let forward = Vec3::from(camera.transform.forward());
    let instances = &world.lights.instances;
    let cull_row = CullViewRow::camera(camera.frustum);
    let cull_row = instances.add_view(&mut lists.cull, cull_row, camera.layers);
    let [order_independent, transparent] = add_transparent(world, lists, scratch, camera, cull_row);
    let draws = ViewDraws {
        cull_row,
        transparent,
        transmissive: add_transmissive(world, lists, scratch, camera, cull_row),
        order_independent,
    };
    let row = lists.rows.rows.len() as u32;
    let queued = queued_view(world, (view, row), camera, draws);
    let mip_bias = valid_mip_bias(&world.lights.warnings, view.camera, camera.mip_bias);
    let mip_bias = mip_bias + queued.upscaling_mip_bias();
    let clip_from_world = queued.clip_from_unjittered() * view.clip_from_world;
    lists.views.0.push(queued);
    let row = ViewRow {
        clip_from_world: clip_from_world.to_cols_array(),
        position: camera.transform.translation().to_array(),
        exposure: camera.exposure.exposure(),
        ambient: ambient(world, camera),
        first_light,
        forward: forward.to_array(),
        light_count,
        directional_count,
        first_mask: 0,
        mask_words: 0,
        mask_blocks: 0,
        shadow_filter: *camera.shadow_filter as u32,
        first_environment: 0,
        environment_count: 0,
        flags: flags(world, camera),
        fog: FogRow::default(),
        mip_scale: mip_bias.exp2(),
        first_decal_mask: 0,
        decal_words: 0,
        unused: 0,
        contact_shadows: contact_shadows(camera),
        transmission_taps: camera.transmission.map_or(0, |it| it.quality.taps()),
        noise_frame: match camera.jitter {
            Some(_) => world.effects.submitted as u32,
            None => 0,
        },
        reflected_roughness: [0.0; 2],
    };
    lists.rows.rows.push(validated(world, view.camera, row));
}

/// Adds the lights of a camera, sorted. Returns the number of all, and of directional ones.
fn add_lights(
    world: &ViewParams,
    lists: &mut SceneLists,
    scratch: &mut Scratch,
    textures: &mut TextureSource,
    (view, camera): (&CameraView, &CameraQueryItem<'_, '_>),
) -> [u32; 2] {
    let first_light = lists.lights.rows.len();
    let light_entities = &mut scratch.lights;
    light_entities.clear();
    light_entities.extend(unique_visible_entities::<ClusterVisibilityClass>(
        camera.visible,
    ));
    let layers = camera.layers.unwrap_or_default();
    let unculled = world
        .unculled
        .iter()
        .filter(|light| light.is_visible_to(layers));
    light_entities.extend(unculled.map(|light| light.entity));
    // bevy collects them on several threads; sorted by index alone, the order is deterministic.
    light_entities.sort_unstable_by_key(|light| Reverse(light.index_u32()));
    light_entities.dedup();
    for &light in light_entities.iter() {
        scratch
            .shadows
            .add_light(lists, &world.lights, textures, (view.camera, light));
    }
    let rows = &mut lists.lights.rows[first_light..];
    let light_count = rows.len() as u32;
    [light_count, scratch.order.sort(rows)]
}

/// Instances that the passes of a view draw.
struct ViewDraws {
    /// Index in the list of culled views.
    cull_row: u32,
    /// Ranges of the list of transparent draws, as in [`QueuedView`].
    transparent: Range<u32>,
    transmissive: TransmissiveDraws,
    order_independent: Range<u32>,
}

/// Creates the view of a camera. When all views are known, `queue_views` sets `samples_target` and `add_late_phases` sets
/// `late_cull_row`.
fn queued_view(
    world: &ViewParams,
    (view, row): (&CameraView, u32),
    camera: &CameraQueryItem<'_, '_>,
    draws: ViewDraws,
) -> QueuedView {
    let background = match (view.clear, view.fill) {
        (_, Some(fill)) => Some(fill),
        (clear, None) => clear,
    };
    let render_scale = world.render_scale(view.camera, camera);
    QueuedView {
        camera: view.camera,
        row,
        target: view.target,
        step: view.step,
        viewport: view.viewport,
        size: view_size(view.viewport, camera.resolution, render_scale),
        is_upscaled: render_scale.is_some(),
        jitter: valid_jitter(&world.lights.warnings, view.camera, camera.jitter),
        unjittered_clip_from_world: view.clip_from_world,
        clear: view.clear.map(|color| color.to_f32_array()),
        background: background.map(|color| color.to_f32_array()),
        replaces: view.is_first,
        inverts_culling: camera.camera.invert_culling,
        clear_depth: match camera.kind.depth_load_op {
            Camera3dDepthLoadOp::Clear(depth) if (0.0..=1.0).contains(&depth) => depth,
            _ => 0.0,
        },
        wanted_samples: camera.msaa.samples(),
        is_hdr: camera.is_hdr,
        effects: world.effects.needs(view.camera),
        prepass: PrepassNeeds {
            depth: camera.depth_prepass,
            normal: camera.normal_prepass,
            motion: camera.motion_vector_prepass,
            deferred: camera.deferred_prepass && camera.depth_prepass && camera.msaa.samples() == 1,
            defers_by_default: world.default_method.is_deferred(),
            background_motion: camera.motion_vector_prepass && !camera.no_background_motion_vectors,
        },
        contact_shadows: contact_shadows(camera) != [0.0; 4],
        samples_target: false,
        cull_row: draws.cull_row,
        late_cull_row: None,
        layers: camera.layers.cloned().unwrap_or_default(),
        transparent: draws.transparent,
        transmissive: draws.transmissive,
        oit: oit(camera),
        order_independent: draws.order_independent,
    }
}

/// Parameters of contact shadows of a camera; zeros if it lacks what they need.
fn contact_shadows(camera: &CameraQueryItem<'_, '_>) -> [f32; 4] {
    let has_needs = camera.msaa.samples() == 1 && camera.depth_prepass;
    let contact_shadows = camera.contact_shadows.filter(|_| has_needs);
    contact_shadows.map_or([0.0; 4], ContactShadows::row)
}

/// Resets non-finite parts of a view row, with a warning.
fn validated(world: &ViewParams, camera: Entity, mut row: ViewRow) -> ViewRow {
    let warnings = &world.lights.warnings;
    if !is_finite(&row.ambient) {
        warnings.warn_message(|| {
            let reason = first_non_finite(&[("color times brightness", &row.ambient)]);
            format!(
                "the ambient light of the camera {} is ignored: {reason}",
                entity_name(camera)
            )
        });
        row.ambient = [0.0; 3];
    }
    if !row.exposure.is_finite() {
        warnings.warn_message(|| {
            let reason = first_non_finite(&[("value", &[row.exposure])]);
            format!(
                "the exposure of the camera {} is ignored: {reason}",
                entity_name(camera)
            )
        });
        row.exposure = Exposure::default().exposure();
    }
    row
}

/// Settings of order-independent transparency of a camera, which needs one sample per pixel.
fn oit(camera: &CameraQueryItem<'_, '_>) -> Option<OrderIndependentTransparencySettings> {
    let settings = camera.oit.filter(|_| camera.msaa.samples() == 1);
    settings.copied()
}

/// Lists the visible transparent instances of a camera, back to front: those of order-independent transparency, and others.
fn add_transparent(
    world: &ViewParams,
    lists: &mut SceneLists,
    scratch: &mut Scratch,
    camera: &CameraQueryItem<'_, '_>,
    cull_row: u32,
) -> [Range<u32>; 2] {
    let is_apart = camera.transmission.is_some();
    let has_lists = oit(camera).is_some();
    [true, false].map(|is_order_independent| {
        sort_visible(world, lists, scratch, (camera, cull_row), |key| {
            let in_lists = has_lists && key.order_independent().is_some();
            key.blend_mode.is_transparent()
                && in_lists == is_order_independent
                && !(is_apart && key.is_transmissive)
        });
        lists.transparent.add_all(&scratch.transparent)
    })
}

/// Lists the visible transmissive instances of a camera, back to front, in at most as many steps as it asks for.
fn add_transmissive(
    world: &ViewParams,
    lists: &mut SceneLists,
    scratch: &mut Scratch,
    camera: &CameraQueryItem<'_, '_>,
    cull_row: u32,
) -> TransmissiveDraws {
    let Some(transmission) = camera.transmission else {
        return TransmissiveDraws::default();
    };
    sort_visible(world, lists, scratch, (camera, cull_row), |key| {
        key.is_transmissive
    });
    let has_any = world.lights.instances.has_transmissive();
    TransmissiveDraws {
        is_apart: true,
        reads_color: transmission.steps > 0 && has_any,
        steps: split(&scratch.transparent, transmission.steps)
            .map(|step| lists.transparent.add_all(step))
            .collect(),
    }
}

/// Splits a list into at most `most` parts of nearly equal length, the longer ones first; into one if `most` is 0.
pub(crate) fn split<T>(all: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    let parts = most.max(1).min(all.len());
    (0..parts).map(move |part| {
        let start = |part: usize| part * (all.len() / parts) + part.min(all.len() % parts);
        &all[start(part)..start(part + 1)]
    })
}

/// Collects the visible instances of some pipelines, back to front.
fn sort_visible(
    world: &ViewParams,
    lists: &SceneLists,
    scratch: &mut Scratch,
    (camera, cull_row): (&CameraQueryItem<'_, '_>, u32),
    is_listed: impl Fn(PipelineKey) -> bool,
) {
    let (forward, eye) = (camera.transform.forward(), camera.transform.translation());
    let row = &lists.cull.rows[cull_row as usize];
    let layers = &lists.cull.layer_bits;
    let drawn = world.lights.instances.visible_of(row, layers, is_listed);
    let sorted = &mut scratch.transparent;
    sorted.clear();
    sorted.extend(drawn.map(|drawn| (forward.dot(drawn.center - eye) - drawn.sort_bias, drawn)));
    sorted.sort_unstable_by(|(a, drawn_a), (b, drawn_b)| {
        let order = |drawn: &TransparentInstance| (drawn.entity_index, drawn.instance);
        b.total_cmp(a).then(order(drawn_a).cmp(&order(drawn_b)))
    });
}

fn ambient(world: &ViewParams, camera: &CameraQueryItem<'_, '_>) -> [f32; 3] {
    let (color, brightness) = match camera.ambient {
        Some(light) => (light.color, light.brightness),
        None => (world.ambient.color, world.ambient.brightness),
    };
    let linear = color.to_linear().to_f32_array_no_alpha();
    linear.map(|channel| channel * brightness)
}

fn flags(world: &ViewParams, camera: &CameraQueryItem<'_, '_>) -> u32 {
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    flag(
        ambient_affects_lightmapped_meshes(world, camera),
        AMBIENT_AFFECTS_LIGHTMAPPED_MESHES,
    ) | flag(camera.msaa.samples() > 1, MULTISAMPLED)
        | flag(camera.transmission.is_some(), REFRACTS)
}

fn ambient_affects_lightmapped_meshes(
    world: &ViewParams,
    camera: &CameraQueryItem<'_, '_>,
) -> bool {
    camera
        .ambient
        .map_or(world.ambient.affects_lightmapped_meshes, |light| {
            light.affects_lightmapped_meshes
        })
}
