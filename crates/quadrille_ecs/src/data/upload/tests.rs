use super::Demand;

#[test]
fn memory_for_uploads_follows_what_frames_upload() {
    let mut demand = Demand::default();
    let mut looks = Vec::new();
    for frame in 0..4 * Demand::FRAMES {
        let bytes = if frame == 10 { 1 << 30 } else { 1 << 10 };
        looks.extend(demand.count(bytes));
    }
    assert_eq!(looks, [1 << 30, 1 << 30, 1 << 10, 1 << 10]);
}
