#include "runtime/cache/commands/client_tracking.hpp"

#include <algorithm>

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

struct tracking_words {
  tracking_state how;
  client* target = nullptr;
  std::vector<std::string_view> prefixes;
};

// Reads REDIRECT's client, which must exist now. Returns false after an error.
bool read_redirect(call& c, std::size_t index, tracking_words& words) {
  if (words.how.redirect != 0) {
    c.fail("ERR A client can only redirect to a single other client");
    return false;
  }
  const auto id = c.integer(index);
  if (!id) return false;
  for (auto* each : c.home().clients()) {
    if (each->id == static_cast<std::uint64_t>(*id)) words.target = each;
  }
  if (words.target == nullptr) {
    c.fail("ERR The client ID you want redirect to does not exist");
    return false;
  }
  words.how.redirect = words.target->id;
  return true;
}

std::optional<tracking_words> read_tracking_words(call& c) {
  tracking_words read;
  for (std::size_t i = 3; i < c.size(); ++i) {
    const bool has_value = i + 1 < c.size();
    if (c.is(i, "REDIRECT") && has_value) {
      if (!read_redirect(c, ++i, read)) return {};
    } else if (c.is(i, "BCAST")) {
      read.how.broadcasts = true;
    } else if (c.is(i, "OPTIN")) {
      read.how.opts_in = true;
    } else if (c.is(i, "OPTOUT")) {
      read.how.opts_out = true;
    } else if (c.is(i, "NOLOOP")) {
      read.how.no_loop = true;
    } else if (c.is(i, "PREFIX") && has_value) {
      read.prefixes.push_back(c[++i]);
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

constexpr std::string_view other_mode =
    " before disabling tracking for this client, and then re-enabling it with a different mode.";

// Checks that the options are compatible with each other, and with the client's earlier choice.
bool check_options(call& c, const tracking_words& words) {
  const auto& how = words.how;
  const auto* const now = c.who.tracking.get();
  if (!how.broadcasts && !words.prefixes.empty()) {
    c.fail("ERR PREFIX option requires BCAST mode to be enabled");
  } else if (now != nullptr && now->broadcasts != how.broadcasts) {
    c.fail("ERR You can't switch BCAST mode on/off" + std::string(other_mode));
  } else if (how.broadcasts && (how.opts_in || how.opts_out)) {
    c.fail("ERR OPTIN and OPTOUT are not compatible with BCAST");
  } else if (how.opts_in && how.opts_out) {
    c.fail("ERR You can't specify both OPTIN mode and OPTOUT mode");
  } else if (now != nullptr && ((how.opts_in && now->opts_out) || (how.opts_out && now->opts_in))) {
    c.fail("ERR You can't switch OPTIN/OPTOUT mode" + std::string(other_mode));
  }
  return !c.has_failed();
}

bool fail_overlap(call& c, std::string_view one, std::string_view text, std::string_view other) {
  const auto common = std::min(one.size(), other.size());
  if (one.substr(0, common) != other.substr(0, common)) return false;
  c.fail("ERR Prefix '" + std::string(one) + "' overlaps with " + std::string(text) + " prefix '" +
         std::string(other) + "'. Prefixes for a single client must not overlap.");
  return true;
}

bool check_prefixes(call& c, const tracking_words& words) {
  for (std::size_t i = 0; i < words.prefixes.size(); ++i) {
    if (c.who.tracking) {
      for (const auto& each : c.who.tracking->prefixes) {
        if (fail_overlap(c, words.prefixes[i], "an existing", each)) return false;
      }
    }
    for (auto j = i + 1; j < words.prefixes.size(); ++j) {
      if (fail_overlap(c, words.prefixes[i], "another provided", words.prefixes[j])) return false;
    }
  }
  return true;
}

std::vector<std::string_view> flags_of(const tracking_state* state) {
  if (state == nullptr) return {"off"};
  std::vector<std::string_view> flags = {"on"};
  if (state->broadcasts) flags.emplace_back("bcast");
  if (state->opts_in) flags.emplace_back("optin");
  if (state->opts_in && state->has_choice) flags.emplace_back("caching-yes");
  if (state->opts_out) flags.emplace_back("optout");
  if (state->opts_out && state->has_choice) flags.emplace_back("caching-no");
  if (state->no_loop) flags.emplace_back("noloop");
  if (state->is_redirect_broken) flags.emplace_back("broken_redirect");
  return flags;
}

std::int64_t redirect_of(const client& client) {
  return client.tracking ? static_cast<std::int64_t>(client.tracking->redirect) : -1;
}

}  // namespace

void client_tracking(call& c) {
  auto wanted = read_tracking_words(c);
  if (!wanted) return;
  if (c.is(2, "ON")) {
    if (!check_options(c, *wanted) || !check_prefixes(c, *wanted)) return;
    if (c.who.tracking) {
      wanted->how.prefixes = c.who.tracking->prefixes;
      wanted->how.has_choice = c.who.tracking->has_choice;
    }
    // No prefix means all keys.
    if (wanted->how.broadcasts && wanted->prefixes.empty()) wanted->prefixes.emplace_back();
    wanted->how.prefixes.insert(wanted->prefixes.begin(), wanted->prefixes.end());
    c.home().trackers().enable(c.who, wanted->how, wanted->target);
  } else if (c.is(2, "OFF")) {
    c.home().trackers().disable(c.who);
  } else {
    c.fail_syntax();
    return;
  }
  c.reply.ok();
}

void client_trackinginfo(call& c) {
  const auto* const how = c.who.tracking.get();
  const auto flags = flags_of(how);
  c.reply.map(3);
  c.reply.bulk("flags");
  c.reply.set(flags.size());
  for (const auto& each : flags) c.reply.bulk(each);
  c.reply.bulk("redirect");
  c.reply.integer(redirect_of(c.who));
  c.reply.bulk("prefixes");
  c.reply.array(how == nullptr ? 0 : how->prefixes.size());
  if (how == nullptr) return;
  for (const auto& each : how->prefixes) c.reply.bulk(each);
}

void client_caching(call& c) {
  auto* const how = c.who.tracking.get();
  if (how == nullptr) {
    c.fail(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or "
        "OPTOUT mode enabled");
  } else if (c.is(2, "YES") && !how->opts_in) {
    c.fail("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  } else if (c.is(2, "NO") && !how->opts_out) {
    c.fail("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  } else if (c.is(2, "YES") || c.is(2, "NO")) {
    how->has_choice = true;
    c.reply.ok();
  } else {
    c.fail_syntax();
  }
}

void client_getredir(call& c) { c.reply.integer(redirect_of(c.who)); }

}  // namespace strata::runtime::cache
