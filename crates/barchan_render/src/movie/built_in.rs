//! Movies without an external program: OpenH264 encodes the images, muxide writes the file.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use muxide::api::{Muxer, MuxerBuilder, VideoCodec};
use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange, RateControlMode, VuiConfig,
};
use openh264::formats::YUVSlices;

use super::MovieError;
use super::yuv::Yuv;

/// Bits per pixel: grains are noise, which compresses badly.
const BITS_PER_PIXEL: f64 = 0.5;
/// Quantizer range: from nearly lossless to where blocks become visible.
const QUANTIZER: QpRange = QpRange::new(16, 28);

/// A movie being written.
pub(crate) struct BuiltIn {
    encoder: Encoder,
    muxer: Muxer<BufWriter<File>>,
    frame_rate: f64,
    frames: u64,
    path: PathBuf,
}

impl BuiltIn {
    /// Starts a movie for `path`, which is written to `part`.
    pub fn start(path: &Path, part: &Path, [width, height]: [u32; 2], frame_rate: f64) -> Result<Self, MovieError> {
        let failed = |reason: String| MovieError::Encode {
            path: path.to_owned(),
            reason,
        };
        let bits = BITS_PER_PIXEL * f64::from(width) * f64::from(height) * frame_rate;
        // One second between key frames.
        let jump = IntraFramePeriod::from_num_frames(frame_rate.ceil() as u32);
        let config = EncoderConfig::new()
            .max_frame_rate(FrameRate::from_hz(frame_rate as f32))
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(BitRate::from_bps(bits.min(2e8) as u32))
            .qp(QUANTIZER)
            .skip_frames(false)
            .background_detection(false)
            .intra_frame_period(jump)
            .vui(VuiConfig::bt709());
        let api = OpenH264API::from_source();
        let encoder = Encoder::with_api_config(api, config).map_err(|error| failed(error.to_string()))?;
        let file = File::create(part).map_err(|source| MovieError::File {
            path: path.to_owned(),
            source,
        })?;
        let muxer = MuxerBuilder::new(BufWriter::new(file))
            .video(VideoCodec::H264, width, height, frame_rate)
            .with_fast_start(true)
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            encoder,
            muxer,
            frame_rate,
            frames: 0,
            path: path.to_owned(),
        })
    }

    pub fn push(&mut self, yuv: &Yuv) -> Result<(), MovieError> {
        let path = &self.path;
        let failed = |reason: String| MovieError::Encode {
            path: path.clone(),
            reason,
        };
        let [width, height] = yuv.size.map(|side| side as usize);
        let slices = YUVSlices::new(yuv.planes(), (width, height), (width, width / 2, width / 2));
        let stream = self
            .encoder
            .encode(&slices)
            .map_err(|error| failed(error.to_string()))?;
        let key = matches!(stream.frame_type(), FrameType::IDR | FrameType::I);
        let time = self.frames as f64 / self.frame_rate;
        self.frames += 1;
        let written = self.muxer.write_video(time, &stream.to_vec(), key);
        written.map_err(|error| failed(error.to_string()))
    }

    pub fn finish(self) -> Result<(), MovieError> {
        let path = self.path;
        self.muxer.finish().map_err(|error| MovieError::Encode {
            path,
            reason: error.to_string(),
        })
    }
}
