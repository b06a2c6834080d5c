//! Tests expansions outside of rustc, parsed with syn.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use crate::expand::{Context, expand, guard};

fn context() -> Context {
    Context {
        runtime: quote!(::fuse_gpu::__private),
        callback: quote!(::fuse_gpu::fuse),
        place: "tests_1_1".into(),
        unique: "0".into(),
        dump: None,
        valid: Box::leak(Box::default()),
    }
}

fn expand_text(source: &str) -> TokenStream {
    expand(source.parse().expect("tokens"), &context())
}

/// In order: `fn f`, `mod f`.
fn items_of(items: &[syn::Item]) -> Vec<String> {
    let name = |item: &syn::Item| match item {
        syn::Item::Fn(item) => Some(format!("fn {}", item.sig.ident)),
        syn::Item::Mod(item) => Some(format!("mod {}", item.ident)),
        syn::Item::Static(item) => Some(format!("static {}", item.ident)),
        syn::Item::Macro(item) => item.mac.path.segments.last().map(|segment| match &item.ident {
            Some(name) => format!("{}! {name}", segment.ident),
            None => format!("{}!", segment.ident),
        }),
        syn::Item::Use(item) => match &item.tree {
            syn::UseTree::Rename(rename) => Some(format!("use {} as {}", rename.ident, rename.rename)),
            _ => Some("use".to_owned()),
        },
        _ => None,
    };
    items.iter().filter_map(name).collect()
}

fn file(source: &str) -> syn::File {
    let expanded = expand_text(source);
    syn::parse2(expanded.clone()).unwrap_or_else(|error| panic!("{error}: {expanded}"))
}

fn module<'a>(file: &'a syn::File, name: &str) -> &'a [syn::Item] {
    let content = file.items.iter().find_map(|item| match item {
        syn::Item::Mod(item) if item.ident == name => item.content.as_ref(),
        _ => None,
    });
    &content.expect("a module of that name").1
}

fn compile_errors(tokens: &TokenStream) -> usize {
    tokens.to_string().matches("compile_error").count()
}

#[test]
fn a_function_becomes_a_wrapper_and_a_module() {
    let file = file(
        "/// Doubles.
         #[inline] pub fn double(x: f32[M, N]) -> f32[M, N] { x * 2.0 }
         fn both(a: i32[N], s: i32) -> (i32[N], i32[N]) { (a + s, a - s) }",
    );
    let expected = [
        "macro_rules! __fuse_double_0",
        "fn double",
        "mod double",
        "macro_rules! __fuse_both_0",
        "fn both",
        "mod both",
    ];
    assert_eq!(items_of(&file.items)[..6], expected);
    let expected = [
        "use __fuse_double_0 as __fuse",
        "shared_texts!",
        "static FUNCTION",
        "static KERNELS",
        "static PLAN",
        "fn launch_into",
        "reference!",
    ];
    assert_eq!(items_of(module(&file, "double")), expected);
    let syn::Item::Fn(double) = &file.items[1] else { panic!("expected a function") };
    assert!(matches!(double.vis, syn::Visibility::Public(_)));
    assert!(double.attrs.iter().any(|attribute| attribute.path().is_ident("inline")));
}

#[test]
fn a_generic_function_has_an_artifact_per_dtype() {
    let file = file("pub fn scale<T: Float>(x: T[N], s: T) -> T[N] { x * s }");
    let expected = [
        "use __fuse_scale_0 as __fuse",
        "shared_texts!",
        "static FUNCTION_F32",
        "static FUNCTION_F16",
        "fn function",
        "static KERNELS",
        "static PLAN",
        "fn launch_into",
        "reference!",
    ];
    assert_eq!(items_of(module(&file, "scale")), expected);
}

