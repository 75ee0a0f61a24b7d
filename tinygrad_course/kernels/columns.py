"""Windows of images as columns, and back, in one launch each; convolutions made of them.

im2col has a thread per element of the columns. col2im has one per element of the image, which adds
up what the windows over it hold: no atomics, where adding the columns to the image would need them.
The columns of all images stand side by side, so that a convolution is one matrix product, with
cuBLAS's help; CuPy's batched one would first copy transposed factors, and launch three kernels more
where one factor serves the whole batch. Lesson 10.
"""

from __future__ import annotations

import math
from typing import Any

from ..device import Array, xp_of
from . import Kernels
from .windows import WINDOWS, on_volumes

KERNELS = Kernels(
    WINDOWS,
    """
// The columns are (rows, images, places), or (images, rows, places) where `images_first`; their
// rows are (channels, cells of a window).
extern "C" __global__ void im2col(
    long long count, const real* pixels, real* columns, Windows w, long long channels,
    long long images, long long images_first
) {
    Index places = volume(w.size), cells = volume(w.kernel), elements = volume(w.image);
    Index rows = (Index)channels * cells, n_images = images;
    for (Index i = first_element(); i < count; i += next_element()) {
        Index outer = i / places;
        Index row = images_first ? outer % rows : outer / n_images;
        Index image = images_first ? outer / rows : outer % n_images;
        Place window = place_of(i % places, w.size), cell = place_of(row % cells, w.kernel);
        Index z = seen_at(w, 0, window.z, cell.z);
        Index y = seen_at(w, 1, window.y, cell.y);
        Index x = seen_at(w, 2, window.x, cell.x);
        Index plane = image * (Index)channels + row / cells;
        bool inside = z >= 0 && y >= 0 && x >= 0;
        columns[i] = inside ? pixels[plane * elements + number_of(z, y, x, w.image)] : 0;
    }
}

extern "C" __global__ void col2im(
    long long count, const real* columns, real* pixels, Windows w, long long channels,
    long long images, long long images_first
) {
    Index places = volume(w.size), cells = volume(w.kernel), elements = volume(w.image);
    Index rows = (Index)channels * cells;
    // How far apart in memory the rows and the images of the columns are.
    Index row_step = images_first ? places : (Index)images * places;
    Index image_step = images_first ? rows * places : places;
    for (Index i = first_element(); i < count; i += next_element()) {
        Index plane = i / elements;
        Index row = plane % (Index)channels * cells;
        const real* of_image = columns + plane / (Index)channels * image_step;
        Place at = place_of(i % elements, w.image);
        real sum = 0;
        for (Index p = first_over(w, 0, at.z); p <= last_over(w, 0, at.z); p++) {
            Index a = cell_over(w, 0, at.z, p);
            if (a < 0) continue;
            for (Index q = first_over(w, 1, at.y); q <= last_over(w, 1, at.y); q++) {
                Index b = cell_over(w, 1, at.y, q);
                if (b < 0) continue;
                for (Index r = first_over(w, 2, at.x); r <= last_over(w, 2, at.x); r++) {
                    Index c = cell_over(w, 2, at.x, r);
                    if (c < 0) continue;
                    Index from = (row + number_of(a, b, c, w.kernel)) * row_step;
                    sum += of_image[from + number_of(p, q, r, w.size)];
                }
            }
        }
        pixels[i] = sum;
    }
}
""",
)


def _windows(kernel: Any, places: Any, size: Any, geometry: Any) -> Any:
    before = tuple([first for first, _ in geometry.padding])
    return on_volumes(
        *map(tuple, (kernel, geometry.stride, before, geometry.dilation, places, size))
    )


def im2col(x: Array, kernel: Any, places: Any, geometry: Any, images_first: bool = False) -> Array:
    """The windows of (N, C, H, W) as columns (C · kh · kw, N, P · Q), or with N first."""
    xp, (n, c, *size) = xp_of(x), x.shape
    rows, columns = c * math.prod(kernel), math.prod(places)
    made = xp.empty((n, rows, columns) if images_first else (rows, n, columns), x.dtype)
    windows = _windows(kernel, places, size, geometry)
    x = xp.ascontiguousarray(x)
    KERNELS.launch("im2col", made.size, x, made, windows, c, n, images_first)
    return made


