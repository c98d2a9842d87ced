#!/bin/sh
# Makes the clips of this folder and the checksums of their pictures (NV12) with Debian's ffmpeg 5.1.
set -e
run() { ffmpeg -v error -y -f lavfi "$@"; }
run -i testsrc2=size=160x96:rate=24:duration=2 -pix_fmt yuv420p -c:v libx264 -preset slow -profile:v high \
    -x264-params "bframes=3:b-pyramid=normal:ref=4:keyint=24:min-keyint=24" -crf 24 -movflags +faststart clock.mp4
run -i testsrc2=size=160x96:rate=24:duration=2 -vf "fade=in:0:24" -pix_fmt yuv420p -c:v libx264 -profile:v main \
    -x264-params "bframes=8:b-adapt=2:ref=8:weightp=2:slices=4:keyint=48:b-pyramid=strict:open-gop=1" -crf 26 faded.mp4
run -i mandelbrot=size=150x90:rate=24 -t 1 -pix_fmt yuv420p -c:v libx264 -profile:v baseline \
    -x264-params "keyint=12" -crf 28 cropped.mp4
# One thread, so that each run gives the same bytes.
quiet=log-level=error:pools=1:frame-threads=1
# H.265 decoders may demand 144 x 144 pixels: open groups of pictures with RASL pictures behind CRA pictures.
run -i testsrc2=size=192x144:rate=24:duration=2 -pix_fmt yuv420p -c:v libx265 -preset slow -tag:v hvc1 -x265-params \
    "$quiet:bframes=4:b-pyramid=1:ref=4:keyint=16:min-keyint=16:scenecut=0:open-gop=1" -crf 30 \
    -movflags +faststart open_gop.mp4
# H.265: a cropped byte stream with RADL pictures, two slices a picture and scaling lists.
run -i mandelbrot=size=150x150:rate=24 -t 1 -pix_fmt yuv420p -c:v libx265 -crf 32 -x265-params \
    "$quiet:bframes=3:keyint=12:min-keyint=12:scenecut=0:open-gop=0:radl=2:slices=2:ctu=16:scaling-list=default:aud=1" \
    radl.h265
# A byte stream whose pictures change their size at the second of two sync samples.
run -i testsrc2=size=160x96:rate=24:duration=0.5 -pix_fmt yuv420p -c:v libx264 -profile:v high \
    -x264-params "bframes=2:ref=3:weightb=0:keyint=12" -crf 26 large.h264
run -i testsrc2=size=96x64:rate=24:duration=0.5 -pix_fmt yuv420p -c:v libx264 -profile:v high \
    -x264-params "bframes=3:ref=4:weightb=0:keyint=12" -crf 26 small.h264
cat large.h264 small.h264 >resized.h264
sums() { ffmpeg -v error -i "$1" -pix_fmt nv12 -f framecrc - | grep -v '^#' | sed 's/.*, *//'; }
(sums large.h264 && sums small.h264) >resized.crc
for clip in clock faded cropped open_gop; do
    sums $clip.mp4 >$clip.crc
done
sums radl.h265 >radl.crc
# Order counts of H.265 pictures as ffmpeg derives them: in the order of decoding and of output.
# The first picture is decoded once more to find the format.
counts() {
    ffmpeg -v trace -threads 1 -i "$1" -f null - 2>&1 | sed -n "s/.*$3 frame with POC \\([0-9-]*\\).*/\\1/p" |
        tail -n "$2" | paste -s -d ' '
}
(counts open_gop.mp4 48 Decoded && counts open_gop.mp4 48 Output) >open_gop.poc
(counts radl.h265 24 Decoded && counts radl.h265 24 Output) >radl.poc
# Pictures, for the tests that compare the screen with them.
ffmpeg -v error -y -i clock.mp4 -vf 'select=eq(n\,30)' -vframes 1 -pix_fmt nv12 -f rawvideo clock_30.nv12
ffmpeg -v error -y -i open_gop.mp4 -vf 'select=eq(n\,14)' -vframes 1 -pix_fmt nv12 -f rawvideo open_gop_14.nv12
ffmpeg -v error -y -i radl.h265 -vf 'select=eq(n\,15)' -vframes 1 -pix_fmt nv12 -f rawvideo radl_15.nv12
ffmpeg -v error -y -i small.h264 -vf 'select=eq(n\,6)' -vframes 1 -pix_fmt nv12 -f rawvideo resized_18.nv12
rm large.h264 small.h264

# AV1 decoders may demand 128 x 128 pixels. Hidden frames that are shown later, two groups of pictures.
aom="-c:v libaom-av1 -cpu-used 4 -row-mt 0 -threads 1 -b:v 0"
run -i testsrc2=size=192x144:rate=24:duration=2 -pix_fmt yuv420p $aom -g 24 -keyint_min 24 -crf 40 -lag-in-frames 19 \
    -movflags +faststart layers.mp4
# IVF with a width and height that are no multiples of 8, and loop restoration.
export SVT_LOG=1
run -i mandelbrot=size=150x130:rate=24 -t 1 -pix_fmt yuv420p -c:v libsvtav1 -preset 8 -g 12 -qp 45 restored.ivf
# Byte streams: four tiles; global motion and segments.
run -i testsrc2=size=320x192:rate=24:duration=0.5 -pix_fmt yuv420p $aom -g 24 -crf 45 -tiles 2x2 -lag-in-frames 10 \
    tiles.obu
run -i testsrc2=size=192x144:rate=24:duration=1 -vf "rotate=0.3*t" -pix_fmt yuv420p $aom -g 24 -crf 40 -aq-mode 1 \
    -lag-in-frames 10 turned.obu
# Super-resolution, film grain, and 10 bits.
run -i mandelbrot=size=192x144:rate=24 -t 0.5 -pix_fmt yuv420p -c:v libsvtav1 -preset 6 -g 12 -qp 40 \
    -svtav1-params superres-mode=1:superres-denom=12:superres-kf-denom=12 superres.ivf
run -i testsrc2=size=192x144:rate=24:duration=0.5 -pix_fmt yuv420p $aom -g 24 -crf 40 -lag-in-frames 10 \
    -aom-params film-grain-test=3 grain.mp4
run -i testsrc2=size=192x144:rate=24:duration=0.5 -pix_fmt yuv420p10le $aom -g 24 -crf 40 -lag-in-frames 10 \
    -movflags +faststart ten_bits.mp4
run -i testsrc2=size=192x144:rate=24:duration=0.5 -pix_fmt yuv420p10le -c:v libx265 -preset slow -tag:v hvc1 \
    -x265-params "$quiet:bframes=3:keyint=12" -crf 32 -movflags +faststart main10.mp4
# Frame headers as ffmpeg reads them: type, shown, order hint, refreshed frames, quantizer, bytes.
for clip in layers.mp4 restored.ivf tiles.obu turned.obu superres.ivf grain.mp4 ten_bits.mp4; do
    ffmpeg -v trace -threads 1 -i $clip -c copy -bsf:v trace_headers -f null - 2>&1 | awk -f headers.awk \
        >"${clip%.*}.headers"
done
# Pictures, for the tests that compare the screen with them: of 8 bits in each clip.
nv12() { ffmpeg -v error -y -i "$1" -vf "select=eq(n\\,$2)" -vframes 1 -pix_fmt "$3" -f rawvideo "${1%.*}_$2.$3"; }
nv12 layers.mp4 23 nv12
nv12 restored.ivf 11 nv12
nv12 superres.ivf 11 nv12
nv12 grain.mp4 7 nv12
nv12 ten_bits.mp4 11 p010le
nv12 main10.mp4 11 p010le
