use super::*;

#[test]
fn unused_keys_are_forgotten() {
    let mut specializers = Specializers::default();
    let kept = specializers.get(1, |_| |_, _| Ok(()));
    for key in 2..100 {
        specializers.get(key, |_| |_, _| Ok(()));
    }
    specializers.forget_unused();
    assert_eq!(specializers.0.len(), 1);
    assert!(Arc::ptr_eq(&kept, &specializers.get(1, |_| |_, _| Ok(()))));
}
