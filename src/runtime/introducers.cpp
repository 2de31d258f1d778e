#include "runtime/introducers.hpp"

namespace strata::runtime {

result<introducers> introducers::parse(const std::vector<std::string>& texts) {
  introducers made;
  for (const auto& each : texts) {
    if (each == "unix") {
      made.has_unix_ = true;
      continue;
    }
    auto read = loop::network::parse(each);
    if (!read) return std::unexpected(read.error());
    made.networks_.push_back(*read);
  }
  return made;
}

bool introducers::has(const net::stream& arrived) const {
  const auto& address = arrived.peer().address;
  const bool is_local = address.family() != AF_INET && address.family() != AF_INET6;
  return is_local ? has_unix_ : loop::is_in(networks_, address);
}

std::function<bool(const net::stream&)> introducing(const std::vector<std::string>& texts) {
  if (texts.empty()) return nullptr;
  return
      [from = *introducers::parse(texts)](const net::stream& arrived) { return from.has(arrived); };
}

}  // namespace strata::runtime
