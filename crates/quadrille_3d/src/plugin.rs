//! [`Quadrille3dPlugin`].

use bevy_app::{App, Plugin};
use bevy_asset::AssetApp as _;
use bevy_camera::visibility::NoCpuCulling;
use bevy_camera::{Camera3d, Exposure};
use bevy_ecs::prelude::*;
use bevy_light::{LightPlugin, ShadowFilteringMethod};
use quadrille::ecs::{ContentKind, DrawnContent, HeadlessWindow, RenderStartup, expect_renderer};
use quadrille::prelude::{BufferDesc, BufferUsage, GpuDevice, Render, RenderSystems, Uploads};
use quadrille_content::cameras::Msaa;
use quadrille_content::materials::init_bound_lists;
use quadrille_content::{ContentPlugin, ContentSystems, add_plugin_if_missing};

use crate::camera_effect::add_effect_cameras;
use crate::components::lightmap::Lightmap;
use crate::components::material::{MeshMaterial3d, StandardMaterial};
use crate::components::occlusion_culling::OcclusionCulling;
use crate::effects::atmosphere::AtmospherePlugin;
use crate::effects::bloom::BloomPlugin;
use crate::effects::depth_of_field::DepthOfFieldPlugin;
use crate::effects::film_grain::FilmGrainPlugin;
use crate::effects::fog::FogPlugin;
use crate::effects::fxaa::FxaaPlugin;
use crate::effects::gizmos::Gizmos3dPlugin;
use crate::effects::jitter::JitterPlugin;
use crate::effects::lens::LensPlugin;
use crate::effects::motion_blur::MotionBlurPlugin;
use crate::effects::occlusion_culling::OcclusionCullingPlugin;
use crate::effects::oit::OitPlugin;
use crate::effects::prepass::PrepassPlugin;
use crate::effects::sharpening::SharpeningPlugin;
use crate::effects::skybox::SkyboxPlugin;
use crate::effects::smaa::SmaaPlugin;
use crate::effects::ssao::SsaoPlugin;
use crate::effects::ssr::SsrPlugin;
use crate::effects::taa::TaaPlugin;
use crate::effects::tonemapping::TonemappingPlugin;
use crate::effects::transmission::TransmissionPlugin;
use crate::effects::upscaling::UpscalingPlugin;
use crate::effects::wireframe::WireframeListPlugin;
use crate::environment::filter::{FilterPipelines3d, filter_env_3d, prepare_filter_images};
use crate::environment::maps::{Cubes3d, EnvironmentMaps3d, Volumes3d};
use crate::environment::{
    self, EnvironmentList, Environments3d, queue_environments, upload_environments,
};
use crate::extract::custom_materials::bound::Renderer3d;
use crate::extract::custom_materials::{bind_materials, prepare_material_shaders};
use crate::extract::instances::{EnabledMeshes, FreedSlots, InstanceStore, Slot, watch_disabling};
use crate::extract::materials::MaterialStore;
use crate::extract::meshes::{extract_meshes, update_mesh_transforms, upload_meshes};
use crate::forward_decal::DecalPlugin;
use crate::passes::cluster::cluster_3d;
use crate::passes::composite::composite_3d;
use crate::passes::cull::cull_3d;
use crate::passes::load_target::load_target_3d;
use crate::passes::opaque::opaque_3d;
use crate::passes::shadow::shadow_3d;
use crate::passes::transparent::transparent_3d;
use crate::pipelines::{Pipelines3d, publish_shader_modules};
use crate::prepare::clusters::prepare_clusters;
use crate::prepare::material_views::{MaterialViewRows, prepare_material_views};
use crate::prepare::pipelines::prepare_pipelines;
use crate::prepare::shadow_cache::{ShadowCache, cache_shadow_maps};
use crate::prepare::shadow_maps::{self, ShadowMaps, prepare_shadow_maps};
use crate::prepare::skins::upload_skins;
use crate::prepare::targets::{
    DepthHistories, DepthPyramids3d, PreviousDepths3d, SceneColors, SceneDepths, SceneMsaaColors,
    TargetCopies, prepare_targets,
};
use crate::prepare::upload::upload_scene;
use crate::prepare::view_colors::CurrentColors;
use crate::prepare::views::queue_views;
use crate::scene::buffers::{
    AttributeBases3d, BatchInstances3d, BatchOrder3d, Batches3d, Bounds3d, CullLayers3d,
    CullViews3d, CustomMaterials3d, DrawArgs3d, Indices3d, Instances3d, LateDrawArgs,
    LateVisibleInstances, LightMasks3d, LightTextures3d, Lightmaps3d, Lights3d, MaterialGlobals3d,
    MaterialViews3d, Materials3d, MeshAttributes3d, MeshTags3d, PreviousVisibility, ShadowViews3d,
    TransparentInstances3d, Vertices3d, Views3d, VisibleInstances,
};
use crate::scene::frame::{FragmentCapacities, SamplesDrawnByPrograms, Scene3d};
use crate::scene::lists::{
    BatchList, CullList, LightLists, MaterialRanges, QueuedViews, SceneLists, ShadowList,
    TransparentList, ViewRows,
};
use crate::scene::rows::SHADOW_VIEWS_BYTES;
use crate::schedule::{Pass3dSystems, Prepare3dSystems};
use crate::skin::{extract_skins, skin_3d};
use crate::tables::brdf_luts::{DfgLut, LtcLut};
use crate::tables::table::{UNIFORM_BYTES, table_buffer, uniform_buffer};
use crate::tables::textures::Textures3d;

