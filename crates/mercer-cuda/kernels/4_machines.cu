// Quadratic problems with a box and sums, many at once: decomposition with working sets (Osuna, Freund and Girosi 1997;
// Joachims 1999), pairs inside them chosen by second-order gain (Fan, Chen and Lin 2005).
//
// A round: every machine chooses a working set; rows of K that no machine had before are computed; a block for each machine
// solves its set with the values in shared memory; the changes go into all gradients. Nothing depends on the order in which
// threads run: sums have a fixed order, and ties go to the smaller number.

struct Machine {
    long long row0, var0;  // where its rows and variables begin
    long long most;        // iterations
    int n, total, groups, pad;
};

struct State {
    double gap, target;
    double middle[2];  // of each group's bracket: gradients are ranked relative to it
    long long iterations;
    int done;   // 1 converged, 2 iterations used up, 3 no step changes anything
    int count;  // variables of the working set
    int fresh;  // the last of them are new
    int idle;   // rounds without change
    int changed;
    int pad;
};

struct Work {
    const Machine* machine;
    State* state;
    double* f;
    double* beta;
    const double* lower;
    const double* upper;
    const double* linear;
    const double* shift;  // null: none
    const u8* group;      // null: one
    u8* mark;
    u32* key_up;
    u32* key_low;
    const u32* index;  // a machine's rows in the store's order
    int* set;
    int* slot;   // of a row, or -1
    int* stamp;  // of a slot: the round that used it last
    u32* owner;  // of a slot: its row
    u8* need;
    u32* fresh_rows;
    int* fresh_slots;
    int* counters;     // fresh rows, used slots, hand, round, failures, all rows computed
    const u32* order;  // the data's row at each place of the store's order
    float* store;
    float* local;
    int* change_slot;
    double* change;
    long long stride;
    int capacity, n, q, pad;
};

#define ALL 0xffffffffu
#define INF __longlong_as_double(0x7ff0000000000000LL)

__device__ __forceinline__ double gradient(const Work& w, const Machine& m, int v) {
    int row = v < m.n ? v : v - m.n;
    double g = w.f[m.row0 + row] + w.linear[m.var0 + v];
    if (w.shift) g += w.shift[m.var0 + v] * w.beta[m.var0 + v];
    return g;
}

// Exclusive sums over a block of 1024 threads; total in the last argument.
__device__ __forceinline__ u64 scan(u64 mine, u64* room, u64* total) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u64 sum = mine;
    for (int k = 1; k < 32; k <<= 1) {
        u64 other = __shfl_up_sync(ALL, sum, k);
        if (lane >= k) sum += other;
    }
    __syncthreads();
    if (lane == 31) room[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        u64 s = room[lane];
        for (int k = 1; k < 32; k <<= 1) {
            u64 other = __shfl_up_sync(ALL, s, k);
            if (lane >= k) s += other;
        }
        room[lane] = s;
    }
    __syncthreads();
    *total = room[31];
    return sum - mine + (warp ? room[warp - 1] : 0);
}

