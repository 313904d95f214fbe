# What a preset may choose. The presets in CMakePresets.json are the supported combinations.

option(SPILLWAY_MUTANTS "Compile the planted bugs in (chosen at run time), to test the tests" OFF)
option(SPILLWAY_FUZZ "Build the libFuzzer targets instead of the tests" OFF)
option(SPILLWAY_PCH "Precompile the headers that nearly every file includes" ON)
option(SPILLWAY_TOGETHER "Compile several files of a room as one: what they include is read once" ON)
set(SPILLWAY_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(SPILLWAY_MUTANTS)
  add_compile_definitions(SPILLWAY_MUTANTS=1)
endif()
