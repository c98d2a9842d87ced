// Irradiance volumes by bevy's names: `bevy_pbr::light_probe::irradiance_volume`.

import package::render::clustered_forward::ClusterableObjectIndexRanges;
import quadrille_3d::environment;
import quadrille_3d::scene::camera;

// Irradiance of all volumes at a surface, divided by pi.
fn irradiance_volume_light(
    world_position: vec3f,
    N: vec3f,
    clusterable_object_index_ranges: ptr<function, ClusterableObjectIndexRanges>,
) -> vec3f {
    return environment::irradiance_volume_light(world_position, N, camera).rgb;
}
