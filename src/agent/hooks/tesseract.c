// SPDX-License-Identifier: Apache-2.0
// Hook set tesseract: reading text with Tesseract 4 and 5, by its C API and its C++ class, whose
// mangled names tell the parameters. One call is recorded once, though the C API calls the class;
// what recognition consists of (finding the lines, the network on each) is recorded inside it.
// Threads: any.
#include "agent/hooks/registers.h"

// Not recorded where the innermost open span has the name already.
static struct hook_span begin_once(struct hook_name *name, uintptr_t stack)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *top = &t->frames[t->depth];
    const uint16_t id = hook_id(name);
    if (!id || (t->depth && top->what.name == id && stack < top->stack))
        return (struct hook_span){0, stack};
    return (struct hook_span){span_begin(id, name->cause, name->flags, stack), stack};
}

#define ONCE(id, variable)                                                                         \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        begin_once(&id##_name, SPAN_STACK)

#define TESSERACT_CALL(id, text, stage, before)                                                    \
    HOOK_NAME(id, text, stage, TRACE_CAUSE_OTHER, 0);                                              \
    REGISTERS_CALL(id, ONCE, before, NOTHING)
#define NOTHING ((void)0)

static void note_session(const struct hook_span *s, uintptr_t api)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_SESSION, api);
}

// PIX of Leptonica: width, height and depth come first in every release.
static void note_pix(const struct hook_span *s, uintptr_t api, uintptr_t pix)
{
    const uint32_t *extent = (const void *)pix;
    note_session(s, api);
    if (s->token && extent)
        span_shape(s->token, extent[0], extent[1], 0, 0);
}

static void note_pixels(const struct hook_span *s, uintptr_t api, uintptr_t pixels, int width,
    int height, int pixel_bytes)
{
    note_session(s, api);
    if (!s->token || width <= 0 || height <= 0)
        return;
    span_shape(s->token, (uint32_t)width, (uint32_t)height,
        pixel_bytes > 0 ? (uint32_t)pixel_bytes : 1, 0);
    span_value(s->token, TRACE_ATTR_INPUT, pixels);
}

// ---- Models. The class's own function has more parameters than registers. ----
TESSERACT_CALL(c_init1, "TessBaseAPI::Init", "load", note_session(&span, a))
TESSERACT_CALL(c_init2, "TessBaseAPI::Init", "load", note_session(&span, a))
TESSERACT_CALL(c_init3, "TessBaseAPI::Init", "load", note_session(&span, a))

#define INIT_CALL(id, params, args)                                                                \
    HOOK_TYPE(int, id, PARAMS(params))                                                             \
    HOOK_NAME(id, "TessBaseAPI::Init", "load", TRACE_CAUSE_OTHER, 0);                              \
    static inline int id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        ONCE(id, span);                                                                            \
        note_session(&span, api);                                                                  \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(params), ARGS(args))

INIT_CALL(c_init4,
    PARAMS(uintptr_t api, const void *path, const void *language, int mode, void *files, int n,
        void *names, void *values, size_t count, int is_set_only),
    ARGS(api, path, language, mode, files, n, names, values, count, is_set_only))
INIT_CALL(c_init5,
    PARAMS(uintptr_t api, const void *data, int length_bytes, const void *language, int mode,
        void *files, int n, void *names, void *values, size_t count, int is_set_only),
    ARGS(api, data, length_bytes, language, mode, files, n, names, values, count, is_set_only))
INIT_CALL(init,
    PARAMS(uintptr_t api, const void *path, const void *language, int mode, void *files, int n,
        const void *names, const void *values, int is_set_only),
    ARGS(api, path, language, mode, files, n, names, values, is_set_only))
INIT_CALL(init_data,
    PARAMS(uintptr_t api, const void *data, int length_bytes, const void *language, int mode,
        void *files, int n, const void *names, const void *values, int is_set_only, void *reader),
    ARGS(api, data, length_bytes, language, mode, files, n, names, values, is_set_only, reader))

// ---- Images. ----
TESSERACT_CALL(c_set_image, "TessBaseAPI::SetImage", "preprocess",
    note_pixels(&span, a, b, (int)c, (int)d, (int)e))
