//! `--record FOLDER`: pictures of all frames, which a thread writes as PNG files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use bevy_ecs::prelude::*;
use quadrille::ecs::{ReadbackFailed, encode_png};
use quadrille::prelude::{Readback, ReadbackComplete};
use quadrille::vulkan::file::write_file;

use crate::run::Run;

/// Number of a frame, from 1 on, and its picture.
type Numbered = (u64, ReadbackComplete);

/// Pictures on their way to files.
pub(crate) struct Recording {
    /// Pictures that were asked for, and that have come or failed.
    counts: [u64; 2],
    pictures: Sender<Numbered>,
    writer: JoinHandle<io::Result<()>>,
}

impl Recording {
    /// Makes the folder and starts the thread.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(crate) fn begin(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let (pictures, received) = channel();
        let writer = std::thread::spawn(move || write_all(&folder, &received));
        Ok(Self {
            counts: [0, 0],
            pictures,
            writer,
        })
    }

    /// Asks for the picture of the frame that begins.
    pub(crate) fn ask(&mut self, commands: &mut Commands) {
        self.counts[0] += 1;
        let number = self.counts[0];
        let mut asked = commands.spawn(Readback::primary_window());
        asked.observe(move |done: On<ReadbackComplete>, mut run: ResMut<Run>| {
            if let Some(recording) = run.recording() {
                recording.counts[1] += 1;
                // The thread ends early when a file cannot be written, which `end` tells.
                let _ = recording.pictures.send((number, done.event().clone()));
            }
        });
        asked.observe(|_: On<ReadbackFailed>, mut run: ResMut<Run>| {
            if let Some(recording) = run.recording() {
                recording.counts[1] += 1;
            }
        });
    }

    /// Whether all pictures have come.
    pub(crate) fn is_complete(&self) -> bool {
        self.counts[0] == self.counts[1]
    }

    /// Waits until all pictures that have come are written.
    ///
    /// # Errors
    /// A file could not be written.
    pub(crate) fn end(self) -> io::Result<()> {
        drop(self.pictures);
        let panicked = |_| io::Error::other("the thread that writes has panicked");
        self.writer.join().map_err(panicked)?
    }
}

/// Writes pictures as they come: 00001.png and so on.
fn write_all(folder: &Path, pictures: &Receiver<Numbered>) -> io::Result<()> {
    for (number, picture) in pictures {
        let path = folder.join(format!("{number:05}.png"));
        encode_png(&picture).and_then(|png| write_file(&path, &png))?;
    }
    Ok(())
}
