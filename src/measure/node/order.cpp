#include "measure/node/order.hpp"

namespace strata::measure {

namespace wire_form {

// NOLINTBEGIN(readability-identifier-naming)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, role, path, interface, mtu, peer_mac,
                                                address, peer_address, peer_port, payload, tagged,
                                                vlan_id, priority, busy, buffer, run, seconds, rate,
                                                foreign, planted_sleep)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(end_result, failure, sent, foreign, seconds,
                                                delivered, rate, duplicates, reordered, strays,
                                                dropped, interface_dropped, cpu_ns, allocations,
                                                cycles, instructions, times)
// NOLINTEND(readability-identifier-naming)

}  // namespace wire_form

namespace {

template <class Value>
result<Value> read(const nlohmann::json& value, const char* text) {
  try {
    Value made;
    wire_form::from_json(value, made);
    return made;
  } catch (const nlohmann::json::exception& wrong) {
    return failure(errc::malformed, std::string("read ") + text, wrong.what());
  }
}

}  // namespace

result<order> order_from(const nlohmann::json& value) { return read<order>(value, "an order"); }

result<end_result> end_result_from(const nlohmann::json& value) {
  return read<end_result>(value, "a result");
}

nlohmann::json to_json(const order& order) {
  nlohmann::json made;
  wire_form::to_json(made, order);
  return made;
}

nlohmann::json to_json(const end_result& result) {
  nlohmann::json made;
  wire_form::to_json(made, result);
  return made;
}

}  // namespace strata::measure