TESSERACT_CALL(set_image, "TessBaseAPI::SetImage", "preprocess",
    note_pixels(&span, a, b, (int)c, (int)d, (int)e))
TESSERACT_CALL(c_set_image2, "TessBaseAPI::SetImage", "preprocess", note_pix(&span, a, b))
TESSERACT_CALL(set_pix, "TessBaseAPI::SetImage", "preprocess", note_pix(&span, a, b))

// ---- Where text is. ----
TESSERACT_CALL(c_layout, "TessBaseAPI::AnalyseLayout", "preprocess", note_session(&span, a))
TESSERACT_CALL(layout, "TessBaseAPI::AnalyseLayout", "preprocess", note_session(&span, a))
TESSERACT_CALL(layout_merged, "TessBaseAPI::AnalyseLayout", "preprocess", note_session(&span, a))
TESSERACT_CALL(find_lines, "TessBaseAPI::FindLines", "preprocess", note_session(&span, a))

// ---- What it says. ----
TESSERACT_CALL(c_recognize, "TessBaseAPI::Recognize", "infer", note_session(&span, a))
TESSERACT_CALL(recognize, "TessBaseAPI::Recognize", "infer", note_session(&span, a))
TESSERACT_CALL(recognize4, "TessBaseAPI::Recognize", "infer", note_session(&span, a))
TESSERACT_CALL(c_rect, "TessBaseAPI::TesseractRect", "infer", note_session(&span, a))
TESSERACT_CALL(rect, "TessBaseAPI::TesseractRect", "infer", note_session(&span, a))
TESSERACT_CALL(
    c_orientation, "TessBaseAPI::DetectOrientationScript", "infer", note_session(&span, a))
TESSERACT_CALL(orientation, "TessBaseAPI::DetectOrientationScript", "infer", note_session(&span, a))
TESSERACT_CALL(detect_os, "TessBaseAPI::DetectOS", "infer", note_session(&span, a))
TESSERACT_CALL(detect_os4, "TessBaseAPI::DetectOS", "infer", note_session(&span, a))
TESSERACT_CALL(recognize_line, "LSTMRecognizer::RecognizeLine", "infer", NOTHING)

