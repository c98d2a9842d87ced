//! One timeline for two processes.

use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use super::allocate::ids;
use super::invalid;
use super::socket::{failed, receive, send};
use crate::device::gpu::Gpu;
use crate::error::Error;
use crate::resources::timeline_semaphore::TimelineSemaphore;

/// How long a thread waits before it looks whether it is to end.
const SLICE: Duration = Duration::from_millis(20);
/// Maximum wait of a drop for the values that submitted frames signal.
const END_TIMEOUT: Duration = Duration::from_secs(1);
/// Time without a new value after which a side that has ended is taken to signal nothing more: work that a killed
/// process has submitted may outlive its socket.
const QUIET: Duration = Duration::from_millis(250);

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
/// Both sides have one semaphore where they have the same device and driver, and these share timelines by file
/// descriptors (`VK_KHR_external_semaphore_fd`). Elsewhere each side has its own, and threads relay the values that the other side
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
    /// socket, which belongs to the timeline from then on. Each side waits for the other one, for as long as the socket's
    /// read timeout.
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
            move || receive_values(&timeline, &socket, &state)
        })];
        if !is_one {
            let (timeline, socket, state) =
                (timeline.clone(), Arc::clone(&socket), Arc::clone(&state));
            threads.push(spawn(move || send_values(&timeline, &socket, &state)));
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
                let offer = [&[1], &self.peer_ids()[..]].concat();
                send(socket, Some(fd.as_fd()), &offer).map_err(failed(name, "sent"))?;
                match receive(socket).map_err(failed(name, "received"))? {
                    (None, answer) if answer == [1] => Ok((made, true)),
                    (None, answer) if answer == [0] => Ok((made, false)),
                    _ => Err(no_peer(name, "PeerSide::Second")),
                }
            }
            // The device has no such semaphores.
            Err(Error::Invalid { .. }) => {
                send(socket, None, &[0]).map_err(failed(name, "sent"))?;
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
        match receive(socket).map_err(failed(name, "received"))? {
            (fd, bytes) if bytes.len() == 33 && bytes[0] == 1 => {
                let is_known = bytes[1..] == self.peer_ids();
                let made = match fd.filter(|_| is_known) {
                    Some(fd) => match self.import_timeline_semaphore_fd(name, fd) {
                        Ok(made) => Some(made),
                        // The device has no such semaphores.
                        Err(Error::Invalid { .. }) => None,
                        Err(error) => return Err(error),
                    },
                    None => None,
                };
                let answer = [u8::from(made.is_some())];
                send(socket, None, &answer).map_err(failed(name, "sent"))?;
                match made {
                    Some(made) => Ok((made, true)),
                    None => Ok((self.timeline_semaphore(name, 0)?, false)),
                }
            }
            (None, bytes) if bytes == [0] => Ok((self.timeline_semaphore(name, 0)?, false)),
            _ => Err(no_peer(name, "PeerSide::First")),
        }
    }

    /// Device and driver: an opaque descriptor of a semaphore is of one of each (section "Handle Types Supported").
    fn peer_ids(&self) -> [u8; 32] {
        let (device, driver) = ids(&self.0);
        let mut both = [0; 32];
        both[..16].copy_from_slice(&device);
        both[16..].copy_from_slice(&driver);
        both
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
        // The other side releases what it waits for once the socket is closed, so that the signals of this side come
        // first. Late ones cannot: the device is lost, or is about to be.
        let highest = self.timeline.highest();
        let _ = highest.and_then(|highest| self.timeline.wait(highest, END_TIMEOUT));
        let _ = self.socket.set_write_timeout(Some(END_TIMEOUT));
        self.state.is_over.store(true, Ordering::Release);
        // The sender, if any, ends by itself after the last value.
        for thread in self.threads.drain(1..) {
            // A panic there has printed its message.
            drop(thread.join());
        }
        // Ends the read of `receive_values`. It fails if the other side was first.
        let _ = self.socket.shutdown(Shutdown::Both);
        for thread in self.threads.drain(..) {
            // A panic there has printed its message.
            drop(thread.join());
        }
    }
}

/// The error about an end that speaks another protocol.
fn no_peer(name: &str, side: &str) -> Error {
    let problem =
        format!("the other end sends no timeline; let it call `Gpu::peer_timeline` as {side}");
    invalid(name, problem)
}

/// Signals the values that the other side sends, until it ends; then releases the frames that wait for it.
fn receive_values(timeline: &TimelineSemaphore, socket: &UnixStream, state: &State) {
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
    let (mut last, mut since) = (None, Instant::now());
    while !state.is_over.load(Ordering::Acquire) {
        let Ok(value) = timeline.value() else {
            return;
        };
        if last != Some(value) {
            (last, since) = (Some(value), Instant::now());
        } else if since.elapsed() >= QUIET {
            match timeline.release_next() {
                // A value was reached between the look at it and the signal: the next look finds it.
                Ok(()) | Err(Error::Invalid { .. }) => {}
                Err(_) => return,
            }
        }
        std::thread::sleep(SLICE);
    }
}

/// Sends each value that is reached to the other side; at the end, the last one too.
fn send_values(timeline: &TimelineSemaphore, socket: &UnixStream, state: &State) {
    let mut sent = 0;
    loop {
        // Read before the value, so that the last one is sent.
        let is_over = state.is_over.load(Ordering::Acquire);
        let Ok(is_new) = timeline.wait(sent + 1, SLICE) else {
            return;
        };
        if is_new {
            let Ok(reached) = timeline.value() else {
                return;
            };
            sent = reached;
            // Values that the other side has signalled go back to it, where they are reached.
            if send(socket, None, &reached.to_le_bytes()).is_err() {
                return;
            }
        }
        if is_over {
            return;
        }
    }
}
