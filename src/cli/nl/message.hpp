// Messages of generic netlink as text and as JSON: by name where a specification tells names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "strata/wire/genl.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// Its number, and the operation's name where there is one. `operation` may be nullptr.
[[nodiscard]] nlohmann::json message_to_json(const wire::genl_message& message,
                                             const ynl::spec* spec,
                                             const ynl::operation* operation);
/// Of `message_to_json`.
[[nodiscard]] std::string render_message(const nlohmann::json& message);

/// What a message or a nest holds. What the scope knows has a `name` and a `value`; of the rest
/// nobody has said what it is, so a value is shown in each way that fits it: as text, as a number,
/// as a nest, and always in hexadecimal. Padding is left out.
[[nodiscard]] nlohmann::json attributes_to_json(const wire::netlink_attributes& attributes,
                                                const ynl::scope& scope);

/// Shows messages as they come: as text, or as one JSON array.
class message_sink {
 public:
  message_sink(bool as_json, const ynl::spec* spec) : spec_(spec), as_json_(as_json) {}

  /// `called` is whose reply it is; nullptr for what was multicast. What is no message of a family
  /// is passed over.
  void take(const wire::netlink_message& raw, const ynl::operation* called);
  void end() const;

 private:
  const ynl::spec* spec_;
  bool as_json_;
  bool begun_ = false;
};

}  // namespace strata::cli
