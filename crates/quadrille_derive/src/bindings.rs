//! The derive of `PassBindings`.

use encase_derive_impl::syn::{Attribute, Data, DeriveInput, Error, Fields, Lit, Meta, Result};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

/// Implements `PassBindings`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => &fields.named,
            _ => return Err(Error::new_spanned(name, "bindings are named fields")),
        },
        _ => return Err(Error::new_spanned(name, "bindings are fields of a struct")),
    };
    let mut uses = Vec::new();
    let mut binds = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    for field in fields {
        let Some(ident) = &field.ident else { continue };
        let mut attributes = field.attrs.iter();
        let Some(attribute) = attributes.find(|it| is(it, "bind") || is(it, "declared")) else {
            continue;
        };
        uses.push(quote!(::quadrille::bindings::BindField::add_use(&self.#ident, uses);));
        if is(attribute, "declared") {
            continue;
        }
        let key = match &attribute.meta {
            Meta::Path(_) => ident.to_string().to_token_stream(),
            _ => match attribute.parse_args()? {
                Lit::Str(name) => name.to_token_stream(),
                Lit::Int(number) => {
                    let number: u32 = number.base10_parse()?;
                    number.to_token_stream()
                }
                other => {
                    let message = "a name, `\"lights\"`, or a number, `3`, is expected here";
                    return Err(Error::new_spanned(other, message));
                }
            },
        };
        let text = key.to_string();
        if keys.contains(&text) {
            let message = format!("two fields are bound to {text}; give each a binding of its own");
            return Err(Error::new_spanned(attribute, message));
        }
        keys.push(text);
        binds.push(quote!(::quadrille::bindings::BindField::bind_to(&self.#ident, to, #key);));
    }
    if uses.is_empty() {
        let message = "no field is bound: put `#[bind]` on those that are";
        return Err(Error::new_spanned(name, message));
    }
    let (of_impl, of_type, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        impl #of_impl ::quadrille::bindings::PassBindings for #name #of_type #wheres {
            fn add_uses(&self, uses: &mut ::std::vec::Vec<::quadrille::bindings::PassUse>) {
                #(#uses)*
            }

            fn bind_to<__B: ::quadrille::bindings::Binder>(&self, to: &mut __B) {
                #(#binds)*
            }
        }
    })
}

fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}
