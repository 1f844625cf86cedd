# The reference in docs/reference is generated from ODS and committed, so that
# it can be read without a build:
#   nm-doc          generates it in the build folder (part of `all`)
#   nm-doc-update   copies it into docs/reference
# A test fails where the two differ.

add_custom_target(nm-doc ALL)
add_custom_target(nm-doc-update
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_SOURCE_DIR}/docs/reference
  COMMAND ${CMAKE_COMMAND} -E copy_directory
          ${PROJECT_BINARY_DIR}/docs/reference ${PROJECT_SOURCE_DIR}/docs/reference
  COMMENT "Updating docs/reference")
add_dependencies(nm-doc-update nm-doc)

# Upstream's writes under MLIR_BINARY_DIR, which an installed MLIR leaves unset
# (the root folder), and emits shortcodes that only Hugo renders.
function(add_mlir_doc doc_filename output_file output_directory command)
  set(LLVM_TARGET_DEFINITIONS ${doc_filename}.td)
  tablegen(MLIR ${output_file}.md ${command} ${ARGN})
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${output_file}.md)
  set(collected
      ${PROJECT_BINARY_DIR}/docs/reference/${output_directory}${output_file}.md)
  add_custom_command(OUTPUT ${collected}
    COMMAND ${CMAKE_COMMAND} -E copy ${generated} ${collected}
    DEPENDS ${generated})
  add_custom_target(${output_file}DocGen DEPENDS ${collected})
  add_dependencies(nm-doc ${output_file}DocGen)
endfunction()
