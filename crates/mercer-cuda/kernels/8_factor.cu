// Factors of symmetric matrices of f64, and triangular solves with them. Matrices lie row by row, and their order is filled up
// to a multiple of 128 with rows of the unit matrix, so that nothing here looks at a border.

#define FACTOR_TILE 128
#define FACTOR_STEP 16
#define FACTOR_PITCH 20
#define FACTOR_STAGES 3
#define FACTOR_STAGE (2 * FACTOR_TILE * FACTOR_PITCH)
#define FACTOR_OWN 129
#define FACTOR_GROUP 12

// C = alpha A B' or C += alpha A B': m x n from m x k and n x k.
struct Times {
    const double* a;
    const double* b;
    double* c;
    long long lda, ldb, ldc;
    int m, n, k;  // multiples of 128, 128 and 16
    int lower;    // only tiles that are not above the diagonal of C
    int late;     // row i of A and of B is 0 before column i
    int add;
    double alpha;
    long long next_a, next_b, next_c;  // from one product to the next along the second axis of the grid
};

// 128 x 128 values a block, a warp has 64 x 32 of them; 16 columns at a time, three stages. Neighbours in the grid share rows
// of A and of B in the L2 cache.
extern "C" __global__ void __launch_bounds__(256, 1) factor_times(const __grid_constant__ Times p) {
    extern __shared__ __align__(16) double room[];
    const int tiles_m = p.m / FACTOR_TILE, tiles_n = p.n / FACTOR_TILE;
    const int group = blockIdx.x / (FACTOR_GROUP * tiles_n), first = group * FACTOR_GROUP;
    const int high = min(FACTOR_GROUP, tiles_m - first), inside = blockIdx.x - first * tiles_n;
    const int tile_m = first + inside % high, tile_n = inside / high;
    if (p.lower && tile_n > tile_m) return;
    const int m0 = tile_m * FACTOR_TILE, n0 = tile_n * FACTOR_TILE;
    const int from_k = p.late ? max(m0, n0) : 0, steps = (p.k - from_k) / FACTOR_STEP;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const int wm = (warp & 1) * 64, wn = (warp >> 1) * 32, piece = thread & 7, line = thread >> 3;
    const double* from_a = p.a + blockIdx.y * p.next_a + (long long)(m0 + line) * p.lda + from_k + piece * 2;
    const double* from_b = p.b + blockIdx.y * p.next_b + (long long)(n0 + line) * p.ldb + from_k + piece * 2;
    const u32 to = shared_address(room) + (line * FACTOR_PITCH + piece * 2) * 8;
    auto load = [&](int s) {
        const u32 at = to + (s % FACTOR_STAGES) * FACTOR_STAGE * 8;
#pragma unroll
        for (int q = 0; q < 4; q++) {
            copy16(at + 32 * q * FACTOR_PITCH * 8, from_a + 32 * q * p.lda + s * FACTOR_STEP);
            copy16(at + (FACTOR_TILE + 32 * q) * FACTOR_PITCH * 8, from_b + 32 * q * p.ldb + s * FACTOR_STEP);
        }
    };
    double acc[8][4][2];
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
        for (int b = 0; b < 4; b++) acc[a][b][0] = acc[a][b][1] = 0.0;
#pragma unroll
    for (int s = 0; s < FACTOR_STAGES - 1; s++) {
        if (s < steps) load(s);
        commit();
    }
    for (int s = 0; s < steps; s++) {
        wait_for<FACTOR_STAGES - 2>();
        __syncthreads();
        if (s + FACTOR_STAGES - 1 < steps) load(s + FACTOR_STAGES - 1);
        commit();
        const double* at_a = room + (s % FACTOR_STAGES) * FACTOR_STAGE + (wm + (lane >> 2)) * FACTOR_PITCH + (lane & 3);
        const double* at_b = room + (s % FACTOR_STAGES) * FACTOR_STAGE + (FACTOR_TILE + wn + (lane >> 2)) * FACTOR_PITCH + (lane & 3);
#pragma unroll
        for (int k = 0; k < FACTOR_STEP; k += 4) {
            double fa[8], fb[4];
#pragma unroll
            for (int a = 0; a < 8; a++) fa[a] = at_a[a * 8 * FACTOR_PITCH + k];
#pragma unroll
            for (int b = 0; b < 4; b++) fb[b] = at_b[b * 8 * FACTOR_PITCH + k];
#pragma unroll
            for (int a = 0; a < 8; a++)
#pragma unroll
                for (int b = 0; b < 4; b++)
                    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
                                 : "+d"(acc[a][b][0]), "+d"(acc[a][b][1]) : "d"(fa[a]), "d"(fb[b]));
        }
    }
    wait_for<0>();
    // C may be A: nothing of A is read after this.
    __syncthreads();