// One block of 1024 threads a machine.
extern "C" __global__ void __launch_bounds__(1024, 1) choose_set(const __grid_constant__ Work w) {
    const Machine m = w.machine[blockIdx.x];
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    __shared__ double lows[4], highs[4], part[2][32];
    __shared__ int hist[2][2048];
    __shared__ u64 room[32];
    __shared__ u32 found[2];
    __shared__ int left[2], some[2];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t < 4) { lows[t] = INF; highs[t] = -INF; }
    if (t < 2) some[t] = 0;
    __syncthreads();
    // Each group's bracket: the lowest gradient that may rise, the highest that may fall.
    for (int g = 0; g < m.groups; g++) {
        double low = INF, high = -INF;
        for (int v = t; v < m.total; v += 1024) {
            if (w.group && w.group[m.var0 + v] != g) continue;
            double b = w.beta[m.var0 + v], d = gradient(w, m, v);
            if (b < w.upper[m.var0 + v] && d < low) low = d;
            if (b > w.lower[m.var0 + v] && d > high) high = d;
        }
        for (int k = 16; k > 0; k >>= 1) {
            low = fmin(low, __shfl_xor_sync(ALL, low, k));
            high = fmax(high, __shfl_xor_sync(ALL, high, k));
        }
        if (lane == 0) { part[0][warp] = low; part[1][warp] = high; }
        __syncthreads();
        if (warp == 0) {
            low = part[0][lane];
            high = part[1][lane];
            for (int k = 16; k > 0; k >>= 1) {
                low = fmin(low, __shfl_xor_sync(ALL, low, k));
                high = fmax(high, __shfl_xor_sync(ALL, high, k));
            }
            if (lane == 0) { lows[g] = low; highs[g] = high; }
        }
        __syncthreads();
    }
    double gap = 0.0;
    for (int g = 0; g < m.groups; g++)
        if (lows[g] < INF && highs[g] > -INF) gap = fmax(gap, highs[g] - lows[g]);
    const int done = gap <= state.target ? 1 : (state.iterations >= m.most ? 2 : 0);
    const double least = 0.5 * state.target;
    const int kept = state.fresh, count = state.count;
    __syncthreads();
    if (t == 0) {
        state.gap = gap;
        state.done = done;
        for (int g = 0; g < 2 && g < m.groups; g++)
            state.middle[g] = (lows[g] < INF && highs[g] > -INF) ? 0.5 * (lows[g] + highs[g]) : 0.0;
    }
    if (done) return;
    // How much each variable violates together with the far end of its group; kept ones are in the set anyway.
    int mine[2] = {0, 0};
    for (int v = t; v < m.total; v += 1024) {
        int g = w.group ? w.group[m.var0 + v] : 0;
        double b = w.beta[m.var0 + v], d = gradient(w, m, v);
        bool open = !w.mark[m.var0 + v];
        double rise = highs[g] - d, fall = d - lows[g];
        u32 up = (open && b < w.upper[m.var0 + v] && rise > least && highs[g] > -INF) ? __float_as_uint((float)rise) : 0;
        u32 low = (open && b > w.lower[m.var0 + v] && fall > least && lows[g] < INF) ? __float_as_uint((float)fall) : 0;
        w.key_up[m.var0 + v] = up;
        w.key_low[m.var0 + v] = low;
        mine[0] += up > 0;
        mine[1] += low > 0;
    }
    mine[0] = __reduce_add_sync(ALL, mine[0]);
    mine[1] = __reduce_add_sync(ALL, mine[1]);
    if (lane == 0) { atomicAdd(&some[0], mine[0]); atomicAdd(&some[1], mine[1]); }
    __syncthreads();
    const int free = w.q - kept;
    int want[2];
    want[0] = min(some[0], max(free / 2, free - some[1]));
    want[1] = min(some[1], free - want[0]);
    // The key of that rank in each list, by three passes over its digits.
    u32 prefix[2] = {0, 0};
    int rest[2] = {want[0], want[1]};
    const int shifts[3] = {20, 10, 0}, widths[3] = {11, 10, 10};
    for (int pass = 0; pass < 3; pass++) {
        const int shift = shifts[pass], bins = 1 << widths[pass];
        for (int b = t; b < bins; b += 1024) hist[0][b] = hist[1][b] = 0;
        __syncthreads();
        for (int v = t; v < m.total; v += 1024)
            for (int list = 0; list < 2; list++) {
                u32 key = (list ? w.key_low : w.key_up)[m.var0 + v];
                if (key && (pass == 0 || (key >> (shift + widths[pass])) == prefix[list]))
                    atomicAdd(&hist[list][(key >> shift) & (bins - 1)], 1);
            }
        __syncthreads();
        if (warp < 2 && rest[warp] > 0) {
            const int list = warp, span = bins / 32, top = bins - 1 - lane * span;
            int sum = 0;
            for (int b = 0; b < span; b++) sum += hist[list][top - b];
            int before = sum;
            for (int k = 1; k < 32; k <<= 1) {
                int other = __shfl_up_sync(ALL, before, k);
                if (lane >= k) before += other;
            }
            before -= sum;
            if (before < rest[list] && before + sum >= rest[list]) {
                int b = 0;
                while (before + hist[list][top - b] < rest[list]) before += hist[list][top - b++];
                found[list] = (prefix[list] << widths[pass]) | (u32)(top - b);
                left[list] = rest[list] - before;
            }
        }
        __syncthreads();
        for (int list = 0; list < 2; list++)
            if (rest[list] > 0) { prefix[list] = found[list]; rest[list] = left[list]; }
        __syncthreads();
    }
    for (int list = 0; list < 2; list++)
        if (want[list] == 0) { prefix[list] = ALL; rest[list] = 0; }
    // All above that key, and of its equals the first ones, in the order of their numbers.
    const int per = (m.total + 1023) / 1024, first = min(t * per, m.total), last = min(first + per, m.total);
    u64 ties = 0, total;
    for (int v = first; v < last; v++)
        ties += (w.key_up[m.var0 + v] == prefix[0] ? 1ull : 0ull) + (w.key_low[m.var0 + v] == prefix[1] ? 1ull << 32 : 0ull);
    ties = scan(ties, room, &total);
    u64 chosen = 0, at = ties;
    for (int v = first; v < last; v++) {
        u32 up = w.key_up[m.var0 + v], low = w.key_low[m.var0 + v];
        bool take = up > prefix[0] || low > prefix[1];
        if (up == prefix[0]) { take |= (int)(u32)at < rest[0]; at += 1; }
        if (low == prefix[1]) { take |= (int)(at >> 32) < rest[1]; at += 1ull << 32; }
        chosen += take;
    }
    chosen = scan(chosen, room, &total);
    int* set = w.set + (long long)blockIdx.x * w.q;
    const int old = t < kept ? set[count - kept + t] : 0;
    __syncthreads();
    if (t < kept) {
        set[t] = old;
        w.mark[m.var0 + old] = 0;
    }
    __syncthreads();
    at = ties;
    for (int v = first; v < last; v++) {
        u32 up = w.key_up[m.var0 + v], low = w.key_low[m.var0 + v];
        bool take = up > prefix[0] || low > prefix[1];
        if (up == prefix[0]) { take |= (int)(u32)at < rest[0]; at += 1; }
        if (low == prefix[1]) { take |= (int)(at >> 32) < rest[1]; at += 1ull << 32; }
        if (take) {
            set[kept + chosen++] = v;
            w.mark[m.var0 + v] = 1;
        }
    }
    const int now = kept + (int)total;
    __syncthreads();
    if (t == 0) { state.count = now; state.fresh = (int)total; }
    const int round = w.counters[3];
    for (int k = t; k < now; k += 1024) {
        int v = set[k];
        u32 row = w.index[m.row0 + (v < m.n ? v : v - m.n)];
        int s = w.slot[row];
        if (s < 0) w.need[row] = 1;
        else w.stamp[s] = round;
    }
}

