// Time of the frame, by bevy's names: `bevy_render::globals`.

struct Globals {
    // Seconds since the start, from 0 again after an hour.
    time: f32,
    // Seconds since the previous frame.
    delta_time: f32,
    // Number of frames since the start, modulo 2^32.
    frame_count: u32,
}
