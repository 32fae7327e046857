# tg_write_build_info(FILE): writes what `taskglass --version` says about the build (src/cli/build_info.h).
# Leaves the file alone if its content stays the same.
#
# The commit is that of the source when CMake ran. A new commit lets CMake run again, and then one small file
# is compiled, not everything.
function(tg_write_build_info file)
  set(commit "")
  find_program(TG_GIT git)
  mark_as_advanced(TG_GIT)
  # Only if the source is a checkout itself, and not a copy in another project's.
  if(TG_GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${TG_GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${TG_GIT} rev-parse --git-path logs/HEAD
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE log ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS "${log}" AND NOT IS_DIRECTORY "${log}")
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
  elseif(EXISTS ${PROJECT_SOURCE_DIR}/packaging/commit) # an archive: git or pip wrote the commit into it
    file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/commit commit LIMIT_COUNT 1)
    string(SUBSTRING "${commit}" 0 12 commit)
  endif()
  if(NOT commit MATCHES "^[0-9a-f]+$")
    set(commit "")
  endif()

  set(architectures "")
  if(TASKGLASS_NVCC)
    string(REPLACE ";" " " architectures "${TASKGLASS_CUDA_ARCHITECTURES}")
  endif()
  set(features "sandbox")
  if(TASKGLASS_SQLITE AND SQLite3_FOUND)
    list(APPEND features sqlite)
  endif()
  if(TASKGLASS_HARDEN AND NOT TASKGLASS_SANITIZE AND NOT TASKGLASS_FUZZ)
    list(APPEND features hardened)
  endif()
  string(REPLACE "," ";" sanitizers "${TASKGLASS_SANITIZE}")
  foreach(sanitizer ${sanitizers})
    list(APPEND features ${sanitizer}-sanitizer)
  endforeach()
  list(APPEND features ${TG_FEATURES}) # those that the rest of the build has found
  string(REPLACE ";" " " features "${features}")
  file(CONFIGURE OUTPUT ${file} CONTENT "/* Written by the build: see cmake/TaskglassBuildInfo.cmake. */
#include \"cli/build_info.h\"

const char cli_build_commit[] = \"@commit@\";
const char cli_build_cuda[] = \"@architectures@\";
const char cli_build_features[] = \"@features@\";
" @ONLY)
endfunction()
