"""Which folder may include which: DESIGN.md section 1 and, for folders inside a folder, here.

A key is the beginning of a path below include/strata, lib or src: a folder, or a file without its
suffix. A file belongs to the longest key that its path begins with. Each may include itself and
what its row names, and nothing else.
"""

LIBRARY = {"base", "wire", "broker", "l2", "l2/decorators", "ipc", "xdp", "nl"}
NET = {"net", "net/ethernet", "net/tls"}
# What the CLI sees of the runtimes.
OPTIONS = {
    "options",
    "runtime/options",
    "runtime/tls_options",
    "runtime/cache/options",
    "runtime/client/options",
    "runtime/proxy/options",
    "runtime/server/options",
    "runtime/server/web_options",
}
RUNTIME = {
    "base",
    "text",
    "options",
    "loop",
    "proto",
    "script",
    "runtime",
    "runtime/options",
    "runtime/tls_options",
}
LINE = {"cli/line", "cli/terminal"}
FAMILY = LINE | OPTIONS | {"base", "text"}
MEASURE = {f"measure/{part}" for part in ("counting", "ends", "node", "remote", "run", "report")}
FAMILIES = {
    f"cli/{name}"
    for name in ("bench", "cert", "l2", "nl", "pipe", "runtimes", "system", "xdp")
}

ALLOWED = {
    # the library
    "base": set(),
    "wire": {"base"},
    "broker": {"base"},
    "l2": {"base", "wire", "broker"},
    "l2/decorators": {"base", "wire", "l2"},
    "ipc": {"base", "wire", "l2"},
    "xdp": {"base", "wire", "broker"},
    "nl": {"base", "wire"},
    "abi": LIBRARY,
    # what daemon and CLI are made of
    "text": {"base"},
    "options": {"base", "text"},
    "loop": {"base"},
    "proto": {"base", "text"},
    "proto/tls": {"base", "text"},
    "script": {"base", "text"},
    "ynl": {"base", "nl", "text"},
    "net": {"base", "loop", "proto", "net/ethernet/ethernet_url", "net/tls"},
    "net/tls": {"base", "loop"},
    "net/ethernet": LIBRARY | {"loop", "net", "net/ethernet/ethernet_url"},
    "net/ethernet/ethernet_url": LIBRARY | {"net"},
    "net/schemes": {"base", "loop"} | NET,
    "serve": {"base", "loop"} | NET,
    "http": {"base", "text", "loop", "proto"} | NET,
    "http/files": {"base", "text", "loop", "net", "http", "proto"},
    # the runtimes
    "runtime": {
        *RUNTIME,
        "net",
        "net/tls",
        "serve",
        "runtime/cache",
        "runtime/cache/options",
        "runtime/client",
        "runtime/client/options",
        "runtime/proxy",
        "runtime/proxy/options",
        "runtime/server",
        "runtime/server/options",
        "runtime/server/web_options",
    },
    "runtime/options": {"base", "options"},
    "runtime/tls_options": {"options"},
    "runtime/listen_options": {"options"},
    "runtime/http_options": {"options"},
    "runtime/http_serving": {"base", "loop", "net", "net/tls", "serve", "http", "proto",
                             "runtime/http_options"},
    "runtime/access_log": {"base", "loop", "http", "runtime"},
    "runtime/testing": RUNTIME | NET | {"http"},
    "runtime/client": RUNTIME | NET | {"serve", "http", "runtime/client/options"},
    "runtime/client/options": {"options", "runtime/options", "runtime/tls_options"} | NET,
    "runtime/proxy": {
        *RUNTIME,
        *NET,
        "serve",
        "http",
        "runtime/access_log",
        "runtime/http_serving",
        "proto/tls",
        "runtime/proxy/heads",
        "runtime/proxy/options",
        "runtime/proxy/state",
    },
    "runtime/proxy/heads": {"base", "text", "proto", "http"},
    "runtime/proxy/state": {"base", "loop"},
    "runtime/proxy/options": {
        "options",
        "runtime/options",
        "runtime/http_options",
        "runtime/listen_options",
        "runtime/tls_options",
        *NET,
    },
    "runtime/server": {
        *RUNTIME,
        *NET,
        "serve",
        "http",
        "http/files",
        "runtime/http_serving",
        "runtime/server/options",
        "runtime/server/web_options",
    },
    "runtime/server/options": {
        "options",
        "runtime/options",
        "runtime/listen_options",
        "runtime/server/web_options",
        "runtime/tls_options",
        *NET,
    },
    "runtime/server/web_options": {"options", "runtime/http_options"},
    "runtime/cache": RUNTIME | NET | {"serve", "runtime/cache/options", "runtime/cache/serving"},
    "runtime/cache/options": {
        "options",
        "runtime/options",
        "runtime/listen_options",
        "runtime/tls_options",
        *NET,
    },
    "runtime/cache/values": {"base", "text"},
    "runtime/cache/engine": {
        "base",
        "text",
        "loop",
        "proto",
        "runtime/cache/options",
        "runtime/cache/values",
    },
    "runtime/cache/disk": RUNTIME | {"runtime/cache/values", "runtime/cache/engine"},
    "runtime/cache/commands": {
        "base",
        "text",
        "proto",
        "runtime/cache/values",
        "runtime/cache/engine",
        "runtime/cache/disk",
    },
    "runtime/cache/replication": RUNTIME | NET | {"runtime/cache/engine", "runtime/cache/disk"},
    "runtime/cache/serving": {
        *RUNTIME,
        *NET,
        "serve",
        "runtime/cache/options",
        "runtime/cache/engine",
        "runtime/cache/disk",
        "runtime/cache/replication",
    },
    "daemon": LIBRARY | RUNTIME | NET | {"serve", "http"},
    # the benchmark of the layers
    "measure/counting": {"base"},
    "measure/ends": LIBRARY | {"measure/counting"},
    "measure/node": LIBRARY | {"text", "measure/counting", "measure/ends"},
    "measure/remote": {"base", "text", "measure/node"},
    "measure/run": {"base", "text", "measure/counting", "measure/ends", "measure/node"},
    "measure/report": {"base", "text", "measure/counting", "measure/run"},
    # the command line
    "cli/line": OPTIONS | {"base", "text"},
    "cli/terminal": FAMILY,
    "cli/daemon_client": FAMILY | NET | {"proto", "loop"},
    "cli/prompt": FAMILY | {"proto"},
    "cli/runtimes": FAMILY | {"proto", "cli/daemon_client", "cli/prompt"},
    "cli/system": FAMILY | {"cli/daemon_client"},
    "cli/cert": FAMILY | {"net/tls"},
    "cli/pipe": FAMILY | NET | {"loop", "proto", "http"},
    "cli/l2": LIBRARY | FAMILY,
    "cli/xdp": LIBRARY | FAMILY | {"cli/l2"},
    "cli/nl": LIBRARY | FAMILY | {"ynl", "measure/node"},
    "cli/bench": LIBRARY | FAMILY | MEASURE,
    "cli": FAMILY | FAMILIES,
    "main": {"base", "options", "cli", "cli/line", "daemon"},
}
