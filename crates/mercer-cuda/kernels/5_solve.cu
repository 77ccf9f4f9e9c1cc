// Working sets solved, and what changed put into the gradients.

__device__ __forceinline__ u32 ordered(float x) {
    u32 u = __float_as_uint(x);
    return u ^ ((u >> 31) ? ALL : 0x80000000u);
}
__device__ __forceinline__ float from_ordered(u32 u) { return __uint_as_float(u ^ ((u >> 31) ? 0x80000000u : ALL)); }

// The values of a set's square: f32, or, for kernels between 0 and 1, whole numbers of 16 bits. `raw` is what is stored as f32,
// exact, and UNIT what one of it is worth.
template <class K>
struct Square;

template <>
struct Square<float> {
    static constexpr float UNIT = 1.0f;
    static __device__ __forceinline__ float raw(const float* at) { return __ldg(at); }
    static __device__ __forceinline__ void run(const float* from, float (&to)[2]) {
        const float2 r = __ldg((const float2*)from);
        to[0] = r.x;
        to[1] = r.y;
    }
    static __device__ __forceinline__ void run(const float* from, float (&to)[4]) {
        const float4 r = __ldg((const float4*)from);
        to[0] = r.x;
        to[1] = r.y;
        to[2] = r.z;
        to[3] = r.w;
    }
    static __device__ __forceinline__ float store(float value) { return value; }
};

template <>
struct Square<u16> {
    static constexpr float UNIT = 1.0f / 65535.0f;
    // 2^23 + x has x in its last bits: a conversion without the slow conversion unit.
    static __device__ __forceinline__ float low(u32 two) { return __uint_as_float(__byte_perm(two, 0x4b000000u, 0x7610)) - 8388608.0f; }
    static __device__ __forceinline__ float high(u32 two) { return __uint_as_float(__byte_perm(two, 0x4b000000u, 0x7632)) - 8388608.0f; }
    static __device__ __forceinline__ float raw(const u16* at) { return low((u32)__ldg(at)); }
    static __device__ __forceinline__ void run(const u16* from, float (&to)[2]) {
        const u32 r = __ldg((const u32*)from);
        to[0] = low(r);
        to[1] = high(r);
    }
    static __device__ __forceinline__ u16 store(float value) {
        return (u16)__float2int_rn(65535.0f * fminf(fmaxf(value, 0.0f), 1.0f));
    }
};

// The least or the greatest of eight numbers, one of each warp.
__device__ __forceinline__ u32 least_of(const u32* eight) {
    const uint4 a = *(const uint4*)eight, b = *(const uint4*)(eight + 4);
    return min(min(min(a.x, a.y), min(a.z, a.w)), min(min(b.x, b.y), min(b.z, b.w)));
}
__device__ __forceinline__ u32 most_of(const u32* eight) {
    const uint4 a = *(const uint4*)eight, b = *(const uint4*)(eight + 4);
    return max(max(max(a.x, a.y), max(a.z, a.w)), max(max(b.x, b.y), max(b.z, b.w)));
}

