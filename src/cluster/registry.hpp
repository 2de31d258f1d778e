// Where the daemons of a cluster leave their cards, each under its name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "strata/base/result.hpp"

namespace strata::cluster {

/// The texts of cards, by the names of their daemons. One that is longer than `longest_card` is
/// empty here.
using card_texts = std::map<std::string, std::string>;

/// A card that was written, or, without a text, is gone.
struct card_change {
  std::string daemon;
  std::optional<std::string> text;
};

/// For one daemon, on one loop. One call of `claim`, `renew`, `write` and `release` at a time, and
/// one of `read` and `next`. Errors of all calls: those of the way to the registry; then it is
/// unknown whether a change was made.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  virtual ~registry() = default;

  /// Takes the name `daemon`, with its card, until the claim has not been renewed for its time to
  /// live. Errors: conflict if another process holds the name.
  virtual loop::task<result<void>> claim(std::string daemon, std::string text) = 0;
  /// Errors: not_found if the claim has ended.
  virtual loop::task<result<void>> renew() = 0;
  /// Replaces the card. Errors: as of `renew`.
  virtual loop::task<result<void>> write(std::string text) = 0;
  /// Gives up the claim, and its card.
  virtual loop::task<result<void>> release() = 0;
  /// The key of the claim, with which another process can adopt it.
  [[nodiscard]] virtual std::string claim_key() const = 0;
  /// Makes the next `claim` take over the claim with this key. A malformed key has no effect.
  virtual void adopt(const std::string& key) = 0;
  /// Leaves the claim and its card to the process that has adopted it.
  virtual void leave() = 0;

  /// Returns all cards.
  virtual loop::task<result<card_texts>> read() = 0;
  /// Waits for changes since the last `read` or `next`, until `limit` at most: then there may be
  /// none. Errors: changes may have been missed, so that `read` is due.
  virtual loop::task<result<std::vector<card_change>>> next(loop::time_point limit) = 0;
  /// Whether a card without a change is in force. False: it is only the last known one.
  [[nodiscard]] virtual bool confirms_cards() const { return true; }
};

}  // namespace strata::cluster
