#include "daemon/api/api_answer.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/json_text.hpp"

namespace strata::daemon {

namespace {

int status_of(const error& failed) {
  switch (failed.code) {
    case errc::invalid_argument:
    case errc::malformed: return 400;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists:
    case errc::conflict: return 409;
    // A shortage of the system is not the request's fault.
    case errc::limit_exceeded:
      return failed.sys_errno == 0 || failed.sys_errno == EMSGSIZE ? 413 : 503;
    case errc::not_supported: return 501;
    case errc::timed_out: return 504;
    case errc::no_space: return 507;
    default: return 500;
  }
}

}  // namespace

api_answer json_answer(const nlohmann::json& value, int status) {
  return {.status = status, .body = text::write_json(value)};
}

api_answer error_answer(int status, std::string_view code, std::string_view message,
                        std::string_view remedy) {
  const nlohmann::json fault = {{"code", code}, {"message", message}, {"remedy", remedy}};
  return json_answer({{"error", fault}}, status);
}

api_answer error_answer(const error& failed) {
  auto fault = failed;
  const auto remedy = std::exchange(fault.remedy, {});
  return error_answer(status_of(failed), name_of(failed.code), describe(fault), remedy);
}

}  // namespace strata::daemon
