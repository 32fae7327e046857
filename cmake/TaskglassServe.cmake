# What the server of the page needs: Debian's libmicrohttpd-dev, of version 0.9.75 or later.

# tg_find_microhttpd(): sets TASKGLASS_MICROHTTPD to the library; empty: there is none, or it is too old.
function(tg_find_microhttpd)
  include(CheckCSourceCompiles)
  find_path(TASKGLASS_MICROHTTPD_INCLUDE microhttpd.h)
  find_library(TASKGLASS_MICROHTTPD_LIBRARY microhttpd)
  mark_as_advanced(TASKGLASS_MICROHTTPD_INCLUDE TASKGLASS_MICROHTTPD_LIBRARY)
  if(TASKGLASS_MICROHTTPD_INCLUDE AND TASKGLASS_MICROHTTPD_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES ${TASKGLASS_MICROHTTPD_INCLUDE})
    check_c_source_compiles("#include <microhttpd.h>\n#if MHD_VERSION < 0x00097500\n#error\n#endif\nint main(void) { return 0; }"
      TASKGLASS_MICROHTTPD_IS_NEW)
  endif()
  if(TASKGLASS_MICROHTTPD_IS_NEW)
    set(TASKGLASS_MICROHTTPD ${TASKGLASS_MICROHTTPD_LIBRARY} PARENT_SCOPE)
  else()
    set(TASKGLASS_MICROHTTPD "" PARENT_SCOPE)
    message(STATUS "no libmicrohttpd 0.9.75 or later: there will be no `taskglass serve`")
  endif()
endfunction()
