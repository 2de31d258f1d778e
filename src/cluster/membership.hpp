// A daemon's part in a cluster: it holds its name in the registry, keeps its card there up to date,
// and follows the cards of the others.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "cluster/card.hpp"
#include "cluster/registry.hpp"
#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/backoff.hpp"

namespace strata::cluster {

class membership {
 public:
  struct settings {
    std::string daemon;
    /// The registry drops a card that has not been renewed for this time.
    loop::duration ttl;
    std::uint64_t pause_seed = 0;  ///< of the pauses between attempts; 0: random
  };
  enum class state : std::uint8_t {
    joining,      ///< it has not held its name yet, or has lost it
    held,         ///< it holds its name
    unconfirmed,  ///< it may have lost its name: the registry has not answered for the TTL
    conflict,     ///< another daemon holds the name
    left,
  };

  /// `registry` outlives it. `on_change` is called when the view or the state has changed,
  /// or trouble has come or gone; `on_trouble` with what a user should know.
  membership(loop::loop& loop, registry& registry, settings settings,
             std::function<void()> on_change, std::function<void(const std::string&)> on_trouble);

  /// Reads the cards from now on.
  void begin();
  /// Takes the name, with this card.
  void join(const card& card);
  /// Replaces the card, soon.
  void update(const card& card);
  /// Returns the key with which a later process adopts the name: see `registry::adopt`. From now on
  /// the name is renewed, but the card is not written, and `leave` does not give up the name.
  /// Returns an empty key if the name is not held.
  [[nodiscard]] std::string hand_over();
  /// The later process has ended: the card is written again.
  void take_back(const card& card);
  /// Gives up the name and ends its part; at `limit` without the registry's answer.
  [[nodiscard]] loop::task<> leave(loop::time_point limit);

  [[nodiscard]] state present_state() const;
  /// The last known cards of all daemons, its own among them.
  [[nodiscard]] const std::map<std::string, card>& cards() const { return cards_; }
  /// When the registry last confirmed the cards.
  [[nodiscard]] loop::time_point confirmed() const { return confirmed_; }
  /// Why this daemon cannot hold its name or write its card at present; empty: it can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  loop::task<> hold();
  loop::task<> keep();
  loop::task<> follow();
  loop::task<result<void>> prolong();
  loop::task<> pause(net::backoff& pauses);
  /// Waits for a pause, but at most until another daemon gives up the name.
  loop::task<> await_name();
  void set_state(state next);
  void apply(const card_texts& all);
  void check_own_card();
  void write(std::string text);
  // Return whether a card has changed.
  bool apply(const card_change& change);
  bool take(const std::string& daemon, const std::string& text);
  void report_reading(const error& trouble);
  void set_trouble(std::string trouble);

  loop::loop& loop_;
  registry& registry_;
  settings settings_;
  std::function<void()> on_change_;
  std::function<void(const std::string&)> on_trouble_;
  state state_ = state::joining;
  std::string text_;  // of its own card
  bool has_new_text_ = false;
  std::optional<std::string> handed_over_;  // the key of the claim
  bool has_become_free_ = false;            // its name, as the registry tells
  loop::time_point renewed_;
  std::map<std::string, card> cards_;
  card_texts texts_;  // of the cards, and of those that cannot be read
  loop::time_point confirmed_;
  std::string trouble_;
  std::string last_reading_trouble_;
  net::backoff holding_pauses_;
  net::backoff reading_pauses_;
  loop::condition changed_;
  loop::task_group tasks_;
};

[[nodiscard]] std::string_view name_of(membership::state state);

}  // namespace strata::cluster
