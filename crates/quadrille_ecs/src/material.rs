//! Bindings of materials as data: `#[derive(AsBindGroup)]` collects uniforms, buffers, textures and samplers without
//! device calls. The crates that draw materials put them into tables.

use std::hash::Hash;

use bevy_asset::{Asset, Handle, RenderAssetUsages, UntypedHandle};
use bevy_image::Image;
use bevy_reflect::Reflect;
use bevy_reflect::prelude::ReflectDefault;
use encase::internal::WriteInto;
use encase::{ShaderSize, ShaderType, StorageBuffer};
use quadrille_vulkan::resources::GpuBuffer;

pub use quadrille_derive::AsBindGroup;

/// A type whose fields shaders read: a material. Derived, with the attributes of bevy's trait of the same name.
///
/// Fields with the same number in `#[uniform(0)]` form one struct in the shader, in the order of the fields.
/// `#[texture(1)]` and `#[sampler(2)]` take a `Handle<Image>` or an `Option` of one; without an image the texture is
/// white. `#[storage(3, read_only)]` takes a `Handle<ShaderBuffer>`, and with `buffer` a [`GpuBuffer`]; without `read_only`
/// shaders may write it. `#[storage_texture(4)]` takes an image with the usage `STORAGE_BINDING`. Draws of one pass are not
/// ordered against each other; passes are.
///
/// ```
/// # extern crate quadrille_ecs as quadrille;
/// use bevy_asset::Handle;
/// use bevy_color::LinearRgba;
/// use bevy_image::Image;
/// use quadrille::material::{AsBindGroup, BindingValues, MaterialBindingKind};
///
/// #[derive(AsBindGroup)]
/// struct Lava {
///     #[uniform(0)]
///     color: LinearRgba,
///     #[uniform(0)]
///     speed: f32,
///     #[texture(1)]
///     #[sampler(2)]
///     crust: Option<Handle<Image>>,
/// }
///
/// let bindings = Lava::bindings();
/// assert_eq!(bindings[0].kind, MaterialBindingKind::Uniform { bytes: 32 });
/// assert_eq!(bindings.len(), 3);
/// let mut values = BindingValues::default();
/// Lava { color: LinearRgba::RED, speed: 2.0, crust: None }.write_bindings(&mut values);
/// assert_eq!(values.uniforms().next().map(<[u8]>::len), Some(32));
/// ```
pub trait AsBindGroup: Sized {
    /// Pipeline key of the material: the type in `#[bind_group_data(..)]`.
    type Data: Clone + Eq + Hash + Send + Sync + 'static;

    /// Returns the pipeline key of this material.
    fn bind_group_data(&self) -> Self::Data;

    /// Returns all bindings, sorted by number.
    fn bindings() -> Vec<MaterialBinding>;

    /// Adds the value of each binding, in the order of [`Self::bindings`].
    fn write_bindings(&self, values: &mut BindingValues);
}

/// One binding of a material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaterialBinding {
    /// Number of the binding: `@binding` in the shader.
    pub binding: u32,
    /// The field of the material, or all fields of one uniform.
    pub field: &'static str,
    /// The kind of resource.
    pub kind: MaterialBindingKind,
}

impl MaterialBinding {
    /// Describes a uniform of this type, which has a fixed size.
    pub fn uniform<T: ShaderSize>(binding: u32, field: &'static str) -> Self {
        let bytes = T::SHADER_SIZE.get();
        Self {
            binding,
            field,
            kind: MaterialBindingKind::Uniform { bytes },
        }
    }
}

/// Kind of a material's binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialBindingKind {
    /// A value in WGSL's memory layout.
    Uniform {
        /// Size in bytes.
        bytes: u64,
    },
    /// An image.
    Texture {
        /// Dimension of the view.
        dimension: TextureDimension,
        /// Type of the texels.
        sample_type: TextureSampleType,
        /// Whether the texture is multisampled.
        multisampled: bool,
    },
    /// The sampler of an image.
    Sampler(SamplerBindingType),
    /// A storage buffer.
    Storage {
        /// Whether shaders may write it.
        writes: bool,
    },
    /// An image that shaders load and store texels of.
    StorageTexture {
        /// Dimension of its view.
        dimension: TextureDimension,
        /// Access of shaders to it.
        access: StorageTextureAccess,
    },
}

/// Access of shaders to a storage texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageTextureAccess {
    /// `read`.
    ReadOnly,
    /// `write`.
    WriteOnly,
    /// `read_write`.
    ReadWrite,
}

/// Dimension of a texture's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureDimension {
    /// `texture_1d`.
    D1,
    /// `texture_2d`.
    D2,
    /// `texture_2d_array`.
    D2Array,
    /// `texture_3d`.
    D3,
    /// `texture_cube`.
    Cube,
    /// `texture_cube_array`.
    CubeArray,
}

/// Type of a texture's texels in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureSampleType {
    /// `f32`.
    Float,
    /// Depth, for comparisons.
    Depth,
    /// `i32`.
    Sint,
    /// `u32`.
    Uint,
}

/// Kind of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplerBindingType {
    /// Interpolates between texels.
    Filtering,
    /// Takes the nearest texel.
    NonFiltering,
    /// Compares depths.
    Comparison,
}

/// Values of a material's bindings, in the order of the bindings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BindingValues(Vec<BindingValue>);

/// Value of one binding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BindingValue {
    /// A uniform, laid out as WGSL does.
    Uniform(Vec<u8>),
    /// An image, of which the texture, the storage texture or the sampler is bound.
    Image(Option<Handle<Image>>),
    /// A buffer of the program.
    Buffer(GpuBuffer),
    /// A buffer asset.
    BufferAsset(UntypedHandle),
}

