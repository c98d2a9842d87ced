use ash::vk;

use super::{BindingNeeds, Needs};
use crate::shader::{Binding, BindingKind};

fn binding(number: u32, kind: BindingKind, writes: bool, stages: vk::ShaderStageFlags) -> Binding {
    Binding {
        binding: number,
        name: String::new(),
        kind,
        reads: true,
        writes,
        stages,
        least_bytes: 0,
        layout: Default::default(),
    }
}

#[test]
fn bindings_are_found_by_number() {
    let compute = vk::ShaderStageFlags::COMPUTE;
    let both = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
    let bindings = [
        binding(0, BindingKind::UniformBuffer, false, both),
        binding(2, BindingKind::StorageBuffer, true, compute),
        binding(3, BindingKind::StorageBuffer, false, compute),
        binding(15, BindingKind::Sampler, false, compute),
        binding(16, BindingKind::UniformBuffer, false, compute),
    ];
    let needs = BindingNeeds::of(&bindings);
    let all = |numbers: &[u32]| numbers.iter().map(|&number| needs.at(number)).collect();
    let found: Vec<Needs> = all(&[0, 2, 3]);
    let expected = [
        Needs::UNIFORM | Needs::VERTEX | Needs::FRAGMENT,
        Needs::STORAGE | Needs::WRITES | Needs::COMPUTE,
        Needs::STORAGE | Needs::COMPUTE,
    ];
    assert_eq!(found, expected);
    let unknown: Vec<Needs> = all(&[1, 15, 16, u32::MAX]);
    assert_eq!(unknown, [Needs::empty(); 4], "none, a sampler, too high");
    assert_eq!(needs.numbers(), 0b1_1000_0000_0000_1101);
    assert_eq!(BindingNeeds::bit(65), BindingNeeds::bit(1));
}
