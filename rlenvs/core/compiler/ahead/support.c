/* What the code of kernels may call that no runtime has without an operating system: one of C's functions, and one of
   numba's helpers, whose sizes have 64 bits on every processor. */

#include <stdint.h>

/* The nearest whole number, the even one of two. Sums of doubles of this size have no fraction, and processors round
   them so. */
double rint(double x) {
    const double whole = 4503599627370496.0; /* 2^52 */
    if (!(__builtin_fabs(x) < whole)) return x;
    return __builtin_copysign((__builtin_fabs(x) + whole) - whole, x);
}

float rintf(float x) { return (float)rint(x); } /* exact: doubles hold all floats */

/* Find the strides [bytes] of an array in another shape of equally many numbers, the last axis first, where no copy is
   needed. Returns 0 where one is. Axes go in groups that hold equally many numbers in both shapes. */
int numba_attempt_nocopy_reshape(int64_t axes, const int64_t *shape, const int64_t *strides, int64_t new_axes,
                                 const int64_t *new_shape, int64_t *new_strides, int64_t size, int first_axis_first) {
    int64_t old = axes - 1, made = new_axes - 1, empty = 0;
    if (first_axis_first) return 0;
    for (int64_t axis = 0; axis < new_axes; axis++) {
        new_strides[axis] = size;
        empty |= new_shape[axis] == 0;
    }
    if (empty) return 1;
    while (made >= 0) {
        while (old >= 0 && shape[old] == 1) old--;
        const int64_t stride = old >= 0 ? strides[old] : size;
        int64_t held = old >= 0 ? shape[old--] : 1, wanted = new_shape[made];
        new_strides[made--] = stride;
        while (held != wanted) {
            if (held < wanted) {
                if (old < 0 || (shape[old] != 1 && strides[old] != stride * held)) return 0;
                held *= shape[old--];
            } else {
                if (made < 0) return 0;
                new_strides[made] = stride * wanted;
                wanted *= new_shape[made--];
            }
        }
    }
    return 1;
}
