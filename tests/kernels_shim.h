// CUDA C++ as C++: what the kernels of tinygrad_course/kernels need to be compiled for the CPU.
//
// The threads of a block run one after the other. Where they wait for each other (__syncthreads)
// they are fibers that take turns: each runs up to its next wait, then all go on. `backwards` lets
// the last thread of the last block begin; a kernel whose results change by that has a race.

#include <ucontext.h>

#include <cmath>
#include <utility>

#define __global__
#define __device__
#define __shared__ static

using std::erf, std::exp, std::log, std::sqrt, std::tanh;

struct Three { unsigned x, y, z; };
static Three threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

constexpr unsigned MOST = 1024, STACK = 64 * 1024;
static ucontext_t fibers[MOST], scheduler;
static char stacks[MOST][STACK];
static bool done[MOST];
static void (*body)();  // what one thread does
static void** arguments;  // an address for each, as the driver takes them

template <class... A, size_t... I>
void call(void (*kernel)(A...), std::index_sequence<I...>) {
    kernel(*static_cast<A*>(arguments[I])...);
}
template <class... A>
void call(void (*kernel)(A...)) {
    call(kernel, std::index_sequence_for<A...>());
}

inline void begin(int number) {
    body();
    done[number] = true;
}

// Runs the threads of a block; false where some end while others wait for them.
inline bool run_waiting_block(bool backwards) {
    unsigned size = blockDim.x, ended = 0;
    for (unsigned i = 0; i < size; i++) {
        done[i] = false;
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = stacks[i];
        fibers[i].uc_stack.ss_size = STACK;
        fibers[i].uc_link = &scheduler;
        makecontext(&fibers[i], reinterpret_cast<void (*)()>(begin), 1, int(i));
    }
    while (!ended) {
        for (unsigned i = 0; i < size; i++) {
            threadIdx.x = backwards ? size - 1 - i : i;
            swapcontext(&scheduler, &fibers[threadIdx.x]);
            ended += done[threadIdx.x];
        }
    }
    return ended == size;
}

inline int run(void (*one)(), unsigned grid, unsigned block, bool waits, bool backwards, void** args) {
    body = one;
    arguments = args;
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    for (unsigned b = 0; b < grid; b++) {
        blockIdx.x = backwards ? grid - 1 - b : b;
        if (waits) {
            if (!run_waiting_block(backwards)) return 1;
            continue;
        }
        for (unsigned t = 0; t < block; t++) {
            threadIdx.x = backwards ? block - 1 - t : t;
            body();
        }
    }
    return 0;
}

}  // namespace shim

inline void __syncthreads() { swapcontext(&shim::fibers[threadIdx.x], &shim::scheduler); }

#define RUNNABLE(kernel)                                                                           \
    extern "C" int run_##kernel(                                                                   \
        unsigned grid, unsigned block, int waits, int backwards, void** args                       \
    ) {                                                                                            \
        return shim::run([] { shim::call(kernel); }, grid, block, waits, backwards, args);         \
    }
