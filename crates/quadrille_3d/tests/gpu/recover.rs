//! 3D pictures after the device was lost: what fails here is a pass, and the handler wants another
//! device for it, which is the way back from a device that is really lost.

use bevy_ecs::prelude::*;
use quadrille::ecs::{RenderError, RenderErrorHandler, RenderErrorPolicy};
use quadrille::prelude::{Recorder, Render};

use crate::common::Rig;
use crate::spheres;

/// The next frame takes the device with it.
#[derive(Resource, Default)]
struct Lose(bool);

fn fail(_: Recorder, mut lose: ResMut<Lose>) -> Result {
    if std::mem::take(&mut lose.0) {
        Err("as it was told".into())
    } else {
        Ok(())
    }
}

#[test]
#[ignore = "needs a device"]
fn a_scene_looks_as_before() {
    let mut rig = Rig::new(120, 68);
    rig.app
        .insert_resource(RenderErrorHandler(|error, _| match error {
            RenderError::System { .. } => RenderErrorPolicy::Recover,
            error => panic!("{error}"),
        }))
        .init_resource::<Lose>()
        .add_systems(bevy_app::Startup, spheres)
        .add_systems(Render, fail);
    rig.start();
    let before = rig.picture();
    let device = |rig: &Rig| rig.app.world().resource::<quadrille_3d::Vertices3d>().id();
    let old = device(&rig);
    rig.app.world_mut().resource_mut::<Lose>().0 = true;
    rig.update(1);
    let after = rig.picture();
    assert_ne!(device(&rig), old, "all is made anew");
    assert!(after == before, "the picture is another one");
}
