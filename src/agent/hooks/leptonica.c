// SPDX-License-Identifier: Apache-2.0
// Hook set leptonica: reading, converting, processing and writing a PIX, for Tesseract and others.
// Of a PIX only its head is read: width, height and depth, in that place in every release, and the
// samples per pixel (since 1.70), believed where they fit the depth. Threads: any.
#include "agent/hooks/registers.h"

struct pix {
    uint32_t width, height, depth_bits, samples;
};

static uint32_t channels_of(const struct pix *p)
{
    if (p->depth_bits <= 16)
        return 1;
    return p->samples == 3 || p->samples == 4 ? p->samples : 0;
}

static void note_shape(const struct hook_span *s, uintptr_t pix)
{
    const struct pix *p = (const void *)pix;
    if (s->token && p)
        span_shape(s->token, p->width, p->height, channels_of(p), 0);
}

static void note_source(const struct hook_span *s, uintptr_t pix)
{
    const struct pix *p = (const void *)pix;
    if (s->token && p)
        span_source(s->token, p->width, p->height);
}

static void note_bytes(const struct hook_span *s, size_t length_bytes)
{
    if (s->token && length_bytes)
        span_bytes(s->token, length_bytes);
}

static void note_filter(const struct hook_span *s, enum trace_filter filter)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_FILTER, filter);
}

// Leptonica calls itself: what is directly inside another of its calls belongs to the outer one.
// Tesseract's spans are of no group, so that its calls of Leptonica are seen.
#define LEPTONICA_CALL(id, stage, flags, before, after)                                            \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_TESSERACT);                 \
    REGISTERS_CALL(id, HOOK_SPAN_OF, before, after)

#define NOTHING ((void)0)
#define READ(id, before) LEPTONICA_CALL(id, "decode", 0, before, note_shape(&span, done))
#define WRITE(id, pix, after) LEPTONICA_CALL(id, "encode", 0, note_shape(&span, pix), after)
// One that makes a PIX of the PIX `pix`.
#define MAKE(id, stage, pix, after)                                                                \
    LEPTONICA_CALL(id, stage, AGENT_FOLD_SHORT, note_source(&span, pix), note_shape(&span, done);  \
                   after)
// One that makes something else of it.
#define FROM(id, stage, pix)                                                                       \
    LEPTONICA_CALL(id, stage, AGENT_FOLD_SHORT, note_source(&span, pix), NOTHING)

// ---- Reading and writing. ----
READ(pixRead, NOTHING)
READ(pixReadWithHint, NOTHING)
READ(pixReadStream, NOTHING)
READ(pixReadTiff, NOTHING)
READ(pixReadFromMultipageTiff, NOTHING)
READ(pixReadStreamTiff, NOTHING)
READ(pixReadJpeg, NOTHING)
READ(pixReadStreamJpeg, NOTHING)
READ(pixReadStreamPng, NOTHING)
READ(pixReadStreamWebP, NOTHING)
READ(pixReadStreamBmp, NOTHING)
READ(pixReadStreamGif, NOTHING)
READ(pixReadStreamPnm, NOTHING)
READ(pixReadJp2k, NOTHING)
READ(pixReadStreamJp2k, NOTHING)
READ(pixReadMem, note_bytes(&span, b))
READ(pixReadMemTiff, note_bytes(&span, b))
READ(pixReadMemFromMultipageTiff, note_bytes(&span, b))
READ(pixReadMemJpeg, note_bytes(&span, b))
READ(pixReadMemPng, note_bytes(&span, b))
READ(pixReadMemWebP, note_bytes(&span, b))
READ(pixReadMemBmp, note_bytes(&span, b))
READ(pixReadMemGif, note_bytes(&span, b))
READ(pixReadMemPnm, note_bytes(&span, b))
READ(pixReadMemJp2k, note_bytes(&span, b))
WRITE(pixWrite, b, NOTHING)
WRITE(pixWriteImpliedFormat, b, NOTHING)
WRITE(pixWriteAutoFormat, b, NOTHING)
WRITE(pixWriteStream, b, NOTHING)
WRITE(pixWritePng, b, NOTHING)
WRITE(pixWriteStreamPng, b, NOTHING)
WRITE(pixWriteJpeg, b, NOTHING)
WRITE(pixWriteStreamJpeg, b, NOTHING)
WRITE(pixWriteTiff, b, NOTHING)
WRITE(pixWriteStreamTiff, b, NOTHING)
WRITE(pixWriteWebP, b, NOTHING)
WRITE(pixWriteJp2k, b, NOTHING)
#define NOTE_MADE note_bytes(&span, !(int)done && b ? *(const size_t *)b : 0)
WRITE(pixWriteMem, c, NOTE_MADE)
WRITE(pixWriteMemPng, c, NOTE_MADE)
WRITE(pixWriteMemJpeg, c, NOTE_MADE)
WRITE(pixWriteMemTiff, c, NOTE_MADE)
WRITE(pixWriteMemWebP, c, NOTE_MADE)
WRITE(pixWriteMemPnm, c, NOTE_MADE)
WRITE(pixWriteMemBmp, c, NOTE_MADE)
WRITE(pixWriteMemJp2k, c, NOTE_MADE)

