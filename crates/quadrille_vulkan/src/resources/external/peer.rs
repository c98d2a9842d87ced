//! One timeline for two processes.

use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use super::invalid;
use super::socket::{failed, receive, send};
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::timeline_semaphore::TimelineSemaphore;

/// How long a thread waits before it looks whether it is to end.
const SLICE: Duration = Duration::from_millis(20);

/// A side of a [`PeerTimeline`]: each process takes another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerSide {
    /// Makes the semaphore.
    First,
    /// Receives it.
    Second,
}

/// A timeline semaphore that this process and another one wait for and signal, connected by a Unix socket.
///
/// Both sides have one semaphore where the device shares timelines by file descriptors
/// (`VK_KHR_external_semaphore_fd`). Elsewhere each side has its own, and threads relay the values that the other side
/// reaches, which takes a trip over the host.
///
/// When the other side ends, or is killed, [`PeerTimeline::is_peer_gone`] is true, and values below those that submitted
/// frames signal are signalled here, so that these frames end. Contents that the other side should have written are then
/// undefined. A frame that waits and signals nothing ends with
/// [`FrameError::TimelineWait`](crate::FrameError::TimelineWait) after the device's time limit.
pub struct PeerTimeline {
    timeline: TimelineSemaphore,
    socket: Arc<UnixStream>,
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    is_peer_gone: AtomicBool,
    is_over: AtomicBool,
}

impl Gpu {
    /// Makes the timeline of two processes, beginning at 0. Both call it, each for its side, with the ends of one
    /// socket, which belongs to the timeline from then on.
    ///
    /// # Errors
    /// The other end is closed, or sends anything else; the driver's.
    pub fn peer_timeline(
        &self,
        name: &str,
        socket: UnixStream,
        side: PeerSide,
    ) -> Result<PeerTimeline, Error> {
        let (timeline, is_one) = match side {
            PeerSide::First => self.first_side(name, &socket)?,
            PeerSide::Second => self.second_side(name, &socket)?,
        };
        let socket = Arc::new(socket);
        let state = Arc::new(State::default());
        let mut threads = vec![spawn({
            let (timeline, socket, state) =
                (timeline.clone(), Arc::clone(&socket), Arc::clone(&state));
            move || hear(&timeline, &socket, &state)
        })];
        if !is_one {
            let (timeline, socket, state) =
                (timeline.clone(), Arc::clone(&socket), Arc::clone(&state));
            threads.push(spawn(move || tell(&timeline, &socket, &state)));
        }
        Ok(PeerTimeline {
            timeline,
            socket,
            state,
            threads,
        })
    }

    fn first_side(
        &self,
        name: &str,
        socket: &UnixStream,
    ) -> Result<(TimelineSemaphore, bool), Error> {
        match self.create_exportable_timeline_semaphore(name, 0) {
            Ok(made) => {
                let fd = made.export()?;
                send(socket, Some(fd.as_fd()), &[1]).map_err(failed("sent"))?;
                Ok((made, true))
            }
            // The device has no such semaphores.
            Err(Error::Invalid { .. }) => {
                send(socket, None, &[0]).map_err(failed("sent"))?;
                Ok((self.timeline_semaphore(name, 0)?, false))
            }
            Err(error) => Err(error),
        }
    }

    fn second_side(
        &self,
        name: &str,
        socket: &UnixStream,
    ) -> Result<(TimelineSemaphore, bool), Error> {
        match receive(socket).map_err(failed("received"))? {
            (Some(fd), bytes) if bytes == [1] => {
                Ok((self.import_timeline_semaphore_fd(name, fd)?, true))
            }
            (None, bytes) if bytes == [0] => Ok((self.timeline_semaphore(name, 0)?, false)),
            _ => Err(invalid(
                name,
                "the other end sends no timeline; let it call `Gpu::peer_timeline` as PeerSide::First",
            )),
        }
    }
}

impl PeerTimeline {
    /// The semaphore that passes wait for and signal.
    pub fn semaphore(&self) -> &TimelineSemaphore {
        &self.timeline
    }

    /// Whether the other side has ended.
    pub fn is_peer_gone(&self) -> bool {
        self.state.is_peer_gone.load(Ordering::Acquire)
    }
}

impl Drop for PeerTimeline {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Release);
        // Ends the read of `hear`. It fails if the other side was first.
        let _ = self.socket.shutdown(Shutdown::Both);
        for thread in self.threads.drain(..) {
            // A panic there has printed its message.
            drop(thread.join());
        }
    }
}

/// Signals what the other side tells, until it ends.
fn hear(timeline: &TimelineSemaphore, socket: &UnixStream, state: &State) {
    let _ = socket.set_read_timeout(None);
    while let Ok((_, bytes)) = receive(socket) {
        let Ok(value) = bytes.try_into().map(u64::from_le_bytes) else {
            break;
        };
        if timeline.value().is_ok_and(|reached| reached < value)
            && let Err(error) = timeline.signal(value)
        {
            tracing::error!("the other process signals out of turn: {error}");
            break;
        }
    }
    state.is_peer_gone.store(true, Ordering::Release);
    // Submitted frames wait for values below those that they signal.
    while !state.is_over.load(Ordering::Acquire) {
        if timeline.release_next().is_err() {
            return;
        }
        std::thread::sleep(SLICE);
    }
}

/// Tells the other side each value that is reached.
fn tell(timeline: &TimelineSemaphore, socket: &UnixStream, state: &State) {
    let mut told = 0;
    while !state.is_over.load(Ordering::Acquire) {
        let Ok(is_new) = timeline.wait(told + 1, SLICE) else {
            return;
        };
        if !is_new {
            continue;
        }
        let Ok(reached) = timeline.value() else {
            return;
        };
        told = reached;
        // Values that the other side has signalled go back to it, where they are reached.
        if send(socket, None, &reached.to_le_bytes()).is_err() {
            return;
        }
    }
}