/// Draws bevy's meshes with standard materials, lit by bevy's lights, under its 3D cameras.
///
/// Add it after [`QuadrillePlugins`](quadrille::prelude::QuadrillePlugins), together with `Quadrille2dPlugin` for 2D
/// and UI. It adds bevy's asset, image, mesh, camera, transform and light plugins if they are missing.
///
/// ```no_run
/// use bevy_app::{App, AppExit, Startup};
/// use bevy_ecs::prelude::*;
/// use quadrille::prelude::QuadrillePlugins;
/// use quadrille_3d::prelude::*;
///
/// fn setup(
///     mut commands: Commands,
///     mut meshes: ResMut<Assets<Mesh>>,
///     mut materials: ResMut<Assets<StandardMaterial>>,
/// ) {
///     commands.spawn((
///         Mesh3d(meshes.add(Cuboid::new(1.0, 1.0, 1.0))),
///         MeshMaterial3d(materials.add(Color::srgb_u8(124, 144, 255))),
///     ));
///     commands.spawn((PointLight::default(), Transform::from_xyz(4.0, 8.0, 4.0)));
///     let eye = Transform::from_xyz(-2.5, 4.5, 9.0);
///     commands.spawn((Camera3d::default(), eye.looking_at(Vec3::ZERO, Vec3::Y)));
/// }
///
/// fn main() -> AppExit {
///     App::new()
///         .add_plugins((QuadrillePlugins, Quadrille3dPlugin::default()))
///         .add_systems(Startup, setup)
///         .run()
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Quadrille3dPlugin {
    /// Asset folder, default sampler and limits of images. Ignored if the app has a [`ContentPlugin`], for example from
    /// an earlier `Quadrille2dPlugin`.
    pub content: ContentPlugin,
    /// Policy of waiting for pipelines of meshes and materials.
    pub pipeline_wait: PipelineWait,
    /// Whether the DFG term (pre-integrated specular BRDF) is sampled from a LUT, as with bevy's cargo feature
    /// `dfg_lut`. `false`, the default as in bevy, evaluates a polynomial fit (Karis 2014), which is too dark at
    /// grazing angles. Rectangular lights use the LUT in either case.
    pub dfg_lut: bool,
}

