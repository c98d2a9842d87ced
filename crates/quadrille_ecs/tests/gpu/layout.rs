//! Values that are pushed or uploaded have the layout that shaders expect.

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use quadrille_ecs::encase::ShaderType;
use quadrille_ecs::glam::{UVec3, Vec3};
use quadrille_ecs::*;
use quadrille_vulkan::pipeline::{ComputePipeline, ComputePipelineDesc};
use quadrille_vulkan::resources::{BufferDesc, GpuBuffer};
use quadrille_vulkan::shader::GpuShader;

use crate::common::{Errors, Rig, Squares, read};

/// Copies what it is given, number by number.
const COPY: &str = "
    struct Params { a: vec3f, b: vec3f, c: f32 }
    var<immediate> pushed: Params;
    @group(0) @binding(0) var<uniform> bound: Params;
    @group(0) @binding(1) var<storage, read_write> to: array<f32>;
    @compute @workgroup_size(1) fn copy() {
        for (var i = 0u; i < 3u; i++) {
            to[i] = pushed.a[i];
            to[i + 3u] = pushed.b[i];
            to[i + 7u] = bound.a[i];
            to[i + 10u] = bound.b[i];
        }
        to[6] = pushed.c;
        to[13] = bound.c;
    }";

#[derive(ShaderType)]
struct Params {
    a: Vec3,
    b: Vec3,
    c: f32,
}

impl Params {
    fn counting_from(first: f32) -> Self {
        let three = |first| Vec3::new(first, first + 1.0, first + 2.0);
        Self {
            a: three(first),
            b: three(first + 3.0),
            c: first + 6.0,
        }
    }
}

#[derive(Resource, Deref)]
struct Bound(GpuBuffer);

#[derive(Resource)]
struct Copy(ComputePipeline);

fn setup(mut commands: Commands, gpu: Res<GpuDevice>, mut uploads: ResMut<Uploads>) -> Result {
    let bound = gpu.create_buffer(&BufferDesc::uniform("bound", Params::min_size().get()))?;
    uploads.write(&bound, 0, &Params::counting_from(8.0));
    commands.insert_resource(Bound(bound));
    let shader = GpuShader::wgsl("copy.wgsl", COPY)?;
    let desc = ComputePipelineDesc::of("copy", &shader);
    commands.insert_resource(Copy(gpu.compute_pipeline(&desc)?));
    Ok(())
}

fn copy(mut recorder: Recorder, from: Uniform<Bound>, to: StorageWrite<Squares>, copy: Res<Copy>) {
    let mut compute = recorder.compute(&copy.0);
    compute.bind(0, &from).bind(1, &to);
    compute
        .push(&Params::counting_from(1.0))
        .dispatch(UVec3::ONE);
}

#[test]
#[ignore = "needs a device"]
fn values_lie_where_the_shader_looks() {
    let mut rig = Rig::new();
    rig.app
        .add_systems(RenderStartup, setup)
        .add_systems(Render, copy);
    rig.update(1);
    rig.expect_no_errors();
    let numbers = read(&mut rig, |world| world.resource::<Squares>().0.clone());
    let numbers: Vec<f32> = numbers[..14].iter().map(|&it| f32::from_bits(it)).collect();
    let expected: Vec<f32> = (1..=14_u8).map(f32::from).collect();
    assert_eq!(numbers, expected);
}

/// A push with another number of bytes than the shader has is reported with both.
#[test]
#[ignore = "needs a device"]
fn push_of_another_size_is_reported() {
    #[derive(Resource)]
    struct Bytes(usize);
    fn copy(
        mut recorder: Recorder,
        from: Uniform<Bound>,
        to: StorageWrite<Squares>,
        copy: Res<Copy>,
        bytes: Res<Bytes>,
    ) {
        let mut compute = recorder.compute(&copy.0);
        compute.bind(0, &from).bind(1, &to);
        compute.push_bytes(&[0; 128][..bytes.0]).dispatch([1, 1, 1]);
    }
    let wanted = 32;
    for given in [28, 32, 36] {
        let mut rig = Rig::new();
        rig.app
            .insert_resource(Bytes(given))
            .add_systems(RenderStartup, setup)
            .add_systems(Render, copy);
        rig.update(1);
        if given == wanted {
            rig.expect_no_errors();
            continue;
        }
        let errors = &rig.app.world().resource::<Errors>().0;
        assert_eq!(errors.len(), 1, "{errors:#?}");
        let reported = format!("`copy` has 32 bytes of push constants, and {given} are pushed");
        assert!(errors[0].contains(&reported), "{errors:#?}");
    }
}

/// An uploaded struct is compared with the shader's, where the shader's pipeline binds it: by all
/// frames, also those that record what frames before recorded. Bytes are taken as they are.
#[test]
#[ignore = "needs a device"]
fn upload_of_another_layout_is_reported() {
    /// As large as `Params`.
    #[derive(ShaderType)]
    struct Packed {
        a: [f32; 3],
        b: [f32; 3],
        rest: [f32; 2],
    }
    let mut rig = Rig::new();
    rig.app
        .add_systems(RenderStartup, setup)
        .add_systems(Render, copy);
    rig.update(3);
    rig.expect_no_errors();
    let upload = |rig: &mut Rig, write: fn(&mut Uploads, &GpuBuffer)| {
        let world = rig.app.world_mut();
        let bound = world.resource::<Bound>().0.clone();
        write(&mut world.resource_mut::<Uploads>(), &bound);
        rig.update(1);
        std::mem::take(&mut rig.app.world_mut().resource_mut::<Errors>().0)
    };
    let errors = upload(&mut rig, |uploads, bound| {
        let (a, b, rest) = ([1.0; 3], [2.0; 3], [0.0; 2]);
        uploads.write(bound, 0, &Packed { a, b, rest });
    });
    let reported = "`Packed` was written to `bound`, with members from the bytes 0, 12, 24 on; the pipeline `copy` \
                reads it at @binding(0) `bound`, whose members begin elsewhere: `a` at 0, `b` at 16, `c` at 28; \
                give the struct the members of the shader's, in the same order, with `Vec3` of glam for \
                `vec3f` (a `[f32; 3]` is three numbers); bytes, which `write_buffer` writes, are taken as they are";
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains(reported), "{errors:#?}");
    let errors = upload(&mut rig, |uploads, bound| {
        uploads.write_buffer(bound, 0, &[0; 32]);
    });
    assert!(errors.is_empty(), "{errors:#?}");
    let errors = upload(&mut rig, |uploads, bound| {
        uploads.write(bound, 0, &vec![[1.0_f32; 3]; 2]);
    });
    assert!(errors.is_empty(), "an array for no array: {errors:#?}");
    let errors = upload(&mut rig, |uploads, bound| {
        uploads.write(bound, 0, &Params::counting_from(8.0));
    });
    assert!(errors.is_empty(), "{errors:#?}");
}
