//! Programs of the file tests (`tests/in/*.fuse`) against the interpreter.

use fuse_test_support::{Sweep, compile, file_tests};

#[test]
fn programs_run_as_the_interpreter_says() {
    for (file, directives) in file_tests() {
        let sweep = Sweep::new(&file.name).sharing_variants(4);
        let mut sweep = if directives.wide_ranges { sweep.with_wide_ranges() } else { sweep };
        for (program, inputs) in directives.launches(&compile(&file.source)) {
            sweep.run(program, &inputs);
        }
        sweep.finish();
    }
}
