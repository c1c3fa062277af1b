"""A bucket in sand, in the style of gymnasium: an action and an observation per frame. Nothing is learned here.

Run it to step 1,000 random actions; it prints the time per step.
"""

import time

import barchan
import numpy as np

SCENE = {
    "name": "bucket",
    "duration": 1000,
    "frame_rate": 30,
    "materials": {"sand": {"density": 1600, "angle_of_repose": 34}},
    "fill": [
        {
            "material": "sand",
            "radius": 0.025,
            "settle": 0.3,
            "shape": {"box": {"size": [0.8, 0.4, 0.16]}, "at": [0, 0, 0.08]},
        }
    ],
    "body": [
        {
            "name": "tray",
            "shape": {
                "subtract": [
                    {"box": {"size": [0.9, 0.5, 0.35]}, "at": [0, 0, 0.125]},
                    {"box": {"size": [0.8, 0.4, 0.4]}, "at": [0, 0, 0.2]},
                ]
            },
        },
        {
            "name": "bucket",
            "motion": "driven",
            "shape": {
                "subtract": [
                    {"box": {"size": [0.2, 0.2, 0.14]}},
                    {"box": {"size": [0.2, 0.16, 0.14]}, "at": [0.02, 0, 0.03]},
                ],
                "at": [-0.2, 0, 0.4],
            },
        },
    ],
}


class BucketEnv:
    """Actions: velocity of the bucket along x and z, each from -1 to 1. Observations: its position, its velocity, and the
    force and torque of the sand on it."""

    #: Speed of a full action [m/s].
    speed = 0.3
    #: Positions that the bucket's center does not leave [m].
    low, high = np.array([-0.25, 0.09]), np.array([0.25, 0.45])

    def __init__(self, steps=1000):
        self.steps = steps

    def reset(self, seed=None):
        """Starts again, and returns the first observation."""
        self.simulation = barchan.Simulation(SCENE, set={"seed": 1 if seed is None else seed})
        self.bucket = self.simulation.bodies["bucket"]
        self.step_number = 0
        return self._observation(), {}

    def step(self, action):
        """Moves the bucket for a frame, and returns observation, reward, terminated, truncated and info."""
        velocity = self.speed * np.clip(np.asarray(action, float), -1, 1)
        frame = 1 / self.simulation.frame_rate
        position = self.bucket.position[[0, 2]]
        velocity = (np.clip(position + velocity * frame, self.low, self.high) - position) / frame
        self.bucket.set_velocity((velocity[0], 0, velocity[1]))
        self.simulation.advance()
        self.step_number += 1
        # Sand lifted above the bed, in numbers of guides.
        reward = float((self.simulation.guides.position[:, 2] > 0.25).sum())
        return self._observation(), reward, False, self.step_number >= self.steps, {}

    def _observation(self):
        bucket = self.bucket
        return np.concatenate([bucket.position, bucket.linear_velocity, bucket.force, bucket.torque])


def main(steps=1000):
    environment = BucketEnv(steps)
    random = np.random.default_rng(1)
    observation, _ = environment.reset(seed=1)
    assert observation.shape == (12,)
    truncated, touched, done = False, 0, 0
    start = time.perf_counter()
    while not truncated:
        # Actions that last for some frames, downwards more often than upwards.
        if done % 15 == 0:
            action = random.uniform(-1, 1, 2) - [0, 0.3]
        observation, reward, terminated, truncated, _ = environment.step(action)
        touched += np.linalg.norm(observation[6:9]) > 0
        done += 1
    spent = time.perf_counter() - start
    guides = len(environment.simulation.guides)
    assert np.isfinite(observation).all() and touched > 0
    print(f"{done} steps with {guides} guides: {1e3 * spent / done:.2f} ms each, sand touched in {touched}")


if __name__ == "__main__":
    main()
