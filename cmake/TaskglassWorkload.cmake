# Workloads as modules, in this tree and in a user's own project:
#
#   find_package(Taskglass REQUIRED)
#   taskglass_add_workload(scale  DEVICE kernels.c orchestrate.c  HOST cases.c)
#
# makes scale.so for `taskglass run ./scale.so`. It needs the headers only: a module uses no
# symbol of the library.
#
#   DEVICE   sources that run on the device (kernels, orchestration): C11 that is C++17 as well.
#            With TASKGLASS_CUDA_CHECK they are also compiled by nvcc (target cuda_check).
#   HOST     sources that only the host runs (cases).
#
# The module's target is NAME: properties, options and libraries can be added to it as to any
# other. Its place is CMAKE_LIBRARY_OUTPUT_DIRECTORY, or the project's build folder.

function(taskglass_add_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEVICE;HOST")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "taskglass_add_workload(${name}): \"${arg_UNPARSED_ARGUMENTS}\" is "
      "neither DEVICE nor HOST")
  endif()
  if(NOT arg_DEVICE AND NOT arg_HOST)
    message(FATAL_ERROR "taskglass_add_workload(${name}): no sources")
  endif()

  add_library(${name} MODULE ${arg_DEVICE} ${arg_HOST})
  target_link_libraries(${name} PRIVATE Taskglass::headers m)
  # Source lines in error messages are told from the project's root.
  target_compile_options(${name} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  taskglass_refuse_undefined(${name})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX .so
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY TASKGLASS_WORKLOADS ${name})

  if(TASKGLASS_CUDA_CHECK AND arg_DEVICE)
    taskglass_cuda_check(${arg_DEVICE}
      INCLUDES $<TARGET_PROPERTY:Taskglass::headers,INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
endfunction()

# taskglass_refuse_undefined(TARGET): a symbol nobody has is found when the module is linked, not
# when it is loaded. Not with clang's sanitizers, whose symbols come with the program.
function(taskglass_refuse_undefined target)
  if(NOT (CMAKE_C_COMPILER_ID MATCHES "Clang"
      AND (TASKGLASS_SANITIZE OR CMAKE_C_FLAGS MATCHES "-fsanitize")))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# taskglass_cuda_check(SOURCE... INCLUDES DIR...): compiles device sources with nvcc, to see that
# they would; nothing uses the objects. Everything is built by the target cuda_check.
function(taskglass_cuda_check)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "INCLUDES")
  find_program(TASKGLASS_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
    DOC "NVIDIA's compiler, for the target cuda_check")
  mark_as_advanced(TASKGLASS_NVCC)

  if(NOT TARGET cuda_check)
    add_custom_target(cuda_check)
    if(NOT TASKGLASS_NVCC)
      message(STATUS "cuda_check: no nvcc, skipped")
    endif()
  endif()
  if(NOT TASKGLASS_NVCC)
    return()
  endif()

  foreach(source ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
    string(REPLACE ".." "__" name ${name})
    string(MAKE_C_IDENTIFIER cuda_check_${name} target)
    if(TARGET ${target}) # one source of several modules
      continue()
    endif()
    set(object ${CMAKE_BINARY_DIR}/cuda_check/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object}
      COMMAND ${TASKGLASS_NVCC} -x cu -rdc=true -arch=sm_90 -std=c++17 -Werror all-warnings
        "-I$<JOIN:${arg_INCLUDES},;-I>" -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d
      COMMENT "Checking ${name} with nvcc"
      COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${target} DEPENDS ${object})
    add_dependencies(cuda_check ${target})
  endforeach()
endfunction()
