//! Output of sounds by `bevy_audio`.

use bevy_app::{App, Plugin, Startup, Update};
use bevy_asset::{Assets, Handle};
use bevy_audio::{
    AudioPlayer, AudioPlugin, AudioSink, AudioSinkPlayback, AudioSource, PlaybackSettings, Volume,
};
use bevy_ecs::prelude::*;

use super::{PlaySound, Sound, Volumes, music};

/// Sounds that may begin in one frame.
const MOST_A_FRAME: usize = 4;

/// Adds the output.
pub(super) struct OutputPlugin {
    pub(super) seed: u64,
}

impl Plugin for OutputPlugin {
    fn build(&self, app: &mut App) {
        let seed = self.seed;
        app.add_plugins(AudioPlugin::default())
            .add_systems(Startup, move |commands: Commands, assets: ResMut<_>| {
                start(commands, assets, seed);
            })
            .add_systems(Update, (play, set_volume));
    }
}

/// Sounds as assets, in the order of [`Sound::ALL`].
#[derive(Resource)]
struct Sounds(Vec<Handle<AudioSource>>);

/// The music.
#[derive(Component)]
struct Music;

fn source(bytes: Vec<u8>) -> AudioSource {
    AudioSource {
        bytes: bytes.into(),
    }
}

fn start(mut commands: Commands, mut assets: ResMut<Assets<AudioSource>>, seed: u64) {
    let sounds = Sound::ALL.map(|sound| assets.add(source(sound.wav())));
    commands.insert_resource(Sounds(sounds.to_vec()));
    let music = assets.add(source(music(seed)));
    commands.spawn((Music, AudioPlayer(music), PlaybackSettings::LOOP));
}

fn play(
    mut commands: Commands,
    mut messages: MessageReader<PlaySound>,
    (sounds, volumes): (Res<Sounds>, Res<Volumes>),
    playing: Query<(), (With<Music>, With<AudioSink>)>,
) {
    // Without a sound device the music gets no sink, and players of sounds would never despawn.
    if playing.is_empty() {
        messages.clear();
        return;
    }
    let mut begun: Vec<Sound> = Vec::new();
    for PlaySound(sound) in messages.read() {
        let is_heard = !volumes.is_muted && volumes.sounds > 0.0;
        if !is_heard || begun.len() == MOST_A_FRAME || begun.contains(sound) {
            continue;
        }
        begun.push(*sound);
        let at = Sound::ALL.iter().position(|it| it == sound);
        if let Some(handle) = at.and_then(|at| sounds.0.get(at)) {
            let settings = PlaybackSettings::DESPAWN.with_volume(Volume::Linear(volumes.sounds));
            commands.spawn((AudioPlayer(handle.clone()), settings));
        }
    }
}

/// Sets the volume of the music. Its sink begins some frames after it.
fn set_volume(volumes: Res<Volumes>, mut sinks: Query<&mut AudioSink, With<Music>>) {
    let volume = match volumes.is_muted {
        true => 0.0,
        false => volumes.music,
    };
    for mut sink in &mut sinks {
        if sink.volume() != Volume::Linear(volume) {
            sink.set_volume(Volume::Linear(volume));
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
