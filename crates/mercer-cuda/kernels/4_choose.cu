// Quadratic problems with a box and sums, many at once: decomposition with working sets (Osuna, Freund and Girosi 1997;
// Joachims 1999), pairs inside them chosen by second-order gain (Fan, Chen and Lin 2005).
//
// A round: all variables are ranked by how much they violate; every machine chooses a working set; rows of K that no machine
// had before are computed; a block for each machine solves its set; the changes go into all gradients, and brackets of the
// gradients into the next ranking. Nothing depends on the order in which threads run: sums have a fixed order, counts are of
// integers, and ties go to the smaller number.

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
    int fresh;  // the last of them were new
    int idle;   // rounds without change
    int changed;
    int kept;  // the last of them stay in the next round
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
    void* local;  // each machine's square of values
    int* change_slot;
    double* change;
    double2* part;  // each block's brackets, a machine's blocks one after another
    int* hist;      // of each machine: how many keys fall into each bin of its two lists
    long long stride;
    int capacity, n, q;
    int parts;  // blocks a machine
    double inner;  // how exact a set is solved, as a share of the violation

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

#define BINS 2048
#define SPAN 64  // rows that a block of add_changes has

// The place of a key in its machine's histogram: no key is above the machine's violation.
__device__ __forceinline__ int bin_of(u32 key, float scale) {
    return min(BINS - 1, __float2int_rd(__fmul_rn(__uint_as_float(key), scale)));
}

// Each machine's bracket from those of its blocks, in shared memory. 256 threads.
__device__ __forceinline__ void bracket(const Work& w, const Machine& m, int machine, double* lows, double* highs) {
    __shared__ double2 room[8];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5, blocks = (m.n + SPAN - 1) / SPAN;
    for (int g = 0; g < m.groups; g++) {
        double low = INF, high = -INF;
        for (int p = t; p < blocks; p += 256) {
            double2 one = w.part[((long long)machine * w.parts + p) * 2 + g];
            low = fmin(low, one.x);
            high = fmax(high, one.y);
        }
        for (int k = 16; k > 0; k >>= 1) {
            low = fmin(low, __shfl_xor_sync(ALL, low, k));
            high = fmax(high, __shfl_xor_sync(ALL, high, k));
        }
        if (lane == 0) room[warp] = make_double2(low, high);
        __syncthreads();
        if (t == 0) {
            for (int k = 1; k < 8; k++) { low = fmin(low, room[k].x); high = fmax(high, room[k].y); }
            lows[g] = low;
            highs[g] = high;
        }
        __syncthreads();
    }
}

// How much each variable violates together with the far end of its group, and how many there are of each size.
// Grid: 1024 variables a block x machines; 256 threads.
extern "C" __global__ void __launch_bounds__(256) rank_variables(const __grid_constant__ Work w) {
    State& state = w.state[blockIdx.y];
    const Machine m = w.machine[blockIdx.y];
    if (state.done || blockIdx.x * 1024 >= m.total) return;
    __shared__ double lows[2], highs[2];
    __shared__ int hist[2][BINS];
    const int t = threadIdx.x;
    for (int b = t; b < BINS; b += 256) hist[0][b] = hist[1][b] = 0;
    bracket(w, m, blockIdx.y, lows, highs);
    double gap = 0.0;
    for (int g = 0; g < m.groups; g++)
        if (lows[g] < INF && highs[g] > -INF) gap = fmax(gap, highs[g] - lows[g]);
    const int done = gap <= state.target ? 1 : (state.iterations >= m.most ? 2 : 0);
    if (blockIdx.x == 0 && t == 0) {
        state.gap = gap;
        state.done = done;
        for (int g = 0; g < m.groups; g++)
            state.middle[g] = (lows[g] < INF && highs[g] > -INF) ? 0.5 * (lows[g] + highs[g]) : 0.0;
    }
    if (done) return;
    const double least = 0.5 * state.target;
    const float scale = (float)BINS / (float)gap;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        const int v = blockIdx.x * 1024 + p * 256 + t;
        if (v >= m.total) break;
        const long long at = m.var0 + v;
        const int g = w.group ? w.group[at] : 0;
        const double b = w.beta[at], d = gradient(w, m, v);
        const bool open = !w.mark[at];
        const double rise = highs[g] - d, fall = d - lows[g];
        u32 up = (open && b < w.upper[at] && rise > least && highs[g] > -INF) ? __float_as_uint((float)rise) : 0;
        u32 low = (open && b > w.lower[at] && fall > least && lows[g] < INF) ? __float_as_uint((float)fall) : 0;
        w.key_up[at] = up;
        w.key_low[at] = low;
        if (up) atomicAdd(&hist[0][bin_of(up, scale)], 1);
        if (low) atomicAdd(&hist[1][bin_of(low, scale)], 1);
    }
    __syncthreads();
    int* all = w.hist + (long long)blockIdx.y * 2 * BINS;
    for (int b = t; b < 2 * BINS; b += 256) {
        int here = hist[b / BINS][b % BINS];
        if (here) atomicAdd(&all[b], here);
    }
}

