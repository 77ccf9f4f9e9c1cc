// Working sets solved, and what changed put into the gradients.

__device__ __forceinline__ u32 ordered(float x) {
    u32 u = __float_as_uint(x);
    return u ^ ((u >> 31) ? ALL : 0x80000000u);
}
__device__ __forceinline__ float from_ordered(u32 u) { return __uint_as_float(u ^ ((u >> 31) ? 0x80000000u : ALL)); }

// V values next to each other.
template <int V>
__device__ __forceinline__ void load_run(const float* from, float* to) {
    if (V == 4) {
        const float4 r = __ldg((const float4*)from);
        to[0] = r.x;
        to[1 % V] = r.y;
        to[2 % V] = r.z;
        to[3 % V] = r.w;
    } else {
        const float2 r = __ldg((const float2*)from);
        to[0] = r.x;
        to[1 % V] = r.y;
    }
}

// Solves a working set: a block a machine, V variables a thread, two barriers an iteration. The set's values lie in device
// memory, which is to say in the L2 cache. Gradients are f32 here, relative to the middle of their bracket; variables and the
// room they have are f64.
template <int GROUPS, int V>
__device__ __forceinline__ void solve_set(const Work& w) {
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    extern __shared__ __align__(16) u8 memory[];
    const Machine m = w.machine[blockIdx.x];
    const int q = w.q, t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5, first = t * V;
    const int count = state.count;
    double* above = (double*)memory;    // how far a variable may rise
    double* below = above + q;          // and fall
    float* seen = (float*)(below + q);  // gradients, two copies by parity
    float* diag = seen + 2 * q;
    __shared__ u32 least[2][GROUPS][8], most[2][GROUPS][8], best[2][8];
    __shared__ int sums[8];
    const int* set = w.set + (long long)blockIdx.x * q;
    const float* k = w.local + (long long)blockIdx.x * q * q;
    double beta[V], begin[V], lower[V], upper[V];
    float shift[V], g[V], own[V];
    int group[V];
    bool rises[V], falls[V], turned[V];  // turned: what others see of this variable's room is old
#pragma unroll
    for (int v = 0; v < V; v++) {
        const int p = first + v;
        beta[v] = lower[v] = upper[v] = 0.0;
        shift[v] = g[v] = own[v] = 0.0f;
        group[v] = 0;
        if (p < count) {
            const int number = set[p];
            const long long at = m.var0 + number;
            beta[v] = w.beta[at];
            lower[v] = w.lower[at];
            upper[v] = w.upper[at];
            shift[v] = w.shift ? (float)w.shift[at] : 0.0f;
            group[v] = GROUPS > 1 && w.group ? w.group[at] : 0;
            g[v] = (float)(gradient(w, m, number) - state.middle[GROUPS > 1 ? group[v] : 0]);
            own[v] = __ldg(k + (long long)p * q + p) + shift[v];
        }
        begin[v] = beta[v];
        above[p] = upper[v] - beta[v];
        below[p] = beta[v] - lower[v];
        diag[p] = own[v];
        rises[v] = p < count && beta[v] < upper[v];
        falls[v] = p < count && beta[v] > lower[v];
        turned[v] = false;
    }
    const float enough = (float)(w.inner * state.gap);
    const long long left = m.most - state.iterations;
    const int limit = left < 64ll * q ? (int)left : 64 * q;
    int step = 0;
    for (; step < limit; step++) {
        const int par = step & 1;
        float* now = seen + par * q;
        u32 rank[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            now[first + v] = g[v];
            rank[v] = ordered(g[v]);
        }
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            u32 low = ALL, high = 0u;
#pragma unroll
            for (int v = 0; v < V; v++) {
                const bool in = GROUPS == 1 || group[v] == c;
                if (rises[v] && in) low = min(low, (rank[v] & ~1023u) | (u32)(first + v));
                if (falls[v] && in) high = max(high, rank[v]);
            }
            low = __reduce_min_sync(ALL, low);
            high = __reduce_max_sync(ALL, high);
            if (lane == 0) { least[par][c][warp] = low; most[par][c][warp] = high; }
        }
        __syncthreads();
#pragma unroll
        for (int v = 0; v < V; v++)
            if (turned[v]) {
                above[first + v] = upper[v] - beta[v];
                below[first + v] = beta[v] - lower[v];
                turned[v] = false;
            }
        int i = -1, of = 0;
        float gap = 0.0f, gi = 0.0f;
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            u32 low = __reduce_min_sync(ALL, lane < warps ? least[par][c][lane] : ALL);
            u32 high = __reduce_max_sync(ALL, lane < warps ? most[par][c][lane] : 0u);
            if (low == ALL || high == 0u) continue;
            const float start = now[low & 1023u], width = from_ordered(high) - start;
            if (width > gap) { gap = width; i = low & 1023u; of = c; gi = start; }
        }
        if (i < 0 || gap <= enough) break;
        const float* line = k + (long long)i * q;
        const float di = diag[i];
        float kit[V], kjt[V];
        load_run<V>(line + first, kit);
        u32 key = 0;