#[test]
fn a_differentiable_function_has_its_gradients_in_its_module() {
    let file = file("#[differentiable] fn loss<T: Float>(x: T[N]) -> T { sum(x * x) }");
    let items = module(&file, "loss");
    let names = items_of(items);
    let expected = [
        "reference!",
        "fn vjp",
        "mod vjp",
        "fn value_and_grad",
        "mod value_and_grad",
        "fn pullback",
        "mod pullback",
        "fn halves",
    ];
    assert_eq!(names[names.len() - expected.len()..], expected);
    let parts = |name: &str| {
        let module = items.iter().find_map(|item| match item {
            syn::Item::Mod(item) if item.ident == name => item.content.as_ref(),
            _ => None,
        });
        items_of(&module.expect("a module of that name").1)
    };
    let compiled =
        ["use", "static FUNCTION_F32", "static FUNCTION_F16", "fn function", "static KERNELS", "static PLAN"];
    assert_eq!(parts("vjp")[..6], compiled);
    assert_eq!(parts("vjp")[6..], ["fn launch_into", "reference!"]);
    assert_eq!(parts("pullback")[..6], compiled);
    assert_eq!(parts("pullback")[6..], ["mod apply"]);
}

#[test]
fn an_expression_becomes_a_block_that_launches() {
    let expanded = expand_text("relu(matmul(x, w) + b + r)");
    let syn::Expr::Block(block) = syn::parse2(expanded.clone()).expect("an expression") else {
        panic!("expected a block, found {expanded}")
    };
    assert_eq!(block.block.stmts.len(), 3, "an item for Cargo, the lines of shaders, and the launch");
    let text = expanded.to_string();
    assert!(text.contains("__fuse_launch (& x , & w , & b , & r)"), "{text}");
    assert!(text.contains("MatmulRank"), "{text}");
}

#[test]
fn ranks_that_no_result_shows_are_bounds_as_well() {
    let text = expand_text("dot(a, b) + dot(a, c)").to_string();
    let bounds = text.matches("Exactly < 1usize").count();
    assert_eq!(bounds, 3, "one for each vector: {text}");
    assert!(expand_text("permute(x, [1, 0])").to_string().contains("Exactly < 2usize"));
}

#[test]
fn errors_are_reported_together_and_leave_the_signatures() {
    let source = "pub fn first(x: f32[M, K]) -> f32[M, K] { rleu(x) }
                  pub fn second<T: Float>(x: T[M], s: T) -> (T[M], T[M]) { (x + y, x * s) }
                  pub fn third(x: f32[M]) -> f32[M] { relu(x) }";
    let expanded = expand_text(source);
    assert!(compile_errors(&expanded) >= 2, "{expanded}");
    let items = items_of(&file(source).items);
    let items: Vec<_> = items.iter().filter(|item| item.starts_with("fn") || item.starts_with("mod")).collect();
    let expected = ["fn first", "mod first", "fn second", "mod second", "fn third", "mod third"];
    assert_eq!(items, expected, "{expanded}");
}

#[test]
fn a_wrong_expression_ends_in_an_error() {
    let expanded = expand_text("rleu(x) + sigmiod(y)");
    assert_eq!(compile_errors(&expanded), 2, "{expanded}");
    syn::parse2::<syn::Expr>(expanded).expect("an expression");
}

#[test]
fn one_mistake_is_one_error() {
    let expanded = expand_text("fn f(x: f32[M, K], w: f32[N, K]) -> f32[M, N] { matmul(x, w) }");
    assert_eq!(compile_errors(&expanded), 1, "{expanded}");
    let text = expanded.to_string();
    assert!(text.contains("note: `N` is axis 0 of `w: f32[N, K]`"), "{text}");
}

#[test]
fn paths_to_fields_are_passed_on() {
    let text = expand_text("relu(matmul(self.x, model.layers[0].w) + model.b())").to_string();
    assert!(text.contains("__fuse_launch (& self . x , & model . layers [0] . w , & model . b ())"), "{text}");
    assert_eq!(compile_errors(&expand_text("relu(model.w) + rleu(model.w)")), 1);
}

#[test]
fn nonsense_is_an_error_and_not_a_panic() {
    for source in ["", "+", "fn", "fn f", "pub fn f(x f32) {", "x +", "fn f(x: f32[M]) -> f32[M] { }", "'a 1"] {
        if let Ok(tokens) = source.parse() {
            let expanded = expand(tokens, &context());
            assert!(compile_errors(&expanded) >= 1, "{source}: {expanded}");
            assert!(!expanded.to_string().contains("panicked"), "{source}: {expanded}");
        }
    }
}

#[test]
fn an_unused_parameter_becomes_an_unused_variable() {
    let expanded = expand_text("pub fn f(x: f32[M], unread: f32[M]) -> f32[M] { relu(x) }");
    assert_eq!(compile_errors(&expanded), 0, "{expanded}");
    assert!(expanded.to_string().contains("fn unused (unread : ())"), "{expanded}");
}