/// Policy of waiting for pipelines of meshes and materials that were not drawn before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelineWait {
    /// [`EachFrame`](Self::EachFrame) without windows, so that images are complete; [`FirstFrame`](Self::FirstFrame)
    /// with a window, so that no frame is delayed.
    #[default]
    Auto,
    /// Each frame waits for all of its pipelines.
    EachFrame,
    /// The first frame of a camera waits. Later, a mesh is drawn with a fallback pipeline, or not at all, until its own
    /// pipeline is compiled.
    FirstFrame,
}

/// Settings of [`Quadrille3dPlugin`] for pipelines.
#[derive(Resource)]
struct PipelineSettings {
    wait: PipelineWait,
    dfg_lut: bool,
}

impl Plugin for Quadrille3dPlugin {
    fn build(&self, app: &mut App) {
        add_plugin_if_missing(app, self.content.clone());
        add_plugin_if_missing(app, LightPlugin);
        let mut drawn = app.world_mut().get_resource_or_init::<DrawnContent>();
        drawn.add(ContentKind::ThreeD);
        drawn.add_component::<MeshMaterial3d<StandardMaterial>>();
        #[cfg(feature = "gizmos")]
        drawn.add(ContentKind::Gizmos);
        // Published before `RenderStartup`, so that pipelines of the app find them in any order. The first pipeline
        // that imports a missing module fails.
        if let Err(error) = publish_shader_modules() {
            tracing::error!("shader modules of quadrille_3d: {error}");
        }
        crate::skin::add_skinning(app);
        add_skin_systems(app);
        crate::extract::invalid_lights::add_invalid_light_guard(app);
        #[cfg(feature = "gltf")]
        crate::gltf::add_gltf(app);
        register_types(app);
        app.insert_resource(PipelineSettings {
            wait: self.pipeline_wait,
            dfg_lut: self.dfg_lut,
        });
        require_components(app);
        add_resources(app);
        configure_pass_order(app);
        add_systems(app);
        app.add_plugins((
            PrepassPlugin,
            (SsaoPlugin, SsrPlugin),
            OcclusionCullingPlugin,
            (SkyboxPlugin, AtmospherePlugin),
            FogPlugin,
            TonemappingPlugin,
            (TransmissionPlugin, OitPlugin),
            (MotionBlurPlugin, JitterPlugin, TaaPlugin, UpscalingPlugin),
            BloomPlugin,
            LensPlugin,
            DepthOfFieldPlugin,
            (FxaaPlugin, SmaaPlugin, SharpeningPlugin, FilmGrainPlugin),
            WireframeListPlugin,
            Gizmos3dPlugin,
            DecalPlugin,
        ));
    }

    fn finish(&self, app: &mut App) {
        expect_renderer(app, "Quadrille3dPlugin");
        // All plugins have registered their disabling components.
        watch_disabling(app.world_mut());
    }
}

/// Registers assets and types.
fn register_types(app: &mut App) {
    app.init_asset::<StandardMaterial>()
        .register_asset_reflect::<StandardMaterial>()
        .register_type::<MeshMaterial3d<StandardMaterial>>()
        .register_type::<Lightmap>()
        .register_type::<OcclusionCulling>();
}

/// Adds preparation systems and passes.
fn add_systems(app: &mut App) {
    app.add_systems(RenderStartup, init_device_resources)
        .add_systems(
            Render,
            (
                (
                    prepare_material_shaders,
                    bind_materials,
                    extract_meshes.in_set(ContentSystems::Meshes),
                    update_mesh_transforms,
                    upload_meshes,
                )
                    .chain()
                    .in_set(Prepare3dSystems::Extract),
                (queue_views, queue_environments)
                    .chain()
                    .in_set(Prepare3dSystems::Queue),
                (
                    prepare_shadow_maps,
                    cache_shadow_maps,
                    prepare_material_views,
                    prepare_targets,
                    prepare_pipelines,
                    prepare_clusters,
                    upload_scene,
                    upload_environments,
                    prepare_filter_images,
                )
                    .chain()
                    .in_set(Prepare3dSystems::Prepare),
                cluster_3d.in_set(Pass3dSystems::Cluster),
                cull_3d.in_set(Pass3dSystems::Cull),
                shadow_3d.in_set(Pass3dSystems::Shadow),
                opaque_3d.in_set(Pass3dSystems::Opaque),
                filter_env_3d.in_set(Pass3dSystems::Environment),
                transparent_3d.in_set(Pass3dSystems::Transparent),
                load_target_3d.in_set(Pass3dSystems::LoadTarget),
                composite_3d.in_set(Pass3dSystems::Composite),
            ),
        );
}

