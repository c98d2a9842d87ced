//! Passes, uploads and frames.

use bevy_app::Update;
use bevy_ecs::prelude::*;
use quadrille_ecs::encase::ShaderType;
use quadrille_ecs::*;
use quadrille_vulkan::commands::ResolveMode;

use super::DiagnosticCatalog;
use super::resources::{Counts, Draws, Far, Gone, Map, Scene, Small, Tools};
use crate::common::{Add, Numbers, Squares, add as adds, square};

type Ints<'a> = StorageReadWrite<'a, Numbers>;

/// A function that records what is wrong with the pipeline `add`, which has one binding and one word
/// of push constants.
macro_rules! add_wrongly {
    ($diagnostics:ident, $program:literal, |$compute:ident, $numbers:ident| $body:expr) => {{
        fn pass(mut recorder: Recorder, $numbers: Ints, add: Res<Add>) {
            let mut $compute = recorder.compute(&add.add);
            $body;
        }
        $diagnostics.passes($program, pass);
    }};
}

/// The same of a rendering to the target `scene`.
macro_rules! draw_wrongly {
    ($diagnostics:ident, $program:literal, |$rendering:ident, $tools:ident| $body:expr) => {{
        fn pass(mut recorder: Recorder, scene: ColorTarget<Scene>, $tools: Res<Tools>) {
            let mut $rendering = recorder.render(scene.clear([0.0; 4]));
            $body;
        }
        $diagnostics.passes($program, pass);
    }};
}

pub(super) fn add(diagnostics: &mut DiagnosticCatalog) {
    bindings(diagnostics);
    constants(diagnostics);
    images(diagnostics);
    dispatches(diagnostics);
    renderings(diagnostics);
    targets(diagnostics);
    layers(diagnostics);
    copies(diagnostics);
    uploads(diagnostics);
    orders(diagnostics);
    hosts(diagnostics);
}