#pragma unroll
        for (int v = 0; v < V; v++) {
            const float apart = g[v] - gi;
            if (falls[v] && (GROUPS == 1 || group[v] == of) && apart > 0.0f) {
                const float bend = fmaxf(di + own[v] - 2.0f * kit[v], 1e-7f * (fabsf(di) + fabsf(own[v])) + 1e-30f);
                key = max(key, (max(__float_as_uint(__fdividef(apart * apart, bend)), 1024u) & ~1023u) | (u32)(1023 - first - v));
            }
        }
        key = __reduce_max_sync(ALL, key);
        if (lane == 0) best[par][warp] = key;
        __syncthreads();
        key = __reduce_max_sync(ALL, lane < warps ? best[par][lane] : 0u);
        if (key == 0) break;
        const int j = 1023 - (int)(key & 1023u);
        load_run<V>(k + (long long)j * q + first, kjt);
        const float kij = __ldg(line + j), dj = diag[j], gj = now[j];
        const double room = fmin(above[i], below[j]);
        const float bend = fmaxf(di + dj - 2.0f * kij, 1e-7f * (fabsf(di) + fabsf(dj)) + 1e-30f);
        const float wish = (gj - gi) / bend, delta = fminf(wish, (float)room);
#pragma unroll
        for (int v = 0; v < V; v++) {
            const int p = first + v;
            g[v] += delta * (kit[v] - kjt[v]);
            if (p == i || p == j) {
                const double by = fmin((double)wish, room);
                if (p == i) {
                    beta[v] = by >= above[p] ? upper[v] : beta[v] + by;
                    g[v] += delta * shift[v];
                } else {
                    beta[v] = by >= below[p] ? lower[v] : beta[v] - by;
                    g[v] -= delta * shift[v];
                }
                rises[v] = beta[v] < upper[v];
                falls[v] = beta[v] > lower[v];
                turned[v] = true;
            }
        }
    }
    // What changed, in the order of the set.
    int mine = 0;
#pragma unroll
    for (int v = 0; v < V; v++) mine += first + v < count && beta[v] != begin[v];
    int before = mine;
    for (int d = 1; d < 32; d <<= 1) {
        int other = __shfl_up_sync(ALL, before, d);
        if (lane >= d) before += other;
    }
    __syncthreads();
    if (lane == 31) sums[warp] = before;
    __syncthreads();
    before -= mine;
    int all = 0;
    for (int p = 0; p < warps; p++) {
        if (p < warp) before += sums[p];
        all += sums[p];
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (first + v >= count || beta[v] == begin[v]) continue;
        const int number = set[first + v];
        const long long at = (long long)blockIdx.x * q + before++;
        w.change_slot[at] = w.slot[w.index[m.row0 + (number < m.n ? number : number - m.n)]];
        w.change[at] = beta[v] - begin[v];
        w.beta[m.var0 + number] = beta[v];
    }
    if (t == 0) {
        state.iterations += step;
        state.changed = all;
        state.idle = all ? 0 : state.idle + 1;
        if (state.idle >= 4) state.done = 3;
    }
}

