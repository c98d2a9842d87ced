//! Grids with random tracks and placements.

use bevy_ui::prelude::*;
use bevy_ui::{GridTrackRepetition, MaxTrackSizingFunction, MinTrackSizingFunction};

use super::dice::Dice;

fn least(dice: &mut Dice) -> MinTrackSizingFunction {
    use MinTrackSizingFunction as Least;
    let number = dice.float();
    dice.pick(&[
        Least::Px(number),
        Least::Percent(number),
        Least::Em(number),
        Least::Rem(number),
        Least::Auto,
    ])
}

fn most(dice: &mut Dice) -> MaxTrackSizingFunction {
    use MaxTrackSizingFunction as Most;
    let number = dice.float();
    dice.pick(&[
        Most::Px(number),
        Most::Percent(number),
        Most::Fraction(number),
        Most::FitContentPx(number),
        Most::FitContentPercent(number),
        Most::MaxContent,
    ])
}

fn tracks(dice: &mut Dice) -> Vec<GridTrack> {
    let count = dice.0.usize(..3);
    (0..count)
        .map(|_| GridTrack::minmax(least(dice), most(dice)))
        .collect()
}

fn repeated(dice: &mut Dice) -> Vec<RepeatedGridTrack> {
    let count = dice.0.usize(..3);
    let track = |dice: &mut Dice| {
        // Without a length there would be no end of tracks: bevy's rule asks for one.
        let length = dice.float();
        let number = dice.number() as u16;
        match dice.0.u8(..3) {
            0 => RepeatedGridTrack::px(GridTrackRepetition::AutoFill, length),
            1 => RepeatedGridTrack::percent(GridTrackRepetition::AutoFit, length),
            _ => RepeatedGridTrack::minmax(number.min(300), least(dice), most(dice)),
        }
    };
    (0..count).map(|_| track(dice)).collect()
}

fn place(dice: &mut Dice) -> GridPlacement {
    let line = dice.pick(&[1, 2, -1, 40, -40, i16::MAX, i16::MIN]);
    match dice.0.u8(..4) {
        0 => GridPlacement::start(line),
        1 => GridPlacement::end(line),
        2 => GridPlacement::span(dice.pick(&[1, 2, 40, u16::MAX])),
        _ => GridPlacement::auto(),
    }
}

/// Gives a node random tracks, and a random place in its parent.
pub(crate) fn add(node: &mut Node, dice: &mut Dice) {
    node.grid_template_rows = repeated(dice);
    node.grid_template_columns = repeated(dice);
    node.grid_auto_rows = tracks(dice);
    node.grid_auto_columns = tracks(dice);
    node.grid_row = place(dice);
    node.grid_column = place(dice);
}
