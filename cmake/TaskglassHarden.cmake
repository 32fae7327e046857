# Makes errors in memory harder to exploit, in everything that this tree builds: read-only relocations, a
# stack that is guarded and not executable, checked libc functions, and branches that only reach their
# targets (CET, or BTI and PAC on AArch64). A flag that the compiler or linker does not know is left out;
# -DTASKGLASS_HARDEN=OFF leaves out all of them. tests/hardening.py looks at the files.
#
# Sanitizers check more, and some of these flags would hide what they look for.

if(NOT TASKGLASS_HARDEN OR TASKGLASS_SANITIZE OR TASKGLASS_FUZZ)
  return()
endif()

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "TG_HAS${flag}" has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:${flag}>)
  endif()
endforeach()

# Where each task passes, landing instructions and guards of small structures would be a percent of its cost.
# Arrays of characters stay guarded there, and returns stay protected by a shadow stack.
if(TG_HAS_fcf_protection_full)
  set(TG_HARDEN_DEVICE -fcf-protection=return)
endif()
if(TG_HAS_fstack_protector_strong)
  set(TG_HARDEN_ADD_TASK -fstack-protector)
endif()

foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "TG_HAS${flag}" has)
  check_linker_flag(C ${flag} ${has})
  if(${has})
    add_link_options(${flag})
  endif()
endforeach()

# Programs at addresses that change: most compilers do that without being told.
check_c_source_compiles("#if !defined(__PIE__)\n#error\n#endif\nint main(void) { return 0; }"
  TG_HAS_PIE_BY_DEFAULT)
if(NOT TG_HAS_PIE_BY_DEFAULT)
  set(for_programs "$<IN_LIST:$<TARGET_PROPERTY:TYPE>,EXECUTABLE;OBJECT_LIBRARY>")
  set(not_pic "$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>")
  add_compile_options("$<$<AND:${for_programs},${not_pic},$<COMPILE_LANGUAGE:C,CXX>>:-fPIE>")
  add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>")
endif()

# Checked libc functions need the optimiser, so not in Debug. If the packager's flags choose a level, it
# stays. A compiler may also choose one by itself, hence -U.
if(NOT "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_RELEASE}" MATCHES "_FORTIFY_SOURCE")
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -Werror")
  check_c_source_compiles("#include <string.h>\nint main(void) { return (int)strlen(\"\"); }"
    TG_HAS_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  set(level 2)
  if(TG_HAS_FORTIFY_3)
    set(level 3)
  endif()
  foreach(option -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
    add_compile_options(
      "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:${option}>")
  endforeach()
endif()