#[test]
fn a_panic_of_the_compiler_is_caught() {
    let message = guard(|| -> () { panic!("broken {}", 7) });
    assert_eq!(message, Err("internal error: the compiler panicked: broken 7".to_owned()));
}

#[test]
fn dumps_go_to_a_folder_per_function() {
    let directory = std::env::temp_dir().join(format!("fuse-dump-{}", std::process::id()));
    let context = Context { dump: Some(directory.clone()), ..context() };
    let source = "pub fn f<T: Float>(x: T[M, K], w: T[K, N]) -> T[M, N] { relu(matmul(x, w)) }";
    let expanded = expand(source.parse().expect("tokens"), &context);
    assert_eq!(compile_errors(&expanded), 0, "{expanded}");
    for function in ["f_f32", "f_f16"] {
        let files: BTreeSet<String> = std::fs::read_dir(directory.join(function))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert!(
            files.contains("graph.txt") && files.contains("groups.txt") && files.contains("schedules.txt"),
            "{files:?}"
        );
        assert!(files.iter().any(|file| file.ends_with(".wgsl")), "{files:?}");
    }
    std::fs::remove_dir_all(&directory).expect("the folder is ours");
}

#[test]
fn a_dump_that_cannot_be_written_is_an_error() {
    let context = Context { dump: Some("/dev/null/fuse".into()), ..context() };
    let expanded = expand("fn f(x: f32[M]) -> f32[M] { relu(x) }".parse().expect("tokens"), &context);
    assert_eq!(compile_errors(&expanded), 1, "{expanded}");
    assert!(expanded.to_string().contains("FUSE_DUMP_DIR"), "{expanded}");
}

fn answer(source: &str, function: &str) -> TokenStream {
    let file = file(source);
    let id = format!("__fuse_{function}_0");
    let definition = file.items.iter().find_map(|item| match item {
        syn::Item::Macro(item) if item.ident.as_ref().is_some_and(|ident| *ident == id) => Some(&item.mac.tokens),
        _ => None,
    });
    let mut tokens = definition.expect("a macro").clone().into_iter();
    // `(…) => { $($callback)*! { @fuse {answer} $($state)* } }`
    let rule = tokens.by_ref().skip(3).find_map(group).expect("a rule");
    let call = rule.into_iter().skip(3).find_map(group).expect("a call");
    call.into_iter().find_map(group).expect("an answer")
}

fn group(token: TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    }
}

const IMPORTED: &str = "pub fn wave(x: f32[N]) -> f32[N] { x * helper(x) }
                        fn helper(x: f32[N]) -> f32[N] { tanh(x) + 1.0 }
                        fn another(x: f32[N]) -> f32[N] { x }";

#[test]
fn the_macro_of_a_function_holds_what_it_calls() {
    let expected = "1 __fuse_wave_0 sound { helper = __fuse_helper_0 , } \
                    { fn wave (x : f32 [N]) -> f32 [N] { x * helper (x) } } \
                    __fuse_helper_0 sound { } { fn helper (x : f32 [N]) -> f32 [N] { tanh (x) + 1.0 } }";
    assert_eq!(answer(IMPORTED, "wave").to_string(), expected);
    let broken = answer("fn f(x: f32[N]) -> f32[N] { tahn(x) }", "f").to_string();
    assert!(broken.starts_with("1 __fuse_f_0 broken { }"), "{broken}");
}

#[test]
fn only_public_functions_export_their_macros() {
    let exported = |visibility: &str| {
        let expanded = expand_text(&format!("{visibility} fn f(x: f32[N]) -> f32[N] {{ -x }}")).to_string();
        expanded.contains("macro_export")
    };
    assert_eq!(["pub", "pub(crate)", "pub(super)", ""].map(exported), [true, false, false, false]);
}

