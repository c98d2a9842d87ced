use super::*;

fn layout(modifier: Option<DrmModifier>) -> MemoryLayout {
    MemoryLayout {
        handle: MemoryHandle::DmaBuf,
        bytes: 1 << 33,
        memory_type: 7,
        is_dedicated: true,
        device: [3; 16],
        driver: [4; 16],
        description: 1 << 50,
        modifier,
    }
}

#[test]
fn layout_survives_bytes() {
    let plane = |offset| PlaneLayout {
        offset,
        row_pitch: 1024,
    };
    let tiled = DrmModifier {
        modifier: 0x0300_0000_0060_6014,
        planes: vec![plane(0), plane(1 << 20)],
    };
    for layout in [layout(None), layout(Some(tiled))] {
        assert_eq!(
            MemoryLayout::from_bytes(&layout.to_bytes()).ok(),
            Some(layout)
        );
    }
}

#[test]
fn other_bytes_are_an_error() {
    let whole = layout(None).to_bytes();
    for length in 0..whole.len() {
        assert!(
            MemoryLayout::from_bytes(&whole[..length]).is_err(),
            "{length}"
        );
    }
    for (at, value) in [(0, 9), (1, 9), (2, 9)] {
        let mut wrong = whole.clone();
        wrong[at] = value;
        assert!(MemoryLayout::from_bytes(&wrong).is_err(), "byte {at}");
    }
    let longer = [&whole[..], &[0; 8 + 5 * 16]].concat();
    let error = MemoryLayout::from_bytes(&longer).err();
    let said = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("143 bytes are no encoded"), "{said}");
}
