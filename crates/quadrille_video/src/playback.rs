//! Playback of a stream: which samples are decoded, and which picture is shown.

use std::collections::VecDeque;

use crate::container::VideoStream;
use crate::decoder::{Decoded, Decoder, Picture};
use crate::error::VideoError;

/// Most samples that one frame decodes. A seek to the middle of a long group of pictures takes several frames, in
/// which the earlier picture is shown.
pub(crate) const MAX_SAMPLES_PER_FRAME: usize = 8;

/// Seconds that decoding may be late before it goes on at a later sync sample.
const MAX_DELAY: i64 = 2;

/// Position in a stream.
#[derive(Debug, Default)]
pub(crate) struct Playback {
    /// Next sample to decode.
    next: usize,
    /// Decoded pictures after the shown one, in the order of presentation.
    waiting: VecDeque<Picture>,
    /// The picture that is shown.
    shown: Option<Picture>,
    /// Whether all samples are decoded and all pictures are complete.
    is_finished: bool,
    /// Whether the shown picture is one of before a jump.
    is_jumping: bool,
}

/// Outcome of a frame.
#[derive(Debug, Default)]
pub(crate) struct Advance {
    /// Whether another picture is shown than before.
    pub has_changed: bool,
    /// Problems of samples.
    pub errors: Vec<VideoError>,
}

impl Playback {
    /// The picture that is shown.
    pub(crate) fn shown(&self) -> Option<&Picture> {
        self.shown.as_ref()
    }

    /// Begins again at the last sync sample before a time. The shown picture stays until the next one is complete.
    pub(crate) fn jump(&mut self, stream: &VideoStream, decoder: &mut dyn Decoder, time: i64) {
        for picture in decoder.finish().into_iter().chain(self.waiting.drain(..)) {
            decoder.release(picture);
        }
        self.next = stream.sync_before(time);
        self.is_finished = false;
        self.is_jumping = true;
    }

    /// Decodes until the picture of a time, in ticks, is complete, and shows it.
    pub(crate) fn advance(
        &mut self,
        stream: &VideoStream,
        decoder: &mut dyn Decoder,
        time: i64,
    ) -> Advance {
        let mut advance = Advance::default();
        self.catch_up(stream, decoder, time);
        for _ in 0..MAX_SAMPLES_PER_FRAME {
            // The picture of now is known once a later one is complete.
            if self.is_finished || self.waiting.back().is_some_and(|it| it.time > time) {
                break;
            }
            if self.next >= stream.samples().len() {
                self.waiting.extend(decoder.finish());
                self.is_finished = true;
                break;
            }
            match decoder.decode(stream, self.next) {
                Ok(Decoded::Pictures(pictures)) => {
                    self.waiting.extend(pictures);
                    self.next += 1;
                }
                // Pictures that are over free their buffers.
                Ok(Decoded::Full) => {
                    let waiting = self.waiting.len();
                    self.show(decoder, time, &mut advance);
                    if self.waiting.len() == waiting {
                        break;
                    }
                }
                Err(error) => {
                    advance.errors.push(error);
                    self.waiting.extend(decoder.finish());
                    let next = stream.sync_from(self.next + 1);
                    self.next = next.unwrap_or(stream.samples().len());
                }
            }
        }
        self.show(decoder, time, &mut advance);
        advance
    }

    /// Jumps if decoding is late.
    fn catch_up(&mut self, stream: &VideoStream, decoder: &mut dyn Decoder, time: i64) {
        let late = i64::from(stream.timescale()).saturating_mul(MAX_DELAY);
        let sample = stream.samples().get(self.next);
        if sample.is_some_and(|it| it.time < time.saturating_sub(late))
            && stream.sync_before(time) > self.next
        {
            self.jump(stream, decoder, time);
        }
    }

    /// Shows the last complete picture that is not after a time. During a jump, only once no other one can be it.
    fn show(&mut self, decoder: &mut dyn Decoder, time: i64, advance: &mut Advance) {
        while self.waiting.get(1).is_some_and(|it| it.time <= time) {
            if let Some(picture) = self.waiting.pop_front() {
                decoder.release(picture);
            }
        }
        let is_reached = self.is_finished || self.waiting.back().is_some_and(|it| it.time > time);
        if self.is_jumping && !is_reached {
            return;
        }
        let takes_any = self.is_jumping || self.shown.is_none();
        let is_due = |picture: &mut Picture| takes_any || picture.time <= time;
        if let Some(picture) = self.waiting.pop_front_if(is_due) {
            advance.has_changed = true;
            self.is_jumping = false;
            if let Some(before) = self.shown.replace(picture) {
                decoder.release(before);
            }
        }
    }
}

#[cfg(test)]
mod tests;
