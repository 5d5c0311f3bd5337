#!/usr/bin/env python3
"""Many requests through the proxy to a real nginx and a real Node application: no error, memory flat.

usage: soak.py FINGERPOST REQUESTS
"""
import os, re, shutil, signal, socket, subprocess, sys, tempfile, time

BINARY, REQUESTS = sys.argv[1], int(sys.argv[2])
FOLDER = tempfile.mkdtemp(prefix="fingerpost-soak-")
PROCESSES = []


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(command, port):
    process = subprocess.Popen(command, stdout=open(f"{FOLDER}/{port}.out", "w"), stderr=subprocess.STDOUT)
    PROCESSES.append(process)
    deadline = time.time() + 20
    while time.time() < deadline:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{command[0]} does not listen: {open(f'{FOLDER}/{port}.out').read()}")


def write(name, text):
    path = f"{FOLDER}/{name}"
    with open(path, "w") as file:
        file.write(text)
    return path


def memory(process):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1])


NGINX, NODE, PROXY = free_port(), free_port(), free_port()
temporary = "".join(f"{kind}_temp_path {FOLDER}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
nginx = write("nginx.conf", f"""daemon off; pid {FOLDER}/nginx.pid; error_log {FOLDER}/nginx.err;
events {{ worker_connections 4000; }}
http {{ access_log off; {temporary} keepalive_requests 100000000;
  server {{ listen 127.0.0.1:{NGINX}; location / {{ return 200 "nginx $uri\\n"; }} }} }}
""")
node = write("app.js", f"""require('http').createServer((q, s) => {{
  let n = 0; q.on('data', d => n += d.length);
  q.on('end', () => s.end('node ' + q.url + ' ' + n + '\\n')) }}).listen({NODE}, '127.0.0.1')
""")
config = write("fingerpost.toml", f"""[listen]
http = ["127.0.0.1:{PROXY}"]
[fleets.classic]
servers = ["127.0.0.1:{NODE}"]
[fleets.go]
servers = ["127.0.0.1:{NGINX}"]
[[routes]]
id = "classic"
hosts = ["tickets.example"]
fleet = "classic"
account = "tickets"
app = "classic"
legacy = "any"
[[routes]]
id = "go"
hosts = ["next.tickets.example"]
fleet = "go"
account = "tickets"
app = "go"
[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
paths = {{ paulca = "next.tickets.example" }}
""")
script = write("mix.lua", """local n = 0
local requests = {}
function init()
  local headers = { ["Host"] = "tickets.example" }
  for at = 0, 49 do
    local path = (at % 2 == 0) and ("/paulca/event" .. at) or ("/bob/event" .. at)
    local method, body = "GET", nil
    if at % 10 == 1 then method, body = "POST", string.rep("x", at * 97) end
    requests[at] = wrk.format(method, path, headers, body)
  end
end
function request() n = (n + 1) % 50; return requests[n] end
function done(summary)
  local e = summary.errors
  io.write(string.format("RESULT %d %d\\n", summary.requests, e.connect + e.read + e.write + e.status + e.timeout))
end
""")


def load(seconds):
    out = subprocess.run(["wrk", "-t1", "-c64", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{PROXY}/"],
                         capture_output=True, text=True).stdout
    found = re.search(r"RESULT (\d+) (\d+)", out)
    if not found:
        raise SystemExit(f"wrk says: {out}")
    return int(found[1]), int(found[2])


try:
    start(["nginx", "-c", nginx], NGINX)
    start(["node", node], NODE)
    proxy = start([BINARY, "run", "--config", config], PROXY)
    for path, want in [("/paulca/x", b"nginx"), ("/bob/x", b"node"), ("//paulca/x", b"nginx")]:
        with socket.create_connection(("127.0.0.1", PROXY)) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: tickets.example\r\nConnection: close\r\n\r\n".encode())
            reply = b"".join(iter(lambda: s.recv(65536), b""))
        assert want in reply, (path, reply)
    load(3)
    before, done, errors, started = memory(proxy), 0, 0, time.time()
    while done < REQUESTS and time.time() - started < 900:
        count, failed = load(10)
        done, errors = done + count, errors + failed
    after = memory(proxy)
    print(f"{done} requests in {time.time() - started:.0f} s, {errors} errors, memory {before} -> {after} KiB")
    if done < REQUESTS or errors or after > before + 4096:
        raise SystemExit("failed: an error, too few requests, or memory grew by more than 4 MiB")
    proxy.send_signal(signal.SIGTERM)
    if proxy.wait(60) != 0:
        raise SystemExit(f"the proxy ended with {proxy.returncode}")
finally:
    for process in PROCESSES:
        if process.poll() is None:
            process.terminate()
    for process in PROCESSES:
        process.wait(20)
    shutil.rmtree(FOLDER, ignore_errors=True)
