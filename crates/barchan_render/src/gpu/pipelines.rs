//! Shaders and their bindings.

use barchan_gpu::wgpu::*;

use super::SAMPLES;
use super::targets::{DEPTH, Grids, IMAGE, LIGHT, SURFACE, Targets};
use super::upload::{SPHERE, VERTEX};
use crate::{glass, grain, lens, shade, sun};

/// Returns the constants of the CPU renderer as source text before the shaders, so that both engines look the same.
fn constants() -> String {
    let vectors = [
        ("SKY_LIGHT", shade::SKY_LIGHT),
        ("HORIZON", shade::HORIZON),
        ("ZENITH", shade::ZENITH),
        ("GROUND_COLOR", shade::GROUND_COLOR),
        ("BRIGHTNESS", shade::BRIGHTNESS),
    ];
    let numbers = [
        ("FADE_FROM", shade::FADE[0]),
        ("FADE_TO", shade::FADE[1]),
        // Reaches are in samples.
        ("CREVICE", shade::CREVICE),
        ("UNRESOLVED", shade::UNRESOLVED),
        ("SHAPED_FROM", lens::SHAPED_FROM),
        ("WATER", grain::WATER),
        ("DRY_ROUGHNESS", grain::ROUGHNESS[0]),
        ("WET_ROUGHNESS", grain::ROUGHNESS[1]),
        ("ROUGH_LOSS", grain::ROUGH_LOSS),
        ("FILM", grain::FILM),
        ("GLOSS", grain::GLOSS),
        ("EVEN_WHITE", shade::EVEN_WHITE),
        ("EVEN_SHADOW", shade::EVEN_SHADOW),
        ("EVEN_COAT", shade::EVEN_COAT),
        ("EVEN_LIGHT", shade::EVEN_LIGHT),
        ("EVEN_ALBEDO", shade::EVEN_ALBEDO),
        ("SUN_SEARCH", sun::SEARCH),
        ("SUN_NARROW", sun::NARROW),
        ("SUN_WIDEST", sun::MAX_FILTER),
        ("REFLECTANCE", glass::REFLECTANCE),
        ("SHEEN", glass::SHEEN),
        ("TAU", std::f32::consts::TAU),
    ];
    let counts = [
        ("CREVICE_TAPS", shade::CREVICE_TAPS),
        ("SUN_SEARCH_TAPS", sun::TAPS[0]),
        ("SUN_NARROW_TAPS", sun::TAPS[1]),
        ("SUN_WIDE_TAPS", sun::TAPS[2]),
        ("TINTS", grain::TINTS),
    ];
    let vectors = vectors.map(|(name, v)| format!("const {name} = vec3f({:?}, {:?}, {:?});\n", v.x, v.y, v.z));
    let numbers = numbers.map(|(name, x)| format!("const {name}: f32 = {x:?};\n"));
    let counts = counts.map(|(name, n)| format!("const {name}: i32 = {n};\n"));
    vectors.concat() + &numbers.concat() + &counts.concat()
}

/// All pipelines, and the layouts of their bindings.
pub(super) struct Pipelines {
    pub sphere_shadow: RenderPipeline,
    pub sphere_surface: RenderPipeline,
    pub triangle_shadow: RenderPipeline,
    pub triangle_surface: RenderPipeline,
    pub ground: RenderPipeline,
    pub shade: RenderPipeline,
    pub glass: RenderPipeline,
    pub develop: RenderPipeline,
    scene: BindGroupLayout,
    seen: BindGroupLayout,
    light: BindGroupLayout,
    sampler: Sampler,
}

/// Description of a pipeline.
struct Plan<'a> {
    groups: &'a [&'a BindGroupLayout],
    vertex: &'a str,
    buffers: &'a [VertexBufferLayout<'a>],
    topology: PrimitiveTopology,
    fragment: Option<&'a str>,
    targets: &'a [Option<ColorTargetState>],
    /// Depth comparison; true if depths are written.
    depth: Option<(CompareFunction, bool)>,
}

impl Pipelines {
    pub fn new(device: &Device) -> Self {
        let source = constants() + include_str!("geometry.wgsl") + include_str!("light.wgsl");
        let module = device.create_shader_module(ShaderModuleDescriptor {
            label: Some("barchan_render"),
            source: ShaderSource::Wgsl(source.into()),
        });
        let (scene, seen, light) = layouts(device);
        let strip = PrimitiveTopology::TriangleStrip;
        let list = PrimitiveTopology::TriangleList;
        let plain = |format| {
            Some(ColorTargetState {
                format,
                blend: None,
                write_mask: ColorWrites::ALL,
            })
        };
        let surface = SURFACE.map(plain);
        let make = |plan: Plan| pipeline(device, &module, &plan);
        let shadow = |vertex, buffers, topology, fragment| {
            make(Plan {
                groups: &[&scene],
                vertex,
                buffers,
                topology,
                fragment,
                targets: &[],
                depth: Some((CompareFunction::Less, true)),
            })
        };
        let visible = |vertex, buffers, topology, fragment| {
            make(Plan {
                groups: &[&scene],
                vertex,
                buffers,
                topology,
                fragment: Some(fragment),
                targets: &surface,
                depth: Some((CompareFunction::Greater, true)),
            })
        };
        let whole = |groups: &[&BindGroupLayout], fragment, format| {
            make(Plan {
                groups,
                vertex: "whole_vertex",
                buffers: &[],
                topology: list,
                fragment: Some(fragment),
                targets: &[plain(format)],
                depth: None,
            })
        };
        let (spheres, triangles) = ([SPHERE], [VERTEX]);
        Self {
            sphere_shadow: shadow("sphere_vertex", &spheres, strip, Some("sphere_shadow")),
            triangle_shadow: shadow("triangle_vertex", &triangles, list, None),
            sphere_surface: visible("sphere_vertex", &spheres, strip, "sphere_surface"),
            triangle_surface: visible("triangle_vertex", &triangles, list, "triangle_surface"),
            ground: visible("whole_vertex", &[], list, "ground_surface"),
            shade: whole(&[&scene, &seen], "shade", LIGHT),
            develop: whole(&[&scene, &light], "develop", IMAGE),
            glass: make(Plan {
                groups: &[&scene],
                vertex: "triangle_vertex",
                buffers: &triangles,
                topology: list,
                fragment: Some("glass"),
                targets: &[Some(ColorTargetState {
                    format: LIGHT,
                    blend: Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                    write_mask: ColorWrites::ALL,
                })],
                depth: Some((CompareFunction::Greater, false)),
            }),
            sampler: device.create_sampler(&SamplerDescriptor {
                mag_filter: FilterMode::Linear,
                min_filter: FilterMode::Linear,
                ..Default::default()
            }),
            scene,
            seen,
            light,
        }
    }

