# Workloads on a GPU: beside NAME.so there is NAME.cubin, the device program linked with the
# workload's DEVICE sources by nvcc.
#
#   TASKGLASS_CUDA                 AUTO (where nvcc is found), ON (it must be) or OFF
#   TASKGLASS_CUDA_ARCHITECTURES   the GPU to build for, as 90; default: the one in this machine, or 90
#
# In this tree and, with an installed Taskglass, in a user's: the device program comes along as
# objects (lib/taskglass/cuda/*.o).

set(TASKGLASS_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: AUTO, ON or OFF")
set_property(CACHE TASKGLASS_CUDA PROPERTY STRINGS AUTO ON OFF)

# taskglass_find_nvcc(): sets TASKGLASS_NVCC and TASKGLASS_CUDA_FLAGS, or leaves the first empty.
function(taskglass_find_nvcc)
  if(NOT TASKGLASS_CUDA)
    set(TASKGLASS_NVCC "" PARENT_SCOPE)
    return()
  endif()
  find_program(TASKGLASS_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
    DOC "NVIDIA's compiler")
  mark_as_advanced(TASKGLASS_NVCC)
  if(NOT TASKGLASS_NVCC)
    if(NOT TASKGLASS_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "TASKGLASS_CUDA is ${TASKGLASS_CUDA}, but there is no nvcc; set "
        "TASKGLASS_NVCC to it, or TASKGLASS_CUDA to OFF")
    endif()
    set(TASKGLASS_NVCC "" PARENT_SCOPE)
    return()
  endif()

  if(NOT TASKGLASS_CUDA_ARCHITECTURES)
    set(architecture 90)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE missing)
    if(missing STREQUAL "0" AND found MATCHES "^([0-9]+)\\.([0-9])")
      set(architecture ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
    set(TASKGLASS_CUDA_ARCHITECTURES ${architecture} CACHE STRING
      "Compute capability of the GPU to build for, without its dot")
  endif()
  # What one target does not need is skipped by a constant condition: no reason to warn (128).
  # Registers: two blocks fit on a multiprocessor (src/platform/cuda/device/launch.h).
  set(TASKGLASS_CUDA_FLAGS -rdc=true -arch=sm_${TASKGLASS_CUDA_ARCHITECTURES} PARENT_SCOPE)
  set(TASKGLASS_CUDA_COMPILE_FLAGS -x cu -std=c++17 -maxrregcount=96
    -diag-suppress 128 PARENT_SCOPE)
endfunction()

# taskglass_cuda_object(OBJECT SOURCE INCLUDES dir... [DEFINITIONS definition...]): one source
# compiled by nvcc.
function(taskglass_cuda_object object source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "INCLUDES;DEFINITIONS")
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  set(warnings "")
  if(TASKGLASS_WERROR)
    set(warnings -Werror all-warnings)
  endif()
  # Source lines in messages are told from the project's root, as gcc's -fmacro-prefix-map does.
  add_custom_command(OUTPUT ${object}
    COMMAND ${TASKGLASS_NVCC} ${TASKGLASS_CUDA_FLAGS} ${TASKGLASS_CUDA_COMPILE_FLAGS} ${warnings}
      "-I$<JOIN:${arg_INCLUDES},;-I>" ${arg_DEFINITIONS} -MD -MF ${object}.d -MT ${object} -c ${name} -o ${object}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "Compiling ${name} for the GPU"
    COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# taskglass_cuda_names(OUTPUT SOURCE...): a source with the table of the kernels and orchestrations
# that the sources define, which is how the device finds them.
function(taskglass_cuda_names output)
  foreach(kind KERNEL ORCHESTRATION)
    set(${kind}_names "")
    foreach(source ${ARGN})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
      file(STRINGS ${source} lines REGEX "^[ \t]*TG_${kind}\\([A-Za-z0-9_]+\\)[ \t]*{?$")
      foreach(line ${lines})
        string(REGEX REPLACE ".*\\(([A-Za-z0-9_]+)\\).*" "\\1" name "${line}")
        list(APPEND ${kind}_names ${name})
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES ${kind}_names)
  endforeach()

  set(text "#include <taskglass/kernel.h>\n#include <taskglass/orchestration.h>\n")
  foreach(name ${KERNEL_names})
    string(APPEND text "TG_KERNEL(${name});\n")
  endforeach()
  foreach(name ${ORCHESTRATION_names})
    string(APPEND text "TG_ORCHESTRATION(${name});\n")
  endforeach()
  list(JOIN KERNEL_names ", " kernels)
  list(JOIN ORCHESTRATION_names ", " orchestrations)
  list(JOIN KERNEL_names "\\0" kernel_names)
  list(JOIN ORCHESTRATION_names "\\0" orchestration_names)
  string(APPEND text
    "extern __device__ const tg_kernel_fn tg_cuda_kernels[] = {${kernels}${KERNEL_end}};\n"
    "extern __device__ const tg_orchestrate_fn tg_cuda_orchestrations[] = {${orchestrations}};\n"
    "extern \"C\" __device__ const char tg_cuda_kernel_names[] = \"${kernel_names}\\0\";\n"
    "extern \"C\" __device__ const char tg_cuda_orchestration_names[] = "
    "\"${orchestration_names}\\0\";\n")
  string(REPLACE "[] = {};" "[1] = {0};" text "${text}")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()

# taskglass_cuda_image(NAME SOURCE...): NAME.cubin, for the workload NAME with these DEVICE sources.
function(taskglass_cuda_image name)
  # The device program's objects: this tree's target, or an installed folder, if it has any.
  if(TARGET tg_cuda_device)
    get_property(device_objects TARGET tg_cuda_device PROPERTY TG_OBJECTS)
    set(device_dependency tg_cuda_device)
  else()
    file(GLOB device_objects ${TASKGLASS_CUDA_OBJECTS}/*.o)
    set(device_dependency "")
  endif()
  taskglass_find_nvcc()
  if(NOT TASKGLASS_NVCC OR NOT device_objects)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda)
  set(includes $<TARGET_PROPERTY:Taskglass::headers,INTERFACE_INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${name},COMPILE_DEFINITIONS>)
  set(objects "")
  set(sources "")
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
    get_filename_component(base ${source} NAME)
    taskglass_cuda_object(${folder}/${base}.o ${source} INCLUDES ${includes}
      DEFINITIONS "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>")
    list(APPEND objects ${folder}/${base}.o)
  endforeach()
  taskglass_cuda_names(${folder}/names.cu ${sources})
  taskglass_cuda_object(${folder}/names.o ${folder}/names.cu INCLUDES ${includes})
  list(APPEND objects ${folder}/names.o)

  if(CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set(image ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name}.cubin)
  else()
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.cubin)
  endif()
  add_custom_command(OUTPUT ${image}
    COMMAND ${TASKGLASS_NVCC} ${TASKGLASS_CUDA_FLAGS} -dlink -cubin -Xnvlink --suppress-stack-size-warning -o ${image} ${objects}
      ${device_objects}
    DEPENDS ${objects} ${device_objects} ${device_dependency}
    COMMENT "Linking ${name}.cubin" VERBATIM)
  add_custom_target(${name}_cuda DEPENDS ${image})
  add_dependencies(${name} ${name}_cuda)
  set_property(TARGET ${name} PROPERTY TG_IMAGE ${image})
endfunction()
