// The last argument of a script function: a table of options with known names and kinds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "script/call.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

class options_table {
 public:
  /// Reads the argument, which may be missing. After an error each member returns nothing.
  options_table(script::call& call, int index, std::initializer_list<std::string_view> known);

  [[nodiscard]] std::optional<std::string> text(const char* key);
  [[nodiscard]] std::optional<double> number(const char* key);
  [[nodiscard]] bool truth(const char* key);
  /// `timeout_ms`, limited to an hour.
  [[nodiscard]] loop::duration timeout(double usual_ms);

  /// False if the call has failed.
  [[nodiscard]] bool is_good() const { return is_good_; }
  void refuse(std::string why);

 private:
  script::call& with_;
  nlohmann::json given_ = nlohmann::json::object();
  bool is_good_ = true;
};

}  // namespace strata::runtime::scripting
