//! Table bindings: arrays of images, samplers and buffers in groups of their own.

use ash::vk;

use super::image::ShaderImage;
use crate::error::ShaderError;

/// A variable of a table's group (1 or above); a table is bound to the whole group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableBinding {
    /// The group.
    pub group: u32,
    /// Its number in the group.
    pub binding: u32,
    /// Its name in the source; empty if unknown.
    pub name: String,
    /// The part of the table.
    pub kind: TableKind,
    /// The stages that access it.
    pub stages: vk::ShaderStageFlags,
}

/// Part of a table at a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// The samplers; the table must have at least this number.
    Samplers(u32),
    /// The images.
    Images(ShaderImage),
    /// The storage buffers, which are only read.
    Buffers,
}

/// Kind of a table's members, on which its descriptor set depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Members {
    Images,
    Buffers,
}

impl Members {
    /// All kinds.
    pub(crate) const ALL: [Self; 2] = [Self::Images, Self::Buffers];

    /// Returns the descriptor type of a member.
    pub(crate) fn descriptor(self) -> vk::DescriptorType {
        match self {
            Self::Images => vk::DescriptorType::SAMPLED_IMAGE,
            Self::Buffers => vk::DescriptorType::STORAGE_BUFFER,
        }
    }

    /// The binding of a table's members.
    pub(crate) fn binding(self) -> u32 {
        match self {
            Self::Images => TableBinding::IMAGES,
            Self::Buffers => TableBinding::BUFFERS,
        }
    }
}

impl TableKind {
    /// Its name in errors.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Samplers(1) => "a sampler".to_owned(),
            Self::Samplers(count) => format!("{count} samplers"),
            Self::Images(_) | Self::Buffers => format!("an array of {}", self.elements()),
        }
    }

    /// Names the array's elements in errors.
    pub(crate) fn elements(self) -> String {
        match self {
            Self::Samplers(_) => "samplers".to_owned(),
            Self::Images(image) => image.words(),
            Self::Buffers => "storage buffers".to_owned(),
        }
    }

    /// Names a member, in a word.
    pub(crate) fn noun(self) -> &'static str {
        match self.members() {
            Members::Images => "image",
            Members::Buffers => "buffer",
        }
    }

    /// The name of its table's type.
    pub(crate) fn table(self) -> &'static str {
        match self.members() {
            Members::Images => "ImageTable",
            Members::Buffers => "BufferTable",
        }
    }

    /// Returns the kind of its table's members: samplers belong to images.
    pub(crate) fn members(self) -> Members {
        match self {
            Self::Samplers(_) | Self::Images(_) => Members::Images,
            Self::Buffers => Members::Buffers,
        }
    }
}

/// Returns the error of a table that a shader writes, as members of tables are only read.
pub(super) fn written_members(name: &str) -> String {
    format!(
        "{name} is an array of storage buffers that it may write; the buffers of a table are only read: \
         `var<storage, read>` in WGSL, `NonWritable` in SPIR-V"
    )
}

impl ShaderImage {
    /// Type in errors, as in WGSL.
    pub(crate) fn words(&self) -> String {
        use super::location::ScalarKind;
        let texels = match self.texels {
            Some(ScalarKind::Sint) => "i32",
            Some(ScalarKind::Uint) => "u32",
            Some(ScalarKind::Float) | None => "f32",
        };
        let dimension = match self.view {
            vk::ImageViewType::TYPE_1D => "1d",
            vk::ImageViewType::TYPE_2D_ARRAY => "2d_array",
            vk::ImageViewType::TYPE_3D => "3d",
            vk::ImageViewType::CUBE => "cube",
            vk::ImageViewType::CUBE_ARRAY => "cube_array",
            _ => "2d",
        };
        format!("texture_{dimension}<{texels}>")
    }
}

impl TableBinding {
    /// Last group for tables, which start at 1: the guaranteed minimum of `maxBoundDescriptorSets` is 4.
    pub const LAST_GROUP: u32 = 3;

    /// Binding of the samplers in a table of images.
    pub const SAMPLERS: u32 = 0;

    /// Binding of the images in a table of images.
    pub const IMAGES: u32 = 1;

    /// Binding of the buffers in a table of buffers.
    pub const BUFFERS: u32 = 0;

    /// Maximum number of samplers of a table. Sets of tables are updated after binding, so that
    /// `maxPerStageDescriptorUpdateAfterBindSamplers` limits them, whose guaranteed minimum is 500,000.
    pub const MAX_SAMPLERS: u32 = 64;

