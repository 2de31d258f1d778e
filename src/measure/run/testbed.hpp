// Two nodes and the link between them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "measure/node/node.hpp"
#include "measure/node/order.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

/// What both ends saw of one measurement.
struct measured {
  end_result near;
  end_result far;
};

class testbed {
 public:
  /// Two network namespaces of its own and a veth between them. They have no names and belong to
  /// the nodes: they go with them, however this process ends. Needs root.
  ///
  ///     +-- near, core 0 --------+            +-- far, core 1 ---------+
  ///     |  vethA  192.0.2.1/24 ==|============|==  vethB  192.0.2.2/24 |
  ///     +------------------------+            +------------------------+
  [[nodiscard]] static result<testbed> make_veth();
  /// On `interface`, with the `strata bench node` at `host`:`port` as the far end.
  [[nodiscard]] static result<testbed> on_interface(const std::string& interface,
                                                    const std::string& host, std::uint16_t port);
  /// The same, with a far end that has been reached already.
  [[nodiscard]] static result<testbed> on_interface(const std::string& interface, node_client far);

  /// Runs one measurement: `what.role` is `send` or `ping`, and the far end plays the other part.
  /// Addresses and links are filled in. The veth gets the MTU that it says.
  [[nodiscard]] result<measured> run(order order);
  [[nodiscard]] result<nlohmann::json> time_sockets(std::size_t repetitions);

  /// The largest MTU that both ends can have.
  [[nodiscard]] std::uint32_t largest_mtu() const;
  [[nodiscard]] bool is_veth() const { return is_veth_; }
  /// `near` and `far`, each as the node describes itself.
  [[nodiscard]] nlohmann::json describe() const;

 private:
  struct side {
    node_client node;
    std::string link;
    std::string mac;
    std::string address;
    std::uint32_t mtu = 1500;
    nlohmann::json description;
  };
  testbed(side near, side far, bool is_veth)
      : near_(std::move(near)), far_(std::move(far)), is_veth_(is_veth) {}
  static result<void> look(side& side);
  result<void> set_mtu(std::uint32_t mtu);

  side near_;
  side far_;
  bool is_veth_;
};

}  // namespace strata::measure