// Gives slots of the store to rows that are needed, in the order of their numbers. One block of 1024 threads.
extern "C" __global__ void __launch_bounds__(1024, 1) assign_slots(const __grid_constant__ Work w) {
    __shared__ u64 room[32];
    __shared__ int hand;
    const int t = threadIdx.x;
    const int used = w.counters[1], round = w.counters[3];
    const int per = ((w.n + 1023) / 1024 + 15) / 16 * 16, first = min(t * per, w.n), last = min(first + per, w.n);
    u64 mine = 0, total;
    for (int r = first; r < last; r += 16) {
        // The array is padded, and its padding is 0.
        uint4 four = *(const uint4*)(w.need + r);
        mine += __popc(four.x) + __popc(four.y) + __popc(four.z) + __popc(four.w);
    }
    u64 rank = scan(mine, room, &total);
    const int free = min(w.capacity - used, (int)total), evict = (int)total - free;
    if (t == 0) hand = w.counters[2];
    __syncthreads();
    const int start = hand;
    if (evict > 0) {
        const int span = (used + 1023) / 1024, from = min(t * span, used), to = min(from + span, used);
        u64 here = 0, all;
        for (int p = from; p < to; p++) here += w.stamp[(start + p) % used] != round;
        u64 at = scan(here, room, &all);
        for (int p = from; p < to; p++) {
            int s = (start + p) % used;
            if (w.stamp[s] == round) continue;
            if (at < (u64)evict) {
                w.fresh_slots[free + at] = s;
                w.slot[w.owner[s]] = -1;
                if (at + 1 == (u64)evict) hand = (s + 1) % used;
            }
            at++;
        }
        if (t == 0 && all < (u64)evict) w.counters[4] = 1;
        __syncthreads();
        if (all < (u64)evict) return;
    }
    for (int r = first; r < last; r++) {
        if (!w.need[r]) continue;
        int s = (int)rank < free ? used + (int)rank : w.fresh_slots[rank];
        w.need[r] = 0;
        w.owner[s] = r;
        w.slot[r] = s;
        w.stamp[s] = round;
        w.fresh_slots[rank] = s;
        w.fresh_rows[rank] = w.order[r];
        rank++;
    }
    __syncthreads();
    if (t == 0) {
        w.counters[0] = (int)total;
        w.counters[1] = used + free;
        w.counters[2] = hand;
        w.counters[3] = round + 1;
        w.counters[5] += (int)total;
    }
}

