// Conjugate gradients for (K + D) x = b, D diagonal, several b side by side: a block of 1024 threads for each. Vectors lie one
// after another. Products with K and with the factor of the preconditioner are those of 6_times.cu.

struct Gradients {
    const double* shift;  // D
    double* x;
    double* r;
    double* z;
    double* p;
    double* q;       // K p
    double* scaled;  // D^-1 r
    const double* low;  // what the preconditioner takes from r, or null: it is D alone
    double* state;   // of each b: r.z, |r|^2, and 1 once it is done
    const double* goal;  // of each b: |r|^2 to reach
    int n;
};

// A sum over the block, the same bits on every thread.
__device__ __forceinline__ double sum_of(double mine) {
    __shared__ double room[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int k = 16; k > 0; k >>= 1) mine += __shfl_xor_sync(ALL, mine, k);
    __syncthreads();
    if (lane == 0) room[warp] = mine;
    __syncthreads();
    mine = room[lane];
    for (int k = 16; k > 0; k >>= 1) mine += __shfl_xor_sync(ALL, mine, k);
    return mine;
}

// x and r along p, from q = K p.
extern "C" __global__ void __launch_bounds__(1024, 1) cg_forward(const __grid_constant__ Gradients g) {
    double* state = g.state + 3 * blockIdx.x;
    if (state[2] != 0.0) return;
    const long long at = (long long)blockIdx.x * g.n;
    const double rz = state[0];
    double bend = 0.0;
    for (int i = threadIdx.x; i < g.n; i += 1024) {
        const double p = g.p[at + i], q = g.q[at + i] + g.shift[i] * p;
        g.q[at + i] = q;
        bend += p * q;
    }
    bend = sum_of(bend);
    const bool fine = bend > 0.0;
    const double t = fine ? rz / bend : 0.0;
    double rest = 0.0;
    for (int i = threadIdx.x; i < g.n; i += 1024) {
        const double r = g.r[at + i] - t * g.q[at + i];
        g.x[at + i] += t * g.p[at + i];
        g.r[at + i] = r;
        g.scaled[at + i] = r / g.shift[i];
        rest += r * r;
    }
    rest = sum_of(rest);
    if (threadIdx.x == 0) {
        state[1] = rest;
        if (!fine || !(rest > g.goal[blockIdx.x])) state[2] = 1.0;
    }
}

// The next direction: z = D^-1 (r - low), p = z + turn p. With `first` there is none before.
extern "C" __global__ void __launch_bounds__(1024, 1) cg_turn(const __grid_constant__ Gradients g, int first) {
    double* state = g.state + 3 * blockIdx.x;
    if (state[2] != 0.0) return;
    const long long at = (long long)blockIdx.x * g.n;
    double rz = 0.0;
    for (int i = threadIdx.x; i < g.n; i += 1024) {
        const double r = g.r[at + i], z = (r - (g.low ? g.low[at + i] : 0.0)) / g.shift[i];
        g.z[at + i] = z;
        rz += r * z;
    }
    rz = sum_of(rz);
    const double turn = first ? 0.0 : rz / state[0];
    for (int i = threadIdx.x; i < g.n; i += 1024) g.p[at + i] = g.z[at + i] + (first ? 0.0 : turn * g.p[at + i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        state[0] = rz;
        if (!(rz > 0.0)) state[2] = 1.0;
    }
}

// x = 0, r = b, D^-1 r. Done from the start where b is as small as is wanted.
extern "C" __global__ void __launch_bounds__(1024, 1) cg_begin(const __grid_constant__ Gradients g) {
    const long long at = (long long)blockIdx.x * g.n;
    double rest = 0.0;
    for (int i = threadIdx.x; i < g.n; i += 1024) {
        const double r = g.r[at + i];
        g.x[at + i] = 0.0;
        g.scaled[at + i] = r / g.shift[i];
        rest += r * r;
    }
    rest = sum_of(rest);
    if (threadIdx.x == 0) {
        double* state = g.state + 3 * blockIdx.x;
        state[0] = 0.0;
        state[1] = rest;
        state[2] = rest > g.goal[blockIdx.x] ? 0.0 : 1.0;
    }
}