def col2im(
    columns: Array, size: Any, kernel: Any, places: Any, geometry: Any, images_first: bool = False
) -> Array:
    """Such columns added up where the windows lie in images of `size`: (N, C, H, W)."""
    xp = xp_of(columns)
    n, rows = columns.shape[:2] if images_first else columns.shape[1::-1]
    x = xp.empty((n, rows // math.prod(kernel), *size), columns.dtype)
    windows = _windows(kernel, places, size, geometry)
    columns = xp.ascontiguousarray(columns)
    KERNELS.launch("col2im", x.size, columns, x, windows, x.shape[1], n, images_first)
    return x


# --- convolutions ---------------------------------------------------------------------------------


# Columns are kh · kw times the images. Of larger ones a few images are done at a time.
MOST_NUMBERS = 2**28


def _parts(images: Array, numbers: int) -> list[Array]:
    """The images in parts whose columns, `numbers` for all of them, are no more than is allowed."""
    n = len(images)
    size = max(1, n * MOST_NUMBERS // max(numbers, 1))
    return [images[i : i + size] for i in range(0, max(n, 1), size)]


def output(x: Array, w: Array, b: Array | None, places: Any, geometry: Any) -> Array:
    """x ⋆ w + b: (N, C, H, W), (O, C / groups, kh, kw), (O) → (N, O, P, Q)."""
    xp, n, o = xp_of(x), len(x), len(w)
    parts = _parts(x, x.shape[1] * math.prod(w.shape[2:]) * n * math.prod(places))
    if len(parts) > 1:
        return xp.concatenate([output(part, w, b, places, geometry) for part in parts])
    columns = im2col(x, w.shape[2:], places, geometry)
    product = _product(_grouped(w, geometry), _grouped(columns, geometry))
    y = xp.empty((n, o, *places), x.dtype)
    product = product.reshape(o, n, *places)
    if b is None:
        y.swapaxes(0, 1)[...] = product
    else:
        xp.add(product, b.reshape(o, *(1,) * (y.ndim - 1)), out=y.swapaxes(0, 1))
    return y


def input_gradient(g: Array, w: Array, b: Array | None, size: Any, geometry: Any) -> Array:
    """wᵀ g + b, the adjoint of x → x ⋆ w: (N, O, P, Q) → (N, C, H, W)."""
    n, _, *places = g.shape
    parts = _parts(g, math.prod(w.shape[1:]) * geometry.groups * n * math.prod(places))
    if len(parts) > 1:
        found = [input_gradient(part, w, b, size, geometry) for part in parts]
        return xp_of(g).concatenate(found)
    kernels = _grouped(w, geometry).swapaxes(1, 2)
    columns = _product(kernels, _grouped(_channels_first(g), geometry))
    columns = columns.reshape(math.prod(columns.shape[:2]), n, math.prod(places))
    x = col2im(columns, size, w.shape[2:], places, geometry)
    if b is not None:
        x += b.reshape(-1, *(1,) * len(size))
    return x


def weight_gradient(x: Array, g: Array, kernel: Any, geometry: Any) -> Array:
    """Σ x g over all windows, the adjoint of w → x ⋆ w: (O, C / groups, kh, kw)."""
    o, places = g.shape[1], g.shape[2:]
    numbers = x.shape[1] * math.prod(kernel) * len(x) * math.prod(places)
    parts = list(zip(_parts(x, numbers), _parts(g, numbers), strict=True))
    if len(parts) > 1:
        return sum(weight_gradient(*part, kernel, geometry) for part in parts)
    columns = _grouped(im2col(x, kernel, places, geometry), geometry)
    w = xp_of(g).empty((o, x.shape[1] // geometry.groups, *kernel), g.dtype)
    gradients = _grouped(_channels_first(g), geometry)
    _product(gradients, columns.swapaxes(1, 2), out=_grouped(w, geometry))
    return w


def _channels_first(g: Array) -> Array:
    """(N, O, P, Q) → (O, N, P, Q) in row-major memory."""
    return xp_of(g).ascontiguousarray(g.swapaxes(0, 1))


def _grouped(x: Array, geometry: Any) -> Array:
    """(R, …) as a matrix (R / groups, all the rest) per group."""
    groups = geometry.groups
    return x.reshape(groups, len(x) // groups, math.prod(x.shape[1:]))


def _product(a: Array, b: Array, out: Array | None = None) -> Array:
    """a @ b for each group; a single one as plain matrices, which are not copied to transpose."""
    xp = xp_of(a)
    if len(a) > 1:
        return xp.matmul(a, b, out=out)
    return xp.matmul(a[0], b[0], out=None if out is None else out[0])[None]
