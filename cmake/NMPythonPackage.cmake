# What `pip install .` puts into the package's folder _lib (pyproject.toml).
#   nm_install_python_package()   the targets of this build
#   NM_PREBUILT=FOLDER            those of another build, and nothing is compiled; with
#                                 NM_STATIC_LLVM its nm_compiler_static

# All lie in one folder, which may be moved, and nowhere near a build folder.
function(nm_set_package_rpaths)
  foreach(name libnm_sim.so libnm_torch.so nm-bench)
    install(CODE "file(RPATH_SET FILE
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${name}\" NEW_RPATH [[$ORIGIN]])"
      COMPONENT python EXCLUDE_FROM_ALL)
  endforeach()
endfunction()

function(nm_install_python_package)
  install(TARGETS nm_runtime nm_sim nm_torch nm_compiler
          LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS nm-bench
          RUNTIME DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/_nm_ops_gen.py
          DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
  nm_set_package_rpaths()
endfunction()

function(nm_install_prebuilt_package folder)
  set(compiler lib/libnm_compiler.so)
  if(NM_STATIC_LLVM)
    set(compiler lib/static/libnm_compiler.so)
  endif()
  foreach(path lib/libnm_runtime.so lib/libnm_sim.so lib/libnm_torch.so
          ${compiler} bin/nm-bench lib/_nm_ops_gen.py)
    if(NOT EXISTS ${folder}/${path})
      message(FATAL_ERROR "expected ${path} in NM_PREBUILT, '${folder}'")
    endif()
    install(PROGRAMS ${folder}/${path} DESTINATION . COMPONENT python)
  endforeach()
  nm_set_package_rpaths()
  foreach(name nm_runtime nm_sim nm_torch nm_compiler nm-bench nm-python-ops)
    add_custom_target(${name})
  endforeach()
endfunction()
