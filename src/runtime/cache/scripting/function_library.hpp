// A library of functions (FUNCTION LOAD), in a Lua machine of its own: what its text has defined
// stays, for all calls of its functions.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cache/scripting/script_commands.hpp"
#include "runtime/cache/scripting/script_room.hpp"

namespace strata::runtime::cache {

class function_library {
 public:
  struct function {
    std::optional<std::string> description;
    std::uint8_t flags = 0;  ///< of `script_flag`
    script::value_ref body;
  };
  using functions = std::map<std::string, function, std::less<>>;
  /// What functions call, and who decides how long they run, once the library is loaded. Both
  /// outlive the library.
  struct surroundings {
    script_commands& commands;
    script::run_supervisor& supervisor;
  };

  /// Compiles a text, and runs it: it registers its functions. Errors: in Redis's words.
  [[nodiscard]] static std::expected<std::unique_ptr<function_library>, std::string> make(
      loop::loop& loop, script::observer& watched_by, const surroundings& around,
      std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const functions& all() const { return functions_; }
  [[nodiscard]] std::size_t memory() const { return room_->memory() + text_.size(); }
  void run(const function& function, std::span<const std::string_view> keys,
           std::span<const std::string_view> arguments, const script::result_taker& take) {
    room_->call(function.body, keys, arguments, take);
  }

 private:
  /// Limits the time of loading.
  class supervisor final : public script::run_supervisor {
   public:
    explicit supervisor(script::run_supervisor& of_functions) : of_functions_(of_functions) {}
    void end_loading() { is_loading_ = false; }
    [[nodiscard]] bool is_loading() const { return is_loading_; }
    [[nodiscard]] loop::duration allowance() override;
    [[nodiscard]] decision on_overtime() override;

   private:
    script::run_supervisor& of_functions_;
    bool is_loading_ = true;
  };

  function_library(std::string_view name, std::string_view text, script::run_supervisor& functions)
      : name_(name), text_(text), supervisor_(functions) {}
  void enroll(script::call& call);
  void give_is_open(script::call& call);
  std::optional<std::string> run_text(std::string_view body);
  [[nodiscard]] static std::span<const script::function_row> loading_rows();

  std::string name_;
  std::string text_;
  supervisor supervisor_;
  std::unique_ptr<script_room> room_;
  functions functions_;
};

}  // namespace strata::runtime::cache
