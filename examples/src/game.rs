//! State of a game of Life apart from rendering: generations, speed, population.

use std::error::Error;
use std::path::PathBuf;

use bevy_derive::Deref;
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use bevy_window::{PrimaryWindow, Window};
use quadrille::prelude::*;
use quadrille::vulkan::file::write_file;

use crate::hand::MAX_SPEED;
use crate::run::Run;
use crate::{Board, CommonArgs, Pattern, Rule, Size, rle};

/// Plays Conway's Game of Life, or another life-like rule, on a torus.
///
/// Left mouse button paints (with shift it erases), right button drags, wheel zooms, space
/// pauses, + and - change the speed.
#[derive(clap::Parser)]
#[command(name = "life", after_help = EXAMPLES)]
pub struct LifeArgs {
    /// The pattern to begin with, run length encoded [default: the R-pentomino]
    #[arg(long, value_name = "FILE.rle")]
    pub pattern: Option<PathBuf>,
    /// The board's size in cells, at most 8192x8192
    #[arg(long, value_name = "WxH", default_value = "480x270")]
    pub size: Size,
    /// Stop at this generation [default: as many as there are frames]
    #[arg(long, value_name = "N")]
    pub generations: Option<u64>,
    /// Generations a frame [default: 1, headless 16]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SPEED)))]
    pub speed: Option<u32>,
    /// Let the queue families own the cells together instead of in turn
    #[arg(long)]
    pub concurrent: bool,
    /// Simulate in a worker thread that submits for itself, out of order with the drawing
    #[arg(long, conflicts_with = "concurrent")]
    pub worker: bool,
    /// Write the last generation as a pattern
    #[arg(long, value_name = "FILE.rle")]
    pub save: Option<PathBuf>,
    /// Arguments of every example.
    #[command(flatten)]
    pub common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  life --pattern assets/patterns/gosper_gun.rle --size 120x80
  life --headless --generations 1103 --size 2048x2048 --report report.json
  life --headless --generations 500 --screenshot life.png --plan plan.txt";

/// The number of live cells, updated on request.
#[derive(Resource, Deref)]
pub struct Population(pub GpuBuffer);

/// The cells that the window shows.
#[derive(Resource, Deref)]
pub struct Shown(pub GpuBuffer);

/// The state of the game.
#[derive(Resource)]
pub struct Game {
    /// The board at generation 0.
    pub start: Board,
    /// The rule.
    pub rule: Rule,
    /// The generation at the end of the frame.
    pub generation: u64,
    /// Generations of this frame.
    pub steps: u32,
    /// Where to stop.
    target: Option<u64>,
    /// The generation at which the device was lost; recomputed at full speed up to it.
    behind: u64,
    save: Option<PathBuf>,
    /// The generation whose population is being counted.
    counting: Option<u64>,
    population: Option<u64>,
    ended: bool,
    /// Time and generation when the title was set last.
    titled: (f32, u64),
}

/// Pace of a game: not beyond its target, and at full speed up to the generation before a lost device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    target: Option<u64>,
    behind: u64,
}

impl Pace {
    /// Number of generations to compute in the frame after `generation`.
    pub fn steps(&self, generation: u64, speed: u32, paused: bool) -> u32 {
        let left = self.target.map_or(u64::MAX, |target| target - generation);
        let behind = self.behind.saturating_sub(generation);
        let steps = match (behind, paused) {
            (0, true) => 0,
            (0, false) => u64::from(speed),
            _ => behind.min(u64::from(MAX_SPEED)),
        };
        steps.min(left) as u32
    }
}

impl LifeArgs {
    /// Generations a frame. Without a window nobody watches each of them.
    pub fn speed(&self) -> u32 {
        self.speed
            .unwrap_or(if self.common.headless { 16 } else { 1 })
    }
}

