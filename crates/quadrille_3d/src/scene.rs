//! What is drawn in a frame: views, lights and shadow maps with their rows on the device, and the
//! draws of each.

mod rows;

use std::ops::Range;

use bevy_camera::visibility::RenderLayers;
use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bytemuck::Pod;
use quadrille::prelude::{BufferDesc, GpuBuffer, GpuDevice, Uploads};
use quadrille_content::{MeshPlace, Shape};

use crate::bins::{BinKey, Group};
use crate::camera::Tonemapping;
use crate::cull::{CullLayers3d, CullRow, CullViews3d, DRAW_BYTES, DrawArgs3d, Seen3d};
use crate::grading::GradingRow;
use crate::instances::DrawnMesh;
use crate::light_textures::{LightTextureRow, LightTextures3d};
use crate::material_row::{CullMode, Detail, Mix};
use crate::occlusion::{DrawsBehind3d, SeenBehind3d, WasSeen3d};
use crate::sky::SkyPush;
use crate::table::{List, grow};
use crate::tonemap::Gradings3d;
pub(crate) use rows::{FogRow, LightRow, SHADOW_VIEWS_BYTES, ShadowRow, ViewRow};

/// What one 3D camera draws in this frame: passes of programs find by it the images of the view.
#[derive(Clone, Debug)]
pub struct View3d {
    pub(crate) camera: Entity,
    /// Place in the list of views.
    pub(crate) row: u32,
    /// Place of its image in `CameraTargets`.
    pub(crate) target: u32,
    /// Step of its passes (`Recorder::pass_in_step`).
    pub(crate) step: u32,
    pub(crate) viewport: [u32; 4],
    /// The colour that the image is cleared with before.
    pub(crate) clear: Option<[f32; 4]>,
    /// The colour behind the scene; none leaves what is there.
    pub(crate) background: Option<[f32; 4]>,
    /// The background replaces what is there, alpha included, instead of being blended over it.
    pub(crate) replaces: bool,
    /// Front faces are culled where back faces otherwise are, and the other way round.
    pub(crate) inverts_culling: bool,
    /// Depth before anything is drawn.
    pub(crate) far: f32,
    pub(crate) samples: u32,
    pub(crate) tonemapping: Tonemapping,
    /// Place of its table in `ToneTables3d`.
    pub(crate) tone_table: u32,
    /// Its background is mapped as the scene is.
    pub(crate) is_hdr: bool,
    /// What lies behind the scene.
    pub(crate) sky: Option<SkyPush>,
    /// Place of its images in `SceneColors` and the others.
    pub(crate) images: u32,
    /// Which of [`Scene3d::cull_rows`] it is.
    pub(crate) culled: u32,
    /// The same for what is drawn after what it may be hidden by.
    pub(crate) behind: Option<u32>,
    /// Place in `DepthPyramids3d`.
    pub(crate) pyramid: Option<u32>,
    /// What it sees.
    pub(crate) layers: RenderLayers,
    /// Place of its images in `GizmoColors`, if it sees lines.
    pub(crate) gizmos: Option<u32>,
    /// Of [`Scene3d::wires`].
    pub(crate) wires: Range<u32>,
    /// Of [`Scene3d::draws`].
    pub(crate) transparent: Range<u32>,
}

impl View3d {
    /// The camera.
    pub fn camera(&self) -> Entity {
        self.camera
    }

    /// Its place in [`Views3d`]: shaders import `quadrille_3d::scene::View`.
    pub fn row(&self) -> u32 {
        self.row
    }

    /// The place of its images in [`SceneColors`](crate::SceneColors),
    /// [`SceneSamples`](crate::SceneSamples) and [`SceneDepths`](crate::SceneDepths).
    pub fn images(&self) -> usize {
        self.images as usize
    }

    /// The place of its camera's target in [`CameraTargets`](crate::CameraTargets).
    pub fn target(&self) -> usize {
        self.target as usize
    }

