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
    // Names of the variables that fields are bound to by name.
    let mut names: Vec<TokenStream> = Vec::new();
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
        let name = match &attribute.meta {
            Meta::Path(_) => Ok(ident.to_string().to_token_stream()),
            _ => match attribute.parse_args()? {
                Lit::Str(name) => Ok(name.to_token_stream()),
                Lit::Int(number) => Err(number.base10_parse::<u32>()?.to_token_stream()),
                other => {
                    let message = "a name, `\"lights\"`, or a number, `3`, is expected here";
                    return Err(Error::new_spanned(other, message));
                }
            },
        };
        let (Ok(key) | Err(key)) = &name;
        let text = key.to_string();
        if keys.contains(&text) {
            let message = format!("two fields are bound to {text}; give each a binding of its own");
            return Err(Error::new_spanned(attribute, message));
        }
        keys.push(text);
        let key = match name {
            Ok(name) => {
                let index = names.len();
                names.push(name);
                quote!(::quadrille::bindings::FieldKey::new(&NAMES, #index))
            }
            Err(number) => number,
        };
        binds.push(quote!(::quadrille::bindings::BindField::bind_to(&self.#ident, to, #key);));
    }
    if uses.is_empty() {
        let message = "no field is bound: put `#[bind]` on those that are";
        return Err(Error::new_spanned(name, message));
    }
    let count = names.len();
    let list = (count > 0).then(|| quote!(static NAMES: [&str; #count] = [#(#names),*];));
    let (of_impl, of_type, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        impl #of_impl ::quadrille::bindings::PassBindings for #name #of_type #wheres {
            fn add_uses(&self, uses: &mut ::std::vec::Vec<::quadrille::bindings::PassUse>) {
                #(#uses)*
            }

            fn bind_to<__B: ::quadrille::bindings::Binder>(&self, to: &mut __B) {
                #list
                #(#binds)*
            }
        }
    })
}

fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}