#pragma unroll
    for (int a = 0; a < 8; a++)
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const long long row = m0 + wm + a * 8 + (lane >> 2);
            double2* c = (double2*)(p.c + blockIdx.y * p.next_c + row * p.ldc + n0 + wn + b * 8 + (lane & 3) * 2);
            double2 out = make_double2(p.alpha * acc[a][b][0], p.alpha * acc[a][b][1]);
            if (p.add) {
                const double2 old = *c;
                out.x += old.x;
                out.y += old.y;
            }
            *c = out;
        }
}

// A tile of 128 x 128 on the diagonal: A = L L' in its place, and the inverse of L and its transpose, row by row. `fault` is set
// where it is not positive definite.
//
// A thread has 8 x 8 values, 16 rows and 16 columns apart, in registers: a column (then a row of the inverse) goes to all of
// them through shared memory, one barrier each.
extern "C" __global__ void __launch_bounds__(256, 1)
factor_tile(double* a, long long stride, double* inverse, double* turned, int wide, int* fault) {
    extern __shared__ __align__(16) double room[];
    __shared__ double line[2][FACTOR_TILE];
    __shared__ double pivot[FACTOR_TILE];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    double v[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) v[i][k] = a[(ty + 16 * i) * stride + tx + 16 * k];
#pragma unroll
    for (int q = 0; q < 8; q++)
#pragma unroll 1
        for (int s = 0; s < 16; s++) {
            const int j = 16 * q + s;
            double* column = line[j & 1];
            if (tx == s)
#pragma unroll
                for (int i = 0; i < 8; i++) column[ty + 16 * i] = v[i][q];
            __syncthreads();
            const double square = column[j];
            const bool fine = square > 0.0;
            const double root = fine ? sqrt(square) : 1.0, over = 1.0 / root;
            if (threadIdx.x == 0) {
                pivot[j] = root;
                if (!fine) *fault = 1;
            }
            double left[8];
#pragma unroll
            for (int i = 0; i < 8; i++) left[i] = column[ty + 16 * i] * over;
            if (tx == s)
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    const int r = ty + 16 * i;
                    v[i][q] = r > j ? left[i] : (r == j ? root : 0.0);
                }
#pragma unroll
            for (int k = q; k < 8; k++) {
                const int c = tx + 16 * k;
                const double right = c > j ? column[c] * over : 0.0;
#pragma unroll
                for (int i = q; i < 8; i++)
                    if (ty + 16 * i > j) v[i][k] -= left[i] * right;
            }
        }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const int r = ty + 16 * i, c = tx + 16 * k;
            const double value = c > r ? 0.0 : v[i][k];
            a[r * stride + c] = value;
            room[r * FACTOR_OWN + c] = value;
            v[i][k] = r == c ? 1.0 : 0.0;
        }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; q++)
#pragma unroll 1
        for (int s = 0; s < 16; s++) {
            const int j = 16 * q + s;
            double* row = line[j & 1];
            if (ty == s) {
                const double over = 1.0 / pivot[j];
#pragma unroll
                for (int k = 0; k < 8; k++) row[tx + 16 * k] = v[q][k] *= over;
            }
            __syncthreads();
#pragma unroll
            for (int i = q; i < 8; i++) {
                const int r = ty + 16 * i;
                const double left = r > j ? room[r * FACTOR_OWN + j] : 0.0;
#pragma unroll
                for (int k = 0; k <= q; k++) v[i][k] -= left * row[tx + 16 * k];
            }
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const int r = ty + 16 * i, c = tx + 16 * k;
            inverse[r * wide + c] = v[i][k];
            room[c * FACTOR_OWN + r] = v[i][k];
        }
    __syncthreads();
    for (int p = threadIdx.x; p < FACTOR_TILE * FACTOR_TILE; p += 256)
        turned[(p >> 7) * wide + (p & 127)] = room[(p >> 7) * FACTOR_OWN + (p & 127)];
}

