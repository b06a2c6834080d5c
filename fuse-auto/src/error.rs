//! Errors of lazy tensors.

use std::{fmt, sync::Arc};

/// An error of recording or evaluating.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation does not accept these operands.
    #[error("`{operation}`: {message}\nhelp: {help}")]
    Operation {
        /// Name of the operation.
        operation: &'static str,
        /// Problem, with the shapes or dtypes found.
        message: String,
        /// A suggestion.
        help: String,
    },
    /// A tensor changed between the recording of an operation and its evaluation.
    #[error(
        "{tensor} was written to after `{operation}` was recorded with it\n\
         help: evaluate what reads a tensor before writing to it, or record a `copy()` of it"
    )]
    Written {
        /// Dtype and shape of the tensor.
        tensor: String,
        /// First operation that reads the tensor.
        operation: &'static str,
    },
    /// A gradient of a value that was evaluated before.
    #[error(
        "`grad`: {what} was evaluated before the gradient was asked for, and forgot how it depends on {wrt}\n\
         help: call `grad` before evaluating, or evaluate both together with `eval_all`; values that gradients are part of \
         forget at once, others when 256 or 4,096 operations were evaluated since, or `FusionConfig::max_pending_bytes` of \
         tensors would be kept for them"
    )]
    Evaluated {
        /// Evaluated value.
        what: String,
        /// Value to differentiate with respect to.
        wrt: String,
    },
    /// No compiler (feature `jit`), and no preloaded function of this source.
    #[error(
        "no compiled function for this graph, and no compiler in this program (feature `jit`):\n{}",
        excerpt(source_text)
    )]
    NotCompiled {
        /// Graph as a `fuse!` function.
        source_text: String,
    },
    /// The compiler rejects a graph or fails.
    #[error("{message}\nin\n{}", excerpt(source_text))]
    Compile {
        /// Compiler's message.
        message: String,
        /// Graph as a `fuse!` function.
        source_text: String,
    },
    /// The code of one evaluation exceeds the limit for all code.
    #[error(
        "the compiled code of one evaluation takes {needed} bytes, more than the limit of {limit} for all code\n\
         help: raise `set_code_limit`, or evaluate parts of the graph earlier"
    )]
    CodeLimit {
        /// Bytes in use.
        used: u64,
        /// Bytes of the function that exceeds the limit.
        needed: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// A file of recorded sources cannot be read or written.
    #[error("{path}: {message}")]
    File {
        /// Path of the file.
        path: String,
        /// Problem.
        message: String,
    },
    /// An error of the runtime.
    #[error(transparent)]
    Runtime(#[from] fuse_runtime::Error),
    /// An error of an earlier operation whose result was used.
    #[error("{0}")]
    Earlier(Arc<Self>),
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const MOST_LINES: usize = 24;

const MOST_COLUMNS: usize = 160;

/// Sources may have thousands of lines.
fn excerpt(source: &str) -> String {
    let mut lines: Vec<String> = source
        .lines()
        .take(MOST_LINES)
        .map(|line| match line.char_indices().nth(MOST_COLUMNS) {
            Some((end, _)) => format!("{} …", &line[..end]),
            None => line.to_owned(),
        })
        .collect();
    let more = source.lines().count().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.push(format!("… {more} more lines (the error's `source_text` has all)"));
    }
    lines.join("\n")
}

impl Error {
    pub(crate) fn operation(operation: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Operation { operation, message: message.into(), help: help.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_the_beginning_of_a_source() {
        let short = "fn f(x: f32[N]) -> f32[N] { x }".to_owned();
        let compile = |source_text: String| Error::Compile { message: "refused".into(), source_text };
        assert_eq!(compile(short.clone()).to_string(), format!("refused\nin\n{short}"));
        let long = format!("{}\n{}", "x".repeat(100_000), "let y = x;\n".repeat(40_000));
        for error in [compile(long.clone()), Error::NotCompiled { source_text: long }] {
            let text = error.to_string();
            assert!(text.len() < 1000 && text.contains("more lines"), "{} bytes", text.len());
            assert_eq!(text, format!("{error:?}"));
        }
    }
}
