// Culls batches of instances for each view: see `cull_3d`.
//
// A workgroup takes one batch for one view, and writes one indirect draw of it. Visible instances
// keep their order.

import quadrille_3d::constants::{CULL_EPSILON, EARLY_PHASE, MAX_BATCH_INSTANCES, NO_FRUSTUM_CULLING};
import quadrille_3d::visibility_range::is_outside_visibility_range;
import quadrille_3d::mesh_types::{Instance, to_world};
import quadrille_3d::scene::{Material, View};

struct Bounds {
    center: vec3f,
    layers: u32,
    half_extents: vec3f,
    flags: u32,
}

struct Batch {
    first_batch_instance: u32,
    count: u32,
    index_count: u32,
    first_index: u32,
    base_vertex: i32,
    kinds: u32,
    unused: vec2u,
}

struct CullView {
    planes: array<vec4f, 6>,
    sphere: vec4f,
    // Position from which visibility ranges are measured; w is 0 for none.
    eye: vec4f,
    kind: u32,
    layer_masks_offset: u32,
    phase: u32,
    // Offset of the bits of previous visibility.
    visibility_offset: u32,
    // Index in the list of cameras.
    camera: u32,
    unused: array<u32, 3>,
}

// `VkDrawIndexedIndirectCommand`
struct DrawArgs {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: i32,
    first_instance: u32,
}

struct Push {
    batches: u32,
    // Capacity of the table of batch instances, and of `visible_instances` for each view.
    batch_instances: u32,
    // View of the late phase, for `main_late`.
    late_view: u32,
}

@group(0) @binding(0) var<storage, read> instances: array<Instance>;
@group(0) @binding(1) var<storage, read> bounds: array<Bounds>;
@group(0) @binding(2) var<storage, read> batches: array<Batch>;
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read> batch_instances: array<u32>;
@group(0) @binding(5) var<storage, read> views: array<CullView>;
@group(0) @binding(6) var<storage, read> layers: array<u32>;
@group(0) @binding(7) var<storage, read_write> draw_args: array<DrawArgs>;
@group(0) @binding(8) var<storage, read_write> visible_instances: array<u32>;

@group(0) @binding(9) var<storage, read> previous_visibility: array<u32>;
@group(0) @binding(10) var<storage, read_write> visibility: array<atomic<u32>>;
@group(0) @binding(11) var<storage, read> cameras: array<View>;
@group(0) @binding(12) var<storage, read> materials: array<Material>;
// See `depth_pyramid_3d`.
@group(0) @binding(13) var pyramid: texture_2d<f32>;

var<immediate> push: Push;

const WORKGROUP_SIZE: u32 = 64u;
const WORDS: u32 = MAX_BATCH_INSTANCES / 32u;

// A bit for each instance of the batch that is visible.
var<workgroup> bits: array<atomic<u32>, WORDS>;

// Extent of a box from its center along a direction.
fn projected_radius(instance: Instance, half_extents: vec3f, direction: vec3f) -> f32 {
    let turned = direction.x * instance.world_from_local[0].xyz + direction.y * instance.world_from_local[1].xyz + direction.z * instance.world_from_local[2].xyz;
    return dot(abs(turned), abs(half_extents));
}

fn is_visible(view: u32, instance_index: u32) -> bool {
    let shape = bounds[instance_index];
    let word = layers[views[view].layer_masks_offset + shape.layers / 32u];
    if (shape.flags & views[view].kind) == 0u || ((word >> (shape.layers % 32u)) & 1u) == 0u {
        return false;
    }
    let instance = instances[instance_index];
    if is_outside_visibility_range(instance, views[view].eye) {
        return false;
    }
    if (shape.flags & NO_FRUSTUM_CULLING) != 0u {
        return true;
    }
    let center = to_world(instance, shape.center);
    for (var at = 0u; at < 6u; at++) {
        let plane = views[view].planes[at];
        let reach = projected_radius(instance, shape.half_extents, plane.xyz);
        let slack = CULL_EPSILON * (reach + abs(plane.w));
        if dot(plane, vec4f(center, 1.0)) + reach < -slack {
            return false;
        }
    }
    let sphere = views[view].sphere;
    let direction = center - sphere.xyz;
    let square = dot(direction, direction);
    let reach = projected_radius(instance, shape.half_extents, direction);
    return square <= (sphere.w * sqrt(square) + reach) * (1.0 + CULL_EPSILON);
}

const NO_BATCH: u32 = 0xffffffffu;

