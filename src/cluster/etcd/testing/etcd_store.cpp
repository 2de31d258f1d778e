#include "cluster/etcd/testing/etcd_store.hpp"

#include <utility>

#include "text/base64.hpp"

namespace strata::cluster {

etcd_store::etcd_store(std::function<loop::time_point()> clock) : etcd_(std::move(clock)) {
  etcd_.on_change = [this](const etcd_in_memory::change& change) {
    if (change.is_gone || etcd_.keys().at(change.key).created != change.mod) return;
    if (on_claim) on_claim(change.key.substr(prefix_.size()));
  };
}

card_store::access etcd_store::connect(loop::loop& loop, loop::duration ttl,
                                       std::function<double()> chance) {
  auto link = std::make_unique<link_in_memory>(loop, etcd_, std::move(chance));
  auto* const faults = &link->faults;
  return {.registry =
              std::make_unique<etcd_registry>(std::move(link), etcd_registry::settings{.ttl = ttl}),
          .faults = faults};
}

card_texts etcd_store::cards() const {
  card_texts texts;
  for (const auto& [key, pair] : etcd_.keys()) {
    texts[key.substr(prefix_.size())] = text::base64_decode(pair.encoded).value();
  }
  return texts;
}

}  // namespace strata::cluster