// Solves a working set: a block a machine, V variables a thread, two barriers an iteration. The set's values lie in device
// memory, which is to say in the L1 and L2 caches. Gradients are f32 here, relative to the middle of their bracket; variables
// and the room they have are f64, with copies in f32 for the step itself. A key holds a value in its upper 22 bits and the
// variable's place in the lower 10.
template <int GROUPS, int V, class K>
__device__ __forceinline__ void solve_set(const Work& w) {
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    extern __shared__ __align__(16) u8 memory[];
    const Machine m = w.machine[blockIdx.x];
    const int q = w.q, t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5, first = t * V;
    const int count = state.count;
    double* above = (double*)memory;      // how far a variable may rise
    double* below = above + q;            // and fall
    float* seen = (float*)(below + q);    // gradients, two copies by parity
    float* diag = seen + 2 * q;
    float* rise = diag + q;               // above and below in f32
    float* fall = rise + q;
    __shared__ __align__(16) u32 least[2][GROUPS][8], most[2][GROUPS][8], best[2][8];
    __shared__ int sums[8];
    const int* set = w.set + (long long)blockIdx.x * q;
    const K* k = (const K*)w.local + (long long)blockIdx.x * q * q;
    constexpr float UNIT = Square<K>::UNIT;
    double beta[V], begin[V], lower[V], upper[V];
    float shift[V], g[V], own[V];
    int group[V];
    bool rises[V], falls[V], turned[V];  // turned: what others see of this variable's room is old
    if (t < 8) {
        for (int par = 0; par < 2; par++) {
            for (int c = 0; c < GROUPS; c++) {
                least[par][c][t] = ALL;
                most[par][c][t] = 0;
            }
            best[par][t] = 0;
        }
    }
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
            own[v] = UNIT * Square<K>::raw(k + (long long)p * q + p) + shift[v];
        }
        begin[v] = beta[v];
        above[p] = upper[v] - beta[v];
        below[p] = beta[v] - lower[v];
        rise[p] = (float)(upper[v] - beta[v]);
        fall[p] = (float)(beta[v] - lower[v]);
        diag[p] = own[v];
        rises[v] = p < count && beta[v] < upper[v];
        falls[v] = p < count && beta[v] > lower[v];
        turned[v] = false;
    }
    const float enough = (float)(w.inner * state.gap);
    const long long left = m.most - state.iterations;
    const int limit = left < 64ll * q ? (int)left : 64 * q;
    __syncthreads();
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
                rise[first + v] = (float)(upper[v] - beta[v]);
                fall[first + v] = (float)(beta[v] - lower[v]);
                turned[v] = false;
            }
        int i = -1, of = 0;
        float gap = 0.0f, gi = 0.0f;
        if (GROUPS == 1) {
            const u32 low = least_of(least[par][0]), high = most_of(most[par][0]);
            if (low == ALL || high == 0u) break;
            i = low & 1023u;
            gi = now[i];
            gap = from_ordered(high) - gi;
        } else {
#pragma unroll
            for (int c = 0; c < GROUPS; c++) {
                const u32 low = least_of(least[par][c]), high = most_of(most[par][c]);
                if (low == ALL || high == 0u) continue;
                const float start = now[low & 1023u], width = from_ordered(high) - start;
                if (width > gap) { gap = width; i = low & 1023u; of = c; gi = start; }
            }
            if (i < 0) break;
        }
        const K* line = k + (long long)i * q;
        float kit[V], kjt[V];
        Square<K>::run(line + first, kit);
        const float di = diag[i];
        if (gap <= enough) break;
        u32 key = 0;
#pragma unroll
        for (int v = 0; v < V; v++) {
            const float apart = g[v] - gi;
            const float bend = fmaxf(fmaf(-2.0f * UNIT, kit[v], di + own[v]), 1e-7f * (fabsf(di) + fabsf(own[v])) + 1e-30f);
            const u32 gain = (max(__float_as_uint(__fdividef(apart * apart, bend)), 1024u) & ~1023u) | (u32)(1023 - first - v);
            if (falls[v] && (GROUPS == 1 || group[v] == of) && apart > 0.0f) key = max(key, gain);
        }
        key = __reduce_max_sync(ALL, key);
        if (lane == 0) best[par][warp] = key;
        __syncthreads();
        key = most_of(best[par]);
        if (key == 0) break;
        const int j = 1023 - (int)(key & 1023u);
        Square<K>::run(k + (long long)j * q + first, kjt);
        const float kij = Square<K>::raw(line + j), dj = diag[j], gj = now[j], room = fminf(rise[i], fall[j]);
        const float bend = fmaxf(fmaf(-2.0f * UNIT, kij, di + dj), 1e-7f * (fabsf(di) + fabsf(dj)) + 1e-30f);
        const float wish = __fdividef(gj - gi, bend), delta = fminf(wish, room), change = UNIT * delta;
