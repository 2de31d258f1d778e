#include "daemon/store/record_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "options/file_text.hpp"
#include "options/own_folder.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t largest_file = 1U << 20U;
constexpr std::string_view suffix = ".json";
const auto* const other_folder = "choose another folder with --state-dir";

/// Opening by name follows no link, does not block, and gets no controlling terminal.
constexpr int safely = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

std::string read_pid(int fd) {
  char text[32] = "";
  const auto size = ::pread(fd, text, sizeof text - 1, 0);
  const std::string whole(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return whole.empty() ? "unknown" : whole.substr(0, whole.find('\n'));
}

/// A regular file, created by root or by the daemon's user: no other user decides its content.
result<void> check_file(int fd, const std::string& operation) {
  struct stat found{};
  if (::fstat(fd, &found) != 0) return system_failure(errno, operation);
  if (!S_ISREG(found.st_mode)) return failure(errc::malformed, operation, "it is not a file");
  if (found.st_uid != ::geteuid() && found.st_uid != 0) {
    return failure(errc::permission_denied, operation,
                   "it belongs to " + options::user_text(found.st_uid) + ", not to " +
                       options::user_text(::geteuid()));
  }
  return {};
}

// A full disk must not keep the daemon from starting: the lock holds without its text.
void write_pid(int lock) {
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) == 0) {
    [[maybe_unused]] const auto written = ::pwrite(lock, pid.data(), pid.size(), 0);
  }
}