// The values of a working set as a square in device memory: for sets too large for shared memory. Grid: set x machines.
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

__device__ __forceinline__ u32 ordered(float x) {
    u32 u = __float_as_uint(x);
    return u ^ ((u >> 31) ? ALL : 0x80000000u);
}
__device__ __forceinline__ float from_ordered(u32 u) { return __uint_as_float(u ^ ((u >> 31) ? 0x80000000u : ALL)); }

// Solves a working set: a block a machine, a thread a variable, two barriers an iteration.
template <int GROUPS, bool SHARED>
__device__ __forceinline__ void solve_set(const Work& w) {
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    extern __shared__ __align__(16) u8 memory[];
    const Machine m = w.machine[blockIdx.x];
    const int q = w.q, t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5;
    const int count = state.count;
    double* seen = (double*)memory;         // gradients, two copies by parity
    double* above = seen + 2 * q;           // how far a variable may rise
    double* below = above + 2 * q;          // and fall
    float* diag = (float*)(below + 2 * q);
    int* slots = (int*)(diag + q);
    float* block = (float*)(slots + q);
    __shared__ u32 least[2][GROUPS][32], most[2][GROUPS][32], best[2][32];
    __shared__ int sums[33];
    const int* set = w.set + (long long)blockIdx.x * q;
    const bool live = t < count;
    const int v = live ? set[t] : 0, row = v < m.n ? v : v - m.n;
    const u32 column = live ? w.index[m.row0 + row] : 0;
    const long long var = m.var0 + v;
    double beta = 0, lower = 0, upper = 0, shift = 0, g = 0;
    int group = 0;
    if (live) {
        beta = w.beta[var];
        lower = w.lower[var];
        upper = w.upper[var];
        shift = w.shift ? w.shift[var] : 0.0;
        group = GROUPS > 1 && w.group ? w.group[var] : 0;
        g = gradient(w, m, v);
        slots[t] = w.slot[column];
    }
    const double middle = state.middle[GROUPS > 1 ? group : 0];
    g -= middle;
    const float enough = (float)(0.1 * state.gap);
    const long long left = m.most - state.iterations;
    const int limit = left < 64ll * q ? (int)left : 64 * q;
    __syncthreads();
    const float* k;
    if (SHARED) {
        int a = 0;
        for (; a + 8 <= count; a += 8) {
            float part[8];
#pragma unroll
            for (int p = 0; p < 8; p++) part[p] = live ? w.store[(long long)slots[a + p] * w.stride + column] : 0.0f;
#pragma unroll
            for (int p = 0; p < 8; p++) block[(a + p) * q + t] = part[p];
        }
        for (; a < count; a++) block[a * q + t] = live ? w.store[(long long)slots[a] * w.stride + column] : 0.0f;
        k = block;
    } else {
        k = w.local + (long long)blockIdx.x * q * q;
    }
    const float own = live ? (SHARED ? block[t * q + t] : k[t * q + t]) + (float)shift : 0.0f;
    diag[t] = own;
    const double begin = beta;
    int step = 0;
    for (; step < limit; step++) {
        const int par = step & 1;
        double* now = seen + par * q;
        double* up = above + par * q;
        double* down = below + par * q;
        now[t] = g;
        up[t] = upper - beta;
        down[t] = beta - lower;
        const bool rises = live && beta < upper, falls = live && beta > lower;
        const float relative = (float)g;
        const u32 rank = ordered(relative);
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            const bool in = GROUPS == 1 || group == c;
            u32 low = __reduce_min_sync(ALL, rises && in ? (rank & ~1023u) | t : ALL);
            u32 high = __reduce_max_sync(ALL, falls && in ? rank : 0u);
            if (lane == 0) { least[par][c][warp] = low; most[par][c][warp] = high; }
        }
        __syncthreads();
        int i = -1, of = 0;
        float gap = 0.0f, gi = 0.0f;
#pragma unroll
        for (int c = 0; c < GROUPS; c++) {
            u32 low = __reduce_min_sync(ALL, lane < warps ? least[par][c][lane] : ALL);
            u32 high = __reduce_max_sync(ALL, lane < warps ? most[par][c][lane] : 0u);
            if (low == ALL || high == 0u) continue;
            const float start = (float)now[low & 1023u], width = from_ordered(high) - start;
            if (width > gap) { gap = width; i = low & 1023u; of = c; gi = start; }
        }
        if (i < 0 || gap <= enough) break;
        const float kit = k[i * q + t], di = diag[i];
        u32 key = 0;
        if (falls && (GROUPS == 1 || group == of)) {
            const float apart = relative - gi;
            if (apart > 0.0f) {
                const float bend = fmaxf(di + own - 2.0f * kit, 1e-7f * (fabsf(di) + fabsf(own)) + 1e-30f);
                key = (max(__float_as_uint(apart * apart / bend), 1024u) & ~1023u) | (1023 - t);
            }
        }
        key = __reduce_max_sync(ALL, key);
        if (lane == 0) best[par][warp] = key;
        __syncthreads();
        key = __reduce_max_sync(ALL, lane < warps ? best[par][lane] : 0u);
        if (key == 0) break;
        const int j = 1023 - (int)(key & 1023u);
        const float dj = diag[j], kij = k[i * q + j], kjt = k[j * q + t];
        const float bend = fmaxf(di + dj - 2.0f * kij, 1e-7f * (fabsf(di) + fabsf(dj)) + 1e-30f);
        const double room_i = up[i], room_j = down[j];
        double delta = (double)((float)(now[j] - now[i]) / bend);
        delta = fmin(delta, fmin(room_i, room_j));
        g += delta * ((double)kit - (double)kjt);
        if (t == i) {
            beta = delta >= room_i ? upper : beta + delta;
            g += delta * shift;
        }
        if (t == j) {
            beta = delta >= room_j ? lower : beta - delta;
            g -= delta * shift;
        }
    }
    // What changed, in the order of the set.
    const bool moved = live && beta != begin;
    const u32 votes = __ballot_sync(ALL, moved);
    __syncthreads();
    if (lane == 0) sums[warp] = __popc(votes);
    __syncthreads();
    int before = 0, all = 0;
    for (int p = 0; p < warps; p++) {
        if (p < warp) before += sums[p];
        all += sums[p];
    }
    if (moved) {
        const long long at = (long long)blockIdx.x * q + before + __popc(votes & ((1u << lane) - 1));
        w.change_slot[at] = slots[t];
        w.change[at] = beta - begin;
        w.beta[var] = beta;
    }
    if (t == 0) {
        state.iterations += step;
        state.changed = all;
        state.idle = all ? 0 : state.idle + 1;
        if (state.idle >= 4) state.done = 3;
    }
}

