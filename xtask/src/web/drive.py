#!/usr/bin/env python3
"""Drives a browser through the pages beside this file, and keeps what they say: for machines with nothing but Python and a browser.

    python3 drive.py BROWSER [--flags vulkan] [--only tests] [--query filter=softmax] [--out results.jsonl]

`visits.json` lists the pages. Each is opened in a browser that was just started, and has its result when it posts one to `/result`;
what it posts to `/progress` is printed. A line of the file of results is a visit: its page, browser, flags, adapter, host and date,
and `said`, or `error`. The exit status is 0 only if every visit has a result, and every test in them passed.
"""

import argparse
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))

# A browser without a window, that asks nobody anything.
ALWAYS = """--headless=new --no-sandbox --no-first-run --no-default-browser-check --disable-breakpad --disable-crash-reporter
    --disable-background-networking --disable-component-update --disable-extensions --disable-sync --disable-dev-shm-usage
    --noerrdialogs --enable-logging=stderr --remote-debugging-port=0""".split()
# A GPU through Vulkan, as users have it who switched nothing on but that.
VULKAN = "--enable-features=Vulkan --use-angle=vulkan --disable-vulkan-surface --ignore-gpu-blocklist".split()
DEVELOPER = "--enable-unsafe-webgpu --enable-webgpu-developer-features --disable-gpu-watchdog".split()
FLAGS = {
    "none": [],
    "software": ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
    "vulkan": VULKAN,
    # Exact timestamps, and features that are not finished.
    "developer": VULKAN + DEVELOPER,
    # Dawn has 16-bit floats on NVIDIA's driver only if told so.
    "f16": VULKAN + DEVELOPER + ["--enable-dawn-features=vulkan_enable_f16_on_nvidia"],
}

# Browsers compile modules while they load only if they are called so.
KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "wasm": "application/wasm",
    "json": "application/json",
}


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves the folder, and hears what its pages say."""

    visit = None

    def log_message(self, *_):
        pass

    def answer(self, status, kind="text/plain", body=b""):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        # Browsers give exact clocks to pages that are isolated from others.
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        file = os.path.realpath(FOLDER + "/" + self.path.split("?")[0])
        if file.startswith(FOLDER + "/") and os.path.isfile(file):
            with open(file, "rb") as content:
                kind = KINDS.get(file.rsplit(".", 1)[-1], "application/octet-stream")
                self.answer(200, kind, content.read())
        else:
            self.answer(404)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.answer(204)
        if self.path == "/result":
            Pages.visit.said = text
            Pages.visit.ended.set()
        else:
            Pages.visit.progress.append(text)
            print(f"    {text}", flush=True)


class Visit:
    """A page in a browser that was just started."""

    def __init__(self, browser, flags, address, seconds, log):
        self.said, self.ended, self.progress, Pages.visit = None, threading.Event(), [], self
        profile = tempfile.mkdtemp(prefix="fuse-browser-")
        with open(log, "wb") as output:
            command = [browser, *ALWAYS, *flags, f"--user-data-dir={profile}", address]
            process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        start = time.time()
        while time.time() - start < seconds and process.poll() is None and not self.ended.wait(0.25):
            pass
        self.seconds, status = time.time() - start, process.poll()
        for what in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, what)
                time.sleep(0.3)
            except ProcessLookupError:
                break
        process.wait()
        shutil.rmtree(profile, ignore_errors=True)
        last = self.progress[-1] if self.progress else "nothing"
        if self.said is not None:
            self.outcome = json.loads(self.said)
        elif status is not None:
            self.outcome = {"error": f"the browser ended with status {status} after `{last}`; `{log}` is its log"}
        else:
            self.outcome = {"error": f"no result after {seconds} s, at `{last}`; `{log}` is the browser's log"}


def version(browser):
    """The browser's name and version, as `chrome 156.0.8078.79`."""
    said = subprocess.run([browser, "--version", "--no-sandbox"], capture_output=True, text=True, timeout=60).stdout
    numbers = [word for word in said.split() if word[:1].isdigit()]
    return f"chrome {numbers[0]}" if numbers else "chrome"


def processor():
    """The host's processor, as `machine::host` of `benches/results` names it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'a processor'}, {len(os.sched_getaffinity(0))} cores"


def graphics():
    """The name of NVIDIA's first GPU, which plain browsers do not tell; empty where there is none."""
    try:
        command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip().split("\n")[0]
    except OSError:
        return ""


def failures(outcome):
    """What went wrong in a visit."""
    if "error" in outcome:
        return [f"{outcome['error']}\n{outcome.get('stack', '')}"]
    return [f"{test['test']}\n{test['output']}" for test in outcome.get("tests", []) if not test["passed"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("browser")
    parser.add_argument("--flags", choices=FLAGS, default="vulkan", help="what the browser is started with")
    parser.add_argument("--also", default="", help="more flags, separated by spaces")
    parser.add_argument("--only", default="", help="visits whose names contain this")
    parser.add_argument("--query", default="", help="added to the addresses of pages: `quick`, `filter=X`")
    parser.add_argument("--seconds", type=int, default=3600, help="the most that a visit may take")
    parser.add_argument("--out", default="results.jsonl", help="lines are added to this file")
    options = parser.parse_args()
    with open(FOLDER + "/visits.json", encoding="utf-8") as file:
        listed = json.load(file)
    visits = [visit for visit in listed["visits"] if options.only in visit["name"]]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags, browser = FLAGS[options.flags] + options.also.split(), version(options.browser)
    failed = []
    for visit in visits:
        page = visit["page"]
        if options.query:
            page += ("&" if "?" in page else "?") + options.query
        address = f"http://127.0.0.1:{server.server_address[1]}/{page}"
        print(f"==> {visit['name']}: {page}", flush=True)
        seconds = min(visit["seconds"], options.seconds)
        done = Visit(options.browser, flags, address, seconds, options.out + ".log")
        wrong = failures(done.outcome)
        for text in wrong:
            print(f"FAILED {text}", flush=True)
        failed += wrong
        key = "error" if "error" in done.outcome else "said"
        line = {
            "visit": visit["name"],
            "page": page,
            "browser": browser,
            "flags": options.flags,
            "adapter": "" if options.flags == "software" else graphics(),
            "host": processor(),
            "commit": listed["commit"],
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "seconds": round(done.seconds, 1),
            key: done.outcome[key] if key == "error" else done.outcome,
        }
        with open(options.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    print(f"{len(visits)} visits, {len(failed)} failures", flush=True)
    return 1 if failed or not visits else 0


if __name__ == "__main__":
    sys.exit(main())
