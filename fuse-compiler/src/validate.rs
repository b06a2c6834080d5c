//! Validates WGSL with naga, with exactly a variant's capabilities.
//!
//! A rejection is a compiler bug.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
};

use fuse_artifact::Features;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Cache of valid shaders, by a 128-bit hash of source and features.
///
/// naga takes most of the time of an expansion, and editors expand at every pause.
#[derive(Debug, Default)]
pub struct Valid(Mutex<HashSet<[u64; 2]>>);

impl Valid {
    /// True if a shader was added.
    pub fn contains(&self, wgsl: &str, features: Features) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&hash(wgsl, features))
    }

    /// Adds a shader.
    pub fn add(&self, wgsl: &str, features: Features) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(hash(wgsl, features));
    }
}

fn hash(wgsl: &str, features: Features) -> [u64; 2] {
    [0, 1].map(|half| {
        let mut hasher = DefaultHasher::new();
        (half, wgsl, features).hash(&mut hasher);
        hasher.finish()
    })
}

/// Parses and validates a shader.
///
/// # Errors
/// naga's message with the offending line.
pub fn validate(wgsl: &str, features: Features) -> Result<(), String> {
    let module = parse(wgsl, features)?;
    validator(capabilities(features)).validate(&module).map(|_| ()).map_err(|error| error.emit_to_string(wgsl))
}

/// Parses a shader.
///
/// # Errors
/// naga's message with the offending line.
pub fn parse(wgsl: &str, features: Features) -> Result<naga::Module, String> {
    let options = naga::front::wgsl::Options { capabilities: capabilities(features), parse_doc_comments: false };
    naga::front::wgsl::Frontend::new_with_options(options).parse(wgsl).map_err(|error| error.emit_to_string(wgsl))
}

/// Validator for an adapter with these capabilities.
pub fn validator(capabilities: Capabilities) -> Validator {
    Validator::new(ValidationFlags::all(), capabilities)
}

/// naga's capabilities for these features.
pub fn capabilities(features: Features) -> Capabilities {
    // In all of WebGPU, and natively except on OpenGL.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    if features.f16 {
        capabilities |= Capabilities::SHADER_FLOAT16;
    }
    if features.subgroups > 0 {
        capabilities |= Capabilities::SUBGROUP;
    }
    if features.coop_matrix > 0 {
        capabilities |= Capabilities::COOPERATIVE_MATRIX;
    }
    capabilities
}
