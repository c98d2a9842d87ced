use super::*;
use synthesis::RATE;

/// Samples of a file, from -1 to 1.
fn samples(file: &[u8]) -> Vec<f32> {
    assert_eq!((&file[..4], &file[8..12]), (&b"RIFF"[..], &b"WAVE"[..]));
    let stated = u32::from_le_bytes([file[40], file[41], file[42], file[43]]);
    assert_eq!(stated as usize, file.len() - 44);
    let words = file[44..].chunks_exact(2);
    words
        .map(|word| f32::from(i16::from_le_bytes([word[0], word[1]])) / 32767.0)
        .collect()
}

fn mean(samples: &[f32]) -> f32 {
    samples.iter().sum::<f32>() / samples.len() as f32
}

#[test]
fn sounds_are_short_and_do_not_click() {
    for sound in Sound::ALL {
        let samples = samples(&sound.wav());
        let seconds = samples.len() as f32 / RATE as f32;
        assert!((0.05..1.5).contains(&seconds), "{sound:?}: {seconds} s");
        let ends = [samples[0], samples[samples.len() - 1]];
        assert!(ends.iter().all(|it| it.abs() < 0.01), "{sound:?}: {ends:?}");
        let peak = samples.iter().fold(0.0_f32, |peak, it| peak.max(it.abs()));
        assert!((0.79..0.81).contains(&peak), "{sound:?}: {peak}");
        assert!(mean(&samples).abs() < 0.01, "{sound:?}: {}", mean(&samples));
    }
}

#[test]
fn sounds_differ_and_are_the_same_each_time() {
    for (at, sound) in Sound::ALL.into_iter().enumerate() {
        assert_eq!(sound.wav(), sound.wav());
        assert!(Sound::ALL[..at].iter().all(|it| it.wav() != sound.wav()));
    }
    assert_eq!(music(3), music(3));
    assert!(music(3) != music(4));
}

#[test]
fn end_of_the_music_leads_to_its_beginning() {
    let samples = samples(&music(1));
    assert_eq!(samples.len(), 16 * RATE as usize);
    let steps = samples.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let largest = steps.fold(0.0_f32, f32::max);
    let join = (samples[0] - samples[samples.len() - 1]).abs();
    assert!(join <= largest, "{join} of at most {largest}");
    assert!(mean(&samples).abs() < 0.01, "{}", mean(&samples));
    // No second is silent.
    for second in samples.chunks(RATE as usize) {
        assert!(second.iter().any(|it| it.abs() > 0.05));
    }
}

#[test]
fn key_mutes_and_messages_need_no_device() {
    let mut app = App::new();
    app.init_resource::<ButtonInput<KeyCode>>()
        .add_plugins(SoundPlugin {
            seed: 1,
            is_audible: false,
        });
    app.world_mut().write_message(PlaySound(Sound::Click));
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .press(KeyCode::KeyM);
    app.update();
    assert!(app.world().resource::<Volumes>().is_muted);
}
