#include "process/program_output.hpp"

#include "process/pipe.hpp"
#include "process/program.hpp"

namespace strata::process {

result<std::string> output_of(std::vector<std::string> words) {
  const auto operation = "run '" + words[0] + "'";
  auto pipe = make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  auto started = start({.words = std::move(words), .output = pipe->write.get()});
  if (!started) return std::unexpected(started.error());
  pipe->write.reset();
  auto text = read_all(pipe->read.get());
  const auto ended = started->wait();
  if (ended.is_success()) return text;
  return failure(errc::connection_closed, operation, "it ended with " + ended.text());
}

}  // namespace strata::process
