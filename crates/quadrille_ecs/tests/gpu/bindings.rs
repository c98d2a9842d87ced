//! Parameters that are declared and bound as one.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille_ecs::bindings::PassBindings;
use quadrille_ecs::*;

use crate::common::{Add, Errors, Numbers, Rig, Squares, read};

#[derive(SystemParam, PassBindings)]
struct Both<'w> {
    #[bind]
    numbers: StorageRead<'w, Numbers>,
    #[bind(1)]
    to: StorageWrite<'w, Squares>,
    pass: Res<'w, Add>,
}

#[test]
#[ignore = "needs a device"]
fn fields_are_bound_by_their_names_and_numbers() {
    fn square(mut recorder: Recorder, both: Both, mut uses: Local<Vec<PassUse>>) {
        uses.clear();
        both.add_uses(&mut uses);
        let mut pass = recorder.pass("square", &uses);
        let mut compute = pass.compute(&both.pass.square);
        compute.bind_all(&both).dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, square);
    rig.update(2);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    assert_eq!(squares[9], 81);
}

#[test]
#[ignore = "needs a device"]
fn invocations_are_divided_into_workgroups() {
    fn add(mut recorder: Recorder, numbers: StorageReadWrite<Numbers>, pass: Res<Add>) {
        recorder
            .compute(&pass.add)
            .bind("numbers", &numbers)
            .push(&1000_u32)
            .dispatch_invocations([129, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, add);
    rig.update(1);
    let numbers = read(&mut rig, |world| world.resource::<Numbers>().0.clone());
    rig.expect_no_errors();
    // Three workgroups of 64.
    assert!(numbers[191] >= 1191, "{}", numbers[191]);
    assert_eq!(numbers[192], 192);
}

#[test]
#[ignore = "needs a device"]
fn struct_of_a_pass_binds_accesses_by_reference() {
    #[derive(PassBindings)]
    struct Squaring<'a> {
        #[bind]
        numbers: AnyAccess<'a>,
        #[bind]
        squares: &'a StorageWrite<'a, Squares>,
    }
    fn square(
        mut recorder: Recorder,
        numbers: StorageRead<Numbers>,
        squares: StorageWrite<Squares>,
        pass: Res<Add>,
    ) {
        let squaring = Squaring {
            numbers: numbers.any(),
            squares: &squares,
        };
        recorder
            .compute(&pass.square)
            .bind_all(&squaring)
            .dispatch([4, 1, 1]);
    }
    let mut rig = Rig::new();
    rig.app.add_systems(Render, square);
    rig.update(2);
    rig.expect_no_errors();
    let squares = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    assert_eq!(squares[9], 81);
}

/// The errors of the first frame of an app with a pass.
fn errors<M>(pass: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) -> Vec<String> {
    let mut rig = Rig::new();
    rig.app.add_systems(Render, pass);
    rig.update(1);
    std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0)
}

#[test]
#[ignore = "needs a device"]
fn name_that_the_shader_lacks_is_reported_with_the_nearest() {
    #[derive(SystemParam, PassBindings)]
    struct Misspelt<'w> {
        #[bind("nombers")]
        from: StorageRead<'w, Numbers>,
        #[bind("squares")]
        to: StorageWrite<'w, Squares>,
    }
    fn square(mut recorder: Recorder, misspelt: Misspelt, pass: Res<Add>) {
        recorder
            .compute(&pass.square)
            .bind_all(&misspelt)
            .dispatch([4, 1, 1]);
    }
    let errors = errors(square);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("`nombers`"), "{errors:#?}");
    assert!(errors[0].contains("did you mean `numbers`?"), "{errors:#?}");
}

#[test]
#[ignore = "needs a device"]
fn access_of_another_kind_is_reported() {
    #[derive(SystemParam, PassBindings)]
    struct Reads<'w> {
        #[bind]
        numbers: StorageRead<'w, Numbers>,
        #[bind]
        squares: StorageRead<'w, Squares>,
    }
    fn square(mut recorder: Recorder, reads: Reads, pass: Res<Add>) {
        recorder
            .compute(&pass.square)
            .bind_all(&reads)
            .dispatch([4, 1, 1]);
    }
    let errors = errors(square);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("`squares`"), "{errors:#?}");
}