/// Registers required components of cameras and meshes, as in bevy.
fn require_components(app: &mut App) {
    app.register_required_components::<Camera3d, Msaa>()
        .register_required_components::<Camera3d, Exposure>()
        .register_required_components::<Camera3d, ShadowFilteringMethod>()
        .register_required_components::<MeshMaterial3d<StandardMaterial>, Slot>()
        .register_required_components::<MeshMaterial3d<StandardMaterial>, NoCpuCulling>();
}

fn add_resources(app: &mut App) {
    init_bound_lists::<Renderer3d>(app.world_mut());
    app.init_resource::<Scene3d>()
        .init_resource::<BatchList>()
        .init_resource::<MaterialRanges>()
        .init_resource::<QueuedViews>()
        .init_resource::<ViewRows>()
        .init_resource::<MaterialViewRows>()
        .init_resource::<LightLists>()
        .init_resource::<ShadowList>()
        .init_resource::<CullList>()
        .init_resource::<TransparentList>()
        .init_resource::<InstanceStore>()
        .init_resource::<FreedSlots>()
        .init_resource::<EnabledMeshes>()
        .init_resource::<MaterialStore>()
        .init_resource::<ShadowMaps>()
        .init_resource::<ShadowCache>()
        .init_resource::<SamplesDrawnByPrograms>()
        .init_resource::<FragmentCapacities>()
        .init_resource::<SceneColors>()
        .init_resource::<SceneMsaaColors>()
        .init_resource::<SceneDepths>()
        .init_resource::<DepthPyramids3d>()
        .init_resource::<TargetCopies>()
        .init_resource::<PreviousDepths3d>()
        .init_resource::<DepthHistories>()
        .init_resource::<CurrentColors>();
    environment::add_resources(app);
    add_effect_cameras(app);
}

/// Adds the systems of skinning, before all others.
fn add_skin_systems(app: &mut App) {
    app.add_systems(
        Render,
        (
            extract_skins
                .in_set(Prepare3dSystems::Extract)
                .in_set(ContentSystems::Meshes)
                .before(extract_meshes),
            upload_skins
                .in_set(Prepare3dSystems::Prepare)
                .before(cache_shadow_maps),
            skin_3d.in_set(Pass3dSystems::Skin),
        ),
    );
}

fn configure_pass_order(app: &mut App) {
    app.configure_sets(
        Render,
        (
            (
                Prepare3dSystems::Extract,
                Prepare3dSystems::Queue,
                Prepare3dSystems::Prepare,
            )
                .chain()
                .after(ContentSystems::Views)
                .in_set(RenderSystems::Declare),
            (
                (Pass3dSystems::Skin, Pass3dSystems::Cull),
                Pass3dSystems::Shadow,
                Pass3dSystems::LoadTarget,
                Pass3dSystems::Prepass,
                Pass3dSystems::Opaque,
                Pass3dSystems::OpaqueLate,
                Pass3dSystems::Skybox,
                Pass3dSystems::Transmissive,
                Pass3dSystems::Transparent,
                Pass3dSystems::EarlyPostProcess,
                Pass3dSystems::Upscale,
                Pass3dSystems::PostProcess,
                Pass3dSystems::Tonemap,
                Pass3dSystems::AfterTonemapping,
                Pass3dSystems::Composite,
                Pass3dSystems::Gizmos,
            )
                .chain()
                .in_set(ContentSystems::Draw3d),
            (Pass3dSystems::Cluster, Pass3dSystems::Environment)
                .before(Pass3dSystems::Opaque)
                .in_set(ContentSystems::Draw3d),
        ),
    );
}