// ---- Text from what was recognized; pages, from file to output. ----
TESSERACT_CALL(c_utf8text, "TessBaseAPI::GetUTF8Text", "postprocess", note_session(&span, a))
TESSERACT_CALL(utf8text, "TessBaseAPI::GetUTF8Text", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_hocrtext, "TessBaseAPI::GetHOCRText", "postprocess", note_session(&span, a))
TESSERACT_CALL(hocrtext, "TessBaseAPI::GetHOCRText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    hocrtext_monitored, "TessBaseAPI::GetHOCRText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    hocrtext_monitored4, "TessBaseAPI::GetHOCRText", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_altotext, "TessBaseAPI::GetAltoText", "postprocess", note_session(&span, a))
TESSERACT_CALL(altotext, "TessBaseAPI::GetAltoText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    altotext_monitored, "TessBaseAPI::GetAltoText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    altotext_monitored4, "TessBaseAPI::GetAltoText", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_tsvtext, "TessBaseAPI::GetTSVText", "postprocess", note_session(&span, a))
TESSERACT_CALL(tsvtext, "TessBaseAPI::GetTSVText", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_boxtext, "TessBaseAPI::GetBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(boxtext, "TessBaseAPI::GetBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_lstmboxtext, "TessBaseAPI::GetLSTMBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(lstmboxtext, "TessBaseAPI::GetLSTMBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    c_wordstrboxtext, "TessBaseAPI::GetWordStrBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    wordstrboxtext, "TessBaseAPI::GetWordStrBoxText", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_unlvtext, "TessBaseAPI::GetUNLVText", "postprocess", note_session(&span, a))
TESSERACT_CALL(unlvtext, "TessBaseAPI::GetUNLVText", "postprocess", note_session(&span, a))
TESSERACT_CALL(osd_text, "TessBaseAPI::GetOsdText", "postprocess", note_session(&span, a))
TESSERACT_CALL(
    c_components, "TessBaseAPI::GetComponentImages", "postprocess", note_session(&span, a))
TESSERACT_CALL(components, "TessBaseAPI::GetComponentImages", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_pages, "TessBaseAPI::ProcessPages", "postprocess", note_session(&span, a))
TESSERACT_CALL(pages, "TessBaseAPI::ProcessPages", "postprocess", note_session(&span, a))
TESSERACT_CALL(c_page, "TessBaseAPI::ProcessPage", "postprocess", note_pix(&span, a, b))
TESSERACT_CALL(page, "TessBaseAPI::ProcessPage", "postprocess", note_pix(&span, a, b))
TESSERACT_CALL(begin_document, "TessResultRenderer::BeginDocument", "save", NOTHING)
TESSERACT_CALL(add_image, "TessResultRenderer::AddImage", "save", NOTHING)
TESSERACT_CALL(end_document, "TessResultRenderer::EndDocument", "save", NOTHING)

static const struct hook_function functions[] = {
    HOOK_LINE(c_init1, "TessBaseAPIInit1", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_init2, "TessBaseAPIInit2", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_init3, "TessBaseAPIInit3", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_init4, "TessBaseAPIInit4", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_init5, "TessBaseAPIInit5", HOOK_ATTR(SESSION)),
    HOOK_LINE(init,
        "_ZN9tesseract11TessBaseAPI4InitEPKcS2_NS_13OcrEngineModeEPPciPKSt6vectorINSt7__"
        "cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaISC_EESG_b",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(init_data,
        "_ZN9tesseract11TessBaseAPI4InitEPKciS2_NS_13OcrEngineModeEPPciPKSt6vectorINSt7__"
        "cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaISC_EESG_bPFbS2_PS6_IcSB_EE",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(
        c_set_image, "TessBaseAPISetImage", HOOK_SHAPE | HOOK_ATTR(SESSION) | HOOK_ATTR(INPUT)),
    HOOK_LINE(set_image, "_ZN9tesseract11TessBaseAPI8SetImageEPKhiiii",
        HOOK_SHAPE | HOOK_ATTR(SESSION) | HOOK_ATTR(INPUT)),
    HOOK_LINE(c_set_image2, "TessBaseAPISetImage2", HOOK_SHAPE | HOOK_ATTR(SESSION)),
    HOOK_LINE(
        set_pix, "_ZN9tesseract11TessBaseAPI8SetImageEP3Pix", HOOK_SHAPE | HOOK_ATTR(SESSION)),
    HOOK_LINE(c_layout, "TessBaseAPIAnalyseLayout", HOOK_ATTR(SESSION)),
    HOOK_LINE(layout, "_ZN9tesseract11TessBaseAPI13AnalyseLayoutEv", HOOK_ATTR(SESSION)),
    HOOK_LINE(layout_merged, "_ZN9tesseract11TessBaseAPI13AnalyseLayoutEb", HOOK_ATTR(SESSION)),
    HOOK_LINE(find_lines, "_ZN9tesseract11TessBaseAPI9FindLinesEv", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_recognize, "TessBaseAPIRecognize", HOOK_ATTR(SESSION)),
    HOOK_LINE(
        recognize, "_ZN9tesseract11TessBaseAPI9RecognizeEPNS_10ETEXT_DESCE", HOOK_ATTR(SESSION)),
    HOOK_LINE(recognize4, "_ZN9tesseract11TessBaseAPI9RecognizeEP10ETEXT_DESC", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_rect, "TessBaseAPIRect", HOOK_ATTR(SESSION)),
    HOOK_LINE(rect, "_ZN9tesseract11TessBaseAPI13TesseractRectEPKhiiiiii", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_orientation, "TessBaseAPIDetectOrientationScript", HOOK_ATTR(SESSION)),
    HOOK_LINE(orientation, "_ZN9tesseract11TessBaseAPI23DetectOrientationScriptEPiPfPPKcS2_",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(detect_os, "_ZN9tesseract11TessBaseAPI8DetectOSEPNS_9OSResultsE", HOOK_ATTR(SESSION)),
    HOOK_LINE(detect_os4, "_ZN9tesseract11TessBaseAPI8DetectOSEP9OSResults", HOOK_ATTR(SESSION)),
    HOOK_LINE(recognize_line,
        "_ZN9tesseract14LSTMRecognizer13RecognizeLineERKNS_9ImageDataEfbbbPfPNS_9NetworkIOES6_", 0),
    HOOK_LINE(c_utf8text, "TessBaseAPIGetUTF8Text", HOOK_ATTR(SESSION)),
    HOOK_LINE(utf8text, "_ZN9tesseract11TessBaseAPI11GetUTF8TextEv", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_hocrtext, "TessBaseAPIGetHOCRText", HOOK_ATTR(SESSION)),
    HOOK_LINE(hocrtext, "_ZN9tesseract11TessBaseAPI11GetHOCRTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(hocrtext_monitored, "_ZN9tesseract11TessBaseAPI11GetHOCRTextEPNS_10ETEXT_DESCEi",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(hocrtext_monitored4, "_ZN9tesseract11TessBaseAPI11GetHOCRTextEP10ETEXT_DESCi",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(c_altotext, "TessBaseAPIGetAltoText", HOOK_ATTR(SESSION)),
    HOOK_LINE(altotext, "_ZN9tesseract11TessBaseAPI11GetAltoTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(altotext_monitored, "_ZN9tesseract11TessBaseAPI11GetAltoTextEPNS_10ETEXT_DESCEi",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(altotext_monitored4, "_ZN9tesseract11TessBaseAPI11GetAltoTextEP10ETEXT_DESCi",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(c_tsvtext, "TessBaseAPIGetTsvText", HOOK_ATTR(SESSION)),
    HOOK_LINE(tsvtext, "_ZN9tesseract11TessBaseAPI10GetTSVTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_boxtext, "TessBaseAPIGetBoxText", HOOK_ATTR(SESSION)),
    HOOK_LINE(boxtext, "_ZN9tesseract11TessBaseAPI10GetBoxTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_lstmboxtext, "TessBaseAPIGetLSTMBoxText", HOOK_ATTR(SESSION)),
    HOOK_LINE(lstmboxtext, "_ZN9tesseract11TessBaseAPI14GetLSTMBoxTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_wordstrboxtext, "TessBaseAPIGetWordStrBoxText", HOOK_ATTR(SESSION)),
    HOOK_LINE(
        wordstrboxtext, "_ZN9tesseract11TessBaseAPI17GetWordStrBoxTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_unlvtext, "TessBaseAPIGetUNLVText", HOOK_ATTR(SESSION)),
    HOOK_LINE(unlvtext, "_ZN9tesseract11TessBaseAPI11GetUNLVTextEv", HOOK_ATTR(SESSION)),
    HOOK_LINE(osd_text, "_ZN9tesseract11TessBaseAPI10GetOsdTextEi", HOOK_ATTR(SESSION)),
    HOOK_LINE(c_components, "TessBaseAPIGetComponentImages1", HOOK_ATTR(SESSION)),
    HOOK_LINE(components,
        "_ZN9tesseract11TessBaseAPI18GetComponentImagesENS_17PageIteratorLevelEbbiPP4PixaPPiS6_",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(c_pages, "TessBaseAPIProcessPages", HOOK_ATTR(SESSION)),
    HOOK_LINE(pages, "_ZN9tesseract11TessBaseAPI12ProcessPagesEPKcS2_iPNS_18TessResultRendererE",
        HOOK_ATTR(SESSION)),
    HOOK_LINE(c_page, "TessBaseAPIProcessPage", HOOK_SHAPE | HOOK_ATTR(SESSION)),
    HOOK_LINE(page,
        "_ZN9tesseract11TessBaseAPI11ProcessPageEP3PixiPKcS4_iPNS_18TessResultRendererE",
        HOOK_SHAPE | HOOK_ATTR(SESSION)),
    HOOK_LINE(begin_document, "_ZN9tesseract18TessResultRenderer13BeginDocumentEPKc", 0),
    HOOK_LINE(add_image, "_ZN9tesseract18TessResultRenderer8AddImageEPNS_11TessBaseAPIE", 0),
    HOOK_LINE(end_document, "_ZN9tesseract18TessResultRenderer11EndDocumentEv", 0),
    HOOK_END,
};

static const char *const libraries[] = {"libtesseract.so", NULL};

const struct hook_set hook_tesseract = {
    .name = "tesseract",
    .help = "recognition of text with Tesseract: images, layout, lines and results",
    .libraries = libraries,
    .functions = functions,
};
