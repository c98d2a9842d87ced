// Skinning and morph targets: vertices of entities from those of their meshes. See `skin_3d`.

import quadrille_3d::constants::{
    BLOCK_VERTICES, INFLUENCE_WORDS, NORMAL_OFFSET, NO_POSE, SKIN_WORKGROUP_SIZE, TANGENT_OFFSET,
    TARGET_WORDS, VERTEX_WORDS,
};

struct Job {
    // Sum of the workgroups of all jobs before.
    first_group: u32,
    // Offsets of the first vertex: the mesh's in `meshes`, and the entity's in `entities`.
    read_from: u32,
    write_to: u32,
    vertices: u32,
    // Offset in `sources`, and words per vertex there.
    source: u32,
    source_words: u32,
    // Rows of `poses`; NO_POSE for none.
    joints: u32,
    weights: u32,
    // Morph targets of the mesh.
    target_count: u32,
    // First row of `previous`; NO_POSE if positions are not saved.
    save_to: u32,
    // 1 if the entity's vertices have positions to save, else 0.
    has_previous: u32,
}

struct Push {
    jobs: u32,
    workgroup_count: u32,
    row: u32,
    // Number of the frame, for saved positions.
    stamp: u32,
}

struct Vertex {
    position: vec3f,
    normal: vec3f,
    tangent: vec3f,
}

@group(0) @binding(0) var<storage, read> jobs: array<Job>;
@group(0) @binding(1) var<storage, read> sources: array<u32>;
@group(0) @binding(2) var<storage, read> poses: array<vec4f>;
// Vertices of meshes and of entities: two ranges of one buffer, or all of it twice.
@group(0) @binding(3) var<storage, read> meshes: array<f32>;
@group(0) @binding(4) var<storage, read_write> entities: array<f32>;

// Positions before they are overwritten, and the number of the frame: see `motion_vectors.wgsl`.
@group(0) @binding(5) var<storage, read_write> previous: array<vec4u>;

var<immediate> push: Push;

// Sign of the bitangent.
const HANDEDNESS_OFFSET: u32 = TANGENT_OFFSET + 3u;

@compute @workgroup_size(SKIN_WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
    let group = workgroup.y * push.row + workgroup.x;
    if group >= push.workgroup_count {
        return;
    }
    let job = jobs[find_job(group)];
    let index = (group - job.first_group) * SKIN_WORKGROUP_SIZE + local;
    if index >= job.vertices {
        return;
    }
    let read_at = job.read_from + index * VERTEX_WORDS;
    let write_at = job.write_to + index * VERTEX_WORDS;
    var vertex = Vertex(
        load_vec3(read_at),
        load_vec3(read_at + NORMAL_OFFSET),
        load_vec3(read_at + TANGENT_OFFSET),
    );
    if job.weights != NO_POSE {
        vertex = morph_vertex(vertex, job, index);
    }
    var side = 1.0;
    if job.joints != NO_POSE {
        let rows = skin_model(job, index);
        let cofactor_x = cross(rows[1].xyz, rows[2].xyz);
        let cofactor_y = cross(rows[2].xyz, rows[0].xyz);
        let cofactor_z = cross(rows[0].xyz, rows[1].xyz);
        side = select(1.0, -1.0, dot(rows[0].xyz, cofactor_x) < 0.0);
        let position = vec4f(vertex.position, 1.0);
        let normal = vertex.normal;
        let along = vertex.tangent;
        vertex.position = vec3f(dot(rows[0], position), dot(rows[1], position), dot(rows[2], position));
        // The cofactors are the inverse transpose up to the determinant, whose sign counts.
        vertex.normal = side
            * vec3f(dot(cofactor_x, normal), dot(cofactor_y, normal), dot(cofactor_z, normal));
        vertex.tangent =
            vec3f(dot(rows[0].xyz, along), dot(rows[1].xyz, along), dot(rows[2].xyz, along));
    }
    // Colors and texture coordinates are copied.
    for (var at = NORMAL_OFFSET + 3u; at < TANGENT_OFFSET; at++) {
        entities[write_at + at] = meshes[read_at + at];
    }
    if job.save_to != NO_POSE {
        let old = vec3f(entities[write_at], entities[write_at + 1u], entities[write_at + 2u]);
        previous[job.save_to + index] = vec4u(bitcast<vec3u>(old), select(0u, push.stamp, job.has_previous != 0u));
    }
    store_vec3(write_at, vertex.position);
    store_vec3(write_at + NORMAL_OFFSET, normalize_or_zero(vertex.normal));
    store_vec3(write_at + TANGENT_OFFSET, normalize_or_zero(vertex.tangent));
    entities[write_at + HANDEDNESS_OFFSET] = meshes[read_at + HANDEDNESS_OFFSET] * side;
}