    /// Binds the data of every pass.
    pub fn bind_scene(
        &self,
        device: &Device,
        view: &Buffer,
        scene: &Buffer,
        grids: &Grids,
        palettes: &Buffer,
    ) -> BindGroup {
        bind(
            device,
            &self.scene,
            0,
            [
                view.as_entire_binding(),
                scene.as_entire_binding(),
                BindingResource::TextureView(&grids.clear),
                BindingResource::Sampler(&self.sampler),
                palettes.as_entire_binding(),
            ],
        )
    }

    /// Binds the inputs of lighting.
    pub fn bind_seen(
        &self,
        device: &Device,
        targets: &Targets,
        shadows: &TextureView,
        grids: &Grids,
        sun_view: &Buffer,
    ) -> BindGroup {
        let [depth, normal, albedo] = &targets.surface;
        bind(
            device,
            &self.seen,
            0,
            [
                BindingResource::TextureView(depth),
                BindingResource::TextureView(normal),
                BindingResource::TextureView(albedo),
                BindingResource::TextureView(shadows),
                BindingResource::TextureView(&grids.light),
                sun_view.as_entire_binding(),
            ],
        )
    }

    /// Binds the inputs of tone mapping.
    pub fn bind_light(&self, device: &Device, targets: &Targets) -> BindGroup {
        bind(device, &self.light, 6, [BindingResource::TextureView(&targets.light)])
    }
}

fn bind<const N: usize>(
    device: &Device,
    layout: &BindGroupLayout,
    first: u32,
    resources: [BindingResource; N],
) -> BindGroup {
    let numbered = (first..).zip(resources);
    let entries: Vec<_> = numbered
        .map(|(binding, resource)| BindGroupEntry { binding, resource })
        .collect();
    device.create_bind_group(&BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

fn layouts(device: &Device) -> (BindGroupLayout, BindGroupLayout, BindGroupLayout) {
    let uniform = BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let storage = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let texture = |sample_type, view_dimension| BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled: false,
    };
    let smooth = TextureSampleType::Float { filterable: true };
    let exact = TextureSampleType::Float { filterable: false };
    let flat = |sample_type| texture(sample_type, TextureViewDimension::D2);
    let grid = texture(smooth, TextureViewDimension::D3);
    let make = |first: u32, types: &[BindingType]| {
        let entries: Vec<_> = (first..)
            .zip(types)
            .map(|(binding, &ty)| BindGroupLayoutEntry {
                binding,
                visibility: ShaderStages::VERTEX_FRAGMENT,
                ty,
                count: None,
            })
            .collect();
        device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        })
    };
    (
        make(
            0,
            &[
                uniform,
                uniform,
                grid,
                BindingType::Sampler(SamplerBindingType::Filtering),
                storage,
            ],
        ),
        make(
            0,
            &[
                flat(exact),
                flat(exact),
                flat(exact),
                flat(TextureSampleType::Depth),
                grid,
                uniform,
            ],
        ),
        make(6, &[flat(exact)]),
    )
}

fn pipeline(device: &Device, module: &ShaderModule, plan: &Plan) -> RenderPipeline {
    let groups: Vec<_> = plan.groups.iter().map(|&group| Some(group)).collect();
    let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    });
    let buffers: Vec<_> = plan.buffers.iter().cloned().map(Some).collect();
    device.create_render_pipeline(&RenderPipelineDescriptor {
        label: Some(plan.fragment.unwrap_or(plan.vertex)),
        layout: Some(&layout),
        vertex: VertexState {
            module,
            entry_point: Some(plan.vertex),
            compilation_options: PipelineCompilationOptions::default(),
            buffers: &buffers,
        },
        primitive: PrimitiveState {
            topology: plan.topology,
            ..Default::default()
        },
        depth_stencil: plan.depth.map(|(compare, write)| DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(write),
            depth_compare: Some(compare),
            stencil: StencilState::default(),
            bias: DepthBiasState::default(),
        }),
        multisample: MultisampleState::default(),
        fragment: plan.fragment.map(|entry| FragmentState {
            module,
            entry_point: Some(entry),
            compilation_options: PipelineCompilationOptions::default(),
            targets: plan.targets,
        }),
        multiview_mask: None,
        cache: None,
    })
}

const _: () = assert!(SAMPLES == 2, "kept samples of small spheres are counted by 2 x 2");
