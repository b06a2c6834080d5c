//! Programs: source text through the front end and the compiler.

#[cfg(not(target_arch = "wasm32"))]
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{LazyLock, Mutex},
};
use std::{fs, path::Path};

#[cfg(not(target_arch = "wasm32"))]
use fuse_artifact::Features;
use fuse_artifact::{DType, Function, Schedule, Variant, schedule::Attention};
use fuse_compiler::{
    compile::{Dump, Options},
    diag::Diagnostics,
    front,
    graph::Graph,
    interp::Stores,
};
use fuse_runtime::DeviceInfo;

use crate::{Directives, checkout};

/// One compiled function.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it computes.
    pub graph: Graph,
    /// The element types of its generic parameters or dtype classes.
    pub dtypes: Vec<DType>,
    /// What the runtime launches; lives as long as the test.
    pub function: &'static Function,
    /// The texts of the compiler's stages.
    pub dump: Dump,
}

/// A `.fuse` file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name without ending.
    pub name: String,
    /// Its text.
    pub source: String,
}

impl Program {
    /// Compiles a graph. Its shaders are as they are, until something validates them.
    ///
    /// # Errors
    /// The compiler's internal error, with the graph.
    pub fn new(graph: Graph, dtypes: Vec<DType>) -> Result<Self, String> {
        let compiled = fuse_compiler::compile::compile(&graph, &Options { validate: false, ..Options::default() })
            .map_err(|error| format!("{error}\n{}", fuse_compiler::graph::print::print(&graph)))?;
        Ok(Self { graph, dtypes, function: Box::leak(Box::new(compiled.function)), dump: compiled.dump })
    }

    /// Lets naga validate the shaders that no program of this process had before.
    ///
    /// # Errors
    /// naga's message with the text.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn validate(&self) -> Result<(), String> {
        static VALID: LazyLock<Mutex<HashSet<(u64, Features)>>> = LazyLock::new(Mutex::default);
        for variant in self.plans().flat_map(|plan| plan.kernels.iter()).flat_map(|kernel| kernel.variants.iter()) {
            for pass in variant.passes.iter() {
                let mut hasher = DefaultHasher::new();
                pass.wgsl.text().hash(&mut hasher);
                let is_new = VALID.lock().expect("no panic inside").insert((hasher.finish(), variant.features));
                if is_new {
                    fuse_compiler::validate::validate(&pass.wgsl.text(), variant.features)
                        .map_err(|error| format!("{}: {error}\n{}", variant.name, pass.wgsl.text()))?;
                }
            }
        }
        Ok(())
    }

    /// The same function with a kernel for every operation.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn unfused(&self) -> Result<Self, String> {
        let mut graph = self.graph.clone();
        graph.options.no_fuse = true;
        Self::new(graph, self.dtypes.clone())
    }

    /// The function and its alternatives.
    pub fn plans(&self) -> impl Iterator<Item = &'static Function> + use<> {
        std::iter::once(self.function).chain(self.function.alternatives.iter())
    }

    /// Which values pass through buffers on a device, as far as the interpreter must know.
    pub fn stores(&self, info: &DeviceInfo) -> Stores {
        let attends_in_matrices = |variant: &Variant| {
            let Schedule::Attention(Attention::CoopMatrix(_)) = variant.schedule else { return false };
            [0, info.features.coop_matrix].contains(&variant.features.coop_matrix)
        };
        let mut kernels = self.plans().flat_map(|function| function.kernels.iter());
        match self.plans().all(|function| function.kernels.len() <= 1) {
            true if kernels.any(|kernel| kernel.variants.iter().any(attends_in_matrices)) => Stores::LeftOperands,
            true => Stores::Results,
            false => Stores::EveryNode,
        }
    }

    /// The graph as text.
    pub fn source(&self) -> &str {
        &self.dump.graph
    }

    /// The texts that goldens keep, with their names.
    pub fn parts(&self) -> [(&'static str, String); 4] {
        [
            ("graph", self.dump.graph.clone()),
            ("groups", self.dump.groups.clone()),
            ("schedules", self.dump.schedules.clone()),
            ("plan", self.function.plan.to_string()),
        ]
    }
}

/// Compiles every function of a block, for every choice of generic element types.
///
/// # Panics
/// With the diagnostics if the source is not a correct program.
pub fn compile(source: &str) -> Vec<Program> {
    try_compile(source).unwrap_or_else(|error| panic!("{error}\nin\n{source}"))
}

/// As [`compile`].
///
/// # Errors
/// The diagnostics, or the compiler's internal error.
pub fn try_compile(source: &str) -> Result<Vec<Program>, String> {
    let tokens = source.parse().map_err(|error| format!("{error}"))?;
    let items = front::items(tokens);
    refuse_errors(&items.diagnostics)?;
    let instances = items.functions.into_iter().flat_map(|function| function.instances);
    instances.map(|instance| Program::new(instance.graph, instance.dtypes)).collect()
}

/// The graphs of every function of a block, for every choice of generic element types.
///
/// # Errors
/// The diagnostics.
pub fn graphs(source: &str) -> Result<Vec<Graph>, String> {
    let tokens = source.parse().map_err(|error| format!("{error}"))?;
    let items = front::items(tokens);
    refuse_errors(&items.diagnostics)?;
    Ok(items.functions.into_iter().flat_map(|function| function.instances).map(|instance| instance.graph).collect())
}

/// The graphs of the expression form, one for every choice of the dtype classes, which come with it.
///
/// # Errors
/// The diagnostics.
pub fn expression(source: &str) -> Result<Vec<(Graph, Vec<DType>)>, String> {
    let tokens = source.parse().map_err(|error| format!("{error}"))?;
    let expression = front::expression(tokens);
    refuse_errors(&expression.diagnostics)?;
    Ok(expression.instances.into_iter().map(|instance| (instance.graph, instance.dtypes)).collect())
}

fn refuse_errors(diagnostics: &Diagnostics) -> Result<(), String> {
    let errors: Vec<String> = diagnostics.errors().map(ToString::to_string).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// The file tests (`tests/in`), with what they ask for.
///
/// # Panics
/// When the folder cannot be read, holds few files, or asks for what nobody knows.
pub fn file_tests() -> Vec<(SourceFile, Directives)> {
    let files = files(&checkout().join("tests/in"));
    assert!(files.len() >= 12, "only {} file tests", files.len());
    let directives =
        |file: &SourceFile| Directives::parse(&file.source).unwrap_or_else(|error| panic!("{}: {error}", file.name));
    files.into_iter().map(|file| (directives(&file), file)).map(|(directives, file)| (file, directives)).collect()
}

/// The `.fuse` files of a folder, by name.
///
/// # Panics
/// When the folder cannot be read.
pub fn files(folder: &Path) -> Vec<SourceFile> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be listed").path());
    let mut files: Vec<SourceFile> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "fuse"))
        .map(|path| SourceFile {
            name: path.file_stem().expect("a file has a name").to_string_lossy().into_owned(),
            source: fs::read_to_string(&path).expect("the file can be read"),
        })
        .collect();
    files.sort_by(|x, y| x.name.cmp(&y.name));
    files
}
