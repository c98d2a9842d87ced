//! Adding 2D drawing to an app.

use bevy_app::{App, Plugin, PostStartup, PostUpdate, PropagateSet};
use bevy_asset::{AssetApp as _, AssetEventSystems, AssetPlugin, AssetServer, Assets};
use bevy_camera::visibility::{VisibilitySystems, add_visibility_class};
use bevy_camera::{CameraPlugin, CameraUpdateSystems};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleConfigs;
use bevy_ecs::system::ScheduleSystem;
use bevy_image::{Image, ImagePlugin, ImageSamplerDescriptor};
use bevy_mesh::MeshPlugin;
use bevy_sprite::{Sprite, SpritePlugin};
use bevy_text::{
    FontLoader, TextFont, TextPlugin, detect_text_needs_rerender,
    load_font_assets_into_font_collection,
};
use bevy_transform::{TransformPlugin, TransformSystems};
use quadrille::ecs::{ImageLimits, RenderStartup, TexturePlugin};
use quadrille::prelude::{GpuDevice, Render, RenderSystems};

use crate::atlases::limit_atlases;
use crate::camera::{Blind, find_blind, tell_of_3d, update_cameras};
use crate::chunk::Chunks2d;
use crate::complaint::Complaints;
use crate::font_data::replace_broken_fonts;
use crate::font_loader::{CheckedFontLoader, CheckedFonts};
use crate::font_reload::follow_reloaded_fonts;
use crate::font_size::limit_font_sizes;
use crate::images::{DefaultSampler, Images2d, UploadBudget, prepare_images};
use crate::line::Lines2d;
use crate::material::ColorMaterial;
use crate::meshes::{self, Meshes2d, prepare_meshes};
use crate::msaa::{Multisampled2d, prepare_samples};
use crate::node::Nodes2d;
use crate::pass::draw_2d;
use crate::phase::{Instances2d, Phase2d, Textures2d};
use crate::pipelines::Pipelines2d;
use crate::queue::{queue_2d, send_2d};
use crate::sent::instance_buffer;
use crate::target::{ManualTargets, Targets2d};
use crate::text_numbers::limit_text;
use crate::tilemap::ChunkMeshes;
use crate::tiles::{self, Tilemaps, prepare_tiles};

/// Draws bevy's sprites, 2D meshes and 2D text under its 2D cameras.
///
/// Add it after [`QuadrillePlugins`](quadrille::prelude::QuadrillePlugins). It adds bevy's asset,
/// image, mesh, camera, transform, text and sprite plugins if they are not there yet. One that is
/// there keeps what it was set to: with bevy's `ImagePlugin::default_nearest()` images that name no
/// sampler get the nearest texel, and with its `AssetPlugin` they come from its folder.
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
///         .add_plugins((QuadrillePlugins::default(), Quadrille2dPlugin::default()))
///         .add_systems(Startup, setup)
///         .run()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Quadrille2dPlugin {
    /// The folder of assets, relative to the project, unless the app has an `AssetPlugin` or a
    /// [`TexturePlugin`].
    pub asset_folder: String,
    /// The sampler of images that do not ask for one: linear, or nearest for pixel art. Where the
    /// app has an `ImagePlugin`, its sampler counts.
    pub default_sampler: ImageSamplerDescriptor,
    /// How large images may be, unless the app has a [`TexturePlugin`].
    pub image_limits: ImageLimits,
}

impl Default for Quadrille2dPlugin {
    fn default() -> Self {
        Self {
            asset_folder: AssetPlugin::default().file_path,
            default_sampler: ImageSamplerDescriptor::linear(),
            image_limits: ImageLimits::default(),
        }
    }
}

/// The systems that make a 2D frame ready, in [`RenderSystems::Declare`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prepare2dSystems {
    /// Images and meshes are uploaded.
    Assets,
    /// What each camera draws is listed.
    Queue,
    /// The list is sent to the device.
    Send,
}

impl Plugin for Quadrille2dPlugin {
    fn build(&self, app: &mut App) {
        self.add_bevy_plugins(app);
        // The app's `ImagePlugin` decides, also if the program or another plugin added it.
        let image_plugin = app.get_added_plugins::<ImagePlugin>();
        let default_sampler = image_plugin.first().map(|plugin| &plugin.default_sampler);
        let default_sampler = default_sampler.unwrap_or(&self.default_sampler).clone();
        app.init_asset::<ColorMaterial>()
            .insert_resource(DefaultSampler(default_sampler))
            .init_resource::<Images2d>()
            .init_resource::<Meshes2d>()
            .init_resource::<ChunkMeshes>()
            .init_resource::<Tilemaps>()
            .init_resource::<Complaints>()
            .init_resource::<Blind>()
            .init_resource::<Phase2d>()
            .init_resource::<Textures2d>()
            .init_resource::<Targets2d>()
            .init_resource::<Multisampled2d>()
            .init_resource::<ManualTargets>()
            .init_resource::<UploadBudget>();
        app.world_mut()
            .register_component_hooks::<Sprite>()
            .on_add(add_visibility_class::<Sprite>);
        let cameras = || {
            update_cameras
                .in_set(CameraUpdateSystems)
                .before(AssetEventSystems)
        };
        app.add_systems(PostStartup, cameras())
            .add_systems(PostUpdate, (cameras(), check_text(), tell_of_3d))
            .add_systems(
                PostUpdate,
                (
                    find_blind
                        .after(TransformSystems::Propagate)
                        .before(VisibilitySystems::UpdateFrusta),
                    limit_atlases.before(VisibilitySystems::CalculateBounds),
                ),
            );
        add_passes(app);
    }

