// A matrix of f32, m x n, times some vectors of f64: out[c * m + i] = sum_j k[i * stride + j] x[c * n + j].
//
// A block has 128 rows and up to 8 TILES vectors, 32 columns of the matrix at a time, two stages of them in shared memory;
// a warp has 16 of the rows. Sums are in f64 on the tensor cores, in a fixed order.

#define TIMES_ROWS 128
#define TIMES_STEP 32
#define TIMES_PITCH 36  // of the matrix's rows, in f32
#define TIMES_BACK 36   // of the vectors, in f64

template <int TILES>
__device__ __forceinline__ void times_block(const float* k, long long stride, const double* x, double* out, int m, int n, int vectors) {
    extern __shared__ __align__(16) u8 memory[];
    float* left = (float*)memory;                                           // two stages of 128 x 32
    double* right = (double*)(left + 2 * TIMES_ROWS * TIMES_PITCH);          // two stages of 8 TILES x 32
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5, row0 = blockIdx.x * TIMES_ROWS, first = blockIdx.y * 8 * TILES;
    const int some = min(8 * TILES, vectors - first), steps = (n + TIMES_STEP - 1) / TIMES_STEP;
    double acc[2][TILES][2];
#pragma unroll
    for (int a = 0; a < 2; a++)
#pragma unroll
        for (int b = 0; b < TILES; b++) acc[a][b][0] = acc[a][b][1] = 0.0;
    // The matrix's rows are padded to whole steps; vectors are not, and are read one by one.
    auto load = [&](int s) {
        float* to = left + (s & 1) * TIMES_ROWS * TIMES_PITCH;
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const int r = (t >> 3) + 32 * p, row = min(row0 + r, m - 1);
            copy16(shared_address(to + r * TIMES_PITCH + (t & 7) * 4), k + (long long)row * stride + s * TIMES_STEP + (t & 7) * 4);
        }
        commit();
        double* back = right + (s & 1) * 8 * TILES * TIMES_BACK;
#pragma unroll
        for (int c = warp; c < 8 * TILES; c += 8) {
            const int j = s * TIMES_STEP + lane;
            back[c * TIMES_BACK + lane] = c < some && j < n ? x[(long long)(first + c) * n + j] : 0.0;
        }
    };
    load(0);
    for (int s = 0; s < steps; s++) {
        if (s + 1 < steps) {
            load(s + 1);
            wait_for<1>();
        } else {
            wait_for<0>();
        }
        __syncthreads();
        const float* a_at = left + (s & 1) * TIMES_ROWS * TIMES_PITCH + (warp * 16 + (lane >> 2)) * TIMES_PITCH + (lane & 3);
        const double* b_at = right + (s & 1) * 8 * TILES * TIMES_BACK + (lane >> 2) * TIMES_BACK + (lane & 3);
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
        __syncthreads();
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

extern "C" __global__ void __launch_bounds__(256, 2)
times_few(const float* k, long long stride, const double* x, double* out, int m, int n, int vectors) {
    times_block<2>(k, stride, x, out, m, n, vectors);
}
extern "C" __global__ void __launch_bounds__(256, 2)
times_many(const float* k, long long stride, const double* x, double* out, int m, int n, int vectors) {
    times_block<8>(k, stride, x, out, m, n, vectors);
}
