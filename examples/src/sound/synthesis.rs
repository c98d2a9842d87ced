//! Synthesis of sounds: oscillators and noise under envelopes that begin and end at zero.

use std::f32::consts::TAU;

use super::Sound;
use crate::random::Random;

/// Samples a second.
pub(super) const RATE: u32 = 22_050;

/// Greatest sample.
const PEAK: f32 = 0.8;

/// Seconds in which a note rises; shorter ones click.
const ATTACK: f32 = 0.006;

/// Waveform of a note.
#[derive(Clone, Copy)]
enum Wave {
    Sine,
    Triangle,
    /// Three odd harmonics of a square.
    Soft,
    Noise,
}

/// Note: its frequency glides from one value to another.
#[derive(Clone, Copy)]
struct Note {
    wave: Wave,
    /// Second of its begin.
    begin: f32,
    seconds: f32,
    /// Hertz.
    from: f32,
    to: f32,
    volume: f32,
}

/// Returns the samples of a sound.
pub(super) fn sound(sound: Sound) -> Vec<f32> {
    let note = |wave, begin, seconds, [from, to]: [f32; 2], volume| Note {
        wave,
        begin,
        seconds,
        from,
        to,
        volume,
    };
    let tone = |wave, begin, seconds, pitch, volume| note(wave, begin, seconds, [pitch; 2], volume);
    let notes = match sound {
        Sound::Click => vec![tone(Wave::Triangle, 0.0, 0.07, 880.0, 1.0)],
        Sound::Break => vec![
            note(Wave::Soft, 0.0, 0.14, [620.0, 210.0], 0.7),
            note(Wave::Noise, 0.0, 0.10, [1.0, 1.0], 0.5),
        ],
        Sound::Pickup => vec![
            tone(Wave::Soft, 0.0, 0.12, 659.3, 0.8),
            tone(Wave::Soft, 0.08, 0.20, 987.8, 0.8),
        ],
        Sound::Success => vec![
            tone(Wave::Triangle, 0.0, 0.18, 523.3, 0.8),
            tone(Wave::Triangle, 0.10, 0.18, 659.3, 0.8),
            tone(Wave::Triangle, 0.20, 0.40, 784.0, 0.9),
        ],
        Sound::Crash => vec![
            note(Wave::Noise, 0.0, 0.35, [1.0, 1.0], 0.9),
            note(Wave::Sine, 0.0, 0.30, [140.0, 50.0], 1.0),
        ],
        Sound::Loss => vec![
            note(Wave::Soft, 0.0, 0.35, [392.0, 196.0], 0.8),
            note(Wave::Soft, 0.25, 0.50, [262.0, 98.0], 0.8),
        ],
        Sound::Victory => [523.3, 659.3, 784.0, 1046.5, 784.0, 1046.5]
            .into_iter()
            .zip([0.0, 0.14, 0.28, 0.42, 0.62, 0.76])
            .map(|(pitch, begin)| tone(Wave::Soft, begin, 0.5, pitch, 0.7))
            .collect(),
    };
    let ends = notes.iter().map(|note| note.begin + note.seconds);
    let seconds = ends.fold(0.0, f32::max);
    let mut samples = vec![0.0; (seconds * RATE as f32) as usize + 1];
    for note in notes {
        add(&mut samples, note, sound as u64 + 1);
    }
    normalized(samples)
}

/// Beats of the music, of which four are a bar.
const BEATS: usize = 32;
/// Seconds of a beat.
const BEAT: f32 = 0.5;

/// Roots of the chords of eight bars, in semitones over A.
const ROOTS: [i32; 8] = [0, 0, -4, -4, 3, 3, -2, -5];

/// Returns the samples of the music: a bass, broken minor and major chords, and a melody by the seed.
pub(super) fn music(seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed ^ 0x50_u64);
    let mut samples = vec![0.0; (BEATS as f32 * BEAT * RATE as f32) as usize];
    let pitch = |semitones: i32, base: f32| base * (semitones as f32 / 12.0).exp2();
    for beat in 0..BEATS {
        let root = ROOTS[beat / 4];
        // On A and E the third is minor.
        let third = if matches!(root, 0 | -5) { 3 } else { 4 };
        let chord = [0, third, 7, 12];
        let mut play = |wave, begin: f32, beats: f32, hertz: f32, volume| {
            let note = Note {
                wave,
                begin: (beat as f32 + begin) * BEAT,
                seconds: beats * BEAT,
                from: hertz,
                to: hertz,
                volume,
            };
            add(&mut samples, note, 1);
        };
        if beat % 2 == 0 {
            play(Wave::Triangle, 0.0, 1.8, pitch(root, 55.0), 0.9);
        }
        for half in 0..2 {
            let step = chord[(2 * beat + half) % 4];
            play(
                Wave::Sine,
                half as f32 / 2.0,
                0.9,
                pitch(root + step, 220.0),
                0.35,
            );
        }
        if random.within(0.0, 1.0) < 0.55 {
            let step = chord[(random.within(0.0, 3.999)) as usize];
            play(Wave::Soft, 0.0, 1.5, pitch(root + step, 440.0), 0.22);
        }
    }
    normalized(samples)
}

/// Adds a note; what is behind the end goes to the beginning.
fn add(samples: &mut [f32], note: Note, seed: u64) {
    let mut random = Random::new(seed);
    let count = (note.seconds * RATE as f32) as usize;
    let first = (note.begin * RATE as f32) as usize;
    let mut phase = 0.0_f32;
    for at in 0..count {
        let part = at as f32 / count as f32;
        let hertz = note.from * (note.to / note.from).powf(part);
        phase = (phase + hertz / RATE as f32).fract();
        let value = match note.wave {
            Wave::Sine => (phase * TAU).sin(),
            Wave::Triangle => 1.0 - 4.0 * ((phase + 0.25).fract() - 0.5).abs(),
            Wave::Soft => [1.0, 3.0, 5.0]
                .into_iter()
                .map(|harmonic| (phase * TAU * harmonic).sin() / harmonic)
                .sum(),
            Wave::Noise => random.within(-1.0, 1.0),
        };
        let rise = (at as f32 / (ATTACK * RATE as f32)).min(1.0);
        let fall = (1.0 - part) * (1.0 - part);
        let len = samples.len();
        samples[(first + at) % len] += value * rise * fall * note.volume;
    }
}

/// Scales samples to [`PEAK`].
fn normalized(mut samples: Vec<f32>) -> Vec<f32> {
    let peak = samples
        .iter()
        .fold(1e-6, |peak: f32, it| peak.max(it.abs()));
    samples.iter_mut().for_each(|it| *it *= PEAK / peak);
    samples
}

/// Returns a WAV file of samples from -1 to 1.
pub(super) fn wav(samples: &[f32]) -> Vec<u8> {
    let bytes = 2 * samples.len() as u32;
    let mut file = Vec::with_capacity(44 + bytes as usize);
    file.extend(b"RIFF");
    file.extend((36 + bytes).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    // Integers of one channel.
    for value in [1_u16, 1] {
        file.extend(value.to_le_bytes());
    }
    for value in [RATE, 2 * RATE] {
        file.extend(value.to_le_bytes());
    }
    for value in [2_u16, 16] {
        file.extend(value.to_le_bytes());
    }
    file.extend(b"data");
    file.extend(bytes.to_le_bytes());
    for sample in samples {
        let value = (sample.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16;
        file.extend(value.to_le_bytes());
    }
    file
}
