# Writes the bytes of FROM as a C++ array to TO.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "#include \"xdp/filter_object.hpp\"

namespace strata::xdp {

// libbpf wants it aligned.
alignas(8) const unsigned char filter_object[] = {
${bytes}
};
const std::size_t filter_object_size = sizeof filter_object;

}  // namespace strata::xdp
")
