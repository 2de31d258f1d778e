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

/// The results of both ends for one measurement.
struct measured {
  end_result near;
  end_result far;
};

class testbed {
 public:
  /// Creates two network namespaces and a veth between them. The namespaces have no names and
  /// belong to the nodes: they are removed with them, however this process ends. Needs root.
  ///
  ///     +-- near, core 0 --------+            +-- far, core 1 ---------+
  ///     |  vethA  192.0.2.1/24 ==|============|==  vethB  192.0.2.2/24 |
  ///     +------------------------+            +------------------------+
  [[nodiscard]] static result<testbed> make_veth();
  /// Uses `interface`, with the `strata bench node` at `host`:`port` as the far end.
  [[nodiscard]] static result<testbed> on_interface(const std::string& interface,
                                                    const std::string& host, std::uint16_t port);
  /// As above, with a far end that is already connected.
  [[nodiscard]] static result<testbed> on_interface(const std::string& interface, node_client far);

  /// Runs one measurement: `order.role` is `send` or `ping`, and the far end has the other role.
  /// Fills in addresses and links. Sets the veth to the order's MTU.
  [[nodiscard]] result<measured> run(order order);
  [[nodiscard]] result<nlohmann::json> time_sockets(std::size_t repetitions);

  /// The largest MTU that both ends support.
  [[nodiscard]] std::uint32_t largest_mtu() const;
  [[nodiscard]] bool is_veth() const { return is_veth_; }
  /// Returns `near` and `far`, each with the node's description of itself.
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
