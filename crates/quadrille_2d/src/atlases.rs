//! Textures of atlases whose corners lie the wrong way round: bevy asks for their size, and ends
//! programs that are built to be debugged where it is negative.

use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_image::TextureAtlasLayout;
use bevy_math::URect;

use quadrille_content::Complaints;

/// Has such textures show nothing.
pub(crate) fn limit_atlases(
    mut layouts: ResMut<Assets<TextureAtlasLayout>>,
    complaints: Res<Complaints>,
) {
    if !layouts.is_changed() {
        return;
    }
    let mut odd = Vec::new();
    for (id, layout) in layouts.iter() {
        if let Some((index, texture)) = reversed(layout).next() {
            let URect { min, max } = *texture;
            complaints.warn(format_args!("texture {index} of the atlas {id}"), || {
                format!("its least corner is {min}, and its greatest {max}")
            });
            odd.push(id);
        }
    }
    for id in odd {
        if let Some(layout) = layouts.get_mut_untracked(id) {
            for texture in &mut layout.textures {
                texture.max = texture.max.max(texture.min);
            }
        }
    }
}

/// The textures whose corners lie the wrong way round, by index.
fn reversed(layout: &TextureAtlasLayout) -> impl Iterator<Item = (usize, &URect)> {
    let textures = layout.textures.iter().enumerate();
    textures.filter(|(_, texture)| texture.min.cmpgt(texture.max).any())
}