extern "C" __global__ void __launch_bounds__(256, 1) solve_two_one(const __grid_constant__ Work w) { solve_set<1, 2>(w); }
extern "C" __global__ void __launch_bounds__(256, 1) solve_two_two(const __grid_constant__ Work w) { solve_set<2, 2>(w); }
extern "C" __global__ void __launch_bounds__(256, 1) solve_four_one(const __grid_constant__ Work w) { solve_set<1, 4>(w); }
extern "C" __global__ void __launch_bounds__(256, 1) solve_four_two(const __grid_constant__ Work w) { solve_set<2, 4>(w); }

// The values of a working set as a square in device memory. Grid: set x machines.
extern "C" __global__ void gather_set(const __grid_constant__ Work w) {
    const State& state = w.state[blockIdx.y];
    if (state.done || blockIdx.x >= state.count) return;
    const Machine& m = w.machine[blockIdx.y];
    const int* set = w.set + (long long)blockIdx.y * w.q;
    int a = set[blockIdx.x];
    const float* line = w.store + (long long)w.slot[w.index[m.row0 + (a < m.n ? a : a - m.n)]] * w.stride;
    float* out = w.local + ((long long)blockIdx.y * w.q + blockIdx.x) * w.q;
    for (int k = threadIdx.x; k < state.count; k += blockDim.x) {
        int b = set[k];
        out[k] = line[w.index[m.row0 + (b < m.n ? b : b - m.n)]];
    }
}

// f += change * rows, for all machines, and the brackets of what comes of it. A block has 64 rows and four shares of the
// changes. Grid: rows x machines.
extern "C" __global__ void __launch_bounds__(256) add_changes(const __grid_constant__ Work w) {
    const State& state = w.state[blockIdx.y];
    const Machine& m = w.machine[blockIdx.y];
    const int j0 = blockIdx.x * SPAN, changed = state.changed;
    if (state.done || j0 >= m.n) return;
    __shared__ int slot[1024];
    __shared__ double coef[1024], part[4][SPAN];
    __shared__ double2 pair[2][2];
    const int t = threadIdx.x, x = t & 63, share = t >> 6, j = j0 + x, lane = t & 31;
    const bool live = j < m.n;
    if (changed > 0) {
        const long long at = (long long)blockIdx.y * w.q;
        for (int p = t; p < changed; p += 256) {
            slot[p] = w.change_slot[at + p];
            coef[p] = w.change[at + p];
        }
        __syncthreads();
        double sum = 0.0;
        if (live) {
            const float* store = w.store + w.index[m.row0 + j];
#pragma unroll 8
            for (int p = share; p < changed; p += 4) sum += coef[p] * (double)__ldg(store + (long long)slot[p] * w.stride);
        }
        part[share][x] = sum;
        __syncthreads();
    }
    if (share > 0) return;
    double f = live ? w.f[m.row0 + j] : 0.0;
    if (changed > 0 && live) {
        f += (part[0][x] + part[1][x]) + (part[2][x] + part[3][x]);
        w.f[m.row0 + j] = f;
    }
    double low[2] = {INF, INF}, high[2] = {-INF, -INF};  // indexed by constants only: registers
    for (int v = j; live && v < m.total; v += m.n) {
        const long long at = m.var0 + v;
        const double b = w.beta[at];
        double g = f + w.linear[at];
        if (w.shift) g += w.shift[at] * b;
        const int group = w.group ? w.group[at] : 0;
        const bool rises = b < w.upper[at], falls = b > w.lower[at];
#pragma unroll
        for (int c = 0; c < 2; c++) {
            if (group == c && rises) low[c] = fmin(low[c], g);
            if (group == c && falls) high[c] = fmax(high[c], g);
        }
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
        if (c >= m.groups) break;
        for (int k = 16; k > 0; k >>= 1) {
            low[c] = fmin(low[c], __shfl_xor_sync(ALL, low[c], k));
            high[c] = fmax(high[c], __shfl_xor_sync(ALL, high[c], k));
        }
        if (lane == 0) pair[t >> 5][c] = make_double2(low[c], high[c]);
    }
    asm volatile("bar.sync 1, 64;\n");
    if (t < m.groups) {
        const double2 a = pair[0][t], b = pair[1][t];
        w.part[((long long)blockIdx.y * w.parts + blockIdx.x) * 2 + t] = make_double2(fmin(a.x, b.x), fmax(a.y, b.y));
    }
}
