// What turns dot products and squared distances into kernel values.
//
// A kernel is a short list of operations on a stack. Leaves read the dot product or the squared distance of the two rows
// (from = 0), of the first row with itself (1) or of the second (2), which is what normalised kernels need.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct Op {
    int code;
    int from;
    double a, b, c;
};

struct Map {
    int count;
    int pad;
    Op op[24];
};

enum { LINEAR, POLY, RBF, SIGMOID, POWER_LAW, SCALE, ADD, MULTIPLY, POWER, NORMALISE };

__device__ __forceinline__ float exp_of(float x) { return expf(x); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }
__device__ __forceinline__ float tanh_of(float x) { return tanhf(x); }
__device__ __forceinline__ double tanh_of(double x) { return tanh(x); }
__device__ __forceinline__ float sqrt_of(float x) { return sqrtf(x); }
__device__ __forceinline__ double sqrt_of(double x) { return sqrt(x); }

template <class T>
__device__ __forceinline__ T whole_power(T base, int degree) {
    T out = 1;
    while (degree > 0) {
        if (degree & 1) out *= base;
        base *= base;
        degree >>= 1;
    }
    return out;
}

// Arguments are formed in f64, so that the one rounding to T is that of the function's argument.
template <class T>
__device__ __forceinline__ T leaf(const Op& o, double dot, double dist) {
    switch (o.code) {
        case LINEAR: return (T)dot;
        case POLY: return (T)whole_power<double>(o.a * dot + o.b, (int)o.c);
        case RBF: return exp_of((T)(-o.a * dist));
        case SIGMOID: return (T)o.a * tanh_of((T)(o.b * dot + o.c));
        default: {
            double s = dist + o.a;
            if (o.b == -0.5) return (T)(1.0 / sqrt(s));
            if (o.b == 0.5) return (T)sqrt(s);
            return (T)pow(s, o.b);
        }
    }
}

template <class T>
__device__ __noinline__ T algebra(const Map& m, double dot, double dist, double xx, double yy) {
    T stack[12];
    int top = 0;
    for (int i = 0; i < m.count; i++) {
        const Op& o = m.op[i];
        switch (o.code) {
            case SCALE: stack[top - 1] *= (T)o.a; break;
            case ADD: top--; stack[top - 1] += stack[top]; break;
            case MULTIPLY: top--; stack[top - 1] *= stack[top]; break;
            case POWER: stack[top - 1] = whole_power<T>(stack[top - 1], (int)o.a); break;
            case NORMALISE: {
                top -= 2;
                T a = stack[top], b = stack[top + 1];
                stack[top - 1] = (a > 0 && b > 0) ? stack[top - 1] / sqrt_of(a * b) : (T)0;
                break;
            }
            default: {
                double p = o.from == 0 ? dot : (o.from == 1 ? xx : yy);
                stack[top++] = leaf<T>(o, p, o.from == 0 ? dist : 0.0);
            }
        }
    }
    return stack[0];
}

// Gaussians of whole numbers: in f32 the argument is rounded once, and the power of two by the device's own instruction.
__device__ __forceinline__ float gaussian_of(float, double narrow, int apart) {
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"((float)(narrow * 1.4426950408889634) * (float)apart));
    return out;
}
__device__ __forceinline__ double gaussian_of(double, double narrow, int apart) { return exp(narrow * apart); }

// Gaussians are what most machines have; all else is one call, so that the code stays small: it is compiled at start.
__device__ __forceinline__ bool is_gaussian(const Map& m) { return m.count == 1 && m.op[0].code == RBF; }
