#include "daemon/state_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace strata::daemon {

namespace {

constexpr std::size_t largest_file = 1U << 20U;

result<void> make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) return system_failure(failed.value(), "make the folder '" + path + "'");
  return {};
}

std::string read_pid(int fd) {
  char text[32] = "";
  const auto size = ::pread(fd, text, sizeof text - 1, 0);
  const std::string whole(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return whole.empty() ? "unknown" : whole.substr(0, whole.find('\n'));
}

result<void> sync_folder(const std::string& path) {
  const unique_fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) {
    return system_failure(errno, "sync the folder '" + path + "'");
  }
  return {};
}

result<void> write_synced(const std::string& path, const std::string& text) {
  const auto* const remedy = "free some space in the state folder";
  const unique_fd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_failure(errno, "write '" + path + "'", remedy);
  std::size_t done = 0;
  while (done < text.size()) {
    const auto written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return system_failure(written == 0 ? ENOSPC : errno, "write '" + path + "'", remedy);
    }
    done += static_cast<std::size_t>(written);
  }
  if (::fsync(file.get()) != 0) return system_failure(errno, "sync '" + path + "'", remedy);
  return {};
}

}  // namespace

bool is_valid_name(std::string_view name) {
  const auto is_good = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' || letter == '-';
  };
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_good);
}

result<state_store> state_store::open(const std::string& folder) {
  if (auto made = make_folder(folder); !made) return std::unexpected(made.error());
  const std::string lock_path = folder + "/lock";
  unique_fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) {
    return system_failure(errno, "open '" + lock_path + "'",
                          "choose another folder with --state-dir");
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return failure(errc::conflict, "use the state folder '" + folder + "'",
                   "the daemon with process id " + read_pid(lock.get()) + " uses it",
                   "stop that one or choose another folder with --state-dir");
  }
  // Nobody but the daemon's user reads passwords.
  ::chmod(folder.c_str(), 0700);
  const auto pid = std::to_string(::getpid()) + "\n";
  // A full disk must not keep the daemon from starting: the lock holds without its text.
  if (::ftruncate(lock.get(), 0) == 0) {
    [[maybe_unused]] const auto written = ::pwrite(lock.get(), pid.data(), pid.size(), 0);
  }
  for (const auto* part : {"/runtimes", "/tmp", "/damaged"}) {
    if (auto made = make_folder(folder + part); !made) return std::unexpected(made.error());
  }
  std::error_code ignored;
  for (const auto& left : std::filesystem::directory_iterator(folder + "/tmp", ignored)) {
    std::filesystem::remove(left.path(), ignored);
  }
  return state_store(folder, std::move(lock));
}

std::string state_store::path_of(const std::string& name) const {
  return folder_ + "/runtimes/" + name + ".json";
}

result<saved_runtime> state_store::read(const std::string& path, const std::string& name) const {
  const std::string operation = "read '" + path + "'";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return failure(errc::malformed, operation, "it is not a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return system_failure(errno, operation);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.size() > largest_file) return failure(errc::malformed, operation, "it is too large");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto is = [&](const char* key, auto check) {
    return json.contains(key) && (json[key].*check)();
  };
  using value = nlohmann::json;
  const bool good = json.is_object() && is("name", &value::is_string) &&
                    is("type", &value::is_string) && is("created_at", &value::is_string) &&
                    is("running", &value::is_boolean) && is("options", &value::is_object);
  if (!good) return failure(errc::malformed, operation, "it is not a whole state file");
  if (json["name"] != name || !is_valid_name(name)) {
    return failure(errc::malformed, operation, "its name and its file's name differ");
  }
  return saved_runtime{.name = name,
                       .type = json["type"],
                       .created_at = json["created_at"],
                       .running = json["running"],
                       .options = json["options"].dump()};
}

std::vector<saved_runtime> state_store::load(
    const std::function<void(std::string)>& on_damaged) const {
  std::vector<saved_runtime> loaded;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(folder_ + "/runtimes", ignored)) {
    if (each.path().extension() != ".json") continue;
    auto one = read(each.path(), each.path().stem());
    if (one) {
      loaded.push_back(std::move(*one));
      continue;
    }
    const auto aside = fmt::format("{}/damaged/{}.{}", folder_, each.path().filename().string(),
                                   std::chrono::system_clock::now().time_since_epoch().count());
    std::filesystem::rename(each.path(), aside, ignored);
    on_damaged(describe(one.error()) + "; it was set aside as '" + aside + "'");
  }
  std::ranges::sort(loaded, {}, &saved_runtime::name);
  return loaded;
}

result<void> state_store::save(const saved_runtime& what) const {
  const nlohmann::json json = {{"version", 1},
                               {"name", what.name},
                               {"type", what.type},
                               {"created_at", what.created_at},
                               {"running", what.running},
                               {"options", nlohmann::json::parse(what.options)}};
  const std::string temporary = folder_ + "/tmp/" + what.name + ".json";
  const auto text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (auto written = write_synced(temporary, text); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path_of(what.name).c_str()) != 0) {
    return system_failure(errno, "put '" + path_of(what.name) + "' in place");
  }
  return sync_folder(folder_ + "/runtimes");
}

result<void> state_store::remove(const std::string& name) const {
  if (::unlink(path_of(name).c_str()) != 0 && errno != ENOENT) {
    return system_failure(errno, "remove '" + path_of(name) + "'");
  }
  return sync_folder(folder_ + "/runtimes");
}

}  // namespace strata::daemon
