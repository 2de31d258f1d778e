// Converts words of a specification to C++: identifiers, comments and literals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::ynl {

/// Lines of C++, not yet formatted.
using code = std::vector<std::string>;

void append(code& destination, const code& more);

/// The places that have names of their own, which a specification's names must not hide.
enum class cpp_place : std::uint8_t { anywhere, space, view, writer, client };

/// Returns the word in lower case, with underscores; one more follows a keyword, and a taken name.
[[nodiscard]] std::string cpp_name(std::string_view word, cpp_place place = cpp_place::anywhere);

/// Returns the lines of a documentation comment; none for an empty text.
[[nodiscard]] code cpp_comment(std::string_view text);

/// Returns "text", with all necessary escapes.
[[nodiscard]] std::string cpp_literal(std::string_view text);

}  // namespace strata::ynl
