use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_vulkan::resources::GpuBuffer;

use super::*;
use crate::{Current, History, WindowImageOf};

#[derive(Resource, Deref)]
struct Cells(GpuBuffer);

#[derive(Component)]
struct Map;

enum Positions {}

impl History for Positions {
    type Handle = GpuBuffer;
}

#[track_caller]
fn check<T: Named>(expected: &str) {
    let reported = missing::<T, ()>(false).to_string();
    assert!(reported.contains(expected), "{reported}");
}

#[test]
fn each_kind_of_resource_has_its_way_to_exist() {
    check::<Cells>("`commands.insert_resource(Cells(gpu.create_..(..)?))`");
    check::<WindowImageOf<Map>>("call `app.add_window_image::<Map>()`");
    check::<Current<Positions>>("`commands.queue(NewHistory::<Positions>::buffer(..)?)`");
}

#[test]
fn without_its_image_a_window_is_left_out() {
    let reported = missing::<WindowImageOf<Map>, ()>(true);
    assert!(reported.skipped, "{reported}");
}
