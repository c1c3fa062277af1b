//! Milliseconds a step of 4 ms, for boxes in free flight and in settled stacks of up to ten.

#[path = "../tests/common/mod.rs"]
mod common;

use barchan_bodies::Dynamics;
use barchan_world::Motion;
use common::{GRAVITY, cuboid, ground, run, step, world};
use criterion::{Criterion, criterion_group, criterion_main};
use glam::{DQuat, DVec3};

const DT: f64 = 4e-3;

fn boxes(criterion: &mut Criterion) {
    for count in [100, 1000] {
        for (name, gravity, spacing, settle) in [("flight", DVec3::ZERO, 1.0, 0), ("stacks", GRAVITY, 0.3, 250)] {
            let mut bodies = vec![ground()];
            for k in 0..count {
                let [column, row, layer] = [k % 10, k / 10 % 10, k / 100].map(f64::from);
                let at = DVec3::new(spacing * column, spacing * row, 0.101 + (spacing - 0.098) * layer);
                let mut part = cuboid("box", Motion::Dynamic, DVec3::splat(0.2), at);
                part.pose.rotation = DQuat::from_rotation_z(0.1 * f64::from(k));
                if settle == 0 {
                    part.pose.position.z += 1.0;
                    part.twist.angular = DVec3::new(1.0, 5.0, 2.0);
                }
                bodies.push(part);
            }
            let mut world = world(gravity, bodies);
            let mut dynamics = Dynamics::new(&world).expect("boxes have mass");
            run(&mut dynamics, &mut world, DT, settle);
            criterion.bench_function(&format!("{count} boxes in {name}"), |bencher| {
                bencher.iter(|| step(&mut dynamics, &mut world, DT));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_secs(2));
    targets = boxes
}
criterion_main!(benches);
