use ash::vk::PhysicalDeviceType as Kind;

use super::{Candidate, choose};
use crate::error::SetupError;

fn candidates() -> Vec<Candidate> {
    let candidate = |name: &str, kind, missing: &[&str]| Candidate {
        name: name.to_owned(),
        kind,
        missing: missing.iter().map(|&word| word.to_owned()).collect(),
        lacking: Vec::new(),
    };
    vec![
        candidate("llvmpipe (LLVM 15)", Kind::CPU, &[]),
        candidate("Old GTX", Kind::DISCRETE_GPU, &["synchronization2"]),
        candidate("Integrated 770", Kind::INTEGRATED_GPU, &[]),
        candidate("Big RTX", Kind::DISCRETE_GPU, &[]),
    ]
}

#[test]
fn the_most_capable_that_lacks_nothing() {
    assert_eq!(choose(&candidates(), None).unwrap(), 3);
    assert_eq!(choose(&candidates()[..3], None).unwrap(), 2);
}

#[test]
fn by_part_of_its_name_or_by_index() {
    assert_eq!(choose(&candidates(), Some("LLVMPIPE")).unwrap(), 0);
    assert_eq!(choose(&candidates(), Some("2")).unwrap(), 2);
    // 770 is not a valid index, so it is part of a name.
    assert_eq!(choose(&candidates(), Some("770")).unwrap(), 2);
}

#[test]
fn errors_name_devices_and_missing_features() {
    let error = choose(&candidates(), Some("Radeon"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("Radeon") && error.contains("Big RTX"),
        "{error}"
    );
    let error = choose(&candidates(), Some("gtx")).unwrap_err().to_string();
    assert!(
        error.contains("Old GTX") && error.contains("synchronization2"),
        "{error}"
    );
    assert!(matches!(choose(&[], None), Err(SetupError::NoDevice)));
}

#[test]
fn requirements_of_the_program_count_like_the_baseline() {
    let mut devices = candidates();
    devices[3].lacking = vec!["VK_EXT_mesh_shader".to_owned()];
    assert_eq!(choose(&devices, None).unwrap(), 2);
    let error = choose(&devices, Some("rtx")).unwrap_err().to_string();
    assert!(
        error.contains("Big RTX") && error.contains("VK_EXT_mesh_shader"),
        "{error}"
    );
}