// Returns the rank in draw order of the workgroup's batch; `NO_BATCH` if such a view draws
// none there.
fn batch_rank(group: vec3u, groups: vec3u, view: u32) -> u32 {
    let rank = group.y * groups.x + group.x;
    if rank >= push.batches {
        return NO_BATCH;
    }
    let is_drawn = (batches[order[rank]].kinds & views[view].kind) != 0u;
    return select(NO_BATCH, rank, is_drawn);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let view = group.z;
    let rank = batch_rank(group, groups, view);
    if rank == NO_BATCH {
        return;
    }
    let batch = batches[order[rank]];
    for (var at = thread; at < batch.count; at += WORKGROUP_SIZE) {
        let instance_index = batch_instances[batch.first_batch_instance + at];
        let was_visible = views[view].phase != EARLY_PHASE
            || ((previous_visibility[views[view].visibility_offset + instance_index / 32u] >> (instance_index % 32u)) & 1u) != 0u;
        if was_visible && is_visible(view, instance_index) {
            atomicOr(&bits[at / 32u], 1u << (at % 32u));
        }
    }
    workgroupBarrier();
    write_draw(rank, view, batch, thread);
}

// Late phase of occlusion culling: tests all instances, and draws those that are visible and not drawn yet.
@compute @workgroup_size(WORKGROUP_SIZE)
fn main_late(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let view = push.late_view;
    let rank = batch_rank(group, groups, view);
    if rank == NO_BATCH {
        return;
    }
    let batch = batches[order[rank]];
    for (var at = thread; at < batch.count; at += WORKGROUP_SIZE) {
        let instance_index = batch_instances[batch.first_batch_instance + at];
        if is_visible(view, instance_index) {
            let word = views[view].visibility_offset + instance_index / 32u;
            let bit = 1u << (instance_index % 32u);
            if is_occluded(view, instance_index) {
                atomicAnd(&visibility[word], ~bit);
            } else if (atomicOr(&visibility[word], bit) & bit) == 0u {
                atomicOr(&bits[at / 32u], 1u << (at % 32u));
            }
        }
    }
    workgroupBarrier();
    write_draw(rank, view, batch, thread);
}

// Returns whether the depth pyramid is before the box of an instance.
fn is_occluded(view: u32, instance_index: u32) -> bool {
    let shape = bounds[instance_index];
    if (shape.flags & NO_FRUSTUM_CULLING) != 0u {
        return false;
    }
    let instance = instances[instance_index];
    let matrix = cameras[views[view].camera].clip_from_world;
    var low = vec2f(1.0);
    var high = vec2f(0.0);
    var nearest = 0.0;
    for (var corner = 0u; corner < 8u; corner++) {
        let side = select(vec3f(-1.0), vec3f(1.0), (vec3u(corner) & vec3u(1u, 2u, 4u)) != vec3u(0u));
        let clip = matrix * vec4f(to_world(instance, shape.center + side * shape.half_extents), 1.0);
        // The box crosses the near plane.
        if clip.w <= 0.0 || clip.z > clip.w {
            return false;
        }
        let uv = clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5;
        low = min(low, uv);
        high = max(high, uv);
        nearest = max(nearest, clip.z / clip.w);
    }
    // Margin for rounding, and the depth bias of the material.
    nearest *= 1.0 + CULL_EPSILON + max(materials[instance.material].depth_bias, 0.0) / 8388608.0;
    let size = textureDimensions(pyramid);
    let sides = vec2f(size);
    // Margin of a pixel on each side: the view has less than twice as many as the first level has texels.
    let first = saturate(low - 1.0 / sides) * sides;
    let last = saturate(high + 1.0 / sides) * sides;
    let texels = max(last.x - first.x, last.y - first.y);
    let level = min(u32(ceil(log2(max(texels, 1.0)))), textureNumLevels(pyramid) - 1u);
    // Sides are powers of two. Mesa 25.0's llvmpipe gives all threads of a vector the size of one level.
    let most = max(size >> vec2u(level), vec2u(1u)) - 1u;
    let from_texel = min(vec2u(first) >> vec2u(level), most);
    let to_texel = min(vec2u(last) >> vec2u(level), most);
    for (var y = from_texel.y; y <= to_texel.y; y++) {
        for (var x = from_texel.x; x <= to_texel.x; x++) {
            if nearest >= textureLoad(pyramid, vec2u(x, y), level).x {
                return false;
            }
        }
    }
    return true;
}

// Writes a draw of the instances whose bits are set.
fn write_draw(rank: u32, view: u32, batch: Batch, thread: u32) {
    let first = view * push.batch_instances + batch.first_batch_instance;
    for (var at = thread; at < batch.count; at += WORKGROUP_SIZE) {
        let word = atomicLoad(&bits[at / 32u]);
        let bit = 1u << (at % 32u);
        if (word & bit) != 0u {
            let before = countOneBits(word & (bit - 1u)) + visible_before(at / 32u);
            visible_instances[first + before] = batch_instances[batch.first_batch_instance + at];
        }
    }
    if thread == 0u {
        let count = visible_before(WORDS);
        draw_args[view * push.batches + rank] =
            DrawArgs(batch.index_count, count, batch.first_index, batch.base_vertex, first);
    }
}

// Counts the visible instances of the first words.
fn visible_before(words: u32) -> u32 {
    var count = 0u;
    for (var at = 0u; at < words; at++) {
        count += countOneBits(atomicLoad(&bits[at]));
    }
    return count;
}
