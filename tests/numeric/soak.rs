//! Shapes that never repeat: process memory stays within the budget and `memory_report`'s total. Takes seconds; two
//! minutes with `FUSE_THOROUGH`.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use fuse_runtime::{
    __private::{Arg, RawTensor, launch_dynamic},
    Device, MemoryReport, Tensor2,
};
use fuse_test_support::{Numbers, compile, thorough};

const MIB: u64 = 1 << 20;

const BUDGET: u64 = 140 * MIB;

/// Allowance for driver, shaders and allocators.
const REST: u64 = 256 * MIB;

/// Set in the measured process.
const CHILD: &str = "FUSE_SOAK_CHILD";

#[test]
fn changing_shapes_hold_what_the_report_says() {
    if std::env::var_os(CHILD).is_some() {
        return soak(Duration::from_secs(if thorough() { 120 } else { 10 }));
    }
    // Other tests also allocate.
    let module = module_path!().split_once("::").map_or(String::new(), |(_, module)| format!("{module}::"));
    let test = format!("{module}changing_shapes_hold_what_the_report_says");
    let program = std::env::current_exe().expect("a test has a program");
    let output = Command::new(program).args([&test, "--exact", "--nocapture"]).env(CHILD, "1").output();
    let output = output.expect("a test can start itself");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn soak(length: Duration) {
    let device = Device::builder().memory_budget(BUDGET).without_pipeline_cache().build_blocking().expect("an adapter");
    let programs = compile(
        "pub fn scaled(x: f32[M, N], y: f32[M, N]) -> f32[M, N] { relu(x + y) * 0.5 }
         pub fn softened(x: f32[M, N], y: f32[M, N]) -> f32[M, N] { softmax(x - y) }",
    );
    let mut numbers = Numbers::new(26);
    let (start, mut rounds, mut before) = (Instant::now(), 0u64, None);
    while start.elapsed() < length || rounds < 100 {
        let shape = [0; 2].map(|_| 1 + numbers.below(2800) as usize);
        let [x, y] = [0.25, 0.75].map(|value| Tensor2::<f32>::full(&device, value, shape).expect("it fits"));
        let args = [Arg::from(&x), Arg::from(&y)];
        let results = launch_dynamic(programs[rounds as usize % 2].function, &args).expect("a launch");
        if numbers.below(64) == 0 {
            results.iter().for_each(|result: &RawTensor| assert_eq!(read(result).len(), shape[0] * shape[1]));
        }
        drop(results);
        rounds += 1;
        let report = device.memory_report();
        assert!(held(&report) <= BUDGET, "round {rounds}, {shape:?}: {report}");
        let resident = resident();
        let before = *before.get_or_insert(resident);
        let allowed = before + held(&report) + report.staging_bytes + REST;
        assert!(resident <= allowed, "round {rounds}, {shape:?}: {} MiB of the process\n{report}", resident / MIB);
    }
    device.synchronize_blocking().expect("the work is done");
    let (report, reserved) = (device.memory_report(), device.reserved_bytes());
    println!("{rounds} rounds, {} MiB of the process, reserved {reserved:?}\n{report}", resident() / MIB);
    // wgpu suballocates from blocks, which changing sizes fragment: 98 MiB on an H100.
    let held = held(&report) + report.staging_bytes;
    assert!(reserved.is_none_or(|reserved| (held..=2 * held + REST / 4).contains(&reserved)), "{reserved:?}\n{report}");
    device.trim();
    device.synchronize_blocking().expect("the work is done");
    assert!(device.reserved_bytes().is_none_or(|reserved| reserved <= REST / 2), "{:?}", device.reserved_bytes());
}

fn read(tensor: &RawTensor) -> Vec<f32> {
    let bytes = tensor.to_bytes_blocking().expect("a readback");
    bytes.as_chunks().0.iter().map(|&chunk| f32::from_ne_bytes(chunk)).collect()
}

fn held(report: &MemoryReport) -> u64 {
    report.live_bytes + report.idle_bytes + report.freed_bytes
}

/// Resident bytes on Linux; other systems check the report only.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
