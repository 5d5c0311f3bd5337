#!/usr/bin/env python3
"""Many requests through the proxy to a real nginx and a real Node application: no error, memory flat.

usage: soak.py FINGERPOST REQUESTS
"""
import re, signal, socket, subprocess, sys, time

from servers import Servers, free_port

BINARY, REQUESTS = sys.argv[1], int(sys.argv[2])


def memory(process):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1])


def load(script, seconds):
    out = subprocess.run(["wrk", "-t1", "-c64", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{PROXY}/"],
                         capture_output=True, text=True).stdout
    found = re.search(r"RESULT (\d+) (\d+)", out)
    if not found:
        raise SystemExit(f"wrk says: {out}")
    return int(found[1]), int(found[2])


NGINX, NODE, PROXY = free_port(), free_port(), free_port()
with Servers() as servers:
    temporary = "".join(f"{kind}_temp_path {servers.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    nginx = servers.write("nginx.conf", f"""daemon off; pid {servers.folder}/nginx.pid; error_log {servers.folder}/nginx.err;
events {{ worker_connections 4000; }}
http {{ access_log off; {temporary} keepalive_requests 100000000;
  server {{ listen 127.0.0.1:{NGINX}; location / {{ return 200 "nginx $uri\\n"; }} }} }}
""")
    node = servers.write("app.js", f"""require('http').createServer((q, s) => {{
  let n = 0; q.on('data', d => n += d.length);
  q.on('end', () => s.end('node ' + q.url + ' ' + n + '\\n')) }}).listen({NODE}, '127.0.0.1')
""")
    config = servers.write("fingerpost.toml", f"""[listen]
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
    script = servers.write("mix.lua", """local n = 0
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
    servers.start(["nginx", "-c", nginx], NGINX)
    servers.start(["node", node], NODE)
    proxy = servers.start([BINARY, "run", "--config", config], PROXY)
    for path, want in [("/paulca/x", b"nginx"), ("/bob/x", b"node"), ("//paulca/x", b"nginx")]:
        with socket.create_connection(("127.0.0.1", PROXY)) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: tickets.example\r\nConnection: close\r\n\r\n".encode())
            reply = b"".join(iter(lambda: s.recv(65536), b""))
        assert want in reply, (path, reply)
    load(script, 3)
    before, done, errors, started = memory(proxy), 0, 0, time.time()
    while done < REQUESTS and time.time() - started < 900:
        count, failed = load(script, 10)
        done, errors = done + count, errors + failed
    after = memory(proxy)
    print(f"{done} requests in {time.time() - started:.0f} s, {errors} errors, memory {before} -> {after} KiB")
    if done < REQUESTS or errors or after > before + 4096:
        raise SystemExit("failed: an error, too few requests, or memory grew by more than 4 MiB")
    proxy.send_signal(signal.SIGTERM)
    if proxy.wait(60) != 0:
        raise SystemExit(f"the proxy ended with {proxy.returncode}")
