use ash::vk::{self, Handle};

use super::VirtualQueues;
use crate::dispatch::loader::LOADER_MAGIC;
use crate::settings::families;

const PLAIN: vk::DeviceQueueCreateFlags = vk::DeviceQueueCreateFlags::empty();

fn queues(requests: &[(u32, usize)]) -> Option<VirtualQueues> {
    let priorities = [1.0; 64];
    let requests: Vec<_> = requests
        .iter()
        .map(|(family, count)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(*family)
                .queue_priorities(&priorities[..*count])
        })
        .collect();
    VirtualQueues::new(&families::parse("gct:1,ct:2").unwrap(), &requests)
}

#[test]
fn every_queue_has_a_handle_of_its_own() {
    let queues = queues(&[(0, 1), (1, 2)]).unwrap();
    let last = queues.find(1, 1, PLAIN);
    assert_eq!(
        queues.position(last),
        Some(2),
        "positions follow the requests"
    );
    assert_eq!(
        queues.position(queues.find(0, 0, PLAIN)),
        Some(0),
        "the first"
    );
    assert_eq!(queues.find(0, 1, PLAIN), vk::Queue::null(), "not asked for");
    let protected = vk::DeviceQueueCreateFlags::PROTECTED;
    assert_eq!(
        queues.find(0, 0, protected),
        vk::Queue::null(),
        "created with other flags"
    );
}

#[test]
fn a_handle_begins_with_the_loader_s_word() {
    let queues = queues(&[(0, 1)]).unwrap();
    let object = queues.find(0, 0, PLAIN).as_raw() as *const usize;
    // SAFETY: the handle points to an object of the queues, which still exist.
    let word = unsafe { object.read() };
    assert_eq!(word, LOADER_MAGIC, "until the loader adopts it");
}

#[test]
fn more_than_there_is_is_refused() {
    assert!(queues(&[(1, 3)]).is_none(), "the family has two queues");
    assert!(queues(&[(2, 1)]).is_none(), "there are two families");
}
