// Clusters by bevy's names: `bevy_pbr::render::clustered_forward`.
//
// Clusters here are masks of slices (clusters.wgsl), which functions find by the position of a fragment. Ranges, which
// lead to lists of objects in bevy, are parameters without contents.

struct ClusterableObjectIndexRanges {
    cluster_index: u32,
}

fn view_fragment_cluster_index(frag_coord: vec2f, view_z: f32, is_orthographic: bool) -> u32 {
    return 0u;
}

fn unpack_clusterable_object_index_ranges(cluster_index: u32) -> ClusterableObjectIndexRanges {
    return ClusterableObjectIndexRanges(cluster_index);
}