// ---- Depth and colour. ----
MAKE(pixConvertTo1, "convert", a, NOTHING)
MAKE(pixConvertTo2, "convert", a, NOTHING)
MAKE(pixConvertTo4, "convert", a, NOTHING)
MAKE(pixConvertTo8, "convert", a, NOTHING)
MAKE(pixConvertTo16, "convert", a, NOTHING)
MAKE(pixConvertTo32, "convert", a, NOTHING)
MAKE(pixConvertTo8Or32, "convert", a, NOTHING)
MAKE(pixConvertRGBToGray, "convert", a, NOTHING)
MAKE(pixConvertRGBToLuminance, "convert", a, NOTHING)
MAKE(pixConvertRGBToGrayMinMax, "convert", a, NOTHING)
MAKE(pixConvertRGBToColormap, "convert", a, NOTHING)
MAKE(pixConvertGrayToColormap, "convert", a, NOTHING)
MAKE(pixConvert16To8, "convert", a, NOTHING)
MAKE(pixConvert24To32, "convert", a, NOTHING)
MAKE(pixConvert32To8, "convert", a, NOTHING)
MAKE(pixConvert8To32, "convert", a, NOTHING)
MAKE(pixRemoveColormap, "convert", a, NOTHING)
MAKE(pixRemoveAlpha, "convert", a, NOTHING)
MAKE(pixColorSegment, "convert", a, NOTHING)
MAKE(pixOctreeColorQuant, "convert", a, NOTHING)
MAKE(pixMedianCutQuant, "convert", a, NOTHING)
MAKE(pixConvert1To8, "convert", b, NOTHING)
MAKE(pixConvert1To32, "convert", b, NOTHING)

// ---- Geometry. ----
MAKE(pixScale, "preprocess", a, NOTHING)
MAKE(pixScaleToSize, "preprocess", a, NOTHING)
MAKE(pixScaleToSizeRel, "preprocess", a, NOTHING)
MAKE(pixScaleToResolution, "preprocess", a, NOTHING)
MAKE(pixScaleGeneral, "preprocess", a, NOTHING)
MAKE(pixScaleSmooth, "preprocess", a, NOTHING)
MAKE(pixScaleSmoothToSize, "preprocess", a, NOTHING)
MAKE(pixScaleBinary, "preprocess", a, NOTHING)
MAKE(pixScaleToGray, "preprocess", a, NOTHING)
MAKE(pixScaleRGBToGrayFast, "preprocess", a, NOTHING)
MAKE(pixScaleLI, "preprocess", a, note_filter(&span, TRACE_FILTER_BILINEAR))
MAKE(pixScaleBySampling, "preprocess", a, note_filter(&span, TRACE_FILTER_NEAREST))
MAKE(pixScaleBySamplingToSize, "preprocess", a, note_filter(&span, TRACE_FILTER_NEAREST))
MAKE(pixScaleByIntSampling, "preprocess", a, note_filter(&span, TRACE_FILTER_NEAREST))
MAKE(pixScaleAreaMap, "preprocess", a, note_filter(&span, TRACE_FILTER_AREA))
MAKE(pixScaleAreaMapToSize, "preprocess", a, note_filter(&span, TRACE_FILTER_AREA))
MAKE(pixScaleAreaMap2, "preprocess", a, note_filter(&span, TRACE_FILTER_AREA))
MAKE(pixExpandReplicate, "preprocess", a, NOTHING)
MAKE(pixRotate, "preprocess", a, NOTHING)
MAKE(pixRotateAM, "preprocess", a, NOTHING)
MAKE(pixRotateBySampling, "preprocess", a, NOTHING)
MAKE(pixRotateOrth, "preprocess", a, NOTHING)
MAKE(pixRotate90, "preprocess", a, NOTHING)
MAKE(pixRotateShear, "preprocess", a, NOTHING)
MAKE(pixAffine, "preprocess", a, NOTHING)
MAKE(pixProjective, "preprocess", a, NOTHING)
MAKE(pixDeskew, "preprocess", a, NOTHING)
MAKE(pixDeskewBoth, "preprocess", a, NOTHING)
MAKE(pixFindSkewAndDeskew, "preprocess", a, NOTHING)
MAKE(pixClipRectangle, "preprocess", a, NOTHING)
MAKE(pixAddBorder, "preprocess", a, NOTHING)
MAKE(pixRemoveBorder, "preprocess", a, NOTHING)

