// SPDX-License-Identifier: Apache-2.0
// Hook set imagemagick: MagickCore 6 and 7, which MagickWand, Magick++ and the programs call. One
// name often has other parameters in 6 than in 7, so their registers are passed on as they are.
// Sizes are read from an Image by the layout of the library that the call goes to. Threads: any.
#include "agent/hooks/registers.h"
#include "agent/library.h"

#include <assert.h>
#include <string.h>

// ---- Image: its head is the same for all quantum depths of one major version. ----

struct magick6_image {
    int32_t storage, colourspace, compression;
    size_t quality;
    int32_t orientation, is_tainted, has_alpha;
    size_t width, height;
};
static_assert(offsetof(struct magick6_image, width) == 40, "Image of MagickCore 6");

struct magick7_image {
    int32_t storage, colourspace, compression;
    size_t quality;
    int32_t orientation, is_tainted;
    size_t width, height;
};
static_assert(offsetof(struct magick7_image, width) == 32, "Image of MagickCore 7");

// The major version, by the file.
static int version_of(void *const *at, const char *file_name)
{
    static const char head[] = "libMagickCore-";
    const size_t length = sizeof head - 1;
    (void)at;
    const char version = strncmp(file_name, head, length) == 0 ? file_name[length] : 0;
    return version == '6' || version == '7' ? version - '0' : 0;
}

static struct library_table library = {.version = version_of};

struct extent {
    size_t width, height; // width 0: not known
};

static struct extent extent_of(uintptr_t function, uintptr_t image)
{
    const struct magick6_image *six = (const void *)image;
    const struct magick7_image *seven = (const void *)image;
    switch (image ? library_version(&library, function) : 0) {
    case 6:
        return (struct extent){six->width, six->height};
    case 7:
        return (struct extent){seven->width, seven->height};
    default:
        return (struct extent){0, 0};
    }
}

static int is_known(struct extent e)
{
    return e.width && e.height && e.width <= UINT32_MAX && e.height <= UINT32_MAX;
}

static void note_shape(const struct hook_span *s, uintptr_t function, uintptr_t image)
{
    const struct extent e = s->token ? extent_of(function, image) : (struct extent){0, 0};
    if (is_known(e))
        span_shape(s->token, (uint32_t)e.width, (uint32_t)e.height, 0, 0);
}

static void note_source(const struct hook_span *s, uintptr_t function, uintptr_t image)
{
    const struct extent e = s->token ? extent_of(function, image) : (struct extent){0, 0};
    if (is_known(e))
        span_source(s->token, (uint32_t)e.width, (uint32_t)e.height);
}

// By FilterType, from Point to Lanczos2Sharp the same in 6 and 7; 0 leaves the choice to the
// library.
static void note_filter(const struct hook_span *s, uintptr_t filter)
{
    static const uint8_t filters[] = {[1] = TRACE_FILTER_NEAREST,
        [2] = TRACE_FILTER_AREA,
        [3] = TRACE_FILTER_BILINEAR,
        [10] = TRACE_FILTER_BICUBIC,
        [11] = TRACE_FILTER_BICUBIC,
        [12] = TRACE_FILTER_BICUBIC,
        [22] = TRACE_FILTER_LANCZOS,
        [23] = TRACE_FILTER_LANCZOS,
        [24] = TRACE_FILTER_LANCZOS,
        [25] = TRACE_FILTER_LANCZOS};
    filter &= UINT32_MAX;
    if (s->token && filter)
        span_value(s->token, TRACE_ATTR_FILTER,
            filter < sizeof filters ? filters[filter] : TRACE_FILTER_OTHER);
}

// The code is that of the library (ColorspaceType).
static void note_colour(const struct hook_span *s, uintptr_t space)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_COLOUR, space & UINT32_MAX);
}

static void note_bytes(const struct hook_span *s, size_t length_bytes)
{
    if (s->token && length_bytes)
        span_bytes(s->token, length_bytes);
}

#define MAGICK_CALL(id, stage, flags, before, after)                                               \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_VIPS);                      \
    REGISTERS_CALL(id, HOOK_SPAN_OF, before, after)

#define NOTHING ((void)0)

// A call that makes an image of no other.
#define READ(id, before) MAGICK_CALL(id, "decode", 0, before, note_shape(&span, function, done))
// One that makes an image of the image `a`.
#define MAKE(id, stage, before)                                                                    \
    MAGICK_CALL(id, stage, AGENT_FOLD_SHORT, note_source(&span, function, a);                      \
                before, note_shape(&span, function, done))
