# A room is a folder with one concern: a library spillway_<name> (alias spillway::<name>).
#
#   spillway_room(<name> [LEANS_ON <rooms>...] [LINKS <libraries>...] [WITHOUT <files>...]
#                 [TOGETHER <files at once>])
#
# Sources are all .cpp files below the folder, less WITHOUT; a room without any is header-only.
# Includes are written from the folder's parent: "market/book.h", "sim/world.h".
# LEANS_ON is what the linker sees; tools/check_layers holds it and every #include against
# tools/layers.txt.

# What nearly every file includes, precompiled once.
set(SPILLWAY_PCH_HEADERS
    <fmt/format.h> <tl/expected.hpp>
    <algorithm> <array> <chrono> <compare> <cstdint> <deque> <functional> <limits> <map> <memory>
    <optional> <set> <span> <string> <string_view> <tuple> <type_traits> <unordered_map>
    <unordered_set> <utility> <variant> <vector>)

# Lends <target> the shared precompiled headers. The first target that asks carries them.
function(spillway_precompile target)
  if(NOT SPILLWAY_PCH)
    return()
  endif()
  get_property(carrier GLOBAL PROPERTY SPILLWAY_PCH_CARRIER)
  if(carrier)
    target_precompile_headers(${target} REUSE_FROM ${carrier})
  else()
    target_precompile_headers(${target} PRIVATE ${SPILLWAY_PCH_HEADERS})
    set_property(GLOBAL PROPERTY SPILLWAY_PCH_CARRIER ${target})
  endif()
endfunction()

# Compiles so many files of <target> as one. Most of a small file's time goes into templates that its
# neighbours need too. Names in their anonymous namespaces must differ; and no more files at once
# than keep a change of one of them below ten seconds.
function(spillway_together target files)
  if(SPILLWAY_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

function(spillway_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TOGETHER" "LEANS_ON;LINKS;WITHOUT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "spillway_room(${name}): what is ${arg_UNPARSED_ARGUMENTS}?")
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(TRANSFORM arg_WITHOUT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${arg_WITHOUT})

  set(target spillway_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    spillway_precompile(${target})
    if(arg_TOGETHER)
      spillway_together(${target} ${arg_TOGETHER})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(spillway::${name} ALIAS ${target})

  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH parent)
  target_include_directories(${target} ${scope} ${parent})
  list(TRANSFORM arg_LEANS_ON PREPEND spillway::)
  target_link_libraries(${target} ${scope} ${arg_LEANS_ON} ${arg_LINKS})

  set_property(GLOBAL APPEND PROPERTY SPILLWAY_ROOMS spillway::${name})
endfunction()

# Adds each of the given folders that has a CMakeLists.txt.
function(spillway_add_rooms)
  foreach(room IN LISTS ARGN)
    file(GLOB script CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
    if(script)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# A program at the top of the build folder.
function(spillway_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()
