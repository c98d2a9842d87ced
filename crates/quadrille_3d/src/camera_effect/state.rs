//! Per-view state of an effect: images and uniforms.

use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::sync::atomic::Ordering;

use bevy_camera::Hdr;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use quadrille::ecs::ShaderValue;
use quadrille::ecs::encase::{ShaderType as _, StorageBuffer};
use quadrille::prelude::{GpuBuffer, GpuDevice, GpuImage, Uniform, Uploads};
use quadrille_content::buffers::grow_buffer;
use quadrille_content::warnings::{RateLimitedWarnings, entity_name};

use crate::camera_effect::images::{EffectImage, EffectImages, Slot, update_slots};
use crate::camera_effect::{CameraEffect, EffectFrame};
use crate::components::camera_cut::CameraCut;
use crate::scene::effect_cameras::EffectCameras;
use crate::scene::frame::{Scene3d, View3d};
use crate::schedule::Pass3dSystems;
use crate::tables::table::{UNIFORM_BYTES, uniform_buffer};

/// Uniforms of all views of an effect.
#[derive(Resource)]
pub struct EffectUniforms<E: Send + Sync + 'static> {
    buffer: GpuBuffer,
    effect: PhantomData<fn() -> E>,
}

impl<E: Send + Sync + 'static> Deref for EffectUniforms<E> {
    type Target = GpuBuffer;

    fn deref(&self) -> &GpuBuffer {
        &self.buffer
    }
}

/// State of a view, kept while its camera has the component.
struct Entry {
    camera: Entity,
    /// Index in [`Scene3d::views`].
    view: usize,
    /// Whether the camera has the effect in this frame.
    is_listed: bool,
    slots: Vec<Slot>,
    /// Size of the color of the view when its images were created.
    size: [u32; 2],
    /// Count of submitted frames when this entry was last prepared.
    prepared_at: u64,
    cut: u32,
    /// Bytes of the uniform, and its row in the buffer.
    uniform: Vec<u8>,
    uploaded_row: Option<usize>,
}

impl Entry {
    fn new(camera: Entity) -> Self {
        Self {
            camera,
            view: 0,
            is_listed: false,
            slots: Vec::new(),
            size: [0; 2],
            prepared_at: 0,
            cut: 0,
            uniform: Vec::new(),
            uploaded_row: None,
        }
    }
}

/// Views of an effect, in the order of [`Scene3d::views`].
#[derive(Resource)]
pub(crate) struct EffectList<E: Send + Sync + 'static> {
    entries: Vec<Entry>,
    effect: PhantomData<fn() -> E>,
}

impl<E: Send + Sync + 'static> Default for EffectList<E> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            effect: PhantomData,
        }
    }
}

impl<E: Send + Sync + 'static> EffectList<E> {
    /// Views with their image of this frame, by its index in [`CameraEffect::images`].
    pub(crate) fn images<'a>(
        &'a self,
        scene: &'a Scene3d,
        at: usize,
    ) -> impl Iterator<Item = (&'a View3d, &'a GpuImage)> {
        self.entries.iter().filter_map(move |entry| {
            let view = scene.views().get(entry.view)?;
            Some((view, entry.slots.get(at)?.current()))
        })
    }
}

/// Creates the uniform buffer, and drops state of a lost device.
pub(super) fn init_effect<E: CameraEffect>(
    mut commands: Commands,
    gpu: Res<GpuDevice>,
    mut list: ResMut<EffectList<E>>,
    mut images: ResMut<EffectImages<E>>,
) -> Result {
    list.entries.clear();
    images.clear();
    commands.insert_resource(EffectUniforms::<E> {
        buffer: uniform_buffer(&gpu, "effect uniforms", row_bytes::<E>())?,
        effect: PhantomData,
    });
    Ok(())
}

/// Row stride: a multiple of 256 bytes, the largest `minUniformBufferOffsetAlignment`.
fn row_bytes<E: CameraEffect>() -> u64 {
    E::Uniform::min_size().get().next_multiple_of(UNIFORM_BYTES)
}