// One that changes the image `image`, or only reads it.
#define CHANGE(id, stage, image, before)                                                           \
    MAGICK_CALL(id, stage, AGENT_FOLD_SHORT, note_shape(&span, function, image); before, NOTHING)

// ---- Reading and writing. ----
READ(ReadImage, NOTHING)
READ(ReadImages, NOTHING)
READ(PingImage, NOTHING)
READ(PingImages, NOTHING)
READ(ReadInlineImage, NOTHING)
READ(BlobToImage, note_bytes(&span, c))
READ(PingBlob, note_bytes(&span, c))
MAGICK_CALL(WriteImage, "encode", 0, note_shape(&span, function, b), NOTHING)
MAGICK_CALL(WriteImages, "encode", 0, note_shape(&span, function, b), NOTHING)
MAGICK_CALL(ImageToBlob, "encode", 0, note_shape(&span, function, b),
    note_bytes(&span, done &&c ? *(const size_t *)c : 0))
MAGICK_CALL(ImagesToBlob, "encode", 0, note_shape(&span, function, b),
    note_bytes(&span, done &&c ? *(const size_t *)c : 0))

// ---- Geometry and filters: an image of an image. ----
MAKE(ResizeImage, "preprocess", note_filter(&span, d))
// 6 and 7 alike: the resolutions are doubles.
MAKE(ResampleImage, "preprocess", note_filter(&span, b))
MAKE(AdaptiveResizeImage, "preprocess", NOTHING)
MAKE(AdaptiveBlurImage, "preprocess", NOTHING)
MAKE(AdaptiveSharpenImage, "preprocess", NOTHING)
MAKE(AdaptiveThresholdImage, "preprocess", NOTHING)
MAKE(AffineTransformImage, "preprocess", NOTHING)
MAKE(AutoOrientImage, "preprocess", NOTHING)
MAKE(BlurImage, "preprocess", NOTHING)
MAKE(BorderImage, "preprocess", NOTHING)
MAKE(CannyEdgeImage, "preprocess", NOTHING)
MAKE(ChopImage, "preprocess", NOTHING)
MAKE(ConvolveImage, "preprocess", NOTHING)
MAKE(CropImage, "preprocess", NOTHING)
MAKE(DeskewImage, "preprocess", NOTHING)
MAKE(DespeckleImage, "preprocess", NOTHING)
MAKE(DistortImage, "preprocess", NOTHING)
MAKE(EdgeImage, "preprocess", NOTHING)
MAKE(EnhanceImage, "preprocess", NOTHING)
MAKE(ExcerptImage, "preprocess", NOTHING)
MAKE(ExtentImage, "preprocess", NOTHING)
MAKE(FlipImage, "preprocess", NOTHING)
MAKE(FlopImage, "preprocess", NOTHING)
MAKE(FrameImage, "preprocess", NOTHING)
MAKE(GaussianBlurImage, "preprocess", NOTHING)
MAKE(InterpolativeResizeImage, "preprocess", NOTHING)
MAKE(KuwaharaImage, "preprocess", NOTHING)
MAKE(LiquidRescaleImage, "preprocess", NOTHING)
MAKE(LocalContrastImage, "preprocess", NOTHING)
MAKE(MagnifyImage, "preprocess", NOTHING)
MAKE(MeanShiftImage, "preprocess", NOTHING)
MAKE(MinifyImage, "preprocess", NOTHING)
MAKE(MorphologyImage, "preprocess", NOTHING)
MAKE(MotionBlurImage, "preprocess", NOTHING)
MAKE(RollImage, "preprocess", NOTHING)
MAKE(RotateImage, "preprocess", NOTHING)
MAKE(RotationalBlurImage, "preprocess", NOTHING)
MAKE(SampleImage, "preprocess", NOTHING)
MAKE(ScaleImage, "preprocess", NOTHING)
MAKE(SelectiveBlurImage, "preprocess", NOTHING)
MAKE(SharpenImage, "preprocess", NOTHING)
MAKE(ShaveImage, "preprocess", NOTHING)
MAKE(ShearImage, "preprocess", NOTHING)
MAKE(ShearRotateImage, "preprocess", NOTHING)
MAKE(SpliceImage, "preprocess", NOTHING)
MAKE(StatisticImage, "preprocess", NOTHING)
MAKE(ThumbnailImage, "preprocess", NOTHING)
MAKE(TransposeImage, "preprocess", NOTHING)
MAKE(TransverseImage, "preprocess", NOTHING)
MAKE(TrimImage, "preprocess", NOTHING)
MAKE(UnsharpMaskImage, "preprocess", NOTHING)
MAKE(WaveletDenoiseImage, "preprocess", NOTHING)

