//! Programs that must not compile. Each stands beside a `.stderr` file with what rustc says about it;
//! `TRYBUILD=overwrite cargo test -p fuse-test-ui` writes those anew.
