// Projects spheres, triangles and the ground, and writes their surface data. Counterpart of lens.rs,
// triangle.rs and the first half of shade.rs.

// A camera, or the light of the sun; lengths on the image are in samples, of which a pixel has SIDE x SIDE.
struct View {
    origin: vec4f,
    right: vec4f,
    down: vec4f,
    forward: vec4f,
    middle: vec2f,
    size: vec2f,
    // Size of a sample [m]; in perspective at a distance of 1 m.
    scale: f32,
    near: f32,
    // Smallest radius that is drawn [samples].
    least_radius: f32,
    perspective: f32,
    // Depth range of parallel light [m].
    depth_low: f32,
    depth_high: f32,
    padding: vec2f,
}

struct Scene {
    towards_sun: vec4f,
    sun_color: vec4f,
    // xyz: smallest corner of the grid [m]; w: size of a cell [m].
    grid_low: vec4f,
    // xyz: cells; w: height of the ground [m].
    grid_size: vec4f,
    // xyz: center of the scene [m]; w: its radius [m].
    middle: vec4f,
    ground: f32,
    has_ground: f32,
    has_grid: f32,
    // Radius of a typical sphere [m].
    typical_radius: f32,
    // 0: one color; 1: one per sphere; 2: grains.
    color_mode: f32,
    texel: f32,
    softness: f32,
    samples: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> scene: Scene;
@group(0) @binding(2) var clear_grid: texture_3d<f32>;
@group(0) @binding(3) var smooth_sampler: sampler;
// One color; or for each material stretch, facets, edge and spread, and its tints.
@group(0) @binding(4) var<storage, read> palettes: array<vec4f>;

fn hash_bits(n: u32) -> u32 {
    let state = n * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn hash_byte(bits: u32, k: u32) -> f32 {
    return f32((bits >> (8u * k)) & 0xFFu) / 255.0;
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = clamp((x - low) / (high - low), 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
}

fn to_local(point: vec3f) -> vec3f {
    let p = point - view.origin.xyz;
    return vec3f(dot(p, view.right.xyz), dot(p, view.down.xyz), dot(p, view.forward.xyz));
}

fn outward_of(direction: vec3f) -> vec3f {
    return direction.x * view.right.xyz + direction.y * view.down.xyz + direction.z * view.forward.xyz;
}

// Ray through a point of the image; its depth is 1.
fn ray_local(place: vec2f) -> vec3f {
    return vec3f((place - view.middle) * view.scale, 1.0);
}

// Value in the depth buffer: 1 is near, 0 is infinite; for parallel light 0 is first.
fn buffer_depth(depth: f32) -> f32 {
    if view.perspective > 0.5 {
        return view.near / depth;
    }
    return clamp((depth - view.depth_low) / (view.depth_high - view.depth_low), 0.0, 0.999999);
}

fn turn(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

fn safe_normal(v: vec3f, other: vec3f) -> vec3f {
    let square = dot(v, v);
    return select(other, v * inverseSqrt(square), square > 1e-30);
}

// Shape, facets, edge and spread of the material of a grain.
fn properties(color: u32) -> vec4f {
    return palettes[(color & 0xFFu) * u32(TINTS + 1)];
}

fn orientation(id: u32) -> vec4f {
    let noise = hash_bits(id ^ 0x5EEDu);
    let part = vec4f(hash_byte(noise, 0u), hash_byte(noise, 1u), hash_byte(noise, 2u), hash_byte(noise, 3u)) - 0.5;
    return normalize(part + vec4f(0.0, 0.0, 0.0, 0.01));
}

// Half axes of a grain relative to its radius.
fn half_axes(id: u32, stretch: f32) -> vec3f {
    let noise = hash_bits(id ^ 0x0E11u);
    let long = 1.0 + (stretch - 1.0) * (0.4 + 0.6 * hash_byte(noise, 0u));
    let short = 1.0 / (1.0 + (stretch - 1.0) * (0.4 + 0.6 * hash_byte(noise, 1u)));
    return vec3f(long, 1.0 / (long * short), short);
}

struct SphereIn {
    @builtin(vertex_index) corner: u32,
    @location(0) sphere: vec4f,
    @location(1) id: u32,
    @location(2) color: u32,
}

struct SphereOut {
    @builtin(position) clip: vec4f,
    // Center in the lens frame; drawn radius.
    @location(0) @interpolate(flat) sphere: vec4f,
    // Center on the image; true radius; 1 beside the eye.
    @location(1) @interpolate(flat) image: vec4f,
    // Id, color, samples of a pixel that are kept.
    @location(2) @interpolate(flat) ids: vec3u,
    // Axes of the lens in the frame in which the grain is a ball.
    @location(3) @interpolate(flat) right: vec3f,
    @location(4) @interpolate(flat) down: vec3f,
    @location(5) @interpolate(flat) forward: vec3f,
    // Half axes of the grain relative to its radius.
    @location(6) @interpolate(flat) axes: vec3f,
}

// Samples that show a sphere below the smallest radius, one bit each: it keeps its share of the image.
fn kept_samples(size: f32, id: u32) -> u32 {
    if size >= 1.0 {
        return 15u;
    }
    let noise = hash_bits(id);
    let kept = u32(clamp(4.0 * size * size + hash_byte(noise, 0u), 1.0, 4.0));
    var lanes = 0u;
    for (var k = 0u; k < 4u; k++) {
        if (k + (noise >> 8u)) % 4u < kept {
            lanes |= 1u << k;
        }
    }
    return lanes;
}

// Ends on the image; `across` and `forward`: vectors as long as the half widths along the axis and along the view.
fn reach(x: f32, z: f32, across: vec3f, forward: vec3f) -> vec2f {
    if view.perspective < 0.5 {
        return vec2f(x - length(across), x + length(across));
    }
    let middle = x * z - dot(across, forward);
    let side = z * across - x * forward;
    let turned = cross(across, forward);
    let spread = sqrt(max(dot(side, side) - dot(turned, turned), 0.0));
    return vec2f(middle - spread, middle + spread) / (z * z - dot(forward, forward));
}

@vertex
fn sphere_vertex(in: SphereIn) -> SphereOut {
    var out: SphereOut;
    let c = to_local(in.sphere.xyz);
    let radius = in.sphere.w;
    out.clip = vec4f(2.0, 2.0, 0.5, 1.0);
    out.ids = vec3u(in.id, in.color, 15u);
    var stretch = 1.0;
    if scene.color_mode > 1.5 {
        stretch = properties(in.color).x;
    }
    out.axes = vec3f(1.0);
    out.right = vec3f(1.0, 0.0, 0.0);
    out.down = vec3f(0.0, 1.0, 0.0);
    out.forward = vec3f(0.0, 0.0, 1.0);
    let far = view.perspective < 0.5 || c.z > 1.001 * stretch * radius + view.near;
    let corner = vec2f(f32(in.corner & 1u), f32(in.corner >> 1u));
    if !far {
        let hidden = c.z + radius < view.near || dot(c, c) <= radius * radius;
        out.sphere = vec4f(c, radius);
        out.image = vec4f(0.0, 0.0, radius, 1.0);
        if !hidden {
            out.clip = vec4f(2.0 * corner - 1.0, 0.5, 1.0);
        }
        return out;
    }
    let depth = select(1.0, c.z, view.perspective > 0.5);
    let least = view.least_radius * view.scale * depth;
    let drawn = max(radius, least);
    out.ids.z = kept_samples(radius / least, in.id);
    out.sphere = vec4f(c, drawn);
    out.image = vec4f(view.middle + c.xy / (depth * view.scale), radius, 0.0);
    var right = out.right;
    var down = out.down;
    var forward = out.forward;
    if stretch > 1.0 && radius > SHAPED_FROM * least {
        let q = orientation(in.id);
        out.axes = half_axes(in.id, stretch);
        right = turn(q, view.right.xyz);
        down = turn(q, view.down.xyz);
        forward = turn(q, view.forward.xyz);
        out.right = right / out.axes;
        out.down = down / out.axes;
        out.forward = forward / out.axes;
    }
    let support = drawn * out.axes;
    let x = reach(c.x, c.z, support * right, support * forward);
    let y = reach(c.y, c.z, support * down, support * forward);
    // One sample more, so that rounding clips nothing.
    let low = view.middle + vec2f(x.x, y.x) / view.scale - 1.0;
    let high = view.middle + vec2f(x.y, y.y) / view.scale + 1.0;
    let place = mix(low, high, corner);
    out.clip = vec4f(2.0 * place.x / view.size.x - 1.0, 1.0 - 2.0 * place.y / view.size.y, 0.5, 1.0);
    return out;
}

// Depth of a sphere's front; negative outside. The forms are those of `FarSphere`.
fn sphere_depth(in: SphereOut) -> f32 {
    let c = in.sphere.xyz;
    let squared = in.sphere.w * in.sphere.w;
    if in.image.w > 0.5 {
        let ray = ray_local(in.clip.xy);
        let across = cross(c, ray);
        let square = dot(ray, ray);
        let inside = squared * square - dot(across, across);
        return select(-1.0, (dot(ray, c) - sqrt(max(inside, 0.0))) / square, inside >= 0.0);
    }
    let pixel = vec2u(in.clip.xy);
    let lane = (pixel.y & 1u) * 2u + (pixel.x & 1u);
    if (in.ids.z >> lane & 1u) == 0u {
        return -3e38;
    }
    let at = (in.clip.xy - in.image.xy) * view.scale;
    let offset = at.x * in.right + at.y * in.down;
    if view.perspective < 0.5 {
        let square = dot(in.forward, in.forward);
        let across = cross(offset, in.forward);
        let inside = squared * square - dot(across, across);
        return select(-3e38, c.z - (dot(offset, in.forward) + sqrt(max(inside, 0.0))) / square, inside >= 0.0);
    }
    let axis = in.forward + (c.x * in.right + c.y * in.down) / c.z;
    let ray = axis + offset;
    let across = c.z * cross(axis, offset);
    let square = dot(ray, ray);
    let inside = squared * square - dot(across, across);
    return select(-1.0, (c.z * dot(ray, axis) - sqrt(max(inside, 0.0))) / square, inside >= 0.0);
}

@fragment
fn sphere_shadow(in: SphereOut) -> @builtin(frag_depth) f32 {
    let depth = sphere_depth(in);
    if depth < -1e38 {
        discard;
    }
    return buffer_depth(depth);
}

// Surface data: depth; normal and reach of crevices [samples]; albedo and 1 for bodies, 2 for the ground, 3 for a color
// that encodes a number, 4 and more by its wetness for a grain.
struct Surface {
    @builtin(frag_depth) buffered: f32,
    @location(0) depth: f32,
    @location(1) normal: vec4f,
    @location(2) albedo: vec4f,
}

// The normal of a grain, with facets.
fn grain_normal(from_center: vec3f, axes: vec3f, id: u32, material: vec4f) -> vec3f {
    let q = orientation(id);
    let on_ball = safe_normal(turn(q, from_center) / axes, vec3f(0.0, 0.0, 1.0));
    let noise = hash_bits(id ^ 0xFACE7u);
    let shift = vec3f(hash_byte(noise, 0u), hash_byte(noise, 1u), hash_byte(noise, 2u));
    let facet = floor(on_ball * material.y + shift) + 0.5 - shift;
    let own = mix(on_ball, safe_normal(facet, on_ball), material.z) / axes;
    return safe_normal(turn(vec4f(-q.xyz, q.w), own), vec3f(0.0, 0.0, 1.0));
}

fn clear_at(point: vec3f) -> f32 {
    let place = vec3f(point.xy, max(point.z, scene.grid_size.w));
    let at = (place - scene.grid_low.xyz) / scene.grid_low.w;
    let base = floor(at - 0.5);
    if any(base < vec3f(0.0)) || any(base + 1.0 >= scene.grid_size.xyz) {
        return 1.0;
    }
    return textureSampleLevel(clear_grid, smooth_sampler, at / scene.grid_size.xyz, 0.0).x;
}

fn rise(point: vec3f, axis: vec3f) -> f32 {
    let step = scene.grid_low.w * axis;
    return clear_at(point + step) - clear_at(point - step) + clear_at(point + 2.0 * step) - clear_at(point - 2.0 * step);
}

fn wet(albedo: vec3f, wetness: f32) -> vec3f {
    let dry = min(albedo, vec3f(1.0));
    return mix(dry, dry / (dry + WATER * WATER * (1.0 - dry)), wetness);
}

fn wetness_of(color: u32) -> f32 {
    return hash_byte(color, 1u);
}

fn grain_color(color: u32, id: u32) -> vec3f {
    let noise = hash_bits(id);
    let tint = (noise >> 16u) % u32(TINTS);
    let base = palettes[(color & 0xFFu) * u32(TINTS + 1) + 1u + tint].xyz;
    return wet(base * (1.0 + properties(color).w * (2.0 * hash_byte(noise, 0u) - 1.0)), wetness_of(color));
}

fn decode(color: vec3f) -> vec3f {
    return select(pow((color + 0.055) / 1.055, vec3f(2.4)), color / 12.92, color <= vec3f(0.04045));
}

// Inverts the film response: the root of its quadratic equation.
fn exposure(response: vec3f) -> vec3f {
    let a = 2.51 - 2.43 * response;
    let b = 0.03 - 0.59 * response;
    let c = -0.14 * response;
    return (sqrt(max(b * b - 4.0 * a * c, vec3f(0.0))) - b) / (2.0 * a) / 0.6;
}

fn sphere_color(color: u32, id: u32) -> vec3f {
    if scene.color_mode < 0.5 {
        return palettes[0].xyz;
    }
    if scene.color_mode < 1.5 {
        return exposure(EVEN_WHITE * decode(unpack4x8unorm(color).xyz));
    }
    return grain_color(color, id);
}

@fragment
fn sphere_surface(in: SphereOut) -> Surface {
    let depth = sphere_depth(in);
    if depth <= view.near {
        discard;
    }
    let ray = ray_local(in.clip.xy);
    let toward_camera = -normalize(outward_of(ray));
    let from_center = outward_of(depth * ray - in.sphere.xyz);
    let radius = in.image.z;
    var normal = safe_normal(from_center, toward_camera);
    if scene.color_mode > 1.5 {
        normal = grain_normal(from_center / radius, in.axes, in.ids.x, properties(in.ids.y));
    }
    let pixels = radius / (depth * view.scale * scene.samples);
    let detail = smooth_step(0.3, 1.2, pixels);
    if detail < 1.0 {
        var heap = toward_camera;
        if scene.has_grid > 0.5 {
            let center = view.origin.xyz + outward_of(in.sphere.xyz);
            let way = vec3f(rise(center, vec3f(1, 0, 0)), rise(center, vec3f(0, 1, 0)), rise(center, vec3f(0, 0, 1)));
            heap = safe_normal(way, toward_camera);
        }
        normal = safe_normal(mix(heap, normal, detail), heap);
    }
    var out: Surface;
    out.buffered = buffer_depth(depth);
    out.depth = depth;
    out.normal = vec4f(normal, min(CREVICE * radius / (depth * view.scale), 60000.0));
    var matter = 1.0;
    if scene.color_mode > 1.5 {
        matter = 4.0 + wetness_of(in.ids.y);
    } else if scene.color_mode > 0.5 {
        matter = 3.0;
    }
    out.albedo = vec4f(sphere_color(in.ids.y, in.ids.x), matter);
    return out;
}

struct TriangleOut {
    @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) @interpolate(flat) color: vec4f,
}

@vertex
fn triangle_vertex(@location(0) position: vec3f, @location(1) normal: vec3f, @location(2) color: vec4f) -> TriangleOut {
    var out: TriangleOut;
    let local = to_local(position);
    let image = vec2f(local.x, -local.y) * 2.0 / (view.scale * view.size);
    if view.perspective > 0.5 {
        out.clip = vec4f(image, view.near, local.z);
    } else {
        out.clip = vec4f(image, buffer_depth(local.z), 1.0);
    }
    out.position = position;
    out.normal = normal;
    out.color = color;
    return out;
}

@fragment
fn triangle_surface(in: TriangleOut) -> Surface {
    let ray = outward_of(ray_local(in.clip.xy));
    var normal = safe_normal(in.normal, -normalize(ray));
    if dot(normal, ray) > 0.0 {
        normal = -normal;
    }
    let depth = to_local(in.position).z;
    let crevice = select(0.02 * scene.middle.w, CREVICE * scene.typical_radius, scene.typical_radius > 0.0);
    var out: Surface;
    out.buffered = buffer_depth(depth);
    out.depth = depth;
    out.normal = vec4f(normal, min(crevice / (depth * view.scale), 60000.0));
    out.albedo = vec4f(in.color.xyz, 1.0);
    return out;
}

// The three corners of a triangle around the whole image.
@vertex
fn whole_vertex(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4f {
    return vec4f(f32(corner & 1u) * 4.0 - 1.0, f32(corner >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}

@fragment
fn ground_surface(@builtin(position) clip: vec4f) -> Surface {
    let ray = outward_of(ray_local(clip.xy));
    let drop = view.origin.z - scene.ground;
    if scene.has_ground < 0.5 || drop <= 0.0 || ray.z >= 0.0 {
        discard;
    }
    let depth = drop / -ray.z;
    let crevice = select(0.02 * scene.middle.w, CREVICE * scene.typical_radius, scene.typical_radius > 0.0);
    var out: Surface;
    out.buffered = buffer_depth(depth);
    out.depth = depth;
    out.normal = vec4f(0.0, 0.0, 1.0, min(crevice / (depth * view.scale), 60000.0));
    out.albedo = vec4f(GROUND_COLOR, 2.0);
    return out;
}
