//! The derive of `AsBindGroup`, with the attributes of bevy's.

use encase_derive_impl::syn::parse::{Parse, ParseStream};
use encase_derive_impl::syn::punctuated::Punctuated;
use encase_derive_impl::syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitInt, Meta,
    Result, Token, Type,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// Attributes that bind a field.
const FIELD_ATTRIBUTES: [&str; 5] = [
    "uniform",
    "texture",
    "sampler",
    "storage",
    "storage_texture",
];

/// View dimensions of textures, as bevy writes them.
const DIMENSIONS: [(&str, &str); 6] = [
    ("1d", "D1"),
    ("2d", "D2"),
    ("2d_array", "D2Array"),
    ("3d", "D3"),
    ("cube", "Cube"),
    ("cube_array", "CubeArray"),
];

/// Sample types of textures, as bevy writes them.
const SAMPLE_TYPES: [(&str, &str); 4] = [
    ("float", "Float"),
    ("depth", "Depth"),
    ("s_int", "Sint"),
    ("u_int", "Uint"),
];

/// Kinds of samplers, as bevy writes them.
const SAMPLER_TYPES: [(&str, &str); 3] = [
    ("filtering", "Filtering"),
    ("non_filtering", "NonFiltering"),
    ("comparison", "Comparison"),
];

/// Accesses of storage textures, as bevy writes them.
const STORAGE_ACCESSES: [&str; 3] = ["ReadOnly", "WriteOnly", "ReadWrite"];

const STAGES: [&str; 5] = ["all", "none", "vertex", "fragment", "compute"];

/// One binding: its number, the expression that describes it, and the statement that adds its value.
struct Bound {
    number: u32,
    description: TokenStream,
    value: TokenStream,
}

/// Fields of one uniform buffer.
struct Uniform<'a> {
    number: u32,
    fields: Vec<&'a Field>,
}

/// Implements `AsBindGroup`.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let mut bindings = Bindings::default();
    for attribute in &input.attrs {
        bindings.add_of_struct(attribute)?;
    }
    for field in named_fields(input)? {
        for attribute in &field.attrs {
            bindings.add_of_field(field, attribute)?;
        }
    }
    let mut structs = TokenStream::new();
    let bound = bindings.finish(input, &mut structs);
    let descriptions = bound.iter().map(|binding| &binding.description);
    let values = bound.iter().map(|binding| &binding.value);
    let (data, data_value) = match &bindings.data {
        Some(ty) => (
            quote!(#ty),
            quote!(<#ty as ::core::convert::From<&Self>>::from(self)),
        ),
        None => (quote!(()), TokenStream::new()),
    };
    let name = &input.ident;
    let (of_impl, of_type, wheres) = input.generics.split_for_impl();
    Ok(quote! {
        const _: () = {
            #structs

            impl #of_impl ::quadrille::material::AsBindGroup for #name #of_type #wheres {
                type Data = #data;

                fn bind_group_data(&self) -> Self::Data {
                    #data_value
                }

                fn bindings() -> ::std::vec::Vec<::quadrille::material::MaterialBinding> {
                    ::std::vec![#(#descriptions),*]
                }

                fn write_bindings(&self, values: &mut ::quadrille::material::BindingValues) {
                    #(#values)*
                }
            }
        };
    })
}

/// Bindings of a struct while its attributes are read.
#[derive(Default)]
struct Bindings<'a> {
    /// All but the uniforms of fields.
    bound: Vec<Bound>,
    uniforms: Vec<Uniform<'a>>,
    numbers: Vec<u32>,
    /// Type in `#[bind_group_data(..)]`.
    data: Option<Type>,
}

impl<'a> Bindings<'a> {
    /// Adds the binding of an attribute of the struct, if it has one.
    fn add_of_struct(&mut self, attribute: &Attribute) -> Result<()> {
        if is(attribute, "uniform") || is(attribute, "data") {
            let converted: Converted = attribute.parse_args()?;
            take_number(&mut self.numbers, converted.number, attribute)?;
            self.bound.push(converted.bound());
        } else if is(attribute, "bind_group_data") {
            self.data = Some(attribute.parse_args()?);
        }
        Ok(())
    }

