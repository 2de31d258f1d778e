// Runs the scripts of EVAL and its relatives. The engine and its commands know scripts only by this
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

class call;
struct command;

/// What FUNCTION RESTORE does with the libraries that are there.
enum class restore_policy : std::uint8_t { append, replace, flush };

class evaluator {
 public:
  virtual ~evaluator() = default;

  // --- scripts
  /// Runs a script as the command `outer`, and replies. Its words from `first` on are the number of
  /// keys, the keys, and the arguments.
  virtual void evaluate(call& outer, std::string_view text, std::size_t first,
                        bool is_read_only) = 0;
  /// The same for a script that is known by its SHA-1 in hexadecimal digits; replies with NOSCRIPT
  /// if there is none.
  virtual void evaluate_known(call& outer, std::string_view digest, std::size_t first,
                              bool is_read_only) = 0;
  /// Keeps a script, and replies with its SHA-1, or with the error of its compilation.
  virtual void load(call& outer, std::string_view text) = 0;
  [[nodiscard]] virtual bool knows(std::string_view digest) const = 0;
  virtual void forget_all() = 0;

  // --- functions
  /// Runs the function that the second word names, and replies.
  virtual void call_function(call& outer, bool is_read_only) = 0;
  /// Adds a library, or replaces the one of its name, and replies with its name.
  virtual void load_library(call& outer, std::string_view text, bool replaces) = 0;
  /// Adds libraries, all or none, and replies.
  virtual void restore_libraries(call& outer, std::span<const std::string> texts,
                                 restore_policy policy) = 0;
  /// Replies with the libraries whose names match, as FUNCTION LIST does.
  virtual void list_libraries(call& outer, std::string_view pattern, bool with_texts) = 0;
  virtual void remove_library(call& outer, std::string_view name) = 0;
  virtual void remove_all_libraries() = 0;

  /// Returns the flags (`script_flag`) that the script or the function which these words run
  /// declares; 0 if it is not known.
  [[nodiscard]] virtual std::uint8_t declared_flags(const command& command,
                                                    std::span<const std::string_view> words) = 0;

  // --- figures
  struct figures {
    std::size_t scripts = 0;
    std::size_t script_memory = 0;  ///< bytes, the machine's included
    std::size_t libraries = 0;
    std::size_t functions = 0;
    std::size_t function_memory = 0;
  };
  [[nodiscard]] virtual figures counted() = 0;

 protected:
  evaluator() = default;
  evaluator(const evaluator&) = delete;
  evaluator& operator=(const evaluator&) = delete;
};

}  // namespace strata::runtime::cache
