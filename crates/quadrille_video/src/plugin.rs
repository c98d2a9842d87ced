//! [`VideoPlugin`] and its systems.

use bevy_app::{App, Plugin, PostUpdate};
use bevy_asset::{AssetApp as _, AssetEventSystems, Assets};
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_time::{Time, TimePlugin};
use bytemuck::{Pod, Zeroable};
use quadrille::ecs::{
    AccessList, AssetFolder, ColorAttachment as _, PassUse, RenderStartup, access_kind,
    expect_renderer,
};
use quadrille::prelude::{
    GpuDevice, GpuShader, GraphicsPipeline, GraphicsPipelineDesc, Recorder, Render, RenderSystems,
    Uploads,
};
use quadrille::vulkan::device::Gpu;
use quadrille::vulkan::resources::{BufferDesc, GpuBuffer, GpuImage};
use quadrille_content::add_plugin_if_missing;
use quadrille_content::images::DeviceImages;
use quadrille_content::warnings::RateLimitedWarnings;
use quadrille_content::{ContentPlugin, ContentSystems};

use crate::decoder::{Picture, Planes};
use crate::device::decoder::NEEDS;
use crate::device::work::DecodeWork;
use crate::player::{Video, VideoLoader, VideoPlayer, screen};
use crate::state::{DecodeOn, PlayerDecoder, VideoState};

/// Plays [`VideoPlayer`]s: add it after the plugins of 2D or 3D.
///
/// ```no_run
/// use bevy_app::{App, PluginGroup as _};
/// use quadrille::ecs::QuadrillePlugin;
/// use quadrille::prelude::QuadrillePlugins;
/// use quadrille::vulkan::instance::Settings;
/// use quadrille_video::{VideoPlugin, with_decode_queue};
///
/// let renderer = QuadrillePlugin {
///     settings: with_decode_queue(Settings::default()),
///     ..QuadrillePlugin::default()
/// };
/// App::new().add_plugins((QuadrillePlugins.set(renderer), VideoPlugin::default())).run();
/// ```
#[derive(Clone, Debug, Default)]
pub struct VideoPlugin {
    /// Decoder choice.
    pub decode_on: DecodeOn,
}

/// System sets of videos.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoSystems {
    /// Time passes, and samples are decoded or listed for the device: in `PostUpdate`.
    Play,
    /// The passes `decode_videos` and `convert_videos`, before those of 2D and 3D.
    Passes,
}

impl Plugin for VideoPlugin {
    fn build(&self, app: &mut App) {
        add_plugin_if_missing(app, ContentPlugin::default());
        add_plugin_if_missing(app, TimePlugin);
        let folder = AssetFolder::of(app);
        app.init_asset::<Video>()
            .register_asset_reflect::<Video>()
            .register_type::<VideoPlayer>()
            .register_asset_loader(VideoLoader { folder })
            .insert_resource(Decoding(self.decode_on))
            .init_resource::<VideoBuffers>()
            .init_resource::<VideoPlanes>()
            .init_resource::<VideoImages>()
            .init_resource::<VideoWork>()
            .add_systems(
                PostUpdate,
                play_videos
                    .in_set(VideoSystems::Play)
                    .before(AssetEventSystems),
            )
            .add_systems(RenderStartup, (create_pipeline, forget_device))
            .add_systems(
                Render,
                (
                    prepare_videos
                        .in_set(RenderSystems::Declare)
                        .after(ContentSystems::Images),
                    (decode_videos, convert_videos)
                        .chain()
                        .in_set(VideoSystems::Passes)
                        .before(ContentSystems::Draw3d)
                        .before(ContentSystems::Draw2d),
                ),
            );
    }

    fn finish(&self, app: &mut App) {
        expect_renderer(app, "VideoPlugin");
    }
}

#[derive(Resource)]
struct Decoding(DecodeOn);

/// Buffers that the device decodes to in this frame.
#[derive(Resource, Deref, Default)]
struct VideoBuffers(Vec<GpuBuffer>);

/// Planes that are converted in this frame.
#[derive(Resource, Deref, Default)]
struct VideoPlanes(Vec<GpuBuffer>);

/// Images that are drawn to in this frame, each from the planes of the same index.
#[derive(Resource, Deref, Default)]
struct VideoImages(Vec<GpuImage>);

/// Work of this frame.
#[derive(Resource, Default)]
struct VideoWork {
    decodes: Vec<DecodeWork>,
    conversions: Vec<ConvertPush>,
}