    /// Group and binding, for errors.
    pub(crate) fn words(&self) -> String {
        let (group, binding, name) = (self.group, self.binding, &self.name);
        format!("@group({group}) @binding({binding}) `{name}`")
    }

    /// Checks that a table can be bound to it.
    pub(super) fn check(self, label: &str) -> Result<Self, ShaderError> {
        let name = &self.name;
        let (group, binding) = (self.group, self.binding);
        let problem = if group > Self::LAST_GROUP {
            format!(
                "{name} is in @group({group}); tables belong in the groups 1 to {}",
                Self::LAST_GROUP
            )
        } else {
            let (place, what) = match self.kind {
                TableKind::Samplers(_) => (Self::SAMPLERS, "samplers"),
                TableKind::Images(_) => (Self::IMAGES, "images"),
                TableKind::Buffers => (Self::BUFFERS, "buffers"),
            };
            match self.kind {
                _ if binding != place => format!(
                    "{name} is at @group({group}) @binding({binding}); the {what} of a table are at \
                     @binding({place})"
                ),
                TableKind::Samplers(count) if count > Self::MAX_SAMPLERS => format!(
                    "{name} has {count} samplers; a table has at most {}",
                    Self::MAX_SAMPLERS
                ),
                TableKind::Images(image) if image.multisampled => {
                    format!("{name} is of multisampled images, which tables do not have")
                }
                _ => return Ok(self),
            }
        };
        Err(ShaderError::Interface {
            label: label.to_owned(),
            problem,
        })
    }
}

/// Merges the table bindings of several stages into one list.
pub(crate) fn merge<'a>(
    pipeline: &str,
    bindings: impl Iterator<Item = &'a TableBinding>,
) -> Result<Vec<TableBinding>, ShaderError> {
    let mut merged: Vec<TableBinding> = Vec::new();
    for binding in bindings {
        let place = |it: &TableBinding| (it.group, it.binding);
        let mut known = merged.iter_mut();
        let Some(known) = known.find(|known| place(known) == place(binding)) else {
            merged.push(binding.clone());
            continue;
        };
        known.stages |= binding.stages;
        match (&mut known.kind, binding.kind) {
            (TableKind::Samplers(most), TableKind::Samplers(count)) => *most = count.max(*most),
            (known, other) if *known == other => {}
            (kind, other) => {
                let problem = format!(
                    "@group({}) @binding({}) is {} ({}) and also {} ({})",
                    binding.group,
                    binding.binding,
                    kind.word(),
                    known.name,
                    other.word(),
                    binding.name,
                );
                let label = pipeline.to_owned();
                return Err(ShaderError::Interface { label, problem });
            }
        }
    }
    merged.sort_by_key(|it| (it.group, it.binding));
    let is_mixed = |pair: &&[TableBinding]| {
        let [one, other] = [&pair[0], &pair[1]];
        one.group == other.group && one.kind.members() != other.kind.members()
    };
    if let Some(pair) = merged.windows(2).find(is_mixed) {
        let [one, other] = [&pair[0], &pair[1]].map(|it| (it.words(), it.kind.word()));
        return Err(ShaderError::Interface {
            label: pipeline.to_owned(),
            problem: format!(
                "{} is {} and {} is {}; a group is one table, of images or of buffers",
                one.0, one.1, other.0, other.1
            ),
        });
    }
    Ok(merged)
}

/// Returns the members of the table of each group, from group 1 on up to the last that has one.
pub(crate) fn groups(bindings: &[TableBinding]) -> Vec<Members> {
    // Groups in between may be unused; nothing is bound to them.
    let last = bindings.iter().map(|it| it.group).max().unwrap_or(0);
    let members = |group| {
        let of_it = bindings.iter().find(|it| it.group == group);
        of_it.map_or(Members::Images, |it| it.kind.members())
    };
    (1..=last).map(members).collect()
}

/// Describes a table binding of a reloaded shader that the layout lacks.
pub(crate) fn excess(served: &[TableBinding], new: &TableBinding) -> Option<String> {
    let (group, binding, name) = (new.group, new.binding, &new.name);
    let mut served = served.iter();
    let known = served.find(|it| (it.group, it.binding) == (group, binding));
    match known {
        None => Some(format!(
            "it uses @group({group}) @binding({binding}) {name}, to which the program binds no table"
        )),
        Some(known) if known.kind != new.kind => Some(format!(
            "@group({group}) @binding({binding}) {name} is {} and was {}",
            new.kind.word(),
            known.kind.word()
        )),
        Some(_) => None,
    }
}
