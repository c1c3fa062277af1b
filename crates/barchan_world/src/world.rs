//! The state of a simulation at one time.

use barchan_geometry::Aabb;
use barchan_geometry::random::Stream;
use glam::{DVec3, Vec3};

use crate::crowd::Crowd;
use crate::{
    Archive, ArchiveError, Bodies, Body, BodyId, Emitter, Guide, Guides, Joint, Ledger, Mass, Materials, Motion, Pose,
    Sink, Twist, Wrench, joint,
};

/// Ranges of the periodic axes [m].
pub type Periodic = [Option<[f64; 2]>; 3];

/// Packing fraction of settled guides [-], which relates bulk density to a guide's own volume.
pub const SETTLED_FRACTION: f64 = 0.6;

/// Positions in its shape that an emitter tries for each owed guide before it gives up for the frame [-].
const EMITTER_TRIES: u32 = 30;
/// Most positions in the box around the shape that are drawn for each of them [-]: a slanted shape fills little of its
/// box.
const EMITTER_DRAWS: u32 = 32;

/// Radius from which on guides near an emitter are few, as a multiple of the largest that it emits [-].
const LARGE: f64 = 2.0;

/// Times at which a scripted body is sampled to detect motion [-].
const MOVING_PROBES: u32 = 8;

/// The state of a simulation.
#[derive(Clone, Debug)]
pub struct World {
    /// Origin of guides' positions [m]. Bodies, shapes and gravity do not depend on it.
    pub origin: DVec3,
    /// Acceleration of free fall [m/s²].
    pub gravity: DVec3,
    /// Periodic axes.
    pub periodic: Periodic,
    /// Materials of guides.
    pub materials: Materials,
    /// The particles that carry the physics.
    pub guides: Guides,
    /// Rigid bodies.
    pub bodies: Vec<Body>,
    /// Joints of the bodies.
    pub joints: Vec<Joint>,
    /// Emitters of guides.
    pub emitters: Vec<Emitter>,
    /// Sinks of guides.
    pub sinks: Vec<Sink>,
    /// Current time [s].
    pub time: f64,
    /// Balance of mass.
    pub ledger: Ledger,
    /// Id of the next guide.
    pub next_id: u32,
    /// Id after the last guide of each fill.
    pub fill_ends: Vec<u32>,
    /// True for each fill whose guides never move.
    pub fixed_fills: Vec<bool>,
    /// Random seed.
    pub seed: u64,
    /// Random numbers drawn so far [-].
    pub draws: u64,
    /// Warnings of the build; not part of the state.
    pub warnings: Vec<String>,
}

impl World {
    /// Creates a world without guides and bodies.
    pub fn new(gravity: DVec3, materials: Materials, seed: u64) -> Self {
        Self {
            origin: DVec3::ZERO,
            gravity,
            periodic: [None; 3],
            materials,
            guides: Guides::default(),
            bodies: Vec::new(),
            joints: Vec::new(),
            emitters: Vec::new(),
            sinks: Vec::new(),
            time: 0.0,
            ledger: Ledger::default(),
            next_id: 0,
            fill_ends: Vec::new(),
            fixed_fills: Vec::new(),
            seed,
            draws: 0,
            warnings: Vec::new(),
        }
    }

    /// Returns true if body `k` may move, appear or disappear in the next `duration` [s], or did in the previous one.
    pub fn may_move(&self, k: BodyId, duration: f64) -> bool {
        let body = &self.bodies[k];
        let changes = |at: f64| (at - self.time).abs() <= duration;
        let is_moving = match body.motion {
            Motion::Fixed => false,
            Motion::Dynamic => true,
            Motion::Driven => body.twist != Twist::default(),
            Motion::Scripted { .. } => {
                let now = self.bodies.scripted_pose(k, self.time);
                let later = |n: u32| self.time + duration * f64::from(n) / f64::from(MOVING_PROBES);
                (1..=MOVING_PROBES).any(|n| self.bodies.scripted_pose(k, later(n)) != now)
            }
        };
        is_moving || changes(body.from) || changes(body.until)
    }

    /// Returns true if some guides never move.
    pub fn has_fixed_guides(&self) -> bool {
        self.fixed_fills.contains(&true)
    }

    /// Returns true if guide `i` never moves.
    pub fn is_fixed(&self, i: usize) -> bool {
        let id = self.guides.id[i];
        let fill = self.fill_ends.partition_point(|&end| end <= id);
        self.fixed_fills.get(fill).copied().unwrap_or(false)
    }

    /// Returns a position in the world [m] relative to the origin of the guides.
    pub fn local(&self, p: DVec3) -> Vec3 {
        (p - self.origin).as_vec3()
    }

    /// Returns the position of guide `i` in the world [m].
    pub fn place(&self, i: usize) -> DVec3 {
        self.origin + self.guides.position[i].as_dvec3() + self.guides.offset[i].as_dvec3()
    }