/// Push constants of `convert.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct ConvertPush {
    coded: [u32; 2],
    origin: [u32; 2],
    weights: [f32; 2],
    full_range: u32,
    /// Bits of a value; each has as many bytes as it needs.
    bits: u32,
}

#[derive(Resource)]
struct ConvertPipeline(GraphicsPipeline);

fn create_pipeline(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    let source = include_str!("../shaders/convert.wgsl");
    let shader = GpuShader::wgsl("quadrille_video/convert.wgsl", source)?;
    let desc = GraphicsPipelineDesc::of("video convert", &shader);
    commands.insert_resource(ConvertPipeline(gpu.graphics_pipeline(&desc)?));
    Ok(())
}

/// Lets all players begin again on a new device, each at its position, without work and resources of the old device.
fn forget_device(
    mut players: Query<&mut VideoState>,
    mut work: ResMut<VideoWork>,
    (mut buffers, mut planes, mut images): (
        ResMut<VideoBuffers>,
        ResMut<VideoPlanes>,
        ResMut<VideoImages>,
    ),
) {
    for mut state in &mut players {
        *state = VideoState::default();
    }
    *work = VideoWork::default();
    buffers.0.clear();
    planes.0.clear();
    images.0.clear();
}

/// Moves the clocks of players, and decodes up to them.
fn play_videos(
    mut players: Query<(Entity, Option<&Name>, &mut VideoPlayer, &mut VideoState)>,
    videos: Res<Assets<Video>>,
    mut images: ResMut<Assets<Image>>,
    (time, gpu): (Res<Time>, Res<GpuDevice>),
    (decoding, warnings): (Res<Decoding>, Res<RateLimitedWarnings>),
) {
    let gpu: &Gpu = &gpu;
    for (entity, name, mut player, mut state) in &mut players {
        let id = player.video.id();
        let Some(video) = videos.get(id) else {
            continue;
        };
        let stream = &video.stream;
        let state = &mut *state;
        let mut jumps = player.tick(time.delta_secs_f64(), stream.duration());
        jumps |= state.begin(id);
        let advance = match state.advance((gpu, decoding.0), stream, player.position(), jumps) {
            Ok(advance) => advance,
            Err(error) => {
                tracing::error!("{}: {error}", label(entity, name));
                continue;
            }
        };
        if advance.has_changed {
            resize(state, &player, &mut images);
        }
        for error in advance.errors {
            warnings.warn_message(|| format!("{}: {error}", label(entity, name)));
        }
    }
}

/// Name of a player in messages.
fn label(entity: Entity, name: Option<&Name>) -> String {
    match name {
        Some(name) => format!("The video player `{name}`"),
        None => format!("The video player {entity}"),
    }
}

/// Gives the image of a player the size of the shown picture.
fn resize(state: &VideoState, player: &VideoPlayer, images: &mut Assets<Image>) {
    let Some(picture) = state.playback.shown() else {
        return;
    };
    let [width, height] = picture.size.shown;
    let known = images
        .get(&player.image)
        .map(|it| (it.width(), it.height()));
    if known.is_some_and(|known| known != (width, height)) {
        // Ids of handles are always valid.
        let _ = images.insert(player.image.id(), screen([width, height]));
    }
}

