use ash::vk::MemoryPropertyFlags as Flags;

use super::*;

const VISIBLE: Flags = Flags::HOST_VISIBLE;
const COHERENT: Flags = Flags::HOST_COHERENT;
const CACHED: Flags = Flags::HOST_CACHED;

#[test]
fn ranges_grow_to_atoms() {
    assert_eq!(atom_range(0, 64, 64), (0, 64));
    assert_eq!(atom_range(1, 1, 64), (0, 64));
    assert_eq!(atom_range(100, 100, 64), (64, 192));
    assert_eq!(atom_range(128, 0, 64), (128, 0));
    assert_eq!(atom_range(5, 7, 1), (5, 7));
    assert_eq!(atom_range(5, 7, 0), (5, 7), "a driver that says 0 means 1");
}

#[test]
fn memory_that_is_not_coherent_is_taken_to_read_back_from_a_cache_and_for_want_of_better() {
    let device = Flags::DEVICE_LOCAL;
    let check = |types: &[Flags], memory, expected: Option<u32>, why: &str| {
        assert_eq!(incoherent_type(types, u32::MAX, memory), expected, "{why}");
    };
    let desktop = [
        device,
        VISIBLE | COHERENT,
        VISIBLE | CACHED,
        VISIBLE | COHERENT | CACHED,
    ];
    check(
        &desktop,
        Memory::Readback,
        None,
        "there is one that is both",
    );
    let phone = [device, device | VISIBLE | COHERENT, VISIBLE | CACHED];
    check(&phone, Memory::Readback, Some(2), "cached before coherent");
    check(&phone, Memory::Upload, None, "coherent before cached");
    check(&phone, Memory::Device, None, "nobody maps it");
    let plain = [device, VISIBLE | COHERENT];
    check(&plain, Memory::Readback, None, "coherent and not cached");
    let incoherent = [device, device | VISIBLE, VISIBLE | CACHED];
    check(&incoherent, Memory::Upload, Some(2), "a cached one first");
    check(&incoherent, Memory::Readback, Some(2), "a cached one first");
    check(&[device], Memory::Upload, None, "the allocator will say so");
}

#[test]
fn only_types_that_a_buffer_may_have_count() {
    let types = [VISIBLE | CACHED, VISIBLE | COHERENT, VISIBLE | CACHED];
    assert_eq!(incoherent_type(&types, 0b100, Memory::Readback), Some(2));
    assert_eq!(incoherent_type(&types, 0b010, Memory::Readback), None);
    assert_eq!(incoherent_type(&types, 0b011, Memory::Readback), Some(0));
}

#[test]
fn memory_that_is_not_coherent_has_whole_atoms() {
    let needs = vk::MemoryRequirements {
        size: 100,
        alignment: 16,
        memory_type_bits: 0b111,
    };
    let grown = in_whole_atoms(needs, 2, 64);
    let parts = (grown.size, grown.alignment, grown.memory_type_bits);
    assert_eq!(parts, (128, 64, 0b100));
    let aligned = in_whole_atoms(needs, 2, 0);
    assert_eq!((aligned.size, aligned.alignment), (100, 16));
}

#[test]
fn blocks_grow_with_the_memory() {
    assert_eq!(device_block(8 << 30), 16 << 20);
    assert_eq!(device_block(80 << 30), 40 << 20);
    assert_eq!(device_block(u64::MAX), 256 << 20);
}