    /// The step of its passes, for [`Recorder::pass_in_step`](quadrille::prelude::Recorder::pass_in_step): a pass that draws
    /// to the target of the view takes its turn among cameras with it.
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Left, top, width and height in pixels of the target; the images of the view have this width
    /// and height, and begin at their own corner.
    pub fn viewport(&self) -> [u32; 4] {
        self.viewport
    }

    /// Samples per pixel of [`SceneSamples`](crate::SceneSamples) and
    /// [`SceneDepths`](crate::SceneDepths): 1 with [`Msaa::Off`](crate::Msaa).
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The linear colour that the target is to be cleared with before the view is shown on it;
    /// none if what is there stays.
    pub fn clear(&self) -> Option<[f32; 4]> {
        self.clear
    }
}

/// What the shadow maps of an image are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtlasKind {
    /// Cascades of directional lights, and spot lights.
    Flat,
    /// Faces of point lights.
    Face,
}

/// One shadow map.
#[derive(Clone, Debug)]
pub(crate) struct Shadow3d {
    /// Which image it is in.
    pub(crate) atlas: AtlasKind,
    /// Its tile of that.
    pub(crate) tile: u32,
    /// What lies before it casts shadows too.
    pub(crate) clamps_depth: bool,
    /// Which of [`Scene3d::cull_rows`] it is; none if it makes no sense.
    pub(crate) culled: Option<u32>,
}

/// With which pipeline something is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) shape: Shape,
    pub(crate) cull: CullMode,
    pub(crate) mix: Mix,
    pub(crate) detail: Detail,
}

impl PipelineKey {
    /// The key with which a view draws what has this one.
    pub(crate) fn of_view(self, inverts_culling: bool) -> Self {
        let cull = match self.cull {
            CullMode::Front if inverts_culling => CullMode::Back,
            CullMode::Back if inverts_culling => CullMode::Front,
            cull => cull,
        };
        Self { cull, ..self }
    }
}

/// Instances of one mesh that others are seen through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draw3d {
    pub(crate) key: BinKey,
    /// Of the list of what is drawn from back to front.
    pub(crate) sorted: Range<u32>,
}

/// A mesh whose edges a view sees.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Its place in the table of instances.
    pub(crate) instance: u32,
    pub(crate) mesh: MeshPlace,
    /// Linear.
    pub(crate) color: [f32; 4],
    /// In pixels.
    pub(crate) width: f32,
    /// Without the edge that the two triangles of a quad share.
    pub(crate) has_quads: bool,
    /// Nothing hides it.
    pub(crate) is_before_all: bool,
}

/// All that is drawn in a frame.
#[derive(Resource, Default)]
pub struct Scene3d {
    /// Of the camera whose views are listed: from where distances count.
    pub(crate) eye: [f32; 4],
    pub(crate) views: Vec<View3d>,
    pub(crate) shadows: Vec<Shadow3d>,
    /// The chunks of each pipeline.
    pub(crate) groups: Vec<Group>,
    /// How many chunks there are.
    pub(crate) chunks: u32,
    /// Room in the table of instances.
    pub(crate) instances: u32,
    /// How many of [`Self::cull_rows`] `cull_3d` culls for; those that follow come later.
    pub(crate) at_once: u32,
    /// Words of `WasSeen3d`.
    pub(crate) seen_words: u32,
    /// Room for their instances.
    pub(crate) members: u32,
    /// Draws of what is seen through.
    pub(crate) draws: Vec<Draw3d>,
    /// Meshes whose edges are drawn, view by view.
    pub(crate) wires: Vec<Wire>,
    pub(crate) view_rows: List<ViewRow>,
    /// A row for each view.
    pub(crate) gradings: List<GradingRow>,
    pub(crate) lights: List<LightRow>,
    pub(crate) light_textures: List<LightTextureRow>,
    pub(crate) shadow_rows: List<ShadowRow>,
    /// Cameras and shadow maps, for each of which chunks are culled.
    pub(crate) cull_rows: List<CullRow>,
    pub(crate) layer_bits: List<u32>,
    /// Places in the table of instances, draw by draw.
    pub(crate) sorted: List<u32>,
}

