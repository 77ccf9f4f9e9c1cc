// A matrix of f32 or f64, m x n, times some vectors of f64: out[c * m + i] = sum_j k[i * stride + j] x[c * n + j].
//
// A block has 128 rows and up to 8 TILES vectors, 32 columns of the matrix at a time, STAGES of them in shared memory;
// a warp has 16 of the rows. Sums are in f64 on the tensor cores, in a fixed order. Where there are few blocks, the columns are
// shared out among `parts` of them, whose sums lie one after another for `times_sum`.

#define TIMES_ROWS 128
#define TIMES_STEP 32
#define TIMES_PITCH 36  // of the matrix's rows
#define TIMES_BACK 36   // of the vectors, in f64

// Eight bytes, or zeros.
__device__ __forceinline__ void copy8(u32 to, const void* from, bool any) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;\n" ::"r"(to), "l"(from), "r"(any ? 8 : 0));
}

template <class T, int TILES, int STAGES>
__device__ __forceinline__ void times_block(const T* k, long long stride, const double* x, double* out, int m, int n, int vectors, int parts) {
    extern __shared__ __align__(16) u8 memory[];
    T* left = (T*)memory;                                                 // stages of 128 x 32
    double* right = (double*)(left + STAGES * TIMES_ROWS * TIMES_PITCH);  // stages of 8 TILES x 32
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5, row0 = blockIdx.x * TIMES_ROWS;
    const int part = blockIdx.y % parts, first = blockIdx.y / parts * 8 * TILES, some = min(8 * TILES, vectors - first);
    const int all = (n + TIMES_STEP - 1) / TIMES_STEP, from = (int)((long long)all * part / parts);
    const int steps = (int)((long long)all * (part + 1) / parts) - from;
    out += (long long)part * m * vectors;
    double acc[2][TILES][2];
#pragma unroll
    for (int a = 0; a < 2; a++)
#pragma unroll
        for (int b = 0; b < TILES; b++) acc[a][b][0] = acc[a][b][1] = 0.0;
    // The matrix's rows are padded to whole steps; vectors are not.
    auto load = [&](int s) {
        T* to = left + (s % STAGES) * TIMES_ROWS * TIMES_PITCH;
#pragma unroll
        for (int p = 0; p < (int)sizeof(T); p++) {
            // Pieces of 16 bytes.
            const int per = 2 * sizeof(T), each = 16 / sizeof(T), r = t / per + 256 / per * p, row = min(row0 + r, m - 1), c = t % per * each;
            copy16(shared_address(to + r * TIMES_PITCH + c), k + (long long)row * stride + (from + s) * TIMES_STEP + c);
        }
        double* back = right + (s % STAGES) * 8 * TILES * TIMES_BACK;
#pragma unroll
        for (int c = warp; c < 8 * TILES; c += 8) {
            const int j = (from + s) * TIMES_STEP + lane;
            const bool any = c < some && j < n;
            copy8(shared_address(back + c * TIMES_BACK + lane), any ? x + (long long)(first + c) * n + j : x, any);
        }
    };
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) load(s);
        commit();
    }
    for (int s = 0; s < steps; s++) {
        wait_for<STAGES - 2>();
        __syncthreads();
        if (s + STAGES - 1 < steps) load(s + STAGES - 1);
        commit();
        const T* a_at = left + (s % STAGES) * TIMES_ROWS * TIMES_PITCH + (warp * 16 + (lane >> 2)) * TIMES_PITCH + (lane & 3);
        const double* b_at = right + (s % STAGES) * 8 * TILES * TIMES_BACK + (lane >> 2) * TIMES_BACK + (lane & 3);
#pragma unroll
        for (int j = 0; j < TIMES_STEP; j += 4) {
            double fa[2];
#pragma unroll
            for (int a = 0; a < 2; a++) fa[a] = (double)a_at[a * 8 * TIMES_PITCH + j];
#pragma unroll
            for (int b = 0; b < TILES; b++) {
                const double fb = b_at[b * 8 * TIMES_BACK + j];
#pragma unroll
                for (int a = 0; a < 2; a++)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
                                 : "+d"(acc[a][b][0]), "+d"(acc[a][b][1]) : "d"(fa[a]), "d"(fb));
            }
        }
    }
#pragma unroll
    for (int a = 0; a < 2; a++)
#pragma unroll
        for (int b = 0; b < TILES; b++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int i = row0 + warp * 16 + a * 8 + (lane >> 2), c = b * 8 + (lane & 3) * 2 + h;
                if (i < m && c < some) out[(long long)(first + c) * m + i] = acc[a][b][h];
            }
}

extern "C" __global__ void __launch_bounds__(256, 3)
times_few_f32(const float* k, long long stride, const double* x, double* out, int m, int n, int vectors, int parts) {
    times_block<float, 2, 3>(k, stride, x, out, m, n, vectors, parts);
}
extern "C" __global__ void __launch_bounds__(256, 2)
times_many_f32(const float* k, long long stride, const double* x, double* out, int m, int n, int vectors, int parts) {
    times_block<float, 8, 2>(k, stride, x, out, m, n, vectors, parts);
}
extern "C" __global__ void __launch_bounds__(256, 1)
times_few_f64(const double* k, long long stride, const double* x, double* out, int m, int n, int vectors, int parts) {
    times_block<double, 2, 3>(k, stride, x, out, m, n, vectors, parts);
}

// The sum of parts, in their order.
extern "C" __global__ void __launch_bounds__(256) times_sum(const double* part, double* out, int count, int parts) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    double sum = part[i];
    for (int p = 1; p < parts; p++) sum += part[(long long)p * count + i];
    out[i] = sum;
}
