// Where the cards of a simulated cluster stand, with the faults of such a place and of the ways to
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cluster/registry.hpp"

namespace strata::cluster {

/// What a daemon's way to the store does to its calls.
struct link_faults {
  bool is_cut = false;        ///< nothing arrives; a call fails after a while
  bool is_dead = false;       ///< watches are silent, and nothing tells
  double loses_requests = 0;  ///< the chance that a request is lost
  double loses_answers = 0;   ///< the chance that an answer is lost
  loop::duration slowest{};   ///< each way takes up to this
};

class card_store {
 public:
  struct access {
    std::unique_ptr<cluster::registry> registry;
    link_faults* faults;  ///< lives as long as the registry
  };

  card_store() = default;
  card_store(const card_store&) = delete;
  card_store& operator=(const card_store&) = delete;
  virtual ~card_store() = default;

  /// Called when a daemon gets a name that nobody holds.
  std::function<void(const std::string& daemon)> on_claim;

  /// One daemon's. `chance` draws from 0 to 1.
  [[nodiscard]] virtual access connect(loop::loop& loop, loop::duration ttl,
                                       std::function<double()> chance) = 0;
  [[nodiscard]] virtual card_texts cards() const = 0;
  /// One that is full writes nothing; claims can be renewed.
  virtual void set_full(bool is_full) = 0;
  /// Ends the claims that are due, at most one turn late.
  virtual void expire() = 0;
  /// Forgets which changes there were: who has not heard of them must read again.
  virtual void compact() = 0;
  /// Makes a backup of what stands in it.
  virtual void back_up() = 0;
  /// Starts again from the last backup, if there is one; claims have their whole time before them.
  virtual void restore() = 0;
};

}  // namespace strata::cluster