#pragma unroll
        for (int v = 0; v < V; v++) {
            const int p = first + v;
            g[v] = fmaf(change, kit[v] - kjt[v], g[v]);
            if (p == i || p == j) {
                const double by = fmin((double)wish, fmin(above[i], below[j]));
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

// The same for Gaussians and products of them whose box is small beside the tolerance: values in 16 bits, 1 on the diagonal, and
// steps in f32 alone. What a variable has moved is summed in f64, exactly, so that sums of variables stay what they were. A block
// of WARPS warps at most.
template <int GROUPS, int V, int WARPS>
__device__ __forceinline__ void solve_unit(const Work& w) {
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    extern __shared__ __align__(16) u8 memory[];
    const Machine m = w.machine[blockIdx.x];
    const int q = w.q, t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5, first = t * V;
    const int count = state.count;
    float* seen = (float*)memory;  // gradients, two copies by parity
    float* rise = seen + 2 * q;    // how far a variable may rise
    float* fall = rise + q;        // and fall
    __shared__ __align__(16) u32 least[2][GROUPS][WARPS], most[2][GROUPS][WARPS], best[2][WARPS];
    __shared__ int sums[WARPS];
    __shared__ double lacks[WARPS][GROUPS];
    const int* set = w.set + (long long)blockIdx.x * q;
    const u16* k = (const u16*)w.local + (long long)blockIdx.x * q * q;
    constexpr float UNIT = Square<u16>::UNIT;
    double moved[V];
    float g[V], up[V], down[V];
    int group[V];
    bool turned = false;  // what others see of this thread's room is old
    if (t < WARPS) {
        for (int par = 0; par < 2; par++) {
            for (int c = 0; c < GROUPS; c++) {
                least[par][c][t] = ALL;
                most[par][c][t] = 0;
            }
            best[par][t] = 0;
        }
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        const int p = first + v;
        moved[v] = 0.0;
        g[v] = up[v] = down[v] = 0.0f;
        group[v] = 0;
        if (p < count) {
            const int number = set[p];
            const long long at = m.var0 + number;
            const double beta = w.beta[at];
            group[v] = GROUPS > 1 && w.group ? w.group[at] : 0;
            up[v] = (float)(w.upper[at] - beta);
            down[v] = (float)(beta - w.lower[at]);
            g[v] = (float)(gradient(w, m, number) - state.middle[GROUPS > 1 ? group[v] : 0]);
        }
        rise[p] = up[v];
        fall[p] = down[v];
    }
    const float enough = (float)(w.inner * state.gap);
    const long long left = m.most - state.iterations;
    const int limit = left < 64ll * q ? (int)left : 64 * q;
    __syncthreads();
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
                if (up[v] > 0.0f && in) low = min(low, (rank[v] & ~1023u) | (u32)(first + v));
                if (down[v] > 0.0f && in) high = max(high, rank[v]);
            }
            low = __reduce_min_sync(ALL, low);
            high = __reduce_max_sync(ALL, high);
            if (lane == 0) { least[par][c][warp] = low; most[par][c][warp] = high; }
        }
        __syncthreads();
        if (turned) {
#pragma unroll
            for (int v = 0; v < V; v++) {
                rise[first + v] = up[v];
                fall[first + v] = down[v];
            }
            turned = false;
        }
        int i = -1, of = 0;
        float gap = 0.0f, gi = 0.0f;
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            u32 low, high;
            if (WARPS > 8) {
                low = __reduce_min_sync(ALL, least[par][c][lane & (WARPS - 1)]);
                high = __reduce_max_sync(ALL, most[par][c][lane & (WARPS - 1)]);
            } else {
                low = least_of(least[par][c]);
                high = most_of(most[par][c]);
            }
            if (low == ALL || high == 0u) continue;
            const float start = now[low & 1023u], width = from_ordered(high) - start;
            if (width > gap) { gap = width; i = low & 1023u; of = c; gi = start; }
        }
        float kit[V], kjt[V];
        Square<u16>::run(k + (max(i, 0) * q + first), kit);
        if (i < 0 || gap <= enough) break;
        u32 key = 0;
#pragma unroll
        for (int v = 0; v < V; v++) {
            const float apart = g[v] - gi, bend = fmaxf(fmaf(-2.0f * UNIT, kit[v], 2.0f), 2e-7f);
            const u32 gain = (max(__float_as_uint(__fdividef(apart * apart, bend)), 1024u) & ~1023u) | (u32)(1023 - first - v);
            if (down[v] > 0.0f && (GROUPS == 1 || group[v] == of) && apart > 0.0f) key = max(key, gain);
        }
        key = __reduce_max_sync(ALL, key);
        if (lane == 0) best[par][warp] = key;
        __syncthreads();
        key = WARPS > 8 ? __reduce_max_sync(ALL, best[par][lane & (WARPS - 1)]) : most_of(best[par]);
        if (key == 0) break;
        const int j = 1023 - (int)(key & 1023u);
        Square<u16>::run(k + (j * q + first), kjt);
        const float kij = Square<u16>::raw(k + (i * q + j)), room = fminf(rise[i], fall[j]);
        const float delta = fminf(__fdividef(now[j] - gi, fmaxf(fmaf(-2.0f * UNIT, kij, 2.0f), 2e-7f)), room), change = UNIT * delta;
