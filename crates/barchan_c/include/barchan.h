#ifndef BARCHAN_H
#define BARCHAN_H

/* Generated from crates/barchan_c/src; a test compares them. Link with -lbarchan_c. */

#include <stddef.h>
#include <stdint.h>

// Result of a call.
typedef enum {
  // Done.
  BARCHAN_STATUS_OK = 0,
  // The work failed.
  BARCHAN_STATUS_FAILED = 1,
  // The input was wrong.
  BARCHAN_STATUS_WRONG_INPUT = 2,
} barchan_status;

// Type of the numbers of a column.
typedef enum {
  // `uint8_t`.
  BARCHAN_KIND_U8 = 0,
  // `uint32_t`.
  BARCHAN_KIND_U32 = 1,
  // `float`.
  BARCHAN_KIND_F32 = 2,
} barchan_kind;

// A simulation, its scene, and the columns that were read since the last step.
typedef struct barchan_simulation barchan_simulation;

// Values of a column, in memory of the library: valid until the simulation is advanced or freed.
typedef struct {
  // The first number.
  const void *data;
  // Number of particles.
  size_t rows;
  // Numbers per particle: 1 or 3.
  size_t width;
  // Type of the numbers.
  barchan_kind kind;
} barchan_column;

// State of a body.
typedef struct {
  // Position of its frame [m].
  double position[3];
  // Rotation of its frame: x, y, z, w.
  double rotation[4];
  // Velocity of its center of mass [m/s].
  double linear_velocity[3];
  // Angular velocity [rad/s].
  double angular_velocity[3];
  // Mean force of the guides over the last frame [N].
  double force[3];
  // Mean torque of the guides about its center of mass over the last frame [N m].
  double torque[3];
} barchan_body_state;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library.
const char *barchan_version(void);

// Returns the message of the last error on this thread, valid until the next error on it; an empty text if there was
// none.
const char *barchan_last_error(void);

// Builds a simulation. `scene` is the name of a built-in scene, the path of a scene file, or a TOML text, which has line
// breaks; `set` holds `set_count` changes `KEY=VALUE`. Returns null on an error.
//
// # Safety
// `scene` ends with a zero byte; `set` points to `set_count` such texts, or is null if there are none.
barchan_simulation *barchan_create(const char *scene,
                                   const char *const *set,
                                   size_t set_count);

// Continues from the folder of `barchan_save`, or of a cache with a checkpoint. Returns null on an error.
//
// # Safety
// `path` ends with a zero byte.
barchan_simulation *barchan_resume(const char *path);

// Frees a simulation and its columns. A null pointer is allowed.
//
// # Safety
// `simulation` is null or of `barchan_create` or `barchan_resume`, and is not used again.
void barchan_free(barchan_simulation *simulation);

// Advances by `frames` frames.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`, and no other thread uses it.
barchan_status barchan_advance(barchan_simulation *simulation, uint64_t frames);

// Writes the time [s] to `time`, and the number of frames since the start to `frame`.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`; the others may be written to.
barchan_status barchan_time(barchan_simulation *simulation, double *time, uint64_t *frame);

// Writes a column of the guides to `column`: `id`, `position` [m], `velocity` [m/s], `radius` [m], `material`, or one of
// the solver's. The memory belongs to the simulation, and is valid until it is advanced or freed.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; `column` may be written to.
barchan_status barchan_guides(barchan_simulation *simulation,
                              const char *name,
                              barchan_column *column);

// Like `barchan_guides`, for the grains.
//
// # Safety
// As for `barchan_guides`.
barchan_status barchan_grains(barchan_simulation *simulation, const char *name, barchan_column *column);

// Writes the state of the body called `name` to `body`.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; `body` may be written to.
barchan_status barchan_body(barchan_simulation *simulation,
                            const char *name,
                            barchan_body_state *body);

// Sets the velocity of the center of mass [m/s] and the angular velocity [rad/s] of a body; a null pointer is zero. A
// driven body keeps them, a dynamic one starts with them.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`; `name` ends with a zero byte; the others are null or point to
// three numbers.
barchan_status barchan_set_velocity(barchan_simulation *simulation,
                                    const char *name,
                                    const double *linear,
                                    const double *angular);

// Saves the state into the folder `path`, for `barchan_resume`.
//
// # Safety
// `simulation` is of `barchan_create` or `barchan_resume`; `path` ends with a zero byte.
barchan_status barchan_save(barchan_simulation *simulation, const char *path);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BARCHAN_H */
