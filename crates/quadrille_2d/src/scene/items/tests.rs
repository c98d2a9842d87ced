use super::*;
use bevy_ecs::change_detection::Tick;

fn built(entity: Entity, key: u64, rows: u32) -> BuiltItem {
    BuiltItem {
        entity,
        kind: ItemKind::Sprite,
        stamp: Stamp::default(),
        transform_tick: 0,
        key,
        depth_bias: 0.0,
        rows: 0..rows,
        parts: 0..1,
        row_transform: RowTransform::Own,
        depends_on: AssetKinds::default(),
        is_invalid: false,
    }
}

struct Rig {
    items: Items,
    rows: RangeTable<Instance>,
}

impl Rig {
    fn new() -> Self {
        let mut rig = Self {
            items: Items::default(),
            rows: RangeTable::default(),
        };
        rig.frames(1);
        rig
    }

    fn frames(&mut self, count: u64) {
        for _ in 0..count {
            self.items
                .begin_frame(AssetKinds::default(), &mut self.rows);
        }
    }

    fn apply(&mut self, item: &BuiltItem, tint: f32) -> u32 {
        let row = Instance {
            tint: [tint; 4],
            ..bytemuck::Zeroable::zeroed()
        };
        let rows = vec![row; item.rows.len()];
        let part = BuiltPart {
            mesh: None,
            image: AssetId::default(),
            bind_group: None,
            rows: rows.len() as u32,
        };
        self.items.apply(item, (&rows, &[part]), &mut self.rows)
    }
}

fn entities() -> [Entity; 2] {
    [1, 2].map(|index| Entity::from_raw_u32(index).unwrap())
}

#[test]
fn new_rows_leave_the_order_unchanged() {
    let [entity, _] = entities();
    let mut rig = Rig::new();
    let index = rig.apply(&built(entity, 7, 2), 1.0);
    let before = rig.items.order_changes();
    assert_eq!(rig.apply(&built(entity, 7, 2), 2.0), index);
    assert_eq!(rig.items.order_changes(), before);
    assert_eq!(rig.rows.rows()[1].tint, [2.0; 4]);
    rig.apply(&built(entity, 8, 2), 2.0);
    assert!(rig.items.order_changes() > before, "another key");
}

#[test]
fn moved_items_keep_the_rest_of_their_rows() {
    let [entity, _] = entities();
    let mut rig = Rig::new();
    let index = rig.apply(&built(entity, 7, 1), 1.0);
    let before = rig.items.order_changes();
    let moved = MovedItem {
        index,
        transform_tick: 5,
        key: 7,
        world_from_local: [[3.0; 4]; 3],
    };
    rig.items.apply_move(&moved, &mut rig.rows);
    let row = rig.rows.rows()[rig.items.get(index).rows.start as usize];
    assert_eq!((row.world_from_local, row.tint), ([[3.0; 4]; 3], [1.0; 4]));
    assert_eq!(rig.items.get(index).transform_tick, 5);
    assert_eq!(rig.items.order_changes(), before);
    assert_eq!(rig.items.work(), [1, 1]);
}

#[test]
fn items_that_no_camera_sees_are_freed() {
    let [first, second] = entities();
    let mut rig = Rig::new();
    let index = rig.apply(&built(first, 0, 3), 1.0);
    for _ in 0..2 * RETENTION {
        rig.frames(1);
        rig.apply(&built(second, 0, 1), 1.0);
    }
    assert_eq!(rig.items.find(ItemKind::Sprite, first), None);
    assert!(rig.items.find(ItemKind::Sprite, second).is_some());
    let again = rig.apply(&built(first, 0, 3), 1.0);
    assert_eq!((again, rig.items.get(again).rows.clone()), (index, 0..3));
}

#[test]
fn former_entity_of_an_index_gives_its_item_up() {
    let [former, _] = entities();
    // The upper half of the bits is the generation.
    let entity = Entity::from_bits(former.to_bits() + (1 << 32));
    assert_eq!(former.index_u32(), entity.index_u32());
    let mut rig = Rig::new();
    let index = rig.apply(&built(former, 0, 1), 1.0);
    assert_eq!(rig.items.find(ItemKind::Sprite, entity), None);
    assert_eq!(rig.apply(&built(entity, 0, 1), 1.0), index);
    assert_eq!(rig.items.find(ItemKind::Sprite, former), None);
    assert_eq!(rig.items.find(ItemKind::Sprite, entity), Some(index));
}

#[test]
fn changes_of_assets_invalidate_items_that_depend_on_them() {
    let [entity, _] = entities();
    let mut rig = Rig::new();
    let item = BuiltItem {
        depends_on: AssetKinds {
            custom_materials: false,
            materials: true,
            atlas_layouts: false,
        },
        ..built(entity, 0, 1)
    };
    let index = rig.apply(&item, 1.0);
    let is_current = |rig: &Rig| rig.items.is_current(rig.items.get(index), Stamp::default());
    assert!(is_current(&rig));
    let change = |materials, atlas_layouts| AssetKinds {
        custom_materials: false,
        materials,
        atlas_layouts,
    };
    rig.items.begin_frame(change(false, true), &mut rig.rows);
    assert!(is_current(&rig), "no layout of its own has changed");
    rig.items.begin_frame(change(true, false), &mut rig.rows);
    assert!(!is_current(&rig));
    rig.apply(&item, 1.0);
    assert!(is_current(&rig));
}

#[test]
fn stamps_tell_ticks_and_missing_components_apart() {
    let tick = |number| Some(Tick::new(number));
    let stamp = |ticks: &[Option<Tick>]| {
        let ticks = ticks.iter();
        ticks.fold(Stamp::default(), |stamp, tick| stamp.add(*tick))
    };
    let stamps = [
        stamp(&[tick(0), None]),
        stamp(&[None, tick(0)]),
        stamp(&[tick(1), tick(2)]),
        stamp(&[tick(2), tick(1)]),
        stamp(&[None, None]),
    ];
    for (at, stamp) in stamps.iter().enumerate() {
        assert_eq!(stamps.iter().position(|other| other == stamp), Some(at));
    }
}