#pragma unroll
        for (int v = 0; v < V; v++) g[v] = fmaf(change, kit[v] - kjt[v], g[v]);
        if ((u32)(i - first) < V || (u32)(j - first) < V) {
            const double by = delta;
#pragma unroll
            for (int v = 0; v < V; v++) {
                if (first + v == i) {
                    up[v] = up[v] - delta;  // exactly 0 where this was the room
                    down[v] += delta;
                    moved[v] += by;
                } else if (first + v == j) {
                    down[v] = down[v] - delta;
                    up[v] += delta;
                    moved[v] -= by;
                }
            }
            turned = true;
        }
    }
    // Variables at a bound are there exactly. What that adds to the sum of a group, its freest variable gives back; where none has
    // the room, variables are where their steps have led.
    double beta[V], begin[V], lack[GROUPS];
    u32 freest[GROUPS];
#pragma unroll
    for (int c = 0; c < GROUPS; c++) {
        lack[c] = 0.0;
        freest[c] = 0;
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        beta[v] = begin[v] = 0.0;
        if (first + v >= count) continue;
        const long long at = m.var0 + set[first + v];
        const double lower = w.lower[at], upper = w.upper[at];
        begin[v] = w.beta[at];
        const double there = fmin(fmax(begin[v] + moved[v], lower), upper);
        beta[v] = moved[v] == 0.0 ? begin[v] : (up[v] == 0.0f ? upper : (down[v] == 0.0f ? lower : there));
        const u32 room = __float_as_uint(fmaxf(fminf((float)(upper - beta[v]), (float)(beta[v] - lower)), 0.0f));
#pragma unroll
        for (int c = 0; c < GROUPS; c++)
            if (group[v] == c) {
                lack[c] += (beta[v] - begin[v]) - moved[v];
                freest[c] = max(freest[c], (room & ~1023u) | (u32)(1023 - first - v));
            }
    }
#pragma unroll
    for (int c = 0; c < GROUPS; c++) {
        for (int d = 16; d > 0; d >>= 1) lack[c] += __shfl_xor_sync(ALL, lack[c], d);
        freest[c] = __reduce_max_sync(ALL, freest[c]);
    }
    __syncthreads();
    if (lane == 0)
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            lacks[warp][c] = lack[c];
            least[0][c][warp] = freest[c];
        }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < GROUPS; c++) {
        lack[c] = 0.0;
        freest[c] = 0;
        for (int p = 0; p < warps; p++) {
            lack[c] += lacks[p][c];
            freest[c] = max(freest[c], least[0][c][p]);
        }
        const bool fine = fabs(lack[c]) <= 0.5 * (double)__uint_as_float(freest[c] & ~1023u);
#pragma unroll
        for (int v = 0; v < V; v++) {
            if (first + v >= count || group[v] != c) continue;
            if (!fine) {
                const long long at = m.var0 + set[first + v];
                beta[v] = fmin(fmax(begin[v] + moved[v], w.lower[at]), w.upper[at]);
            } else if (first + v == 1023 - (int)(freest[c] & 1023u)) {
                beta[v] -= lack[c];
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

#define SOLVER(NAME, CALL, THREADS) \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const __grid_constant__ Work w) { CALL(w); }
SOLVER(solve_two_one, (solve_set<1, 2, float>), 256)
SOLVER(solve_two_two, (solve_set<2, 2, float>), 256)
SOLVER(solve_four_one, (solve_set<1, 4, float>), 256)
SOLVER(solve_four_two, (solve_set<2, 4, float>), 256)
SOLVER(solve_unit_one, (solve_unit<1, 2, 16>), 512)
SOLVER(solve_unit_two, (solve_unit<2, 2, 16>), 512)

// The values of a working set as a square in device memory. Grid: set x machines.
template <class K>
__device__ __forceinline__ void gather(const Work& w) {
    const State& state = w.state[blockIdx.y];
    if (state.done || blockIdx.x >= state.count) return;
    const Machine& m = w.machine[blockIdx.y];
    const int* set = w.set + (long long)blockIdx.y * w.q;
    int a = set[blockIdx.x];
    const float* line = w.store + (long long)w.slot[w.index[m.row0 + (a < m.n ? a : a - m.n)]] * w.stride;
    K* out = (K*)w.local + ((long long)blockIdx.y * w.q + blockIdx.x) * w.q;
    for (int k = threadIdx.x; k < state.count; k += blockDim.x) {
        int b = set[k];
        out[k] = Square<K>::store(line[w.index[m.row0 + (b < m.n ? b : b - m.n)]]);
    }
}
extern "C" __global__ void gather_set_f32(const __grid_constant__ Work w) { gather<float>(w); }
extern "C" __global__ void gather_set_u16(const __grid_constant__ Work w) { gather<u16>(w); }

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
