# Builds workloads as modules, in this tree and in a user's own project:
#
#   find_package(Taskglass REQUIRED)
#   taskglass_add_workload(scale  DEVICE kernels.c orchestrate.c  HOST cases.c)
#
# makes scale.so for `taskglass run ./scale.so`. A module needs only the headers; it uses no symbol of the
# library.
#
#   DEVICE   sources that run on the device (kernels, orchestration): C11 that is C++17 as well.
#            If there is an nvcc, they also become scale.cubin, for --platform cuda
#            (TaskglassCuda.cmake).
#   HOST     sources that only the host runs (cases).
#
# The module's target is NAME; a project can add properties, options and libraries to it as to any
# other. nvcc gets the target's include directories and compile definitions too. The module
# goes to CMAKE_LIBRARY_OUTPUT_DIRECTORY, or to the project's build folder.

include(${CMAKE_CURRENT_LIST_DIR}/TaskglassCuda.cmake)

function(taskglass_add_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEVICE;HOST")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "taskglass_add_workload(${name}): \"${arg_UNPARSED_ARGUMENTS}\" "
      "must come after DEVICE or HOST")
  endif()
  if(NOT arg_DEVICE AND NOT arg_HOST)
    message(FATAL_ERROR "taskglass_add_workload(${name}): give sources after DEVICE or HOST")
  endif()

  add_library(${name} MODULE ${arg_DEVICE} ${arg_HOST})
  target_link_libraries(${name} PRIVATE Taskglass::headers m)
  # Debug information lets a report name the source line of a crash. It costs nothing but disk.
  target_compile_options(${name} PRIVATE -g)
  # __FILE__ in error messages is relative to the project's root.
  target_compile_options(${name} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
  taskglass_refuse_undefined(${name})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX .so
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY TASKGLASS_WORKLOADS ${name})

  if(arg_DEVICE)
    taskglass_cuda_image(${name} ${arg_DEVICE})
  endif()
endfunction()

# taskglass_refuse_undefined(TARGET): lets linking fail for an undefined symbol, which would otherwise
# show only when the module is loaded. Not with clang's sanitizers, whose symbols are in the program.
function(taskglass_refuse_undefined target)
  if(NOT (CMAKE_C_COMPILER_ID MATCHES "Clang"
      AND (TASKGLASS_SANITIZE OR CMAKE_C_FLAGS MATCHES "-fsanitize")))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
