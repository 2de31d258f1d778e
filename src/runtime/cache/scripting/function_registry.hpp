// The functions that clients have loaded, compiled: what FCALL runs. Their texts are data of the
// keyspace; here is what was made of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/scripts/evaluator.hpp"
#include "runtime/cache/scripting/function_library.hpp"

namespace strata::runtime::cache {

class function_registry {
 public:
  function_registry(loop::loop& loop, script::observer& watched_by,
                    const function_library::surroundings& around, keyspace& keys)
      : loop_(loop), watched_by_(watched_by), around_(around), keys_(keys) {}

  // As `evaluator` says.
  void call_function(call& outer, bool is_read_only);
  void load(call& outer, std::string_view text, bool replaces);
  void restore(call& outer, std::span<const std::string> texts, restore_policy policy);
  void list(call& outer, std::string_view pattern, bool with_texts);
  void remove(call& outer, std::string_view name);
  void clear();
  /// Returns the flags of the function; 0 if there is none of that name.
  [[nodiscard]] std::uint8_t declared_flags(std::string_view name);

  [[nodiscard]] std::size_t count();
  [[nodiscard]] std::size_t function_count();
  [[nodiscard]] std::size_t memory() const;

 private:
  using libraries = std::map<std::string, std::unique_ptr<function_library>, std::less<>>;
  struct place {
    function_library* library;
    const function_library::functions::value_type* function;
  };

  /// Compiles texts that came with a file, or from a leader.
  void refresh();
  /// Reports the reason, in Redis's words, why a library cannot stand beside `others`; empty: none.
  /// `taken_name`: the text for a name that is taken, with {} for the name.
  [[nodiscard]] static std::string conflict(const function_library& library,
                                            const libraries& others, bool replaces,
                                            std::string_view taken_name);
  void put(std::unique_ptr<function_library> library);
  [[nodiscard]] place find(std::string_view function) const;

  loop::loop& loop_;
  script::observer& watched_by_;
  function_library::surroundings around_;
  keyspace& keys_;
  libraries libraries_;
  std::uint64_t version_ = 0;  // of the texts
};

}  // namespace strata::runtime::cache