fn bindings(diagnostics: &mut DiagnosticCatalog) {
    add_wrongly!(diagnostics, "another binding", |compute, numbers| compute
        .bind(0, &numbers)
        .bind(5, &numbers)
        .push(&1_u32)
        .dispatch([4, 1, 1]));
    add_wrongly!(diagnostics, "a binding is missing", |compute, numbers| {
        let _ = &numbers;
        compute.push(&1_u32).dispatch([4, 1, 1])
    });
    add_wrongly!(diagnostics, "a misspelt name", |compute, numbers| compute
        .bind("nubmers", &numbers)
        .push(&1_u32)
        .dispatch([4, 1, 1]));
    add_wrongly!(
        diagnostics,
        "a name that is nowhere near",
        |compute, numbers| {
            compute
                .bind("heights", &numbers)
                .push(&1_u32)
                .dispatch([4, 1, 1])
        }
    );
    fn weak(mut recorder: Recorder, numbers: StorageRead<Numbers>, add: Res<Add>) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("a read of what the shader writes", weak);
    fn stages(
        mut recorder: Recorder,
        numbers: StorageReadWrite<Numbers, stage::Fragment>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("another stage than declared", stages);
    fn short(
        mut recorder: Recorder,
        map: Sampled<Map>,
        to: StorageWrite<Small>,
        tools: Res<Tools>,
    ) {
        let mut compute = recorder.compute(&tools.sample);
        compute.bind(0, &map).bind(2, &to).dispatch([1, 1, 1]);
    }
    diagnostics.passes("a sampler is missing", short);
    fn mixed(mut recorder: Recorder, to: StorageWrite<Small>, tools: Res<Tools>) {
        let mut compute = recorder.compute(&tools.sample);
        compute.bind(0, &to).sampler(1, &tools.sampler);
        compute.bind(2, &to).dispatch([1, 1, 1]);
    }
    diagnostics.passes("a buffer as a texture", mixed);
    fn sampler(mut recorder: Recorder, numbers: Ints, add: Res<Add>, tools: Res<Tools>) {
        let mut compute = recorder.compute(&add.add);
        compute.sampler(0, &tools.sampler).bind(0, &numbers);
        compute.push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("a sampler as a buffer", sampler);
}

fn constants(diagnostics: &mut DiagnosticCatalog) {
    add_wrongly!(diagnostics, "no push", |compute, numbers| compute
        .bind(0, &numbers)
        .dispatch([4, 1, 1]));
    add_wrongly!(diagnostics, "a push too large", |compute, numbers| compute
        .bind(0, &numbers)
        .push(&[1_u32, 2])
        .dispatch([4, 1, 1]));
    add_wrongly!(diagnostics, "a push too small", |compute, numbers| compute
        .bind(0, &numbers)
        .push_bytes(&[])
        .dispatch([4, 1, 1]));
    add_wrongly!(diagnostics, "a push of no words", |compute, numbers| {
        compute
            .bind(0, &numbers)
            .push_bytes(&[1])
            .dispatch([4, 1, 1])
    });
    add_wrongly!(diagnostics, "a push above the limit", |compute, numbers| {
        compute
            .bind(0, &numbers)
            .push(&[1_u32; 40])
            .dispatch([4, 1, 1])
    });
    #[derive(ShaderType)]
    struct Ray {
        start: [f32; 3],
        end: [f32; 3],
        rest: [f32; 2],
    }
    fn packed(mut recorder: Recorder, to: StorageWrite<Small>, tools: Res<Tools>) {
        let ray = Ray {
            start: [0.0; 3],
            end: [1.0; 3],
            rest: [0.0; 2],
        };
        let mut compute = recorder.compute(&tools.measure);
        compute.bind(0, &to).push(&ray).dispatch([1, 1, 1]);
    }
    diagnostics.passes("a push of another layout", packed);
}

fn images(diagnostics: &mut DiagnosticCatalog) {
    fn whole(
        mut recorder: Recorder,
        map: Sampled<Counts>,
        to: StorageWrite<Squares>,
        tools: Res<Tools>,
    ) {
        let mut compute = recorder.compute(&tools.sample);
        compute.bind(0, &map).sampler(1, &tools.sampler);
        compute.bind(2, &to).dispatch([1, 1, 1]);
    }
    diagnostics.passes("whole numbers as a texture of floats", whole);
    fn level(
        mut recorder: Recorder,
        map: Sampled<Map>,
        to: StorageWrite<Squares>,
        tools: Res<Tools>,
    ) {
        let mut compute = recorder.compute(&tools.sample);
        compute.bind(0, &map.mip(3)).sampler(1, &tools.sampler);
        compute.bind(2, &to).dispatch([1, 1, 1]);
    }
    diagnostics.passes("a mip level that is not there", level);
    fn unwritten(
        mut recorder: Recorder,
        map: Sampled<Scene>,
        to: StorageWrite<Squares>,
        tools: Res<Tools>,
    ) {
        let mut compute = recorder.compute(&tools.sample);
        compute.bind(0, &map).sampler(1, &tools.sampler);
        compute.bind(2, &to).dispatch([1, 1, 1]);
    }
    diagnostics.passes("an image that nobody has written", unwritten);
}

fn dispatches(diagnostics: &mut DiagnosticCatalog) {
    add_wrongly!(
        diagnostics,
        "a dispatch beyond the limits",
        |compute, numbers| {
            compute
                .bind(0, &numbers)
                .push(&1_u32)
                .dispatch([1, u32::MAX, 1])
        }
    );
    fn indirect(mut recorder: Recorder, numbers: Ints, to: StorageRead<Squares>, add: Res<Add>) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32);
        compute.dispatch_indirect(&to, 0);
    }
    diagnostics.passes("arguments declared as storage", indirect);
    fn place(
        mut recorder: Recorder,
        squares: StorageWrite<Squares>,
        at: IndirectRead<Numbers>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.add);
        compute
            .bind(0, &squares)
            .push(&1_u32)
            .dispatch_indirect(&at, 2);
    }
    diagnostics.passes("arguments at a wrong offset", place);
    fn outside(
        mut recorder: Recorder,
        from: IndirectRead<Numbers>,
        numbers: StorageRead<Numbers>,
        to: StorageWrite<Squares>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.square);
        compute.bind(0, &numbers).bind(1, &to);
        compute.dispatch_indirect(&from, 1020);
    }
    diagnostics.passes("arguments beyond their buffer", outside);
}

