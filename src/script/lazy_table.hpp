// A table for a script whose fields are made when the script reads them: most scripts read a few.
//
// The script may keep the table. When this goes, it has the fields that have been read, and no
// others. For the machine's loop.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

struct lua_State;

namespace strata::script {

class machine;

/// A table of texts that a script is given.
class text_table {
 public:
  explicit text_table(lua_State* state) : to_(state) {}
  /// To be called first, once, with how many there are.
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

  /// Null: there is none of that name.
  [[nodiscard]] virtual nlohmann::json field(std::string_view name) const = 0;
  /// A field that is a table of texts, each of another name, may be given so: that costs less.
  /// False: it is to be asked for by `field`, and `into` has not begun.
  virtual bool give_texts(std::string_view /*name*/, text_table& /*into*/) const { return false; }

 private:
  friend class machine;
  machine* in_ = nullptr;      // that has it
  int table_ = 0;              // the script's; one and the same for all handlers
  const void* key_ = nullptr;  // where it is
};

}  // namespace strata::script
