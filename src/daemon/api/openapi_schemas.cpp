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
    "certificates": {"type": "array", "description": "of --listen and --metrics; as in Detail",
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
  "properties": {"options": {"type": "object", "description": "null resets to the default"}}
},
"Edited": {
  "type": "object",
  "properties": {
    "applied": {"type": "array", "items": {"type": "string"}, "description": "in force now"},
    "needs_restart": {"type": "array", "items": {"type": "string"},
      "description": "saved, and in force from the next start"}
  }
},
"Sent": {
  "type": "object",
  "properties": {
    "delivered": {"type": "integer", "description": "connections it was handed to"},
    "queued": {"type": "integer", "description": "1 when kept until connected, else 0"}
  }
},
"Evaluation": {
  "type": "object",
  "properties": {
    "values": {"type": "array", "items": {"type": "string"},
      "description": "what it gives, each as it is shown; tables as JSON"},
    "output": {"type": "array", "items": {"type": "string"}, "description": "lines it printed"},
    "error": {"type": "string",
      "description": "instead: why it failed, with the lines that led to it"},
    "incomplete": {"type": "boolean", "description": "more text could mend the error"}
  }
},
"Backend": {
  "type": "object",
  "properties": {
    "backend": {"type": "string", "description": "its URL"},
    "text": {"type": "string", "description": "as the option has it"},
    "route": {"type": "string", "description": "whose backend it is; empty: of --backend"},
    "state": {"type": "string", "enum": ["ready", "resting", "down", "drained"]},
    "weight": {"type": "integer"},
    "backup": {"type": "boolean"},
    "max": {"type": "integer",
      "description": "connections, or requests, at a time; 0: any number"},
    "now": {"type": "integer", "description": "connections, or requests, that it has now"},
    "total": {"type": "integer", "description": "how often it was chosen"},
    "failed": {"type": "integer", "description": "how often it could not be reached, or broke off"},
    "circuit": {"type": "string", "enum": ["closed", "half-open", "open"]},
    "answers": {"type": "object", "additionalProperties": {"type": "integer"},
      "description": "HTTP answers, by the class of their status"},
    "retries": {"type": "integer",
      "description": "HTTP requests that were sent to another, since this one broke off"},
    "latency": {"type": "object", "description": "as in Stats"}
  }
},
"Summary": {
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "type": {"type": "string"},
    "state": {"type": "string", "enum": ["created", "running", "stopping", "stopped", "failed"]},
    "reason": {"type": "string", "description": "why it failed, else empty"},
    "warning": {"type": "string", "description": "what people should know of how it is set up"},
    "endpoints": {"type": "array", "items": {"type": "string"},
      "description": "as bound; else as configured"},
    "reach": {"type": "string", "nullable": true, "enum": ["machine", "network"],
      "description": "whether other machines' clients can use it; null when it listens nowhere"},
    "connections": {"type": "integer"},
    "group": {"type": "string"},
    "owner": {"type": "string"},
    "created_at": {"type": "string", "format": "date-time"},
    "uptime_s": {"type": "number", "description": "0 unless running"},
    "next_start_in_s": {"type": "number", "nullable": true,
      "description": "until it is started again by itself, after it failed"}
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
          "description": "options that were edited, and are in force from the next start"
        },
        "options": {"$ref": "#/components/schemas/Options"},
        "certificates": {"type": "array", "description": "shown to the other ends of TLS",
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
    "text": {"type": "string", "description": "the message, when it is UTF-8"},
    "base64": {"type": "string", "description": "the message, when it is not"}
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
      "description": "from `down` on, of a proxy's backend or backends, which `detail` names"},
    "runtime": {"type": "string"},
    "type": {"type": "string"},
    "detail": {"type": "string"}
  }
}
})json";

}  // namespace

nlohmann::ordered_json fixed_schemas() { return nlohmann::ordered_json::parse(documents); }

}  // namespace strata::daemon