impl BindingValues {
    /// Adds a uniform in WGSL's memory layout.
    pub fn uniform<T: ShaderType + WriteInto>(&mut self, value: &T) {
        let mut buffer = StorageBuffer::new(Vec::new());
        // A vector grows as needed, so writing cannot fail.
        let _ = buffer.write(value);
        self.0.push(BindingValue::Uniform(buffer.into_inner()));
    }

    /// Adds the image of a texture or sampler binding.
    pub fn image(&mut self, image: &impl MaterialImage) {
        self.0.push(BindingValue::Image(image.handle().cloned()));
    }

    /// Adds a storage buffer.
    pub fn storage(&mut self, buffer: &impl MaterialBuffer) {
        self.0.push(buffer.value());
    }

    /// Empties the uniforms: what is left are the resources.
    pub fn clear_uniforms(&mut self) {
        for value in &mut self.0 {
            if let BindingValue::Uniform(bytes) = value {
                *bytes = Vec::new();
            }
        }
    }

    /// All values, in order.
    pub fn iter(&self) -> impl Iterator<Item = &BindingValue> {
        self.0.iter()
    }

    /// The value of the binding with this index.
    pub fn get(&self, index: usize) -> Option<&BindingValue> {
        self.0.get(index)
    }

    /// The bytes of all uniforms, in order.
    pub fn uniforms(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().filter_map(|value| match value {
            BindingValue::Uniform(bytes) => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// The images of all textures and samplers, in order, with `None` also for buffers: the order is that of all bindings
    /// but uniforms.
    pub fn images(&self) -> impl Iterator<Item = Option<&Handle<Image>>> {
        self.0.iter().filter_map(|value| match value {
            BindingValue::Uniform(_) => None,
            BindingValue::Image(image) => Some(image.as_ref()),
            BindingValue::Buffer(_) | BindingValue::BufferAsset(_) => Some(None),
        })
    }
}

/// A field of a material with a storage buffer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no buffer of a material",
    label = "a field with `#[storage]` is a `Handle<ShaderBuffer>`, or with `buffer` a `GpuBuffer`"
)]
pub trait MaterialBuffer {
    /// The buffer.
    fn value(&self) -> BindingValue;
}

impl MaterialBuffer for GpuBuffer {
    fn value(&self) -> BindingValue {
        BindingValue::Buffer(self.clone())
    }
}

impl MaterialBuffer for Handle<ShaderBuffer> {
    fn value(&self) -> BindingValue {
        BindingValue::BufferAsset(self.clone().untyped())
    }
}

/// A storage buffer as an asset, by bevy's name: its bytes are uploaded when it is added or changed.
///
/// ```
/// # extern crate quadrille_ecs as quadrille;
/// use quadrille::material::ShaderBuffer;
///
/// let colors = ShaderBuffer::from(vec![[1.0_f32, 0.0, 0.0, 1.0]; 5]);
/// assert_eq!(colors.data.len(), 80);
///
/// let mut weights = ShaderBuffer::default();
/// weights.extend([0.25_f32, 0.5]);
/// weights.extend_from_slice(&[1.0_f32]);
/// assert_eq!(weights, ShaderBuffer::from(vec![0.25_f32, 0.5, 1.0]));
/// weights.clear();
/// assert!(weights.data.is_empty());
/// ```
#[derive(Asset, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ShaderBuffer {
    /// The bytes, as WGSL lays them out.
    pub data: Vec<u8>,
}

impl ShaderBuffer {
    /// A buffer with these values. bevy's usages have no meaning here: the asset keeps its bytes.
    pub fn new<T: bytemuck::NoUninit>(data: Vec<T>, _usages: RenderAssetUsages) -> Self {
        Self {
            data: bytemuck::cast_slice(&data).to_vec(),
        }
    }

    /// A buffer of zeros.
    pub fn with_size(bytes: u64, _usages: RenderAssetUsages) -> Self {
        Self {
            data: vec![0; bytes as usize],
        }
    }

    /// Removes all values, and keeps their memory.
    pub fn clear(&mut self) {
        self.data.clear();
    }

    /// Appends values as they lie in memory, where [`set_data`](Self::set_data) lays them out as WGSL does.
    pub fn extend<T: bytemuck::NoUninit>(&mut self, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.data.extend_from_slice(bytemuck::bytes_of(&value));
        }
    }

    /// Appends a slice, as [`extend`](Self::extend).
    pub fn extend_from_slice<T: bytemuck::NoUninit>(&mut self, values: &[T]) {
        self.data.extend_from_slice(bytemuck::cast_slice(values));
    }

    /// Replaces the value, laid out as WGSL does.
    pub fn set_data<T: ShaderType + WriteInto>(&mut self, value: T) {
        *self = Self::from(value);
    }
}

impl<T: ShaderType + WriteInto> From<T> for ShaderBuffer {
    fn from(value: T) -> Self {
        let mut buffer = StorageBuffer::new(Vec::new());
        // A vector grows as needed, so writing cannot fail.
        let _ = buffer.write(&value);
        Self {
            data: buffer.into_inner(),
        }
    }
}

/// A field of a material with an image.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no image of a material",
    label = "a field with `#[texture]` or `#[sampler]` is a `Handle<Image>` or an `Option<Handle<Image>>`"
)]
pub trait MaterialImage {
    /// The image, if there is one.
    fn handle(&self) -> Option<&Handle<Image>>;
}

impl MaterialImage for Handle<Image> {
    fn handle(&self) -> Option<&Handle<Image>> {
        Some(self)
    }
}

impl MaterialImage for Option<Handle<Image>> {
    fn handle(&self) -> Option<&Handle<Image>> {
        self.as_ref()
    }
}
