import pytest

SCENE = {
    "name": "box",
    "duration": 0.2,
    "materials": {"sand": {"density": 1600, "angle_of_repose": 34}},
    "fill": [
        {
            "material": "sand",
            "radius": 0.04,
            "shape": {"box": {"size": [0.4, 0.4, 0.2]}, "at": [0, 0, 0.1]},
        }
    ],
    "body": [
        {"name": "ground", "shape": {"half_space": {"normal": [0, 0, 1]}}},
        {
            "name": "blade",
            "motion": "driven",
            "shape": {"box": {"size": [0.1, 0.4, 0.2]}, "at": [-0.3, 0, 0.1]},
        },
    ],
    "refine": {"radius": 0.02},
}


@pytest.fixture
def scene():
    """A box of sand on the ground, with a blade that a program drives, and grains."""
    return SCENE


@pytest.fixture
def guides_only():
    """The same without grains."""
    return {key: value for key, value in SCENE.items() if key != "refine"}
