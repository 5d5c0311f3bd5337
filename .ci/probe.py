"""Plays the HTTP/1 probe against a binary, in front of a real application, and compares what fails with the list.

usage: probe.py FINGERPOST CASES
"""
import json
import os
import pathlib
import subprocess
import sys

from servers import Servers, free_port

HERE = pathlib.Path(__file__).parent
binary, cases = sys.argv[1:]


def listed():
    rows = (HERE / "probe_failures.tsv").read_text().splitlines()
    rows = [row.split("\t") for row in rows if not row.startswith("#")]
    return {(case, level, answer) for case, level, answer, _ in rows}


ECHO, PROXY = free_port(), free_port()
with Servers() as servers:
    found = servers.folder / "found.json"
    config = servers.write("fingerpost.toml", f"""[listen]
http = ["127.0.0.1:{PROXY}"]
[fleets.echo]
servers = ["127.0.0.1:{ECHO}"]
[[routes]]
fleet = "echo"
[timeouts]
drain_grace = "0s"
""")
    servers.start(["node", HERE / "echo.js", str(ECHO)], ECHO)
    servers.start([binary, "run", "--config", config], PROXY)
    probe = pathlib.Path(cases) / "suites" / "http1_probe.py"
    subprocess.run([sys.executable, probe, str(PROXY), "fingerpost"], env={**os.environ, "OUT": str(found)}, check=True)
    failures = {(row["id"], row["level"], row["got"]) for row in json.loads(found.read_text())
                if row["scored"] and row["verdict"] == "Fail"}

for row in sorted(failures - listed()):
    print("not in .ci/probe_failures.tsv:", *row)
for row in sorted(listed() - failures):
    print("does not fail any more, take it out of .ci/probe_failures.tsv:", *row)
sys.exit(failures != listed())
