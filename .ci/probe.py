"""Plays the HTTP/1 probe against a binary, in front of a real application, and compares what fails with the list.

usage: probe.py FINGERPOST CASES
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
binary, cases = sys.argv[1:]


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


def listed():
    rows = (HERE / "probe_failures.tsv").read_text().splitlines()
    rows = [row.split("\t") for row in rows if not row.startswith("#")]
    return {(case, level, answer) for case, level, answer, _ in rows}


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    echo = subprocess.Popen(["node", HERE / "echo.js"], stdout=subprocess.PIPE, text=True)
    port, config, found = free_port(), folder / "fingerpost.toml", folder / "found.json"
    config.write_text(f"""
        [listen]
        http = ["127.0.0.1:{port}"]
        [fleets.echo]
        servers = ["127.0.0.1:{int(echo.stdout.readline())}"]
        [[routes]]
        fleet = "echo"
    """)
    proxy = subprocess.Popen([binary, "run", "--config", config], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        probe = pathlib.Path(cases) / "suites" / "http1_probe.py"
        subprocess.run([sys.executable, probe, str(port), "fingerpost"],
                       env={**os.environ, "OUT": str(found)}, check=True)
        failures = {(row["id"], row["level"], row["got"]) for row in json.loads(found.read_text())
                    if row["scored"] and row["verdict"] == "Fail"}
    finally:
        for process in (proxy, echo):
            process.kill()
            process.wait()

for row in sorted(failures - listed()):
    print("not in .ci/probe_failures.tsv:", *row)
for row in sorted(listed() - failures):
    print("does not fail any more, take it out of .ci/probe_failures.tsv:", *row)
sys.exit(failures != listed())
