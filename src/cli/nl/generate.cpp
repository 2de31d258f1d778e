#include "cli/nl/generate.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "cli/terminal/output.hpp"
#include "process/program_output.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/readable.hpp"
#include "ynl/cpp_header.hpp"
#include "ynl/search.hpp"

namespace strata::cli {

namespace {

constexpr auto style =
    "--style={BasedOnStyle: Google, Standard: Latest, ColumnLimit: 100, PointerAlignment: Left, "
    "DerivePointerAlignment: false}";

/// Writes text to a file in memory, which another program can open by its path.
result<unique_fd> file_of(std::string_view text) {
  unique_fd file(::memfd_create("header", MFD_CLOEXEC));
  if (!file) return system_failure(errno, "make a file in memory");
  while (!text.empty()) {
    const auto size = ::write(file.get(), text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_failure(errno, "write to a file in memory");
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return file;
}

/// Returns the text unchanged if there is no clang-format.
result<std::string> formatted(std::string text) {
  const auto file = file_of(text);
  if (!file) return std::unexpected(file.error());
  const auto path = fmt::format("/proc/{}/fd/{}", ::getpid(), file->get());
  for (const auto* const program : {"clang-format-19", "clang-format"}) {
    auto done = process::output_of({program, style, path});
    if (done || done.error().code != errc::not_found) return done;
  }
  return text;
}

}  // namespace

outcome<int> run_nl_generate(const invocation& call) {
  const auto& file = call.words[0];
  const auto spec = ynl::read_spec_file(file);
  if (!spec) return refuse(exit_failed, spec.error());
  const auto name = text::printable(std::filesystem::path(file).filename().string());
  auto header = ynl::cpp_header(*spec, name);
  if (!header) return refuse(exit_failed, text::printable(describe(header.error())));
  const auto text = formatted(std::move(*header));
  if (!text) return refuse(exit_failed, text.error());
  print(*text);
  return exit_done;
}

}  // namespace strata::cli
