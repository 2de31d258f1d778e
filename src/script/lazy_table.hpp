// A table for a script whose fields are made when the script reads them: most scripts read a few.
//
// The script may keep the table. When this goes, it has the fields that have been read, and no
// others. For the machine's loop.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace strata::script {

class machine;

class lazy_table {
 public:
  lazy_table() = default;
  lazy_table(const lazy_table&) = delete;
  lazy_table& operator=(const lazy_table&) = delete;
  virtual ~lazy_table();

  /// Null: there is none of that name.
  [[nodiscard]] virtual nlohmann::json field(std::string_view name) const = 0;

 private:
  friend class machine;
  machine* in_ = nullptr;      // that has it
  int table_ = 0;              // the script's; one and the same for all handlers
  const void* key_ = nullptr;  // where it is
};

}  // namespace strata::script
