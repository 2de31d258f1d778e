// Messages of generic netlink as text and as JSON: by name where a specification tells names.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/nl_spec.hpp"
#include "strata/wire/genl.hpp"

namespace strata::cli {

/// Its number, and the operation's name where there is one. `operation` may be nullptr.
[[nodiscard]] nlohmann::json message_to_json(const wire::genl_message& message, const nl_spec* spec,
                                             const spec_operation* operation);
/// Of `message_to_json`.
[[nodiscard]] std::string render_message(const nlohmann::json& message);

/// What a message or a nest holds. What the scope knows has a `name` and a `value`; of the rest
/// nobody has said what it is, so a value is shown in each way that fits it: as text, as a number,
/// as a nest, and always in hexadecimal. Padding is left out.
[[nodiscard]] nlohmann::json attributes_to_json(const wire::netlink_attributes& attributes,
                                                const spec_scope& scope);

/// Shows messages as they come: as text, or as one JSON array.
class message_sink {
 public:
  message_sink(bool as_json, const nl_spec* spec) : spec_(spec), as_json_(as_json) {}

  /// `called` is whose reply it is; nullptr for what was multicast. What is no message of a family
  /// is passed over.
  void take(const wire::netlink_message& raw, const spec_operation* called);
  void end() const;

 private:
  const nl_spec* spec_;
  bool as_json_;
  bool begun_ = false;
};

}  // namespace strata::cli
