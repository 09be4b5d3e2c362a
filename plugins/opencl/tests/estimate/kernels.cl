// Kernels of the tests of estimates. kernels.ll is what clang 19 makes of them:
// clang-19 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -target spir64-unknown-unknown -O1
//   -fno-discard-value-names -S -emit-llvm, without attributes, metadata and declarations.

kernel void copy(global const float* a, global float* b) { int i = get_global_id(0); b[i] = a[i]; }
kernel void strided(global const float* a, global float* b, int n) { int i = get_global_id(0); b[i] = a[i * n]; }
kernel void transpose_padded(global const float* a, global float* b, int n) {
  local float t[32][33]; int x = get_local_id(0), i = get_group_id(0) * 32, j = get_group_id(1) * 32;
  #pragma unroll 1
  for (int k = 0; k < 32; k++) t[k][x] = a[(j + k) * n + i + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll 1
  for (int k = 0; k < 32; k++) b[(i + k) * n + j + x] = t[x][k];
}
kernel void transpose(global const float* a, global float* b, int n) {
  local float t[32][32]; int x = get_local_id(0), i = get_group_id(0) * 32, j = get_group_id(1) * 32;
  #pragma unroll 1
  for (int k = 0; k < 32; k++) t[k][x] = a[(j + k) * n + i + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll 1
  for (int k = 0; k < 32; k++) b[(i + k) * n + j + x] = t[x][k];
}
kernel void sum(global const float* a, global const float* b, global float* c, int depth) {
  int i = get_global_id(0); float s = 0;
  #pragma unroll 1
  for (int k = 0; k < depth; k++) s += a[i * depth + k] * b[k];
  c[i] = s;
}
kernel void bytes(global const uchar* a, global int* c, int depth) {
  int i = get_global_id(0); int s = 0;
  #pragma unroll 1
  for (int k = 0; k < depth; k++) s += a[i * depth + k];
  c[i] = s;
}
kernel void divergent(global float* a, int n) {
  int i = get_global_id(0);
  if (i % 2) a[i] = a[i] * 2.0f; else a[i] = a[i] / 3.0f + 1.0f;
  if (i < n) a[i + 1024] = 1.0f;
}
kernel void nested(global const float* a, global float* c, int rows, int columns) {
  float s = 0;
  #pragma unroll 1
  for (int i = 0; i < rows; i++) {
    #pragma unroll 1
    for (int j = 0; j < columns; j++) s += a[(i * columns + j) * 32 + get_local_id(0)];
    s *= 2.0f;
  }
  c[get_global_id(0)] = s;
}
kernel void vector(global const float* a, global float* b)
{
    int i = get_global_id(0);
    vstore16(vload16(i, a) + 1.0f, i, b);
}
kernel void halves(global const half* a, global half* b)
{
    int i = get_global_id(0);
    vstore_half16(vload_half16(i, a), i, b);
}
kernel void prefetch(global const float* a, global float* c, int depth) {
  int i = get_global_id(0); float next = a[i], s = 0;
  #pragma unroll 1
  for (int k = 1; k < depth; k++) { float now = next; next = a[i + k * 1024]; s += now * now; }
  c[i] = s + next;
}
kernel void waiting(global const float* a, global float* c, int depth) {
  int i = get_global_id(0); float s = 0;
  #pragma unroll 1
  for (int k = 1; k < depth; k++) { float now = a[i + k * 1024]; s += now * now; }
  c[i] = s;
}
kernel void neighbors(global float* a) {
  local float t[64]; int i = get_local_id(0); t[i] = a[i]; barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) a[0] = t[1] + t[5];
}
kernel void triangle(global const float* a, global float* c) {
  float s = 0;
  #pragma unroll 1
  for (int k = 0; k < (int)get_local_id(0); k++) s += a[k];
  c[get_global_id(0)] = s;
}
kernel void alternating(global const float* a, global float* c, int n) {
  int i = get_local_id(0); float s = 0;
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    if ((i + k) % 2) s += a[i]; else c[i + 64] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[i] = s;
}
