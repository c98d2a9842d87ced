//! Invalid commands are errors that name pass and command. Nothing is submitted, and the next frame succeeds.

use quadrille_sync::access::Access;
use quadrille_sync::frame::Use;
use quadrille_vulkan::commands::{CommandList, Rendering};
use quadrille_vulkan::pipeline::ComputePipelineDesc;
use quadrille_vulkan::resources::{GpuBuffer, ImageDesc, ImageRegion};
use quadrille_vulkan::shader::GpuShader;
use quadrille_vulkan::{CommandError, Format, FrameError};

use crate::rig::{Rig, compute, discard, graphics};

/// The error of a frame with one pass on the main queue that uses a storage buffer of 64 bytes.
fn error_of(rig: &mut Rig, write: impl FnOnce(&mut CommandList, &GpuBuffer)) -> CommandError {
    let buffer = rig.storage("cells", 64);
    let result = rig.try_frame(&mut [], |frame| {
        let uses = [discard(
            frame.resource(buffer.clone()),
            Access::StorageWriteCompute,
        )];
        frame.pass("wrong", graphics(), &uses, |list| write(list, &buffer));
    });
    match result {
        Err(FrameError::Command { pass, error, .. }) => {
            assert_eq!(pass, "wrong");
            error
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs a Vulkan device"]
fn invalid_commands_are_reported_and_harmless() {
    let mut rig = Rig::new();
    let source = "
        var<immediate> value: vec2<u32>;
        @group(0) @binding(2) var<storage, read_write> cells: array<u32>;
        @compute @workgroup_size(1) fn main() { cells[0] = value.x; }
    ";
    let shader = GpuShader::wgsl("needs", source).unwrap();
    let desc = ComputePipelineDesc::of("needs", &shader).entry("main");
    let pipeline = rig.gpu.compute_pipeline(&desc).unwrap();
    let other = rig.storage("other", 64);
    let image = ImageDesc::color_target("image", [4, 4], Format::R8G8B8A8_UNORM);
    let image = rig.gpu.create_image(&image).unwrap();

    let first = rig.storage("first", 64);
    rig.frame(|frame| {
        let uses = [discard(frame.resource(first.clone()), Access::Clear)];
        frame.pass("first", compute(), &uses, |list| {
            list.fill_buffer(&first, 0, 64, 0)
        });
    });

    let error = error_of(&mut rig, |list, _| list.fill_buffer(&other, 0, 4, 0));
    assert!(matches!(error, CommandError::NotDeclared { .. }), "{error}");
    let error = error_of(&mut rig, |list, _| list.dispatch([1, 1, 1]));
    assert!(matches!(error, CommandError::NoPipeline { .. }), "{error}");
    let error = error_of(&mut rig, |list, _| {
        list.bind_compute(&pipeline);
        list.dispatch([1, 1, 1]);
    });
    assert!(
        matches!(error, CommandError::Unbound { binding: 2, .. }),
        "{error}"
    );
    let error = error_of(&mut rig, |list, buffer| {
        list.bind_compute(&pipeline);
        list.bind_buffer(2, buffer, 0, 0);
        list.dispatch([1, 1, 1]);
    });
    assert!(
        matches!(error, CommandError::PushConstants { wanted: 8, .. }),
        "{error}"
    );
    let error = error_of(&mut rig, |list, buffer| {
        list.bind_compute(&pipeline);
        list.push_constants(&[0; 8]);
        list.bind_buffer(2, buffer, 0, 2);
        list.dispatch([1, 1, 1]);
    });
    let expected = "the pipeline `needs` needs at least 4 bytes at @binding(2) `cells`, and `cells` is bound there with 2; \
                make it larger, as large as the shader's type";
    assert_eq!(error.to_string(), expected);
    let error = error_of(&mut rig, |list, buffer| list.bind_buffer(2, buffer, 60, 8));
    assert!(matches!(error, CommandError::Outside { .. }), "{error}");
    let error = error_of(&mut rig, |list, buffer| list.bind_buffer(200, buffer, 0, 0));
    assert!(matches!(error, CommandError::Limit { .. }), "{error}");
    let error = error_of(&mut rig, |list, buffer| list.fill_buffer(buffer, 2, 4, 0));
    assert!(matches!(error, CommandError::Alignment { .. }), "{error}");
    let error = error_of(&mut rig, |list, buffer| list.fill_buffer(buffer, 64, 4, 0));
    assert!(matches!(error, CommandError::Outside { .. }), "{error}");
    let error = error_of(&mut rig, |list, buffer| {
        list.copy_image_to_buffer(&image, ImageRegion::whole(&image), buffer, 0);
    });
    assert!(matches!(error, CommandError::NotDeclared { .. }), "{error}");
    let error = error_of(&mut rig, |list, _| list.draw(0..3, 0..1));
    assert!(
        matches!(error, CommandError::Rendering { inside: true }),
        "{error}"
    );
    let error = error_of(&mut rig, |list, _| list.end_rendering());
    assert!(
        matches!(error, CommandError::Rendering { inside: true }),
        "{error}"
    );
    let error = error_of(&mut rig, |list, _| {
        list.begin_rendering(&Rendering::default())
    });
    assert!(matches!(error, CommandError::Attachments { .. }), "{error}");
    let error = error_of(&mut rig, |list, _| list.end_label());
    assert!(matches!(error, CommandError::Label), "{error}");
    let error = error_of(&mut rig, |list, _| list.push_constants(&[0; 200]));
    assert!(matches!(error, CommandError::Limit { .. }), "{error}");
    let error = error_of(&mut rig, |list, buffer| list.dispatch_indirect(buffer, 0));
    assert!(matches!(error, CommandError::NoPipeline { .. }), "{error}");

    // A resource of an earlier frame is not declared in this one, even if it was bound then.
    let error = error_of(&mut rig, |list, _| list.bind_buffer(2, &first, 0, 0));
    assert!(
        matches!(&error, CommandError::NotDeclared { name } if name == "first"),
        "{error}"
    );

    // The device remains usable.
    let (buffer, back) = (rig.storage("cells", 64), rig.readback(64));
    rig.frame(|frame| {
        let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
        frame.pass("fill", compute(), &uses, |list| {
            list.fill_buffer(&buffer, 0, 0, 5)
        });
        frame.read_back(&buffer, &back);
    });
    assert_eq!(rig.words(&back), [5; 16]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn raw_commands_call_vulkan() {
    let mut rig = Rig::new();
    let (buffer, back) = (rig.storage("cells", 64), rig.readback(64));
    rig.frame(|frame| {
        let uses = [discard(frame.resource(buffer.clone()), Access::Clear)];
        frame.pass("fill", compute(), &uses, |list| {
            let raw = buffer.raw();
            let fill = Box::new(move |device: &ash::Device, commands| {
                // SAFETY: the pass declares that it clears the buffer.
                unsafe { device.cmd_fill_buffer(commands, raw, 0, 64, 9) };
            });
            // SAFETY: the closure does what the pass declares, and the buffer outlives the frame.
            unsafe { list.raw(fill) };
        });
        frame.read_back(&buffer, &back);
    });
    assert_eq!(rig.words(&back), [9; 16]);
}

#[test]
#[ignore = "needs a Vulkan device"]
fn handles_have_to_be_those_of_the_frame() {
    let mut rig = Rig::new();
    let (buffer, other) = (rig.storage("cells", 64), rig.storage("other", 64));
    let result = rig.try_frame(&mut [], |frame| {
        let uses = [Use {
            discard: true,
            ..Use::whole(frame.resource(buffer.clone()), Access::Clear)
        }];
        frame.pass("fill", compute(), &uses, |list| {
            list.fill_buffer(&buffer, 0, 0, 5)
        });
        frame.handles[0] = other.clone().into();
    });
    assert!(
        matches!(result, Err(FrameError::Mismatch { .. })),
        "{result:?}"
    );
}