// Returns the last job that begins at or before a workgroup.
fn find_job(group: u32) -> u32 {
    var first = 0u;
    var end = push.jobs;
    while end - first > 1u {
        let middle = (first + end) / 2u;
        if jobs[middle].first_group <= group {
            first = middle;
        } else {
            end = middle;
        }
    }
    return first;
}

struct Block {
    // Offset of the block in `sources`.
    at: u32,
    // Vertices of the block, and the index of this one.
    vertices: u32,
    index: u32,
}

fn find_block(job: Job, index: u32) -> Block {
    let first = index - index % BLOCK_VERTICES;
    let count = min(BLOCK_VERTICES, job.vertices - first);
    return Block(job.source + first * job.source_words, count, index - first);
}

fn morph_vertex(vertex: Vertex, job: Job, index: u32) -> Vertex {
    var moved = vertex;
    let block = find_block(job, index);
    let influences = job.source_words - job.target_count * TARGET_WORDS;
    let first = block.at + block.vertices * influences + block.index * TARGET_WORDS;
    for (var target_index = 0u; target_index < job.target_count; target_index++) {
        let weight = poses[job.weights + target_index / 4u][target_index % 4u];
        if weight == 0.0 {
            continue;
        }
        let at = first + target_index * block.vertices * TARGET_WORDS;
        moved.position += weight * load_source_vec3(at);
        moved.normal += weight * load_source_vec3(at + 3u);
        moved.tangent += weight * load_source_vec3(at + 6u);
    }
    return moved;
}

// Rows of the weighted sum of a vertex's joints; the identity where no joint has weight.
fn skin_model(job: Job, index: u32) -> array<vec4f, 3> {
    let block = find_block(job, index);
    let at = block.at + block.index * INFLUENCE_WORDS;
    let joints = vec4u(
        sources[at] & 0xffffu,
        sources[at] >> 16u,
        sources[at + 1u] & 0xffffu,
        sources[at + 1u] >> 16u,
    );
    let weights = vec4f(load_source_vec3(at + 2u), bitcast<f32>(sources[at + 5u]));
    if all(weights == vec4f(0.0)) {
        return array(vec4f(1.0, 0.0, 0.0, 0.0), vec4f(0.0, 1.0, 0.0, 0.0), vec4f(0.0, 0.0, 1.0, 0.0));
    }
    var rows = array(vec4f(0.0), vec4f(0.0), vec4f(0.0));
    for (var corner = 0u; corner < 4u; corner++) {
        let joint = job.joints + joints[corner] * 3u;
        rows[0] += weights[corner] * poses[joint];
        rows[1] += weights[corner] * poses[joint + 1u];
        rows[2] += weights[corner] * poses[joint + 2u];
    }
    return rows;
}

fn load_vec3(at: u32) -> vec3f {
    return vec3f(meshes[at], meshes[at + 1u], meshes[at + 2u]);
}

fn store_vec3(at: u32, numbers: vec3f) {
    entities[at] = numbers.x;
    entities[at + 1u] = numbers.y;
    entities[at + 2u] = numbers.z;
}

fn load_source_vec3(at: u32) -> vec3f {
    return vec3f(
        bitcast<f32>(sources[at]),
        bitcast<f32>(sources[at + 1u]),
        bitcast<f32>(sources[at + 2u]),
    );
}

fn normalize_or_zero(v: vec3f) -> vec3f {
    let square = dot(v, v);
    return select(vec3f(0.0), v * inverseSqrt(max(square, 1e-38)), square > 0.0);
}
