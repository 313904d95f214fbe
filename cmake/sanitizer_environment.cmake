# Environment for tests, so that sanitizer reports have names and lines.

set(SPILLWAY_SANITIZER_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
find_program(SPILLWAY_SYMBOLIZER NAMES llvm-symbolizer-16 llvm-symbolizer)
if(SPILLWAY_SYMBOLIZER)
  foreach(tool IN ITEMS ASAN TSAN UBSAN)
    list(APPEND SPILLWAY_SANITIZER_ENVIRONMENT "${tool}_SYMBOLIZER_PATH=${SPILLWAY_SYMBOLIZER}")
  endforeach()
endif()