// ---- Filters, thresholds and morphology. ----
MAKE(pixBlockconv, "preprocess", a, NOTHING)
MAKE(pixConvolve, "preprocess", a, NOTHING)
MAKE(pixConvolveSep, "preprocess", a, NOTHING)
MAKE(pixUnsharpMasking, "preprocess", a, NOTHING)
MAKE(pixMedianFilter, "preprocess", a, NOTHING)
MAKE(pixBilateral, "preprocess", a, NOTHING)
MAKE(pixSobelEdgeFilter, "preprocess", a, NOTHING)
MAKE(pixThresholdToBinary, "preprocess", a, NOTHING)
MAKE(pixAdaptThresholdToBinary, "preprocess", a, NOTHING)
MAKE(pixCleanBackgroundToWhite, "preprocess", a, NOTHING)
MAKE(pixBackgroundNormSimple, "preprocess", a, NOTHING)
MAKE(pixBackgroundNormMorph, "preprocess", a, NOTHING)
MAKE(pixBackgroundNormFlex, "preprocess", a, NOTHING)
MAKE(pixReduceRankBinaryCascade, "preprocess", a, NOTHING)
MAKE(pixDistanceFunction, "preprocess", a, NOTHING)
MAKE(pixGenerateHalftoneMask, "preprocess", a, NOTHING)
MAKE(pixGenHalftoneMask, "preprocess", a, NOTHING)
MAKE(pixGenTextlineMask, "preprocess", a, NOTHING)
MAKE(pixGenTextblockMask, "preprocess", a, NOTHING)
MAKE(pixErodeGray, "preprocess", a, NOTHING)
MAKE(pixDilateGray, "preprocess", a, NOTHING)
MAKE(pixOpenGray, "preprocess", a, NOTHING)
MAKE(pixCloseGray, "preprocess", a, NOTHING)
MAKE(pixContrastNorm, "preprocess", b, NOTHING)
MAKE(pixGammaTRC, "preprocess", b, NOTHING)
MAKE(pixContrastTRC, "preprocess", b, NOTHING)
MAKE(pixDilateBrick, "preprocess", b, NOTHING)
MAKE(pixErodeBrick, "preprocess", b, NOTHING)
MAKE(pixOpenBrick, "preprocess", b, NOTHING)
MAKE(pixCloseBrick, "preprocess", b, NOTHING)
MAKE(pixDilate, "preprocess", b, NOTHING)
MAKE(pixErode, "preprocess", b, NOTHING)
MAKE(pixOpen, "preprocess", b, NOTHING)
MAKE(pixClose, "preprocess", b, NOTHING)
MAKE(pixSeedfillBinary, "preprocess", b, NOTHING)
MAKE(pixRotate180, "preprocess", b, NOTHING)
MAKE(pixFlipLR, "preprocess", b, NOTHING)
MAKE(pixFlipTB, "preprocess", b, NOTHING)
FROM(pixOtsuAdaptiveThreshold, "preprocess", a)
FROM(pixSauvolaBinarize, "preprocess", a)
FROM(pixSauvolaBinarizeTiled, "preprocess", a)
FROM(pixFindSkew, "preprocess", a)

