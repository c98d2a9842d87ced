//! Images and their views.
//!
//! The image of a swapchain is a [`GpuImage`] whose Vulkan handles are set at each acquisition, so passes can be
//! recorded before it.

pub(crate) mod check;
mod create;
mod desc;
mod extent;

pub(crate) use create::{can_blend, can_draw_to, can_sample, can_scale, info as create_info};
pub use desc::{ImageDesc, ImageUsage};
pub use extent::Extent;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ash::vk::{self, Handle as _};
use quadrille_sync::flags::Aspects;
use quadrille_sync::resource::{Lifetime, Resource, ResourceId, ResourceKind, Sharing as Mode};

use crate::device::Device;
use crate::device::backing::{Backing, Block, Resident};
use crate::device::retire::Retired;
use crate::error::Error;
use crate::lock;
use crate::resources::format;
use crate::resources::object::Object;
use crate::resources::view::{View, ViewKey};

/// A replaced Vulkan image, with its views and its memory.
type Replaced = (vk::Image, Vec<(ViewKey, vk::ImageView)>, Backing);

/// An image. Clones are the same image; when the last one is dropped, the image is retired: it is
/// destroyed once no queue can still use it.
// The id is also stored beside the pointer: recording needs only the id, without a pointer chase.
#[derive(Clone)]
pub struct GpuImage(Arc<ImageInner>, ResourceId);

struct ImageInner {
    object: Object,
    desc: ImageDesc,
    /// View of the whole image; it changes with the raw handle, as the extent does.
    view: AtomicU64,
    extent: AtomicU64,
    views: Mutex<Vec<(ViewKey, vk::ImageView)>>,
    /// Whether its raw handle is that of a swapchain's acquired image.
    is_swapchain: bool,
}

impl GpuImage {
    /// Creates an image.
    pub(crate) fn new(device: &Arc<Device>, desc: &ImageDesc) -> Result<Self, Error> {
        let desc = &ImageDesc {
            sharing: desc.sharing.or(device.sharing),
            ..desc.clone()
        };
        check::check(device, desc)?;
        if desc.transient {
            let needs = create::requirements(device, desc)?;
            return Ok(Self::assemble(device, desc, false, Some(needs)));
        }
        let image = Self::assemble(device, desc, false, None);
        image.bind_memory(None)?;
        Ok(image)
    }

    /// Creates the image handle of a swapchain, an alias of the acquired image.
    pub(crate) fn of_swapchain(device: &Arc<Device>, desc: &ImageDesc) -> Self {
        Self::assemble(device, desc, true, None)
    }

