// The registry as its interface promises it, and no more: what etcd and a folder have in common,
// without their formats. A thousand daemons over it cost a fraction of what they cost over a
// simulated etcd.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/testing/card_store.hpp"

namespace strata::cluster {

class registry_in_memory;

class store_in_memory final : public card_store {
 public:
  explicit store_in_memory(std::function<loop::time_point()> clock) : clock_(std::move(clock)) {}

  [[nodiscard]] access connect(loop::loop& loop, loop::duration ttl,
                               std::function<double()> chance) override;
  [[nodiscard]] card_texts cards() const override;
  void set_full(bool is_full) override { is_full_ = is_full; }
  void expire() override;
  void compact() override { compacted_ = history_.size(); }
  void back_up() override;
  void restore() override;

  // What registries ask of it. A claim has a number, which is 0 before it is made.
  [[nodiscard]] std::int64_t next_number() { return ++last_number_; }
  /// Errors: conflict if another claim holds the name, not_found if this one has ended, no_space.
  [[nodiscard]] result<void> claim(const std::string& daemon, std::int64_t number, std::string text,
                                   loop::duration ttl);
  /// With a text, the card is replaced. Errors: not_found if the claim has ended, no_space.
  [[nodiscard]] result<void> renew(const std::string& daemon, std::int64_t number,
                                   std::optional<std::string> text, loop::duration ttl);
  void release(const std::string& daemon, std::int64_t number);
  [[nodiscard]] const std::vector<card_change>& history() const { return history_; }
  [[nodiscard]] std::size_t compacted() const { return compacted_; }
  /// How often it has started again.
  [[nodiscard]] int restarts() const { return restarts_; }
  void remove(registry_in_memory& registry) { std::erase(registries_, &registry); }

 private:
  struct holder {
    std::int64_t number;
    loop::duration ttl;
    loop::time_point end;
    std::string text;
  };
  struct backup {
    std::map<std::string, holder> holders;
    std::size_t history_size;
    std::size_t compacted;
  };

  [[nodiscard]] holder* held(const std::string& daemon, std::int64_t number);
  void end(const std::string& daemon);
  void note(card_change change);
  void notify();

  std::function<loop::time_point()> clock_;
  std::map<std::string, holder> holders_;
  std::set<std::int64_t> ended_;                          // claims
  loop::time_point first_end_ = loop::time_point::max();  // no claim ends before
  bool is_full_ = false;
  std::int64_t last_number_ = 0;
  std::vector<card_change> history_;
  std::size_t compacted_ = 0;
  std::optional<backup> backup_;
  int restarts_ = 0;
  std::vector<registry_in_memory*> registries_;
};

}  // namespace strata::cluster
