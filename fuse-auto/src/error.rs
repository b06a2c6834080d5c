//! Everything that can go wrong with lazy tensors.

use std::sync::Arc;

/// An error of recording or evaluating.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation does not take these operands.
    #[error("`{operation}`: {message}\nhelp: {help}")]
    Operation {
        /// The operation.
        operation: &'static str,
        /// What is wrong, with the shapes or dtypes found.
        message: String,
        /// What to write instead.
        help: String,
    },
    /// A tensor changed between the recording of an operation and its evaluation.
    #[error(
        "{tensor} was written to after `{operation}` was recorded with it\n\
         help: evaluate what reads a tensor before writing to it, or record a `copy()` of it"
    )]
    Written {
        /// The tensor: its name in the source, its dtype and shape.
        tensor: String,
        /// The first operation that reads it.
        operation: &'static str,
    },
    /// A gradient of something that was evaluated before.
    #[error(
        "`grad`: {what} was evaluated before the gradient was asked for, and forgot how it depends on {wrt}\n\
         help: call `grad` before evaluating, or evaluate both together with `eval_all`; values that gradients are part of \
         forget at once, others when 256 or 4,096 operations were evaluated since, or `FusionConfig::max_pending_bytes` of \
         tensors would be kept for them"
    )]
    Evaluated {
        /// The value that was evaluated.
        what: String,
        /// With respect to what.
        wrt: String,
    },
    /// The program has no compiler (feature `jit`), and no function of this source was preloaded.
    #[error("no compiled function for this graph, and no compiler in this program (feature `jit`):\n{source_text}")]
    NotCompiled {
        /// The graph as a `fuse!` function.
        source_text: String,
    },
    /// The compiler refuses a graph or fails on it.
    #[error("{message}\nin\n{source_text}")]
    Compile {
        /// Its message.
        message: String,
        /// The graph as a `fuse!` function.
        source_text: String,
    },
    /// Compiled code would take more memory than allowed.
    #[error(
        "compiled code takes {used} bytes, {needed} more would exceed the limit of {limit}\n\
         help: raise `set_code_limit`, or give sizes as `x.dim(axis)`, so that fewer graphs differ; `stats` says how many there are"
    )]
    CodeLimit {
        /// Bytes in use.
        used: u64,
        /// Bytes of the function that is one too many.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// A file of recorded sources cannot be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// An error of the runtime.
    #[error(transparent)]
    Runtime(#[from] fuse_runtime::Error),
    /// An error of an earlier operation, whose result was used here.
    #[error("{0}")]
    Earlier(Arc<Self>),
}

impl Error {
    /// An operation that does not take its operands.
    pub(crate) fn operation(operation: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Operation { operation, message: message.into(), help: help.into() }
    }
}
