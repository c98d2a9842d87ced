//! Extracts the visible entities of a camera: their items are validated in parallel, and built where something has
//! changed.

use bevy_ecs::prelude::*;
use bevy_tasks::ComputeTaskPool;
use quadrille_content::buffers::RangeTable;

use crate::instances::mesh_instance::Instance;
use crate::queue::Scene;
use crate::queue::build::Builder;
use crate::queue::slices::TextureSlice;
use crate::scene::items::{BuiltItem, BuiltPart, Items, MovedItem};

/// Entities per task: some 50 us of work, many times the cost of a task.
const TASK_ENTITIES: usize = 1024;

/// Visibility class of entities.
#[derive(Clone, Copy)]
pub(crate) enum VisibleClass {
    /// Sprites and texts.
    Sprites,
    /// Meshes and tilemap chunks.
    Meshes,
}

/// Tasks, with memory that is reused.
#[derive(Default)]
pub(crate) struct Extraction(Vec<Task>);

/// Items of a part of the visible entities.
#[derive(Default)]
pub(crate) struct Task {
    pub(crate) found: Vec<FoundItem>,
    pub(crate) moved: Vec<MovedItem>,
    pub(crate) built: Vec<BuiltItem>,
    /// Rows of the built items.
    pub(crate) rows: Vec<Instance>,
    /// Parts of the built items.
    pub(crate) parts: Vec<BuiltPart>,
    /// Scratch memory.
    pub(crate) slices: Vec<TextureSlice>,
}

/// Item of a visible entity.
pub(crate) enum FoundItem {
    /// Unchanged, by index in [`Items`].
    Kept(u32),
    /// The next one in [`Task::moved`].
    Moved,
    /// The next one in [`Task::built`].
    Built,
}

impl Extraction {
    /// Validates the items of visible entities, which are sorted and may have duplicates: bevy lists an entity once per
    /// insertion of a component that adds the class, also after its removal.
    pub(crate) fn run(
        &mut self,
        scene: &Scene<'_, '_>,
        items: &Items,
        class: VisibleClass,
        visible: &[Entity],
    ) {
        let tasks = visible.len().div_ceil(TASK_ENTITIES);
        if self.0.len() < tasks {
            self.0.resize_with(tasks, Task::default);
        }
        self.0.iter_mut().for_each(Task::clear);
        let parts = (0_usize..)
            .step_by(TASK_ENTITIES)
            .zip(visible.chunks(TASK_ENTITIES));
        let work = self.0.iter_mut().zip(parts).map(|(task, (start, part))| {
            let before = start.checked_sub(1).map(|before| visible[before]);
            move || task.run(scene, items, class, (before, part))
        });
        match ComputeTaskPool::try_get() {
            Some(pool) if tasks > 1 => {
                pool.scope(|scope| work.for_each(|mut work| scope.spawn(async move { work() })));
            }
            _ => work.for_each(|mut work| work()),
        }
    }

    /// Applies the results to the items, and appends their indices to `visible`.
    pub(crate) fn apply(
        &mut self,
        items: &mut Items,
        rows: &mut RangeTable<Instance>,
        visible: &mut Vec<u32>,
    ) {
        for task in &self.0 {
            let (mut moved, mut built) = (task.moved.iter(), task.built.iter());
            for found in &task.found {
                match found {
                    FoundItem::Kept(index) => {
                        items.mark_used(*index);
                        visible.push(*index);
                    }
                    FoundItem::Moved => {
                        if let Some(moved) = moved.next() {
                            items.apply_move(moved, rows);
                            visible.push(moved.index);
                        }
                    }
                    FoundItem::Built => {
                        if let Some(item) = built.next() {
                            let built_rows =
                                &task.rows[item.rows.start as usize..item.rows.end as usize];
                            let parts =
                                &task.parts[item.parts.start as usize..item.parts.end as usize];
                            visible.push(items.apply(item, (built_rows, parts), rows));
                        }
                    }
                }
            }
        }
    }
}

impl Task {
    fn clear(&mut self) {
        self.found.clear();
        self.moved.clear();
        self.built.clear();
        self.rows.clear();
        self.parts.clear();
    }

    /// Validates the items of `part`, which follows the entity `before` in the list.
    fn run(
        &mut self,
        scene: &Scene<'_, '_>,
        items: &Items,
        class: VisibleClass,
        (mut before, part): (Option<Entity>, &[Entity]),
    ) {
        let mut builder = Builder::new(scene, items, self);
        for &entity in part {
            if before.replace(entity) == Some(entity) {
                continue;
            }
            match class {
                VisibleClass::Sprites => builder.validate_sprite_or_text(entity),
                VisibleClass::Meshes => builder.validate_mesh_or_chunk(entity),
            }
        }
    }
}
