//! Builds a scene in code: a Galton board, whose pegs come from a loop and whose sand is changed after reading.

use std::error::Error;
use std::fmt::Write;

use barchan::Simulation;
use barchan::scene::{Document, parse_scene};
use barchan::world::Column;

/// Rows of pegs.
const ROWS: u32 = 5;
/// Distance of two pegs [m].
const SPACING: f64 = 0.08;

fn scene_text() -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        r#"
        name = "galton"
        duration = 1.2
        materials.sand = { density = 1600, friction = 0.3 }

        [[emitter]]
        material = "sand"
        radius = 0.01
        shape = { box = { size = [0.06, 0.06, 0.06] }, at = [0, 0, 0.3] }
        rate = 1
        end = 0.8

        [[body]]
        name = "board"
        friction = 0.1
        shape = { subtract = [{ box = { size = [1, 0.1, 1.2] } }, { box = { size = [0.9, 0.06, 1.1] } }], at = [0, 0, -0.1] }
        "#,
    );
    for row in 0..ROWS {
        for k in 0..=row {
            let x = (f64::from(k) - 0.5 * f64::from(row)) * SPACING;
            let z = 0.15 - f64::from(row) * SPACING;
            writeln!(text, "[[body]]\nname = \"peg{row}_{k}\"\nfriction = 0.1")?;
            writeln!(
                text,
                "shape = {{ cylinder = {{ radius = 0.012, height = 0.06 }}, rotate = [90, 0, 0], at = [{x}, 0, {z}] }}"
            )?;
        }
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    let document = Document::new("galton", scene_text()?);
    // Overrides are those of `barchan run --set`.
    let (mut scene, _) = parse_scene(&document.with("solver.kind=dem"))?;
    // A scene that was read is plain data: change what you like before it is built.
    scene.gravity *= 0.8;
    let mut simulation = Simulation::new(&scene)?;
    for _ in 0..scene.frames() {
        simulation.advance()?;
    }
    let frame = simulation.frame();
    let Some(Column::Vec3(positions)) = frame.guides.column("position") else {
        unreachable!("every frame has positions");
    };
    println!("{} bodies, {} guides", frame.bodies.len(), positions.len());
    for bin in -6..6 {
        let low = f64::from(bin) * SPACING;
        let count = positions
            .iter()
            .filter(|p| (low..low + SPACING).contains(&f64::from(p.x)))
            .count();
        println!("{low:6.2} m {}", "#".repeat(count));
    }
    Ok(())
}