/// Stores that survive a lost device and upload all rows to the next one.
#[derive(bevy_ecs::system::SystemParam)]
struct DeviceStores<'w> {
    lists: SceneLists<'w>,
    instances: ResMut<'w, InstanceStore>,
    materials: ResMut<'w, MaterialStore>,
    maps: ResMut<'w, ShadowMaps>,
    shadow_cache: ResMut<'w, ShadowCache>,
    environments: ResMut<'w, EnvironmentMaps3d>,
    environment_list: ResMut<'w, EnvironmentList>,
    material_views: ResMut<'w, MaterialViewRows>,
    depth_histories: ResMut<'w, DepthHistories>,
}

/// Creates device resources, and marks all data for upload (after a lost device).
fn init_device_resources(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut uploads: ResMut<Uploads>,
    mut stores: DeviceStores,
    (settings, headless): (Res<PipelineSettings>, Option<Res<HeadlessWindow>>),
) -> Result {
    create_tables(&mut commands, &gpu, &mut uploads)?;
    create_gpu_written_buffers(&mut commands, &gpu, &mut uploads)?;
    commands.insert_resource(DfgLut::new(&gpu, &mut uploads)?);
    commands.insert_resource(LtcLut::new(&gpu, &mut uploads)?);
    let (flat, faces) = shadow_maps::images(&gpu)?;
    stores.maps.mark_all_dirty(&flat, &faces);
    *stores.shadow_cache = ShadowCache::default();
    commands.insert_resource(flat);
    commands.insert_resource(faces);
    let waits = match settings.wait {
        PipelineWait::Auto => headless.is_some(),
        wait => wait == PipelineWait::EachFrame,
    };
    commands.insert_resource(Pipelines3d::new(&gpu, waits, settings.dfg_lut)?);
    commands.insert_resource(Textures3d::new(&gpu, &mut uploads)?);
    commands.insert_resource(Cubes3d::new(&gpu)?);
    commands.insert_resource(Volumes3d::new(&gpu)?);
    commands.insert_resource(FilterPipelines3d::new(&gpu)?);
    commands.insert_resource(SceneColors::default());
    commands.insert_resource(SceneMsaaColors::default());
    commands.insert_resource(SceneDepths::default());
    commands.insert_resource(DepthPyramids3d::default());
    commands.insert_resource(TargetCopies::default());
    commands.insert_resource(PreviousDepths3d::default());
    stores.depth_histories.clear();
    stores.lists.mark_all_dirty();
    stores.instances.mark_all_dirty();
    stores.materials.mark_all_dirty();
    stores.environments.mark_all_dirty();
    stores.environment_list.0.mark_all_dirty();
    stores.material_views.0.mark_all_dirty();
    Ok(())
}

