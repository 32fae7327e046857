# Workloads on a GPU: nvcc links the device program with the workload's DEVICE sources into NAME.cubin,
# which lies beside NAME.so.
#
#   TASKGLASS_CUDA                 AUTO (if nvcc can build), ON (fail if it cannot) or OFF
#   TASKGLASS_CUDA_ARCHITECTURES   the GPU to build for, such as 90; default: the first that
#                                  nvidia-smi lists, or 90 if there is none. For several, such as "80;90;120",
#                                  NAME.cubin is an archive of images, and of PTX of the newest for GPUs that
#                                  come later (src/platform/cuda/process/image_file.h). "80-virtual" adds PTX
#                                  of 8.0 instead, and "90-real" in the list leaves the PTX out
#   TASKGLASS_NVCC                 nvcc; default: the one on the path, in CUDA_HOME or /usr/local/cuda
#
# This tree and users of an installed Taskglass both include this file; the installation contains the
# device program as objects (lib/taskglass/cuda/*.o).

set(TASKGLASS_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: AUTO, ON or OFF")
set_property(CACHE TASKGLASS_CUDA PROPERTY STRINGS AUTO ON OFF)

# taskglass_find_nvcc(): sets TASKGLASS_NVCC, TASKGLASS_CUDA_FLAGS and TASKGLASS_CUDA_COMPILE_FLAGS, and the
# architectures of images (TASKGLASS_CUDA_REAL) and of PTX (TASKGLASS_CUDA_VIRTUAL). The first is empty if
# nothing is built for GPUs.
function(taskglass_find_nvcc)
  get_property(was_asked GLOBAL PROPERTY TASKGLASS_CUDA_NVCC SET)
  if(NOT was_asked)
    taskglass_choose_nvcc()
  endif()
  get_property(nvcc GLOBAL PROPERTY TASKGLASS_CUDA_NVCC)
  get_property(real GLOBAL PROPERTY TASKGLASS_CUDA_REAL)
  get_property(virtual GLOBAL PROPERTY TASKGLASS_CUDA_VIRTUAL)
  set(TASKGLASS_NVCC "${nvcc}" PARENT_SCOPE)
  set(TASKGLASS_CUDA_REAL "${real}" PARENT_SCOPE)
  set(TASKGLASS_CUDA_VIRTUAL "${virtual}" PARENT_SCOPE)
  list(LENGTH real n_images)
  set(code -arch=sm_${real})
  if(n_images GREATER 1)
    list(TRANSFORM real REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1" OUTPUT_VARIABLE code)
  endif()
  # Warning 128 would be about loops that a constant condition skips on this target.
  # With 96 registers two blocks fit on a multiprocessor (src/platform/cuda/launch.h).
  set(TASKGLASS_CUDA_FLAGS -rdc=true ${code} PARENT_SCOPE)
  set(TASKGLASS_CUDA_COMPILE_FLAGS -x cu -std=c++17 -maxrregcount=96
    -diag-suppress 128 PARENT_SCOPE)
endfunction()

# Chooses nvcc and the GPU once for each configuration. Prints the reason if there is none.
function(taskglass_choose_nvcc)
  set_property(GLOBAL PROPERTY TASKGLASS_CUDA_NVCC "")
  if(NOT TASKGLASS_CUDA)
    return()
  endif()
  find_program(TASKGLASS_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
    DOC "NVIDIA's compiler")
  mark_as_advanced(TASKGLASS_NVCC)
  if(TASKGLASS_NVCC)
    taskglass_check_nvcc(chosen real virtual why)
  elseif(TASKGLASS_CUDA STREQUAL "AUTO")
    message(STATUS "The platform cuda is left out: there is no nvcc")
    return()
  else()
    set(why "there is no nvcc; -DTASKGLASS_NVCC=PATH names one")
  endif()

  if(NOT why)
    set_property(GLOBAL PROPERTY TASKGLASS_CUDA_NVCC ${TASKGLASS_NVCC})
    set_property(GLOBAL PROPERTY TASKGLASS_CUDA_REAL ${real})
    set_property(GLOBAL PROPERTY TASKGLASS_CUDA_VIRTUAL ${virtual})
    if(NOT TASKGLASS_CUDA_ARCHITECTURES)
      set(TASKGLASS_CUDA_ARCHITECTURES ${chosen} CACHE STRING
        "Compute capabilities of the GPUs to build for, without their dots")
    endif()
  elseif(TASKGLASS_CUDA STREQUAL "AUTO")
    message(WARNING "The platform cuda is left out: ${why}. "
      "-DTASKGLASS_CUDA_ARCHITECTURES=NN names the GPU to build for, such as 90; -DTASKGLASS_CUDA=OFF "
      "leaves the platform out without this warning.")
  else()
    message(FATAL_ERROR "TASKGLASS_CUDA is ${TASKGLASS_CUDA}, but ${why}. "
      "-DTASKGLASS_CUDA_ARCHITECTURES=NN names the GPU to build for, such as 90; -DTASKGLASS_CUDA=OFF "
      "builds without the platform cuda.")
  endif()
endfunction()

# taskglass_check_nvcc(CHOSEN REAL VIRTUAL WHY): sets the architectures to build for, or why TASKGLASS_NVCC
# cannot be used.
function(taskglass_check_nvcc chosen real virtual why)
  execute_process(COMMAND ${TASKGLASS_NVCC} --version OUTPUT_VARIABLE version ERROR_QUIET
    RESULT_VARIABLE failed)
  execute_process(COMMAND ${TASKGLASS_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  if(NOT failed STREQUAL "0" OR NOT version MATCHES "release ([0-9]+\\.[0-9]+)")
    set(${why} "${TASKGLASS_NVCC} --version fails" PARENT_SCOPE)
    return()
  endif()
  set(version ${CMAKE_MATCH_1})
  if(version VERSION_LESS 13)
    set(${why} "${TASKGLASS_NVCC} is of CUDA ${version}, and 13.0 or newer is needed" PARENT_SCOPE)
    return()
  endif()

  taskglass_find_architecture(list said)
  set(images "")
  set(texts "")
  set(newest 0)
  set(adds_texts TRUE)
  foreach(one ${list})
    if(NOT one MATCHES "^([0-9]+)(([af]?)(-real)?|-virtual)$")
      set(${why} "${said}, which is neither a number, as 90, nor a list of them, as 80;90" PARENT_SCOPE)
      return()
    endif()
    set(number ${CMAKE_MATCH_1})
    set(suffix "${CMAKE_MATCH_3}")
    if(number LESS 80)
      set(${why} "${said}, and 8.0 (80) or newer is needed" PARENT_SCOPE)
      return()
    elseif(NOT known MATCHES "compute_${number}(\n|$)")
      set(${why} "${said}, for which nvcc of CUDA ${version} cannot compile" PARENT_SCOPE)
      return()
    endif()
    if(one MATCHES "-virtual$")
      list(APPEND texts ${number})
    else()
      list(APPEND images ${number}${suffix})
    endif()
    if(one MATCHES "-")
      set(adds_texts FALSE)
    endif()
    if(number GREATER newest)
      set(newest ${number})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES images)
  list(REMOVE_DUPLICATES texts)
  list(LENGTH images n_images)
  if(n_images EQUAL 0)
    set(${why} "${said}, which has no image for a GPU" PARENT_SCOPE)
    return()
  endif()
  # PTX takes a second compilation of everything: a build for the one GPU of a machine goes without.
  if(adds_texts AND n_images GREATER 1)
    set(texts ${newest})
  endif()
  list(GET images 0 first)
  taskglass_try_nvcc(${first} failed)
  set(${why} "${failed}" PARENT_SCOPE)
  set(${chosen} "${list}" PARENT_SCOPE)
  set(${real} "${images}" PARENT_SCOPE)
  set(${virtual} "${texts}" PARENT_SCOPE)
endfunction()

# taskglass_find_architecture(ARCHITECTURE SAID): the option's value, the GPU of this machine, or 90, and
# the same in words. Of several GPUs the first counts; users of another one set the option.
function(taskglass_find_architecture architecture said)
  if(TASKGLASS_CUDA_ARCHITECTURES)
    set(${architecture} "${TASKGLASS_CUDA_ARCHITECTURES}" PARENT_SCOPE)
    set(${said} "TASKGLASS_CUDA_ARCHITECTURES is ${TASKGLASS_CUDA_ARCHITECTURES}" PARENT_SCOPE)
    return()
  endif()
  set(${architecture} 90 PARENT_SCOPE)
  set(${said} "the default is 90" PARENT_SCOPE)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE missing)
  if(missing STREQUAL "0" AND found MATCHES "^([0-9]+)\\.([0-9])")
    set(${architecture} ${CMAKE_MATCH_1}${CMAKE_MATCH_2} PARENT_SCOPE)
    set(${said} "the first GPU here has compute capability ${CMAKE_MATCH_0}" PARENT_SCOPE)
  endif()
endfunction()

# taskglass_try_nvcc(ARCHITECTURE WHY): checks that nvcc can compile with this machine's C++ compiler. It
# checks again only for another nvcc or another GPU, or if the last check failed.
function(taskglass_try_nvcc architecture why)
  set(${why} "" PARENT_SCOPE)
  set(which "${TASKGLASS_NVCC} for ${architecture}")
  if(TASKGLASS_NVCC_WORKS STREQUAL which)
    return()
  endif()
  set(trial ${CMAKE_BINARY_DIR}/CMakeFiles/taskglass_nvcc)
  file(WRITE ${trial}.cu "#include <cuda.h>\n__global__ void nothing() {}\n")
  execute_process(COMMAND ${TASKGLASS_NVCC} -std=c++17 -rdc=true -arch=sm_${architecture}
    -c ${trial}.cu -o ${trial}.o OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed STREQUAL "0")
    set(TASKGLASS_NVCC_WORKS "${which}" CACHE INTERNAL "The nvcc that was seen to compile")
  else()
    string(STRIP "${said}" said)
    set(${why} "${TASKGLASS_NVCC} cannot compile: ${said}" PARENT_SCOPE)
  endif()
endfunction()

# taskglass_cuda_object(OBJECT SOURCE INCLUDES dir... [DEFINITIONS definition...]): compiles one source
# with nvcc. Its PTX for compute capability 12.0, if that is wanted, is compute_120/OBJECT.ptx.
function(taskglass_cuda_object object source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "INCLUDES;DEFINITIONS")
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  set(warnings "")
  if(TASKGLASS_WERROR)
    set(warnings -Werror all-warnings)
  endif()
  # nvcc gets the full path of the source. With a relative path in a dependency file, CMake would look
  # for the file in the build folder, not find it, and compile again each time.
  # -fmacro-prefix-map makes __FILE__ relative to the project's root all the same. The quotes are for
  # nvcc, which splits the text after -Xcompiler at blanks.
  # nvcc writes the name after -MT unchanged, so blanks in it are escaped here.
  string(REPLACE " " "\\ " target "${object}")
  set(lines -Xcompiler "\"-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=\"")
  add_custom_command(OUTPUT ${object}
    COMMAND ${TASKGLASS_NVCC} ${TASKGLASS_CUDA_FLAGS} ${TASKGLASS_CUDA_COMPILE_FLAGS} ${warnings}
      ${lines} "-I$<JOIN:$<REMOVE_DUPLICATES:${arg_INCLUDES}>,;-I>" ${arg_DEFINITIONS}
      -MD -MF ${object}.d -MT "${target}" -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "Compiling ${name} for the GPU"
    COMMAND_EXPAND_LISTS VERBATIM)
  # Registers are assigned when the driver compiles the PTX; it gets the limit from the loader.
  set(flags ${TASKGLASS_CUDA_COMPILE_FLAGS})
  list(FILTER flags EXCLUDE REGEX maxrregcount)
  foreach(virtual ${TASKGLASS_CUDA_VIRTUAL})
    taskglass_cuda_text(text ${object} ${virtual})
    get_filename_component(folder ${text} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    string(REPLACE " " "\\ " target "${text}")
    add_custom_command(OUTPUT ${text}
      COMMAND ${TASKGLASS_NVCC} -rdc=true -arch=compute_${virtual} ${flags} ${warnings}
        ${lines} "-I$<JOIN:$<REMOVE_DUPLICATES:${arg_INCLUDES}>,;-I>" ${arg_DEFINITIONS}
        -MD -MF ${text}.d -MT "${target}" -ptx ${source} -o ${text}
      DEPENDS ${source} DEPFILE ${text}.d
      COMMENT "Compiling ${name} to PTX"
      COMMAND_EXPAND_LISTS VERBATIM)
  endforeach()
endfunction()

# taskglass_cuda_text(TEXT OBJECT ARCHITECTURE): the path of an object's PTX.
function(taskglass_cuda_text text object architecture)
  get_filename_component(folder ${object} DIRECTORY)
  get_filename_component(name ${object} NAME)
  set(${text} ${folder}/compute_${architecture}/${name}.ptx PARENT_SCOPE)
endfunction()

# taskglass_cuda_names(OUTPUT SOURCE...): writes a source with the table of the kernels and orchestrations
# that the sources define. The device finds them in this table.
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

# taskglass_cuda_link(IMAGE ARCHITECTURE OBJECT...): links an image for one kind of GPU. The caller's
# device_dependency makes the device program's objects.
function(taskglass_cuda_link image architecture)
  get_filename_component(name ${image} NAME)
  add_custom_command(OUTPUT ${image}
    COMMAND ${TASKGLASS_NVCC} -rdc=true -arch=sm_${architecture} -dlink -cubin
      -Xnvlink --suppress-stack-size-warning -o ${image} ${ARGN}
    DEPENDS ${ARGN} ${device_dependency}
    COMMENT "Linking ${name}" VERBATIM)
endfunction()

# taskglass_cuda_archive(IMAGE FOLDER OBJECT...): puts the images and the PTX for all kinds of GPUs into one
# file. The name of a member is at most 15 characters long, so that ar keeps it in the member's head.
function(taskglass_cuda_archive image folder)
  get_filename_component(name ${image} NAME)
  set(members "")
  set(images "")
  set(texts "")
  set(copies "")
  foreach(architecture ${TASKGLASS_CUDA_REAL})
    taskglass_cuda_link(${folder}/sm_${architecture}.cubin ${architecture} ${ARGN})
    list(APPEND members ${folder}/sm_${architecture}.cubin)
    list(APPEND images ${folder}/sm_${architecture}.cubin)
  endforeach()
  foreach(architecture ${TASKGLASS_CUDA_VIRTUAL})
    set(number 0)
    foreach(object ${ARGN})
      taskglass_cuda_text(text ${object} ${architecture})
      list(APPEND texts ${text})
      list(APPEND copies COMMAND ${CMAKE_COMMAND} -E copy ${text} ${folder}/ptx_${architecture}.${number})
      list(APPEND members ${folder}/ptx_${architecture}.${number})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  add_custom_command(OUTPUT ${image}
    ${copies}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${image}
    COMMAND ${CMAKE_AR} qcSD ${image} ${members}
    DEPENDS ${images} ${texts} ${device_dependency}
    COMMENT "Packing ${name}" VERBATIM)
endfunction()

# taskglass_cuda_image(NAME SOURCE...): builds NAME.cubin for the workload NAME with these DEVICE sources.
function(taskglass_cuda_image name)
  # The device program's objects: from this tree's target, or from the installed folder, if it has any.
  if(TARGET tg_cuda_device)
    get_property(device_objects TARGET tg_cuda_device PROPERTY TG_OBJECTS)
    set(device_dependency tg_cuda_device)
  else()
    file(GLOB device_objects ${TASKGLASS_CUDA_OBJECTS}/*.o)
    set(device_dependency "")
  endif()
  if(NOT device_objects)
    return()
  endif()
  taskglass_find_nvcc()
  if(NOT TASKGLASS_NVCC)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_cuda)
  # The settings of the target itself and of the libraries that it is linked with.
  set(includes $<TARGET_PROPERTY:${name},INCLUDE_DIRECTORIES>)
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
  list(LENGTH TASKGLASS_CUDA_REAL n_images)
  if(n_images EQUAL 1 AND NOT TASKGLASS_CUDA_VIRTUAL)
    taskglass_cuda_link(${image} ${TASKGLASS_CUDA_REAL} ${objects} ${device_objects})
  else()
    taskglass_cuda_archive(${image} ${folder} ${objects} ${device_objects})
  endif()
  add_custom_target(${name}_cuda DEPENDS ${image})
  add_dependencies(${name} ${name}_cuda)
  set_property(TARGET ${name} PROPERTY TG_IMAGE ${image})
endfunction()