fn renderings(diagnostics: &mut DiagnosticCatalog) {
    draw_wrongly!(
        diagnostics,
        "a draw without a pipeline",
        |rendering, tools| {
            let _ = &tools;
            rendering.draw(0..3, 0..1)
        }
    );
    draw_wrongly!(
        diagnostics,
        "a depth test without depth",
        |rendering, tools| { rendering.pipeline(&tools.solid).draw(0..3, 0..1) }
    );
    draw_wrongly!(
        diagnostics,
        "a draw without vertices",
        |rendering, tools| { rendering.pipeline(&tools.mesh).draw(0..3, 0..1) }
    );
    draw_wrongly!(
        diagnostics,
        "a viewport without area",
        |rendering, tools| {
            rendering
                .pipeline(&tools.draw)
                .viewport([0.0, 0.0, 0.0, 0.0])
                .draw(0..3, 0..1)
        }
    );
    draw_wrongly!(
        diagnostics,
        "a reference without stencil",
        |rendering, tools| {
            rendering
                .pipeline(&tools.draw)
                .stencil_reference(3)
                .draw(0..3, 0..1)
        }
    );
    fn vertices(
        mut recorder: Recorder,
        scene: ColorTarget<Scene>,
        at: StorageRead<Numbers>,
        tools: Res<Tools>,
    ) {
        let mut rendering = recorder.render(scene.clear([0.0; 4]));
        rendering.pipeline(&tools.mesh).vertices(0, &at, 0);
        rendering.draw(0..3, 0..1);
    }
    diagnostics.passes("vertices declared as storage", vertices);
    fn counted(
        mut recorder: Recorder,
        scene: ColorTarget<Scene>,
        from: IndirectRead<Numbers>,
        tools: Res<Tools>,
    ) {
        let mut rendering = recorder.render(scene.clear([0.0; 4]));
        rendering.pipeline(&tools.draw);
        rendering.draw_indirect_count((&from, 0), (&from, 0), 100);
    }
    diagnostics.passes("counted draws from a storage buffer", counted);
    fn storage(
        mut recorder: Recorder,
        scene: ColorTarget<Scene>,
        (from, counts): (IndirectRead<Numbers>, StorageRead<Squares>),
        tools: Res<Tools>,
    ) {
        let mut rendering = recorder.render(scene.clear([0.0; 4]));
        rendering.pipeline(&tools.draw);
        rendering.draw_indirect_count((&from, 0), (&counts, 0), 10);
    }
    diagnostics.passes("a number of draws declared as storage", storage);
    counts(diagnostics);
    fn usage(
        mut recorder: Recorder,
        scene: ColorTarget<Scene>,
        at: VertexRead<Numbers>,
        tools: Res<Tools>,
    ) {
        let mut rendering = recorder.render(scene.clear([0.0; 4]));
        rendering.pipeline(&tools.mesh).vertices(0, &at, 0);
        rendering.draw(0..3, 0..1);
    }
    diagnostics.passes("vertices in a storage buffer", usage);
}

/// Draws of which the device reads the number where it cannot.
fn counts(diagnostics: &mut DiagnosticCatalog) {
    /// A pass that reads arguments and their number at these offsets.
    fn pass(
        at: [u64; 2],
        most: u32,
    ) -> impl FnMut(Recorder, ColorTarget<Scene>, IndirectRead<Draws>, Res<Tools>) {
        move |mut recorder, scene, draws, tools| {
            let mut rendering = recorder.render(scene.clear([0.0; 4]));
            rendering.pipeline(&tools.draw);
            rendering.draw_indirect_count((&draws, at[0]), (&draws, at[1]), most);
        }
    }
    diagnostics.passes("a number of draws beyond its buffer", pass([0, 64], 2));
    diagnostics.passes("a number of draws at a wrong offset", pass([0, 62], 2));
    diagnostics.passes("counted draws beyond their buffer", pass([16, 0], 4));
    diagnostics.passes("counted draws at a wrong offset", pass([6, 0], 2));
}

