// An answer of the control API.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::daemon {

/// The remedy for a request that the API does not know.
inline constexpr const char* description_hint = "see GET /v1/openapi.yaml";

struct api_answer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

[[nodiscard]] api_answer json_answer(const nlohmann::json& value, int status = 200);
/// The answer for a failure: its status, and in its body the fault and separately the remedy.
[[nodiscard]] api_answer error_answer(const error& failed);
[[nodiscard]] api_answer error_answer(int status, std::string_view code, std::string_view message,
                                      std::string_view remedy);

}  // namespace strata::daemon
