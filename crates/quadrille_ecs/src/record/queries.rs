//! Recording of queries and conditional rendering.

use quadrille_vulkan::resources::QuerySet;

use crate::declare::access::{Access, kind, stage};
use crate::declare::bind::{Bound, Declared};
use crate::declare::kind::AccessKind;
use crate::declare::named::Named;
use crate::record::compute::Compute;
use crate::record::recording::SubRecording;
use crate::record::rendering::Rendering;

/// A declared query set: a parameter [`QueryWrite<T>`](crate::QueryWrite) whose `T` dereferences to a
/// [`QuerySet`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no declared query set",
    label = "a parameter such as `QueryWrite<Visible>` is expected here, by reference",
    note = "`Visible` is a bevy resource that dereferences to a `QuerySet`"
)]
pub trait DeclaredQueries {
    /// The set.
    fn declared_queries(&self) -> &QuerySet;

    /// The buffer with the results, and the declared access.
    fn bound_queries(&self) -> Bound<'_>;
}

impl<T, S> DeclaredQueries for Access<'_, T, kind::Query, S>
where
    T: Named<Handle = QuerySet>,
    S: stage::Stage,
{
    fn declared_queries(&self) -> &QuerySet {
        self
    }

    fn bound_queries(&self) -> Bound<'_> {
        self.bound()
    }
}

/// Condition under which commands run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    IfZero,
    UnlessZero,
}

/// A scope that records into a pass.
trait Scope {
    /// Returns the recording, if commands can be recorded.
    fn recording(&mut self) -> Option<&mut SubRecording>;
}

impl Scope for Rendering<'_> {
    fn recording(&mut self) -> Option<&mut SubRecording> {
        self.begun_recording()
    }
}

impl Scope for Compute<'_> {
    fn recording(&mut self) -> Option<&mut SubRecording> {
        Some(self.own_recording())
    }
}

fn query<S: Scope>(
    scope: &mut S,
    queries: &impl DeclaredQueries,
    query: u32,
    commands: impl FnOnce(&mut S),
) {
    let set = queries.declared_queries();
    let bound = queries.bound_queries();
    let begun = scope.recording().is_some_and(|recording| {
        let used = recording.used_buffer(bound, AccessKind::Query, "query");
        if used.is_some() {
            recording.list.begin_query(set, query);
        }
        used.is_some()
    });
    commands(scope);
    if let Some(recording) = scope.recording().filter(|_| begun) {
        recording.list.end_query(set, query);
    }
}

fn condition<S: Scope>(
    scope: &mut S,
    (value, offset): (&impl Declared, u64),
    counts: Counts,
    commands: impl FnOnce(&mut S),
) {
    let bound = value.bound();
    let (command, inverted) = match counts {
        Counts::UnlessZero => ("when", false),
        Counts::IfZero => ("unless", true),
    };
    let begun = scope.recording().is_some_and(|recording| {
        let used = recording.used_buffer(bound, AccessKind::Condition, command);
        if let Some(buffer) = used {
            recording.list.begin_condition(buffer, offset, inverted);
        }
        used.is_some()
    });
    commands(scope);
    if let Some(recording) = scope.recording().filter(|_| begun) {
        recording.list.end_condition();
    }
}