impl Game {
    /// The game as the command line wants it.
    ///
    /// # Errors
    /// When the pattern cannot be read, is malformed, or does not fit on the board.
    pub fn new(args: &LifeArgs) -> Result<Self, Box<dyn Error>> {
        let built_in = include_bytes!("../../assets/patterns/r_pentomino.rle");
        let pattern = match &args.pattern {
            Some(path) => Pattern::load(path)?,
            None => Pattern::parse("r_pentomino.rle", built_in)?,
        };
        let mut start = Board::new(args.size);
        start.place_centred(&pattern)?;
        let by_frames = args
            .common
            .frame_limit()
            .map(|frames| frames * u64::from(args.speed()));
        Ok(Self {
            start,
            rule: pattern.rule.unwrap_or(Rule::CONWAY),
            generation: 0,
            steps: 0,
            target: args.generations.or(by_frames),
            behind: 0,
            save: args.save.clone(),
            counting: None,
            population: None,
            ended: false,
            titled: (0.0, 0),
        })
    }

    /// The run that the game asks for: until its target, if it has one.
    pub fn run(&self, args: &CommonArgs) -> Run {
        let run = Run::new(args);
        if self.target.is_some() {
            run.until_finished()
        } else {
            run
        }
    }

    /// Starts on a new device. After a lost device the generations up to the loss are recomputed at full speed;
    /// painted cells are lost.
    pub fn begin(&mut self) {
        self.behind = self.behind.max(self.generation);
        self.generation = 0;
        self.steps = 0;
        self.counting = None;
    }

    /// Decides how many generations the next frame computes.
    pub fn advance(&mut self, speed: u32, paused: bool) {
        self.steps = self.pace().steps(self.generation, speed, paused);
        self.generation += u64::from(self.steps);
    }

    /// How the game goes on from any generation.
    pub fn pace(&self) -> Pace {
        Pace {
            target: self.target,
            behind: self.behind,
        }
    }

    /// A run condition: whether this frame's population is asked for.
    pub fn is_counting(game: Res<Self>) -> bool {
        game.counting == Some(game.generation)
    }

    fn title(&self, elapsed: f32) -> String {
        // A device that is lost takes generations with it.
        let steps = self.generation.saturating_sub(self.titled.1);
        let speed = steps as f32 / elapsed.max(0.001);
        let population = self
            .population
            .map_or("..".to_owned(), |count| count.to_string());
        let generation = self.generation;
        format!("Life: generation {generation}, population {population}, {speed:.0} generations/s")
    }
}

/// A system that asks for the population twice a second and at the end, shows it in the title,
/// puts it into the report, and ends the run at the target.
pub fn ask(
    mut commands: Commands,
    mut game: ResMut<Game>,
    mut run: ResMut<Run>,
    buffers: (Res<Population>, Res<Shown>),
    time: Res<Time<Real>>,
    window: Option<Single<&mut Window, With<PrimaryWindow>>>,
) {
    let (now, at_end) = (time.elapsed_secs(), Some(game.generation) == game.target);
    let elapsed = now - game.titled.0;
    if game.counting.is_some() || game.ended || (elapsed < 0.5 && !at_end) {
        return;
    }
    if let Some(mut window) = window {
        window.title = game.title(elapsed);
    }
    game.titled = (now, game.generation);
    game.counting = Some(game.generation);
    if at_end {
        run.keep_plan();
    }
    if at_end && game.save.is_some() {
        commands.spawn(Readback::buffer(&buffers.1)).observe(save);
    }
    commands
        .spawn(Readback::buffer(&buffers.0))
        .observe(counted);
}

fn counted(done: On<ReadbackComplete>, mut game: ResMut<Game>, mut run: ResMut<Run>) {
    game.population = done
        .bytes
        .first_chunk()
        .map(|bytes| u64::from(u32::from_ne_bytes(*bytes)));
    let Some(generation) = game.counting.take() else {
        return;
    };
    run.report.insert("generation".into(), generation.into());
    run.report
        .insert("population".into(), game.population.into());
    if Some(generation) == game.target {
        game.ended = true;
        run.finish();
    }
}

fn save(done: On<ReadbackComplete>, game: Res<Game>, mut run: ResMut<Run>) {
    let words = bytemuck::pod_collect_to_vec::<u8, u32>(&done.bytes);
    let Some(path) = &game.save else { return };
    let board = Board::from_words(game.start.size(), words).map_err(std::io::Error::other);
    let saved = board.and_then(|board| write_file(path, rle::write(&board, game.rule).as_bytes()));
    run.wrote("pattern", path, saved);
}

#[cfg(test)]
#[path = "game_tests.rs"]
mod tests;
