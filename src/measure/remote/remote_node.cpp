#include "measure/remote/remote_node.hpp"

#include <sys/utsname.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "measure/node/running_part.hpp"
#include "measure/remote/own_program.hpp"

namespace strata::measure {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool is_among(const std::string& word, const std::string& words) {
  std::istringstream in(words);
  for (std::string each; in >> each;) {
    if (each == word) return true;
  }
  return false;
}

std::string own_kind() {
  utsname name{};
  ::uname(&name);
  return std::string(name.sysname) + ' ' + name.machine;
}

}  // namespace

result<remote_node> remote_node::start(const remote_node_options& options) {
  options.report("connecting to " + options.shell.host);
  auto shell = remote_shell::connect(options.shell);
  if (!shell) return std::unexpected(shell.error());
  remote_node made(std::move(*shell));
  if (auto done = made.look(options); !done) return std::unexpected(done.error());
  if (auto done = made.copy(options); !done) return std::unexpected(done.error());
  if (auto done = made.become_root(options); !done) return std::unexpected(done.error());
  options.report("starting the node on " + made.shell_.name());
  if (auto done = made.run(options.interface); !done) return std::unexpected(done.error());
  return made;
}

// Queries the machine's kind, and whether this very program is installed there.
result<void> remote_node::look(const remote_node_options& options) {
  const auto reported = shell_.run(
      "uname -sm; id -u; echo $(ls /sys/class/net); "
      "s=$(command -v strata) && cksum < \"$s\" && echo \"$s\"");
  if (!reported) return std::unexpected(reported.error());
  const auto lines = lines_of(reported->output);
  if (lines.size() < 3) {
    return failure(errc::not_supported, "query " + shell_.name(), reported->complaint());
  }
  if (lines[0] != own_kind()) {
    return failure(errc::not_supported, "run this program on " + shell_.name(),
                   "the host is " + lines[0] + ", and this program is built for " + own_kind(),
                   "build strata there, start 'strata bench node " + options.interface +
                       "' and use 'bench paths --peer'");
  }
  is_root_ = lines[1] == "0";
  if (!is_among(options.interface, lines[2])) {
    return failure(errc::not_found,
                   "measure on interface '" + options.interface + "' of " + shell_.name(),
                   "no interface has this name", "choose from " + lines[2]);
  }
  const auto sum = own_checksum();
  if (!sum) return std::unexpected(sum.error());
  if (lines.size() >= 5 && lines[3] == *sum) program_ = lines[4];
  return {};
}

result<void> remote_node::copy(const remote_node_options& options) {
  if (!program_.empty()) return {};
  options.report("copying this program to " + shell_.name());
  const auto base = options.folder.empty() ? "\"${TMPDIR:-/tmp}\"" : shell_word(options.folder);
  auto holder = shell_.start("umask 077; folder=$(mktemp -d " + base +
                             "/strata.XXXXXXXX) || exit 1; trap 'rm -rf \"$folder\"' EXIT; "
                             "trap 'exit 1' HUP INT TERM; echo \"$folder\"; cat > /dev/null");
  if (!holder) return std::unexpected(holder.error());
  const auto line = (*holder)->read_line();
  if (!line) return std::unexpected(line.error());
  if (!*line) {
    const auto ended = (*holder)->finish();
    return failure(errc::permission_denied, "create a folder on " + shell_.name(),
                   ended ? ended->complaint() : "", "name a writable folder: --remote-dir DIR");
  }
  holder_ = std::move(*holder);
  folder_ = **line;
  program_ = folder_ + "/strata";
  if (auto done = shell_.put(own_program, program_); !done) return done;
  if (const auto plain = plain_program(); !plain.empty()) {
    const auto name = std::filesystem::path(plain).filename().string();
    if (auto done = shell_.put(plain, folder_ + '/' + name); !done) return done;
    has_plain_ = true;
  }
  const auto tried = shell_.run(shell_word(program_) + " --help > /dev/null");
  if (!tried) return std::unexpected(tried.error());
  return tried->exit_code == 0 ? result<void>{} : copy_libraries();
}

// A machine on which strata was not built lacks some libraries; a machine of the same kind can use
// ours.
result<void> remote_node::copy_libraries() {
  for (const auto& each : own_libraries()) {
    if (auto done = shell_.put(each.file, folder_ + '/' + each.name); !done) return done;
  }
  environment_ = "env LD_LIBRARY_PATH=" + shell_word(folder_) + ' ';
  const auto tried = shell_.run(environment_ + shell_word(program_) + " --help > /dev/null");
  if (!tried) return std::unexpected(tried.error());
  if (tried->exit_code == 0) return {};
  return failure(errc::not_supported, "run this program on " + shell_.name() + " in " + folder_,
                 tried->complaint(),
                 "name a folder where programs can run (--remote-dir DIR); or build strata there, "
                 "start 'strata bench node' and use 'bench paths --peer'");
}

result<void> remote_node::become_root(const remote_node_options& options) {
  if (is_root_) return {};
  const auto operation = "become root on " + shell_.name();
  const auto remedy =
      "log in as root (--host root@" + options.shell.host + "), or allow this user sudo there";
  const auto without = shell_.run("command -v sudo > /dev/null || exit 127; LC_ALL=C sudo -n true");
  if (!without) return std::unexpected(without.error());
  if (without->exit_code == 127) {
    return failure(errc::permission_denied, operation, "sudo is not installed", remedy);
  }
  prefix_ = "sudo -n -- ";
  if (without->exit_code == 0) return {};
  auto password = options.sudo_password();
  if (!password) {
    auto why = password.error();
    why.operation = operation;
    why.reason = without->complaint() + "; " + why.reason;
    return std::unexpected(std::move(why));
  }
  // Tries the password on a command that ends at once: otherwise sudo would wait for a second try.
  password_ = std::move(*password) + '\n';
  prefix_ = "sudo -k -S -p '' -- ";
  const auto with = shell_.run("LC_ALL=C " + prefix_ + "true", password_);
  if (!with) return std::unexpected(with.error());
  if (with->exit_code == 0) return {};
  return failure(errc::permission_denied, operation, "sudo failed: " + with->complaint(), remedy);
}

result<void> remote_node::run(const std::string& interface) {
  const auto operation = "start the node on " + shell_.name();
  auto node = shell_.start("exec " + prefix_ + environment_ + shell_word(program_) +
                           " bench node --stdio " + shell_word(interface));
  if (!node) return std::unexpected(node.error());
  if (auto given = (*node)->write(password_); !given) return given;
  password_.clear();
  const auto first = (*node)->read_line();
  if (!first) return std::unexpected(first.error());
  if (!*first) {
    const auto ended = (*node)->finish();
    return failure(errc::system, operation, ended ? ended->complaint() : "it ended immediately");
  }
  if (!(*first)->starts_with("{\"node\"")) {
    return failure(errc::malformed, operation, "it printed: " + **first);
  }
  line_.emplace(std::move(*node));
  return {};
}

}  // namespace strata::measure
