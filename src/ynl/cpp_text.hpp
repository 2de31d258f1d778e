// Words of a specification as C++ has them: identifiers, comments and literals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::ynl {

/// Lines of C++, not yet formatted.
using code = std::vector<std::string>;

void append(code& destination, const code& more);

/// What has names of its own, which a specification's are not to hide.
enum class cpp_place : std::uint8_t { anywhere, space, view, writer, client };

/// In small letters, with underscores; one more follows a keyword, and a name that is taken.
[[nodiscard]] std::string cpp_name(std::string_view word, cpp_place place = cpp_place::anywhere);

/// Lines of a documenting comment; none when there is nothing to say.
[[nodiscard]] code cpp_comment(std::string_view text);

/// "text", with all that has to be escaped.
[[nodiscard]] std::string cpp_literal(std::string_view text);

}  // namespace strata::ynl
