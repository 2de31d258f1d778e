// strata l2 link add, set, del and list: the interfaces of this network namespace, by rtnetlink.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/l2/link_flags.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using nlohmann::json;

std::unexpected<refusal> refuse_link(const error& why) {
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

// The changes that --address and --no-address make to an existing interface.
struct address_changes {
  std::vector<nl::link_address> added;
  std::vector<nl::link_address> removed;
};

outcome<std::vector<nl::link_address>> addresses_in(const invocation& call, std::string_view key) {
  std::vector<nl::link_address> all;
  for (const auto& text : call.flags.value(key, std::vector<std::string>{})) {
    auto read = nl::link_address::from_text(0, text);
    if (!read) return refuse(exit_misused, read.error());
    all.push_back(std::move(*read));
  }
  return all;
}

outcome<address_changes> address_flags(const invocation& call) {
  auto added = addresses_in(call, "address");
  if (!added) return std::unexpected(added.error());
  auto removed = addresses_in(call, "no_address");
  if (!removed) return std::unexpected(removed.error());
  return address_changes{std::move(*added), std::move(*removed)};
}

outcome<> change_addresses(nl::route& route, int index, address_changes& changes) {
  for (auto& each : changes.removed) {
    each.interface_index = index;
    if (auto done = route.remove_address(each); !done) return refuse_link(done.error());
  }
  for (auto& each : changes.added) {
    each.interface_index = index;
    if (auto done = route.add_address(each); !done) return refuse_link(done.error());
  }
  return {};
}

outcome<nl::route> open_route() {
  auto over = nl::route::open();
  if (!over) return refuse(exit_failed, over.error());
  return std::move(*over);
}

std::string name_in(const std::vector<nl::link>& all, int index) {
  for (const auto& each : all) {
    if (each.index == index) return each.name;
  }
  return fmt::format("#{}", index);  // in another network namespace
}

json pairs_as_json(const std::vector<nl::priority_pair>& pairs) {
  auto texts = json::array();
  for (const auto& each : pairs) texts.push_back(fmt::format("{}:{}", each.from, each.to));
  return texts;
}

json link_as_json(const nl::link& link, const std::vector<nl::link>& all,
                  const std::vector<nl::link_address>& addresses) {
  const auto* const state = link.is_running() ? "running" : link.is_up() ? "no carrier" : "down";
  json made{{"name", link.name},         {"index", link.index}, {"kind", link.kind},
            {"mac", link.mac.text()},    {"mtu", link.mtu},     {"state", state},
            {"addresses", json::array()}};
  if (link.peer) {
    // If the number belongs to another namespace, an interface of this one may have the same
    // number.
    const bool is_veth = link.kind == "veth";
    for (const auto& each : all) {
      if (each.index == *link.peer && (!is_veth || each.peer == link.index)) made["on"] = each.name;
    }
    if (!made.contains("on")) made["on"] = fmt::format("#{}", *link.peer);
  }
  if (link.master) made["master"] = name_in(all, *link.master);
  if (link.vlan) {
    made["vlan"] = link.vlan->id;
    made["egress_prio"] = pairs_as_json(link.vlan->egress);
    made["ingress_prio"] = pairs_as_json(link.vlan->ingress);
  }
  for (const auto& each : addresses) {
    if (each.interface_index == link.index) made["addresses"].push_back(each.text());
  }
  return made;
}

outcome<> make_link(nl::route& route, const nl::new_link& link, const invocation& call,
                    address_changes& addresses) {
  const auto made = route.add_link(link);
  if (!made) return refuse_link(made.error());
  auto rest = link_change_flags(call, route);
  if (!rest) {
    (void)route.remove_link(made->index);
    return std::unexpected(rest.error());
  }
  outcome<> done;
  if (rest->master) {
    const auto set = route.set_link(made->index, {.master = rest->master});
    if (!set) done = refuse_link(set.error());
  }
  if (done) done = change_addresses(route, made->index, addresses);
  // A link that could not be completed is removed.
  if (!done) (void)route.remove_link(made->index);
  return done;
}

}  // namespace

outcome<int> run_l2_link_add(const invocation& call) {
  auto over = open_route();
  if (!over) return std::unexpected(over.error());
  auto addresses = address_flags(call);
  if (!addresses) return std::unexpected(addresses.error());
  auto what = new_link_flags(call, *over);
  if (!what) return std::unexpected(what.error());
  if (auto made = make_link(*over, what->link, call, *addresses); !made) {
    return std::unexpected(made.error());
  }
  return exit_done;
}

outcome<int> run_l2_link_set(const invocation& call) {
  auto over = open_route();
  if (!over) return std::unexpected(over.error());
  auto addresses = address_flags(call);
  if (!addresses) return std::unexpected(addresses.error());
  const auto found = over->link_named(call.words[0]);
  if (!found) return refuse_link(found.error());
  const auto what = link_change_flags(call, *over);
  if (!what) return std::unexpected(what.error());
  if (auto done = over->set_link(found->index, *what); !done) return refuse_link(done.error());
  if (auto done = change_addresses(*over, found->index, *addresses); !done) {
    return std::unexpected(done.error());
  }
  return exit_done;
}

outcome<int> run_l2_link_del(const invocation& call) {
  auto over = open_route();
  if (!over) return std::unexpected(over.error());
  for (const auto& name : call.words) {
    const auto found = over->link_named(name);
    if (!found) return refuse_link(found.error());
    if (auto done = over->remove_link(found->index); !done) return refuse_link(done.error());
  }
  return exit_done;
}

outcome<int> run_l2_link_list(const invocation& call) {
  static constexpr column columns[] = {
      {"name", "/name"},
      {"kind", "/kind"},
      {"mac", "/mac"},
      {"mtu", "/mtu"},
      {"state", "/state"},
      {"on", "/on"},
      {"master", "/master"},
      {"vlan", "/vlan"},
      {"egress_prio", "/egress_prio", unit::none, false},
      {"ingress_prio", "/ingress_prio", unit::none, false},
      {"addresses", "/addresses"},
      {"index", "/index", unit::none, false},
  };
  auto over = open_route();
  if (!over) return std::unexpected(over.error());
  const auto links = over->links();
  if (!links) return refuse(exit_failed, links.error());
  const auto addresses = over->addresses();
  if (!addresses) return refuse(exit_failed, addresses.error());
  auto objects = json::array();
  for (const auto& each : *links) {
    if (!call.words.empty() && std::ranges::find(call.words, each.name) == call.words.end()) {
      continue;
    }
    objects.push_back(link_as_json(each, *links, *addresses));
  }
  for (const auto& name : call.words) {
    const auto found = over->link_named(name);
    if (!found) return refuse_link(found.error());
  }
  show_list(call, columns, objects);
  return exit_done;
}

}  // namespace strata::cli
