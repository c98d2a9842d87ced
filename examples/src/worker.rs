//! A game of Life that a worker thread simulates, out of order with the main loop.
//!
//! Two boards take turns. The worker computes each from the other and submits as far ahead as it
//! may; the main loop draws whichever board is newest. That the worker must not overwrite a board
//! which is still being drawn is said nowhere here: the ring sees to it, on the device.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy_ecs::prelude::*;
use quadrille::ecs::{AccessKind, AnyAccess, Renderer, Stream, StreamError};
use quadrille::prelude::*;
use quadrille::vulkan::device::StreamDesc;
use quadrille::vulkan::resources::{Handle, Sharing};
use quadrille::vulkan::submit::{Consumer, Producer};

use crate::Board;
use crate::constants::{Paint, Step};
use crate::game::{Game, Pace, Shown};
use crate::hand::Hand;

/// How long a thread without work sleeps.
const NAP: Duration = Duration::from_millis(2);

/// How long the first board may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The boards, as the main loop gets them.
#[derive(Resource)]
pub struct Turns {
    consumer: Consumer,
    control: Arc<Mutex<Control>>,
}

/// State that the main loop and the worker share.
#[derive(Default)]
struct Control {
    /// Generations a turn.
    speed: u32,
    paused: bool,
    strokes: Vec<Paint>,
    /// The generation of each turn that was not taken yet.
    generations: VecDeque<(u64, u64)>,
}

/// The worker: it knows neither bevy nor the main loop.
struct Worker {
    producer: Producer,
    control: Arc<Mutex<Control>>,
    start: Board,
    step: (Step, ComputePipeline),
    paint: ComputePipeline,
    /// Boards for the generations between turns.
    between: [GpuBuffer; 2],
    pace: Pace,
    generation: u64,
    last: Option<Handle>,
}

/// Makes the two boards, starts the worker, and waits for its first board.
///
/// # Errors
/// No memory, no queue, or no thread.
pub fn start(
    commands: &mut Commands,
    renderer: &mut Renderer,
    game: &Game,
    speed: u32,
    [step, paint]: [ComputePipeline; 2],
) -> Result {
    let bytes = size_of_val(game.start.words()) as u64;
    let gpu = renderer.gpu().clone();
    let board = |name| gpu.create_buffer(&BufferDesc::storage(name, bytes));
    let shared = |name| {
        let desc = BufferDesc::storage(name, bytes);
        gpu.create_buffer(&desc.with_sharing(Sharing::Concurrent))
    };
    let slots = [shared("cells a")?, shared("cells b")?];
    let (producer, mut consumer) = renderer.ring("cells", slots)?;
    let control = Arc::new(Mutex::new(Control {
        speed,
        ..Control::default()
    }));
    let worker = Worker {
        producer,
        control: Arc::clone(&control),
        start: game.start.clone(),
        step: (Step::new(game.start.size(), game.rule), step),
        paint,
        between: [board("between a")?, board("between b")?],
        pace: game.pace(),
        generation: 0,
        last: None,
    };
    renderer.run_stream(&StreamDesc::compute("simulation"), |stream| {
        worker.run(stream)
    })?;
    consumer.wait(PATIENCE);
    let first = consumer
        .take_next()
        .ok_or("the simulation does not begin")?;
    if let Handle::Buffer(cells) = &first.slot {
        commands.insert_resource(Shown(cells.clone()));
    }
    lock(&control).generations.pop_front();
    commands.insert_resource(Turns { consumer, control });
    Ok(())
}

/// Takes the newest board there is, and tells the worker what the user wants.
pub fn take(
    mut game: ResMut<Game>,
    mut turns: ResMut<Turns>,
    mut hand: ResMut<Hand>,
    mut shown: ResMut<Shown>,
) {
    let turns = &mut *turns;
    let mut control = lock(&turns.control);
    control.speed = hand.speed;
    control.paused = hand.paused;
    control.strokes.append(&mut hand.strokes);
    let Some(turn) = turns.consumer.take_newest() else {
        return;
    };
    while let Some((number, generation)) = control.generations.pop_front() {
        game.generation = generation;
        if number == turn.number {
            break;
        }
    }
    if let Handle::Buffer(cells) = turn.slot {
        shown.0 = cells;
    }
}

