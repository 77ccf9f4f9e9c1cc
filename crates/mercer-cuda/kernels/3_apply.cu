// Sums of kernel values against coefficients: out[i, o] += sum_j v[i, j] coef[j, o], in f64 and in a fixed order.

// One output: a warp a row.
template <class T>
__device__ __forceinline__ void apply_one(const T* v, long long stride, const double* coef, double* out, int n, int m) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= n) return;
    const T* line = v + row * stride;
    double sum = 0.0;
    for (int j = lane; j < m; j += 32) sum += (double)line[j] * coef[j];
    for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (lane == 0) out[row] += sum;
}
extern "C" __global__ void apply_one_f32(const float* v, long long stride, const double* coef, double* out, int n, int m) {
    apply_one<float>(v, stride, coef, out, n, m);
}
extern "C" __global__ void apply_one_f64(const double* v, long long stride, const double* coef, double* out, int n, int m) {
    apply_one<double>(v, stride, coef, out, n, m);
}

// Many outputs: 32 rows x 32 outputs a block of 256 threads, each 4 of them; 32 centres at a time.
template <class T>
__device__ __forceinline__ void apply_many(const T* v, long long stride, const double* coef, double* out, int n, int m, int k) {
    __shared__ double left[32][33], right[32][33];
    const int row0 = blockIdx.x * 32, out0 = blockIdx.y * 32;
    const int x = threadIdx.x & 31, y = threadIdx.x >> 5;
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (int j0 = 0; j0 < m; j0 += 32) {
        for (int p = 0; p < 4; p++) {
            int r = y + 8 * p, row = row0 + r, j = j0 + x;
            left[r][x] = (row < n && j < m) ? (double)v[row * stride + j] : 0.0;
            int o = out0 + x, jj = j0 + r;
            right[r][x] = (o < k && jj < m) ? coef[(long long)jj * k + o] : 0.0;
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            double c = right[j][x];
            for (int p = 0; p < 4; p++) sum[p] += left[y + 8 * p][j] * c;
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++) {
        int row = row0 + y + 8 * p, o = out0 + x;
        if (row < n && o < k) out[(long long)row * k + o] += sum[p];
    }
}
extern "C" __global__ void apply_many_f32(const float* v, long long stride, const double* coef, double* out, int n, int m, int k) {
    apply_many<float>(v, stride, coef, out, n, m, k);
}
extern "C" __global__ void apply_many_f64(const double* v, long long stride, const double* coef, double* out, int n, int m, int k) {
    apply_many<double>(v, stride, coef, out, n, m, k);
}

// Squared norms of rows in f64. Of rows that were moved by `shift` also what their dot products lack: x.y of the rows as they
// were is that of the moved rows and more[x] + more[y].
extern "C" __global__ void squares_wide(const double* x, int pitch, int n, double* square, const double* shift, double* more) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= n) return;
    double sum = 0.0, along = 0.0;
    for (int j = lane; j < pitch; j += 32) {
        double v = x[(size_t)row * pitch + j];
        sum += v * v;
        if (more) along += shift[j] * (v + 0.5 * shift[j]);
    }
    for (int k = 16; k > 0; k >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
        along += __shfl_xor_sync(0xffffffffu, along, k);
    }
    if (lane == 0) {
        square[row] = sum;
        if (more) more[row] = along;
    }
}

// Sums, sums of squares and squared norms of rows of bytes.
extern "C" __global__ void squares_bytes(const u8* x, int pitch, int n, int d, double offset, double scale, int* sums,
                                         int* squares, double* square) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= n) return;
    int sum = 0, sq = 0;
    for (int j = lane; j < d; j += 32) { int v = x[(size_t)row * pitch + j]; sum += v; sq += v * v; }
    for (int k = 16; k > 0; k >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, k);
        sq += __shfl_xor_sync(0xffffffffu, sq, k);
    }
    if (lane == 0) {
        sums[row] = sum;
        squares[row] = sq;
        square[row] = scale * scale * sq + 2.0 * offset * scale * sum + offset * offset * d;
    }
}