    /// Adds a guide at `place` [m] with the next id. The caller updates the ledger.
    pub fn add_guide(&mut self, place: DVec3, velocity: DVec3, radius: f64, mass: f32, material: u8) {
        let position = self.local(place);
        self.guides.push(Guide {
            id: self.next_id,
            position,
            offset: (place - self.origin - position.as_dvec3()).as_vec3(),
            velocity: velocity.as_vec3(),
            radius: radius as f32,
            mass,
            material,
        });
        self.next_id += 1;
    }

    /// Returns the mass [kg] of a guide of `radius` [m] that represents settled material.
    pub fn settled_mass(&self, material: u8, radius: f64) -> f32 {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        (self.materials.all[usize::from(material)].density * volume / SETTLED_FRACTION) as f32
    }

    /// Removes the guides whose centers lie in a sink, and updates the ledger.
    pub fn drain(&mut self) {
        if self.sinks.is_empty() {
            return;
        }
        let keep: Vec<bool> = (0..self.guides.len())
            .map(|i| {
                let place = self.place(i);
                !self
                    .sinks
                    .iter()
                    .any(|s| s.shape.bounds().contains(place) && s.shape.distance(place) < 0.0)
            })
            .collect();
        let gone = self.guides.mass.iter().zip(&keep).filter(|(_, keep)| !**keep);
        self.ledger.removed += Mass::sum(gone.map(|(mass, _)| *mass));
        if keep.contains(&false) {
            self.guides.retain(&keep);
        }
    }

    /// Emits the guides due in the next `duration` [s], as far as there is room, and updates the ledger.
    pub fn emit(&mut self, duration: f64) {
        for k in 0..self.emitters.len() {
            let emitter = &mut self.emitters[k];
            let active = (self.time + duration).min(emitter.end) - self.time.max(emitter.start);
            if active <= 0.0 {
                continue;
            }
            emitter.owed += emitter.rate * active;
            self.emit_owed(k, active);
        }
    }

    /// Guides enter all the time, so that a stream has no layers: those that enter later in the next `duration` [s] start as much
    /// farther upstream.
    fn emit_owed(&mut self, k: usize, duration: f64) {
        let emitter = self.emitters[k].clone();
        let bounds = emitter.shape.bounds();
        let way = emitter.velocity * duration;
        let upstream = Aabb::new(bounds.min - way, bounds.max - way);
        let mut crowd = self.crowd_in(&bounds.union(&upstream), emitter.radii.max());
        let mut owed = emitter.owed;
        'owing: loop {
            let mut stream = Stream::new(self.seed, self.draws);
            self.draws += 1;
            let radius = emitter.radii.quantile(stream.unit());
            let mass = self.settled_mass(emitter.material, radius);
            // What weighs nothing would be owed for ever.
            if mass <= 0.0 || owed < f64::from(mass) || self.next_id == u32::MAX {
                break;
            }
            let mut tries = 0;
            for _ in 0..EMITTER_DRAWS * EMITTER_TRIES {
                let place = bounds.min + stream.unit_cube() * bounds.size();
                if emitter.shape.distance(place) > -radius {
                    continue;
                }
                tries += 1;
                if tries > EMITTER_TRIES {
                    break;
                }
                let place = place - stream.unit() * way;
                if crowd.overlaps(place, radius) || self.is_in_body(place, radius) {
                    continue;
                }
                crowd.add(place, radius);
                self.add_guide(place, emitter.velocity, radius, mass, emitter.material);
                self.ledger.emitted += Mass::of(mass);
                owed -= f64::from(mass);
                continue 'owing;
            }
            break;
        }
        self.emitters[k].owed = owed;
    }

    /// Returns the guides that one of up to `radius` [m] in `bounds` may overlap.
    fn crowd_in(&self, bounds: &Aabb, radius: f64) -> Crowd {
        let near: Vec<(DVec3, f64)> = (0..self.guides.len())
            .map(|i| (self.place(i), f64::from(self.guides.radius[i])))
            .filter(|(place, r)| bounds.grown(r + radius).contains(*place))
            .collect();
        let radii = near.iter().map(|guide| guide.1);
        let largest = radii.filter(|&r| r <= LARGE * radius).fold(radius, f64::max);
        let mut crowd = Crowd::new(bounds.center(), largest, radius);
        near.iter().for_each(|&(place, r)| crowd.add(place, r));
        crowd
    }

    /// Returns true if a guide of `radius` [m] at `place` [m] would overlap a body.
    fn is_in_body(&self, place: DVec3, radius: f64) -> bool {
        let mut present = self.bodies.iter().filter(|body| body.is_present(self.time));
        present.any(|body| body.shape.distance(body.pose.local(place)) < radius)
    }

    /// Moves the scripted bodies to their poses at `time` [s].
    pub fn place_scripted_bodies(&mut self, time: f64) {
        for k in 0..self.bodies.len() {
            if matches!(self.bodies[k].motion, Motion::Scripted { .. }) {
                self.bodies[k].pose = self.bodies.scripted_pose(k, time);
            }
        }
    }

    /// Stores the state that changes during a run.
    pub fn save(&self, archive: &mut Archive) {
        self.guides.save(archive, "guides");
        archive.put("world.time", &[self.time]);
        archive.put("world.counters", &[u64::from(self.next_id), self.draws]);
        let ledger = [self.ledger.filled, self.ledger.emitted, self.ledger.removed];
        archive.put("world.ledger", &ledger.map(Mass::to_words));
        let owed: Vec<f64> = self.emitters.iter().map(|e| e.owed).collect();
        archive.put("world.owed", &owed);
        let bodies: Vec<[f64; 19]> = self.bodies.iter().map(body_numbers).collect();
        archive.put("world.bodies", &bodies);
        archive.put("world.fill_ends", &self.fill_ends);
        joint::save(&self.joints, archive);
    }

    /// Restores the state of [`save`](Self::save) into a world built from the same scene.
    pub fn load(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        let guides = Guides::load(archive, "guides")?;
        let time: f64 = archive.get_one_fit("world.time", |time: &f64| time.is_finite())?;
        let counters: [u64; 2] = archive.get_one("world.counters")?;
        let ledger: [[u64; 2]; 3] = archive.get_one("world.ledger")?;
        let owed: Vec<f64> = archive.get_f64s("world.owed")?;
        let bodies: Vec<[f64; 19]> = archive.get_f64s("world.bodies")?;
        let fits = |name: &str, found: usize, here: usize| match found == here {
            true => Ok(()),
            false => Err(ArchiveError::Unfit {
                name: name.to_owned(),
                found: format!("{found} values where the scene has {here}"),
            }),
        };
        fits("world.owed", owed.len(), self.emitters.len())?;
        fits("world.bodies", bodies.len(), self.bodies.len())?;
        let next_id = self.checked_next_id(guides.len(), time, counters[0])?;
        let fill_ends = archive.get_fit("world.fill_ends", |&end: &u32| end <= next_id)?;
        self.check_guides(archive, next_id)?;
        self.guides = guides;
        self.fill_ends = fill_ends;
        self.time = time;
        (self.next_id, self.draws) = (next_id, counters[1]);
        let [filled, emitted, removed] = ledger.map(Mass::from_words);
        self.ledger = Ledger {
            filled,
            emitted,
            removed,
        };
        for (emitter, owed) in self.emitters.iter_mut().zip(owed) {
            emitter.owed = owed;
        }
        for (body, numbers) in self.bodies.iter_mut().zip(bodies) {
            set_body_numbers(body, numbers);
        }
        joint::load(&mut self.joints, archive)
    }
}

