// Lights the surfaces, blends glass, and maps to 8 bits. Counterpart of shade.rs, sun.rs, sky.rs, glass.rs and tone.rs.

@group(1) @binding(0) var seen_depth: texture_2d<f32>;
@group(1) @binding(1) var seen_normal: texture_2d<f32>;
@group(1) @binding(2) var seen_albedo: texture_2d<f32>;
@group(1) @binding(3) var sun_depth: texture_depth_2d;
@group(1) @binding(4) var light_grid: texture_3d<f32>;
@group(1) @binding(5) var<uniform> sun_view: View;

fn gradient_noise(place: vec2f) -> f32 {
    let pixel = floor(place);
    return fract(52.982918 * fract(0.06711056 * pixel.x + 0.00583715 * pixel.y));
}

fn background(ray: vec3f) -> vec3f {
    return mix(HORIZON, ZENITH, smooth_step(-0.05, 0.9, ray.z));
}

fn golden_step(direction: vec2f) -> vec2f {
    let s = vec2f(-0.7373689, 0.6754903);
    return vec2f(direction.x * s.x - direction.y * s.y, direction.x * s.y + direction.y * s.x);
}

fn depth_from_sun(place: vec2f) -> f32 {
    if any(place < vec2f(0.0)) || any(place >= sun_view.size) {
        return 3e38;
    }
    let found = textureLoad(sun_depth, vec2i(place), 0);
    if found >= 1.0 {
        return 3e38;
    }
    return sun_view.depth_low + found * (sun_view.depth_high - sun_view.depth_low);
}

// Share of the sun that a surface sees.
fn sunlight(point: vec3f, normal: vec3f, turn: f32) -> f32 {
    let forward = sun_view.forward.xyz;
    let cosine = -dot(normal, forward);
    let slope = min(sqrt(max(1.0 - cosine * cosine, 0.0)) / max(cosine, 0.2), 3.0);
    let p = point + 0.75 * scene.texel * normal - sun_view.origin.xyz;
    let depth = dot(p, forward);
    let place = sun_view.middle + vec2f(dot(p, sun_view.right.xyz), dot(p, sun_view.down.xyz)) / sun_view.scale;
    var direction = vec2f(cos(turn), sin(turn));
    var hiding = 0.0;
    var sum = 0.0;
    for (var k = 0; k < SUN_SEARCH_TAPS; k++) {
        direction = golden_step(direction);
        let length = SUN_SEARCH * sqrt((f32(k) + 0.5) / f32(SUN_SEARCH_TAPS));
        let bias = scene.texel * (0.25 + slope * (0.35 + 0.5 * min(length, 2.0)));
        let found = depth_from_sun(place + direction * length);
        if found < depth - bias {
            hiding += 1.0;
            sum += found;
        }
    }
    var penumbra = 0.0;
    if hiding > 0.0 {
        penumbra = (depth - sum / hiding) * scene.softness / scene.texel;
    }
    let radius = clamp(penumbra, 1.2, SUN_WIDEST);
    direction = vec2f(cos(turn), sin(turn));
    var lit = 0.0;
    let taps = select(SUN_NARROW_TAPS, SUN_WIDE_TAPS, radius > SUN_NARROW);
    for (var k = 0; k < taps; k++) {
        direction = golden_step(direction);
        let length = radius * sqrt((f32(k) + 0.5) / f32(taps));
        let bias = scene.texel * (0.25 + slope * (0.35 + 0.5 * min(length, 2.0)));
        if depth_from_sun(place + direction * length) >= depth - bias {
            lit += 1.0;
        }
    }
    return lit / f32(taps);
}

// Light of the sky times its direction, and the light.
fn skylight(point: vec3f) -> vec4f {
    let at = (point - scene.grid_low.xyz) / scene.grid_low.w;
    let base = floor(at - 0.5);
    if any(base < vec3f(0.0)) || any(base + 1.0 >= scene.grid_size.xyz) {
        return vec4f(0.0, 0.0, 0.5, 1.0);
    }
    return textureSampleLevel(light_grid, smooth_sampler, at / scene.grid_size.xyz, 0.0);
}

