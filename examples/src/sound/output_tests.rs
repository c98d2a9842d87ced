use bevy_app::TaskPoolPlugin;
use bevy_asset::AssetPlugin;

use super::*;

#[test]
fn sounds_are_players_only_beside_music_that_plays() {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default()))
        .add_message::<PlaySound>()
        .insert_resource(Volumes {
            sounds: 0.01,
            music: 0.0,
            is_muted: false,
        })
        .add_plugins(OutputPlugin { seed: 1 });
    app.update();
    for _ in 0..20 {
        app.world_mut().write_message(PlaySound(Sound::Click));
        app.update();
    }
    let world = app.world_mut();
    let has_device = !world
        .query_filtered::<(), (With<Music>, With<AudioSink>)>()
        .iter(world)
        .collect::<Vec<_>>()
        .is_empty();
    let players = world.query::<&AudioPlayer>().iter(world).count();
    // The music's own; a device plays the sounds of the last frames as well.
    assert!(players >= 1 && (has_device || players == 1), "{players}");
}