// Whether the kernel is taking the process apart: until that is done, it keeps its files.
bool is_ending(const std::string& pid) {
  constexpr unsigned exiting = 0x4;  // PF_EXITING; see proc(5)
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream words(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string state;
  std::array<long long, 5> others{};
  unsigned flags = 0;
  words >> state;
  for (auto& each : others) words >> each;
  words >> flags;
  return !words || state == "Z" || state == "X" || (flags & exiting) != 0;
}

// Reports whether the lock could be taken. A daemon that was killed may be about to end.
bool lock_soon(int lock) {
  const auto begun = std::chrono::steady_clock::now();
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const auto waited = std::chrono::steady_clock::now() - begun;
    if (waited > 10s || (waited > 500ms && !is_ending(read_pid(lock)))) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

result<unique_fd> take_lock(int folder, const std::string& path) {
  const std::string lock_path = path + "/lock";
  unique_fd lock(::openat(folder, "lock", O_RDWR | O_CREAT | safely, 0600));
  if (!lock) return system_failure(errno, "open '" + lock_path + "'", other_folder);
  if (auto good = check_file(lock.get(), "use '" + lock_path + "'"); !good) {
    return std::unexpected(good.error());
  }
  if (!lock_soon(lock.get())) {
    return failure(errc::conflict, "use the state folder '" + path + "'",
                   "the daemon with process id " + read_pid(lock.get()) + " uses it",
                   std::string("stop that daemon or ") + other_folder);
  }
  write_pid(lock.get());
  return lock;
}

result<std::vector<std::string>> names_in(int folder, const std::string& path) {
  const std::string operation = "list the folder '" + path + "'";
  // A descriptor of its own: reading moves a position that duplicates would share.
  unique_fd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return system_failure(errno, operation);
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> list(::fdopendir(own.get()), close);
  if (!list) return system_failure(errno, operation);
  (void)own.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const auto* const each = ::readdir(list.get());
    if (each == nullptr && errno != 0) return system_failure(errno, operation);
    if (each == nullptr) return names;
    const std::string name = each->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
}

// Leftover files do no harm: a record's temporary file is truncated before it is written.
void remove_all_in(int folder, const std::string& path) {
  const auto names = names_in(folder, path);
  if (!names) return;
  for (const auto& name : *names) {
    if (::unlinkat(folder, name.c_str(), 0) != 0) ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

/// Reads at most one byte more than the largest file may have.
result<std::string> read_all(int fd, const std::string& operation) {
  return options::read_text(fd, largest_file + 1, operation);
}

result<void> write_synced(int folder, const std::string& name, const std::string& path,
                          const std::string& text) {
  const auto* const remedy = "free some space in the state folder";
  const unique_fd file(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | safely, 0600));
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

constexpr int version = 1;  // version of the file format
constexpr std::string_view running_key = "\n  \"running\": ";

/// Both values have the same length, so that one can be written over the other.
std::string as_text(const record& record) {
  nlohmann::json json = {
      {"version", version},        {"name", record.name},
      {"type", record.type},       {"created_at", record.created_at},
      {"running", record.running}, {"options", nlohmann::json::parse(record.options)}};
  if (!record.origin.empty()) json["origin"] = record.origin;
  if (record.revision != 0) json["revision"] = record.revision;
  auto text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (record.running) text.insert(text.find(running_key) + running_key.size(), " ");
  return text;
}

// A number that is not from strata, and that a client of the API could not read, counts as none.
std::uint64_t revision_of(const nlohmann::json& json) {
  constexpr std::uint64_t largest = 1ULL << 53U;
  const auto found = json.find("revision");
  if (found == json.end() || !found->is_number_unsigned()) return 0;
  const auto revision = found->get<std::uint64_t>();
  return revision <= largest ? revision : 0;
}

/// For a full disk: overwrites the present file, if only `running` has changed, and if those few
/// bytes lie in one sector, which is written as a whole or not at all.
bool write_over(int folder, const std::string& file, const std::string& text) {
  constexpr std::size_t sector = 512;
  constexpr std::size_t length = 5;  // of "false"
  const auto at = text.find(running_key) + running_key.size();
  if (at / sector != (at + length - 1) / sector) return false;
  const unique_fd there(::openat(folder, file.c_str(), O_RDWR | safely));
  if (!there || !check_file(there.get(), {})) return false;
  const auto before = read_all(there.get(), {});
  if (!before || before->size() != text.size()) return false;
  auto next = *before;
  next.replace(at, length, text, at, length);
  return next == text &&
         ::pwrite(there.get(), text.data() + at, length, static_cast<off_t>(at)) == length &&
         ::fsync(there.get()) == 0;
}

}  // namespace

result<record_files> record_files::open(const std::string& folder, unique_fd lock) {
  if (folder.empty()) {
    return failure(errc::invalid_argument, "store the state",
                   "this user has no home folder, and no variable sets a folder",
                   "set a folder with --state-dir or STRATA_STATE_DIR");
  }
  const auto opened = options::open_own_folder(folder, other_folder);
  if (!opened) return std::unexpected(opened.error());
  // Only the daemon's user may read passwords.
  ::fchmod(opened->get(), 0700);
  if (lock) {
    write_pid(lock.get());
  } else {
    auto taken = take_lock(opened->get(), folder);
    if (!taken) return std::unexpected(taken.error());
    lock = std::move(*taken);
  }
  parts within;
  for (auto [name, part] : {std::pair{"runtimes", &within.runtimes},
                            {"tmp", &within.temporary},
                            {"damaged", &within.damaged}}) {
    auto made = options::open_own_folder_in(opened->get(), name, folder + "/" + name);
    if (!made) return std::unexpected(made.error());
    *part = std::move(*made);
  }
  remove_all_in(within.temporary.get(), folder + "/tmp");
  return record_files(folder, std::move(lock), std::move(within));
}

unique_fd record_files::copy_of_lock() const {
  return unique_fd(::fcntl(lock_.get(), F_DUPFD_CLOEXEC, 0));
}

result<record> record_files::read(const std::string& file) const {
  const auto name = file.substr(0, file.size() - suffix.size());
  const std::string operation = "read '" + path_of(file) + "'";
  const unique_fd opened(::openat(within_.runtimes.get(), file.c_str(), O_RDONLY | safely));
  if (!opened && errno == ELOOP) return failure(errc::malformed, operation, "it is a link");
  if (!opened && errno == ENXIO) return failure(errc::malformed, operation, "it is not a file");
  if (!opened) return system_failure(errno, operation);
  if (auto good = check_file(opened.get(), operation); !good) return std::unexpected(good.error());
  const auto text = read_all(opened.get(), operation);
  if (!text) return std::unexpected(text.error());
  if (text->size() > largest_file) return failure(errc::malformed, operation, "it is too large");
  const auto parsed = text::parse_json(*text, operation);
  if (!parsed) return std::unexpected(parsed.error());
  const auto& json = *parsed;
  const auto is = [&](const char* key, auto check) {
    return json.contains(key) && (json[key].*check)();
  };
  using value = nlohmann::json;
  // Another version's record may lack anything that this version's has.
  if (is("version", &value::is_number) && json["version"] != version && is_valid_name(name)) {
    return record{.name = name,
                  .unusable = fmt::format("its file has version {}, but this strata supports "
                                          "version {}",
                                          json["version"].dump(), version)};
  }
  const bool good = json.is_object() && is("name", &value::is_string) &&
                    is("type", &value::is_string) && is("created_at", &value::is_string) &&
                    is("running", &value::is_boolean) && is("options", &value::is_object);
  if (!good) return failure(errc::malformed, operation, "it is not a complete state file");
  if (json["name"] != name || !is_valid_name(name)) {
    return failure(errc::malformed, operation, "its name and its file's name differ");
  }
  return record{
      .name = name,
      .type = json["type"],
      .created_at = json["created_at"],
      .running = json["running"],
      .options = json["options"].dump(),
      .origin = is("origin", &value::is_string) ? json["origin"].get<std::string>() : std::string(),
      .revision = revision_of(json)};
}

result<std::optional<record>> record_files::find(const std::string& name) const {
  auto found = read(name + std::string(suffix));
  if (found) return std::optional(std::move(*found));
  if (found.error().sys_errno == ENOENT) return std::nullopt;
  return std::unexpected(found.error());
}

result<std::vector<record>> record_files::load(
    const std::function<void(std::string)>& on_damaged) const {
  const auto files = names_in(within_.runtimes.get(), folder_ + "/runtimes");
  if (!files) return std::unexpected(files.error());
  std::vector<record> loaded;
  for (const auto& file : *files) {
    if (!file.ends_with(suffix) || file.size() == suffix.size()) continue;
    auto one = read(file);
    if (one) {
      loaded.push_back(std::move(*one));
      continue;
    }
    // A system error says nothing about the file: the next daemon may be able to read it.
    if (one.error().sys_errno != 0) return std::unexpected(one.error());
    const auto aside =
        fmt::format("{}.{}", file, std::chrono::system_clock::now().time_since_epoch().count());
    ::renameat(within_.runtimes.get(), file.c_str(), within_.damaged.get(), aside.c_str());
    on_damaged(
        fmt::format("{}; it was moved to '{}/damaged/{}'", describe(one.error()), folder_, aside));
  }
  std::ranges::sort(loaded, {}, &record::name);
  return loaded;
}

result<std::uint64_t> record_files::save(const record& record) const {
  const auto file = record.name + std::string(suffix);
  const int temporary = within_.temporary.get();
  const auto written = write_synced(temporary, file, folder_ + "/tmp/" + file, as_text(record));
  if (!written) {
    ::unlinkat(temporary, file.c_str(), 0);
    const auto present = written.error().code == errc::no_space ? find(record.name) : std::nullopt;
    if (!present || !*present) return std::unexpected(written.error());
    auto next = record;
    next.revision = (*present)->revision;
    if (write_over(within_.runtimes.get(), file, as_text(next))) return next.revision;
    return std::unexpected(written.error());
  }
  if (auto placed = put_in_place(file); !placed) return std::unexpected(placed.error());
  return record.revision;
}

// Exchanges the old record with the new one. So the old one still exists if the folder cannot be
// synced: a refused change must not take effect with the next daemon.
result<void> record_files::put_in_place(const std::string& file) const {
  const int temporary = within_.temporary.get();
  const int runtimes = within_.runtimes.get();
  const auto exchange = [&](unsigned how) {
    return ::renameat2(temporary, file.c_str(), runtimes, file.c_str(), how) == 0;
  };
  const bool exchanged = exchange(RENAME_EXCHANGE);
  const bool is_new = !exchanged && errno == ENOENT;
  const bool cannot_exchange = !exchanged && errno == EINVAL;  // on NFS, for example
  if (!exchanged && (!(is_new || cannot_exchange) || !exchange(0))) {
    const int failed = errno;
    ::unlinkat(temporary, file.c_str(), 0);
    return system_failure(failed, "put '" + path_of(file) + "' in place");
  }
  auto synced = sync_runtimes();
  if (!synced) {
    if (exchanged) (void)exchange(RENAME_EXCHANGE);
    if (is_new) ::unlinkat(runtimes, file.c_str(), 0);
    (void)sync_runtimes();
  }
  if (exchanged) ::unlinkat(temporary, file.c_str(), 0);
  return synced;
}

result<void> record_files::sync_runtimes() const {
  if (::fsync(within_.runtimes.get()) == 0) return {};
  return system_failure(errno, "sync '" + folder_ + "/runtimes'");
}

// Moves the record to the folder of temporary files first, from where it can be restored.
result<void> record_files::remove(const std::string& name) const {
  const auto file = name + std::string(suffix);
  const int temporary = within_.temporary.get();
  const int runtimes = within_.runtimes.get();
  const bool moved = ::renameat(runtimes, file.c_str(), temporary, file.c_str()) == 0;
  // A full disk may have no room for the other name.
  const bool is_full = !moved && (errno == ENOSPC || errno == EDQUOT);
  const bool gone = moved || (is_full && ::unlinkat(runtimes, file.c_str(), 0) == 0);
  if (!gone && errno != ENOENT) return system_failure(errno, "remove '" + path_of(file) + "'");
  auto synced = sync_runtimes();
  if (!moved) return synced;
  if (!synced) {
    ::renameat(temporary, file.c_str(), runtimes, file.c_str());
    (void)sync_runtimes();
  } else {
    ::unlinkat(temporary, file.c_str(), 0);
  }
  return synced;
}

}  // namespace strata::daemon