impl Scene3d {
    /// The views of this frame, in the order that they are drawn in.
    pub fn views(&self) -> &[View3d] {
        &self.views
    }

    /// How many draws are recorded for the frame: one for each pipeline of each camera (two with
    /// [`OcclusionCulling`](crate::OcclusionCulling)) and each shadow map, whatever the number of meshes, and one for each mesh that others are seen
    /// through, or for several that follow each other from back to front.
    pub fn draws(&self) -> usize {
        let behind = self.views.iter().filter(|view| view.behind.is_some());
        let of_views = (self.views.len() + behind.count()) * self.opaque_groups().count();
        let drawn = self.shadows.iter().filter(|shadow| shadow.culled.is_some());
        let of_shadows = drawn.count() * self.shadow_groups().count();
        of_views + of_shadows + self.draws.len()
    }

    /// What cameras draw by what `cull_3d` finds.
    pub(crate) fn opaque_groups(&self) -> impl Iterator<Item = &Group> {
        let groups = self.groups.iter().filter(|group| !group.chunks.is_empty());
        groups.filter(|group| !group.pipeline.mix.is_transparent())
    }

    /// What casts shadows.
    pub(crate) fn shadow_groups(&self) -> impl Iterator<Item = &Group> {
        let groups = self.groups.iter().filter(|group| !group.chunks.is_empty());
        groups.filter(|group| group.pipeline.shape == Shape::Triangles)
    }

    /// For how many views is culled before anything is drawn.
    pub(crate) fn views_at_once(&self) -> u32 {
        self.at_once
    }

    /// Adds what cameras with [`OcclusionCulling`](crate::OcclusionCulling) draw of what may be hidden.
    pub(crate) fn part_views(&mut self, hides: impl Fn(Entity) -> bool) {
        let rows = &mut self.cull_rows.now;
        self.at_once = rows.len() as u32;
        let mut first_bits = 0;
        for view in &mut self.views {
            if hides(view.camera) {
                let behind = rows[view.culled as usize].part(first_bits, view.row);
                first_bits += self.instances.div_ceil(32);
                view.behind = Some(rows.len() as u32);
                rows.push(behind);
            }
        }
        self.seen_words = first_bits;
    }

    /// How many shadow maps are drawn in the frame: one for a spot light, six for a point light,
    /// and for a directional light one for each cascade of each camera.
    pub fn shadow_maps(&self) -> usize {
        self.shadows.len()
    }

    pub(crate) fn begin(&mut self) {
        self.views.clear();
        self.shadows.clear();
        self.draws.clear();
        self.wires.clear();
        self.view_rows.now.clear();
        self.gradings.now.clear();
        self.lights.now.clear();
        self.light_textures.now.clear();
        self.shadow_rows.now.clear();
        self.cull_rows.now.clear();
        self.layer_bits.now.clear();
        self.sorted.now.clear();
    }

    /// Forgets what the device has.
    pub(crate) fn begin_anew(&mut self) {
        self.view_rows.begin_anew();
        self.gradings.begin_anew();
        self.lights.begin_anew();
        self.light_textures.begin_anew();
        self.shadow_rows.begin_anew();
        self.cull_rows.begin_anew();
        self.layer_bits.begin_anew();
        self.sorted.begin_anew();
    }

    /// Adds a draw of what was seen since `first`, unless that is nothing, or lengthens the draw
    /// before, if `first_draw` is not after it.
    pub(crate) fn add(&mut self, drawn: &DrawnMesh, first_draw: usize) {
        let at = self.sorted.now.len() as u32;
        self.sorted.now.push(drawn.instance);
        match self.draws[first_draw..].last_mut() {
            Some(last) if last.key == drawn.key && last.sorted.end == at => {
                last.sorted.end = at + 1;
            }
            _ => self.draws.push(Draw3d {
                key: drawn.key,
                sorted: at..at + 1,
            }),
        }
    }
}

/// The list of views: `quadrille_3d::scene::View` of shaders.
#[derive(Resource, Deref)]
pub struct Views3d(pub(crate) GpuBuffer);

