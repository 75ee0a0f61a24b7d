"""Sums and maxima over rows, for kernels in which a block of threads shares a row.

Each thread goes over its part of the row; then the block adds up in a tree in the memory that its
threads share: half of them take in what the other half has, then half of these. Lesson 16.
"""

ROWS = """
// What all threads of the block have, combined; the block has a power of 2 of them, 256 at most.
#define OVER_BLOCK(name, combined)                                              \\
    __device__ inline real name(real mine) {                                    \\
        __shared__ real parts[256];                                             \\
        parts[threadIdx.x] = mine;                                              \\
        __syncthreads();                                                        \\
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {             \\
            if (threadIdx.x < half) {                                           \\
                real a = parts[threadIdx.x], b = parts[threadIdx.x + half];     \\
                parts[threadIdx.x] = combined;                                  \\
            }                                                                   \\
            __syncthreads();                                                    \\
        }                                                                       \\
        real all = parts[0];                                                    \\
        __syncthreads(); /* before somebody writes the next one's */            \\
        return all;                                                             \\
    }
OVER_BLOCK(sum_of_block, a + b)
OVER_BLOCK(max_of_block, a > b ? a : b)
"""
