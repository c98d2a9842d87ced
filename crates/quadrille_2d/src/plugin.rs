//! [`Quadrille2dPlugin`].

use bevy_app::{App, Plugin, PostUpdate, PropagateSet};
use bevy_asset::AssetApp as _;
use bevy_camera::visibility::{VisibilitySystems, add_visibility_class};
use bevy_camera::{Camera2d, CameraUpdateSystems};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use bevy_image::ImageSamplerDescriptor;
use bevy_sprite::{Sprite, SpritePlugin};
use bevy_text::{
    FontLoader, TextFont, TextPlugin, detect_text_needs_rerender,
    load_font_assets_into_font_collection,
};
use quadrille::ecs::{ContentKind, DrawnContent, ImageLimits, RenderStartup, expect_renderer};
use quadrille::prelude::{BufferDesc, GpuDevice, Render, RenderSystems};
use quadrille::vulkan::resources::Sharing;
use quadrille_content::buffers::instance_buffer;
use quadrille_content::cameras::Msaa;
use quadrille_content::materials::{GlobalsRow, init_bound_lists};
use quadrille_content::{ContentPlugin, ContentSystems, add_plugin_if_missing};

use crate::components::material::{ColorMaterial, MeshMaterial2d};
use crate::components::tilemap::{ChunkMeshes, TilemapChunk, TilemapChunkTileData};
use crate::fonts::data::replace_broken_fonts;
use crate::fonts::glyph_atlases::upload_glyphs_immediately;
use crate::fonts::loader::{CheckedFontLoader, CheckedFonts};
use crate::fonts::reload::refresh_reloaded_fonts;
use crate::fonts::size::limit_font_sizes;
use crate::fonts::text_limits::limit_text;
use crate::instances::node::Nodes2d;
use crate::meshes::{self, Meshes2d, prepare_meshes};
use crate::passes::draw::draw_2d;
use crate::passes::msaa::{MsaaTargets2d, ResolvedLayers2d, prepare_msaa_targets};
use crate::pipelines::Pipelines2d;
use crate::queue::atlases::hide_inverted_atlas_rects;
use crate::queue::bound_materials::bind_materials;
use crate::queue::enabled::watch_enabling;
use crate::queue::material_views::upload_material_globals;
use crate::queue::materials::prepare_material_shaders;
use crate::queue::mesh_layouts::find_mesh_layouts;
use crate::queue::{queue_2d, upload_instances_2d};
use crate::scene::items::Items;
use crate::scene::material_view::MaterialViewRow;
use crate::scene::materials::{
    MaterialFallbacks2d, MaterialGlobals2d, MaterialRows2d, MaterialViews2d, Materials2d,
    Renderer2d,
};
use crate::scene::phase::{InstanceOrder2d, Instances2d, Phase2d, Textures2d};
use crate::tilemaps::chunk::Chunks2d;
use crate::tilemaps::tiles::{self, Tilemaps, prepare_tiles};

/// Draws bevy's sprites, 2D meshes and 2D text under its 2D cameras.
///
/// Add it after [`QuadrillePlugins`](quadrille::prelude::QuadrillePlugins). It adds bevy's asset,
/// image, mesh, camera, transform, text and sprite plugins if they are missing. Plugins that the app has added
/// keep their settings, like the sampler of `ImagePlugin::default_nearest()` or the folder of `AssetPlugin`.
///
/// ```no_run
/// use bevy_app::{App, AppExit, Startup};
/// use bevy_ecs::prelude::*;
/// use quadrille::prelude::QuadrillePlugins;
/// use quadrille_2d::prelude::*;
///
/// fn setup(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn(Camera2d);
///     commands.spawn(Sprite::from_image(assets.load("bird.png")));
///     commands.spawn((Text2d::new("a bird"), Transform::from_xyz(0.0, -100.0, 0.0)));
/// }
///
/// fn main() -> AppExit {
///     App::new()
///         .add_plugins((QuadrillePlugins, Quadrille2dPlugin::default()))
///         .add_systems(Startup, setup)
///         .run()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Quadrille2dPlugin {
    /// Asset folder, relative to the project. Ignored if the app has an `AssetPlugin` or a
    /// [`TexturePlugin`](quadrille::ecs::TexturePlugin).
    pub asset_folder: String,
    /// Sampler of images with `ImageSampler::Default`: linear, or nearest for pixel art. Ignored if the app has an
    /// `ImagePlugin`.
    pub default_sampler: ImageSamplerDescriptor,
    /// Limits of image sizes. Ignored if the app has a [`TexturePlugin`](quadrille::ecs::TexturePlugin).
    pub image_limits: ImageLimits,
}

impl Default for Quadrille2dPlugin {
    fn default() -> Self {
        let ContentPlugin {
            asset_folder,
            default_sampler,
            image_limits,
        } = ContentPlugin::default();
        Self {
            asset_folder,
            default_sampler,
            image_limits,
        }
    }
}