/// Creates the tables that the CPU fills. All exist from the start, since passes bind them unconditionally.
fn create_tables(commands: &mut Commands, gpu: &GpuDevice, uploads: &mut Uploads) -> Result {
    let mut table = |name| {
        let buffer = table_buffer(gpu, name, 0)?;
        uploads.write_buffer(&buffer, 0, &[0; 64]);
        Ok::<_, BevyError>(buffer)
    };
    commands.insert_resource(Instances3d(table("3d instances")?));
    commands.insert_resource(Materials3d(table("3d materials")?));
    commands.insert_resource(CustomMaterials3d(table("3d custom materials")?));
    commands.insert_resource(Lights3d(table("3d lights")?));
    commands.insert_resource(LightTextures3d(table("3d light textures")?));
    commands.insert_resource(LightMasks3d(table("3d light masks")?));
    commands.insert_resource(Environments3d(table("3d environments")?));
    commands.insert_resource(TransparentInstances3d(table("3d sorted")?));
    commands.insert_resource(Bounds3d(table("3d bounds")?));
    commands.insert_resource(Batches3d(table("3d chunks")?));
    commands.insert_resource(BatchOrder3d(table("3d batch order")?));
    commands.insert_resource(BatchInstances3d(table("3d members")?));
    commands.insert_resource(Lightmaps3d(table("3d lightmaps")?));
    commands.insert_resource(MeshTags3d(table("3d mesh tags")?));
    commands.insert_resource(MeshAttributes3d(table("3d mesh attributes")?));
    commands.insert_resource(AttributeBases3d(table("3d attribute bases")?));
    commands.insert_resource(CullViews3d(table("3d culled views")?));
    commands.insert_resource(PreviousVisibility(table("3d previous visibility")?));
    commands.insert_resource(CullLayers3d(table("3d layers")?));
    let mut uniform = |name, bytes| {
        let buffer = uniform_buffer(gpu, name, bytes)?;
        uploads.write_buffer(&buffer, 0, &[0; UNIFORM_BYTES as usize]);
        Ok::<_, BevyError>(buffer)
    };
    commands.insert_resource(Views3d(uniform("3d views", 0)?));
    commands.insert_resource(MaterialViews3d(uniform("3d material views", 0)?));
    commands.insert_resource(MaterialGlobals3d(uniform("3d material globals", 0)?));
    commands.insert_resource(ShadowViews3d(uniform(
        "3d shadow views",
        SHADOW_VIEWS_BYTES,
    )?));
    Ok(())
}

/// Creates the buffers that passes write.
fn create_gpu_written_buffers(
    commands: &mut Commands,
    gpu: &GpuDevice,
    uploads: &mut Uploads,
) -> Result {
    let visible_instances = gpu.create_buffer(&BufferDesc::storage(
        "3d visible instances",
        MIN_BUFFER_BYTES,
    ))?;
    let usage = BufferUsage::INDIRECT;
    let args = BufferDesc::storage("3d draws", MIN_BUFFER_BYTES).with_usage(usage);
    let args = gpu.create_buffer(&args)?;
    let late_visible_instances = gpu.create_buffer(&BufferDesc {
        name: "3d late visible instances".to_owned(),
        ..visible_instances.desc().clone()
    })?;
    let late_args = gpu.create_buffer(&BufferDesc {
        name: "3d late draw args".to_owned(),
        ..args.desc().clone()
    })?;
    for buffer in [
        &visible_instances,
        &args,
        &late_visible_instances,
        &late_args,
    ] {
        uploads.write_buffer(buffer, 0, &[0; 64]);
    }
    commands.insert_resource(LateVisibleInstances(late_visible_instances));
    commands.insert_resource(LateDrawArgs(late_args));
    commands.insert_resource(VisibleInstances(visible_instances));
    commands.insert_resource(DrawArgs3d(args));
    // `skin_3d` writes the vertices of deformed meshes.
    let vertices =
        BufferDesc::vertex("3d vertices", MIN_BUFFER_BYTES).with_usage(BufferUsage::STORAGE);
    let vertices = gpu.create_buffer(&vertices)?;
    // Wireframes pull indices in the vertex shader.
    let indices =
        BufferDesc::index("3d indices", MIN_BUFFER_BYTES).with_usage(BufferUsage::STORAGE);
    let indices = gpu.create_buffer(&indices)?;
    for buffer in [&vertices, &indices] {
        uploads.write_buffer(buffer, 0, &[0; 64]);
    }
    commands.insert_resource(Vertices3d(vertices));
    commands.insert_resource(Indices3d(indices));
    Ok(())
}

const MIN_BUFFER_BYTES: u64 = 4096;

#[cfg(test)]
mod tests;