// ---- Levels: an image in place. ----
CHANGE(AutoGammaImage, "preprocess", a, NOTHING)
CHANGE(AutoLevelImage, "preprocess", a, NOTHING)
CHANGE(AutoThresholdImage, "preprocess", a, NOTHING)
CHANGE(BilevelImage, "preprocess", a, NOTHING)
CHANGE(BrightnessContrastImage, "preprocess", a, NOTHING)
CHANGE(ClampImage, "preprocess", a, NOTHING)
CHANGE(ContrastImage, "preprocess", a, NOTHING)
CHANGE(ContrastStretchImage, "preprocess", a, NOTHING)
CHANGE(EqualizeImage, "preprocess", a, NOTHING)
CHANGE(EvaluateImage, "preprocess", a, NOTHING)
CHANGE(FunctionImage, "preprocess", a, NOTHING)
CHANGE(GammaImage, "preprocess", a, NOTHING)
CHANGE(LevelImage, "preprocess", a, NOTHING)
CHANGE(LinearStretchImage, "preprocess", a, NOTHING)
CHANGE(ModulateImage, "preprocess", a, NOTHING)
CHANGE(NegateImage, "preprocess", a, NOTHING)
CHANGE(NormalizeImage, "preprocess", a, NOTHING)
CHANGE(SigmoidalContrastImage, "preprocess", a, NOTHING)

// ---- The same for some channels: functions of 6 alone. ----
MAKE(AdaptiveBlurImageChannel, "preprocess", NOTHING)
MAKE(AdaptiveSharpenImageChannel, "preprocess", NOTHING)
MAKE(BlurImageChannel, "preprocess", NOTHING)
MAKE(ConvolveImageChannel, "preprocess", NOTHING)
MAKE(GaussianBlurImageChannel, "preprocess", NOTHING)
MAKE(MorphologyImageChannel, "preprocess", NOTHING)
MAKE(MotionBlurImageChannel, "preprocess", NOTHING)
MAKE(RotationalBlurImageChannel, "preprocess", NOTHING)
MAKE(SelectiveBlurImageChannel, "preprocess", NOTHING)
MAKE(SharpenImageChannel, "preprocess", NOTHING)
MAKE(StatisticImageChannel, "preprocess", NOTHING)
MAKE(UnsharpMaskImageChannel, "preprocess", NOTHING)
CHANGE(AutoGammaImageChannel, "preprocess", a, NOTHING)
CHANGE(AutoLevelImageChannel, "preprocess", a, NOTHING)
CHANGE(BilevelImageChannel, "preprocess", a, NOTHING)
CHANGE(BrightnessContrastImageChannel, "preprocess", a, NOTHING)
CHANGE(ClampImageChannel, "preprocess", a, NOTHING)
CHANGE(ContrastStretchImageChannel, "preprocess", a, NOTHING)
CHANGE(EqualizeImageChannel, "preprocess", a, NOTHING)
CHANGE(EvaluateImageChannel, "preprocess", a, NOTHING)
CHANGE(FunctionImageChannel, "preprocess", a, NOTHING)
CHANGE(GammaImageChannel, "preprocess", a, NOTHING)
CHANGE(LevelImageChannel, "preprocess", a, NOTHING)
CHANGE(NegateImageChannel, "preprocess", a, NOTHING)
CHANGE(NormalizeImageChannel, "preprocess", a, NOTHING)
CHANGE(SigmoidalContrastImageChannel, "preprocess", a, NOTHING)

// ---- Colours. ----
CHANGE(TransformImageColorspace, "convert", a, note_colour(&span, b))
CHANGE(SetImageColorspace, "convert", a, note_colour(&span, b))
CHANGE(GrayscaleImage, "convert", a, NOTHING)
CHANGE(PosterizeImage, "convert", a, NOTHING)
CHANGE(ProfileImage, "convert", a, NOTHING)
CHANGE(SetImageType, "convert", a, NOTHING)
CHANGE(QuantizeImage, "convert", b, NOTHING)
CHANGE(QuantizeImages, "convert", b, NOTHING)
CHANGE(RemapImage, "convert", b, NOTHING)
CHANGE(RemapImages, "convert", b, NOTHING)
MAKE(ColorMatrixImage, "convert", NOTHING)