#[test]
fn a_block_asks_for_one_import_after_the_other() {
    let block = "fn f(x: f32[N]) -> f32[N] { first(x) + second(x) }";
    let first = expand_text(&format!("use crate::a::{{first, other as second}}; {block}")).to_string();
    let expected = "use crate :: a :: first :: __fuse as __fuse_function_first_0_0 ; \
                    use crate :: a :: other :: __fuse as __fuse_function_second_0_1 ; \
                    __fuse_function_first_0_0 ! { @ fuse [:: fuse_gpu :: fuse] [\"items\" \"tests_1_1\"] [] [first] \
                    [second __fuse_function_second_0_1] { fn f (x : f32 [N]) -> f32 [N] { first (x) + second (x) } } }";
    assert_eq!(first, expected);

    let answer = answer(IMPORTED, "wave").to_string();
    let state = "[first] [second __fuse_function_second_0_1]";
    let second = expand_text(&format!("@fuse {{ {answer} }} [\"items\" \"lib_3_4\"] [] {state} {{ {block} }}"));
    let second = second.to_string();
    assert!(second.starts_with("__fuse_function_second_0_1 ! { @ fuse [:: fuse_gpu :: fuse]"), "{second}");

    let answers = format!("[first {{ {answer} }}]");
    let last =
        expand_text(&format!("@fuse {{ {answer} }} [\"items\" \"lib_3_4\"] {answers} [second] [] {{ {block} }}"));
    assert_eq!(compile_errors(&last), 0, "{last}");
    let file: syn::File = syn::parse2(last).expect("items");
    let names = items_of(&file.items);
    assert_eq!(names[..3], ["macro_rules! __fuse_f_0", "fn f", "mod f"]);
    assert!(!names.iter().any(|name| name.contains("wave")), "an import is not emitted again: {names:?}");
}

#[test]
fn an_expression_asks_within_its_block() {
    let asked = expand_text("{ use a::wave; wave(x) + y }").to_string();
    let expected = "{ use a :: wave :: __fuse as __fuse_function_wave_0_0 ; __fuse_function_wave_0_0 ! \
                        (@ fuse [:: fuse_gpu :: fuse] [\"expression\" \"tests_1_1\"] [] [wave] [] { wave (x) + y }) }";
    assert_eq!(asked, expected);
    let bare = expand_text("use a::wave; wave(x) + y");
    assert_eq!(compile_errors(&bare), 1, "{bare}");
    syn::parse2::<syn::Expr>(bare).expect("an expression");
    let answer = answer(IMPORTED, "wave");
    let state = "[\"expression\" \"main_7_5\"] [] [wave] [] { wave(x) + y }";
    let expanded = expand_text(&format!("@fuse {{ {answer} }} {state}"));
    let text = expanded.to_string();
    assert!(text.contains("__fuse_launch (& x , & y)"), "{text}");
    syn::parse2::<syn::Expr>(expanded).expect("an expression");
}

#[test]
fn pages_ask_for_whole_texts() {
    let expanded = expand_text(r#"@texts [TEXTS] ["a\nä\n"] ["2 3 0 2 " ""]"#).to_string();
    assert_eq!(expanded, r#"const TEXTS : & [& str] = & ["ä\na\n" , ""] ;"#);
}

#[test]
fn pages_carry_cooperative_matrices_only_if_a_program_wants_them() {
    let wanted = cfg!(feature = "subgroup-matrix");
    let text = expand_text("fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x, w) }").to_string();
    let condition = "# [cfg (not (target_arch = \"wasm32\"))]";
    let lines = text.split("[__FUSE_TEXTS]").nth(1).expect("the function has texts");
    let (in_pages, elsewhere) = lines.split_once("] [").expect("lines of pages, and other lines");
    assert_eq!(in_pages.contains("subgroup_matrix_left<f16, 16, 16>"), wanted, "pages have Chromium's dialect");
    assert!(!in_pages.contains("coop_mat16x16"));
    assert!(in_pages.contains("workgroupBarrier"), "other variants stay");
    assert!(elsewhere.contains("coop_mat16x16"), "the lines of coop-matrix variants are there");
    // A variant with its condition ends at the next variant, or at the end of the list.
    let left_out = format!("{condition} a :: Variant");
    let in_pages: String = text
        .split("a :: Variant")
        .zip(text.split("a :: Variant").skip(1))
        .map(|(before, variant)| if format!("{before}a :: Variant").ends_with(&left_out) { "" } else { variant })
        .collect();
    assert_eq!(in_pages.contains("CoopMatrix"), wanted, "coop-matrix variants without a condition");
    assert!(in_pages.contains("Gemv"), "other variants stay");
}