/// Ids that may have been used besides those of present guides and those that emitters can have used [-].
const SPARE_IDS: f64 = (1u32 << 26) as f64;

impl World {
    /// Checks the next id of an archive with `guides` guides at `time` [s]. Arrays by id are as long as that.
    fn checked_next_id(&self, guides: usize, time: f64, next_id: u64) -> Result<u32, ArchiveError> {
        let emitted = self.emitters.iter().map(|emitter| {
            let smallest = self.settled_mass(emitter.material, emitter.radii.min());
            emitter.rate * time.max(0.0) / f64::from(smallest)
        });
        let most = SPARE_IDS + 64.0 * guides as f64 + 2.0 * emitted.sum::<f64>();
        let next = u32::try_from(next_id).ok().filter(|&next| f64::from(next) <= most);
        next.ok_or_else(|| ArchiveError::Unfit {
            name: "world.counters".to_owned(),
            found: format!("{next_id} ids of guides"),
        })
    }

    /// Checks every column of guides that an archive holds: solvers index by ids and materials, and trust the rest.
    fn check_guides(&self, archive: &Archive, next_id: u32) -> Result<(), ArchiveError> {
        archive.get_ids("guides.id", next_id)?;
        for name in ["guides.position", "guides.offset", "guides.velocity"] {
            archive.get_near::<Vec3>(name)?;
        }
        for name in ["guides.radius", "guides.mass"] {
            archive.get_fit(name, |&number: &f32| number > 0.0 && number.is_finite())?;
        }
        let materials = self.materials.all.len();
        archive.get_fit("guides.material", |&material: &u8| usize::from(material) < materials)?;
        Ok(())
    }
}

fn body_numbers(body: &Body) -> [f64; 19] {
    let mut numbers = [0.0; 19];
    numbers[..3].copy_from_slice(&body.pose.position.to_array());
    numbers[3..7].copy_from_slice(&body.pose.rotation.to_array());
    let vectors = [
        body.twist.linear,
        body.twist.angular,
        body.wrench.force,
        body.wrench.torque,
    ];
    for (k, vector) in vectors.iter().enumerate() {
        numbers[7 + 3 * k..10 + 3 * k].copy_from_slice(&vector.to_array());
    }
    numbers
}

fn set_body_numbers(body: &mut Body, numbers: [f64; 19]) {
    let vector = |k: usize| DVec3::from_slice(&numbers[k..k + 3]);
    body.pose = Pose {
        position: vector(0),
        rotation: glam::DQuat::from_slice(&numbers[3..7]),
    };
    body.twist = Twist {
        linear: vector(7),
        angular: vector(10),
    };
    body.wrench = Wrench {
        force: vector(13),
        torque: vector(16),
    };
}
