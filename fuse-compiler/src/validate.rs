//! Emitted WGSL through naga, with exactly the capabilities that the variant declares.
//!
//! A rejection is a bug of this compiler, never the user's mistake.

use fuse_artifact::Features;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Parses and validates a shader; the error names the offending line.
///
/// # Errors
/// naga's message with the line of the shader it is about.
pub fn validate(wgsl: &str, features: Features) -> Result<(), String> {
    let options = naga::front::wgsl::Options { capabilities: capabilities(features), parse_doc_comments: false };
    let mut frontend = naga::front::wgsl::Frontend::new_with_options(options);
    let module = frontend.parse(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
    let mut validator = Validator::new(ValidationFlags::all(), capabilities(features));
    validator.validate(&module).map(|_| ()).map_err(|error| error.emit_to_string(wgsl))
}

/// The naga capabilities of an adapter with these features.
pub fn capabilities(features: Features) -> Capabilities {
    // What WebGPU has everywhere, and native adapters but those of OpenGL: `unpack2x16float`.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    if features.f16 {
        capabilities |= Capabilities::SHADER_FLOAT16;
    }
    if features.subgroups > 0 {
        capabilities |= Capabilities::SUBGROUP;
    }
    if features.matrices > 0 {
        capabilities |= Capabilities::COOPERATIVE_MATRIX;
    }
    capabilities
}
