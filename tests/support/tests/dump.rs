#[test]
fn dump() {
    for p in fuse_test_support::compile(&std::fs::read_to_string("/tmp/dump.fuse").unwrap()) {
        println!("{}\n{}", p.dump.graph, p.dump.groups);
        for k in p.function.kernels.iter() {
            println!("{:?} {:?}", k.domain, k.accesses);
        }
        let want = std::env::var("WANT").unwrap_or_default();
        for (n, t) in &p.dump.wgsl {
            if !want.is_empty() && n.contains(&want) {
                println!("== {n}\n{t}");
            } else {
                println!("{n}: {}", t.len());
            }
        }
    }
}
