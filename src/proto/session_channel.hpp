// The channels between a command that runs beside a program and its caller.
//
// The first byte of each message is a channel. From the caller: `input`, bytes for the command;
// `size`, as JSON: {"rows": 24, "columns": 80}; `end`, followed by `input`: there is no more input.
// To the caller: `output` and `errors`, bytes; and once, at the end, `outcome`, as JSON:
// {"exit_code": 0, "signal": 0}. The numbers are those of Kubernetes (remotecommand, version 5).
#pragma once

#include <cstdint>

namespace strata::proto {

enum class session_channel : std::uint8_t {
  input = 0,
  output = 1,
  errors = 2,
  outcome = 3,
  size = 4,
  end = 255,
};

}  // namespace strata::proto
