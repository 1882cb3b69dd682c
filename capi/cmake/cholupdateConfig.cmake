# For find_package(cholupdate): the targets cholupdate::cholupdate, the shared library, and cholupdate::static.
get_filename_component(_cholupdate_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
get_filename_component(_cholupdate_prefix "@PREFIX_FROM_LIBDIR@" REALPATH BASE_DIR "${_cholupdate_libdir}")

if(NOT TARGET cholupdate::cholupdate)
  add_library(cholupdate::cholupdate SHARED IMPORTED)
  set_target_properties(cholupdate::cholupdate PROPERTIES
    IMPORTED_LOCATION "${_cholupdate_libdir}/libcholupdate.so.@VERSION@"
    IMPORTED_SONAME "libcholupdate.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${_cholupdate_prefix}/include")

  add_library(cholupdate::static STATIC IMPORTED)
  set_target_properties(cholupdate::static PROPERTIES
    IMPORTED_LOCATION "${_cholupdate_libdir}/libcholupdate.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_cholupdate_prefix}/include"
    INTERFACE_LINK_LIBRARIES "util;rt;pthread;m;dl")
endif()

unset(_cholupdate_libdir)
unset(_cholupdate_prefix)
