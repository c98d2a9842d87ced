//! Queries and conditional rendering.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::*;
use quadrille_vulkan::resources::{
    BufferDesc, BufferUsage, GpuBuffer, QuerySet, QuerySetDesc, Statistics,
};

use super::DiagnosticCatalog;
use super::resources::{Scene, Tools};
use crate::common::{Numbers, Rig};

#[derive(Resource, Deref)]
struct Seen(QuerySet);

/// The fewest of what may decide.
#[derive(Resource, Deref)]
struct Flags(GpuBuffer);

pub(super) fn described(diagnostics: &mut DiagnosticCatalog, gpu: &GpuDevice) {
    let set = |desc: &QuerySetDesc| gpu.query_set(desc).map(drop);
    diagnostics.made("no queries", set(&QuerySetDesc::occlusion("seen", 0)));
    let nothing = QuerySetDesc::statistics("work", 4, Statistics::empty());
    diagnostics.made("statistics of nothing", set(&nothing));
}

fn prepare(rig: &mut Rig) {
    rig.app.add_systems(
        RenderStartup,
        |mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>| -> Result {
            let seen = gpu.query_set(&QuerySetDesc::occlusion("seen", 4))?;
            let usage = BufferUsage::CONDITION | BufferUsage::TRANSFER_DST;
            let flags = gpu.create_buffer(&BufferDesc::new("flags", 8, usage))?;
            uploads.write_buffer(&flags, 0, &[0; 8]);
            commands.insert_resource(Seen(seen));
            commands.insert_resource(Flags(flags));
            Ok(())
        },
    );
}

macro_rules! wrongly {
    ($diagnostics:ident, $program:literal, $value:ident: $kind:ty, |$rendering:ident| $body:expr) => {{
        fn pass(
            mut recorder: Recorder,
            scene: ColorTarget<Scene>,
            $value: $kind,
            tools: Res<Tools>,
        ) {
            let mut $rendering = recorder.render(scene.clear([0.0; 4]));
            $rendering.pipeline(&tools.draw);
            $body;
        }
        $diagnostics.app($program, |rig| {
            prepare(rig);
            rig.app.add_systems(Render, pass);
        });
    }};
}

fn draw(rendering: &mut Rendering<'_>) {
    rendering.draw(0..3, 0..1);
}

pub(super) fn recorded(diagnostics: &mut DiagnosticCatalog) {
    wrongly!(diagnostics, "a query beyond its set", seen: QueryWrite<Seen>, |rendering| {
        rendering.query(&seen, 4, draw)
    });
    wrongly!(diagnostics, "a query that is used twice", seen: QueryWrite<Seen>, |rendering| {
        rendering.query(&seen, 1, draw).query(&seen, 1, draw)
    });
    wrongly!(diagnostics, "a query in another", seen: QueryWrite<Seen>, |rendering| {
        rendering.query(&seen, 0, |rendering| {
            rendering.query(&seen, 1, draw);
        })
    });
    wrongly!(diagnostics, "a condition beyond its buffer", flags: ConditionRead<Flags>, |rendering| {
        rendering.when(&flags, 8, draw)
    });
    wrongly!(diagnostics, "a condition at a wrong offset", flags: ConditionRead<Flags>, |rendering| {
        rendering.when(&flags, 2, draw)
    });
    wrongly!(diagnostics, "a condition in another", flags: ConditionRead<Flags>, |rendering| {
        rendering.when(&flags, 0, |rendering| {
            rendering.unless(&flags, 4, draw);
        })
    });
    wrongly!(diagnostics, "a condition from a storage buffer", numbers: ConditionRead<Numbers>, |rendering| {
        rendering.when(&numbers, 0, draw)
    });
    wrongly!(diagnostics, "a condition declared as storage", numbers: StorageRead<Numbers>, |rendering| {
        rendering.when(&numbers, 0, draw)
    });
}
