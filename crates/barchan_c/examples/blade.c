/* A blade pushes sand, and its force is printed: the C interface of barchan in one page. */

#include <stdio.h>

#include "barchan.h"

static const char *const SCENE =
    "duration = 1\n"
    "[materials.sand]\n"
    "density = 1600\n"
    "angle_of_repose = 34\n"
    "[[fill]]\n"
    "material = \"sand\"\n"
    "radius = 0.02\n"
    "shape = { box = { size = [0.6, 0.4, 0.1] }, at = [0, 0, 0.05] }\n"
    "[[body]]\n"
    "name = \"ground\"\n"
    "shape = { half_space = { normal = [0, 0, 1] } }\n"
    "[[body]]\n"
    "name = \"blade\"\n"
    "motion = \"driven\"\n"
    "shape = { box = { size = [0.05, 0.4, 0.2] }, at = [-0.35, 0, 0.1] }\n";

static int failed(barchan_simulation *simulation) {
    fprintf(stderr, "%s\n", barchan_last_error());
    barchan_free(simulation);
    return 1;
}

int main(void) {
    const char *set[] = {"solver.kind=pbd"};
    const double velocity[3] = {0.4, 0, 0};
    barchan_simulation *simulation = barchan_create(SCENE, set, 1);
    if (!simulation || barchan_set_velocity(simulation, "blade", velocity, NULL) != BARCHAN_STATUS_OK)
        return failed(simulation);
    printf("barchan %s\n", barchan_version());
    for (int i = 0; i < 4; i++) {
        barchan_column position;
        barchan_body_state blade;
        double time;
        uint64_t frame;
        if (barchan_advance(simulation, 6) != BARCHAN_STATUS_OK ||
            barchan_guides(simulation, "position", &position) != BARCHAN_STATUS_OK ||
            barchan_body(simulation, "blade", &blade) != BARCHAN_STATUS_OK ||
            barchan_time(simulation, &time, &frame) != BARCHAN_STATUS_OK)
            return failed(simulation);
        /* The library's own memory: valid until the next step. */
        const float *xyz = position.data;
        float highest = 0;
        for (size_t k = 0; k < position.rows; k++)
            if (xyz[3 * k + 2] > highest) highest = xyz[3 * k + 2];
        printf("%.2f s: %zu guides, highest %.3f m, blade at %.3f m, force %.1f N\n", time, position.rows, highest,
               blade.position[0], blade.force[0]);
    }
    barchan_free(simulation);
    /* Mistakes are messages, never crashes. */
    if (barchan_create("no such scene", NULL, 0)) return 1;
    printf("%s\n", barchan_last_error());
    return 0;
}
