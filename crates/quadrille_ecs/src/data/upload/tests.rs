use super::Demand;

#[test]
fn staging_demand_follows_recent_uploads() {
    let mut demand = Demand::default();
    let mut looks = Vec::new();
    for frame in 0..4 * Demand::FRAMES {
        let bytes = if frame == 10 { 1 << 30 } else { 1 << 10 };
        looks.extend(demand.count(bytes));
    }
    assert_eq!(looks, [1 << 30, 1 << 30, 1 << 10, 1 << 10]);
}