/// Systems that prepare a 2D frame, in [`RenderSystems::Declare`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prepare2dSystems {
    /// Upload of meshes and tilemaps.
    Assets,
    /// Queueing of each camera's batches.
    Queue,
    /// Upload of instances.
    Prepare,
}

impl Plugin for Quadrille2dPlugin {
    fn build(&self, app: &mut App) {
        self.add_bevy_plugins(app);
        let mut drawn = app.world_mut().get_resource_or_init::<DrawnContent>();
        drawn.add(ContentKind::TwoD);
        drawn.add_component::<MeshMaterial2d<ColorMaterial>>();
        #[cfg(feature = "ui")]
        drawn.add(ContentKind::Nodes);
        #[cfg(feature = "gizmos")]
        drawn.add(ContentKind::Gizmos);
        app.init_asset::<ColorMaterial>()
            .register_asset_reflect::<ColorMaterial>()
            .register_type::<MeshMaterial2d<ColorMaterial>>()
            .register_type::<TilemapChunk>()
            .register_type::<TilemapChunkTileData>()
            .init_resource::<Meshes2d>()
            .init_resource::<ChunkMeshes>()
            .init_resource::<Tilemaps>()
            .init_resource::<Phase2d>()
            .init_resource::<Items>()
            .init_resource::<Materials2d>()
            .init_resource::<Textures2d>()
            .init_resource::<MsaaTargets2d>()
            .init_resource::<ResolvedLayers2d>()
            .register_required_components::<Camera2d, Msaa>();
        app.world_mut()
            .register_component_hooks::<Sprite>()
            .on_add(add_visibility_class::<Sprite>);
        app.add_systems(
            PostUpdate,
            (
                check_text(),
                hide_inverted_atlas_rects.before(VisibilitySystems::CalculateBounds),
            ),
        );
        init_bound_lists::<Renderer2d>(app.world_mut());
        add_passes(app);
    }

    fn finish(&self, app: &mut App) {
        expect_renderer(app, "Quadrille2dPlugin");
        watch_enabling(app.world_mut());
    }
}

impl Quadrille2dPlugin {
    fn add_bevy_plugins(&self, app: &mut App) {
        let content = ContentPlugin {
            asset_folder: self.asset_folder.clone(),
            default_sampler: self.default_sampler.clone(),
            image_limits: self.image_limits,
        };
        add_plugin_if_missing(app, content);
        app.init_resource::<CheckedFonts>();
        if !app.is_plugin_added::<TextPlugin>() {
            add_font_loader(app);
        }
        add_plugin_if_missing(app, TextPlugin);
        add_plugin_if_missing(app, SpritePlugin);
        #[cfg(feature = "ui")]
        add_plugin_if_missing(app, bevy_ui::UiPlugin);
    }
}

/// Registers the validating font loader. bevy warns about two loaders for one file extension, so its own, which
/// `TextPlugin` registers later, is preregistered without extensions. If the app has added `TextPlugin` before, bevy's
/// loader stays and fonts are validated as assets.
fn add_font_loader(app: &mut App) {
    let checked = app.world().resource::<CheckedFonts>().clone();
    app.register_asset_loader(CheckedFontLoader::new(checked))
        .preregister_asset_loader::<FontLoader>(&[]);
}

/// Systems that replace invalid fonts and clamp text to what bevy can lay out.
fn check_text() -> ScheduleConfigs<ScheduleSystem> {
    let fonts = (replace_broken_fonts, refresh_reloaded_fonts)
        .chain()
        .before(load_font_assets_into_font_collection);
    let sizes = limit_font_sizes
        .after(PropagateSet::<TextFont>::default())
        .after(CameraUpdateSystems)
        .before(detect_text_needs_rerender);
    let numbers = limit_text.before(detect_text_needs_rerender);
    #[cfg(feature = "ui")]
    let sizes = sizes
        .after(PropagateSet::<bevy_ui::ComputedUiRenderTargetInfo>::default())
        .before(bevy_ui::sync_font_size_to_em_size)
        .before(bevy_ui::widget::update_editable_text_content_size)
        .before(bevy_ui::widget::update_editable_text_styles);
    #[cfg(feature = "ui")]
    let numbers = numbers
        .after(bevy_ui::widget::update_inline_image_boxes)
        .before(bevy_ui::widget::update_editable_text_content_size)
        .before(bevy_ui::widget::update_editable_text_styles);
    (fonts, sizes, numbers).into_configs()
}

