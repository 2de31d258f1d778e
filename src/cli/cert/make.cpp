// strata cert make NAME...
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "cli/cert/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "net/tls/authority.hpp"
#include "options/locations.hpp"
#include "options/own_folder.hpp"

namespace strata::cli {

namespace {

// The authority's key signs for everyone who trusts it: no other user may write to its folder.
result<net::certificate_files> local_authority() {
  const auto config = options::paths_for(options::current_path_environment()).config_dir;
  if (config.empty()) {
    return failure(errc::not_found, "find the folder of the local authority",
                   "there is no home folder", "set STRATA_CONFIG_DIR");
  }
  auto outer = options::open_own_folder(config, "name another with STRATA_CONFIG_DIR");
  if (!outer) return std::unexpected(outer.error());
  const auto folder = config + "/authority";
  auto opened = options::open_own_folder_in(outer->get(), "authority", folder);
  if (!opened) return std::unexpected(opened.error());
  return net::open_authority(folder);
}

}  // namespace

outcome<int> run_cert_make(const invocation& call) {
  const auto authority = local_authority();
  if (!authority) return refuse(exit_failed, authority.error());
  const auto days = call.flags.value("days", std::uint64_t{397});
  const auto made = net::issue_certificate(*authority, {call.words, std::chrono::hours(24 * days)},
                                           call.text("output", "."));
  if (!made) return refuse(exit_failed, made.error());
  if (call.as_json) {
    print_json({{"certificate", made->certificate},
                {"key", made->key},
                {"authority", authority->certificate}});
    return exit_done;
  }
  if (call.quiet) {
    print(made->certificate + "\n" + made->key + "\n");
    return exit_done;
  }
  print(
      fmt::format("certificate  {}\nkey          {}\nauthority    {}\n\nClients must trust the "
                  "authority. A strata client does with\n  --ca {}\nand all programs of a Debian "
                  "machine do after\n  sudo cp {} /usr/local/share/ca-certificates/strata.crt\n  "
                  "sudo update-ca-certificates\n",
                  made->certificate, made->key, authority->certificate, authority->certificate,
                  authority->certificate));
  return exit_done;
}

}  // namespace strata::cli