// ---- Drawing, and images put together. ----
CHANGE(AnnotateImage, "draw", a, NOTHING)
CHANGE(CompositeImage, "draw", a, NOTHING)
CHANGE(CompositeImageChannel, "draw", a, NOTHING)
CHANGE(DrawImage, "draw", a, NOTHING)
MAKE(AppendImages, "draw", NOTHING)
MAKE(CoalesceImages, "draw", NOTHING)
MAKE(FlattenImages, "draw", NOTHING)
MAKE(MergeImageLayers, "draw", NOTHING)
MAKE(MontageImages, "draw", NOTHING)

// ---- The library's own start and end. ----
MAGICK_CALL(MagickCoreGenesis, "load", 0, NOTHING, NOTHING)

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define MADE (HOOK_SOURCE | HOOK_SHAPE)
static const struct hook_function functions[] = {
    LINE(ReadImage, HOOK_SHAPE),
    LINE(ReadImages, HOOK_SHAPE),
    LINE(PingImage, HOOK_SHAPE),
    LINE(PingImages, HOOK_SHAPE),
    LINE(ReadInlineImage, HOOK_SHAPE),
    LINE(BlobToImage, HOOK_SHAPE | HOOK_BYTES),
    LINE(PingBlob, HOOK_SHAPE | HOOK_BYTES),
    LINE(WriteImage, HOOK_SHAPE),
    LINE(WriteImages, HOOK_SHAPE),
    LINE(ImageToBlob, HOOK_SHAPE | HOOK_BYTES),
    LINE(ImagesToBlob, HOOK_SHAPE | HOOK_BYTES),
    LINE(ResizeImage, MADE | HOOK_ATTR(FILTER)),
    LINE(ResampleImage, MADE | HOOK_ATTR(FILTER)),
    LINE(AdaptiveResizeImage, MADE),
    LINE(AdaptiveBlurImage, MADE),
    LINE(AdaptiveSharpenImage, MADE),
    LINE(AdaptiveThresholdImage, MADE),
    LINE(AffineTransformImage, MADE),
    LINE(AutoOrientImage, MADE),
    LINE(BlurImage, MADE),
    LINE(BorderImage, MADE),
    LINE(CannyEdgeImage, MADE),
    LINE(ChopImage, MADE),
    LINE(ConvolveImage, MADE),
    LINE(CropImage, MADE),
    LINE(DeskewImage, MADE),
    LINE(DespeckleImage, MADE),
    LINE(DistortImage, MADE),
    LINE(EdgeImage, MADE),
    LINE(EnhanceImage, MADE),
    LINE(ExcerptImage, MADE),
    LINE(ExtentImage, MADE),
    LINE(FlipImage, MADE),
    LINE(FlopImage, MADE),
    LINE(FrameImage, MADE),
    LINE(GaussianBlurImage, MADE),
    LINE(InterpolativeResizeImage, MADE),
    LINE(KuwaharaImage, MADE),
    LINE(LiquidRescaleImage, MADE),
    LINE(LocalContrastImage, MADE),
    LINE(MagnifyImage, MADE),
    LINE(MeanShiftImage, MADE),
    LINE(MinifyImage, MADE),
    LINE(MorphologyImage, MADE),
    LINE(MotionBlurImage, MADE),
    LINE(RollImage, MADE),
    LINE(RotateImage, MADE),
    LINE(RotationalBlurImage, MADE),
    LINE(SampleImage, MADE),
    LINE(ScaleImage, MADE),
    LINE(SelectiveBlurImage, MADE),
    LINE(SharpenImage, MADE),
    LINE(ShaveImage, MADE),
    LINE(ShearImage, MADE),
    LINE(ShearRotateImage, MADE),
    LINE(SpliceImage, MADE),
    LINE(StatisticImage, MADE),
    LINE(ThumbnailImage, MADE),
    LINE(TransposeImage, MADE),
    LINE(TransverseImage, MADE),
    LINE(TrimImage, MADE),
    LINE(UnsharpMaskImage, MADE),
    LINE(WaveletDenoiseImage, MADE),
    LINE(AutoGammaImage, HOOK_SHAPE),
    LINE(AutoLevelImage, HOOK_SHAPE),
    LINE(AutoThresholdImage, HOOK_SHAPE),
    LINE(BilevelImage, HOOK_SHAPE),
    LINE(BrightnessContrastImage, HOOK_SHAPE),
    LINE(ClampImage, HOOK_SHAPE),
    LINE(ContrastImage, HOOK_SHAPE),
    LINE(ContrastStretchImage, HOOK_SHAPE),
    LINE(EqualizeImage, HOOK_SHAPE),
    LINE(EvaluateImage, HOOK_SHAPE),
    LINE(FunctionImage, HOOK_SHAPE),
    LINE(GammaImage, HOOK_SHAPE),
    LINE(LevelImage, HOOK_SHAPE),
    LINE(LinearStretchImage, HOOK_SHAPE),
    LINE(ModulateImage, HOOK_SHAPE),
    LINE(NegateImage, HOOK_SHAPE),
    LINE(NormalizeImage, HOOK_SHAPE),
    LINE(SigmoidalContrastImage, HOOK_SHAPE),
    LINE(AdaptiveBlurImageChannel, MADE),
    LINE(AdaptiveSharpenImageChannel, MADE),
    LINE(BlurImageChannel, MADE),
    LINE(ConvolveImageChannel, MADE),
    LINE(GaussianBlurImageChannel, MADE),
    LINE(MorphologyImageChannel, MADE),
    LINE(MotionBlurImageChannel, MADE),
    LINE(RotationalBlurImageChannel, MADE),
    LINE(SelectiveBlurImageChannel, MADE),
    LINE(SharpenImageChannel, MADE),
    LINE(StatisticImageChannel, MADE),
    LINE(UnsharpMaskImageChannel, MADE),
    LINE(AutoGammaImageChannel, HOOK_SHAPE),
    LINE(AutoLevelImageChannel, HOOK_SHAPE),
    LINE(BilevelImageChannel, HOOK_SHAPE),
    LINE(BrightnessContrastImageChannel, HOOK_SHAPE),
    LINE(ClampImageChannel, HOOK_SHAPE),
    LINE(ContrastStretchImageChannel, HOOK_SHAPE),
    LINE(EqualizeImageChannel, HOOK_SHAPE),
    LINE(EvaluateImageChannel, HOOK_SHAPE),
    LINE(FunctionImageChannel, HOOK_SHAPE),
    LINE(GammaImageChannel, HOOK_SHAPE),
    LINE(LevelImageChannel, HOOK_SHAPE),
    LINE(NegateImageChannel, HOOK_SHAPE),
    LINE(NormalizeImageChannel, HOOK_SHAPE),
    LINE(SigmoidalContrastImageChannel, HOOK_SHAPE),
    LINE(TransformImageColorspace, HOOK_SHAPE | HOOK_ATTR(COLOUR)),
    LINE(SetImageColorspace, HOOK_SHAPE | HOOK_ATTR(COLOUR)),
    LINE(GrayscaleImage, HOOK_SHAPE),
    LINE(PosterizeImage, HOOK_SHAPE),
    LINE(ProfileImage, HOOK_SHAPE),
    LINE(SetImageType, HOOK_SHAPE),
    LINE(QuantizeImage, HOOK_SHAPE),
    LINE(QuantizeImages, HOOK_SHAPE),
    LINE(RemapImage, HOOK_SHAPE),
    LINE(RemapImages, HOOK_SHAPE),
    LINE(ColorMatrixImage, MADE),
    LINE(AnnotateImage, HOOK_SHAPE),
    LINE(CompositeImage, HOOK_SHAPE),
    LINE(CompositeImageChannel, HOOK_SHAPE),
    LINE(DrawImage, HOOK_SHAPE),
    LINE(AppendImages, MADE),
    LINE(CoalesceImages, MADE),
    LINE(FlattenImages, MADE),
    LINE(MergeImageLayers, MADE),
    LINE(MontageImages, MADE),
    LINE(MagickCoreGenesis, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libMagickCore-6.", "libMagickCore-7.", NULL};

const struct hook_set hook_imagemagick = {
    .name = "imagemagick",
    .help = "reading, processing and writing of images with MagickCore",
    .libraries = libraries,
    .functions = functions,
    .is_named_broadly = 1,
};
