use super::*;

const WINDOW: [f32; 2] = [1280.0, 720.0];

#[test]
fn fit_shows_the_whole_board() {
    for (width, height) in [(2048, 2048), (100, 3), (3, 100), (1, 1), (8192, 8192)] {
        let size = Size::new(width, height).unwrap();
        let view = View::fit(size, WINDOW);
        let [left, top] = view.cell_at([0.0, 0.0], WINDOW);
        let [right, bottom] = view.cell_at(WINDOW, WINDOW);
        assert!(left < 0.0 && top < 0.0, "{size}");
        assert!(right > width as f32 && bottom > height as f32, "{size}");
    }
    let minimised = View::fit(Size::new(640, 480).unwrap(), [0.0, 0.0]);
    assert!(minimised.cells_per_pixel().is_finite());
}

#[test]
fn pan_moves_with_the_pointer() {
    let mut view = View::new([100.0, 100.0], 0.5);
    let held = view.cell_at([300.0, 200.0], WINDOW);
    view.pan([40.0, -20.0]);
    assert_eq!(view.cell_at([340.0, 180.0], WINDOW), held);
}

#[test]
fn zoom_stops_at_its_limits() {
    let mut view = View::new([0.0, 0.0], 1.0);
    view.zoom(1e9, [0.0, 0.0], WINDOW);
    assert_eq!(view.cells_per_pixel(), View::MIN_CELLS_PER_PIXEL);
    view.zoom(0.0, [0.0, 0.0], WINDOW);
    assert_eq!(view.cells_per_pixel(), View::MAX_CELLS_PER_PIXEL);
}