extern "C" __global__ void __launch_bounds__(256, 1) solve_shared_one(const __grid_constant__ Work w) { solve_set<1, true>(w); }
extern "C" __global__ void __launch_bounds__(256, 1) solve_shared_two(const __grid_constant__ Work w) { solve_set<2, true>(w); }
extern "C" __global__ void __launch_bounds__(1024, 1) solve_large_one(const __grid_constant__ Work w) { solve_set<1, false>(w); }
extern "C" __global__ void __launch_bounds__(1024, 1) solve_large_two(const __grid_constant__ Work w) { solve_set<2, false>(w); }

// f += change * rows, for all machines. A block has 64 columns and four shares of the rows. Grid: columns x machines.
extern "C" __global__ void __launch_bounds__(256) add_changes(const __grid_constant__ Work w) {
    const State& state = w.state[blockIdx.y];
    const Machine& m = w.machine[blockIdx.y];
    const int j0 = blockIdx.x * 64, changed = state.changed;
    if (state.done || changed == 0 || j0 >= m.n) return;
    __shared__ int slot[1024];
    __shared__ double coef[1024], part[4][64];
    const int t = threadIdx.x, x = t & 63, share = t >> 6, j = j0 + x;
    const long long at = (long long)blockIdx.y * w.q;
    for (int p = t; p < changed; p += 256) {
        slot[p] = w.change_slot[at + p];
        coef[p] = w.change[at + p];
    }
    __syncthreads();
    double sum = 0.0;
    if (j < m.n) {
        const float* store = w.store + w.index[m.row0 + j];
#pragma unroll 8
        for (int p = share; p < changed; p += 4) sum += coef[p] * (double)__ldg(store + (long long)slot[p] * w.stride);
    }
    part[share][x] = sum;
    __syncthreads();
    if (share == 0 && j < m.n) w.f[m.row0 + j] += (part[0][x] + part[1][x]) + (part[2][x] + part[3][x]);
}
