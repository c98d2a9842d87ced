//! Timelines of two sides that a socket connects: two devices of this process, or a device and an end of the socket that
//! the test plays.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use quadrille_sync::frame::TimelineUseKind::{Signal, Wait};
use quadrille_vulkan::resources::{PeerSide, PeerTimeline};

use crate::rig::{Rig, TIMEOUT};
use crate::timelines::declare;

/// Both ends of a socket, which do not wait for ever.
fn ends() -> (UnixStream, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    for end in [&one, &other] {
        end.set_read_timeout(Some(TIMEOUT)).unwrap();
    }
    (one, other)
}

/// Reads a message: four bytes of length, then the bytes. A descriptor with it is closed.
fn read(mut socket: &UnixStream) -> Vec<u8> {
    let mut length = [0; 4];
    socket.read_exact(&mut length).unwrap();
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    socket.read_exact(&mut bytes).unwrap();
    bytes
}

fn write(mut socket: &UnixStream, bytes: &[u8]) {
    let length = (bytes.len() as u32).to_le_bytes();
    socket.write_all(&[&length, bytes].concat()).unwrap();
}

/// The first side of a timeline whose other side, the test, declines the semaphore.
fn relayed(rig: &Rig) -> (PeerTimeline, UnixStream) {
    let (own, other) = ends();
    let peer = std::thread::spawn(move || {
        let offer = read(&other);
        if offer[0] == 1 {
            assert_eq!(offer.len(), 33, "device and driver follow");
            write(&other, &[0]);
        }
        other
    });
    let made = rig.gpu.peer_timeline("turns", own, PeerSide::First);
    (made.unwrap(), peer.join().unwrap())
}

#[test]
#[ignore = "needs a device"]
fn two_devices_take_turns_by_one_timeline() {
    let (mut first, mut second) = (Rig::new(), Rig::new());
    let (one, other) = ends();
    let (gpu, side) = (second.gpu.clone(), PeerSide::Second);
    let made = std::thread::spawn(move || gpu.peer_timeline("turns", other, side));
    let one = first.gpu.peer_timeline("turns", one, PeerSide::First);
    let (one, other) = (one.unwrap(), made.join().unwrap().unwrap());
    for turn in 0..5 {
        first.frame(|frame| {
            let uses = [(Wait, 2 * turn), (Signal, 2 * turn + 1)];
            declare(frame, one.semaphore(), &uses);
        });
        second.frame(|frame| {
            let uses = [(Wait, 2 * turn + 1), (Signal, 2 * turn + 2)];
            declare(frame, other.semaphore(), &uses);
        });
    }
    assert!(one.semaphore().wait(10, TIMEOUT).unwrap());
    assert!(!one.is_peer_gone());
    second.finish();
    drop(other);
    first.finish();
}

#[test]
#[ignore = "needs a device"]
fn declined_timeline_is_relayed_both_ways() {
    let mut rig = Rig::new();
    let (own, other) = relayed(&rig);
    rig.frame(|frame| declare(frame, own.semaphore(), &[(Wait, 5), (Signal, 6)]));
    write(&other, &5_u64.to_le_bytes());
    rig.finish();
    assert_eq!(own.semaphore().value().unwrap(), 6);
    // The value that was sent here may come back before the new one.
    let values = std::iter::repeat_with(|| u64::from_le_bytes(read(&other).try_into().unwrap()));
    assert_eq!(values.take(2).find(|value| *value != 5), Some(6));
    drop(own);
}

#[test]
#[ignore = "needs a device"]
fn timeline_of_another_device_is_declined() {
    let mut rig = Rig::new();
    let (own, other) = ends();
    let mut offer = [7; 33];
    offer[0] = 1;
    write(&other, &offer);
    let own = rig.gpu.peer_timeline("turns", own, PeerSide::Second);
    let own = own.unwrap();
    assert_eq!(read(&other), [0]);
    rig.frame(|frame| declare(frame, own.semaphore(), &[(Wait, 1), (Signal, 2)]));
    write(&other, &1_u64.to_le_bytes());
    rig.finish();
    assert_eq!(own.semaphore().value().unwrap(), 2);
}

#[test]
#[ignore = "needs a device"]
fn frames_that_wait_for_a_side_that_is_gone_end() {
    let mut rig = Rig::new();
    let (own, other) = relayed(&rig);
    rig.frame(|frame| declare(frame, own.semaphore(), &[(Wait, 3), (Signal, 4)]));
    rig.frame(|frame| declare(frame, own.semaphore(), &[(Wait, 5), (Signal, 6)]));
    assert!(!own.semaphore().wait(4, Duration::from_millis(50)).unwrap());
    assert!(!own.is_peer_gone());
    drop(other);
    rig.finish();
    assert!(own.is_peer_gone());
    assert_eq!(own.semaphore().value().unwrap(), 6);
}

#[test]
#[ignore = "needs a device"]
fn other_protocols_are_an_error() {
    let rig = Rig::new();
    for (side, said) in [
        (PeerSide::Second, "as PeerSide::First"),
        (PeerSide::First, "as PeerSide::Second"),
    ] {
        let (own, other) = ends();
        write(&other, &[9, 9]);
        match rig.gpu.peer_timeline("turns", own, side) {
            Err(error) => assert!(error.to_string().contains(said), "{error}"),
            // A device that shares no timelines asks the other side nothing.
            Ok(_) => assert_eq!((side, read(&other)), (PeerSide::First, vec![0])),
        }
    }
}
