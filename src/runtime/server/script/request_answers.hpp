// A script's answers to the HTTP requests that a server receives.
//
// For the loop of the script's shard.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "http/exchange.hpp"
#include "loop/condition.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::scripting {
struct given_answer;
}  // namespace strata::runtime::scripting

namespace strata::runtime::server {

class shard;

/// The script's choice for a WebSocket that a client wants to open.
struct websocket_choice {
  bool is_refused = false;
  std::string protocol;  ///< empty: as the options say
};

class request_answers {
 public:
  /// `settled` is notified after each answer. All of it outlives the answers.
  request_answers(shard& shard, scripting::host& host, loop::condition& settled)
      : home_(shard), host_(host), settled_(settled) {}

  /// Whether the script has a callback for requests.
  [[nodiscard]] bool has_callback() const {
    return host_.has(scripting::callback::http_request) ||
           host_.has(scripting::callback::http_body);
  }
  /// Answers the request, and returns true; false if the script leaves it to others.
  [[nodiscard]] loop::task<bool> answer(http::exchange& exchange);
  /// Asks the script about a WebSocket that a client wants to open, as the member `id`.
  [[nodiscard]] loop::task<websocket_choice> choose(http::exchange& exchange, std::uint64_t id);
  /// Keeps the fields that say who the client of a member's WebSocket is, from its request.
  void keep_identity(std::uint64_t id, const proto::http_request& request);
  /// These fields by name; null for another member.
  [[nodiscard]] const nlohmann::json* identity_of(std::uint64_t id) const;
  void forget(std::uint64_t id) { identities_.erase(id); }
  /// Whether it answers no request at present.
  [[nodiscard]] bool is_idle() const { return pending_ == 0; }

 private:
  /// Counts an answer while it lives.
  class pending_answer;

  // An answer whose head is null: the script leaves it.
  [[nodiscard]] loop::task<result<scripting::given_answer>> ask_for_taker(http::exchange& exchange);
  [[nodiscard]] loop::task<result<scripting::given_answer>> ask_for_answer(
      http::exchange& exchange);

  shard& home_;
  scripting::host& host_;
  loop::condition& settled_;
  std::size_t pending_ = 0;
  boost::unordered_flat_map<std::uint64_t, nlohmann::json> identities_;  // by the member's id
};

}  // namespace strata::runtime::server