fn add_passes(app: &mut App) {
    let prepare = (
        (
            prepare_meshes.in_set(ContentSystems::Meshes),
            prepare_tiles,
            (
                // Before the data of meshes of the device alone is released.
                find_mesh_layouts.in_set(ContentSystems::Meshes),
                prepare_material_shaders,
                bind_materials,
            )
                .chain(),
        )
            .in_set(Prepare2dSystems::Assets),
        queue_2d.in_set(Prepare2dSystems::Queue),
        (
            prepare_msaa_targets,
            upload_instances_2d,
            upload_material_globals,
        )
            .in_set(Prepare2dSystems::Prepare),
    );
    app.configure_sets(
        Render,
        (
            Prepare2dSystems::Assets,
            Prepare2dSystems::Queue,
            Prepare2dSystems::Prepare,
        )
            .chain()
            .after(ContentSystems::Views)
            .in_set(RenderSystems::Declare),
    );
    app.add_systems(RenderStartup, init_device_resources)
        .add_systems(
            Render,
            (
                upload_glyphs_immediately
                    .in_set(RenderSystems::Declare)
                    .before(ContentSystems::Images),
                prepare,
                draw_2d.in_set(ContentSystems::Draw2d),
            ),
        );
    #[cfg(feature = "ui")]
    add_ui(app);
}

/// Adds the systems that check, extract and queue UI nodes.
#[cfg(feature = "ui")]
fn add_ui(app: &mut App) {
    app.add_systems(
        Render,
        crate::ui::queue_ui
            .in_set(Prepare2dSystems::Queue)
            .after(queue_2d),
    )
    .add_systems(
        Render,
        crate::ui::extract_overlay_cameras
            .in_set(RenderSystems::Declare)
            .before(ContentSystems::Views),
    )
    .add_systems(
        PostUpdate,
        (
            crate::ui::limit_scales.before(bevy_ui::UiSystems::Prepare),
            crate::ui::limit_nodes
                .after(hide_inverted_atlas_rects)
                .before(bevy_ui::UiSystems::Prepare),
            crate::ui::limit_images
                .after(bevy_ui::UiSystems::Content)
                .before(bevy_ui::UiSystems::Layout),
            (
                crate::ui::find_risky_corners,
                crate::ui::split_risky_corners,
            )
                .chain()
                .after(bevy_ui::UiSystems::Content)
                .before(bevy_ui::UiSystems::Layout),
            (crate::ui::limit_sizes, crate::ui::resolve_risky_corners)
                .chain()
                .after(bevy_ui::UiSystems::Layout)
                .before(bevy_ui::widget::sync_editable_text_viewports)
                .before(bevy_ui::UiSystems::PostLayout),
        ),
    )
    .init_resource::<crate::ui::RiskyCorners>();
}

/// Initial size of the instance buffer.
const MIN_INSTANCE_BYTES: u64 = 1 << 16;

/// Creates device resources, and marks all data for upload (after a lost device).
fn init_device_resources(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut meshes: ResMut<Meshes2d>,
    mut lists: (ResMut<Phase2d>, ResMut<Tilemaps>, ResMut<Materials2d>),
) -> Result {
    let (vertices, indices, attributes) = meshes::buffers(&gpu)?;
    commands.insert_resource(vertices);
    commands.insert_resource(attributes);
    commands.insert_resource(indices);
    commands.insert_resource(tiles::buffer(&gpu)?);
    let instances = |name| instance_buffer(&gpu, name, 0);
    let rows = |name| {
        let rows = BufferDesc::storage(name, MIN_INSTANCE_BYTES);
        gpu.create_buffer(&rows.with_sharing(Sharing::Concurrent))
    };
    commands.insert_resource(Instances2d(rows("2d instances")?));
    commands.insert_resource(MaterialRows2d(rows("2d material rows")?));
    let globals = BufferDesc::uniform("2d material globals", size_of::<GlobalsRow>() as u64);
    let globals = gpu.create_buffer(&globals.with_sharing(Sharing::Concurrent))?;
    commands.insert_resource(MaterialGlobals2d(globals));
    let views = BufferDesc::uniform("2d material views", size_of::<MaterialViewRow>() as u64);
    let views = gpu.create_buffer(&views.with_sharing(Sharing::Concurrent))?;
    commands.insert_resource(MaterialViews2d(views));
    commands.insert_resource(InstanceOrder2d(instances("2d instance order")?));
    commands.insert_resource(Nodes2d(instances("2d nodes")?));
    commands.insert_resource(Chunks2d(instances("2d chunks")?));
    commands.insert_resource(Pipelines2d::new(&gpu)?);
    commands.insert_resource(MaterialFallbacks2d::new(&gpu)?);
    meshes.mark_all_dirty();
    lists.0.mark_all_dirty();
    lists.1.mark_all_dirty();
    lists.2.mark_all_dirty();
    commands.insert_resource(MsaaTargets2d::default());
    commands.insert_resource(ResolvedLayers2d::default());
    Ok(())
}

#[cfg(test)]
mod tests;
