// A table for a script whose fields are created when the script reads them: most scripts read few.
//
// The script may keep the table. Once this is destroyed, the table has only the fields that were
// read. For the machine's loop.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

struct lua_State;

namespace strata::script {

class lazy_tables;

/// A table of strings for a script.
class text_table {
 public:
  explicit text_table(lua_State* state) : to_(state) {}
  /// Called once, first, with the number of entries.
  void begin(std::size_t count);
  void add(std::string_view name, std::string_view value);

 private:
  lua_State* to_;
};

class lazy_table {
 public:
  lazy_table() = default;
  lazy_table(const lazy_table&) = delete;
  lazy_table& operator=(const lazy_table&) = delete;
  virtual ~lazy_table();

  /// Returns a field; null if there is none of that name.
  [[nodiscard]] virtual nlohmann::json field(std::string_view name) const = 0;
  /// Writes a field that is a table of strings with unique names, which costs less. Returns false
  /// if `field` must be used instead; `into` has then not begun.
  virtual bool give_texts(std::string_view /*name*/, text_table& /*into*/) const { return false; }

 private:
  friend class lazy_tables;
  lazy_tables* holder_ = nullptr;  // of the script's table, which is the same for all handlers
  int reference_ = 0;              // of the script's table
  const void* address_ = nullptr;  // of the script's table
};

}  // namespace strata::script
