/* deriche: edge detection by a recursive filter over rows, then columns. */
#include "harness.h"

enum {
    W = EXTENT(64, 192, 720, 4096, 7680),
    H = EXTENT(64, 128, 480, 2160, 4320),
};

static void init(float input[W][H]) {
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++) input[i][j] = (float)((313 * i + 991 * j) % 65536) / 65535.0f;
}

KERNEL kernel_deriche(float alpha, float input[W][H], float output[W][H], float y1[W][H],
                      float y2[W][H]) {
    float k = (1.0f - expf(-alpha)) * (1.0f - expf(-alpha)) /
              (1.0f + 2.0f * alpha * expf(-alpha) - expf(2.0f * alpha));
    float a1 = k, a5 = k;
    float a2 = k * expf(-alpha) * (alpha - 1.0f), a6 = a2;
    float a3 = k * expf(-alpha) * (alpha + 1.0f), a7 = a3;
    float a4 = -k * expf(-2.0f * alpha), a8 = a4;
    float b1 = powf(2.0f, -alpha), b2 = -expf(-2.0f * alpha);
    float c1 = 1, c2 = 1;

    for (int i = 0; i < W; i++) {
        float x_m1 = 0.0f, y_m1 = 0.0f, y_m2 = 0.0f;
        for (int j = 0; j < H; j++) {
            y1[i][j] = a1 * input[i][j] + a2 * x_m1 + b1 * y_m1 + b2 * y_m2;
            x_m1 = input[i][j];
            y_m2 = y_m1;
            y_m1 = y1[i][j];
        }
    }
    for (int i = 0; i < W; i++) {
        float x_p1 = 0.0f, x_p2 = 0.0f, y_p1 = 0.0f, y_p2 = 0.0f;
        for (int j = H - 1; j >= 0; j--) {
            y2[i][j] = a3 * x_p1 + a4 * x_p2 + b1 * y_p1 + b2 * y_p2;
            x_p2 = x_p1;
            x_p1 = input[i][j];
            y_p2 = y_p1;
            y_p1 = y2[i][j];
        }
    }
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++) output[i][j] = c1 * (y1[i][j] + y2[i][j]);
    for (int j = 0; j < H; j++) {
        float x_m1 = 0.0f, y_m1 = 0.0f, y_m2 = 0.0f;
        for (int i = 0; i < W; i++) {
            y1[i][j] = a5 * output[i][j] + a6 * x_m1 + b1 * y_m1 + b2 * y_m2;
            x_m1 = output[i][j];
            y_m2 = y_m1;
            y_m1 = y1[i][j];
        }
    }
    for (int j = 0; j < H; j++) {
        float x_p1 = 0.0f, x_p2 = 0.0f, y_p1 = 0.0f, y_p2 = 0.0f;
        for (int i = W - 1; i >= 0; i--) {
            y2[i][j] = a7 * x_p1 + a8 * x_p2 + b1 * y_p1 + b2 * y_p2;
            x_p2 = x_p1;
            x_p1 = output[i][j];
            y_p2 = y_p1;
            y_p1 = y2[i][j];
        }
    }
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++) output[i][j] = c2 * (y1[i][j] + y2[i][j]);
}

int main(void) {
    NEW_2D(float, input, W, H);
    NEW_2D(float, output, W, H);
    NEW_2D(float, y1, W, H);
    NEW_2D(float, y2, W, H);
    init(input);
    MEASURE(kernel_deriche(0.25f, input, output, y1, y2));
    answer_floats(&output[0][0], (size_t)W * H);
    return report();
}
