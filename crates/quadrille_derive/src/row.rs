//! The derive of `ShaderRow`.

use encase_derive_impl::syn::parse::ParseStream;
use encase_derive_impl::syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Token};
use proc_macro2::TokenStream;
use quote::quote;

/// Implements `ShaderRow` and `RowValue`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(Error::new_spanned(name, "a row has named fields")),
        },
        _ => return Err(Error::new_spanned(name, "a row is a struct")),
    };
    let mut attributes = input.attrs.iter();
    if !attributes.any(|attribute| attribute.path().is_ident("repr")) {
        let message = "a row lies in memory as shaders have it: add `#[repr(C)]`";
        return Err(Error::new_spanned(name, message));
    }
    let mut attributes = input.attrs.iter();
    let Some(attribute) = attributes.find(|attribute| attribute.path().is_ident("row")) else {
        let message = "say the struct that it is a row of: `#[row(\"water.wgsl\", \"Wave\")]`";
        return Err(Error::new_spanned(name, message));
    };
    let (shader, shader_struct) = attribute.parse_args_with(|input: ParseStream<'_>| {
        let shader: LitStr = input.parse()?;
        input.parse::<Token![,]>()?;
        Ok((shader, input.parse::<LitStr>()?))
    })?;
    let each = fields.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        let text = ident.as_ref().map(ToString::to_string);
        quote! {
            ::quadrille::rows::RowField {
                name: #text,
                offset: ::core::mem::offset_of!(#name, #ident) as u32,
                ty: <#ty as ::quadrille::rows::RowValue>::TYPE,
            }
        }
    });
    let row = name.to_string();
    Ok(quote! {
        impl ::quadrille::rows::ShaderRow for #name {
            const LAYOUT: ::quadrille::rows::RowLayout = ::quadrille::rows::RowLayout {
                name: #row,
                shader: #shader,
                shader_struct: #shader_struct,
                bytes: ::core::mem::size_of::<#name>() as u32,
                fields: &[#(#each),*],
            };
        }

        impl ::quadrille::rows::RowValue for #name {
            const TYPE: ::quadrille::rows::RowType = ::quadrille::rows::RowType::Row {
                layout: &<#name as ::quadrille::rows::ShaderRow>::LAYOUT,
            };
        }
    })
}
