// Generic netlink messages as text and as JSON: with names if there is a specification.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "strata/wire/genl.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// The message's number, and the operation's name if known. `operation` may be nullptr.
[[nodiscard]] nlohmann::json message_to_json(const wire::genl_message& message,
                                             const ynl::spec* spec,
                                             const ynl::operation* operation);
/// Formats the result of `message_to_json`.
[[nodiscard]] std::string render_message(const nlohmann::json& message);

/// The content of a message or a nest. An attribute that the scope knows has a `name` and a
/// `value`; an unknown one is shown in every form that fits it: as text, as a number, as a nest,
/// and always in hexadecimal. Padding is left out.
[[nodiscard]] nlohmann::json attributes_to_json(const wire::netlink_attributes& attributes,
                                                const ynl::scope& scope);

/// Shows messages as they arrive: as text, or as one JSON array.
class message_sink {
 public:
  message_sink(bool as_json, const ynl::spec* spec) : spec_(spec), as_json_(as_json) {}

  /// `called` is the operation that the message replies to; nullptr for multicast. A message of
  /// another kind is skipped.
  void take(const wire::netlink_message& raw, const ynl::operation* called);
  void end() const;

 private:
  const ynl::spec* spec_;
  bool as_json_;
  bool begun_ = false;
};

}  // namespace strata::cli