/// Whether the effect of a camera is enabled and has valid settings.
fn is_drawn(effect: &impl CameraEffect, is_hdr: bool) -> bool {
    effect.is_enabled(is_hdr) && effect.invalid_setting().is_none()
}

/// Lists the cameras with the effect.
pub(super) fn list_cameras<E: CameraEffect>(
    cameras: Query<(Entity, &E, Has<Hdr>)>,
    mut listed: ResMut<EffectCameras>,
) {
    for (camera, effect, is_hdr) in &cameras {
        if !is_drawn(effect, is_hdr) {
            continue;
        }
        let replaces_color_in = E::REPLACES_COLOR.then(|| E::stage(is_hdr));
        listed.add(camera, replaces_color_in, E::DEPTH_HISTORY);
        if E::STAGE == Pass3dSystems::Upscale {
            listed.set_render_scale(camera, effect.render_scale());
        }
    }
}

/// Device resources for [`prepare_effect`].
#[derive(SystemParam)]
pub(crate) struct Device<'w> {
    gpu: Res<'w, GpuDevice>,
    uploads: ResMut<'w, Uploads>,
    frames: Res<'w, EffectCameras>,
    warnings: Res<'w, RateLimitedWarnings>,
}

/// Creates the images of this frame's views, and uploads changed uniforms.
pub(crate) fn prepare_effect<E: CameraEffect>(
    scene: Res<Scene3d>,
    cameras: Query<(&E, Has<Hdr>, Option<&CameraCut>)>,
    mut list: ResMut<EffectList<E>>,
    mut images: ResMut<EffectImages<E>>,
    mut uniforms: ResMut<EffectUniforms<E>>,
    mut device: Device,
    (mut specs, mut bytes_of_value): (Local<Vec<EffectImage>>, Local<Vec<u8>>),
) -> Result {
    let entries = &mut list.entries;
    entries.iter_mut().for_each(|entry| entry.is_listed = false);
    for (at, view) in scene.views().iter().enumerate() {
        let Ok((effect, is_hdr, cut)) = cameras.get(view.camera()) else {
            continue;
        };
        if !is_drawn(effect, is_hdr) {
            continue;
        }
        let known = entries.iter().position(|it| it.camera == view.camera());
        let known = known.unwrap_or_else(|| {
            entries.push(Entry::new(view.camera()));
            entries.len() - 1
        });
        let entry = &mut entries[known];
        entry.view = at;
        specs.clear();
        effect.images(&mut specs);
        let cut = cut.map_or(0, |cut| cut.count);
        let size = match E::stage(is_hdr) {
            Pass3dSystems::EarlyPostProcess => view.size(),
            _ => view.output_size(),
        };
        entry.is_listed = entry.prepare((view, size), (&specs, cut), &mut device);
    }
    entries.retain(|entry| entry.is_listed);
    entries.sort_unstable_by_key(|entry| entry.view);
    images.clear();
    let stride = row_bytes::<E>();
    let bytes = stride * entries.len() as u64;
    let is_new = grow_buffer(&device.gpu, &mut uniforms.buffer, bytes)?;
    for (row, entry) in entries.iter_mut().enumerate() {
        entry
            .slots
            .iter_mut()
            .for_each(|slot| slot.list(&mut images));
        let Ok((effect, ..)) = cameras.get(entry.camera) else {
            continue;
        };
        let depth_is_valid = E::DEPTH_HISTORY.then(|| {
            let view = scene.views().get(entry.view);
            view.is_some_and(|view| view.previous_depth().is_some())
        });
        let value = effect.uniform(&entry.frame(&device.frames, depth_is_valid));
        entry.uploaded_row = entry.uploaded_row.filter(|_| !is_new);
        if entry.keep_uniform(&value, row, &mut bytes_of_value)? {
            let offset = row as u64 * stride;
            device.uploads.write(&uniforms.buffer, offset, &value);
        }
    }
    Ok(())
}