/// Views and what resolves.
fn layers(diagnostics: &mut DiagnosticCatalog) {
    fn few(mut recorder: Recorder, scene: ColorTarget<Scene>, tools: Res<Tools>) {
        let mut rendering = recorder.render(scene.clear([0.0; 4]).view_mask(0b11));
        rendering.pipeline(&tools.draw).draw(0..3, 0..1);
    }
    diagnostics.passes("two views of one layer", few);
    fn average(mut recorder: Recorder, scene: ColorTarget<Scene>, far: DepthTarget<Far>) {
        recorder.render(far.clear_depth(1.0).resolve_to(&scene));
    }
    diagnostics.passes("depth that resolves as colors do", average);
    fn depth(mut recorder: Recorder, scene: ColorTarget<Scene>, far: DepthTarget<Far>) {
        recorder.render(scene.keep().resolve_depth_to(&far, ResolveMode::Min));
    }
    diagnostics.passes("colors that resolve as depth does", depth);
    fn itself(mut recorder: Recorder, far: DepthTarget<Far>) {
        let attachment = far.clear_depth(1.0);
        recorder.render(attachment.resolve_depth_to(&far, ResolveMode::SampleZero));
    }
    diagnostics.passes("depth that resolves to itself", itself);
    fn single(mut recorder: Recorder, scene: ColorTarget<Scene>, counts: ColorTarget<Counts>) {
        recorder.render(scene.clear([0.0; 4]).resolve_to(&counts));
    }
    diagnostics.passes("one sample that resolves", single);
}

fn targets(diagnostics: &mut DiagnosticCatalog) {
    fn sizes(
        mut recorder: Recorder,
        scene: ColorTarget<Scene>,
        far: DepthTarget<Far>,
        tools: Res<Tools>,
    ) {
        let mut rendering = recorder.render((scene.clear([0.0; 4]), far.clear_depth(1.0)));
        rendering.pipeline(&tools.solid).draw(0..3, 0..1);
    }
    diagnostics.passes("attachments of two sizes", sizes);
    fn none(mut recorder: Recorder, tools: Res<Tools>) {
        let none: [Attachment; 0] = [];
        let mut rendering = recorder.render(none);
        rendering.pipeline(&tools.draw).draw(0..3, 0..1);
    }
    diagnostics.passes("no attachments", none);
    fn whole(mut recorder: Recorder, counts: ColorTarget<Counts>, tools: Res<Tools>) {
        let mut rendering = recorder.render(counts.clear([0.0; 4]));
        rendering.pipeline(&tools.draw).draw(0..3, 0..1);
    }
    diagnostics.passes("a target of whole numbers for floats", whole);
    fn texture(mut recorder: Recorder, map: ColorTarget<Map>, tools: Res<Tools>) {
        let mut rendering = recorder.render(map.clear([0.0; 4]));
        rendering.pipeline(&tools.draw).draw(0..3, 0..1);
    }
    diagnostics.passes("a texture as a target", texture);
}

fn copies(diagnostics: &mut DiagnosticCatalog) {
    fn sizes(mut recorder: Recorder, map: TransferRead<Map>, scene: TransferWrite<Scene>) {
        recorder.transfer().copy_image(&map, &scene);
    }
    diagnostics.passes("a copy between images of two sizes", sizes);
    fn beyond(mut recorder: Recorder, from: TransferRead<Numbers>, to: TransferWrite<Squares>) {
        recorder.transfer().copy_buffer(&from, 1000, &to, 0, 100);
    }
    diagnostics.passes("a copy beyond a buffer", beyond);
    fn storage(mut recorder: Recorder, from: StorageRead<Numbers>, to: TransferWrite<Squares>) {
        recorder.transfer().copy_buffer(&from, 0, &to, 0, 64);
    }
    diagnostics.passes("a copy of what is declared as storage", storage);
    fn odd(mut recorder: Recorder, to: TransferWrite<Squares>) {
        recorder.transfer().fill_buffer(&to, 0, 3, 7);
    }
    diagnostics.passes("a fill of three bytes", odd);
}