// The transpose of a lower triangle, 32 x 32 values a block; what lies on the other side within tiles of 128 becomes 0.
extern "C" __global__ void __launch_bounds__(256) factor_turn(double* l, double* turned, long long stride) {
    __shared__ double tile[32][33];
    const int ti = blockIdx.x, tj = blockIdx.y, x = threadIdx.x & 31, y = threadIdx.x >> 5;
    const bool near = (ti >> 2) == (tj >> 2);
    if (tj > ti && !near) return;
    for (int r = y; r < 32; r += 8) {
        const int i = ti * 32 + r, j = tj * 32 + x;
        if (j > i) l[(long long)i * stride + j] = 0.0;
        tile[r][x] = j > i ? 0.0 : l[(long long)i * stride + j];
    }
    __syncthreads();
    for (int r = y; r < 32; r += 8) turned[(long long)(tj * 32 + r) * stride + ti * 32 + x] = tile[x][r];
}

// Rows of the unit matrix after the first m, and what is added to the diagonal before.
extern "C" __global__ void __launch_bounds__(256) factor_border(double* a, long long stride, int m, int order, double add) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < order) a[i * stride + i] = i < m ? a[i * stride + i] + add : 1.0;
}

// Columns times numbers.
extern "C" __global__ void __launch_bounds__(256) factor_scale(const double* a, double* out, const double* by, long long stride) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    const long long at = blockIdx.y * stride + j;
    if (j < stride) out[at] = a[at] * by[j];
}

// Rows of f32 as rows of f64 of another stride, each column over the root of its shift; columns after the last are 0.
extern "C" __global__ void __launch_bounds__(256)
factor_rows(const float* rows, long long stride, const double* shift, double* out, long long wide, int n) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    if (j < wide) out[blockIdx.y * wide + j] = j < n ? (double)rows[blockIdx.y * stride + j] / sqrt(shift[j]) : 0.0;
}

// out += a within the first m rows and columns of a square of f32.
extern "C" __global__ void __launch_bounds__(256)
factor_add(const float* a, long long stride, double* out, long long wide, int m) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    if (j < m) out[blockIdx.y * wide + j] += (double)a[blockIdx.y * stride + j];
}

// out[r] = sum_c M[r, c] x[c], or what is taken from out, for eight vectors of `order` numbers along the second axis of the grid
// and 32 rows r of from..to a block: each of its warps has an eighth of the columns. M is given transposed: row c, column r.
extern "C" __global__ void __launch_bounds__(256)
factor_solve(const double* m, long long stride, const double* x, double* out, int at, int columns, int from, int to, int order, int vectors, int take) {
    __shared__ __align__(16) double some[8][64][8];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = blockIdx.y * 8, count = min(8, vectors - first);
    const int r = blockIdx.x * 32 + lane, share = columns / 8, begin = warp * share;
    const double* column = m + (long long)begin * stride + r;
    double sum[8];
#pragma unroll
    for (int c = 0; c < 8; c++) sum[c] = 0.0;
    for (int done = 0; done < share; done += 64) {
        const int some_here = min(64, share - done);
        __syncwarp();
#pragma unroll
        for (int c = 0; c < 8; c++)
            for (int k = lane; k < some_here; k += 32)
                some[warp][k][c] = c < count ? x[(long long)(first + c) * order + at + begin + done + k] : 0.0;
        __syncwarp();
        // Shares are multiples of 16.
        for (int k = 0; k < some_here; k += 16) {
            double v[16];
#pragma unroll
            for (int p = 0; p < 16; p++) v[p] = column[(long long)(done + k + p) * stride];
#pragma unroll
            for (int p = 0; p < 16; p++)
#pragma unroll
                for (int c = 0; c < 8; c += 2) {
                    const double2 pair = *(const double2*)&some[warp][k + p][c];
                    sum[c] += v[p] * pair.x;
                    sum[c + 1] += v[p] * pair.y;
                }
        }
    }
    __syncthreads();
    double* sums = &some[0][0][0];
#pragma unroll
    for (int c = 0; c < 8; c++) sums[(warp * 8 + c) * 32 + lane] = sum[c];
    __syncthreads();
    // A warp a vector, the eighths in their order.
    if (warp < count) {
        double total = 0.0;
#pragma unroll
        for (int p = 0; p < 8; p++) total += sums[(p * 8 + warp) * 32 + lane];
        const int row = from + r;
        double* place = out + (long long)(first + warp) * order + row;
        if (row < to) *place = take ? *place - total : total;
    }
}
