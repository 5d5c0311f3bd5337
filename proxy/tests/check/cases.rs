//! Configurations with mistakes, and what is said of them.

/// One configuration.
pub(crate) struct Case {
    pub(crate) what: &'static str,
    pub(crate) text: &'static str,
    pub(crate) want: &'static [&'static str],
}

pub(crate) static CASES: &[Case] = &[
    Case {
        what: "unknown keys",
        text: r##"bocks = "a"
frobnicate = 1
[[rotues]]
path = "/x"
[fleets.go]
servers = ["127.0.0.1:3002"]
conect_timeout = "5s"
[[routes]]
hots = ["a.example"]
fleet = "go"
"##,
        want: &[
            r##"1:1: bocks: unknown key; known here: box, unknown_host, listen, tls, certificates, store, fleets, routes, site, claims, accounts, log, timeouts, limits, http2, forwarding"##,
            r##"2:1: frobnicate: unknown key; known here: box, unknown_host, listen, tls, certificates, store, fleets, routes, site, claims, accounts, log, timeouts, limits, http2, forwarding"##,
            r##"3:3: rotues: unknown key; did you mean "routes"?"##,
            r##"7:1: fleets.go.conect_timeout: unknown key; did you mean "connect_timeout"?"##,
            r##"9:1: routes[0].hots: unknown key; did you mean "hosts"?"##,
        ],
    },
    Case {
        what: "wrong types",
        text: r##"box = 7
fleets = { go = { servers = "127.0.0.1:1" } }
unknown_host = true
[listen]
http = ["127.0.0.1:8080", 80]
[[routes]]
hosts = "a.example"
fleet = "go"
[[routes]]
hosts = ["b.example"]
respond = "ok"
[[routes]]
hosts = ["c.example"]
redirect = 1.5
[[routes]]
hosts = ["d.example"]
fleet = 1979-05-27
[log]
access = "yes"
"##,
        want: &[
            "1:7: box: expected a string, found the integer 7",
            r##"2:29: fleets.go.servers: expected an array of strings, found the string "127.0.0.1:1""##,
            r##"3:16: unknown_host: expected one of "shared", "reject", found true"##,
            "5:27: listen.http[1]: expected a string, found the integer 80",
            r##"7:9: routes[0].hosts: expected an array of strings, found the string "a.example""##,
            r##"11:11: routes[1].respond: expected a table, found the string "ok""##,
            "14:12: routes[2].redirect: expected a string or a table, found the number 1.5",
            "17:9: routes[3].fleet: expected a string, found the date 1979-05-27",
            r##"19:10: log.access: expected true or false, found the string "yes""##,
        ],
    },
    Case {
        what: "arrays with elements of the wrong type keep their positions",
        text: r##"routes = [1, { hosts = ["a.example", 2, "b..example"], fleet = "nope" }]
"##,
        want: &[
            "1:11: routes[0]: expected a table, found the integer 1",
            "1:38: routes[1].hosts[1]: expected a string, found the integer 2",
            r##"1:41: routes[1].hosts[2]: "b..example" is not a host: empty label at byte 2"##,
            r##"1:64: routes[1].fleet: there is no fleet named "nope"; there are no fleets"##,
        ],
    },
    Case {
        what: "missing keys",
        text: r##"[fleets.go]
[[claims]]
host = "a.example"
[[site]]
[[routes]]
hosts = ["a.example"]
redirect = { status = 301 }
"##,
        want: &[
            r##"1:1: fleets.go: the key "servers" is missing"##,
            r##"2:1: claims[0]: the key "account" is missing"##,
            r##"2:1: claims[0]: the key "app" is missing"##,
            r##"4:1: site[0]: the key "hosts" is missing"##,
            r##"7:12: routes[0].redirect: the key "to" is missing"##,
        ],
    },
    Case {
        what: "words and numbers outside their range",
        text: r##"unknown_host = "share"
[log]
format = "yaml"
level = "INFO"
[limits]
threads = 0
upstream_keep_alive = 70000
[[routes]]
path = "/a"
respond = { status = 42 }
[[routes]]
path = "/b"
redirect = { to = "/", status = 304 }
[[routes]]
path = "/c"
scope = "all"
respond = {}
"##,
        want: &[
            r##"1:16: unknown_host: "share" is not one of "shared", "reject"; did you mean "shared"?"##,
            r##"3:10: log.format: "yaml" is not one of "text", "json""##,
            r##"4:9: log.level: "INFO" is not one of "error", "warn", "info", "debug", "trace"; did you mean "info"?"##,
            "6:11: limits.threads: 0 is out of range: 1 to 1024",
            "7:23: limits.upstream_keep_alive: 70000 is out of range: 0 to 65535",
            "10:22: routes[0].respond.status: 42 is out of range: 200 to 599",
            r##"13:33: routes[1].redirect.status: 304 is not a redirect; one is 301, 302, 303, 307 or 308"##,
            r##"16:9: routes[2].scope: "all" is not one of "fallback", "every-host""##,
        ],
    },
    Case {
        what: "keys that are planned",
        text: r##"[boxes.b]
address = "10.0.0.2"
[fleets.go]
servers = ["127.0.0.1:3002"]
activate = { start = ["x"] }
"##,
        want: &[
            "1:2: boxes: not available yet: take it out; every route is served by this box",
            r##"5:1: fleets.go.activate: not available yet: take it out; the servers of a fleet have to be running"##,
        ],
    },
    Case {
        what: "guards",
        text: r##"[fleets.go]
servers = ["127.0.0.1:3002"]
[[routes]]
hosts = ["a.example"]
fleet = "go"
internal_only = ["10.0.0.0/8", "10.0.0.1/8", "local"]
rate_limit = { requests = 0, per = "1s" }
auth = { basic = { realm = "\u00e4", users = { ann = "hunter2", "b:c" = "$2y$04$short", dan = "$apr1$x$y" } } }
[[routes]]
hosts = ["b.example"]
fleet = "go"
internal_only = []
rate_limit = true
auth = true
[[routes]]
hosts = ["c.example"]
fleet = "go"
internal_only = "private"
rate_limit = { requests = 10, per = "0s" }
auth = { forward = { url = "https://auth.example/", copy_headers = ["X-User", "Host", "x y", "X_User"], timeout = "0s" } }
[[routes]]
hosts = ["d.example"]
fleet = "go"
rate_limit = { per = "1s" }
auth = { basic = { users = {} }, forward = { url = "http://127.0.0.1:9000" } }
[[routes]]
hosts = ["e.example"]
fleet = "go"
auth = { forward = {} }
[[routes]]
hosts = ["f.example"]
fleet = "go"
auth = { basc = {} }
[[routes]]
hosts = ["g.example"]
fleet = "go"
auth = { basic = { users = {} } }
"##,
        want: &[
            r##"6:32: routes[0].internal_only[1]: "10.0.0.1/8": address has bits set outside its prefix; a network looks like "10.0.0.0/8" or "fd00::/8""##,
            r##"6:46: routes[0].internal_only[2]: "local": not an IP address; a network looks like "10.0.0.0/8" or "fd00::/8""##,
            r##"7:27: routes[0].rate_limit.requests: 0 is out of range: 1 to 1000000000"##,
            r##"8:28: routes[0].auth.basic.realm: holds what is not printable ASCII"##,
            r##"8:54: routes[0].auth.basic.users.ann: this is no hash, but perhaps the password itself; write what `fingerpost hash-password` or `htpasswd -nB NAME` prints"##,
            r##"8:73: routes[0].auth.basic.users."b:c": a user's name is not empty and holds no colon or control character"##,
            r##"8:73: routes[0].auth.basic.users."b:c": this hash is malformed; write what `fingerpost hash-password` or `htpasswd -nB NAME` prints"##,
            r##"8:95: routes[0].auth.basic.users.dan: passwords under this kind of hash are guessed fast; write what `fingerpost hash-password` or `htpasswd -nB NAME` prints"##,
            r##"12:17: routes[1].internal_only: is empty, and would answer nobody: true stands for private networks"##,
            r##"13:14: routes[1].rate_limit: say how many: { requests = 100, per = "1s" }"##,
            r##"14:8: routes[1].auth: auth has exactly one of basic and forward, or is false"##,
            r##"18:17: routes[2].internal_only: expected true or false or an array of strings, found the string "private""##,
            r##"19:37: routes[2].rate_limit.per: must be longer than nothing"##,
            r##"20:28: routes[2].auth.forward.url: "https://auth.example/": only http is supported: put the server on this machine or in a private network"##,
            r##"20:79: routes[2].auth.forward.copy_headers[1]: "Host" is a field that the proxy sets itself"##,
            r##"20:87: routes[2].auth.forward.copy_headers[2]: "x y" is not the name of a header field"##,
            r##"20:94: routes[2].auth.forward.copy_headers[3]: "X_User" would be taken for "X-User": write that"##,
            r##"20:115: routes[2].auth.forward.timeout: a timeout of 0 would fail every request"##,
            r##"24:14: routes[3].rate_limit: the key "requests" is missing"##,
            r##"25:8: routes[3].auth: auth has exactly one of basic and forward"##,
            r##"29:20: routes[4].auth.forward: the key "url" is missing"##,
            r##"33:10: routes[5].auth.basc: unknown key; did you mean "basic"?"##,
            r##"37:28: routes[6].auth.basic.users: names nobody: nobody could pass"##,
        ],
    },
    Case {
        what: "guards of sites",
        text: r##"[fleets.go]
servers = ["127.0.0.1:3002"]
[[site]]
hosts = ["a.example", "b.example"]
internal_only = true
rate_limit = { requests = 100, per = "1s", burst = 50 }
routes = [{ fleet = "go" }, { path = "/open", fleet = "go", internal_only = false }]
[[site]]
hosts = ["a.example"]
internal_only = ["10.0.0.0/8"]
rate_limit = { requests = 100, per = "1000ms", burst = 50 }
[[site]]
hosts = ["c.example"]
auth = { forward = { url = "http://127.0.0.1:9000/verify", copy_headers = ["X-User"], timeout = "2s" } }
account = "t"
app = "c"
legacy = "rails"
routes = [{ path = "/{*rest}", fleet = "go" }, { path = "/private/{*rest}", fleet = "go" }]
[[site]]
hosts = ["d.example"]
account = "t"
app = "c"
routes = [{ respond = {} }]
[[claims]]
host = "c.example"
account = "t"
app = "c"
paths = { private = "d.example", paulca = "d.example" }
[[routes]]
path = "/inside"
internal_only = true
respond = {}
"##,
        want: &[
            r##"7:21: warning: site[0].routes[0].fleet: the prefixes that are moved away from c.example still reach its fleet through this route, on a.example, which does not have the same map"##,
            r##"7:55: warning: site[0].routes[1].fleet: the prefixes that are moved away from c.example still reach its fleet through this route, on a.example, which does not have the same map"##,
            r##"10:17: site[1].internal_only: site[0].internal_only (line 5) says otherwise for the same host a.example"##,
            r##"28:21: claims[0].paths.private: "private" can't be a prefix: it is the first segment of a guarded route, site[2].routes[1] (line 18)"##,
            r##"29:1: warning: routes[0]: this guarded route is not reached on a.example (and 3 more hosts): site[0].routes[0] (line 7) takes its path there; with scope = "every-host" it is tried first"##,
        ],
    },
    Case {
        what: "limits of clients",
        text: r##"[limits]
max_connections = 0
max_connections_per_address = -1
max_requests_per_connection = "many"
max_headers = 10001
max_body_size = 1.5
[[routes]]
hosts = ["a.example"]
respond = {}
max_body_size = 0
[[site]]
hosts = ["b.example"]
max_body_size = 10
[[site]]
hosts = ["b.example"]
max_body_size = 11
"##,
        want: &[
            r##"2:19: limits.max_connections: 0 is out of range: 1 to 100000000"##,
            r##"3:31: limits.max_connections_per_address: -1 is out of range: 1 to 100000000"##,
            r##"4:31: limits.max_requests_per_connection: expected an integer, found the string "many""##,
            r##"5:15: limits.max_headers: 10001 is out of range: 1 to 10000"##,
            r##"6:17: limits.max_body_size: expected an integer, found the number 1.5"##,
            r##"10:17: routes[0].max_body_size: 0 is out of range: 1 to 1099511627776"##,
            r##"16:17: site[1].max_body_size: site[0].max_body_size (line 13) says otherwise for the same host b.example"##,
        ],
    },
    Case {
        what: "listeners behind proxies",
        text: r##"[listen]
http = ["127.0.0.1:8080", "127.0.0.1:8081"]
proxy_protocol = ["127.0.0.1:8081", "127.0.0.1:8082", "10.0.0.0/8"]
"##,
        want: &[
            r##"3:37: listen.proxy_protocol[1]: 127.0.0.1:8082 is in neither http nor https"##,
            r##"3:55: listen.proxy_protocol[2]: "10.0.0.0/8" is not an IP address and a port; it looks like "127.0.0.1:8080" or "[::1]:8080""##,
        ],
    },
    Case {
        what: "listeners",
        text: r##"[listen]
http = [":8080", "localhost:80", "127.0.0.1", "127.0.0.1:9000", "127.0.0.1:0", "127.0.0.1:0"]
https = ["127.0.0.1:8443"]
admin = "127.0.0.1:9000"
"##,
        want: &[
            r##"2:9: listen.http[0]: ":8080" is not an IP address and a port; write "0.0.0.0:8080" for all addresses"##,
            r##"2:18: listen.http[1]: "localhost:80" is not an IP address and a port; write "127.0.0.1:80""##,
            r##"2:34: listen.http[2]: "127.0.0.1" is not an IP address and a port; it looks like "127.0.0.1:8080" or "[::1]:8080""##,
            "3:9: listen.https: HTTPS needs a certificate: there are no [[certificates]]",
            "4:9: listen.admin: the address 127.0.0.1:9000 is listed twice",
        ],
    },
    Case {
        what: "certificates",
        text: r##"[listen]
http = []
https = ["127.0.0.1:8443", "127.0.0.1:8443"]
[tls]
min_version = "1.1"
[[certificates]]
cert = "/nowhere/a.pem"
key = "/nowhere/a.key"
default = true
[[certificates]]
cert = "/dev/null"
key = "/dev/null"
default = true
[[certificates]]
crt = "/dev/null"
key = 7
"##,
        want: &[
            "3:28: listen.https[1]: the address 127.0.0.1:8443 is listed twice",
            r##"5:15: tls.min_version: "1.1" is not one of "1.2", "1.3"; did you mean "1.2"?"##,
            "7:8: certificates[0].cert: /nowhere/a.pem can't be read: No such file or directory (os error 2)",
            "8:7: certificates[0].key: /nowhere/a.key can't be read: No such file or directory (os error 2)",
            "11:8: certificates[1].cert: /dev/null: holds no certificate: there is no BEGIN CERTIFICATE",
            "13:11: certificates[1].default: certificates[0] (line 6) is the default already",
            r##"14:1: certificates[2]: the key "cert" is missing"##,
            r##"15:1: certificates[2].crt: unknown key; did you mean "cert"?"##,
            r##"16:7: certificates[2].key: expected a string, found the integer 7"##,
        ],
    },
    Case {
        what: "a redirect to no HTTPS",
        text: r##"[listen]
redirect_http = true
https_port = 0
"##,
        want: &[
            "2:17: listen.redirect_http: there is no HTTPS to send clients to: https is empty",
            "3:14: listen.https_port: 0 is out of range: 1 to 65535",
        ],
    },
    Case {
        what: "no listener",
        text: r##"listen = { http = [] }
"##,
        want: &[r##"1:19: listen.http: an address is needed, such as "0.0.0.0:80""##],
    },
    Case {
        what: "fleets",
        text: r##"[fleets.empty]
servers = []
[fleets.odd]
servers = ["http://127.0.0.1:3001/", "127.0.0.1", "app:0", "app:99999", "app:80/x", "a..b:80", "[::1]:80", "::1:80"]
connect_timeout = "5"
response_timeout = "0s"
body_timeout = "1.5m"
idle_timeout = "400d"
"##,
        want: &[
            "2:11: fleets.empty.servers: the fleet is empty: it needs at least one server",
            r##"4:12: fleets.odd.servers[0]: "http://127.0.0.1:3001/": a server is host:port, without http://; write "127.0.0.1:3001""##,
            r##"4:38: fleets.odd.servers[1]: "127.0.0.1": a server needs a port, as in "127.0.0.1:80""##,
            r##"4:51: fleets.odd.servers[2]: "app:0": "0" is not a port from 1 to 65535"##,
            r##"4:60: fleets.odd.servers[3]: "app:99999": "99999" is not a port from 1 to 65535"##,
            r##"4:73: fleets.odd.servers[4]: "app:80/x": a server is host:port, without the path "/x": paths are forwarded as they came"##,
            r##"4:85: fleets.odd.servers[5]: "a..b:80" is not a server: empty label at byte 2"##,
            r##"4:108: fleets.odd.servers[7]: "::1:80" is not a server: an IPv6 address is written in brackets"##,
            r##"5:19: fleets.odd.connect_timeout: "5" has no unit; write "5s" for seconds"##,
            "6:20: fleets.odd.response_timeout: a timeout of 0 would fail every request",
            r##"7:16: fleets.odd.body_timeout: "1.5m" is not a duration; write numbers with ms, s, m, h or d, such as "1m30s""##,
            r##"8:16: fleets.odd.idle_timeout: "400d" is longer than a year"##,
        ],
    },
    Case {
        what: "how a fleet's servers are asked",
        text: r##"[fleets.auto]
servers = ["app:1"]
http = "auto"
[fleets.hard]
servers = [{ address = "app:1", weight = 0 }, { weight = 2 }, { address = "app" }, 5, { address = "app:2", wight = 2 }]
request_timeout = "0s"
fail_statuses = [404, 500]
max_connections = 0
http = "3"
tls = { server_name = "a..b", ca = "/no/such/file" }
health = { path = "healthz", expect = [], interval = "0s" }
[fleets.odd]
servers = ["app:1"]
tls = "yes"
health = { expect = [600] }
"##,
        want: &[
            r##"3:8: fleets.auto.http: without tls nobody chooses: write "1.1" or "2""##,
            r##"5:42: fleets.hard.servers[0].weight: 0 is out of range: 1 to 1000"##,
            r##"5:47: fleets.hard.servers[1]: the key "address" is missing"##,
            r##"5:75: fleets.hard.servers[2].address: "app": a server needs a port, as in "app:80""##,
            r##"5:84: fleets.hard.servers[3]: expected a string or a table, found the integer 5"##,
            r##"5:108: fleets.hard.servers[4].wight: unknown key; did you mean "weight"?"##,
            r##"6:19: fleets.hard.request_timeout: a timeout of 0 would fail every request"##,
            r##"7:18: fleets.hard.fail_statuses[0]: 404 is not a status from 500 to 599"##,
            r##"8:19: fleets.hard.max_connections: 0 is out of range: 1 to 1000000"##,
            r##"9:8: fleets.hard.http: "3" is not one of "1.1", "2", "auto""##,
            r##"10:23: fleets.hard.tls.server_name: "a..b" is not a host: empty label at byte 2"##,
            r##"10:36: fleets.hard.tls.ca: "/no/such/file" can't be read: No such file or directory (os error 2)"##,
            r##"11:19: fleets.hard.health.path: "healthz" is not a path, such as "/healthz""##,
            r##"11:39: fleets.hard.health.expect: no server could be well: name a status, such as 200"##,
            r##"11:54: fleets.hard.health.interval: a timeout of 0 would fail every request"##,
            r##"14:7: fleets.odd.tls: expected true or false or a table, found the string "yes""##,
            r##"15:10: fleets.odd.health: the key "path" is missing"##,
            r##"15:22: fleets.odd.health.expect[0]: 600 is not a status from 200 to 599"##,
        ],
    },
    Case {
        what: "routes have exactly one action, and a fleet that there is",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["a.example"]
[[routes]]
hosts = ["b.example"]
fleet = "clasic"
[[routes]]
hosts = ["c.example"]
fleet = "go"
respond = { status = 200 }
redirect = "/"
"##,
        want: &[
            r##"6:1: routes[0]: a route has exactly one of fleet, respond and redirect; this one has none"##,
            r##"10:9: routes[1].fleet: there is no fleet named "clasic"; fleets are: classic, go; did you mean "classic"?"##,
            r##"11:1: routes[2]: a route has exactly one of fleet, respond and redirect; this one has fleet and respond and redirect"##,
        ],
    },
    Case {
        what: "no fleets at all",
        text: r##"[[routes]]
fleet = "go"
"##,
        want: &[r##"2:9: routes[0].fleet: there is no fleet named "go"; there are no fleets"##],
    },
    Case {
        what: "bad hosts, each with the part that is wrong",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["https://a.example", "a.example:80", "a.example/x", "a.example.", "", "a..example", "a.*.example", "*.10.0.0.1", "127.1", "a_b.example", "a b.example"]
fleet = "go"
[[routes]]
hosts = []
fleet = "go"
[[routes]]
hosts = ["A.example", "a.example"]
fleet = "go"
"##,
        want: &[
            r##"7:10: routes[0].hosts[0]: "https://a.example" is not a host: a scheme ends at byte 5; a bare host is wanted"##,
            r##"7:31: routes[0].hosts[1]: "a.example:80" is not a host: a port begins at byte 9; a bare host is wanted"##,
            r##"7:47: routes[0].hosts[2]: "a.example/x" is not a host: a path begins at byte 9; a bare host is wanted"##,
            r##"7:62: routes[0].hosts[3]: "a.example." is not a host: a trailing dot; write the name without it"##,
            r##"7:76: routes[0].hosts[4]: "" is not a host: the host is empty"##,
            r##"7:80: routes[0].hosts[5]: "a..example" is not a host: empty label at byte 2"##,
            r##"7:94: routes[0].hosts[6]: "a.*.example" is not a host pattern: the wildcard at byte 2 is neither the whole pattern nor its first label"##,
            r##"7:109: routes[0].hosts[7]: "*.10.0.0.1" is not a host pattern: the wildcard is over an address, at byte 2"##,
            r##"7:123: routes[0].hosts[8]: "127.1" is not a host: numeric last label at byte 4, but not a dotted quad"##,
            r##"7:147: routes[0].hosts[10]: "a b.example" is not a host: byte 0x20 at byte 1 is not of [A-Za-z0-9_-]"##,
            r##"10:9: routes[1].hosts: is empty: name a host, or take the key out for a route that all hosts share"##,
            "13:23: routes[2].hosts[1]: the host a.example is listed twice",
        ],
    },
    Case {
        what: "bad paths",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["a.example"]
path = "x"
fleet = "go"
[[routes]]
hosts = ["a.example"]
path = "/{*rest}/x"
fleet = "go"
[[routes]]
hosts = ["a.example"]
path = "/x{id}"
fleet = "go"
"##,
        want: &[
            r##"8:8: routes[0].path: "x" is not a path: a path begins with /"##,
            r##"12:8: routes[1].path: "/{*rest}/x" is not a path: segment 1 is a catch-all, but not the last segment"##,
            r##"16:8: routes[2].path: "/x{id}" is not a path: segment 1 has a brace in it: a parameter is a whole segment, a literal brace is doubled"##,
        ],
    },
    Case {
        what: "routes with the same host and path",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["a.example", "b.example", "c.example"]
fleet = "go"
[[routes]]
hosts = ["c.example", "B.example"]
path = "/{*other}"
fleet = "classic"
[[routes]]
path = "/healthz"
respond = {}
[[routes]]
path = "/healthz"
scope = "every-host"
respond = {}
[[site]]
hosts = ["d.example"]
routes = [{ fleet = "go" }, { path = "/x", fleet = "go" }, { path = "/{*rest}", fleet = "go" }]
"##,
        want: &[
            r##"11:8: routes[1].path: the path "/{*other}" of b.example (and 1 more) is that of routes[0] (line 6) already, written "/{*rest}" there"##,
            r##"17:8: routes[3].path: the path "/healthz" without hosts is that of routes[2] (line 13) already"##,
            r##"22:69: site[0].routes[2].path: the path "/{*rest}" of d.example is that of site[0].routes[0] (line 22) already"##,
        ],
    },
    Case {
        what: "ids that name two routes",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
id = "x"
hosts = ["a.example"]
fleet = "go"
[[routes]]
id = "x"
hosts = ["b.example"]
fleet = "go"
[[routes]]
id = "d.example /{*rest}"
hosts = ["c.example"]
fleet = "go"
[[routes]]
hosts = ["d.example"]
fleet = "go"
"##,
        want: &[
            r##"11:6: routes[1].id: the id "x" is that of routes[0] (line 6) already"##,
            r##"15:6: routes[2].id: the id "d.example /{*rest}" is that of routes[3] (line 18) by default"##,
        ],
    },
    Case {
        what: "scope and hosts",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["a.example"]
scope = "every-host"
fleet = "go"
[[site]]
hosts = ["b.example"]
[[site.routes]]
hosts = ["c.example"]
scope = "fallback"
fleet = "go"
[[routes]]
fleet = "go"
legacy = "rails"
account = "ours"
primary = true
"##,
        want: &[
            "8:9: routes[0].scope: scope is for routes without hosts, and this one has hosts",
            "13:9: site[0].routes[0].hosts: a route in a [[site]] has the hosts of the site",
            "14:9: site[0].routes[0].scope: a route in a [[site]] has the hosts of the site",
            "18:10: routes[1].legacy: an option of a host, and this route has no hosts",
            "20:11: routes[1].primary: this route has no hosts to be the primary of",
        ],
    },
    Case {
        what: "two values of one option",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[site]]
hosts = ["a.example", "b.example"]
legacy = "rails"
flip_drain = "60s"
account = "one"
[[routes]]
hosts = ["a.example", "b.example"]
fleet = "go"
legacy = "php"
flip_drain = "1m"
account = "two"
case_sensitive = true
[[routes]]
hosts = ["a.example"]
path = "/x"
fleet = "go"
legacy = ["rails"]
case_sensitive = false
"##,
        want: &[
            r##"14:10: routes[0].legacy: "php" here, but "rails" in site[0].legacy (line 8), for the same host a.example; a host has one value of each option"##,
            r##"16:11: routes[0].account: "two" here, but "one" in site[0].account (line 10), for the same host a.example; a host has one value of each option"##,
            r##"23:18: routes[1].case_sensitive: false here, but true in routes[0].case_sensitive (line 17), for the same host a.example; a host has one value of each option"##,
        ],
    },
    Case {
        what: "bad options",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[site]]
hosts = ["a.example"]
legacy = "ruby"
legacy_query = ["q=1"]
slug = "z-a"
reserved = ["a/b", "ok", ".."]
flip_drain = "soon"
account = ""
routes = [{ fleet = "go" }]
[[site]]
hosts = ["b.example"]
legacy = ["rails", "sevlet"]
"##,
        want: &[
            r##"8:10: site[0].legacy: "ruby" is not a preset; presets are: generic, rails, sinatra, servlet, php, whatwg, nextjs, nocase, restify, dotnet, python, any"##,
            r##"9:17: site[0].legacy_query[0]: "q=1" is not the name of a query parameter, such as "q""##,
            r##"10:8: site[0].slug: "z-a": the range at byte 0 runs backwards"##,
            r##"11:13: site[0].reserved[0]: "a/b" is not a prefix: '/' at byte 1 cannot be part of a first segment"##,
            r##"11:26: site[0].reserved[2]: ".." is not a prefix: a dot segment names no account"##,
            r##"12:14: site[0].flip_drain: "soon" is not a duration; write numbers with ms, s, m, h or d, such as "1m30s""##,
            "13:11: site[0].account: must not be empty",
            r##"17:10: site[1].legacy: "sevlet" is not a preset; presets are: generic, rails, sinatra, servlet, php, whatwg, nextjs, nocase, restify, dotnet, python, any; did you mean "servlet"?"##,
        ],
    },
    Case {
        what: "responses and redirects",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
path = "/a"
respond = { status = 204, body = "x" }
[[routes]]
path = "/b"
respond = { content_type = "text/html", headers = { "Content-Type" = "x", "Connection" = "close", "a b" = "c", "x" = "a\nb" } }
[[routes]]
path = "/c"
redirect = "ftp://x"
[[routes]]
path = "/d/{id}"
redirect = "https://{host}/{id}/{name}"
"##,
        want: &[
            "8:34: routes[0].respond.body: a response with status 204 has no body",
            "11:70: routes[1].respond.headers.Content-Type: content_type says this already",
            "11:90: routes[1].respond.headers.Connection: the proxy sets this field itself",
            r##"11:107: routes[1].respond.headers."a b": "a b" is not the name of a header field"##,
            r##"11:118: routes[1].respond.headers.x: "a\nb" can't be the value of a header field"##,
            r##"14:12: routes[2].redirect: "ftp://x": must begin with `/`, `{path}`, `{uri}`, `http://` or `https://`"##,
            r##"17:12: routes[3].redirect: {name} is not a parameter of the path "/d/{id}""##,
        ],
    },
    Case {
        what: "claims of hosts that are not theirs",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
id = "classic"
hosts = ["tickets.example"]
fleet = "classic"
account = "tickets"
app = "classic"
legacy = "rails"
reserved = ["admin"]
[[routes]]
hosts = ["tickets.example"]
path = "/Private/{*rest}"
guarded = true
fleet = "classic"
[[routes]]
id = "go"
hosts = ["next.tickets.example", "*.wild.example"]
fleet = "go"
account = "tickets"
app = "go"
[[routes]]
hosts = ["other.example"]
fleet = "go"
account = "other"
app = "go"
[[routes]]
hosts = ["nobody.example"]
fleet = "go"

[[claims]]
host = "tickets.example"
account = "tickets"
app = "go"
[[claims]]
host = "other.example"
account = "tickets"
app = "go"
[[claims]]
host = "nobody.example"
account = "tickets"
app = "go"
[[claims]]
host = "tikets.example"
account = "tickets"
app = "go"
[[claims]]
host = "x.wild.example"
account = "tickets"
app = "go"
[[claims]]
host = "*.wild.example"
account = "tickets"
app = "go"
[[claims]]
host = "TICKETS.example"
account = "tickets"
app = "classic"
"##,
        want: &[
            r##"35:8: claims[0].host: tickets.example belongs to the app "classic" by routes[0].app (line 11), not to "go""##,
            r##"39:8: claims[1].host: other.example belongs to the account "other" by routes[3].account (line 28), not to "tickets""##,
            r##"43:8: claims[2].host: nobody.example has no account: write account = "tickets" on its route"##,
            r##"43:8: claims[2].host: nobody.example has no app: write app = "go" on its route"##,
            r##"47:8: claims[3].host: no route has the host tikets.example; did you mean "tickets.example"?"##,
            r##"51:8: claims[4].host: no route has the host x.wild.example; a claim is for an exact host of a route, and only *.wild.example of routes[2] (line 19) covers it"##,
            r##"55:8: claims[5].host: "*.wild.example" is not a host: a wildcard at byte 0; a single host is wanted"##,
            "59:8: claims[6].host: tickets.example is claimed in claims[0] (line 34) already",
        ],
    },
    Case {
        what: "prefixes and targets",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
id = "classic"
hosts = ["tickets.example"]
fleet = "classic"
account = "tickets"
app = "classic"
legacy = "rails"
reserved = ["admin"]
[[routes]]
hosts = ["tickets.example"]
path = "/Private/{*rest}"
guarded = true
fleet = "classic"
[[routes]]
id = "go"
hosts = ["next.tickets.example", "*.wild.example"]
fleet = "go"
account = "tickets"
app = "go"
[[routes]]
hosts = ["other.example"]
fleet = "go"
account = "other"
app = "go"
[[routes]]
hosts = ["nobody.example"]
fleet = "go"

[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
[claims.paths]
paulca = "next.tickets.example"
"a/b" = "next.tickets.example"
"" = "next.tickets.example"
".well-known" = "next.tickets.example"
Admin = "next.tickets.example"
private = "next.tickets.example"
self = "tickets.example"
gone = "nxt.tickets.example"
wild = "x.wild.example"
other = "other.example"
nobody = "nobody.example"
bad = "https://next.tickets.example"
number = 5
"##,
        want: &[
            r##"40:9: claims[0].paths."a/b": "a/b" is not a prefix: '/' at byte 1 cannot be part of a first segment"##,
            r##"41:6: claims[0].paths."": "" is not a prefix: a prefix is at least one byte long"##,
            r##"42:17: claims[0].paths.".well-known": .well-known can never be a prefix"##,
            r##"43:9: claims[0].paths.Admin: "Admin" can't be a prefix: it is reserved in routes[0].reserved (line 13)"##,
            r##"44:11: claims[0].paths.private: "private" can't be a prefix: it is the first segment of a guarded route, routes[1] (line 14)"##,
            "45:8: claims[0].paths.self: tickets.example is the claim's own host",
            r##"46:8: claims[0].paths.gone: no route has the host nxt.tickets.example; did you mean "next.tickets.example"?"##,
            r##"47:8: claims[0].paths.wild: no route has the host x.wild.example; a target is an exact host of a route, and only *.wild.example of routes[2] (line 19) covers it"##,
            r##"48:9: claims[0].paths.other: other.example belongs to the account "other" by routes[3].account (line 28), not to "tickets""##,
            r##"49:10: claims[0].paths.nobody: nobody.example has no account: write account = "tickets" on its route"##,
            r##"50:7: claims[0].paths.bad: "https://next.tickets.example" is not a host: a scheme ends at byte 5; a bare host is wanted"##,
            "51:10: claims[0].paths.number: expected a string, found the integer 5",
        ],
    },
    Case {
        what: "a key that is there twice, and an error elsewhere",
        text: r##"box = "a"
box = "b"
[[routes]]
fleet = "go"
"##,
        want: &[
            "2:1: the key box is there twice",
            r##"4:9: routes[0].fleet: there is no fleet named "go"; there are no fleets"##,
        ],
    },
    Case {
        what: "syntax",
        text: r##"box = "a
[listen
http = = 1
"##,
        want: &[
            r##"1:9: invalid basic string, expected `"`"##,
            "2:8: unclosed table, expected `]`",
            "3:8: extra `=`, expected nothing",
            "3:10: unexpected key or value, expected newline, `#`",
        ],
    },
    Case {
        what: "networks, stores and names",
        text: r##"box = " a"
[store]
sqlite = ""
[accounts.tickets]
may_claim = ["*.pages.example", "*"]
[accounts.other]
may_claim = ["pages"," x"]
[forwarding]
trusted_proxies = ["10.0.0.0/8", "10.0.0.1/8", "localhost", "::1/129"]
[timeouts]
header_read_timeout = "0s"
drain_grace = "0s"
"##,
        want: &[
            r##"1:7: box: " a" begins or ends with a space"##,
            "3:10: store.sqlite: must not be empty",
            r##"7:22: accounts.other.may_claim[1]: " x" is not a host: byte 0x20 at byte 0 is not of [A-Za-z0-9_-]"##,
            r##"9:34: forwarding.trusted_proxies[1]: "10.0.0.1/8": address has bits set outside its prefix; a network looks like "10.0.0.0/8" or "fd00::/8""##,
            r##"9:48: forwarding.trusted_proxies[2]: "localhost": not an IP address; a network looks like "10.0.0.0/8" or "fd00::/8""##,
            r##"9:61: forwarding.trusted_proxies[3]: "::1/129": prefix length out of range; a network looks like "10.0.0.0/8" or "fd00::/8""##,
            "11:23: timeouts.header_read_timeout: a timeout of 0 would fail every request",
        ],
    },
    Case {
        what: "an error in one route hides none in another, and invents none",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["tickets.example", 7]
fleet = "clasic"
account = 5
[[routes]]
hosts = ["next.tickets.example"]
fleet = "go"
account = "tickets"
[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
paths = { paulca = "gone.example", x = "next.tickets.example" }
"##,
        want: &[
            "7:29: routes[0].hosts[1]: expected a string, found the integer 7",
            r##"8:9: routes[0].fleet: there is no fleet named "clasic"; fleets are: classic, go; did you mean "classic"?"##,
            "9:11: routes[0].account: expected a string, found the integer 5",
        ],
    },
    Case {
        what: "warnings of prefix maps",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
hosts = ["tickets.example"]
fleet = "classic"
account = "tickets"
app = "classic"
[[routes]]
hosts = ["next.example", "third.example"]
fleet = "go"
account = "tickets"
app = "go"
[[routes]]
hosts = ["old.example"]
fleet = "classic"
[[routes]]
path = "/shared"
fleet = "classic"
[[claims]]
host = "tickets.example"
account = "tickets"
app = "classic"
catchall = true
[claims.paths]
Paulca = "next.example"
paulca = "third.example"
"john.doe" = "next.example"
"jane.doe" = "next.example"
"##,
        want: &[
            r##"18:9: warning: routes[2].fleet: the prefixes that are moved away from tickets.example still reach its fleet through this route, on old.example, which does not have the same map"##,
            r##"21:9: warning: routes[3].fleet: the prefixes that are moved away from tickets.example still reach its fleet through this route, on any host, which does not have the same map"##,
            r##"27:1: warning: claims[0].paths: legacy is not set on tickets.example, so that paths are read in every way that some stack reads them; name the stack behind it, such as legacy = "rails""##,
            r##"29:10: warning: claims[0].paths.paulca: differs from "Paulca" only by case, and goes to another target; where the legacy application tells them apart, write case_sensitive = true"##,
            r##"31:14: warning: claims[0].paths."jane.doe": "jane.doe" holds a character outside slug (1 more like it): a flip of "jane" would take it along; write slug with all characters of account names, such as "A-Za-z0-9_.-""##,
        ],
    },
    Case {
        what: "an admin listener for everybody",
        text: r##"[listen]
admin = "0.0.0.0:9000"
"##,
        want: &[
            "2:9: warning: listen.admin: 0.0.0.0:9000 can be reached from other networks, and tokens are sent to it in the clear; use a loopback or private address",
        ],
    },
    Case {
        what: "claims that are fine by themselves",
        text: r##"[limits]
max_paths_per_claim = 2
max_wildcards = 2

[[routes]]
hosts = ["a.example", "b.example", "c.example", "d.example"]
respond = {}
account = "one"
app = "web"
legacy = "rails"
[[routes]]
hosts = ["next.example"]
respond = {}
account = "one"
app = "next"
[[routes]]
hosts = ["*.b.example"]
respond = {}
account = "one"
app = "web"
[[routes]]
hosts = ["*.c.example"]
respond = {}
account = "two"
[[claims]]
host = "a.example"
account = "one"
app = "web"
wildcard = true
paths = { a = "next.example", b = "next.example", c = "next.example" }
[[claims]]
host = "b.example"
account = "one"
app = "web"
catchall = true
[[claims]]
host = "c.example"
account = "one"
app = "web"
wildcard = true
[[claims]]
host = "d.example"
account = "one"
app = "web"
wildcard = true
"##,
        want: &[
            "30:9: claims[0].paths: 3 entries, and limits.max_paths_per_claim is 2",
            "35:12: claims[1].catchall: a route has the host *.b.example already",
            "40:12: claims[2].wildcard: another account has names under c.example",
            "45:12: claims[3].wildcard: more wildcards than limits.max_wildcards, 2",
        ],
    },
    Case {
        what: "warnings of guards",
        text: r##"[fleets.classic]
servers = ["127.0.0.1:3001"]
[fleets.go]
servers = ["127.0.0.1:3002"]

[[routes]]
path = "/internal/{*rest}"
guarded = true
fleet = "go"
[[routes]]
path = "/internal2"
guarded = true
scope = "every-host"
fleet = "go"
[[routes]]
hosts = ["a.example", "b.example"]
fleet = "go"
[[site]]
hosts = ["c.example"]
fallback = "none"
routes = [{ fleet = "go" }]
[[site]]
hosts = ["d.example"]
routes = [{ path = "/x", fleet = "go" }]
"##,
        want: &[
            r##"6:1: warning: routes[0]: this guarded route is not reached on a.example (and 1 more hosts): routes[2] (line 15) takes its path there; with scope = "every-host" it is tried first"##,
        ],
    },
    Case {
        what: "positions count characters, and strange keys are quoted",
        text: r##""ключ" = 1
log = { "a b" = "ü", x = "é", y = 1 } # ü
"##,
        want: &[
            r##"1:1: "ключ": unknown key; known here: box, unknown_host, listen, tls, certificates, store, fleets, routes, site, claims, accounts, log, timeouts, limits, http2, forwarding"##,
            r##"2:9: log."a b": unknown key; known here: format, level, access"##,
            "2:22: log.x: unknown key; known here: format, level, access",
            "2:31: log.y: unknown key; known here: format, level, access",
        ],
    },
    Case {
        what: "not TOML at all",
        text: r##"<?xml version='1.0'?>
"##,
        want: &[
            "1:1: invalid unquoted key, expected letters, numbers, `-`, `_`",
            "1:7: key with no value, expected `=`",
        ],
    },
    Case {
        what: "empty",
        text: r##"
"##,
        want: &[],
    },
];