    #[cfg(feature = "gizmos")]
    fn finish(&self, app: &mut App) {
        if app.is_plugin_added::<bevy_gizmos::GizmoPlugin>() {
            crate::gizmos::draw_after_last(app);
        }
    }
}

impl Quadrille2dPlugin {
    fn add_bevy_plugins(&self, app: &mut App) {
        fn add<P: Plugin>(app: &mut App, plugin: P) {
            if !app.is_plugin_added::<P>() {
                app.add_plugins(plugin);
            }
        }
        let textures = TexturePlugin {
            asset_folder: self.asset_folder.clone(),
            default_sampler: self.default_sampler.clone(),
            limits: self.image_limits,
        };
        add(app, TransformPlugin);
        add(app, textures);
        add(app, MeshPlugin);
        add(app, CameraPlugin);
        app.init_resource::<CheckedFonts>();
        if !app.is_plugin_added::<TextPlugin>() {
            add_font_loader(app);
        }
        add(app, TextPlugin);
        add(app, SpritePlugin);
        #[cfg(feature = "ui")]
        add(app, bevy_ui::UiPlugin);
    }
}

/// Has font files read by the loader that checks them. Of two loaders for a kind of file bevy takes
/// neither without a warning, so its own, which comes later, gets no kind of file at all. Where it
/// came earlier it stays, and fonts are checked when they are there.
fn add_font_loader(app: &mut App) {
    let checked = app.world().resource::<CheckedFonts>().clone();
    app.register_asset_loader(CheckedFontLoader::new(checked))
        .preregister_asset_loader::<FontLoader>(&[]);
}

/// The systems that keep text within what bevy can lay out.
fn check_text() -> ScheduleConfigs<ScheduleSystem> {
    let fonts = (replace_broken_fonts, follow_reloaded_fonts)
        .chain()
        .before(load_font_assets_into_font_collection);
    let sizes = limit_font_sizes
        .after(PropagateSet::<TextFont>::default())
        .before(detect_text_needs_rerender);
    let numbers = limit_text.before(detect_text_needs_rerender);
    (fonts, sizes, numbers).into_configs()
}

fn add_passes(app: &mut App) {
    let prepare = (
        (prepare_images, prepare_meshes, prepare_tiles).in_set(Prepare2dSystems::Assets),
        queue_2d.in_set(Prepare2dSystems::Queue),
        (prepare_samples, send_2d).in_set(Prepare2dSystems::Send),
    );
    app.configure_sets(
        Render,
        (
            Prepare2dSystems::Assets,
            Prepare2dSystems::Queue,
            Prepare2dSystems::Send,
        )
            .chain()
            .in_set(RenderSystems::Declare),
    );
    app.add_systems(RenderStartup, make)
        .add_systems(Render, (prepare, draw_2d));
    #[cfg(feature = "ui")]
    app.add_systems(
        Render,
        crate::ui::queue_ui
            .in_set(Prepare2dSystems::Queue)
            .after(queue_2d),
    )
    .add_systems(
        PostUpdate,
        (
            crate::ui::limit_nodes
                .after(limit_atlases)
                .before(bevy_ui::UiSystems::Prepare),
            crate::ui::limit_images
                .after(bevy_ui::UiSystems::Content)
                .before(bevy_ui::UiSystems::Layout),
        ),
    );
}

/// Makes what belongs to the device, and forgets what belonged to the one before.
fn make(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    assets: (Res<Assets<Image>>, Res<AssetServer>),
    mut images: ResMut<Images2d>,
    mut meshes: ResMut<Meshes2d>,
    mut lists: (ResMut<Phase2d>, ResMut<Tilemaps>),
) -> Result {
    let (vertices, indices) = meshes::buffers(&gpu)?;
    commands.insert_resource(vertices);
    commands.insert_resource(indices);
    commands.insert_resource(tiles::buffer(&gpu)?);
    let instances = |name| instance_buffer(&gpu, name, 0);
    commands.insert_resource(Instances2d(instances("2d instances")?));
    commands.insert_resource(Nodes2d(instances("2d nodes")?));
    commands.insert_resource(Lines2d(instances("2d lines of gizmos")?));
    commands.insert_resource(Chunks2d(instances("2d chunks")?));
    commands.insert_resource(Pipelines2d::new(&gpu)?);
    images.begin_anew(&assets.0, &assets.1);
    meshes.begin_anew();
    lists.0.begin_anew();
    lists.1.begin_anew();
    commands.insert_resource(Multisampled2d::default());
    Ok(())
}
