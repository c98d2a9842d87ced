//! Random values that both stages use.

use bevy_ecs::prelude::*;
use bevy_math::{Rect, Vec2};
use bevy_sprite::{BorderRect, SliceScaleMode, TextureSlicer};
use bevy_text::{FontSize, Strikethrough, StrikethroughColor, Underline, UnderlineColor};
use quadrille_2d::prelude::*;

use super::Asleep;
use crate::common::lifecycle::{Fixed, Library, Random, remove, touch};

pub(super) fn color(random: &mut Random) -> Color {
    let alpha = random.between(0.0, 1.5).min(1.0);
    Color::srgba(random.unit(), random.unit(), random.unit(), alpha)
}

pub(super) fn point(random: &mut Random, most: f32) -> Vec2 {
    Vec2::new(random.between(-most, most), random.between(-most, most))
}

pub(super) fn visibility(random: &mut Random) -> Visibility {
    random.pick(&[
        Visibility::Inherited,
        Visibility::Hidden,
        Visibility::Visible,
    ])
}

pub(super) fn layers(random: &mut Random) -> RenderLayers {
    match random.below(4) {
        0 => RenderLayers::layer(1),
        1 => RenderLayers::none(),
        2 => RenderLayers::layer(0),
        _ => RenderLayers::from_layers(&[0, 1, 70]),
    }
}

/// Textures of an atlas, some of which do not exist.
pub(super) fn atlas(world: &World, random: &mut Random) -> Option<TextureAtlas> {
    random.one_in(3).then(|| TextureAtlas {
        layout: Library::pick(world, random),
        index: random.below(4),
    })
}

pub(super) fn part_of_image(random: &mut Random) -> Option<Rect> {
    random.one_in(4).then(|| Rect::new(0.0, 0.0, 1.0, 1.0))
}

pub(super) fn slicer(random: &mut Random) -> TextureSlicer {
    let mut mode = || {
        random.pick(&[
            SliceScaleMode::Stretch,
            SliceScaleMode::Tile { stretch_value: 0.5 },
        ])
    };
    TextureSlicer {
        center_scale_mode: mode(),
        sides_scale_mode: mode(),
        border: BorderRect::all(1.0),
        max_corner_scale: random.pick(&[1.0, 3.0]),
    }
}

/// Letters of few sizes: what is told apart is which text shows, not how it looks.
pub(super) fn letters(random: &mut Random) -> String {
    random.pick(&["", "a", "life", "two\nlines"]).to_owned()
}

fn font(random: &mut Random) -> TextFont {
    TextFont {
        font_size: random.pick(&[FontSize::Px(10.0), FontSize::Px(17.0)]),
        ..TextFont::default()
    }
}

/// Looks of a text or a span.
pub(super) fn look(random: &mut Random) -> (TextColor, TextFont) {
    (TextColor(color(random)), font(random))
}

/// A group with text, which always has a child: bevy does not notice that the last one of a text goes. Its hidden
/// spans have all letters of a life rasterized in one order: another place in an atlas rounds other ways.
pub(super) fn begin_text(world: &mut World, text: Entity, all: impl Bundle) {
    world.spawn((TextSpan::new("."), ChildOf(text)));
    let all = world.spawn(all).id();
    for size in [10.0, 17.0, 20.0] {
        let letters = TextSpan::new(" .afeilnostwx");
        world.spawn((letters, TextFont::from_font_size(size), ChildOf(all)));
    }
}

/// A parent with text does not notice that a child is disabled.
pub(super) fn disable<C: Component + Default>(world: &mut World, entity: Entity, _: &mut Random) {
    touch_parent(world, entity);
    world.entity_mut(entity).insert(C::default());
}

pub(super) fn remove_span(world: &mut World, entity: Entity) {
    remove::<TextSpan>(world, entity);
    touch_parent(world, entity);
}

/// bevy does not lay the text out again that a span leaves.
pub(super) fn touch_parent(world: &mut World, entity: Entity) {
    if let Some(parent) = world.get::<ChildOf>(entity).map(ChildOf::parent) {
        touch::<Children>(world, parent);
        touch::<TextLayout>(world, parent);
    }
}

pub(super) fn lines(random: &mut Random) -> impl Bundle {
    (Underline, Strikethrough, TextBackgroundColor(color(random)))
}

pub(super) fn line_colors(random: &mut Random) -> LineColors {
    let mut some = || color(random);
    (UnderlineColor(some()), StrikethroughColor(some()))
}

pub(super) type LineColors = (UnderlineColor, StrikethroughColor);

pub(super) type Lines = (Underline, Strikethrough, TextBackgroundColor);

/// One of the groups that lie behind `first` among fixed entities.
pub(super) fn group(world: &World, random: &mut Random, [first, count]: [usize; 2]) -> Entity {
    world.resource::<Fixed>().0[first + random.below(count)]
}

pub(super) fn wake(world: &mut World, entity: Entity) {
    remove::<Asleep>(world, entity);
    touch_all(world, entity);
}

pub(super) fn enable(world: &mut World, entity: Entity) {
    remove::<bevy_ecs::entity_disabling::Disabled>(world, entity);
    touch_all(world, entity);
}

/// bevy's systems do not see what changed while an entity was disabled.
pub(super) fn touch_all(world: &mut World, entity: Entity) {
    touch::<Transform>(world, entity);
    touch::<Visibility>(world, entity);
    touch::<Text2d>(world, entity);
    touch_parent(world, entity);
}
