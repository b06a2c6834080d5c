//! Expression form: a block that launches on the variables in scope.
//!
//! Input: variables, dtype classes, results, and compiled instances. Output:
//!
//! ```text
//! {
//!     static FUNCTION_F32: Function = …; // one for each choice of dtypes
//!     fn __fuse_launch<A0: Operand<Element = E0>, A1: OperandOf<E0>, E0, R0>(a0: &A0, a1: &A1) -> Result<…>
//!     where A0::Rank: MatmulRank<A1::Rank, Output = R0> { … }
//!     __fuse_launch(&x, &w)
//! }
//! ```
//!
//! The caller's type checker infers dtypes and ranks: `A` are operand types, `E` element types of the classes, `R`
//! ranks of intermediates. With ranks as parameters, not nested projections, rustc reports a wrong rank once, at the
//! operand.

use fuse_artifact::{DType, Function};
use fuse_compiler::front::{DTypeClass, Expression, ExpressionDType, RankExpr, Variable};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

use super::{
    artifact::constant_by_place,
    items::{select, static_name},
    signature::element_type,
};

pub(crate) fn expand(
    expression: &Expression,
    instances: &[(&[DType], Function)],
    runtime: &TokenStream,
) -> TokenStream {
    let statics = instances.iter().map(|(dtypes, function)| {
        let (name, value) = (static_name(dtypes), constant_by_place(function));
        quote! {
            static #name: #runtime::artifact::Function = {
                use #runtime::artifact as a;
                #value
            };
        }
    });
    let header = Header::new(expression, runtime);
    let Header { generics, bounds, results } = &header;
    let raw = numbered("result", results.len());
    let ranks = results.iter().map(|result| &result.rank);
    let result_type =
        tuple(results.iter().map(|Typed { rank, element }| quote!(<#rank as #runtime::Ranked>::Tensor<#element>)));
    let value = tuple(
        results
            .iter()
            .zip(&raw)
            .map(|(Typed { rank, element }, raw)| quote!(<#rank as #runtime::Ranked>::tensor::<#element>(#raw))),
    );
    // All of `&x` has the span of `x`, so that rustc reports a wrong type there.
    let variables = expression.variables.iter().map(|Variable { place, .. }| {
        let tokens = &place.tokens;
        quote_spanned!(place.span.0=> &#tokens)
    });
    let (operands, types) = (numbered("a", expression.variables.len()), numbered("A", expression.variables.len()));
    let elements = numbered("E", expression.classes.len());
    let function = select(instances, quote!(#(<#elements as #runtime::Element>::DTYPE,)*), runtime);
    quote! {{
        #(#statics)*
        #[allow(non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
        fn __fuse_launch<#generics>(#(#operands: &#types),*) -> ::core::result::Result<#result_type, #runtime::Error>
        where
            #bounds
        {
            const {
                ::core::assert!(
                    false #(|| <#types as #runtime::Operand>::TENSOR)*,
                    "`fuse!` needs at least one tensor among its operands",
                );
            }
            let [#(#raw),*] = #runtime::launch_operands(
                #function,
                [#(#runtime::Operand::arg(#operands)),*],
                [#(<#ranks as #runtime::Ranked>::AXES),*],
            )?;
            ::core::result::Result::Ok(#value)
        }
        __fuse_launch(#(#variables),*)
    }}
}

fn numbered(prefix: &str, count: usize) -> Vec<Ident> {
    (0..count).map(|i| format_ident!("{prefix}{i}")).collect()
}

fn tuple(values: impl Iterator<Item = TokenStream>) -> TokenStream {
    let values: Vec<_> = values.collect();
    match &values[..] {
        [single] => single.clone(),
        several => quote!((#(#several,)*)),
    }
}

struct Header {
    generics: TokenStream,
    bounds: TokenStream,
    results: Vec<Typed>,
}

struct Typed {
    rank: TokenStream,
    element: TokenStream,
}

impl Header {
    fn new(expression: &Expression, runtime: &TokenStream) -> Self {
        let mut ranks = Ranks { runtime, bounds: vec![], seen: vec![] };
        let results = expression
            .results
            .iter()
            .map(|result| Typed { rank: ranks.lower(&result.rank), element: element(result.dtype, runtime) })
            .collect();
        expression.requirements.iter().for_each(|rank| drop(ranks.lower(rank)));
        let operands = operand_bounds(expression, runtime);
        let elements = numbered("E", expression.classes.len());
        let rank_params = numbered("R", ranks.seen.len());
        let class_bounds = class_bounds(expression, runtime);
        let rank_bounds = ranks.bounds;
        Self {
            generics: quote! {
                #(#operands,)* #(#elements: #runtime::Element,)* #(#rank_params: #runtime::Ranked),*
            },
            bounds: quote!(#(#class_bounds,)* #(#rank_bounds,)*),
            results,
        }
    }
}

fn element(dtype: ExpressionDType, runtime: &TokenStream) -> TokenStream {
    match dtype {
        ExpressionDType::Known(dtype) => element_type(dtype, runtime),
        ExpressionDType::Class(class) => {
            let name = format_ident!("E{class}");
            quote!(#name)
        }
    }
}

/// `A0: Operand<Element = E0>` for the first operand of a class, which determines its dtype. `A1: OperandOf<E0>` for
/// others, which gives the better message.
fn operand_bounds(expression: &Expression, runtime: &TokenStream) -> Vec<TokenStream> {
    let bound = |(i, variable): (usize, &Variable)| {
        let name = format_ident!("A{i}");
        let ty = element(variable.dtype, runtime);
        match leader(expression, variable.dtype) {
            Some(first) if first == i => quote!(#name: #runtime::Operand<Element = #ty>),
            _ => quote!(#name: #runtime::OperandOf<#ty>),
        }
    };
    expression.variables.iter().enumerate().map(bound).collect()
}

fn leader(expression: &Expression, dtype: ExpressionDType) -> Option<usize> {
    match dtype {
        ExpressionDType::Known(_) => None,
        ExpressionDType::Class(_) => expression.variables.iter().position(|other| other.dtype == dtype),
    }
}

/// Bounds of the operations on each class, placed on an operand so that rustc points at it.
fn class_bounds(expression: &Expression, runtime: &TokenStream) -> Vec<TokenStream> {
    let bound = |(i, class): (usize, &DTypeClass)| {
        let leader = leader(expression, ExpressionDType::Class(i))?;
        let operand = format_ident!("A{leader}");
        let allowed = match class {
            DTypeClass::Float => quote!(Float),
            DTypeClass::Integer => quote!(Integer),
            DTypeClass::Signed => quote!(Signed),
            DTypeClass::Number => quote!(Number),
            DTypeClass::Wide => quote!(Wide),
            DTypeClass::SignedWide => quote!(SignedWide),
            DTypeClass::UnsignedWide => quote!(UnsignedWide),
            DTypeClass::Any => return None,
        };
        Some(quote!(<#operand as #runtime::Operand>::Element: #runtime::#allowed))
    };
    expression.classes.iter().enumerate().filter_map(bound).collect()
}

/// Translates rank expressions to types; intermediate ranks are generic parameters.
struct Ranks<'a> {
    runtime: &'a TokenStream,
    bounds: Vec<TokenStream>,
    seen: Vec<String>,
}

impl Ranks<'_> {
    fn lower(&mut self, rank: &RankExpr) -> TokenStream {
        let runtime = self.runtime;
        match rank {
            RankExpr::Known(axes) => quote!(#runtime::Rank<#axes>),
            RankExpr::Of(variable) => {
                let operand = format_ident!("A{variable}");
                quote!(<#operand as #runtime::Operand>::Rank)
            }
            // Broadcasts of equal ranks, or with a number, need no bound, so generic ranks need none either.
            RankExpr::Broadcast(a, b) if a == b || **b == RankExpr::Known(0) => self.lower(a),
            RankExpr::Broadcast(a, b) if **a == RankExpr::Known(0) => self.lower(b),
            RankExpr::Broadcast(a, b) => {
                let (a, b) = (self.lower(a), self.lower(b));
                self.bound(&a, &quote!(BroadcastRank), &quote!(#b,))
            }
            RankExpr::Matmul(a, b) => {
                let (a, b) = (self.lower(a), self.lower(b));
                self.bound(&a, &quote!(MatmulRank), &quote!(#b,))
            }
            RankExpr::AtLeast(axes, x) => self.map(x, &quote!(AtLeast), &quote!(#axes,)),
            RankExpr::Exactly(axes, x) => self.map(x, &quote!(Exactly), &quote!(#axes,)),
            RankExpr::Same(a, b) => {
                let (a, b) = (self.lower(a), self.lower(b));
                self.bound(&a, &quote!(SameRank), &quote!(#b,))
            }
            RankExpr::Plus1(x) => self.map(x, &quote!(OneMore), &TokenStream::new()),
            RankExpr::Minus1(x) => self.map(x, &quote!(OneLess), &TokenStream::new()),
        }
    }

    fn map(&mut self, x: &RankExpr, name: &TokenStream, arguments: &TokenStream) -> TokenStream {
        let x = self.lower(x);
        self.bound(&x, name, arguments)
    }

    /// Adds `subject: Trait<arguments Output = R>` once and returns `R`.
    fn bound(&mut self, subject: &TokenStream, name: &TokenStream, arguments: &TokenStream) -> TokenStream {
        let runtime = self.runtime;
        let key = quote!(#subject: #name<#arguments>).to_string();
        if let Some(position) = self.seen.iter().position(|other| *other == key) {
            let result = format_ident!("R{position}");
            return quote!(#result);
        }
        let result = format_ident!("R{}", self.seen.len());
        self.seen.push(key);
        self.bounds.push(quote!(#subject: #runtime::#name<#arguments Output = #result>));
        quote!(#result)
    }
}
