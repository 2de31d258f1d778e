// The interruption of a command whose script takes long, or of a transaction with such a command:
// other commands come between, most of which are refused, until the script continues. Time stands
// still in the data until the command, or the transaction, ends, and nothing expires.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::runtime::cache {

class data_availability;
class execution;
class keyspace;

class interruption {
 public:
  /// Both outlive it: they are told of its beginning and its end.
  interruption(keyspace& keys, data_availability& availability)
      : keys_(keys), availability_(availability) {}

  [[nodiscard]] bool is_on() const { return outermost_ != nullptr; }
  /// The command whose script takes long. The interruption must be on, here and in what follows.
  [[nodiscard]] const execution& script() const { return *script_; }
  /// When the script began, by the steady clock.
  [[nodiscard]] std::int64_t began_us() const { return began_us_; }
  /// Reports whether what takes long is a function of a library, not a script.
  [[nodiscard]] bool is_of_function() const;
  /// The error of a command that is refused meanwhile.
  [[nodiscard]] std::string_view refusal() const;

  /// Makes the script end with this error as soon as it continues.
  void stop(std::string error) { stop_ = std::move(error); }
  /// As `stop`, and the scripts behind it in the transaction too, as soon as they take long.
  void stop_all(std::string error);
  /// As `stop_all`; the transaction of its changes stays without an end. Nothing may change
  /// afterwards.
  void abandon(std::string error);
  [[nodiscard]] bool stops_all() const { return stops_all_; }
  /// Returns the error with which the script has to end: once, if it does not concern all.
  [[nodiscard]] std::optional<std::string> take_stop();
  /// Has `then` called once it is over, before waits end that have taken too long meanwhile. It is
  /// not called if the script is abandoned. The interruption must be on.
  void await_end(std::function<void()> then) { awaiting_.push_back(std::move(then)); }
  /// Called after the work in which it ended.
  void report_end();

  // --- for the engine
  void begin(execution& outermost);
  void note_script(const execution& script, std::int64_t began_us);
  /// Called once the command, and the propagation of its changes, is over.
  void end();

 private:
  keyspace& keys_;
  data_availability& availability_;
  execution* outermost_ = nullptr;  // null: nothing is interrupted
  const execution* script_ = nullptr;
  std::int64_t began_us_ = 0;
  std::optional<std::string> stop_;
  std::vector<std::function<void()>> awaiting_;
  bool stops_all_ = false;
};

}  // namespace strata::runtime::cache