// ---- From pixels to findings. ----
FROM(pixConnComp, "postprocess", a)
FROM(pixConnCompPixa, "postprocess", a)
FROM(pixConnCompBB, "postprocess", a)
FROM(pixCountConnComp, "postprocess", a)
FROM(pixGetRegionsBinary, "postprocess", a)
FROM(pixCountPixelsByRow, "postprocess", a)

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define MADE (HOOK_SOURCE | HOOK_SHAPE)
static const struct hook_function functions[] = {
    LINE(pixRead, HOOK_SHAPE),
    LINE(pixReadWithHint, HOOK_SHAPE),
    LINE(pixReadStream, HOOK_SHAPE),
    LINE(pixReadTiff, HOOK_SHAPE),
    LINE(pixReadFromMultipageTiff, HOOK_SHAPE),
    LINE(pixReadStreamTiff, HOOK_SHAPE),
    LINE(pixReadJpeg, HOOK_SHAPE),
    LINE(pixReadStreamJpeg, HOOK_SHAPE),
    LINE(pixReadStreamPng, HOOK_SHAPE),
    LINE(pixReadStreamWebP, HOOK_SHAPE),
    LINE(pixReadStreamBmp, HOOK_SHAPE),
    LINE(pixReadStreamGif, HOOK_SHAPE),
    LINE(pixReadStreamPnm, HOOK_SHAPE),
    LINE(pixReadJp2k, HOOK_SHAPE),
    LINE(pixReadStreamJp2k, HOOK_SHAPE),
    LINE(pixReadMem, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemTiff, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemFromMultipageTiff, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemJpeg, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemPng, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemWebP, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemBmp, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemGif, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemPnm, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixReadMemJp2k, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWrite, HOOK_SHAPE),
    LINE(pixWriteImpliedFormat, HOOK_SHAPE),
    LINE(pixWriteAutoFormat, HOOK_SHAPE),
    LINE(pixWriteStream, HOOK_SHAPE),
    LINE(pixWritePng, HOOK_SHAPE),
    LINE(pixWriteStreamPng, HOOK_SHAPE),
    LINE(pixWriteJpeg, HOOK_SHAPE),
    LINE(pixWriteStreamJpeg, HOOK_SHAPE),
    LINE(pixWriteTiff, HOOK_SHAPE),
    LINE(pixWriteStreamTiff, HOOK_SHAPE),
    LINE(pixWriteWebP, HOOK_SHAPE),
    LINE(pixWriteJp2k, HOOK_SHAPE),
    LINE(pixWriteMem, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemPng, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemJpeg, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemTiff, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemWebP, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemPnm, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemBmp, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixWriteMemJp2k, HOOK_SHAPE | HOOK_BYTES),
    LINE(pixConvertTo1, MADE),
    LINE(pixConvertTo2, MADE),
    LINE(pixConvertTo4, MADE),
    LINE(pixConvertTo8, MADE),
    LINE(pixConvertTo16, MADE),
    LINE(pixConvertTo32, MADE),
    LINE(pixConvertTo8Or32, MADE),
    LINE(pixConvertRGBToGray, MADE),
    LINE(pixConvertRGBToLuminance, MADE),
    LINE(pixConvertRGBToGrayMinMax, MADE),
    LINE(pixConvertRGBToColormap, MADE),
    LINE(pixConvertGrayToColormap, MADE),
    LINE(pixConvert16To8, MADE),
    LINE(pixConvert24To32, MADE),
    LINE(pixConvert32To8, MADE),
    LINE(pixConvert8To32, MADE),
    LINE(pixRemoveColormap, MADE),
    LINE(pixRemoveAlpha, MADE),
    LINE(pixColorSegment, MADE),
    LINE(pixOctreeColorQuant, MADE),
    LINE(pixMedianCutQuant, MADE),
    LINE(pixConvert1To8, MADE),
    LINE(pixConvert1To32, MADE),
    LINE(pixScale, MADE),
    LINE(pixScaleToSize, MADE),
    LINE(pixScaleToSizeRel, MADE),
    LINE(pixScaleToResolution, MADE),
    LINE(pixScaleGeneral, MADE),
    LINE(pixScaleSmooth, MADE),
    LINE(pixScaleSmoothToSize, MADE),
    LINE(pixScaleBinary, MADE),
    LINE(pixScaleToGray, MADE),
    LINE(pixScaleRGBToGrayFast, MADE),
    LINE(pixScaleLI, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleBySampling, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleBySamplingToSize, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleByIntSampling, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleAreaMap, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleAreaMapToSize, MADE | HOOK_ATTR(FILTER)),
    LINE(pixScaleAreaMap2, MADE | HOOK_ATTR(FILTER)),
    LINE(pixExpandReplicate, MADE),
    LINE(pixRotate, MADE),
    LINE(pixRotateAM, MADE),
    LINE(pixRotateBySampling, MADE),
    LINE(pixRotateOrth, MADE),
    LINE(pixRotate90, MADE),
    LINE(pixRotateShear, MADE),
    LINE(pixAffine, MADE),
    LINE(pixProjective, MADE),
    LINE(pixDeskew, MADE),
    LINE(pixDeskewBoth, MADE),
    LINE(pixFindSkewAndDeskew, MADE),
    LINE(pixClipRectangle, MADE),
    LINE(pixAddBorder, MADE),
    LINE(pixRemoveBorder, MADE),
    LINE(pixBlockconv, MADE),
    LINE(pixConvolve, MADE),
    LINE(pixConvolveSep, MADE),
    LINE(pixUnsharpMasking, MADE),
    LINE(pixMedianFilter, MADE),
    LINE(pixBilateral, MADE),
    LINE(pixSobelEdgeFilter, MADE),
    LINE(pixThresholdToBinary, MADE),
    LINE(pixAdaptThresholdToBinary, MADE),
    LINE(pixCleanBackgroundToWhite, MADE),
    LINE(pixBackgroundNormSimple, MADE),
    LINE(pixBackgroundNormMorph, MADE),
    LINE(pixBackgroundNormFlex, MADE),
    LINE(pixReduceRankBinaryCascade, MADE),
    LINE(pixDistanceFunction, MADE),
    LINE(pixGenerateHalftoneMask, MADE),
    LINE(pixGenHalftoneMask, MADE),
    LINE(pixGenTextlineMask, MADE),
    LINE(pixGenTextblockMask, MADE),
    LINE(pixErodeGray, MADE),
    LINE(pixDilateGray, MADE),
    LINE(pixOpenGray, MADE),
    LINE(pixCloseGray, MADE),
    LINE(pixContrastNorm, MADE),
    LINE(pixGammaTRC, MADE),
    LINE(pixContrastTRC, MADE),
    LINE(pixDilateBrick, MADE),
    LINE(pixErodeBrick, MADE),
    LINE(pixOpenBrick, MADE),
    LINE(pixCloseBrick, MADE),
    LINE(pixDilate, MADE),
    LINE(pixErode, MADE),
    LINE(pixOpen, MADE),
    LINE(pixClose, MADE),
    LINE(pixSeedfillBinary, MADE),
    LINE(pixRotate180, MADE),
    LINE(pixFlipLR, MADE),
    LINE(pixFlipTB, MADE),
    LINE(pixOtsuAdaptiveThreshold, HOOK_SOURCE),
    LINE(pixSauvolaBinarize, HOOK_SOURCE),
    LINE(pixSauvolaBinarizeTiled, HOOK_SOURCE),
    LINE(pixFindSkew, HOOK_SOURCE),
    LINE(pixConnComp, HOOK_SOURCE),
    LINE(pixConnCompPixa, HOOK_SOURCE),
    LINE(pixConnCompBB, HOOK_SOURCE),
    LINE(pixCountConnComp, HOOK_SOURCE),
    LINE(pixGetRegionsBinary, HOOK_SOURCE),
    LINE(pixCountPixelsByRow, HOOK_SOURCE),
    HOOK_END,
};

static const char *const libraries[] = {"liblept.so", "libleptonica.so", NULL};

const struct hook_set hook_leptonica = {
    .name = "leptonica",
    .help = "reading, converting, processing and writing of images with Leptonica",
    .libraries = libraries,
    .functions = functions,
    .is_named_broadly = 1,
};