    /// Makes an image of a Vulkan image and memory that others share, from the create info of its description.
    pub(crate) fn adopt(
        device: &Arc<Device>,
        desc: &ImageDesc,
        make: impl FnOnce(vk::ImageCreateInfo<'static>) -> Result<(vk::Image, Backing), Error>,
    ) -> Result<Self, Error> {
        check::check(device, desc)?;
        let (raw, backing) = make(create_info(device, desc))?;
        let image = Self::assemble(device, desc, false, None);
        let key = image.whole_key();
        let view = create::create_view(device, raw, desc, key);
        let known = *view.as_ref().unwrap_or(&vk::ImageView::null());
        let mut own = image.object().backing();
        image.replace(&mut own, (raw, backing, known), Some(key));
        drop(own);
        view.map(|_| image)
    }

    fn assemble(
        device: &Arc<Device>,
        desc: &ImageDesc,
        is_swapchain: bool,
        needs: Option<vk::MemoryRequirements>,
    ) -> Self {
        let object = Object::new(device, &desc.name, desc.sharing, needs);
        let id = object.id;
        let inner = ImageInner {
            object,
            desc: desc.clone(),
            view: AtomicU64::new(0),
            extent: AtomicU64::new(pack(desc.extent)),
            views: Mutex::default(),
            is_swapchain,
        };
        Self(Arc::new(inner), id)
    }

    /// Sets the handles of a swapchain's acquired image; null handles while none is acquired.
    pub(crate) fn set_acquired(&self, raw: vk::Image, view: vk::ImageView, extent: [u32; 2]) {
        self.object().set_raw(raw.as_raw());
        self.0.view.store(view.as_raw(), Ordering::Relaxed);
        self.0
            .extent
            .store(pack([extent[0], extent[1], 1]), Ordering::Relaxed);
    }

    /// Binds the image to `placement`, or to memory of its own. If its memory changes, the Vulkan image is recreated
    /// without contents and the old one is retired.
    pub(crate) fn bind_memory(&self, placement: Option<(&Arc<Block>, u64)>) -> Result<(), Error> {
        let Self(image, _) = self;
        let object = &image.object;
        let mut backing = object.backing();
        if backing.is_at(placement) {
            return Ok(());
        }
        let key = self.whole_key();
        let new = create::create_in(&object.device, &image.desc, object.mode(), placement, key)?;
        self.retire(self.replace(&mut backing, new, Some(key)));
        if let Some((block, _)) = placement {
            let resident: Weak<dyn Resident> = Arc::downgrade(image) as _;
            block.note(resident);
        }
        Ok(())
    }

    /// Unbinds the image, if its memory is in this block.
    fn unbind(&self, block: &Arc<Block>) {
        let mut backing = self.object().backing();
        if backing.offset_in(block).is_some() {
            self.retire(self.replace(&mut backing, Default::default(), None));
        }
    }

    /// Replaces the Vulkan image by one of another sharing mode, without contents. Returns the old one under a new
    /// id; a transient image is only unbound, and recreated when a frame uses it.
    pub(crate) fn change_sharing(&self, mode: Mode) -> Result<Option<Self>, Error> {
        let ImageInner { object, desc, .. } = &*self.0;
        let mut backing = object.backing();
        let old_mode = object.mode();
        if object.needs.is_some() {
            self.retire(self.replace(&mut backing, Default::default(), None));
            object.set_mode(mode);
            return Ok(None);
        }
        let key = self.whole_key();
        let new = create::create_in(&object.device, desc, mode, None, key)?;
        let (raw, views, old_backing) = self.replace(&mut backing, new, Some(key));
        object.set_mode(mode);
        let desc = ImageDesc {
            name: format!("{}_before", desc.name),
            ..desc.clone()
        };
        let old = Self::assemble(&object.device, &desc, false, None);
        old.object().set_mode(old_mode);
        old.object().set_raw(raw.as_raw());
        let whole = views.iter().find(|(of, _)| *of == key);
        let whole = whole.map_or(vk::ImageView::null(), |(_, view)| *view);
        old.0.view.store(whole.as_raw(), Ordering::Relaxed);
        *lock(&old.0.views) = views;
        *old.object().backing() = old_backing;
        Ok(Some(old))
    }

    /// Whether its contents can be copied to another image of the same description.
    pub(crate) fn can_be_copied(&self) -> bool {
        create::usage(&self.object().device, &self.0.desc).contains(create::COPIES)
    }

    /// Key of the view of the whole image.
    fn whole_key(&self) -> ViewKey {
        ViewKey {
            view: View::WHOLE,
            aspects: format::aspects(self.0.desc.format),
            kind: self.default_view_kind(),
        }
    }

    /// Replaces the Vulkan image with its views and memory, and returns the old ones.
    fn replace(
        &self,
        backing: &mut Backing,
        (raw, new, view): (vk::Image, Backing, vk::ImageView),
        whole: Option<ViewKey>,
    ) -> Replaced {
        let Self(image, _) = self;
        let old = std::mem::replace(backing, new);
        let old_raw = image.object.replace(raw.as_raw());
        image.view.store(view.as_raw(), Ordering::Relaxed);
        let views = whole.map(|key| (key, view)).into_iter().collect();
        let old_views = std::mem::replace(&mut *lock(&image.views), views);
        (vk::Image::from_raw(old_raw), old_views, old)
    }

    /// Hands a replaced object to the device for destruction.
    fn retire(&self, (raw, views, backing): Replaced) {
        if !backing.is_unbound() {
            self.object().retire(Retired::Image {
                id: None,
                raw,
                views: views.into_iter().map(|(_, view)| view).collect(),
                backing,
            });
        }
    }

    /// Returns the part that buffers and images have in common.
    pub(crate) fn object(&self) -> &Object {
        &self.0.object
    }

    /// Its id, which is the same in all frames.
    #[inline]
    pub fn id(&self) -> ResourceId {
        self.1
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object().name
    }

    /// Its format.
    pub fn format(&self) -> vk::Format {
        self.0.desc.format
    }

    /// Width, height and depth in texels; for a swapchain's image the current ones.
    pub fn extent(&self) -> [u32; 3] {
        let packed = self.0.extent.load(Ordering::Relaxed);
        let part = |shift: u32| ((packed >> shift) & 0x1f_ffff) as u32;
        [part(0), part(21), part(42)]
    }

    /// The description it was created from. For a swapchain's image the extent in it is the first one;
    /// use [`GpuImage::extent`] for the current one.
    pub fn desc(&self) -> &ImageDesc {
        &self.0.desc
    }

    /// Whether it is the image of a swapchain.
    pub fn is_swapchain(&self) -> bool {
        self.0.is_swapchain
    }

    /// The aspects of its format.
    pub fn aspects(&self) -> Aspects {
        Aspects::from_bits_truncate(format::aspects(self.format()).as_raw())
    }

    /// Returns its declaration for the solver.
    pub fn declare(&self) -> Resource {
        self.declare_as(Arc::clone(&self.object().name))
    }

    /// [`GpuImage::declare`] with an existing reference to the name.
    pub(crate) fn declare_as(&self, name: Arc<str>) -> Resource {
        let desc = &self.0.desc;
        let kind = ResourceKind::Image {
            aspects: self.aspects(),
            mip_levels: desc.mip_levels,
            array_layers: desc.array_layers,
            slices: desc.extent[2],
        };
        let mut resource = self.object().declare(name, kind, desc.transient);
        if self.is_swapchain() {
            resource.lifetime = Lifetime::Swapchain;
        }
        resource
    }

    /// The raw handle, for your own Vulkan calls; null for a swapchain without an acquired image, and
    /// for a transient image that no frame has used. The handle of a transient image, or one of
    /// [`Sharing::Auto`](crate::resources::Sharing::Auto), may change from frame to frame.
    pub fn raw(&self) -> vk::Image {
        vk::Image::from_raw(self.object().raw())
    }

    /// Number that changes whenever the Vulkan image is replaced; 0 for images of swapchains, which change every
    /// frame. Views are valid as long as it is unchanged.
    pub(crate) fn generation(&self) -> u32 {
        if self.is_swapchain() {
            0
        } else {
            self.object().generation.get()
        }
    }

    /// The view of the whole image with all aspects.
    pub(crate) fn whole_view(&self) -> vk::ImageView {
        vk::ImageView::from_raw(self.0.view.load(Ordering::Relaxed))
    }

    /// The kind of [`GpuImage::whole_view`].
    pub(crate) fn default_view_kind(&self) -> vk::ImageViewType {
        let desc = &self.0.desc;
        match desc.kind() {
            vk::ImageType::TYPE_3D => vk::ImageViewType::TYPE_3D,
            vk::ImageType::TYPE_1D if desc.array_layers > 1 => vk::ImageViewType::TYPE_1D_ARRAY,
            vk::ImageType::TYPE_1D => vk::ImageViewType::TYPE_1D,
            _ if desc.cube && desc.array_layers == 6 => vk::ImageViewType::CUBE,
            _ if desc.cube => vk::ImageViewType::CUBE_ARRAY,
            _ if desc.array_layers > 1 => vk::ImageViewType::TYPE_2D_ARRAY,
            _ => vk::ImageViewType::TYPE_2D,
        }
    }

    /// Returns a view, created at its first use. `None` for a swapchain's image if the key is not that of the whole
    /// image.
    pub(crate) fn view(&self, key: ViewKey) -> Result<Option<vk::ImageView>, Error> {
        let is_whole = key.view == View::WHOLE
            && key.aspects == format::aspects(self.format())
            && key.kind == self.default_view_kind();
        if is_whole {
            return Ok(Some(self.whole_view()));
        }
        if self.is_swapchain() {
            return Ok(None);
        }
        let mut views = lock(&self.0.views);
        if let Some((_, view)) = views.iter().find(|(known, _)| *known == key) {
            return Ok(Some(*view));
        }
        let view = create::create_view(&self.object().device, self.raw(), &self.0.desc, key)?;
        views.push((key, view));
        Ok(Some(view))
    }
}

impl Drop for ImageInner {
    fn drop(&mut self) {
        let retired = if self.is_swapchain {
            Retired::SwapchainImage { id: self.object.id }
        } else {
            Retired::Image {
                id: Some(self.object.id),
                raw: vk::Image::from_raw(self.object.raw()),
                views: lock(&self.views).drain(..).map(|(_, view)| view).collect(),
                backing: std::mem::take(&mut *self.object.backing()),
            }
        };
        self.object.retire(retired);
    }
}

impl Resident for ImageInner {
    fn unbind(self: Arc<Self>, block: &Arc<Block>) {
        let id = self.object.id;
        GpuImage(self, id).unbind(block);
    }
}

impl PartialEq for GpuImage {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for GpuImage {}

impl std::fmt::Debug for GpuImage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "GpuImage({}, {:?}, {:?})",
            self.name(),
            self.format(),
            self.extent()
        )
    }
}

/// Packs three extents of at most 21 bits into one word, so that they change atomically.
fn pack(extent: [u32; 3]) -> u64 {
    let part = |at: usize, shift: u32| u64::from(extent[at].min(0x1f_ffff)) << shift;
    part(0, 0) | part(1, 21) | part(2, 42)
}
