// Blocks of kernel values: a product of rows on the tensor cores into registers, the map, one write.
//
// Rows of A and B are looked up by number, so that no copy of them is made. The number of A's rows is read from device
// memory: a round of the solver knows it only there. Blocks go round over tiles until none is left.

struct Side {
    const void* x;         // rows, padded to the pitch with zeros
    const double* square;  // |x|^2
    const void* sums;      // bytes: the sum of a row's integers; f64: what dot products of rows that were moved lack, or null
    const int* squares;    // bytes only: the sum of their squares
    const u32* rows;       // which rows; null: all, in order
};

struct Block {
    Side a, b;
    int m, n;          // rows of A and of B
    const int* count;  // where to read m instead; null: m
    const int* place;  // row of the output for each row of A; null: the same
    void* out;
    long long stride;
    int pitch;  // elements a row
    int d;
    double offset, scale;  // bytes only: values are offset + scale q
};

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void copy16(u32 to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n"); }
template <int N>
__device__ __forceinline__ void wait_for() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N)); }

__device__ __forceinline__ void load4(u32* r, u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from));
}

// Up to four values next to each other, as wide as their place allows.
__device__ __forceinline__ void store4(float* to, const float* v, int columns) {
    if (columns == 4 && ((size_t)to & 15) == 0) *(float4*)to = make_float4(v[0], v[1], v[2], v[3]);
    else
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (c < columns) to[c] = v[c];
}
__device__ __forceinline__ void store4(double* to, const double* v, int columns) {
    if (columns == 4 && ((size_t)to & 15) == 0) {
        *(double2*)to = make_double2(v[0], v[1]);
        *(double2*)(to + 2) = make_double2(v[2], v[3]);
    } else
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (c < columns) to[c] = v[c];
}

// What the map needs of a row: its product with itself, its sum (or what its dot products lack), |x|^2 as the kernel sees it,
// and where its values go.
template <class T>
struct Edge {
    T product, sum;
    double square;
    int place;
};

// 128 x 128 values by 256 threads; 64 bytes of each row at a time, four stages of them in shared memory.
#define BYTE_TILE 128
#define BYTE_STEP 64
#define BYTE_PITCH 80
#define BYTE_STAGES 4
#define BYTE_BACK 132
#define BYTE_STAGE (2 * BYTE_TILE * BYTE_PITCH)