/// Uploads planes that the CPU decoded, and lists the work of the frame.
fn prepare_videos(
    mut players: Query<(Entity, Option<&Name>, &VideoPlayer, &mut VideoState)>,
    images: Res<DeviceImages>,
    (gpu, mut uploads): (Res<GpuDevice>, ResMut<Uploads>),
    (buffers, planes, targets): (
        ResMut<VideoBuffers>,
        ResMut<VideoPlanes>,
        ResMut<VideoImages>,
    ),
    mut work: ResMut<VideoWork>,
) {
    work.conversions.clear();
    let mut lists: (Vec<GpuBuffer>, Vec<GpuBuffer>, Vec<GpuImage>) = Default::default();
    // Pictures of a frame that was not recorded are decoded first: later ones refer to them.
    let kept = work.decodes.iter().flat_map(|decode| &decode.buffers);
    lists.0.extend(kept.cloned());
    for (entity, name, player, mut state) in &mut players {
        let state = &mut *state;
        if let Some(PlayerDecoder::Device(decoder)) = &mut state.decoder {
            match decoder.take_work() {
                Ok(decodes) => {
                    let buffers = decodes.iter().flat_map(|decode| &decode.buffers);
                    lists.0.extend(buffers.cloned());
                    work.decodes.extend(decodes);
                }
                Err(error) => {
                    state.has_failed = true;
                    tracing::error!("{}: {error}", label(entity, name));
                    continue;
                }
            }
        }
        let (Some(image), Some(picture)) = (images.image(&player.image), state.playback.shown())
        else {
            continue;
        };
        let is_ready = image.extent()[..2] == picture.size.shown;
        if !is_ready || state.converted == Some((state.version, image.id())) {
            continue;
        }
        let known = state.planes.take();
        let buffer = match planes_of(state, picture, known, (&gpu, &mut *uploads)) {
            Ok(Some(buffer)) => buffer,
            Ok(None) => continue,
            Err(error) => {
                // The picture is not tried again.
                state.converted = Some((state.version, image.id()));
                tracing::error!("{}: {error}", label(entity, name));
                continue;
            }
        };
        if matches!(picture.planes, Planes::Bytes(_)) {
            state.planes = Some((buffer.clone(), state.version));
        }
        state.converted = Some((state.version, image.id()));
        work.conversions.push(ConvertPush {
            coded: picture.size.coded,
            origin: picture.size.origin,
            weights: picture.color.weights,
            full_range: u32::from(picture.color.full_range),
            bits: u32::from(picture.color.bits),
        });
        lists.1.push(buffer);
        lists.2.push(image.clone());
    }
    buffers.map_unchanged(|it| &mut it.0).set_if_neq(lists.0);
    planes.map_unchanged(|it| &mut it.0).set_if_neq(lists.1);
    targets.map_unchanged(|it| &mut it.0).set_if_neq(lists.2);
}

/// Buffer with the planes of a picture.
fn planes_of(
    state: &VideoState,
    picture: &Picture,
    known: Option<(GpuBuffer, u64)>,
    (gpu, uploads): (&GpuDevice, &mut Uploads),
) -> Result<Option<GpuBuffer>, BevyError> {
    match (&picture.planes, &state.decoder) {
        (Planes::Buffer(index), Some(PlayerDecoder::Device(decoder))) => {
            Ok(decoder.buffer(*index).cloned())
        }
        (Planes::Buffer(_), _) => Ok(None),
        (Planes::Bytes(bytes), _) => {
            let size = bytes.len() as u64;
            let known = known.filter(|(buffer, _)| buffer.bytes() == size);
            if let Some((buffer, version)) = &known
                && *version == state.version
            {
                return Ok(Some(buffer.clone()));
            }
            let buffer = match known {
                Some((buffer, _)) => buffer,
                None => gpu.create_buffer(&BufferDesc::storage("video planes", size))?,
            };
            uploads.write_buffer(&buffer, 0, bytes);
            Ok(Some(buffer))
        }
    }
}

/// Decodes pictures on a queue of the device that decodes video: a pass for each session.
fn decode_videos(
    mut recorder: Recorder,
    buffers: AccessList<VideoBuffers, access_kind::TransferWrite>,
    mut work: ResMut<VideoWork>,
    mut uses: Local<Vec<PassUse>>,
) {
    let mut next = 0;
    for decode in work.decodes.drain(..) {
        let range = next..next + decode.buffers.len();
        next = range.end;
        let accesses = range.filter_map(|index| buffers.get(index));
        uses.clear();
        uses.extend(accesses.map(|access| access.as_declared()));
        let mut pass = recorder.pass("decode_videos", &uses);
        decode.record(&mut pass, NEEDS);
    }
}

/// Converts pictures to the images of their players: one pass of the plan for each.
fn convert_videos(
    mut recorder: Recorder,
    planes: AccessList<VideoPlanes, access_kind::StorageRead>,
    images: AccessList<VideoImages, access_kind::ColorTarget>,
    (work, pipeline): (Res<VideoWork>, Res<ConvertPipeline>),
) {
    for (index, push) in work.conversions.iter().enumerate() {
        let (Some(planes), Some(image)) = (planes.get(index), images.get(index)) else {
            continue;
        };
        let uses = [planes.reads(), image.as_declared()];
        let mut pass = recorder.pass("convert_videos", &uses);
        pass.render(image.discard())
            .pipeline(&pipeline.0)
            .bind("planes", &planes)
            .push_bytes(bytemuck::bytes_of(push))
            .draw(0..3, 0..1);
    }
}