    /// Adds the binding of an attribute of a field, if it has one.
    fn add_of_field(&mut self, field: &'a Field, attribute: &Attribute) -> Result<()> {
        let mut kinds = FIELD_ATTRIBUTES.into_iter();
        let Some(kind) = kinds.find(|kind| is(attribute, kind)) else {
            return Ok(());
        };
        let arguments: Arguments = attribute.parse_args()?;
        if kind == "uniform" {
            return self.add_uniform(field, &arguments, attribute);
        }
        take_number(&mut self.numbers, arguments.number, attribute)?;
        self.bound.push(match kind {
            "texture" => texture(field, &arguments)?,
            "sampler" => sampler(field, &arguments)?,
            "storage" => storage(field, &arguments)?,
            _ => storage_texture(field, &arguments)?,
        });
        Ok(())
    }

    /// Adds a field of a uniform, which others may belong to.
    fn add_uniform(
        &mut self,
        field: &'a Field,
        arguments: &Arguments,
        attribute: &Attribute,
    ) -> Result<()> {
        arguments.expect_options(&["visibility"])?;
        let number = arguments.number;
        let mut known = self.uniforms.iter_mut();
        if let Some(uniform) = known.find(|uniform| uniform.number == number) {
            uniform.fields.push(field);
            return Ok(());
        }
        take_number(&mut self.numbers, number, attribute)?;
        self.uniforms.push(Uniform {
            number,
            fields: vec![field],
        });
        Ok(())
    }

    /// Takes all bindings, sorted by number. The structs of uniforms with several fields are added to `structs`.
    fn finish(&mut self, input: &DeriveInput, structs: &mut TokenStream) -> Vec<Bound> {
        let mut bound = std::mem::take(&mut self.bound);
        let uniforms = self.uniforms.iter();
        bound.extend(uniforms.map(|uniform| uniform.bound(input, structs)));
        bound.sort_by_key(|binding| binding.number);
        bound
    }
}

fn named_fields(input: &DeriveInput) -> Result<&Punctuated<Field, Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            _ => Err(Error::new_spanned(
                &input.ident,
                "a material has named fields: give each a name",
            )),
        },
        _ => Err(Error::new_spanned(&input.ident, "a material is a struct")),
    }
}

fn is(attribute: &Attribute, name: &str) -> bool {
    attribute.path().is_ident(name)
}

/// Refuses a number that another binding has.
fn take_number(numbers: &mut Vec<u32>, number: u32, attribute: &Attribute) -> Result<()> {
    if numbers.contains(&number) {
        let message =
            format!("two bindings have the number {number}; give each a number of its own");
        return Err(Error::new_spanned(attribute, message));
    }
    numbers.push(number);
    Ok(())
}

/// `#[uniform(0, Packed)]` and `#[data(0, Packed, binding_array(10))]` of the struct, whose value is converted.
struct Converted {
    number: u32,
    ty: Type,
}

impl Parse for Converted {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let number: LitInt = input.parse()?;
        input.parse::<Token![,]>()?;
        let ty = input.parse()?;
        // `binding_array(n)` is for bindless shaders of bevy; tables are not bound one by one here.
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
        }
        Ok(Self {
            number: number.base10_parse()?,
            ty,
        })
    }
}