impl Entry {
    /// Recreates images whose descriptions have changed. Returns whether the view has all of its images.
    fn prepare(
        &mut self,
        (view, size): (&View3d, [u32; 2]),
        (specs, cut): (&[EffectImage], u32),
        device: &mut Device,
    ) -> bool {
        let is_submitted = device.frames.submitted > self.prepared_at;
        self.prepared_at = device.frames.submitted;
        self.slots
            .iter_mut()
            .for_each(|slot| slot.advance(is_submitted));
        // Fixed or rounded sizes may be unchanged, but the contents no longer match the view.
        if self.cut != cut || self.size != size {
            self.slots.iter_mut().for_each(|slot| slot.is_valid = false);
        }
        (self.cut, self.size) = (cut, size);
        let made = update_slots(
            &mut self.slots,
            specs,
            [size, view.size()],
            (&device.gpu, &mut device.uploads),
        );
        if let Err(error) = &made {
            let camera = entity_name(view.camera());
            let message = || format!("an effect of the camera {camera} is skipped: {error}");
            device.warnings.warn_message(message);
        }
        made.is_ok()
    }

    /// Inputs of the uniform. `depth_is_valid`: validity of the depth history, if the effect reads it.
    fn frame(&self, frames: &EffectCameras, depth_is_valid: Option<bool>) -> EffectFrame {
        let images = self.slots.iter().filter(|slot| slot.has_history());
        let mut histories = images
            .map(|slot| slot.is_valid)
            .chain(depth_is_valid)
            .peekable();
        EffectFrame {
            index: frames.submitted as u32,
            size: self.size,
            history_is_valid: histories.peek().is_some() && histories.all(|is_valid| is_valid),
        }
    }

    /// Stores the bytes of a uniform. Returns whether they have changed and must be uploaded.
    fn keep_uniform(
        &mut self,
        value: &impl ShaderValue,
        row: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<bool> {
        bytes.clear();
        StorageBuffer::new(&mut *bytes).write(value)?;
        let is_known = *bytes == self.uniform && self.uploaded_row == Some(row);
        std::mem::swap(bytes, &mut self.uniform);
        self.uploaded_row = Some(row);
        Ok(!is_known)
    }
}

/// Views of the frame whose cameras have the effect, for its passes.
#[derive(SystemParam)]
pub struct EffectViews<'w, E: CameraEffect> {
    scene: Res<'w, Scene3d>,
    list: Res<'w, EffectList<E>>,
    uniforms: Uniform<'w, EffectUniforms<E>>,
}

impl<'w, E: CameraEffect> EffectViews<'w, E> {
    /// Views in draw order.
    pub fn iter(&self) -> impl Iterator<Item = EffectView<'_>> {
        let entries = self.list.entries.iter().enumerate();
        entries.filter_map(|(row, entry)| {
            Some(EffectView {
                view: self.scene.views().get(entry.view)?,
                slots: &entry.slots,
                first_byte: row as u64 * row_bytes::<E>(),
                bytes: E::Uniform::min_size().get(),
            })
        })
    }

    /// Uniform buffer; bind [`EffectView::uniform_bytes`] of it.
    pub fn uniforms(&self) -> &Uniform<'w, EffectUniforms<E>> {
        &self.uniforms
    }
}

/// View whose camera has the effect.
pub struct EffectView<'a> {
    view: &'a View3d,
    slots: &'a [Slot],
    first_byte: u64,
    bytes: u64,
}

impl Deref for EffectView<'_> {
    type Target = View3d;

    fn deref(&self) -> &View3d {
        self.view
    }
}

impl EffectView<'_> {
    /// Range of the view's uniform in [`EffectViews::uniforms`].
    pub fn uniform_bytes(&self) -> Range<u64> {
        self.first_byte..self.first_byte + self.bytes
    }

    /// Index in [`EffectImages`] of an image of this frame, by its index in [`CameraEffect::images`]. The calling pass
    /// must write it: an image with a history becomes the previous image of the next frame.
    pub fn image(&self, at: usize) -> Option<usize> {
        let slot = self.slots.get(at)?;
        slot.is_used.store(true, Ordering::Relaxed);
        Some(slot.index)
    }

    /// Index in [`EffectImages`] of the image of the previous frame; `None` if it has no history.
    pub fn previous(&self, at: usize) -> Option<usize> {
        let slot = self.slots.get(at)?;
        slot.has_history().then_some(slot.index + 1)
    }
}