// The new members of a set in the order of their numbers; variables of both lists count once. `list` has `count` entries.
__device__ __forceinline__ int settle(int* list, u8* twice, int count, int* out) {
    const int t = threadIdx.x;
    __syncthreads();
    const int mine = t < count ? list[t] : 0;
    bool again = false;
    int less = 0;
    if (t < count)
        for (int u = 0; u < t; u++) again |= list[u] == mine;
    if (t < count) twice[t] = again;
    const int total = __syncthreads_count(t < count && !again);
    if (t < count && !again) {
        for (int u = 0; u < count; u++) less += !twice[u] && list[u] < mine;
        out[less] = mine;
    }
    __syncthreads();
    return total;
}

// Chooses working sets: half of the last one, and those that violate most. One block of 1024 threads a machine.
extern "C" __global__ void __launch_bounds__(1024, 1) choose_set(const __grid_constant__ Work w) {
    const Machine m = w.machine[blockIdx.x];
    State& state = w.state[blockIdx.x];
    if (state.done) return;
    __shared__ u64 room[32];
    __shared__ u64 edge[2][1024];
    __shared__ int list[1024], fresh[1024];
    __shared__ u8 twice[1024];
    __shared__ int bound[2], left[2], filled[3];
    const int t = threadIdx.x;
    const float scale = (float)BINS / (float)state.gap;
    const int kept = state.kept, count = state.count;
    // The bin in which each list ends: from the top, two bins a thread.
    int* hist = w.hist + (long long)blockIdx.x * 2 * BINS;
    const int high = BINS - 1 - 2 * t;
    int some[2][2];
    for (int l = 0; l < 2; l++)
        for (int p = 0; p < 2; p++) {
            some[l][p] = hist[l * BINS + high - p];
            hist[l * BINS + high - p] = 0;
        }
    u64 total;
    const u64 above = scan((u64)(some[0][0] + some[0][1]) | (u64)(some[1][0] + some[1][1]) << 32, room, &total);
    const int all[2] = {(int)(u32)total, (int)(total >> 32)};
    const int free = w.q - kept;
    int want[2];
    want[0] = min(all[0], max(free / 2, free - all[1]));
    want[1] = min(all[1], free - want[0]);
    if (t < 3) filled[t] = 0;
    if (t < 2) { bound[t] = BINS; left[t] = 0; }
    __syncthreads();
    for (int l = 0; l < 2; l++) {
        int before = l ? (int)(above >> 32) : (int)(u32)above;
        for (int p = 0; p < 2; p++) {
            if (before < want[l] && before + some[l][p] >= want[l]) { bound[l] = high - p; left[l] = want[l] - before; }
            before += some[l][p];
        }
    }
    __syncthreads();
    const int last[2] = {bound[0], bound[1]};
    const u32* keys[2] = {w.key_up + m.var0, w.key_low + m.var0};
    for (int v0 = 0; v0 < m.total; v0 += 4096) {
        u32 key[2][4];
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const int v = v0 + p * 1024 + t;
            key[0][p] = v < m.total ? keys[0][v] : 0;
            key[1][p] = v < m.total ? keys[1][v] : 0;
        }
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int l = 0; l < 2; l++) {
                if (!key[l][p]) continue;
                const int v = v0 + p * 1024 + t, bin = bin_of(key[l][p], scale);
                if (bin > last[l]) list[atomicAdd(&filled[2], 1)] = v;
                else if (bin == last[l]) {
                    int at = atomicAdd(&filled[l], 1);
                    if (at < 1024) edge[l][at] = (u64)key[l][p] << 32 | (ALL - (u32)v);
                }
            }
    }
    __syncthreads();
    for (int l = 0; l < 2; l++) {
        const int rest = left[l], there = filled[l];
        if (rest == 0) continue;
        if (there <= 1024) {
            if (t < there) {
                const u64 mine = edge[l][t];
                int before = 0;
                for (int u = 0; u < there; u++) before += edge[l][u] > mine;
                if (before < rest) list[atomicAdd(&filled[2], 1)] = (int)(ALL - (u32)mine);
            }
        } else {
            // Many alike: the key of that rank bit by bit, then its equals in the order of their numbers.
            u32 low = 0;
            for (int bit = 31; bit >= 0; bit--) {
                const u32 trial = low | 1u << bit;
                u64 mine = 0, sum;
                for (int v = t; v < m.total; v += 1024)
                    mine += keys[l][v] >= trial && bin_of(keys[l][v], scale) == last[l];
                scan(mine, room, &sum);
                if (sum >= (u64)rest) low = trial;
            }
            u64 mine = 0, sum;
            for (int v = t; v < m.total; v += 1024) mine += keys[l][v] > low && bin_of(keys[l][v], scale) == last[l];
            scan(mine, room, &sum);
            const int ties = rest - (int)sum;
            const int per = (m.total + 1023) / 1024, first = min(t * per, m.total), end = min(first + per, m.total);
            mine = 0;
            for (int v = first; v < end; v++) mine += keys[l][v] == low;
            int before = (int)scan(mine, room, &sum);
            for (int v = first; v < end; v++) {
                const u32 key = keys[l][v];
                const bool tie = key == low;
                if ((key > low && bin_of(key, scale) == last[l]) || (tie && before < ties))
                    list[atomicAdd(&filled[2], 1)] = v;
                before += tie;
            }
        }
        __syncthreads();
    }
    const int now = settle(list, twice, filled[2], fresh);
    int* set = w.set + (long long)blockIdx.x * w.q;
    const int old = t < kept ? set[count - kept + t] : 0;
    __syncthreads();
    if (t < kept) {
        set[t] = old;
        w.mark[m.var0 + old] = 0;
    }
    __syncthreads();
    // Where more than half is new, every other one of them stays for the next round.
    const int half = w.q / 2, stay = now <= half ? now : (now + 1) / 2;
    if (t < now) {
        const int at = now <= half ? t : (t & 1 ? t / 2 : now / 2 + t / 2);
        set[kept + at] = fresh[t];
        if (at >= now - stay) w.mark[m.var0 + fresh[t]] = 1;
    }
    __syncthreads();
    if (t == 0) {
        state.count = kept + now;
        state.fresh = now;
        state.kept = stay;
    }
    const int round = w.counters[3];
    if (t < kept + now) {
        const int v = set[t];
        const u32 row = w.index[m.row0 + (v < m.n ? v : v - m.n)];
        const int s = w.slot[row];
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
        if ((r & 15) == 0) {
            const uint4 four = *(const uint4*)(w.need + r);
            if ((four.x | four.y | four.z | four.w) == 0) {
                r += 15;
                continue;
            }
        }
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
