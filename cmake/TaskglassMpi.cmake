# The transport over MPI, once for each MPI whose compiler wrapper is found: lib/taskglass/taskglass-mpi-NAME.so.
# The wrappers say which flags they add. Nothing else links MPI.

option(TASKGLASS_MPI "Build the transports over Open MPI and MPICH, where their compilers are found" ON)

# Sets ${out} to what the wrapper prints, or to "" if it is no wrapper.
function(tg_ask_mpi_wrapper wrapper out)
  foreach(question --showme -show)
    execute_process(COMMAND ${wrapper} ${question} OUTPUT_VARIABLE text ERROR_QUIET
      RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(result EQUAL 0 AND text MATCHES "-l")
      set(${out} "${text}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

# The name of the MPI that the wrapper belongs to: openmpi, mpich, or "".
function(tg_name_mpi text out)
  if(text MATCHES "open-?mpi" OR text MATCHES "-lmpi( |$)")
    set(${out} openmpi PARENT_SCOPE)
  elseif(text MATCHES "mpich|-lmpi")
    set(${out} mpich PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

function(tg_add_mpi_plugin name text)
  separate_arguments(words UNIX_COMMAND "${text}")
  list(POP_FRONT words) # the compiler
  set(includes "")
  set(links "")
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L|l|Wl,|pthread)")
      list(APPEND links ${word})
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*.c)
  add_library(taskglass-mpi-${name} MODULE ${sources})
  target_include_directories(taskglass-mpi-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(taskglass-mpi-${name} SYSTEM PRIVATE ${includes})
  target_link_libraries(taskglass-mpi-${name} PRIVATE tg_options taskglass_headers ${links})
  set_target_properties(taskglass-mpi-${name} PROPERTIES PREFIX "" LINKER_LANGUAGE C
    C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/taskglass)
endfunction()

set(TASKGLASS_MPI_PLUGINS "")
if(TASKGLASS_MPI)
  foreach(candidate mpicc.openmpi mpicc.mpich mpicc)
    find_program(TASKGLASS_WRAPPER_${candidate} ${candidate})
    mark_as_advanced(TASKGLASS_WRAPPER_${candidate})
    if(NOT TASKGLASS_WRAPPER_${candidate})
      continue()
    endif()
    tg_ask_mpi_wrapper(${TASKGLASS_WRAPPER_${candidate}} text)
    tg_name_mpi("${text}" name)
    if(name AND NOT TARGET taskglass-mpi-${name})
      tg_add_mpi_plugin(${name} "${text}")
      list(APPEND TASKGLASS_MPI_PLUGINS taskglass-mpi-${name})
    endif()
  endforeach()
endif()
if(TASKGLASS_MPI_PLUGINS)
  message(STATUS "Transports over MPI: ${TASKGLASS_MPI_PLUGINS}")
  list(APPEND TG_FEATURES mpi)
else()
  message(STATUS "No transport over MPI: neither Open MPI nor MPICH (mpicc) was found, or "
    "TASKGLASS_MPI is OFF; `taskglass run --ranks` works without")
endif()
