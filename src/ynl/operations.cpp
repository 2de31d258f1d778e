// Reads operations, and numbers their messages.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ynl/parts.hpp"

namespace strata::ynl {

namespace {

constexpr std::uint64_t largest_command = 255;

class operation_reader {
 public:
  operation_reader(const node& operations, budget& budget, spec& spec)
      : budget_(budget), to_(spec) {
    const auto model = operations.text_of("enum-model", "unified");
    is_directional_ = model == "directional";
    if (!is_directional_ && model != "unified") {
      operations.refuse(
          fmt::format("its enum-model '{}' is neither unified nor directional", model));
    }
    has_fixed_header_ = operations.find("fixed-header").has_value();
    // `notify` may name operations that are read later.
    for (const auto& node : operations.list("list")) {
      budget_.spend(node);
      to_.operations.push_back(read(node));
      notify_.push_back(node.text_of("notify"));
    }
    for (std::size_t place = 0; place < notify_.size(); ++place) name_event(operations, place);
  }

 private:
  operation read(const node& node) {
    operation made{.name = node.needed_text("name"),
                   .doc = node.text_of("doc"),
                   .group = node.text_of("mcgrp"),
                   .has_fixed_header = has_fixed_header_ || node.find("fixed-header").has_value()};
    if (const auto set = node.text_of("attribute-set"); !set.empty()) {
      const auto found = std::ranges::find(to_.sets, set, &attribute_set::name);
      if (found == to_.sets.end()) node.refuse(fmt::format("unknown attribute set '{}'", set));
      made.set = static_cast<std::size_t>(found - to_.sets.begin());
    }
    const auto own = node.number_of("value", largest_command);
    if (const auto event = node.map("event")) {
      made.event = exchange{.reply_attributes = event->texts_of("attributes")};
    } else if (node.find("notify")) {
      made.event = exchange{};
    }
    made.act = exchange_of(node, "do");
    made.dump = exchange_of(node, "dump");
    if (is_directional_) {
      number_each_way(node, own, made);
    } else {
      const auto number = take(node, next_request_, own);
      for (auto* const each : {&made.act, &made.dump, &made.event}) {
        if (*each) (*each)->request = (*each)->reply = number;
      }
    }
    return made;
  }

  std::optional<exchange> exchange_of(const node& node, const char* text) {
    const auto found = node.map(text);
    if (!found) return {};
    exchange made;
    if (const auto request = found->map("request"))
      made.request_attributes = request->texts_of("attributes");
    if (const auto reply = found->map("reply")) {
      made.has_reply = true;
      made.reply_attributes = reply->texts_of("attributes");
    }
    budget_.spend(node);
    return made;
  }

  /// Requests are numbered separately from replies and events; a dump's messages have the numbers
  /// of the do's, unless specified otherwise.
  void number_each_way(const node& node, std::optional<std::uint64_t> own, operation& operation) {
    if (operation.event) {
      const auto event = node.map("event");
      const auto said = event && !own ? event->number_of("value", largest_command) : own;
      operation.event->reply = take(node, next_reply_, said);
    }
    std::optional<std::uint8_t> request;
    std::optional<std::uint8_t> reply;
    for (const auto& [how, to] :
         {std::pair{"do", &operation.act}, std::pair{"dump", &operation.dump}}) {
      if (!*to) continue;
      const auto found = node.map(how);
      const auto number = [&](const char* side, std::uint64_t& next, auto& last) {
        const auto message = found->map(side);
        const auto said = message ? message->number_of("value", largest_command) : std::nullopt;
        if (said || !last) last = take(node, next, said);
        return *last;
      };
      (*to)->request = number("request", next_request_, request);
      if ((*to)->has_reply) (*to)->reply = number("reply", next_reply_, reply);
    }
  }

  std::uint8_t take(const node& node, std::uint64_t& next, std::optional<std::uint64_t> said) {
    const auto number = said.value_or(next);
    if (number > largest_command) {
      node.refuse(fmt::format("its number is above {}", largest_command));
    }
    next = number + 1;
    return static_cast<std::uint8_t>(number);
  }

  /// An event with `notify` has the format of another operation's reply.
  void name_event(const node& operations, std::size_t place) {
    auto& made = to_.operations[place];
    const auto& of = notify_[place];
    if (of.empty()) return;
    const auto* const reported = to_.find(of);
    if (reported == nullptr) {
      operations.refuse(
          fmt::format("'{}' notifies of '{}', which is not an operation", made.name, of));
    }
    if (!made.set) made.set = reported->set;
    if (reported->act) made.event->reply_attributes = reported->act->reply_attributes;
  }

  budget& budget_;
  spec& to_;
  std::vector<std::string> notify_;
  std::uint64_t next_request_ = 1;
  std::uint64_t next_reply_ = 1;
  bool is_directional_ = false;
  bool has_fixed_header_ = false;
};

}  // namespace

void read_operations(const node& root, budget& budget, spec& spec) {
  const auto operations = root.map("operations");
  if (!operations) root.refuse("'operations' is missing");
  const operation_reader done(*operations, budget, spec);
}

}  // namespace strata::ynl
