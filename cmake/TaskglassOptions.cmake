# How everything in this tree is compiled, and helper functions for that.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(TG_SYSTEM_LIBRARIES ${CMAKE_DL_LIBS} Threads::Threads m)

set(TG_WARNINGS -Wall -Wextra -Wpedantic)
if(TASKGLASS_WERROR)
  list(APPEND TG_WARNINGS -Werror)
endif()

if(TASKGLASS_SANITIZE)
  set(TG_SANITIZE_FLAGS -fsanitize=${TASKGLASS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_compile_options(${TG_SANITIZE_FLAGS})
  add_link_options(${TG_SANITIZE_FLAGS})
endif()

# For all code of this tree: warnings, the private headers, POSIX. A file that needs more of libc has
# #define _GNU_SOURCE in its first line.
add_library(tg_options INTERFACE)
target_compile_options(tg_options INTERFACE ${TG_WARNINGS}
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_definitions(tg_options INTERFACE _DEFAULT_SOURCE=1)
target_include_directories(tg_options INTERFACE ${PROJECT_SOURCE_DIR}/src)

# tg_object_library(NAME SOURCE...)
function(tg_object_library name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE tg_options taskglass_headers Threads::Threads)
endfunction()

# tg_split_main(SOURCES MAIN): moves main.c from SOURCES to MAIN, so that tests can link the rest. If
# there is no main.c, everything moves.
function(tg_split_main sources main)
  set(others ${${sources}})
  list(FILTER others EXCLUDE REGEX "/main\\.c$")
  set(mains ${${sources}})
  list(FILTER mains INCLUDE REGEX "/main\\.c$")
  if(NOT mains)
    set(mains ${others})
    set(others "")
  endif()
  set(${sources} "${others}" PARENT_SCOPE)
  set(${main} "${mains}" PARENT_SCOPE)
endfunction()

# tg_add_workloads(OUTPUT_DIR NAMES FOLDER...): adds the workloads of the folders' CMakeLists.txt,
# compiles them with the warnings of this tree, and puts their modules into OUTPUT_DIR. The folders'
# CMakeLists.txt stay the same as in a user's project.
function(tg_add_workloads output_dir names)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${output_dir})
  get_property(before GLOBAL PROPERTY TASKGLASS_WORKLOADS)
  foreach(folder ${ARGN})
    add_subdirectory(${folder})
  endforeach()
  get_property(added GLOBAL PROPERTY TASKGLASS_WORKLOADS)
  list(REMOVE_ITEM added ${before} "")
  foreach(name ${added})
    target_compile_options(${name} PRIVATE ${TG_WARNINGS})
  endforeach()
  set(${names} "${added}" PARENT_SCOPE)
endfunction()
