#!/usr/bin/env bash
# Measures on a machine without this repository's toolchain: the benchmark's binary, PyTorch and Burn, interleaved.
#
#   carry.sh OUT KERNELS [BURN]
#
# OUT is the folder of results, KERNELS the benchmark's binary, BURN that of benches/rivals/burn. bars.toml and
# rivals/pytorch.py are taken from beside this file. Environment: FUSE_COMMIT (the commit of the binaries), FUSE_ADAPTER.
# Results in OUT, one file per part; join them with `cargo xtask report OUT/*.jsonl --store NAME`.
#
# The interleaved parts take about ten minutes on an H200; `FULL=1` adds everything else, in separate runs after them.
set -uo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
out="$1" kernels="$2" burn="${3:-}"
mkdir -p "$out"
status=0

# Runs a part of the measurement with a time limit; its failure does not end the others.
part() {
    local name="$1" seconds="$2" start="$SECONDS"
    shift 2
    timeout --kill-after=5 "$seconds" "$@" >"$out/$name.txt" 2>"$out/$name.err"
    local code=$?
    echo "$name: exit $code after $((SECONDS - start)) s"
    if [ "$code" -ne 0 ]; then
        status=1
        tail -n 3 "$out/$name.err"
    fi
}

part ours_1 200 "$kernels" --bars --json "$out/ours_1.jsonl"
part pytorch 200 python3 "$here/rivals/pytorch.py" --limit 185 --json "$out/pytorch.jsonl"
part specialized 60 "$kernels" --specialize --filter 'relu(matmul + b + r) f16' --json "$out/specialized.jsonl"
part ours_2 200 "$kernels" --bars --json "$out/ours_2.jsonl"
if [ -n "$burn" ]; then
    part burn 150 "$burn" --limit 110 --case-limit 35 --json "$out/burn.jsonl"
fi
if [ -n "${FULL:-}" ]; then
    part full 500 "$kernels" --json "$out/full.jsonl"
    part sweep 400 "$kernels" --sweep --json "$out/sweep.jsonl"
fi
exit "$status"
