#include "measure/run/testbed.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

template <class Value>
Value member(const json& value, const char* key) {
  const auto found = value.find(key);
  if (found == value.end()) return {};
  if constexpr (std::is_same_v<Value, std::string>) {
    return found->is_string() ? found->get<std::string>() : Value();
  } else {
    return found->is_number_unsigned() ? found->get<Value>() : Value();
  }
}

}  // namespace

result<void> testbed::look(side& side) {
  auto reported = side.node.ask({{"do", "describe"}, {"link", side.link}});
  if (!reported) return std::unexpected(reported.error());
  side.mac = member<std::string>(*reported, "mac");
  side.link = member<std::string>(*reported, "interface");
  side.mtu = member<std::uint32_t>(*reported, "mtu");
  side.address = member<std::string>(*reported, "address");
  side.description = std::move(*reported);
  return {};
}

result<testbed> testbed::make_veth() {
  auto near = node_client::start(0);
  if (!near) return std::unexpected(near.error());
  auto far = node_client::start(1);
  if (!far) return std::unexpected(far.error());
  testbed made(side{.node = std::move(*near), .link = "vethA", .address = "192.0.2.1"},
               side{.node = std::move(*far), .link = "vethB", .address = "192.0.2.2"}, true);
  for (auto* at : {&made.near_, &made.far_}) {
    if (auto in = at->node.ask({{"do", "enter"}}); !in) return std::unexpected(in.error());
  }
  const auto joined = made.near_.node.ask({{"do", "join"},
                                           {"link", made.near_.link},
                                           {"peer_link", made.far_.link},
                                           {"peer_process", made.far_.node.process_id()}});
  if (!joined) return std::unexpected(joined.error());
  for (auto* at : {&made.near_, &made.far_}) {
    const auto up =
        at->node.ask({{"do", "configure"}, {"link", at->link}, {"address", at->address}});
    if (!up) return std::unexpected(up.error());
    if (auto looked = look(*at); !looked) return std::unexpected(looked.error());
  }
  for (auto [at, other] : {std::pair(&made.near_, &made.far_), {&made.far_, &made.near_}}) {
    const auto known = at->node.ask({{"do", "neighbour"},
                                     {"link", at->link},
                                     {"address", other->address},
                                     {"mac", other->mac}});
    if (!known) return std::unexpected(known.error());
  }
  return made;
}

result<testbed> testbed::on_interface(const std::string& interface, const std::string& host,
                                      std::uint16_t port) {
  auto far = node_client::connect(host, port);
  if (!far) return std::unexpected(far.error());
  return on_interface(interface, std::move(*far));
}

result<testbed> testbed::on_interface(const std::string& interface, node_client far) {
  auto near = node_client::start(0);
  if (!near) return std::unexpected(near.error());
  testbed made(side{.node = std::move(*near), .link = interface}, side{.node = std::move(far)},
               false);
  if (auto looked = look(made.near_); !looked) return std::unexpected(looked.error());
  if (auto looked = look(made.far_); !looked) return std::unexpected(looked.error());
  return made;
}

std::uint32_t testbed::largest_mtu() const {
  return is_veth_ ? 65'535 : std::min(near_.mtu, far_.mtu);
}

json testbed::describe() const {
  return {{"kind", is_veth_ ? "veth" : "interface"},
          {"near", near_.description},
          {"far", far_.description}};
}

result<void> testbed::set_mtu(std::uint32_t mtu) {
  if (!is_veth_) return {};
  for (auto* at : {&near_, &far_}) {
    if (at->mtu == mtu) continue;
    const auto set = at->node.ask({{"do", "mtu"}, {"link", at->link}, {"mtu", mtu}});
    if (!set) return std::unexpected(set.error());
    at->mtu = mtu;
  }
  return {};
}

result<measured> testbed::run(order order) {
  if (auto set = set_mtu(order.mtu); !set) {
    return std::unexpected(set.error());
  }
  auto theirs = order;
  theirs.role = order.role == "ping" ? "echo" : "receive";
  theirs.interface = far_.link;
  theirs.mtu = far_.mtu;
  theirs.peer_mac = near_.mac;
  const auto ready = far_.node.ask({{"do", "start"}, {"order", to_json(theirs)}});
  if (!ready) return std::unexpected(ready.error());
  order.interface = near_.link;
  order.mtu = near_.mtu;
  order.peer_mac = far_.mac;
  order.address = near_.address;
  order.peer_address = far_.address;
  order.peer_port = member<std::uint16_t>(*ready, "port");
  const auto started = near_.node.ask({{"do", "start"}, {"order", to_json(order)}});
  // The far end must be finished in any case.
  const auto ours = started ? near_.node.ask({{"do", "finish"}}) : started;
  const auto others = far_.node.ask({{"do", "finish"}});
  if (!ours) return std::unexpected(ours.error());
  if (!others) return std::unexpected(others.error());
  const auto near = end_result_from(ours->value("result", json::object()));
  if (!near) return std::unexpected(near.error());
  const auto far = end_result_from(others->value("result", json::object()));
  if (!far) return std::unexpected(far.error());
  for (const auto* each : {&*near, &*far}) {
    if (each->failure.empty()) continue;
    return failure(errc::system, "measure " + order.path, each->failure);
  }
  return measured{.near = *near, .far = *far};
}

result<json> testbed::time_sockets(std::size_t repetitions) {
  return near_.node.ask({{"do", "sockets"}, {"link", near_.link}, {"repetitions", repetitions}});
}

}  // namespace strata::measure
