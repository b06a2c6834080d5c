//! Test programs: source through the front end and the compiler.

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
    kernel::print::Dialect,
};
use fuse_runtime::DeviceInfo;

use crate::{Directives, checkout};

/// One compiled function.
#[derive(Clone, Debug)]
pub struct Program {
    /// Graph of the function.
    pub graph: Graph,
    /// Types of its generic parameters or dtype classes.
    pub dtypes: Vec<DType>,
    /// Compiled function, leaked to live as long as the test.
    pub function: &'static Function,
    /// Printed output of the compiler's stages.
    pub dump: Dump,
}

/// A `.fuse` file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// File name without ending.
    pub name: String,
    /// Content of the file.
    pub source: String,
}

impl Program {
    /// Compiles a graph without validation.
    ///
    /// # Errors
    /// The compiler's internal error, with the graph.
    pub fn new(graph: Graph, dtypes: Vec<DType>) -> Result<Self, String> {
        Self::with_options(graph, dtypes, &Options { validate: false, ..Options::default() })
    }

    fn with_options(graph: Graph, dtypes: Vec<DType>, options: &Options) -> Result<Self, String> {
        let compiled = fuse_compiler::compile::compile(&graph, options)
            .map_err(|error| format!("{error}\n{}", fuse_compiler::graph::print::print(&graph)))?;
        Ok(Self { graph, dtypes, function: Box::leak(Box::new(compiled.function)), dump: compiled.dump })
    }

    /// Validates shaders that are new to this process with naga.
    ///
    /// # Errors
    /// naga's message with the shader.
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

    /// The function with a kernel for every operation.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn unfused(&self) -> Result<Self, String> {
        let mut graph = self.graph.clone();
        graph.options.no_fuse = true;
        Self::new(graph, self.dtypes.clone())
    }

    /// The function with shaders that check their indices.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn checked(&self) -> Result<Self, String> {
        self.with_dialect(Dialect::Checked)
    }

    /// The function with shaders of this syntax, without validation.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn with_dialect(&self, dialect: Dialect) -> Result<Self, String> {
        let options = Options { validate: false, dialect, ..Options::default() };
        Self::with_options(self.graph.clone(), self.dtypes.clone(), &options)
    }

    /// The function and its alternatives.
    pub fn plans(&self) -> impl Iterator<Item = &'static Function> + use<> {
        std::iter::once(self.function).chain(self.function.alternatives.iter())
    }

    /// Materialized values, as far as the interpreter must know.
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

    /// Printed graph.
    pub fn source(&self) -> &str {
        &self.dump.graph
    }

    /// Printed stages with names of goldens.
    pub fn parts(&self) -> [(&'static str, String); 4] {
        [
            ("graph", self.dump.graph.clone()),
            ("groups", self.dump.groups.clone()),
            ("schedules", self.dump.schedules.clone()),
            ("plan", self.function.plan.to_string()),
        ]
    }
}

/// Compiles every function of a block for every choice of generic types.
///
/// # Panics
/// If the source is not a correct program; the message has the diagnostics.
pub fn compile(source: &str) -> Vec<Program> {
    try_compile(source).unwrap_or_else(|error| panic!("{error}\nin\n{source}"))
}

/// Fallible form of [`compile`].
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

/// Graphs of every function of a block for every choice of generic types.
///
/// # Errors
/// The diagnostics.
pub fn graphs(source: &str) -> Result<Vec<Graph>, String> {
    let tokens = source.parse().map_err(|error| format!("{error}"))?;
    let items = front::items(tokens);
    refuse_errors(&items.diagnostics)?;
    Ok(items.functions.into_iter().flat_map(|function| function.instances).map(|instance| instance.graph).collect())
}

/// Graphs of the expression form, with the dtypes of each choice.
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

/// File tests (`tests/in`) with their directives.
///
/// # Panics
/// If the folder cannot be read, holds too few files, or a directive is malformed.
pub fn file_tests() -> Vec<(SourceFile, Directives)> {
    let files = files(&checkout().join("tests/in"));
    assert!(files.len() >= 12, "only {} file tests", files.len());
    let directives =
        |file: &SourceFile| Directives::parse(&file.source).unwrap_or_else(|error| panic!("{}: {error}", file.name));
    files.into_iter().map(|file| (directives(&file), file)).map(|(directives, file)| (file, directives)).collect()
}

/// `.fuse` files of a folder, by name.
///
/// # Panics
/// If the folder cannot be read.
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