fn many_bounces(visible: f32, albedo: vec3f) -> vec3f {
    let most = min(albedo, vec3f(0.9));
    let a = 2.0404 * most - 0.3324;
    let b = -4.7951 * most + 0.6417;
    let c = 2.7552 * most + 0.6903;
    return max(((visible * a + b) * visible + c) * visible, vec3f(visible));
}

// Share of a surface's surroundings that nearby surfaces on the image leave open.
fn crevice_light(point: vec3f, normal: vec3f, depth: f32, samples: f32, place: vec2f, turn: f32) -> f32 {
    let resolved = smooth_step(1.0, 3.0, samples / scene.samples);
    if resolved <= 0.0 {
        return UNRESOLVED;
    }
    let reach = samples * depth * view.scale;
    let radius = min(samples, 48.0 * scene.samples);
    var hidden = 0.0;
    var direction = vec2f(cos(turn), sin(turn));
    for (var k = 0; k < CREVICE_TAPS; k++) {
        direction = golden_step(direction);
        let at = place + direction * (radius * (f32(k) + 0.7) / f32(CREVICE_TAPS));
        if any(at < vec2f(0.0)) || any(at >= view.size) {
            continue;
        }
        let sample = floor(at);
        let found = textureLoad(seen_depth, vec2i(sample), 0).x;
        if found <= 0.0 {
            continue;
        }
        let way = view.origin.xyz + found * outward_of(ray_local(sample + 0.5)) - point;
        let length = max(length(way), 1e-9);
        let fade = max(1.0 - length / (1.5 * reach), 0.0);
        hidden += max(dot(way, normal) / length - 0.1, 0.0) * fade;
    }
    let open = max(1.0 - 2.2 * hidden / f32(CREVICE_TAPS), 0.0);
    return UNRESOLVED + resolved * (open - UNRESOLVED);
}

// Light that a rough matte surface reflects relative to a smooth one.
fn rough(normal: vec3f, light: vec3f, toward_camera: vec3f, roughness: f32) -> f32 {
    let facing = max(dot(normal, light), 0.0);
    let seen = max(dot(normal, toward_camera), 0.0);
    let s = dot(light, toward_camera) - facing * seen;
    let scaled = select(s, s / max(max(facing, seen), 1e-4), s > 0.0);
    return (1.0 + roughness * scaled) / (1.0 + ROUGH_LOSS * roughness);
}

// Highlight of a film of water.
fn gloss(normal: vec3f, light: vec3f, toward_camera: vec3f) -> f32 {
    let halfway = safe_normal(light + toward_camera, normal);
    let reflected = FILM + (1.0 - FILM) * pow(max(1.0 - max(dot(halfway, toward_camera), 0.0), 0.0), 5.0);
    return reflected * (GLOSS + 8.0) / 8.0 * pow(max(dot(halfway, normal), 0.0), GLOSS);
}

