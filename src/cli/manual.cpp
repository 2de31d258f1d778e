#include "cli/manual.hpp"

#include <fmt/format.h>

#include "cli/help.hpp"
#include "cli/terminal/secret.hpp"
#include "cli/verbs.hpp"

namespace strata::cli {

namespace {

/// Escapes text for troff: it contains no request, no escape, and no hyphen that a shell would not
/// accept.
std::string plain(std::string_view text) {
  std::string made;
  if (text.starts_with('.') || text.starts_with('\'')) made = "\\&";
  for (const char letter : text) {
    if (letter == '\\') {
      made += "\\e";
    } else if (letter == '-') {
      made += "\\-";
    } else {
      made += letter;
    }
  }
  return made;
}

std::string manual_entry(std::string_view left, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", plain(left), plain(text));
}

std::string flag_entries(std::span<const options::option_row> rows, bool with_restart) {
  std::string page;
  for (const auto& row : rows)
    page += manual_entry(flag_text(row), flag_meaning(row, with_restart));
  return page;
}

std::string verb_section(const verb_row& verb) {
  auto page = fmt::format(".SS {}\n{}.\n", plain(usage_line(verb)), plain(verb.summary));
  if (!verb.aliases.empty()) page += fmt::format("({})\n", plain(aliases_of(verb)));
  if (verb.find_type != nullptr) page += "Also takes the flags of the runtime's type: see TYPES.\n";
  return page + flag_entries(verb.flags, false);
}

constexpr std::string_view ending =
    ".SH FILES\n"
    ".TP\n.B /var/lib/strata, /run/strata, /etc/strata\n"
    "State, sockets and settings of root's daemon. Another user's are in XDG_STATE_HOME, "
    "XDG_RUNTIME_DIR and XDG_CONFIG_HOME.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B STRATA_STATE_DIR, STRATA_SOCKET, STRATA_CONFIG_DIR, STRATA_LUA_DIR\n"
    "Override those folders, and the folder in which scripts find their modules.\n"
    ".TP\n.B STRATA_TOKEN, STRATA_CA, STRATA_CLIENT_CERT, STRATA_CLIENT_KEY\n"
    "The token, the certificate authority, and the client certificate and key for a remote "
    "daemon.\n"
    ".TP\n.B STRATA_CACHE_PASSWORD\nThe password of a cache, for tell and start \\-i.\n"
    ".TP\n.B STRATA_KEY_PASSPHRASE, STRATA_SUDO_PASSWORD\n"
    "The passphrase of a private key, and the password for sudo: without them, the terminal asks.\n"
    ".TP\n.B STRATA_TIMEOUT\nThe default of \\-\\-timeout.\n"
    ".TP\n.B STRATA_YNL_PATH\n"
    "Folders with specifications of netlink families; replaces the default folders.\n"
    ".TP\n.B STRATA_BROKER_SOCKET\n"
    "The socket at which the daemon hands out raw sockets to unprivileged programs.\n"
    ".SH SEE ALSO\nThe documentation, in share/doc/strata under the installation prefix.\n";

}  // namespace

std::string manual_page() {
  auto page = fmt::format(
      ".TH STRATA 1 \"\" \"strata {0}\"\n.ad l\n.nh\n.SH NAME\nstrata \\- Linux network endpoints "
      "under one "
      "daemon\n.SH SYNOPSIS\n.B strata\n.I VERB\n[flags]\n.SH DESCRIPTION\nstrata runs servers, "
      "clients, proxies and caches under one daemon, and has programs for raw Ethernet, AF_XDP and "
      "netlink that do not need the daemon.\n",
      STRATA_VERSION);
  for (const auto& [group, title] : verb_groups()) {
    page += fmt::format(".SH VERBS: {}\n", plain(title));
    for (const auto& verb : verbs()) {
      if (verb.group == group) page += verb_section(verb);
    }
  }
  page += ".SH FLAGS OF ALL VERBS\n" + flag_entries(common_flags(), false);
  page += ".SH TYPES\n";
  for (const auto& type : runtime::types()) {
    page += fmt::format(".SS {}\n{}.\n", plain(type.name), plain(type.summary));
    page += flag_entries(runtime::flags_of(type), true);
  }
  page += fmt::format(".SH SECRETS\n{}\n.SH EXIT STATUS\n", plain(secret_forms));
  for (const auto& [code, meaning] : exit_codes())
    page += manual_entry(fmt::format("{:d}", code), meaning);
  return page.append(ending);
}

}  // namespace strata::cli
