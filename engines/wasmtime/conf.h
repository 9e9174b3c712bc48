// Which features the library was built with. The engine's own build system makes
// this header; the crate the other headers come from has only its template. The
// features below are those the runner uses; GC decides the size of a value.

#ifndef WASMTIME_CONF_H
#define WASMTIME_CONF_H

#define WASMTIME_FEATURE_WASI
#define WASMTIME_FEATURE_GC
#define WASMTIME_FEATURE_CRANELIFT
#define WASMTIME_FEATURE_WINCH
#define WASMTIME_FEATURE_PARALLEL_COMPILATION
#define WASMTIME_FEATURE_COMPILER
#define WASMTIME_FEATURE_POOLING_ALLOCATOR

#endif