impl Converted {
    fn bound(&self) -> Bound {
        let (number, ty) = (self.number, &self.ty);
        let name = quote!(#ty).to_string();
        Bound {
            number,
            description: uniform_description(number, &name, &quote!(#ty)),
            value: quote!(values.uniform(&<#ty as ::core::convert::From<&Self>>::from(self));),
        }
    }
}

fn uniform_description(number: u32, name: &str, ty: &TokenStream) -> TokenStream {
    quote!(::quadrille::material::MaterialBinding::uniform::<#ty>(#number, #name))
}

impl Uniform<'_> {
    /// The binding of a field, or of a struct of several, which is added to `structs`.
    fn bound(&self, input: &DeriveInput, structs: &mut TokenStream) -> Bound {
        let number = self.number;
        let names: Vec<_> = self
            .fields
            .iter()
            .filter_map(|it| it.ident.as_ref())
            .collect();
        if let ([field], [name]) = (&self.fields[..], &names[..]) {
            let ty = &field.ty;
            return Bound {
                number,
                description: uniform_description(number, &name.to_string(), &quote!(#ty)),
                value: quote!(values.uniform(&self.#name);),
            };
        }
        let types = self.fields.iter().map(|field| &field.ty);
        let joined = format_ident!("__{}Uniform{}", input.ident, number);
        structs.extend(quote! {
            #[derive(::quadrille::encase::ShaderType)]
            struct #joined<'a> {
                #(#names: &'a #types),*
            }
        });
        let shown: Vec<_> = names.iter().map(ToString::to_string).collect();
        Bound {
            number,
            description: uniform_description(number, &shown.join(", "), &quote!(#joined<'static>)),
            value: quote!(values.uniform(&#joined { #(#names: &self.#names),* });),
        }
    }
}

fn texture(field: &Field, arguments: &Arguments) -> Result<Bound> {
    arguments.expect_options(&[
        "dimension",
        "sample_type",
        "multisampled",
        "filterable",
        "visibility",
    ])?;
    let dimension = arguments.one_of("dimension", &DIMENSIONS, "D2")?;
    let sample_type = arguments.one_of("sample_type", &SAMPLE_TYPES, "Float")?;
    let multisampled = arguments.flag("multisampled")?;
    arguments.flag("filterable")?;
    let description = quote!(::quadrille::material::MaterialBindingKind::Texture {
        dimension: ::quadrille::material::TextureDimension::#dimension,
        sample_type: ::quadrille::material::TextureSampleType::#sample_type,
        multisampled: #multisampled,
    });
    Ok(image_binding(field, arguments.number, &description))
}

fn sampler(field: &Field, arguments: &Arguments) -> Result<Bound> {
    arguments.expect_options(&["sampler_type", "visibility"])?;
    let kind = arguments.one_of("sampler_type", &SAMPLER_TYPES, "Filtering")?;
    let description = quote!(::quadrille::material::MaterialBindingKind::Sampler(
        ::quadrille::material::SamplerBindingType::#kind
    ));
    Ok(image_binding(field, arguments.number, &description))
}

fn storage(field: &Field, arguments: &Arguments) -> Result<Bound> {
    arguments.expect_options(&["read_only", "buffer", "visibility", "binding_array"])?;
    let is_read_only = arguments.word("read_only")?;
    // A raw buffer and a handle are told apart by their types.
    arguments.word("buffer")?;
    let ident = &field.ident;
    let kind =
        quote!(::quadrille::material::MaterialBindingKind::Storage { writes: !#is_read_only });
    Ok(Bound {
        value: quote!(values.storage(&self.#ident);),
        ..image_binding(field, arguments.number, &kind)
    })
}

fn storage_texture(field: &Field, arguments: &Arguments) -> Result<Bound> {
    arguments.expect_options(&["dimension", "image_format", "access", "visibility"])?;
    let dimension = arguments.one_of("dimension", &DIMENSIONS, "D2")?;
    let access = match arguments.path("access")? {
        Some(access) => access.clone(),
        None => format_ident!("ReadWrite"),
    };
    if !STORAGE_ACCESSES.iter().any(|it| access == it) {
        let message = format!("unknown access; there are: {}", STORAGE_ACCESSES.join(", "));
        return Err(Error::new_spanned(access, message));
    }
    let kind = quote!(::quadrille::material::MaterialBindingKind::StorageTexture {
        dimension: ::quadrille::material::TextureDimension::#dimension,
        access: ::quadrille::material::StorageTextureAccess::#access,
    });
    Ok(image_binding(field, arguments.number, &kind))
}

fn image_binding(field: &Field, number: u32, kind: &TokenStream) -> Bound {
    let ident = &field.ident;
    let name = ident.as_ref().map(ToString::to_string).unwrap_or_default();
    Bound {
        number,
        description: quote!(::quadrille::material::MaterialBinding {
            binding: #number,
            field: #name,
            kind: #kind,
        }),
        value: quote!(values.image(&self.#ident);),
    }
}

/// Arguments of an attribute of a field: a number and options.
struct Arguments {
    number: u32,
    options: Punctuated<Meta, Token![,]>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(LitInt) {
            return Err(
                input.error("the number of the binding is expected here, as in `#[uniform(0)]`")
            );
        }
        let number: LitInt = input.parse()?;
        let mut options = Punctuated::new();
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            options = Punctuated::parse_terminated(input)?;
        }
        Ok(Self {
            number: number.base10_parse()?,
            options,
        })
    }
}

impl Arguments {
    /// Refuses options that the attribute does not have, and unknown shader stages.
    fn expect_options(&self, known: &[&str]) -> Result<()> {
        for option in &self.options {
            if !known.iter().any(|name| option.path().is_ident(name)) {
                let message = format!("unknown option; there are: {}", known.join(", "));
                return Err(Error::new_spanned(option, message));
            }
            if let (true, Meta::List(list)) = (option.path().is_ident("visibility"), option) {
                let stages =
                    list.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
                if let Some(stage) = stages
                    .iter()
                    .find(|stage| !STAGES.iter().any(|it| stage == it))
                {
                    let message = format!("unknown shader stage; there are: {}", STAGES.join(", "));
                    return Err(Error::new_spanned(stage, message));
                }
            }
        }
        Ok(())
    }

    fn literal(&self, name: &str) -> Result<Option<&Lit>> {
        let option = self
            .options
            .iter()
            .find(|option| option.path().is_ident(name));
        match option {
            None => Ok(None),
            Some(Meta::NameValue(pair)) => match &pair.value {
                Expr::Lit(ExprLit { lit, .. }) => Ok(Some(lit)),
                other => Err(Error::new_spanned(other, "a literal is expected here")),
            },
            Some(other) => {
                let message = format!("a value is expected: `{name} = ..`");
                Err(Error::new_spanned(other, message))
            }
        }
    }

    /// A string of a list, as the variant of an enum.
    fn one_of(&self, name: &str, known: &[(&str, &str)], default: &str) -> Result<Ident> {
        let literal = match self.literal(name)? {
            None => return Ok(format_ident!("{default}")),
            Some(literal) => literal,
        };
        let value = match literal {
            Lit::Str(text) => text.value(),
            _ => String::new(),
        };
        match known.iter().find(|(text, _)| *text == value) {
            Some((_, variant)) => Ok(format_ident!("{variant}")),
            None => {
                let values: Vec<_> = known
                    .iter()
                    .map(|(text, _)| format!("\"{text}\""))
                    .collect();
                let message = format!("unknown {name}; there are: {}", values.join(", "));
                Err(Error::new_spanned(literal, message))
            }
        }
    }

    fn flag(&self, name: &str) -> Result<bool> {
        match self.literal(name)? {
            None => Ok(false),
            Some(Lit::Bool(value)) => Ok(value.value),
            Some(other) => Err(Error::new_spanned(
                other,
                "`true` or `false` is expected here",
            )),
        }
    }

    /// Whether an option without a value is there.
    fn word(&self, name: &str) -> Result<bool> {
        let mut options = self.options.iter();
        match options.find(|option| option.path().is_ident(name)) {
            None => Ok(false),
            Some(Meta::Path(_)) => Ok(true),
            Some(other) => {
                let message = format!("`{name}` has no value here; write `{name}` alone");
                Err(Error::new_spanned(other, message))
            }
        }
    }

    /// The last segment of a path: `access = ReadOnly`.
    fn path(&self, name: &str) -> Result<Option<&Ident>> {
        let mut options = self.options.iter();
        let Some(option) = options.find(|option| option.path().is_ident(name)) else {
            return Ok(None);
        };
        let value = match option {
            Meta::NameValue(pair) => Some(&pair.value),
            _ => None,
        };
        match value {
            Some(Expr::Path(path)) => Ok(path.path.segments.last().map(|it| &it.ident)),
            _ => {
                let message = format!("a name is expected: `{name} = ..`");
                Err(Error::new_spanned(option, message))
            }
        }
    }
}
