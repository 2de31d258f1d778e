// The cards of a simulated cluster in a simulated etcd.
#pragma once

#include <string>

#include "cluster/etcd/etcd_registry.hpp"
#include "cluster/etcd/testing/etcd_in_memory.hpp"
#include "cluster/testing/card_store.hpp"

namespace strata::cluster {

class etcd_store final : public card_store {
 public:
  explicit etcd_store(std::function<loop::time_point()> clock);

  [[nodiscard]] access connect(loop::loop& loop, loop::duration ttl,
                               std::function<double()> chance) override;
  [[nodiscard]] card_texts cards() const override;
  void set_full(bool is_full) override { etcd_.is_full = is_full; }
  void expire() override { etcd_.expire(); }
  void compact() override { etcd_.compact(); }
  void back_up() override { etcd_.back_up(); }
  void restore() override { etcd_.restore(); }

 private:
  const std::string prefix_ = etcd_registry::settings().prefix;
  etcd_in_memory etcd_;
};

}  // namespace strata::cluster
