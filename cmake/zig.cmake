# A toolchain for machines that are not here. PyPI's ziglang carries clang, lld and every libc.
#
#   ZIG_TARGET   zig's name of a machine: aarch64-linux-musl, x86_64-windows-gnu
#   ZIG          the program zig
#   ZIG_PREFIX   where libraries for that machine are installed: jansson
#   ZIG_RUN      what runs its programs here, a list; empty: nothing is needed

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG ZIG_TARGET ZIG_PREFIX ZIG_RUN)

string(REGEX MATCH "^([a-z0-9_]+)-([a-z]+)" parts "${ZIG_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(names_linux Linux)
set(names_windows Windows)
set(names_macos Darwin)
set(names_wasi Generic)
set(CMAKE_SYSTEM_NAME ${names_${CMAKE_MATCH_2}})

if(NOT CMAKE_SYSTEM_NAME MATCHES "Linux|Darwin") # which know no -fPIC
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Generic") # which has no shared libraries
  set(BUILD_SHARED_LIBS OFF)
endif()

set(CMAKE_C_COMPILER ${ZIG} cc)
set(CMAKE_CXX_COMPILER ${ZIG} c++)
set(CMAKE_C_FLAGS_INIT "-target ${ZIG_TARGET}")
set(CMAKE_CXX_FLAGS_INIT "-target ${ZIG_TARGET}")
set(CMAKE_EXE_LINKER_FLAGS_RELEASE_INIT -s)
set(CMAKE_CROSSCOMPILING_EMULATOR ${ZIG_RUN})

set(CMAKE_C_STANDARD_LIBRARIES "" CACHE STRING "Windows: what zig links anyway")

# CMake wants one program for each of these.
foreach(tool IN ITEMS ar ranlib rc)
  set(program ${ZIG_PREFIX}/bin/${tool})
  if(NOT EXISTS ${program})
    file(WRITE ${program} "#!/bin/sh\nexec '${ZIG}' ${tool} \"$@\"\n")
    file(CHMOD ${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  string(TOUPPER ${tool} variable)
  set(CMAKE_${variable} ${program})
endforeach()
set(CMAKE_RC_COMPILER ${ZIG_PREFIX}/bin/rc)
set(CMAKE_INSTALL_NAME_TOOL /bin/true) # of macOS; nothing is renamed here

set(ENV{PKG_CONFIG_LIBDIR} ${ZIG_PREFIX}/lib/pkgconfig) # and none of this machine's
set(CMAKE_FIND_ROOT_PATH ${ZIG_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