template <class T>
__device__ __forceinline__ void values_bytes(const Block& block, const Map& map) {
    extern __shared__ __align__(16) u8 memory[];
    __shared__ Edge<int> edge[2][BYTE_TILE];
    const int m = block.count ? *block.count : block.m, n = block.n;
    const int tiles_m = (m + BYTE_TILE - 1) / BYTE_TILE, tiles_n = (n + BYTE_TILE - 1) / BYTE_TILE;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const int wm = (warp & 1) * 64, wn = (warp >> 1) * 32;
    const int steps = block.pitch / BYTE_STEP;
    const u32 base = shared_address(memory);
    // Each thread brings two pieces of 16 bytes of A and two of B per stage.
    const int piece = thread & 3, line = thread >> 2;
    for (long long tile = blockIdx.x; tile < (long long)tiles_m * tiles_n; tile += gridDim.x) {
        const int m0 = (int)(tile % tiles_m) * BYTE_TILE, n0 = (int)(tile / tiles_m) * BYTE_TILE;
        const u8* from[4];
        u32 to[4];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int r = line + 64 * half;
            int i = min(m0 + r, m - 1), j = min(n0 + r, n - 1);
            u32 row_a = block.a.rows ? block.a.rows[i] : (u32)i;
            u32 row_b = block.b.rows ? block.b.rows[j] : (u32)j;
            from[half] = (const u8*)block.a.x + (size_t)row_a * block.pitch + piece * 16;
            from[2 + half] = (const u8*)block.b.x + (size_t)row_b * block.pitch + piece * 16;
            to[half] = base + r * BYTE_PITCH + piece * 16;
            to[2 + half] = to[half] + BYTE_TILE * BYTE_PITCH;
        }
        {
            // What the map needs of each row and column, while the product runs.
            const bool right = thread >= BYTE_TILE;
            const int at = thread & (BYTE_TILE - 1), i = right ? min(n0 + at, n - 1) : min(m0 + at, m - 1);
            const Side& side = right ? block.b : block.a;
            const u32 row = side.rows ? side.rows[i] : (u32)i;
            edge[right][at] = {side.squares[row], ((const int*)side.sums)[row], side.square[row], !right && block.place ? block.place[i] : i};
        }
        int acc[4][4][4];
#pragma unroll
        for (int a = 0; a < 4; a++)
#pragma unroll
            for (int b = 0; b < 4; b++)
#pragma unroll
                for (int c = 0; c < 4; c++) acc[a][b][c] = 0;
#pragma unroll
        for (int s = 0; s < BYTE_STAGES - 1; s++) {
            if (s < steps)
#pragma unroll
                for (int p = 0; p < 4; p++) copy16(to[p] + s * BYTE_STAGE, from[p] + s * BYTE_STEP);
            commit();
        }
        for (int s = 0; s < steps; s++) {
            wait_for<BYTE_STAGES - 2>();
            __syncthreads();
            int ahead = s + BYTE_STAGES - 1;
            if (ahead < steps)
#pragma unroll
                for (int p = 0; p < 4; p++)
                    copy16(to[p] + (ahead % BYTE_STAGES) * BYTE_STAGE, from[p] + ahead * BYTE_STEP);
            commit();
            const u32 at_a = base + (s % BYTE_STAGES) * BYTE_STAGE, at_b = at_a + BYTE_TILE * BYTE_PITCH;
            // What comes next is loaded while products run: rows of A one after another, and both sides of the second half.
            u32 fa[2][4], fb[2][2][4];
            auto load_a = [&](int a, int k, u32* to) {
                load4(to, at_a + (wm + a * 16 + (lane & 15)) * BYTE_PITCH + k + (lane >> 4) * 16);
            };
            auto load_b = [&](int k, u32 (*to)[4]) {
#pragma unroll
                for (int b = 0; b < 2; b++)
                    load4(to[b], at_b + (wn + b * 16 + (lane & 7) + ((lane >> 4) & 1) * 8) * BYTE_PITCH + k + ((lane >> 3) & 1) * 16);
            };
            load_b(0, fb[0]);
            load_a(0, 0, fa[0]);
#pragma unroll
            for (int part = 0; part < 8; part++) {
                const int a = part & 3, half = part >> 2;
                if (part < 7) load_a((part + 1) & 3, ((part + 1) >> 2) * 32, fa[(part + 1) & 1]);
                if (part == 2) load_b(32, fb[1]);
#pragma unroll
                for (int b = 0; b < 4; b++) {
                    int* c = acc[a][b];
                    const u32 *left = fa[part & 1], *right = fb[half][b >> 1] + (b & 1) * 2;
                    asm volatile(
                        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                        "{%8,%9}, {%0,%1,%2,%3};\n"
                        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
                }
            }
        }
        wait_for<0>();
        __syncthreads();
        // Through shared memory: a thread then has four columns next to each other, and goes down the rows.
        int* tile_at = (int*)memory;
#pragma unroll
        for (int a = 0; a < 4; a++)
#pragma unroll
            for (int b = 0; b < 4; b++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    int r = wm + a * 16 + h * 8 + (lane >> 2), c = wn + b * 8 + (lane & 3) * 2;
                    *(int2*)(tile_at + r * BYTE_BACK + c) = make_int2(acc[a][b][h * 2], acc[a][b][h * 2 + 1]);
                }
        __syncthreads();
        const double s2 = block.scale * block.scale, os = block.offset * block.scale;
        const double constant = block.offset * block.offset * block.d;
        const bool gaussian = is_gaussian(map);
        const double narrow = -map.op[0].a * s2;
        const int c0 = lane * 4, columns = min(4, n - n0 - c0), rows = min(BYTE_TILE, m - m0);
        int sq_b[4];
#pragma unroll
        for (int c = 0; c < 4; c++) sq_b[c] = edge[1][c0 + c].product;
        if (gaussian) {
#pragma unroll 2
            for (int r = warp; r < rows; r += 8) {
                const int4 q4 = *(const int4*)(tile_at + r * BYTE_BACK + c0);
                const int q[4] = {q4.x, q4.y, q4.z, q4.w}, own = edge[0][r].product;
                T value[4];
#pragma unroll
                for (int c = 0; c < 4; c++) value[c] = gaussian_of(T(), narrow, own + sq_b[c] - 2 * q[c]);
                store4((T*)block.out + (long long)edge[0][r].place * block.stride + n0 + c0, value, columns);
            }
        } else {
#pragma unroll 1
            for (int r = warp; r < rows; r += 8) {
                const Edge<int> left = edge[0][r];
                T value[4];
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const Edge<int>& right = edge[1][c0 + c];
                    const int q = tile_at[r * BYTE_BACK + c0 + c];
                    double dot = s2 * q + os * (left.sum + right.sum) + constant;
                    value[c] = algebra<T>(map, dot, s2 * (left.product + right.product - 2 * q), left.square, right.square);
                }
                store4((T*)block.out + (long long)left.place * block.stride + n0 + c0, value, columns);
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
values_bytes_f32(const __grid_constant__ Block block, const __grid_constant__ Map map) {
    values_bytes<float>(block, map);
}
extern "C" __global__ void __launch_bounds__(256, 2)
values_bytes_f64(const __grid_constant__ Block block, const __grid_constant__ Map map) {
    values_bytes<double>(block, map);
}

// 128 x 64 values by 256 threads, in f64; 16 columns at a time, three stages.
#define WIDE_M 128
#define WIDE_N 64
#define WIDE_STEP 16
#define WIDE_PITCH 20
#define WIDE_STAGES 3
#define WIDE_BACK 66
#define WIDE_STAGE ((WIDE_M + WIDE_N) * WIDE_PITCH)

template <class T>
__device__ __forceinline__ void values_wide(const Block& block, const Map& map) {
    extern __shared__ __align__(16) double wide[];
    __shared__ Edge<double> edge[WIDE_M + WIDE_N];
    const int m = block.count ? *block.count : block.m, n = block.n;
    const int tiles_m = (m + WIDE_M - 1) / WIDE_M, tiles_n = (n + WIDE_N - 1) / WIDE_N;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const int wm = (warp & 3) * 32, wn = (warp >> 2) * 32;
    const int steps = block.pitch / WIDE_STEP;
    const u32 base = shared_address(wide);
    // 192 rows of 128 bytes: six pieces of 16 bytes a thread.
    const int piece = thread & 7, line = thread >> 3;
    for (long long tile = blockIdx.x; tile < (long long)tiles_m * tiles_n; tile += gridDim.x) {
        const int m0 = (int)(tile % tiles_m) * WIDE_M, n0 = (int)(tile / tiles_m) * WIDE_N;
        const double* from[6];
#pragma unroll
        for (int p = 0; p < 6; p++) {
            int r = line + 32 * p;
            bool left = r < WIDE_M;
            int i = left ? min(m0 + r, m - 1) : min(n0 + r - WIDE_M, n - 1);
            const Side& side = left ? block.a : block.b;
            u32 row = side.rows ? side.rows[i] : (u32)i;
            from[p] = (const double*)side.x + (size_t)row * block.pitch + piece * 2;
        }
        const u32 to = base + (line * WIDE_PITCH + piece * 2) * 8;
        if (thread < WIDE_M + WIDE_N) {
            // What the map needs of each row and column, while the product runs.
            const bool right = thread >= WIDE_M;
            const int i = right ? min(n0 + thread - WIDE_M, n - 1) : min(m0 + thread, m - 1);
            const Side& side = right ? block.b : block.a;
            const u32 row = side.rows ? side.rows[i] : (u32)i;
            edge[thread] = {side.square[row], block.a.sums ? ((const double*)side.sums)[row] : 0.0, 0.0, !right && block.place ? block.place[i] : i};
        }
        double acc[4][4][2];
#pragma unroll
        for (int a = 0; a < 4; a++)
#pragma unroll
            for (int b = 0; b < 4; b++) acc[a][b][0] = acc[a][b][1] = 0.0;
#pragma unroll
        for (int s = 0; s < WIDE_STAGES - 1; s++) {
            if (s < steps)
#pragma unroll
                for (int p = 0; p < 6; p++)
                    copy16(to + (s * WIDE_STAGE + 32 * p * WIDE_PITCH) * 8, from[p] + s * WIDE_STEP);
            commit();
        }
        for (int s = 0; s < steps; s++) {
            wait_for<WIDE_STAGES - 2>();
            __syncthreads();
            int ahead = s + WIDE_STAGES - 1;
            if (ahead < steps)
#pragma unroll
                for (int p = 0; p < 6; p++)
                    copy16(to + ((ahead % WIDE_STAGES) * WIDE_STAGE + 32 * p * WIDE_PITCH) * 8,
                           from[p] + ahead * WIDE_STEP);
            commit();
            const double* at_a = wide + (s % WIDE_STAGES) * WIDE_STAGE;
            const double* at_b = at_a + WIDE_M * WIDE_PITCH;
#pragma unroll
            for (int k = 0; k < WIDE_STEP; k += 4) {
                double fa[4], fb[4];
#pragma unroll
                for (int a = 0; a < 4; a++) fa[a] = at_a[(wm + a * 8 + (lane >> 2)) * WIDE_PITCH + k + (lane & 3)];
#pragma unroll
                for (int b = 0; b < 4; b++) fb[b] = at_b[(wn + b * 8 + (lane >> 2)) * WIDE_PITCH + k + (lane & 3)];
#pragma unroll
                for (int a = 0; a < 4; a++)
#pragma unroll
                    for (int b = 0; b < 4; b++)
                        asm volatile(
                            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
                            : "+d"(acc[a][b][0]), "+d"(acc[a][b][1]) : "d"(fa[a]), "d"(fb[b]));
            }
        }
        wait_for<0>();
        __syncthreads();
#pragma unroll
        for (int a = 0; a < 4; a++)
#pragma unroll
            for (int b = 0; b < 4; b++) {
                int r = wm + a * 8 + (lane >> 2), c = wn + b * 8 + (lane & 3) * 2;
                *(double2*)(wide + r * WIDE_BACK + c) = make_double2(acc[a][b][0], acc[a][b][1]);
            }
        __syncthreads();
        const bool gaussian = is_gaussian(map);
        const double narrow = -map.op[0].a;
        const int c0 = (thread & 15) * 4, columns = min(4, n - n0 - c0), rows = min(WIDE_M, m - m0);
        double yy[4], more_b[4];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            yy[c] = edge[WIDE_M + c0 + c].product;
            more_b[c] = edge[WIDE_M + c0 + c].sum;
        }
#pragma unroll 1
        for (int r = thread >> 4; r < rows; r += 16) {
            const Edge<double> left = edge[r];
            const double xx = left.product, more_a = left.sum;
            const double* at = wide + r * WIDE_BACK + c0;
            T value[4];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const double dot = at[c], apart = xx + yy[c] - 2.0 * dot, dist = apart > 0.0 ? apart : 0.0;
                value[c] = gaussian ? exp_of((T)(narrow * dist))
                                    : algebra<T>(map, dot + (more_a + more_b[c]), dist, xx + 2.0 * more_a, yy[c] + 2.0 * more_b[c]);
            }
            store4((T*)block.out + (long long)left.place * block.stride + n0 + c0, value, columns);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
values_wide_f32(const __grid_constant__ Block block, const __grid_constant__ Map map) {
    values_wide<float>(block, map);
}
extern "C" __global__ void __launch_bounds__(256, 2)
values_wide_f64(const __grid_constant__ Block block, const __grid_constant__ Map map) {
    values_wide<double>(block, map);
}
