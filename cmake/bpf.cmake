# The XDP program: compiled for the kernel's machine, and put into the library as bytes. Sets
# `bpf_sources`.
find_program(STRATA_BPF_CLANG NAMES clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang
  DOC "Compiles for BPF" REQUIRED)

set(bpf_folder ${PROJECT_SOURCE_DIR}/lib/xdp/bpf)
set(bpf_object ${PROJECT_BINARY_DIR}/filter.bpf.o)
set(bpf_sources ${PROJECT_BINARY_DIR}/filter_object.cpp)
add_custom_command(OUTPUT ${bpf_object}
  COMMAND ${STRATA_BPF_CLANG} -target bpf -O2 -g -Wall -Wextra -Werror
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
    -I${PROJECT_SOURCE_DIR}/lib -I${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
    -c ${bpf_folder}/filter.bpf.c -o ${bpf_object}
  DEPENDS ${bpf_folder}/filter.bpf.c ${bpf_folder}/rules.h
  COMMENT "Compiling the XDP program")
add_custom_command(OUTPUT ${bpf_sources}
  COMMAND ${CMAKE_COMMAND} -DFROM=${bpf_object} -DTO=${bpf_sources}
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_filter.cmake
  DEPENDS ${bpf_object} ${PROJECT_SOURCE_DIR}/cmake/embed_filter.cmake)