/// The list of lights of all views: 80 bytes each.
#[derive(Resource, Deref)]
pub struct Lights3d(pub(crate) GpuBuffer);

/// The list of shadow maps.
#[derive(Resource, Deref)]
pub struct ShadowViews3d(pub(crate) GpuBuffer);

/// For each instance that others are seen through its place in the table of instances, from back
/// to front.
#[derive(Resource, Deref)]
pub struct Sorted3d(pub(crate) GpuBuffer);

/// The buffers of a frame's lists.
#[derive(bevy_ecs::system::SystemParam)]
pub(crate) struct SentTo<'w> {
    views: ResMut<'w, Views3d>,
    gradings: ResMut<'w, Gradings3d>,
    lights: ResMut<'w, Lights3d>,
    light_textures: ResMut<'w, LightTextures3d>,
    shadows: ResMut<'w, ShadowViews3d>,
    culled: ResMut<'w, CullViews3d>,
    layers: ResMut<'w, CullLayers3d>,
    sorted: ResMut<'w, Sorted3d>,
    args: ResMut<'w, DrawArgs3d>,
    seen: ResMut<'w, Seen3d>,
    was_seen: ResMut<'w, WasSeen3d>,
    args_behind: ResMut<'w, DrawsBehind3d>,
    seen_behind: ResMut<'w, SeenBehind3d>,
}

/// Sends what was listed to the device, and makes room for what that finds.
pub(crate) fn send_scene(
    mut scene: ResMut<Scene3d>,
    mut to: SentTo,
    mut uploads: ResMut<Uploads>,
    gpu: Res<GpuDevice>,
) -> Result {
    let uploads = &mut *uploads;
    let views = scene.cull_rows.now.len() as u64;
    let args = views * u64::from(scene.chunks) * DRAW_BYTES;
    // The table of members keeps its rows; without chunks nothing writes the lists, so that larger ones stay
    // undefined.
    let members = u64::from(scene.members) * u64::from(scene.chunks.min(1));
    let seen = views * members * size_of::<u32>() as u64;
    let has_behind = u64::from(scene.seen_words.min(1));
    for (buffer, bytes) in [
        (&mut to.args.0, args),
        (&mut to.seen.0, seen),
        (&mut to.args_behind.0, args * has_behind),
        (&mut to.seen_behind.0, seen * has_behind),
    ] {
        if buffer.bytes() < bytes {
            *buffer = gpu.create_buffer(&BufferDesc {
                bytes: bytes.next_power_of_two(),
                ..buffer.desc().clone()
            })?;
        }
    }
    let words = scene.seen_words as usize;
    let was_seen = &mut to.was_seen.0;
    if grow(&gpu, was_seen, (words * size_of::<u32>()) as u64)? {
        uploads.write_buffer(was_seen, 0, &vec![0; was_seen.bytes() as usize]);
    }
    // Shaders are bound to these also where they read nothing of them.
    fill_empty(&mut scene.lights);
    fill_empty(&mut scene.light_textures);
    fill_empty(&mut scene.shadow_rows);
    fill_empty(&mut scene.sorted);
    fill_empty(&mut scene.view_rows);
    fill_empty(&mut scene.gradings);
    scene.view_rows.send(&gpu, uploads, &mut to.views.0)?;
    scene.gradings.send(&gpu, uploads, &mut to.gradings.0)?;
    scene.lights.send(&gpu, uploads, &mut to.lights.0)?;
    let textures = &mut to.light_textures.0;
    scene.light_textures.send(&gpu, uploads, textures)?;
    scene.shadow_rows.send(&gpu, uploads, &mut to.shadows.0)?;
    scene.cull_rows.send(&gpu, uploads, &mut to.culled.0)?;
    scene.layer_bits.send(&gpu, uploads, &mut to.layers.0)?;
    scene.sorted.send(&gpu, uploads, &mut to.sorted.0)?;
    Ok(())
}

pub(crate) fn fill_empty<T: Pod>(list: &mut List<T>) {
    if list.now.is_empty() {
        list.now.push(T::zeroed());
    }
}