impl Worker {
    fn run(mut self, mut stream: Stream) -> Result<(), StreamError> {
        let start = bytemuck::cast_slice::<u32, u8>(self.start.words()).to_vec();
        lock(&self.control).generations.push_back((1, 0));
        let mut last = None;
        stream.turn(&mut self.producer, |frame, turn| {
            if let Handle::Buffer(cells) = &turn.slot {
                frame.write_buffer(cells, 0, &start);
            }
            last = Some(turn.slot.clone());
        })?;
        self.last = last;
        let mut number = 1;
        while !stream.is_stopping() {
            let (steps, strokes) = self.wish();
            if steps == 0 && strokes.is_empty() {
                std::thread::sleep(NAP);
                continue;
            }
            self.generation += u64::from(steps);
            number += 1;
            lock(&self.control)
                .generations
                .push_back((number, self.generation));
            self.turn(&mut stream, steps, &strokes)?;
        }
        Ok(())
    }

    /// How many generations come next, and what is painted into the last of them.
    fn wish(&self) -> (u32, Vec<Paint>) {
        let mut control = lock(&self.control);
        let (speed, paused) = (control.speed, control.paused);
        let steps = self.pace.steps(self.generation, speed, paused);
        (steps, std::mem::take(&mut control.strokes))
    }

    /// Writes the next board from the last one, by way of boards that nobody sees.
    fn turn(
        &mut self,
        stream: &mut Stream,
        steps: u32,
        strokes: &[Paint],
    ) -> Result<(), StreamError> {
        let Some(last) = self.last.take() else {
            return Ok(());
        };
        let (step, pipeline) = &self.step;
        let between = self
            .between
            .each_ref()
            .map(|cells| Handle::Buffer(cells.clone()));
        let bytes = size_of_val(self.start.words()) as u64;
        let mut next = None;
        stream.turn(&mut self.producer, |frame, turn| {
            let board = |generation: u32| match generation {
                0 => &last,
                _ if generation >= steps => &turn.slot,
                _ => &between[generation as usize % 2],
            };
            for generation in 0..steps {
                let from = AnyAccess::of(board(generation), AccessKind::StorageRead);
                let to = AnyAccess::of(board(generation + 1), AccessKind::StorageWrite);
                let mut pass = frame.pass("step", &[from.as_declared(), to.as_declared()]);
                let mut compute = pass.compute(pipeline);
                compute.bind("current", &from).bind("next", &to).push(step);
                compute.dispatch(step.workgroups());
            }
            if steps == 0 {
                let from = AnyAccess::of(&last, AccessKind::TransferRead);
                let to = AnyAccess::of(&turn.slot, AccessKind::TransferWrite);
                let mut pass = frame.pass("keep", &[from.as_declared(), to.as_declared()]);
                pass.transfer().copy_buffer(&from, 0, &to, 0, bytes);
            }
            if !strokes.is_empty() {
                let cells = AnyAccess::of(&turn.slot, AccessKind::StorageReadWrite);
                let mut pass = frame.pass("paint", &[cells.as_declared()]);
                let mut compute = pass.compute(&self.paint);
                compute.bind("current", &cells);
                for stroke in strokes {
                    compute.push(stroke).dispatch(stroke.workgroups());
                }
            }
            next = Some(turn.slot.clone());
        })?;
        self.last = next;
        Ok(())
    }
}

fn lock(control: &Mutex<Control>) -> MutexGuard<'_, Control> {
    control.lock().unwrap_or_else(PoisonError::into_inner)
}
