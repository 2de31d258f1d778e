#include "daemon/api/openapi_schemas.hpp"

#include <nlohmann/json.hpp>

namespace strata::daemon {

namespace {

constexpr const char* documents = R"json({
"Error": {
  "type": "object",
  "properties": {
    "error": {
      "type": "object",
      "properties": {
        "code": {"type": "string", "example": "not_found"},
        "message": {"type": "string",
          "description": "what is wrong, and with which value"},
        "remedy": {"type": "string", "description": "what to do; may be empty"}
      }
    }
  }
},
"Version": {
  "type": "object",
  "properties": {
    "version": {"type": "string"},
    "api": {"type": "string", "example": "1"},
    "pid": {"type": "integer"},
    "loop": {"type": "string", "enum": ["io_uring", "epoll"]},
    "loops": {"type": "integer"},
    "state_dir": {"type": "string"},
    "uptime_s": {"type": "number"},
    "certificates": {"type": "array",
      "description": "certificates of --listen and --metrics; as in Detail",
      "items": {"type": "object"}}
  }
},
"Creation": {
  "type": "object",
  "required": ["type", "name"],
  "properties": {
    "type": {"type": "string", "example": "server"},
    "name": {"type": "string", "pattern": "^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,63}$"},
    "options": {"$ref": "#/components/schemas/Options"},
    "start": {"type": "boolean", "default": false},
    "dry_run": {"type": "boolean", "default": false}
  }
},
"Changes": {
  "type": "object",
  "required": ["options"],
  "properties": {
    "options": {"type": "object", "description": "null resets to the default"},
    "revision": {"type": "integer",
      "description": "as in Detail: 409 if the runtime was changed since"}
  }
},
"Edited": {
  "type": "object",
  "properties": {
    "applied": {"type": "array", "items": {"type": "string"}, "description": "in effect now"},
    "needs_restart": {"type": "array", "items": {"type": "string"},
      "description": "saved, and in effect from the next start"}
  }
},
"Type": {
  "type": "object",
  "properties": {
    "name": {"type": "string", "example": "server"},
    "summary": {"type": "string"},
    "options": {"type": "array", "items": {"$ref": "#/components/schemas/OptionRow"}},
    "figures": {"type": "array", "items": {"type": "object", "properties": {
      "key": {"type": "string", "description": "in Stats; `a.b` is the member b of a"},
      "kind": {"type": "string", "enum": ["counter", "peak", "gauge", "rate", "latency"]},
      "unit": {"type": "string", "enum": ["", "bytes", "microseconds"]},
      "help": {"type": "string"},
      "metric": {"type": "string", "description": "in /metrics; empty: none"}
    }}},
    "operations": {"type": "array", "items": {"type": "object", "properties": {
      "name": {"type": "string"},
      "method": {"type": "string"},
      "path": {"type": "string"},
      "summary": {"type": "string"},
      "parameters": {"type": "array", "items": {"$ref": "#/components/schemas/OptionRow"}},
      "required": {"type": "integer",
        "description": "number of required parameters, from the first"},
      "body_type": {"type": "string", "description": "empty: no body"},
      "takes_timeout": {"type": "boolean"},
      "answer": {"type": "array", "description": "empty: the runtime's Detail",
        "items": {"type": "object", "properties": {
          "key": {"type": "string"},
          "kind": {"type": "string",
            "enum": ["text", "count", "flag", "texts", "counts", "bytes", "seconds", "latency"]},
          "help": {"type": "string"},
          "choices": {"type": "array", "items": {"type": "string"}}
        }}},
      "is_list": {"type": "boolean", "description": "the answer is an array of such objects"},
      "has_session": {"type": "boolean", "description": "the request opens a WebSocket"},
      "role": {"type": "string", "enum": ["read", "operate", "admin"]}
    }}}
  }
},
"Cluster": {
  "type": "object",
  "properties": {
    "name": {"type": "string", "description": "of this daemon"},
    "registry": {"type": "string", "description": "where the daemons leave their cards"},
    "state": {"type": "string", "enum": ["joining", "held", "unconfirmed", "conflict", "left"],
      "description": "of its name: held, not held yet, perhaps lost, or held by another daemon"},
    "trouble": {"type": "string",
      "description": "why this daemon cannot hold its name or write its card; empty: it can"},
    "age_s": {"type": "number", "description": "time since the registry confirmed the daemons"},
    "daemons": {"type": "array", "items": {"type": "object", "properties": {
      "daemon": {"type": "string"},
      "version": {"type": "string"},
      "control": {"type": "string", "description": "URL of its control API; empty: none"},
      "is_own": {"type": "boolean"},
      "is_drained": {"type": "boolean", "description": "its runtimes are not chosen by others"},
      "zone": {"type": "string", "description": "empty: none"},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "runtimes": {"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"},
        "type": {"type": "string"},
        "state": {"type": "string"},
        "group": {"type": "string"},
        "endpoints": {"type": "array", "items": {"type": "string"},
          "description": "as other machines reach it"},
        "connections": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}}
      }}}
    }}}
  }
},
"OptionRow": {
  "type": "object",
  "properties": {
    "key": {"type": "string"},
    "kind": {"type": "string", "enum": ["flag", "count", "port", "bytes", "seconds", "text",
      "secret", "choice", "list"]},
    "value_name": {"type": "string"},
    "default": {"description": "null: none"},
    "help": {"type": "string"},
    "choices": {"type": "array", "items": {"type": "string"}},
    "needs_restart": {"type": "boolean"}
  }
},
"Summary": {
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "type": {"type": "string"},
    "state": {"type": "string", "enum": ["created", "running", "stopping", "stopped", "failed"]},
    "reason": {"type": "string", "description": "why it failed, else empty"},
    "warning": {"type": "string", "description": "a problem of its configuration"},
    "endpoints": {"type": "array", "items": {"type": "string"},
      "description": "as bound; otherwise as configured"},
    "reach": {"type": "string", "nullable": true, "enum": ["machine", "network"],
      "description": "whether other machines' clients can use it; null when it listens nowhere"},
    "connections": {"type": "integer"},
    "group": {"type": "string"},
    "owner": {"type": "string"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "created_at": {"type": "string", "format": "date-time"},
    "uptime_s": {"type": "number", "description": "0 unless running"},
    "next_start_in_s": {"type": "number", "nullable": true,
      "description": "until its automatic restart after a failure"}
  }
},
"Detail": {
  "allOf": [
    {"$ref": "#/components/schemas/Summary"},
    {
      "type": "object",
      "properties": {
        "on_parent_stop": {"type": "string"},
        "children": {"type": "array", "items": {"type": "string"}},
        "pending": {
          "type": "array",
          "items": {"type": "string"},
          "description": "edited options that take effect from the next start"
        },
        "options": {"$ref": "#/components/schemas/Options"},
        "revision": {"type": "integer", "description": "revision of the last change of its record"},
        "origin": {"type": "string",
          "description": "the runtime whose script created it; empty: created by a user"},
        "certificates": {"type": "array", "description": "certificates presented to TLS peers",
          "items": {"type": "object", "properties": {
            "file": {"type": "string"},
            "subject": {"type": "string"},
            "issuer": {"type": "string"},
            "names": {"type": "array", "items": {"type": "string"}},
            "not_after": {"type": "string", "format": "date-time"},
            "expires_in_s": {"type": "integer"}
          }}}
      }
    }
  ]
},
"Message": {
  "type": "object",
  "properties": {
    "time": {"type": "string", "format": "date-time"},
    "from": {"type": "string", "description": "id of the connection"},
    "text": {"type": "string", "description": "the message, if it is UTF-8"},
    "base64": {"type": "string", "description": "the message, if it is not"}
  }
},
"Tapped": {
  "type": "object",
  "properties": {
    "time": {"type": "string", "format": "date-time"},
    "direction": {"type": "string", "enum": ["in", "out"],
      "description": "`in`: received by the runtime; `out`: sent by it"},
    "form": {"type": "string", "enum": ["message", "request", "answer", "command", "bytes"],
      "description": "`request` and `answer` are HTTP heads, `bytes` a piece of a stream"},
    "client": {"type": "integer", "description": "id of the client; 0: there is none"},
    "address": {"type": "string"},
    "protocol": {"type": "string"},
    "from": {"type": "string", "description": "`#5` is client 5; else a runtime or an endpoint"},
    "to": {"type": "string", "description": "likewise"},
    "size": {"type": "integer", "description": "bytes that passed"},
    "text": {"type": "string", "description": "the first `max_bytes` of them, if UTF-8"},
    "base64": {"type": "string", "description": "the same, if not UTF-8"},
    "lost": {"type": "integer", "description": "lines lost here; then there is nothing else"}
  }
},
"LogLine": {
  "type": "object",
  "properties": {
    "time": {"type": "string", "format": "date-time"},
    "level": {"type": "string", "enum": ["info", "warning", "error"]},
    "text": {"type": "string"}
  }
},
"Event": {
  "type": "object",
  "properties": {
    "time": {"type": "string", "format": "date-time"},
    "event": {"type": "string",
      "enum": ["created", "started", "stopped", "failed", "edited", "reloaded",
        "removed", "down", "up", "open", "half-open", "closed", "panic", "calm"],
      "description": "from `down` on: of the proxy backends that `detail` names"},
    "runtime": {"type": "string"},
    "type": {"type": "string"},
    "detail": {"type": "string"}
  }
}
})json";

}  // namespace

nlohmann::ordered_json fixed_schemas() { return nlohmann::ordered_json::parse(documents); }

}  // namespace strata::daemon
