//! [`Video`] and [`VideoPlayer`].

use bevy_asset::io::Reader;
use bevy_asset::{
    Asset, AssetLoader, Assets, AsyncReadExt as _, Handle, LoadContext, RenderAssetUsages,
};
use bevy_ecs::prelude::*;
use bevy_image::Image;
use bevy_reflect::{Reflect, TypePath};
use quadrille::ecs::AssetFolder;
use wgpu_types::{Extent3d, TextureDimension, TextureFormat, TextureUsages};

use crate::container::VideoStream;
use crate::error::VideoError;
use crate::state::VideoState;

/// Coded video as an asset: files that end in .mp4, .m4v, .mov, .h264 or .264.
#[derive(Asset, Reflect, Clone, Debug)]
#[reflect(opaque)]
#[reflect(Clone, Debug)]
pub struct Video {
    /// Structure of the file.
    pub stream: VideoStream,
}

/// Plays a video on an image asset, which sprites, materials and nodes draw as any other.
///
/// ```
/// # use bevy_asset::{AssetServer, Assets};
/// # use bevy_ecs::prelude::*;
/// # use bevy_image::Image;
/// # use quadrille_2d::prelude::Sprite;
/// # use quadrille_video::VideoPlayer;
/// fn show(mut commands: Commands, server: Res<AssetServer>, mut images: ResMut<Assets<Image>>) {
///     let player = VideoPlayer::new(server.load("clip.mp4"), &mut images).looping();
///     commands.spawn((Sprite::from_image(player.image.clone()), player));
/// }
/// ```
///
/// The image has one transparent pixel until the file is loaded, and the size of the video from then on. A broken
/// sample is logged; the last good picture stays until decoding can go on.
#[derive(Component, Reflect, Clone, Debug)]
#[reflect(Component, Clone, Debug)]
#[require(VideoState)]
pub struct VideoPlayer {
    /// The video.
    pub video: Handle<Video>,
    /// The image that shows it.
    pub image: Handle<Image>,
    /// Whether time passes.
    pub is_playing: bool,
    /// Whether it begins again at its end.
    pub is_looping: bool,
    /// Seconds of video per second; 0 and values that are negative or not finite stop it.
    pub speed: f32,
    pub(crate) position: f64,
    pub(crate) target: Option<f64>,
    pub(crate) is_finished: bool,
}

impl VideoPlayer {
    /// A player that begins at once, with an image of its own.
    pub fn new(video: Handle<Video>, images: &mut Assets<Image>) -> Self {
        Self {
            video,
            image: images.add(screen([1, 1])),
            is_playing: true,
            is_looping: false,
            speed: 1.0,
            position: 0.0,
            target: None,
            is_finished: false,
        }
    }

    /// Begins again at the end.
    #[must_use]
    pub fn looping(mut self) -> Self {
        self.is_looping = true;
        self
    }

    /// Goes to a time in seconds, limited to the length of the video. The picture of that time appears once it is
    /// decoded from the last sync sample before it, at most eight samples a frame.
    pub fn seek(&mut self, seconds: f64) {
        self.target = Some(if seconds.is_finite() {
            seconds.max(0.0)
        } else {
            0.0
        });
    }

    /// Time in the video, in seconds.
    pub fn position(&self) -> f64 {
        self.target.unwrap_or(self.position)
    }

    /// Whether the end was reached, unless it is looping.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Lets time pass, up to the end of a video of so many seconds. Returns whether decoding must begin at another
    /// place.
    pub(crate) fn tick(&mut self, seconds: f64, duration: f64) -> bool {
        if let Some(target) = self.target.take() {
            self.position = target.min(duration);
            self.is_finished = false;
            return true;
        }
        let speed = f64::from(self.speed);
        if self.is_playing && speed.is_finite() && speed > 0.0 {
            self.position += seconds * speed;
        }
        if self.position < duration {
            self.is_finished = false;
            return false;
        }
        if self.is_looping && duration > 0.0 {
            self.position %= duration;
            return true;
        }
        self.position = duration;
        self.is_finished = true;
        false
    }
}

/// Image without texels that a pass draws to.
pub(crate) fn screen([width, height]: [u32; 2]) -> Image {
    let size = Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    };
    let mut image = Image::new_uninit(
        size,
        TextureDimension::D2,
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::default(),
    );
    image.texture_descriptor.usage =
        TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST | TextureUsages::RENDER_ATTACHMENT;
    image
}

/// Most bytes of a file, all of which is in memory.
const MAX_BYTES: usize = 1 << 30;

/// Loads [`Video`] files.
#[derive(TypePath)]
pub(crate) struct VideoLoader {
    pub folder: AssetFolder,
}

impl AssetLoader for VideoLoader {
    type Asset = Video;
    type Settings = ();
    type Error = VideoError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        load_context: &mut LoadContext<'_>,
    ) -> Result<Video, VideoError> {
        let problem = |error: std::io::Error| VideoError::Container {
            problem: error.to_string(),
        };
        self.folder.check(load_context.path()).map_err(problem)?;
        let mut bytes = Vec::new();
        // One byte past the limit suffices to detect an oversized file.
        let mut limited = reader.take(MAX_BYTES as u64 + 1);
        limited.read_to_end(&mut bytes).await.map_err(problem)?;
        if bytes.len() > MAX_BYTES {
            return Err(VideoError::Container {
                problem: format!("it has more than {} MiB", MAX_BYTES >> 20),
            });
        }
        let stream = VideoStream::parse(bytes)?;
        Ok(Video { stream })
    }

    fn extensions(&self) -> &[&str] {
        &[
            "mp4", "m4v", "mov", "h264", "264", "h265", "265", "hevc", "ivf", "obu",
        ]
    }
}

#[cfg(test)]
mod tests;