impl Rendering<'_> {
    /// Runs a query of a set around draws. At its end the pass copies the result to the set's buffer, where later
    /// passes read it. A frame may use each query once, and queries of one kind do not nest.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::{GpuImage, QuerySet, QuerySetDesc};
    /// # #[derive(Resource, Deref)] struct Depth(GpuImage);
    /// # #[derive(Resource)] struct Boxes(GraphicsPipeline);
    /// #[derive(Resource, Deref)]
    /// struct Visible(QuerySet);
    ///
    /// /// At `RenderStartup`.
    /// fn make(mut commands: Commands, gpu: Res<GpuDevice>) -> Result {
    ///     commands.insert_resource(Visible(gpu.query_set(&QuerySetDesc::occlusion("visible", 64))?));
    ///     Ok(())
    /// }
    ///
    /// /// Finds out which of 64 boxes can be seen.
    /// fn test(
    ///     mut recorder: Recorder,
    ///     depth: DepthRead<Depth>,
    ///     visible: QueryWrite<Visible>,
    ///     boxes: Res<Boxes>,
    /// ) {
    ///     let mut rendering = recorder.render(depth.keep_depth());
    ///     rendering.pipeline(&boxes.0);
    ///     for at in 0..64 {
    ///         rendering.query(&visible, at, |rendering| {
    ///             rendering.draw(0..36, at..at + 1);
    ///         });
    ///     }
    /// }
    /// ```
    pub fn query(
        &mut self,
        queries: &impl DeclaredQueries,
        query: u32,
        draws: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self::query(self, queries, query, draws);
        self
    }

    /// Executes draws and clears of attachments only if the `u32` at byte `offset` of a buffer is not
    /// 0 (conditional rendering), as evaluated by the device. The buffer may be a
    /// query set, with [`result_offset`](QuerySet::result_offset) as the offset.
    /// Conditions do not nest. Needs `VK_EXT_conditional_rendering`.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::QuerySet;
    /// # #[derive(Resource, Deref)] struct Visible(QuerySet);
    /// # #[derive(Resource)] struct Statue(GraphicsPipeline);
    /// fn draw(
    ///     mut recorder: Recorder,
    ///     window: ColorTarget<PrimaryWindowImage>,
    ///     visible: ConditionRead<Visible>,
    ///     statue: Res<Statue>,
    /// ) {
    ///     let mut rendering = recorder.render(window.clear([0.0; 4]));
    ///     rendering.pipeline(&statue.0).when(&visible, visible.result_offset(3), |rendering| {
    ///         rendering.draw(0..90_000, 0..1);
    ///     });
    /// }
    /// ```
    pub fn when(
        &mut self,
        value: &impl Declared,
        offset: u64,
        draws: impl FnOnce(&mut Self),
    ) -> &mut Self {
        condition(self, (value, offset), Counts::UnlessZero, draws);
        self
    }

    /// Like [`Rendering::when`], but executes if the value is 0. With the same value, exactly one of both executes.
    /// Record one after the other, since conditions do not nest.
    ///
    /// ```
    /// # use bevy_derive::Deref;
    /// # use bevy_ecs::prelude::*;
    /// # use quadrille_ecs::*;
    /// # use quadrille_vulkan::pipeline::GraphicsPipeline;
    /// # use quadrille_vulkan::resources::QuerySet;
    /// # #[derive(Resource, Deref)] struct Visible(QuerySet);
    /// # #[derive(Resource)] struct Statue { whole: GraphicsPipeline, rough: GraphicsPipeline }
    /// fn draw(
    ///     mut recorder: Recorder,
    ///     window: ColorTarget<PrimaryWindowImage>,
    ///     visible: ConditionRead<Visible>,
    ///     statue: Res<Statue>,
    /// ) {
    ///     let offset = visible.result_offset(3);
    ///     let mut rendering = recorder.render(window.clear([0.0; 4]));
    ///     rendering.when(&visible, offset, |rendering| {
    ///         rendering.pipeline(&statue.whole).draw(0..90_000, 0..1);
    ///     });
    ///     // It may come into view with the next frame.
    ///     rendering.unless(&visible, offset, |rendering| {
    ///         rendering.pipeline(&statue.rough).draw(0..300, 0..1);
    ///     });
    /// }
    /// ```
    pub fn unless(
        &mut self,
        value: &impl Declared,
        offset: u64,
        draws: impl FnOnce(&mut Self),
    ) -> &mut Self {
        condition(self, (value, offset), Counts::IfZero, draws);
        self
    }
}

impl Compute<'_> {
    /// Runs a query around dispatches: see [`Rendering::query`].
    pub fn query(
        &mut self,
        queries: &impl DeclaredQueries,
        query: u32,
        dispatches: impl FnOnce(&mut Self),
    ) -> &mut Self {
        self::query(self, queries, query, dispatches);
        self
    }

    /// Dispatches only if the `u32` at `offset` bytes of a buffer is not 0: see [`Rendering::when`].
    pub fn when(
        &mut self,
        value: &impl Declared,
        offset: u64,
        dispatches: impl FnOnce(&mut Self),
    ) -> &mut Self {
        condition(self, (value, offset), Counts::UnlessZero, dispatches);
        self
    }

    /// Dispatches only if the value is 0: see [`Rendering::unless`].
    pub fn unless(
        &mut self,
        value: &impl Declared,
        offset: u64,
        dispatches: impl FnOnce(&mut Self),
    ) -> &mut Self {
        condition(self, (value, offset), Counts::IfZero, dispatches);
        self
    }
}
