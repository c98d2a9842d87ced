//! `--record FILE.mp4`: pictures of all frames as a film, with the feature `film`.

#[cfg(feature = "film")]
mod enabled {
    use std::io;
    use std::path::Path;

    use bevy_app::App;
    use bevy_ecs::prelude::*;
    use quadrille::prelude::Readback;
    use quadrille_video::{VideoRecorder, VideoRecorderPlugin};

    /// Pictures a second of films of runs without a window, whose frames take no fixed time.
    const HEADLESS_RATE: f64 = 60.0;

    pub(crate) type Films<'w, 's> = Query<'w, 's, &'static mut VideoRecorder>;

    /// Records from the first frame on.
    pub(crate) fn begin(app: &mut App, file: &Path, is_headless: bool) {
        app.add_plugins(VideoRecorderPlugin);
        let recorder = VideoRecorder::new(file, Readback::primary_window());
        app.world_mut().spawn(match is_headless {
            true => recorder.with_frame_rate(HEADLESS_RATE),
            false => recorder,
        });
    }

    /// Records no later frames. Returns whether the pictures of all earlier ones have come.
    pub(crate) fn stop(films: &mut Films) -> bool {
        films.iter_mut().fold(true, |are_complete, mut film| {
            film.stop();
            are_complete && film.is_complete()
        })
    }

    /// Completes the file; `None` if there is none.
    pub(crate) fn end(films: &mut Films) -> Option<io::Result<()>> {
        let ended = films.iter_mut().next()?.finish();
        Some(ended.map(drop).map_err(io::Error::other))
    }
}

#[cfg(not(feature = "film"))]
mod disabled {
    use std::io;
    use std::path::Path;

    use bevy_app::App;

    /// Arguments have refused films.
    pub(crate) type Films<'w, 's> = ();

    pub(crate) fn begin(_: &mut App, _: &Path, _is_headless: bool) {}

    pub(crate) fn stop((): &mut Films) -> bool {
        true
    }

    pub(crate) fn end((): &mut Films) -> Option<io::Result<()>> {
        None
    }
}

#[cfg(not(feature = "film"))]
pub(crate) use disabled::*;
#[cfg(feature = "film")]
pub(crate) use enabled::*;
