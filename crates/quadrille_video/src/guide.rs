//! Pages on common tasks.
//!
//! # Choose the queue and the decoder
//!
//! [`with_decode_queue`](crate::with_decode_queue) requests a queue that decodes, and the extensions; devices without
//! them ignore it. [`VideoPlugin::decode_on`](crate::VideoPlugin::decode_on) says whether the CPU may decode instead:
//!
//! ```no_run
//! use bevy_app::{App, PluginGroup as _};
//! use quadrille::ecs::QuadrillePlugin;
//! use quadrille::prelude::QuadrillePlugins;
//! use quadrille::vulkan::instance::Settings;
//! use quadrille_2d::Quadrille2dPlugin;
//! use quadrille_video::{DecodeOn, VideoPlugin, with_decode_queue};
//!
//! let renderer = QuadrillePlugin {
//!     settings: with_decode_queue(Settings::default()),
//!     ..QuadrillePlugin::default()
//! };
//! // The log tells what a device lacks that cannot decode.
//! let video = VideoPlugin { decode_on: DecodeOn::Device };
//! App::new().add_plugins((QuadrillePlugins.set(renderer), Quadrille2dPlugin::default(), video)).run();
//! ```
//!
//! # Show a video
//!
//! [`VideoPlayer::image`](crate::VideoPlayer::image) is a handle of an ordinary image: the image of a `Sprite`, the
//! `base_color_texture` or `emissive_texture` of a `StandardMaterial`, or the image of an `ImageNode`. It has one
//! transparent pixel until the first picture is decoded, and follows the size of the pictures from then on. Clones of
//! the handle share one player; two players of one file decode it twice.
//!
//! # Control a player
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use quadrille_video::{VideoPlayer, VideoState};
//!
//! fn pause(mut player: Single<&mut VideoPlayer>) {
//!     player.is_playing = false;
//! }
//!
//! fn ten_seconds_back(mut player: Single<&mut VideoPlayer>) {
//!     let to = player.position() - 10.0;
//!     player.seek(to);
//! }
//!
//! fn slow_motion(mut player: Single<&mut VideoPlayer>) {
//!     player.speed = 0.25;
//! }
//!
//! /// The position jumps at once, the picture follows in a few frames.
//! fn is_seeking(player: Single<(&VideoPlayer, &VideoState)>) -> bool {
//!     let (player, state) = *player;
//!     state.shown_time().is_none_or(|shown| (shown - player.position()).abs() > 0.1)
//! }
//!
//! fn despawn_at_the_end(player: Single<(Entity, &VideoPlayer)>, mut commands: Commands) {
//!     let (entity, player) = *player;
//!     if player.is_finished() {
//!         commands.entity(entity).despawn();
//!     }
//! }
//! ```
//!
//! Players follow `Time`, so they stop with `Time<Virtual>`. A player that falls more than two seconds behind, for
//! example because decoding is too slow, goes on at a later sync sample.
//!
//! # Prepare files
//!
//! A seek decodes from the last sync sample (IDR picture, in H.265 also CRA or BLA picture, in AV1 key frame that is
//! shown) before its target, eight samples a frame. A sync sample each second keeps seeks short:
//!
//! ```sh
//! ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -x264-params keyint=24 -an -movflags +faststart OUT.mp4
//! ffmpeg -i IN -c:v libx265 -pix_fmt yuv420p -x265-params keyint=24 -tag:v hvc1 -an -movflags +faststart OUT.mp4
//! ffmpeg -i IN -c:v libsvtav1 -pix_fmt yuv420p -g 24 -an -movflags +faststart OUT.mp4
//! ```
//!
//! Only devices decode H.265 and AV1; the CPU decodes H.264 (feature `openh264`).