@fragment
fn shade(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let pixel = vec2i(clip.xy);
    let ray = outward_of(ray_local(clip.xy));
    let behind = background(normalize(ray));
    let albedo = textureLoad(seen_albedo, pixel, 0);
    if albedo.w < 0.5 {
        return vec4f(behind, 1.0);
    }
    let depth = textureLoad(seen_depth, pixel, 0).x;
    let surface = textureLoad(seen_normal, pixel, 0);
    let normal = normalize(surface.xyz);
    let point = view.origin.xyz + depth * ray;
    var shown = 1.0;
    let even = albedo.w > 2.5 && albedo.w < 3.5;
    if albedo.w > 1.5 && albedo.w < 2.5 {
        let distance = length(point.xy - scene.middle.xy) / scene.middle.w;
        shown = 1.0 - smooth_step(FADE_FROM, FADE_TO, distance);
        if shown <= 0.0 {
            return vec4f(behind, 1.0);
        }
    }
    let turn = TAU * gradient_noise(clip.xy / scene.samples);
    let facing = dot(normal, scene.towards_sun.xyz);
    var sun = 0.0;
    if facing > 0.0 {
        sun = facing * sunlight(point, normal, turn);
    }
    let open = 0.5 + 0.5 * normal.z;
    var sky = open;
    var clear = 1.0;
    if scene.has_grid > 0.5 {
        let light = skylight(point + scene.grid_low.w * normal);
        sky = clamp(0.5 * light.w + dot(light.xyz, normal), 0.0, 1.0);
        clear = light.w;
    }
    let crevice = crevice_light(point, normal, depth, surface.w, clip.xy, turn);
    let visible = min(sky / max(open, 0.05), 1.0) * crevice;
    let around = select(albedo.xyz, vec3f(EVEN_ALBEDO), even);
    let from_sky = open * many_bounces(visible, around) * SKY_LIGHT;
    let below = select(vec3f(0.3), GROUND_COLOR, scene.has_ground > 0.5);
    let ground_light = below * (max(scene.towards_sun.z, 0.0) * scene.sun_color.xyz + SKY_LIGHT);
    let bounce = 0.6 * (1.0 - open) * clear * crevice * ground_light;
    let direct = sun * scene.sun_color.xyz;
    let light = direct + from_sky + bounce;
    if even {
        let lit = min(dot(light, BRIGHTNESS) / EVEN_LIGHT, 1.0);
        return vec4f(albedo.xyz * (EVEN_SHADOW + (1.0 - EVEN_SHADOW) * lit) + EVEN_COAT * lit, 1.0);
    }
    if albedo.w > 3.5 {
        let wetness = albedo.w - 4.0;
        let toward_camera = -normalize(ray);
        let roughness = mix(DRY_ROUGHNESS, WET_ROUGHNESS, wetness);
        let glossy = wetness * gloss(normal, scene.towards_sun.xyz, toward_camera);
        let matte = rough(normal, scene.towards_sun.xyz, toward_camera, roughness) * direct + from_sky + bounce;
        return vec4f(albedo.xyz * matte + glossy * direct, 1.0);
    }
    return vec4f(mix(behind, albedo.xyz * light, shown), 1.0);
}

// Glass: added light, and absorbed share in the last component.
@fragment
fn glass(in: TriangleOut) -> @location(0) vec4f {
    let ray = normalize(outward_of(ray_local(in.clip.xy)));
    var normal = safe_normal(in.normal, -ray);
    if dot(normal, ray) > 0.0 {
        normal = -normal;
    }
    let cosine = -dot(normal, ray);
    let reflected = REFLECTANCE + (1.0 - REFLECTANCE) * pow(max(1.0 - cosine, 0.0), 5.0);
    let mirror = ray - 2.0 * dot(normal, ray) * normal;
    let glint = pow(max(dot(mirror, scene.towards_sun.xyz), 0.0), 400.0);
    let sheen = SHEEN * background(mirror) + 6.0 * glint * scene.sun_color.xyz;
    let held = 1.0 - pow(1.0 - clamp(in.color.w, 0.0, 1.0), 1.0 / max(cosine, 0.15));
    let body = in.color.xyz * background(vec3f(0.0, 0.0, 1.0)) * (0.5 + 0.5 * max(dot(normal, scene.towards_sun.xyz), 0.0));
    return vec4f((1.0 - reflected) * held * body + reflected * sheen, 1.0 - (1.0 - reflected) * (1.0 - held));
}

@group(1) @binding(6) var light_seen: texture_2d<f32>;

fn film(light: vec3f) -> vec3f {
    let x = 0.6 * light;
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), vec3f(0.0), vec3f(1.0));
}

fn encode(linear: vec3f) -> vec3f {
    return select(1.055 * pow(linear, vec3f(1.0 / 2.4)) - 0.055, 12.92 * linear, linear <= vec3f(0.0031308));
}

@fragment
fn develop(@builtin(position) clip: vec4f) -> @location(0) vec4f {
    let side = i32(scene.samples);
    let first = vec2i(clip.xy) * side;
    var sum = vec3f(0.0);
    for (var y = 0; y < side; y++) {
        for (var x = 0; x < side; x++) {
            sum += textureLoad(light_seen, first + vec2i(x, y), 0).xyz;
        }
    }
    let color = encode(film(sum / (scene.samples * scene.samples)));
    return vec4f(floor(255.0 * color + gradient_noise(clip.xy)) / 255.0, 1.0);
}
