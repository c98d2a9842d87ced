//! The derives of `ShaderType`, `ShaderRow`, `PassBindings` and `AsBindGroup`. The first is encase's own, which writes `::encase` where this one writes
//! `::quadrille::encase`: a program that depends on `quadrille` needs no other dependency.
//!
//! A crate that depends on a part of Quadrille alone says `extern crate quadrille_ecs as quadrille;`
//! in its root.

mod bindings;
mod material;
mod row;

use encase_derive_impl::syn::{DeriveInput, parse_macro_input, parse_quote};
use proc_macro::TokenStream;

/// Lays a struct out as WGSL does, whatever Rust does with its fields: numbers, vectors and matrices of
/// `glam`, arrays, and structs that derive it too; a `Vec` may be the last. `#[shader(align(16))]` and
/// `#[shader(size(16))]` on a field are `@align(16)` and `@size(16)` of WGSL.
#[proc_macro_derive(ShaderType, attributes(shader))]
pub fn shader_type(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    encase_derive_impl::derive_shader_type(input, &parse_quote!(::quadrille::encase)).into()
}

/// Describes a struct with `#[repr(C)]` as shaders read it, as it lies in memory: fields are `f32`, `u32`,
/// `i32`, other rows, and arrays of such. `#[row("water.wgsl", "Wave")]` names the shader and the struct there
/// that it is a row of; `RowLayout::check` compares both.
#[proc_macro_derive(ShaderRow, attributes(row))]
pub fn shader_row(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    row::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Declares and binds parameters of a pass as one, beside `#[derive(SystemParam)]`: see `PassBindings` of
/// quadrille_ecs. Fields that shaders use have `#[bind]`, `#[bind("name")]` or `#[bind(3)]`, those that the pass
/// binds itself `#[declared]`.
#[proc_macro_derive(PassBindings, attributes(bind, declared))]
pub fn pass_bindings(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    bindings::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Describes the bindings of a material, with the attributes of bevy's derive of this name: `#[uniform(0)]`,
/// `#[texture(1)]`, `#[sampler(2)]` on fields; `#[uniform(0, Packed)]`, `#[data(0, Packed)]`, `#[bind_group_data(Key)]`
/// on the struct; `#[bindless]` is accepted, since all materials are. See `AsBindGroup` of quadrille_ecs.
#[proc_macro_derive(
    AsBindGroup,
    attributes(
        uniform,
        texture,
        sampler,
        storage,
        storage_texture,
        data,
        bind_group_data,
        bindless
    )
)]
pub fn as_bind_group(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    material::expand(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