fn uploads(diagnostics: &mut DiagnosticCatalog) {
    fn beyond(mut uploads: ResMut<Uploads>, numbers: Res<Numbers>) {
        uploads.write(&numbers.0, 1020, &glam::Vec3::ONE);
    }
    diagnostics.app("an upload beyond a buffer", |rig| {
        rig.app.add_systems(Update, beyond);
    });
    fn texels(mut uploads: ResMut<Uploads>, map: Option<Res<Map>>) {
        if let Some(map) = map {
            uploads.write_image(&map.0, &[0; 100]);
        }
    }
    diagnostics.app("an upload of too few texels", |rig| {
        rig.app.add_systems(Update, texels);
    });
    fn usage(mut uploads: ResMut<Uploads>, small: Option<Res<Small>>) {
        if let Some(small) = small {
            uploads.write_buffer(&small.0, 0, &[0; 4]);
        }
    }
    diagnostics.app("an upload without usage", |rig| {
        rig.app.add_systems(Update, usage);
    });
}

fn orders(diagnostics: &mut DiagnosticCatalog) {
    fn one(
        mut recorder: Recorder,
        to: StorageWrite<Squares>,
        from: StorageRead<Numbers>,
        add: Res<Add>,
    ) {
        let mut compute = recorder.compute(&add.square);
        compute.bind(0, &from).bind(1, &to).dispatch([4, 1, 1]);
    }
    diagnostics.passes("two writers without order", (one, square));
    diagnostics.passes("one system twice", (adds, adds));
    diagnostics.app("a pass outside of the schedule", |rig| {
        rig.app.add_systems(Update, square);
    });
    fn gone(mut recorder: Recorder, numbers: Ints, gone: StorageRead<Gone>, add: Res<Add>) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).bind(1, &gone);
        compute.push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("a resource that does not exist", gone);
    fn fresh(mut recorder: Recorder, squares: StorageReadWrite<Squares>, add: Res<Add>) {
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &squares).push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("a read before the write", fresh);
    fn part(mut recorder: Recorder, numbers: StorageRead<Numbers>) {
        recorder.pass("part", &[numbers.any().writes()]);
    }
    diagnostics.passes("a part that does more than its system", part);
    fn mixed(mut recorder: Recorder, numbers: Ints, add: Res<Add>) {
        recorder.pass("part", &[numbers.any().reads_and_writes()]);
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("commands beside parts", mixed);
}

fn hosts(diagnostics: &mut DiagnosticCatalog) {
    fn both(mut recorder: Recorder, numbers: Ints, add: Res<Add>) {
        recorder.host(|_| Ok(()));
        let mut compute = recorder.compute(&add.add);
        compute.bind(0, &numbers).push(&1_u32).dispatch([4, 1, 1]);
    }
    diagnostics.passes("host and device in one pass", both);
    fn twice(mut recorder: Recorder) {
        recorder.host(|_| Ok(()));
        recorder.host(|_| Ok(()));
    }
    diagnostics.passes("two calls on the host", twice);
    fn unreachable(mut recorder: Recorder, numbers: HostRead<Numbers>) {
        let memory = numbers.memory();
        recorder.host(move |host| memory.read::<u32>(host).map(drop).map_err(Into::into));
    }
    diagnostics.passes("memory that the host cannot reach", unreachable);
    fn fails(_: Recorder) -> Result {
        Err("no luck".into())
    }
    diagnostics.passes("a system that fails", fails);
}
