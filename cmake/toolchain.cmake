# Language, warnings, sanitizers, and what makes builds fast.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# No NDEBUG in any of them: invariants are checked in what ships.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports "literal" + std::string at -O2 (GCC bug 105651). clang still checks the rest.
  add_compile_options(-Wno-restrict)
endif()

# Paths in messages and in debug info start at the repository, so that a binary does not tell where
# it was built and equal sources give equal objects.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)

if(SPILLWAY_SANITIZE)
  add_compile_options(-fsanitize=${SPILLWAY_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPILLWAY_SANITIZE})
endif()

find_program(SPILLWAY_MOLD mold)
if(SPILLWAY_MOLD)
  # Code that seldom runs lies apart, where other linkers put it anyway: fewer pages of a process are
  # resident, 0.6 MiB of an agent's 30.
  add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()

find_program(SPILLWAY_CCACHE ccache)
if(SPILLWAY_CCACHE)
  # The sloppiness is what ccache asks for before it accepts precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime
      ${SPILLWAY_CCACHE})
  if(SPILLWAY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  elseif(SPILLWAY_PCH)
    add_compile_options(-fpch-preprocess)
  endif()
endif()
